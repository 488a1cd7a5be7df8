# steno: the Wyoming protocol, as Home Assistant sends it. SPDX-License-Identifier: MIT
#
# The text of an utterance is that of the command line for the file. With the package `wyoming` its client is tried, too.
import asyncio
import json
import socket
import wave

from serving import SPOKEN, Server, pcm, program, until
from wyoming_client import Peer, port_of

try:
    from wyoming.asr import Transcribe, Transcript
    from wyoming.audio import wav_to_chunks
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info
except ImportError:
    AsyncTcpClient = None
try:  # since 1.7
    from wyoming.asr import TranscriptChunk, TranscriptStart, TranscriptStop
except ImportError:
    TranscriptStart = None


def test_raw(port, pcm, want):
    p = Peer(port)
    p.send("describe")
    kind, info = p.receive()
    asr = info["asr"][0]
    assert kind == "info" and asr["installed"] and asr["models"][0]["languages"], info
    p.send("transcribe", {"language": "en"})
    p.audio(pcm)
    p.send("ping", {"text": "x"})
    assert p.receive() == ("pong", {"text": "x"})
    kind, data = p.receive()
    assert (kind, data["text"]) == ("transcript", want), (data, want)
    p.audio(b"")
    assert p.receive()[1]["text"] == ""
    p.sock.sendall(b"no json\n" + b"x" * 100000)
    kind, data = p.receive()
    assert kind == "error" and data["code"] == "invalid_event", data
    assert p.file.readline() == b""


async def test_package(port, want):
    async with AsyncTcpClient("127.0.0.1", port) as c:
        await c.write_event(Describe().event())
        info = Info.from_event(await c.read_event())
        assert info.asr[0].models[0].languages, info
    async with AsyncTcpClient("127.0.0.1", port) as c:
        await c.write_event(Transcribe(language="en").event())
        with wave.open(SPOKEN) as f:
            for chunk in wav_to_chunks(f, 1024, start_event=True, stop_event=True):
                await c.write_event(chunk.event())
        got = [await c.read_event()]
        while TranscriptStart and not TranscriptStop.is_type(got[-1].type):
            got.append(await c.read_event())
        if TranscriptStart:
            assert TranscriptStart.from_event(got.pop(0)).language == "en" and TranscriptStop.is_type(got.pop().type), got
        assert Transcript.from_event(got.pop()).text == want, got
        assert not TranscriptStart or "".join(TranscriptChunk.from_event(e).text for e in got) == want, got


with Server("--wyoming", "0") as s:
    port = port_of(s)
    want = " ".join(program("-l", "en", SPOKEN).decode().split())
    test_raw(port, pcm(), want)
    if AsyncTcpClient:
        asyncio.run(test_package(port, want))
    gone = Peer(port)
    gone.send("audio-start", {"rate": 16000, "width": 2, "channels": 1})
    gone.send("ping")
    gone.receive()
    assert until(lambda: 'steno_connections{kind="wyoming"} 1\n' in s.request("GET", "/metrics")[2].decode(), 20)
    gone.sock.shutdown(socket.SHUT_RDWR)
    rows = until(lambda: (lambda rows: rows if len(rows) == 4 + bool(AsyncTcpClient) else None)(
        [json.loads(line) for line in s.log if '"route": "wyoming"' in line]), 20)
    assert [r["code"] for r in rows[:3]] == [200, 200, 400] and rows[-1]["code"] == 499, rows
    assert abs(rows[0]["audio"] - len(pcm()) / 32000) < 0.002 and rows[0]["language"] == "en" and rows[0]["client"] == "127.0.0.1", rows[0]
    assert rows[0]["bytes_in"] == len(pcm()) and rows[0]["total"] > 0 and "text" not in rows[0] and rows[2]["reason"] == "bad_request", rows
    page = s.request("GET", "/metrics")[2].decode()
    assert 'steno_batch_windows_count' in page and 'steno_batch_windows_count 0\n' not in page, page
    for code, n in ((200, len(rows) - 2), (400, 1), (499, 1)):
        assert f'steno_requests_total{{route="wyoming",code="{code}"}} {n}\n' in page, page
    assert 'steno_audio_seconds_total{route="wyoming"}' in page and 'steno_windows_total{class="live"} 0' not in page, page
    print(want)
