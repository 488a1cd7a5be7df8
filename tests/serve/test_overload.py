# steno: busy servers refuse live sessions: texts come late, or the model has no memory. SPDX-License-Identifier: MIT
import json
import os
import threading
import time
from serving import SHARED, SOURCE, SPOKEN, Server, pcm, run, until
from websocket_client import Closed, Refused, WebSocket
from wyoming_client import Peer, port_of

RAW = pcm()
LATE = ("--live-max-delay", "0.0001")  # no pass is that fast


class Speaker(threading.Thread):
    """A session whose audio comes at its own speed, in pieces of 1 ms, until it is told to stop."""

    def __init__(self, s, query="?vad=off&step_ms=200"):
        super().__init__(daemon=True)
        self.w = WebSocket("127.0.0.1", s.port, "/v1/stream" + query)
        self.stops, self.events = threading.Event(), []
        self.start()

    def run(self):
        begun, at = time.monotonic(), 0
        while not self.stops.is_set():
            due = int((time.monotonic() - begun) * 1000)
            for _ in range(at, due):
                self.w.send_bytes((RAW * 2)[at * 32 % len(RAW):][:32])
                at += 1
            time.sleep(0.001)
        self.w.send_json(type="end")

    def end(self):
        """@return the code of the close frame"""
        self.stops.set()
        try:
            while True:
                self.events.append(self.w.receive_json(60))
        except Closed as closed:
            return closed.code


def closed_with(w, *messages):
    """@return code and reason, after these messages"""
    for m in messages:
        w.send_json(**m)
    try:
        while True:
            w.receive(60)
    except Closed as closed:
        return closed.code, str(closed)


APPEND = {"type": "input_audio_buffer.append", "audio": "AAAA" * 1000}
MANUAL = {"type": "transcription", "audio": {"input": {"turn_detection": None, "transcription": {"language": "en"}}}}


def test_new_sessions_are_refused():
    with Server(*LATE) as s:
        assert s.metric("steno_live_overloaded") == 0
        earlier = WebSocket("127.0.0.1", s.port, "/v1/realtime?intent=transcription")
        earlier.send_json(**APPEND)
        until(lambda: s.metric("steno_live_sessions") == 1)
        speaker = Speaker(s)
        until(lambda: s.metric("steno_live_overloaded") == 1)
        try:
            WebSocket("127.0.0.1", s.port, "/v1/stream")
            raise AssertionError("a session was not refused")
        except Refused as refused:
            assert (refused.status, refused.code()) == (503, "overloaded") and int(refused.headers["retry-after"]) > 1, refused.headers
        code, reason = closed_with(WebSocket("127.0.0.1", s.port, "/v1/listen?encoding=linear16&sample_rate=16000"))
        assert code == 1013 and "overloaded" in reason, (code, reason)
        code, reason = closed_with(WebSocket("127.0.0.1", s.port, "/v1/realtime?intent=transcription"), APPEND)
        assert code == 1013 and "overloaded" in reason, (code, reason)
        assert s.metric("steno_requests_rejected_total") == 3
        assert s.transcribe(SPOKEN)[0] == 200  # files wait in their queue
        # A client that has a session may change it: a new one begins
        earlier.send_json(type="session.update", session=MANUAL)
        earlier.send_json(**APPEND)
        earlier.send_json(type="input_audio_buffer.commit")
        types = []
        while not types or not types[-1].endswith("completed"):
            types.append(json.loads(earlier.receive(60))["type"])
            assert types[-1] != "error", types
        earlier.close()
        assert speaker.end() == 1000
        assert [e for e in speaker.events if e["type"] == "endpoint"], speaker.events


def test_without_the_option_all_are_accepted():
    with Server() as s:
        speaker = Speaker(s)
        until(lambda: s.metric("steno_live_updates_total") > 8)
        assert s.metric("steno_live_overloaded") == 0
        other = Speaker(s)
        assert other.end() == 1000 and speaker.end() == 1000


def test_a_session_whose_model_has_no_memory_may_try_again():
    """The refusal comes when the connection is open."""
    nemotron = os.path.join(SHARED or "", "material/nemotron/nemotron-tiny.nemo")
    has_chunks = bool(SHARED) and os.path.exists(nemotron)
    name, path = ("nemotron-tiny", nemotron) if has_chunks else ("whisper-digits", "models/whisper-digits/whisper-digits.bin")
    models = ("-m", os.path.join(SOURCE, "models/parakeet-digits"), "-m", os.path.join(SOURCE, path))
    with Server("--memory-limit", "320", "--wyoming", "0", model=models) as s:
        first = WebSocket("127.0.0.1", s.port, "/v1/stream?model=parakeet-digits")
        until(lambda: s.metric("steno_live_sessions") == 1)
        code, reason = closed_with(WebSocket("127.0.0.1", s.port, f"/v1/stream?model={name}"))
        assert code == 1013 and "loading" in reason, (code, reason)
        code, reason = closed_with(WebSocket("127.0.0.1", s.port, f"/v1/listen?encoding=linear16&sample_rate=16000&model={name}"))
        assert code == 1013 and "loading" in reason, (code, reason)
        code, reason = closed_with(WebSocket("127.0.0.1", s.port, f"/v1/realtime?intent=transcription&model={name}"), APPEND)
        assert code == 1013 and "not loaded" in reason, (code, reason)
        assert s.metric('steno_requests_rejected_total{reason="loading"}') == 3
        for version in ("1.5.0", "1.7.1"):  # the second one is a live session if the model decodes chunks
            p = Peer(port_of(s), version)
            p.send("transcribe", {"name": name})
            p.audio(RAW[:16000])
            event = p.until("error")[-1][1]
            assert event["code"] == "loading" and "memory" in event["text"], event
        until(lambda: s.metric('steno_requests_rejected_total{reason="loading"}') == 5)
        first.send_json(type="end")
        assert closed_with(first)[0] == 1000
        until(lambda: s.metric("steno_live_sessions") == 0)
        again = WebSocket("127.0.0.1", s.port, f"/v1/stream?model={name}")  # there is memory now
        again.send_bytes(RAW)
        again.send_json(type="end")
        assert closed_with(again)[0] == 1000


run(globals())
