# steno: LiveKit's plugins for speech recognition, with a recording at real speed. SPDX-License-Identifier: MIT
#
# Skipped without the packages livekit-agents, livekit-plugins-openai and livekit-plugins-deepgram.
import asyncio
import json
import re
import wave

from serving import SPOKEN, Server, need, program, run

need("livekit.plugins.openai")
need("livekit.plugins.deepgram")
import aiohttp  # noqa: E402
from livekit import rtc  # noqa: E402
from livekit.agents import stt  # noqa: E402
from livekit.plugins import deepgram, openai  # noqa: E402

STEP_MS, SILENCE_MS = 50, 1500


def frames():
    """The recording, and silence after it, in pieces as an agent gets them."""
    with wave.open(SPOKEN) as w:
        rate, pcm = w.getframerate(), w.readframes(w.getnframes())
    n = rate * STEP_MS // 1000
    pcm += bytes(2 * rate * SILENCE_MS // 1000)
    return [rtc.AudioFrame(pcm[i:i + 2 * n], rate, 1, n) for i in range(0, len(pcm) - 2 * n + 1, 2 * n)]


def words(text):
    return re.findall(r"[a-z]+", text.lower())


def spoken():
    found = words(json.loads(program(SPOKEN, "-l", "en", "-f", "json"))["text"])
    assert len(found) > 3, found
    return found


async def stream(of):
    """The final texts, and the last interim one behind them. An agent without a model of voice activity detection on the server gets no
    final text before it commits."""
    finals, interim = [], ""
    async with of.stream() as s:
        async def speak():
            for f in frames():
                s.push_frame(f)
                await asyncio.sleep(STEP_MS / 1000)
            s.end_input()
        task = asyncio.create_task(speak())
        async for event in s:
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                finals.append(event.alternatives[0].text)
                interim = ""
            if event.type == stt.SpeechEventType.INTERIM_TRANSCRIPT:
                interim = event.alternatives[0].text
            if len(words(" ".join(finals + [interim]))) >= len(spoken()):
                break
        task.cancel()
    return finals, interim


def check(finals, interim):
    print("final:", finals, "interim:", interim)
    assert words(" ".join(finals + [interim])) == spoken(), (finals, interim, spoken())


async def whole(port):
    of = openai.STT(base_url=f"http://127.0.0.1:{port}/v1", api_key="any", model="whisper-1", language="en")
    event = await of.recognize(frames())
    await of.aclose()
    return event.alternatives[0].text


async def realtime(port):
    of = openai.STT(base_url=f"http://127.0.0.1:{port}/v1", api_key="any", language="en", use_realtime=True)
    async with aiohttp.ClientSession() as http:
        of._session = http
        found = await asyncio.wait_for(stream(of), 60)
    return found


async def listen(port):
    async with aiohttp.ClientSession() as http:
        of = deepgram.STT(base_url=f"http://127.0.0.1:{port}/v1/listen", api_key="any", language="en", http_session=http)
        found = await asyncio.wait_for(stream(of), 60)
    return found


def test_a_recording_as_a_file():
    with Server() as s:
        text = asyncio.run(whole(s.port))
        assert words(text) == spoken(), text


def test_openai_realtime():
    with Server() as s:
        check(*asyncio.run(realtime(s.port)))


def test_deepgram():
    with Server() as s:
        check(*asyncio.run(listen(s.port)))


if __name__ == "__main__":
    run(globals())
