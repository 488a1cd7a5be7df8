# steno: a detector that the server finds by itself ends live turns at pauses. SPDX-License-Identifier: MIT
import os
import shutil
import tempfile
from serving import SHARED, SOURCE, SPOKEN, Server, pcm, program, run, skip
from websocket_client import stream

MODEL = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
SILERO = os.path.join(SHARED or "", "material/funasr/silero/ggml-silero-v6.2.0.bin")
if not os.path.exists(SILERO):
    skip("STENO_SHARED does not name a model of Silero VAD")
TWICE = pcm() + bytes(2 * 32000) + pcm() + bytes(2 * 32000)  # with pauses of 2 s


def turns(s):
    return [e["text"] for e in stream(s, [TWICE]) if e["type"] == "endpoint"]


def test_turns_and_files():
    with tempfile.TemporaryDirectory() as d:
        shutil.copy(MODEL, d)
        shutil.copy(SILERO, d)
        model = ("-m", os.path.join(d, os.path.basename(MODEL)))
        vad = ("--vad", "silero", "--vad-model", SILERO)
        with Server(model=model) as s:
            assert "turns of live sessions: " + d in "".join(s.log), s.log
            found = turns(s)
            half = len(found) // 2
            assert half and found[:half] == found[half:], found
            for fields, options in (({}, ()), ({"vad_filter": "true"}, vad), ({"chunking_strategy": "auto"}, vad),
                                    ({"offset_ms": "1000"}, ("--offset-ms", "1000"))):
                assert s.transcribe(SPOKEN, response_format="srt", **fields)[2] == program(SPOKEN, "-f", "srt", *options), fields
        for off in ("--no-vad",), ("--vad", "off"):
            with Server(*off, model=model) as s:
                assert not any("turns of live sessions" in line or "no voice activity" in line for line in s.log), s.log
                assert len(turns(s)) == 1
        with open(os.path.join(d, os.path.basename(SILERO)), "r+b") as f:
            f.truncate(1000)  # a damaged detector does not stop the server
        with Server(model=model) as s:
            assert any(os.path.basename(SILERO) in line for line in s.log) and any("no voice activity" in line for line in s.log), s.log
            assert len(turns(s)) == 1


run(globals())
