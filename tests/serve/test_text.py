# steno: chats over HTTP. SPDX-License-Identifier: MIT
import json
import os
import subprocess
from serving import SOURCE, SPOKEN, STENO, Server, ask, events, run, until

LM = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")


def chat(s, **fields):
    return ask(s, "/v1/chat/completions", **fields)


def test_chat():
    with Server(model=("-m", LM)) as s:
        one = [{"role": "user", "content": "one two"}]
        own = subprocess.run([STENO, "generate", "-q", "-m", LM, "--temperature", "0", "-n", "12", "--json", "one two"],
                             stdout=subprocess.PIPE, check=True).stdout
        status, body = chat(s, messages=one, max_tokens=12, temperature=0)
        answer = json.loads(body)
        text = answer["choices"][0]["message"]["content"]
        assert status == 200 and text == json.loads(own)["text"], (body, own)
        assert answer["usage"]["completion_tokens"] == 12 and answer["choices"][0]["finish_reason"] == "length"
        status, body = chat(s, messages=one, max_tokens=12, temperature=0, stream=True, stream_options={"include_usage": True})
        all = events(body)
        assert all[-1] == "[DONE]" and all[-2]["usage"]["completion_tokens"] == 12
        assert "".join(e["choices"][0]["delta"].get("content", "") for e in all[:-2]) == text
        same = [json.loads(chat(s, messages=one, max_tokens=12, temperature=0)[1])["choices"] for _ in range(3)]
        assert same == [answer["choices"]] * 3
        for fields, param in (({}, "messages"), ({"messages": []}, "messages"), ({"messages": one, "temperature": "hot"}, "temperature"),
                              ({"messages": one, "n": 17}, "n"), ({"messages": one, "tools": [{"type": "function"}]}, "tools[0]")):
            status, body = chat(s, **fields)
            assert status == 400 and json.loads(body)["error"]["param"] == param, body
        status, body = chat(s, messages=[{"role": "user", "content": "one two " * 30000}])
        error = json.loads(body)["error"]
        assert status == 400 and (error["code"], error["param"]) == ("context_length_exceeded", "messages"), body
        assert "maximum context length is" in error["message"], body
        assert s.request("POST", "/v1/chat/completions", "{", {"Content-Type": "application/json"})[0] == 400
        status, _, body = s.transcribe(SPOKEN)
        assert status == 404 and b"no model of this server can transcribe" in body, body


def choices_of(body):
    return json.loads(body)["choices"]


def test_choices_differ_by_their_seeds():
    one = {"messages": [{"role": "user", "content": "one two"}], "max_tokens": 8, "temperature": 1.5}
    with Server(model=("-m", LM)) as s:
        apart = [choices_of(chat(s, seed=5 + i, **one)[1])[0]["message"]["content"] for i in range(4)]
        assert len(set(apart)) > 1, apart
        status, body = chat(s, seed=5, n=4, **one)
        answer = json.loads(body)
        assert status == 200 and [c["index"] for c in answer["choices"]] == [0, 1, 2, 3], body
        assert [c["message"]["content"] for c in answer["choices"]] == apart, (body, apart)
        alone = json.loads(chat(s, seed=5, **one)[1])["usage"]
        assert answer["usage"]["prompt_tokens"] == alone["prompt_tokens"] and answer["usage"]["completion_tokens"] == 32, (body, alone)
        all = events(chat(s, seed=5, n=4, stream=True, stream_options={"include_usage": True}, **one)[1])
        assert all[-1] == "[DONE]" and all[-2]["usage"] == {**answer["usage"], "prompt_tokens_details": all[-2]["usage"]["prompt_tokens_details"]}
        parts = [e["choices"][0] for e in all[:-2]]
        for i in range(4):
            own = [p for p in parts if p["index"] == i]
            assert own[0]["delta"]["role"] == "assistant" and own[-1]["finish_reason"] == "length", own
            assert "".join(p["delta"].get("content", "") for p in own) == apart[i], (own, apart)
        assert chat(s, n=16, **one)[0] == 200
    with Server("--queue", "2", "--parallel", "1", model=("-m", LM)) as s:
        status, body = chat(s, n=16, **{**one, "max_tokens": 100})
        assert status == 429 and json.loads(body)["error"]["code"] == "queue_full", body
        until(lambda: s.metric("steno_requests_running") == 0)
        assert chat(s, n=2, **one)[0] == 200


def test_logprobs_are_those_of_the_text():
    one = {"messages": [{"role": "user", "content": "one two"}], "max_tokens": 12, "temperature": 0, "logprobs": True}
    with Server(model=("-m", LM)) as s:
        whole = choices_of(chat(s, **one)[1])[0]
        text, items = whole["message"]["content"], whole["logprobs"]["content"]
        assert len(items) == 12 and all(i["logprob"] <= 0 and i["top_logprobs"] == [] for i in items), whole
        assert bytes(b for i in items for b in i["bytes"]).decode(errors="replace") == text, whole
        most = choices_of(chat(s, top_logprobs=3, **one)[1])[0]
        tops = [i["top_logprobs"] for i in most["logprobs"]["content"]]
        assert most["message"]["content"] == text and all(len(t) == 3 for t in tops), most
        assert [t[0] for t in tops] == [{k: i[k] for k in ("token", "logprob", "bytes")} for i in items], (tops, items)
        assert all(t[0]["logprob"] >= t[1]["logprob"] >= t[2]["logprob"] for t in tops), tops
        parts = [e["choices"][0] for e in events(chat(s, stream=True, top_logprobs=3, **one)[1])[:-1]]
        assert [i for p in parts if p["logprobs"] for i in p["logprobs"]["content"]] == most["logprobs"]["content"], parts
        parts = [e["choices"][0] for e in events(chat(s, stream=True, **one)[1])[:-1]]
        got = [i for p in parts if p["logprobs"] for i in p["logprobs"]["content"]]
        assert got == items, (got, items)
        stop = text[len(text) // 2:][:2]
        cut = choices_of(chat(s, stop=stop, **one)[1])[0]
        before = bytes(b for i in cut["logprobs"]["content"] for b in i["bytes"]).decode(errors="replace")
        assert cut["finish_reason"] == "stop" and before.startswith(cut["message"]["content"]) and len(before) < len(text), (cut, text)


def test_client_leaves():
    """During its body, and during its answer."""
    with Server(model=("-m", LM)) as s:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        body = json.dumps({"messages": [{"role": "user", "content": "one"}], "max_tokens": 400, "stream": True}).encode()
        whole = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        several = body.replace(b'"stream": true', b'"n": 3, "stream": false')
        whole_of_several = whole[:whole.index(b"{")].replace(b"%d" % len(body), b"%d" % len(several)) + several
        for request in (head, whole, whole_of_several) * 4:
            s.sent(request).close()
        until(lambda: s.metric("steno_requests_running") == 0)
        assert chat(s, messages=[{"role": "user", "content": "one"}], max_tokens=2)[0] == 200


def test_a_model_of_speech_has_no_vectors():
    with Server() as s:
        assert ask(s, "/v1/embeddings", input="a")[0] == 404


run(globals())
