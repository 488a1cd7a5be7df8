# steno: live audio over a WebSocket, the plain protocol. SPDX-License-Identifier: MIT
import json
import random
import signal
import subprocess
from serving import SPOKEN, STENO, Server, pcm, run, until
from websocket_client import Closed, Refused, WebSocket, committed, stream

RAW = pcm()
KEYS = ("type", "turn", "start", "end", "text", "spaces", "heard")


def own_lines(*args):
    """What `steno stream` prints, without latencies."""
    out = subprocess.run([STENO, "stream", "-q", "--demo", "--raw", "s16le", *args], input=RAW, stdout=subprocess.PIPE, check=True).stdout
    return [{k: e[k] for k in KEYS if k in e} for e in map(json.loads, out.splitlines())]


def cut(sizes):
    at = 0
    while at < len(RAW):
        n = random.choice(sizes)
        yield RAW[at:at + n]
        at += n


def test_text():
    """Final words and turns equal those of the program, whatever the size of the pieces."""
    with Server() as s:
        own = [e for e in own_lines() if e["type"] != "partial"]
        said = [e["text"] for e in own if e["type"] == "endpoint"]
        for sizes in ([32000], [640], [1, 3, 5001], [len(RAW)]):
            random.seed(1)
            got = stream(s, cut(sizes))
            assert [e["text"] for e in got if e["type"] == "endpoint"] == said, (got, said)
            assert committed(got) == [text for text in said if text], (committed(got), said)


def test_last_passes_over_turns():
    """Texts are those of the program. A greedy update at the end of a turn is its last pass, but not with whole windows."""
    whole, passes = 4, {}  # seconds: the update at their end is made before the end of the audio arrives
    for value in ("turn", "window"):
        own = [e["text"] for e in own_lines("--last-pass", value) if e["type"] == "endpoint"]
        with Server("--live-last-pass", value, "--greedy") as s:
            got = stream(s, cut([32000]))
            assert [e["text"] for e in got if e["type"] == "endpoint"] == own and any(own), (got, own)
            before = s.metric("steno_live_updates_total")
            stream(s, [RAW.ljust(whole * 32000, b"\0")], "?vad=off")
            passes[value] = s.metric("steno_live_updates_total") - before
    assert passes == {"turn": whole, "window": whole + 1}, passes


def test_rates():
    with Server() as s:
        import array
        samples = array.array("h", RAW)
        twice = array.array("h", [v for v in samples for _ in range(2)])  # stereo
        said = [e["text"] for e in stream(s, [RAW]) if e["type"] == "endpoint"]
        assert [e["text"] for e in stream(s, [twice.tobytes()], "?channels=2") if e["type"] == "endpoint"] == said
        floats = array.array("f", [v / 32768 for v in samples])
        assert [e["text"] for e in stream(s, [floats.tobytes()], "?encoding=f32le") if e["type"] == "endpoint"] == said


def test_refusals():
    with Server("--live", "1") as s:
        for query, code in (("?rate=1", "invalid_value"), ("?encoding=mp3", "invalid_value"), ("?model=none", "model_not_found"),
                            ("?language=yue", "invalid_value"), ("?language=qq", "invalid_value")):
            try:
                WebSocket("127.0.0.1", s.port, "/v1/stream" + query)
                raise AssertionError(query + " was not refused")
            except Refused as refused:
                assert refused.code() == code, (query, refused)
        first = WebSocket("127.0.0.1", s.port, "/v1/stream")
        first.send_bytes(RAW[:32000])
        until(lambda: s.metric("steno_live_sessions") == 1)
        try:
            second = WebSocket("127.0.0.1", s.port, "/v1/stream")
            second.receive_json()
            second.receive_json()
            raise AssertionError("a second session was not refused")
        except Refused as refused:
            assert refused.code() == "too_many_sessions"
        except Closed:
            pass
        first.abort()
        until(lambda: s.metric("steno_live_sessions") == 0)
        assert stream(s, [RAW])


def test_stop():
    """SIGTERM ends the turn: its endpoint arrives, then 1001."""
    with Server() as s:
        w = WebSocket("127.0.0.1", s.port, "/v1/stream?vad=off")
        w.send_bytes(RAW)
        got = [w.receive_json(60)]
        s.process.send_signal(signal.SIGTERM)
        try:
            while True:
                got.append(w.receive_json(60))
        except Closed as closed:
            assert closed.code == 1001, closed
        ends = [e["text"] for e in got if e["type"] == "endpoint"]
        assert len(ends) == 1 and "zero nine one eight" in ends[0], got
        assert s.process.wait(20) == 0


def test_metrics():
    with Server() as s:
        w = WebSocket("127.0.0.1", s.port, "/v1/stream")
        until(lambda: s.metric("vllm:websocket_connections_active") == 1)
        w.close()
        until(lambda: s.metric("vllm:websocket_connections_active") == 0)
        stream(s, [RAW])
        assert s.metric("steno_live_updates_total") > 2 and s.metric("steno_live_lag_seconds_count") > 2
        assert s.metric("steno_live_disagreements_total") == 0  # as test_text: final words are those of the last pass


def test_with_files():
    """Live sessions and files share the model."""
    with Server() as s:
        said = [e["text"] for e in stream(s, [RAW]) if e["type"] == "endpoint"]
        w = WebSocket("127.0.0.1", s.port, "/v1/stream")
        texts = []
        for piece in (RAW[i:i + 32000] for i in range(0, len(RAW), 32000)):
            w.send_bytes(piece)
            texts.append(s.transcribe(SPOKEN)[2])
        w.send_json(type="end")
        got = []
        try:
            while True:
                got.append(w.receive_json(60))
        except Closed:
            pass
        assert [e["text"] for e in got if e["type"] == "endpoint"] == said and len(set(texts)) == 1, got


run(globals())
