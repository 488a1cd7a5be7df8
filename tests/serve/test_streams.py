# steno: live sessions of models that decode a stream chunk by chunk. SPDX-License-Identifier: MIT
#
# Sessions share the runs of one batch. Each has the words that the program prints for its audio, whatever the others send.
import json
import os
import subprocess
import threading
import time
import wave
from serving import SHARED, SOURCE, SPOKEN, STENO, Server, run, skip, until
from websocket_client import Closed, WebSocket, stream

MODEL = os.path.join(SHARED or "", "material/nemotron/nemotron-tiny.nemo")
SESSIONS = 8
if not SHARED or not os.path.exists(MODEL):
    skip("the small Nemotron is not there")


def raw(path):
    with wave.open(path) as f:
        assert (f.getframerate(), f.getsampwidth(), f.getnchannels()) == (16000, 2, 1)
        return f.readframes(f.getnframes())


AUDIO = [raw(SPOKEN)[i * 3200:] for i in range(2)] + [raw(os.path.join(SOURCE, "models/parakeet-digits/phrases.wav"))]


def own(audio):
    """The text of the whole audio, by the program."""
    lines = subprocess.run([STENO, "stream", "-q", "-m", MODEL, "--raw", "s16le"], input=audio, stdout=subprocess.PIPE,
                           check=True).stdout
    return [e["text"] for e in map(json.loads, lines.splitlines()) if e["type"] == "endpoint"]


def text_of(events):
    return [e["text"] for e in events if e["type"] == "endpoint"]


def pieces(audio, n):
    return [audio[i:i + n] for i in range(0, len(audio), n)]


def all_at_once(s, sizes, pause=0.0):
    """Texts of the sessions, and the seconds they took."""
    got, begun = [None] * len(sizes), time.monotonic()

    def slowly(i):
        for piece in pieces(AUDIO[i % len(AUDIO)], sizes[i]):
            yield piece
            time.sleep(pause)

    def session(i):
        got[i] = text_of(stream(s, slowly(i)))
    threads = [threading.Thread(target=session, args=(i,)) for i in range(len(sizes))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return got, time.monotonic() - begun


def test_sessions_beside_each_other_have_their_own_words():
    want = [own(a) for a in AUDIO]
    assert all(t and t[0] for t in want), want
    with Server("--no-vad", model=("-m", MODEL)) as s:
        for audio, text in zip(AUDIO, want):
            assert text_of(stream(s, [audio])) == text
        for sizes, pause in (([3200] * SESSIONS, 0), ([1 << 20] * SESSIONS, 0), ([640, 3201, 5000, 32000] * 2, 0.01)):
            got, _ = all_at_once(s, sizes, pause)
            assert got == [want[i % len(want)] for i in range(SESSIONS)], (sizes, got, want)


def test_files_and_sessions_share_the_batch():
    with Server("--no-vad", model=("-m", MODEL)) as s:
        alone, want, bodies = s.transcribe(SPOKEN)[2], own(AUDIO[0]), []
        files = [threading.Thread(target=lambda: bodies.append(s.transcribe(SPOKEN)[2])) for _ in range(6)]
        for t in files:
            t.start()
        assert text_of(stream(s, pieces(AUDIO[0], 3200))) == want
        for t in files:
            t.join()
        assert bodies == [alone] * 6, bodies


def test_clients_that_leave_and_turns_that_are_dropped():
    with Server("--no-vad", "--live", "4", model=("-m", MODEL)) as s:
        for i in range(12):
            w = WebSocket("127.0.0.1", s.port, "/v1/stream")
            for piece in pieces(AUDIO[i % 3], 3200)[:i]:
                w.send_bytes(piece)
            w.close()
            until(lambda: s.metric("steno_live_sessions") < 4)
        until(lambda: s.metric("steno_live_sessions") == 0)
        assert text_of(stream(s, [AUDIO[2]])) == own(AUDIO[2])


def test_drain_completes_a_turn():
    with Server("--no-vad", model=("-m", MODEL)) as s:
        w = WebSocket("127.0.0.1", s.port, "/v1/stream")
        w.send_bytes(AUDIO[2])
        until(lambda: s.metric("steno_live_sessions") == 1)
        time.sleep(0.5)
        s.process.terminate()
        events = []
        try:
            while True:
                events.append(w.receive_json(30))
        except Closed as closed:
            assert closed.code == 1001, closed.code
        assert text_of(events) == own(AUDIO[2]), events


def test_models_with_sessions_are_closed_when_idle():
    with Server("--no-vad", "--idle-unload", "0.3", model=("-m", MODEL)) as s:
        for _ in range(2):
            assert text_of(stream(s, [AUDIO[2]])) == own(AUDIO[2])
            until(lambda: s.metric("steno_models_loaded") == 0)


run(globals())
