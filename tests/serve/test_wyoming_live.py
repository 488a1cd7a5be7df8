# steno: Wyoming with a model that decodes a stream chunk by chunk. SPDX-License-Identifier: MIT
#
# Clients of version 1.7 receive words while they send audio, and the transcript is that of the command line for the file.
import os
import socket
import tempfile
import threading
import time
import wave

from serving import SHARED, SPOKEN, Server, pcm, program, run, skip, until
from wyoming_client import FORM, Peer, port_of

FUNASR = os.path.join(SHARED or "", "material/funasr")
NEMOTRON = os.path.join(SHARED or "", "material/nemotron/nemotron-tiny.nemo")
SPEECH = os.path.join(FUNASR, "audio/zh_synth_long.wav")
if not SHARED or not os.path.exists(FUNASR) or not os.path.exists(NEMOTRON):
    skip("FunASR's models and the small Nemotron are not there")
NEW = "1.7.1"
FOLDER = tempfile.TemporaryDirectory()
MODEL = FOLDER.name
for name in ("paraformer-online/pt/config.yaml", "paraformer-online/pt/am.mvn", "paraformer-online/pt/tokens.json", "paraformer/pt/model.pt"):
    os.symlink(os.path.join(FUNASR, "models", name), os.path.join(MODEL, os.path.basename(name)))


def raw(path):
    with wave.open(path) as f:
        assert (f.getframerate(), f.getsampwidth(), f.getnchannels()) == (16000, 2, 1)
        return f.readframes(f.getnframes())


AUDIO = raw(SPEECH)


def want(model=MODEL, path=SPEECH):
    return "".join(program("--no-vad", path, model=("-m", model)).decode().split())


def server(*args, model=MODEL):
    return Server("--no-vad", "--wyoming", "0", *args, model=("-m", model))


def texts(events):
    """The parts, and the transcript."""
    return ([d["text"] for kind, d in events if kind == "transcript-chunk"],
            [d["text"] for kind, d in events if kind == "transcript"])


def live(port, audio, size=2048):
    p = Peer(port, NEW)
    p.audio(audio, size)
    events = p.until("transcript-stop")
    assert events[0][0] == "transcript-start", events
    parts, whole = texts(events)
    assert "".join(parts) == whole[0] and len(whole) == 1, events
    return parts, whole[0]


def test_words_are_sent_before_the_audio_ends():
    text, audio = want(), AUDIO
    with server() as s:
        port = port_of(s)
        p = Peer(port, NEW)
        p.start()
        p.chunks(audio)
        events = p.until("transcript-chunk")  # without audio-stop
        p.send("audio-stop")
        events += p.until("transcript-stop")
        parts, whole = texts(events)
        assert "".join(parts) == whole[0] == text and len(parts) > 1, (events, text)
        p.audio(audio)  # the next utterance of the connection
        assert texts(p.until("transcript-stop"))[1] == [text]
        p.audio(b"")
        assert texts(p.until("transcript-stop")) == ([], [""])
        assert s.metric("steno_live_sessions") == 0


def test_size_of_pieces_and_neighbours_change_nothing():
    text, audio, got = want(), AUDIO, {}
    with server() as s:
        port = port_of(s)

        def one(size):
            got[size] = live(port, audio, size)[1]
        threads = [threading.Thread(target=one, args=(size,)) for size in (64, 1000, 3202, 1 << 19)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert set(got.values()) == {text} and len(got) == 4, got


def test_an_utterance_without_spaces_of_another_family():
    with server(model=NEMOTRON) as s:
        assert live(port_of(s), pcm())[1] == want(NEMOTRON, SPOKEN)


def test_more_audio_than_a_session_holds():
    audio = AUDIO
    with server() as s:
        n = 40 * 32000 // len(audio) + 1
        parts, whole = live(port_of(s), audio * n, 1 << 18)
        assert len(whole) > len(want()), whole


def test_clients_of_older_versions_and_full_servers_receive_the_text_at_the_end():
    text, audio = want(), AUDIO
    with server("--live", "1") as s:
        port = port_of(s)
        old = Peer(port)
        old.audio(audio)
        kind, data = old.receive()
        assert (kind, data["text"]) == ("transcript", text), (kind, data)
        first = Peer(port, NEW)
        first.start()
        first.chunks(audio)
        until(lambda: s.metric("steno_live_sessions") == 1)
        second = Peer(port, NEW)
        second.start()
        second.chunks(audio)
        second.send("audio-stop")
        assert texts(second.until("transcript-stop"))[1] == [text]
        first.send("audio-stop")
        assert texts(first.until("transcript-stop"))[1] == [text]


def test_late_servers_send_the_text_at_the_end():
    with server("--live-max-delay", "0.0001") as s:
        port = port_of(s)
        first = [Peer(port, NEW) for _ in range(8)]
        for p in first:
            p.start()
        for i in range(0, 50 * len(AUDIO), 64):  # at its own speed: audio that comes faster is never late
            for p in first:
                p.chunks(AUDIO[i % len(AUDIO):][:64], 64)
            time.sleep(0.0015)
            if i % 12800 == 0 and s.metric("steno_live_overloaded"):
                break
        second = Peer(port, NEW)
        second.start()
        second.chunks(AUDIO)
        second.send("audio-stop")
        assert texts(second.until("transcript-stop"))[1] == [want()] and s.metric("steno_live_sessions") == len(first)
        assert s.metric('steno_requests_rejected_total{reason="overloaded"}') == 1
        assert s.metric("steno_live_lag_seconds_count") > 4, "words of a model that decodes chunks have a delay, too"
        for p in first:
            p.send("audio-stop")
            p.until("transcript-stop")


def test_the_longest_live_session():
    audio = AUDIO
    with server("--live-max-seconds", "3") as s:
        port = port_of(s)
        p = Peer(port, NEW)
        p.audio(audio)
        assert p.until("error")[-1][1]["code"] == "audio_too_long"
        assert p.file.readline() == b""
        live(port, audio[:2 * 32000])
        old = Peer(port)  # it has no live session
        old.audio(audio)
        assert old.receive()[1]["text"] == want()
        until(lambda: s.metric("steno_live_sessions") == 0)


def test_clients_that_leave_and_events_that_are_refused():
    audio = AUDIO
    with server("--live", "2") as s:
        port = port_of(s)
        for i in range(6):
            p = Peer(port, NEW)
            p.start()
            p.chunks(audio[:20000 * i])
            p.sock.shutdown(socket.SHUT_RDWR)
            until(lambda: s.metric("steno_live_sessions") == 0)
        for kind, data in (("audio-start", FORM), ("transcribe", {"language": "en"}), ("audio-chunk", {**FORM, "rate": 8000})):
            p = Peer(port, NEW)
            p.start()
            p.chunks(audio[:64000])
            p.send(kind, data)
            error = p.until("error")[-1][1]
            assert error["code"] in ("invalid_value", "invalid_audio"), error
            assert p.file.readline() == b""
        until(lambda: s.metric("steno_live_sessions") == 0)
        assert live(port, audio)[1] == want()
        rows = until(lambda: (lambda rows: rows if len(rows) == 10 else None)([r for r in s.log if '"route": "wyoming"' in r]))
        assert sum('"code": 499' in r for r in rows) == 6 and sum('"code": 400' in r for r in rows) == 3, rows


run(globals())
