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
                              ({"messages": one, "n": 2}, "n")):
            status, body = chat(s, **fields)
            assert status == 400 and json.loads(body)["error"]["param"] == param, body
        assert s.request("POST", "/v1/chat/completions", "{", {"Content-Type": "application/json"})[0] == 400
        status, _, body = s.transcribe(SPOKEN)
        assert status == 404 and b"no model of this server can transcribe" in body, body


def test_client_leaves():
    """During its body, and during its answer."""
    with Server(model=("-m", LM)) as s:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        body = json.dumps({"messages": [{"role": "user", "content": "one"}], "max_tokens": 400, "stream": True}).encode()
        whole = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        for request in (head, whole) * 4:
            s.sent(request).close()
        until(lambda: s.metric("steno_requests_running") == 0)
        assert chat(s, messages=[{"role": "user", "content": "one"}], max_tokens=2)[0] == 200


def test_a_model_of_speech_has_no_vectors():
    with Server() as s:
        assert ask(s, "/v1/embeddings", input="a")[0] == 404


run(globals())
