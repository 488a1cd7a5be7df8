# steno: Pipecat's services of speech recognition. SPDX-License-Identifier: MIT
#
# Skipped without the package pipecat-ai and its parts for OpenAI.
import asyncio
import json
import re

from serving import SPOKEN, Server, need, program, run

need("pipecat.services.openai.stt")
from pipecat.frames.frames import ErrorFrame, TranscriptionFrame  # noqa: E402
from pipecat.services.openai.stt import OpenAISTTService  # noqa: E402


def words(text):
    return re.findall(r"[a-z]+", text.lower())


async def transcribe(port, **options):
    service = OpenAISTTService(api_key="any", base_url=f"http://127.0.0.1:{port}/v1", **options)
    with open(SPOKEN, "rb") as f:
        frames = [frame async for frame in service.run_stt(f.read())]
    assert not any(isinstance(frame, ErrorFrame) for frame in frames), frames
    return [frame.text for frame in frames if isinstance(frame, TranscriptionFrame)]


def test_recordings():
    want = words(json.loads(program(SPOKEN, "-l", "en", "-f", "json"))["text"])
    assert len(want) > 3, want
    with Server() as s:
        for options in ({}, {"model": "whisper-1", "include_prob_metrics": True},
                        {"model": "gpt-4o-transcribe", "include_prob_metrics": True, "prompt": "digits", "temperature": 0.0}):
            got = asyncio.run(transcribe(s.port, **options))
            assert words(" ".join(got)) == want, (options, got)


if __name__ == "__main__":
    run(globals())
