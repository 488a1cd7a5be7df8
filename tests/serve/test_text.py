# steno: chats and embeddings over HTTP. SPDX-License-Identifier: MIT
import base64
import json
import os
import struct
import subprocess
from serving import SHARED, SOURCE, SPOKEN, STENO, Server, events, run, until

LM = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")
BERT = SHARED and os.path.join(SHARED, "material/llm/models/bert/hf")


def ask(s, path, **fields):
    status, headers, body = s.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
    return status, body


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


def test_embeddings():
    if not BERT or not os.path.isdir(BERT):
        return print("no model for vectors: not tested")
    with Server(model=("--demo",)) as s:
        assert ask(s, "/v1/embeddings", input="a")[0] == 404
    with Server(model=("-m", LM, "-m", BERT)) as s:
        status, body = ask(s, "/v1/embeddings", model="hf", input=["one two", "three"])
        answer = json.loads(body)
        own = subprocess.run([STENO, "embed", "-q", "-m", BERT, "one two", "three"], stdout=subprocess.PIPE, check=True, text=True).stdout
        rows = [d["embedding"] for d in answer["data"]]
        assert status == 200 and len(rows) == 2 and answer["usage"]["prompt_tokens"] > 0, body
        lines = [json.loads(line) for line in own.splitlines()]
        for row, line in zip(rows, lines):
            expected = line["embedding"] if isinstance(line, dict) else line
            assert all(abs(a - b) < 1e-6 for a, b in zip(row, expected)) and len(row) == len(expected)
        packed = json.loads(ask(s, "/v1/embeddings", model="hf", input="one two", encoding_format="base64")[1])["data"][0]["embedding"]
        values = struct.unpack(f"<{len(rows[0])}f", base64.b64decode(packed))
        assert all(abs(a - b) < 1e-6 for a, b in zip(values, rows[0]))


run(globals())
