# steno: live audio over /v1/listen, as Deepgram's clients send it. SPDX-License-Identifier: MIT
#
# Texts equal those of the file, in chunks of any size; KeepAlive, Finalize and CloseStream; refusals before the upgrade.
import json
import re

from serving import SPOKEN, Server, pcm, program
from websocket_client import Closed, Refused, WebSocket


def connect(s, query, **other):
    return WebSocket("127.0.0.1", s.port, "/v1/listen?" + query, **other)


def messages(w):
    """All messages until the server closes, and its code."""
    got = []
    try:
        while True:
            got.append(w.receive_json())
    except Closed as c:
        return got, c.code


def text_of(m):
    return m["channel"]["alternatives"][0]["transcript"]


def finals(got):
    return " ".join(text_of(m) for m in got if m["type"] == "Results" and m["is_final"] and text_of(m))


def test_stream(s, pcm):
    texts = []
    for size in (320, 3201, 64000):
        w = connect(s, "model=nova-3&encoding=linear16&sample_rate=16000&channels=1&interim_results=true&punctuate=true&language=en")
        for at in range(0, len(pcm), size):
            w.send_bytes(pcm[at:at + size])
            if at == 0:
                w.send_json(type="KeepAlive")
        w.send_json(type="CloseStream")
        got, code = messages(w)
        assert code == 1000, (code, got)
        assert got[-1]["type"] == "Metadata", got[-1]
        assert abs(got[-1]["duration"] - len(pcm) / 32000) < 0.01, got[-1]
        assert finals(got), got
        for m in got[:-1]:
            assert m["type"] == "Results" and m["channel_index"] == [0, 1], m
            for word in m["channel"]["alternatives"][0]["words"]:
                assert 0 <= word["start"] <= word["end"] <= len(pcm) / 32000 + 0.1, word
                assert word["word"] and word["punctuated_word"], word
        texts.append(finals(got))
    own = program("-l", "en", "-f", "txt", SPOKEN).decode()
    assert len(set(texts)) == 1 and re.findall(r"\w+", texts[0]) == re.findall(r"\w+", own), (texts, own)


def test_finalize(s, pcm):
    w = connect(s, "encoding=linear16&sample_rate=16000")
    w.send_bytes(pcm)
    w.send_json(type="Finalize")
    asked = []
    while not asked:
        m = w.receive_json()
        asked = [m] if m.get("from_finalize") else []
    assert asked[0]["is_final"], asked
    w.send("no json")
    m = w.receive_json()
    assert m["type"] == "Error" and m["variant"] == "SchemaError", m
    w.send_bytes(b"")
    got, code = messages(w)
    assert code == 1000 and got[-1]["type"] == "Metadata", got


def test_refusals(s):
    for query, status, word in (("", 400, "encoding"), ("encoding=opus&sample_rate=16000", 400, "encoding"),
                                ("encoding=linear16", 400, "sample_rate"),
                                ("encoding=linear16&sample_rate=16000&diarize=true", 400, "diarize"),
                                ("encoding=linear16&sample_rate=16000&model=other", 404, "other"),
                                ("encoding=linear16&sample_rate=16000&language=qq", 400, "language")):
        try:
            connect(s, query)
            raise AssertionError(query)
        except Refused as r:
            assert r.status == status, (query, r)
            assert word in json.loads(r.body)["error"]["message"], r


def test_clients_that_leave(s, pcm):
    for i in range(6):
        w = connect(s, "encoding=linear16&sample_rate=16000")
        w.send_bytes(pcm[: 32000 * i])
        w.abort()
    w = connect(s, "encoding=linear16&sample_rate=16000", protocols=("token", "KEY"))
    assert w.headers.get("sec-websocket-protocol") == "token", w.headers
    w.send_json(type="CloseStream")
    got, code = messages(w)
    assert code == 1000 and got[-1]["type"] == "Metadata", got


def test_drain(s, pcm):
    """A server that stops decodes what has arrived."""
    w = connect(s, "encoding=linear16&sample_rate=16000&interim_results=true")
    w.send_bytes(pcm)
    assert w.receive_json()["type"] == "Results"
    s.process.terminate()
    got, code = messages(w)
    assert code == 1000 and finals(got) and got[-1]["type"] == "Metadata", (code, got)


def post(s, query, body, kind="audio/wav"):
    return s.request("POST", "/v1/listen" + query, body, {"Content-Type": kind} if kind else {})


def test_files(s):
    with open(SPOKEN, "rb") as f:
        file = f.read()
    own = json.loads(program("-l", "en", "-f", "json", "--word-timestamps", SPOKEN))
    status, headers, body = post(s, "?model=nova-3&language=en&smart_format=true&utterances=true", file)
    assert status == 200 and headers["Content-Type"] == "application/json", (status, body)
    answer = json.loads(body)
    best = answer["results"]["channels"][0]["alternatives"][0]
    assert best["transcript"] == own["text"].strip(), (best, own)
    words = [(w["word"].strip(), w["start"], w["end"], w["probability"]) for seg in own["segments"] for w in seg["words"]]
    got = [(w["punctuated_word"], w["start"], w["end"], w["confidence"]) for w in best["words"]]
    assert len(words) == len(got) and all(g[0] == w[0] and abs(g[1] - w[1]) < 0.01 and abs(g[2] - w[2]) < 0.01 and
                                          abs(g[3] - w[3]) < 1e-3 for g, w in zip(got, words)), (words, got)
    pieces = [u["transcript"] for u in answer["results"]["utterances"]]
    assert " ".join(pieces) == best["transcript"], pieces
    meta = answer["metadata"]
    assert meta["request_id"] == headers["X-Request-Id"] and meta["channels"] == 1 and meta["models"] == list(meta["model_info"]), meta
    status, _, body = post(s, "?detect_language=true", file, kind=None)
    channel = json.loads(body)["results"]["channels"][0]
    assert status == 200 and channel["detected_language"] and "utterances" not in json.loads(body)["results"], body
    for query, sent, kind, status, param in (
            ("", b'{"url": "http://127.0.0.1/a.wav"}', "application/json", 400, "url"), ("", b"", "audio/wav", 400, None),
            ("", b"--x--", "multipart/form-data; boundary=x", 415, None), ("", b"no sound", "audio/wav", 400, "file"),
            ("?encoding=linear16", file, "audio/wav", 400, "encoding"), ("?diarize=true", file, "audio/wav", 400, "diarize"),
            ("?language=xx", file, "audio/wav", 400, "language"), ("?model=none", file, "audio/wav", 404, "model"),
            ("?utt_split=1", file, "audio/wav", 400, "utt_split"), ("?callback=http://x", file, "audio/wav", 400, "callback")):
        got, _, body = post(s, query, sent, kind)
        error = json.loads(body)["error"]
        assert got == status and error["param"] == param, (query, got, error)


with Server() as s:
    test_files(s)
    test_stream(s, pcm())
    test_finalize(s, pcm())
    test_refusals(s)
    test_clients_that_leave(s, pcm())
    test_drain(s, pcm())
