# steno: fields of voice activity detection and the options of the command line. SPDX-License-Identifier: MIT
import json
import os
from serving import SHARED, SPOKEN, Server, program, run, skip

SILERO = os.path.join(SHARED or "", "material/funasr/silero/ggml-silero-v6.2.0.bin")
if not os.path.exists(SILERO):
    skip("STENO_SHARED does not name a model of Silero VAD")


def test_voice_activity_is_an_option():
    vad = ("--vad", "silero", "--vad-model", SILERO)
    with Server(*vad) as s:
        for fields, options in (({}, vad), ({"vad_filter": "false"}, ()), ({"chunking_strategy": "auto"}, vad),
                                ({"offset_ms": "1000"}, (*vad, "--offset-ms", "1000")),
                                ({"chunking_strategy": json.dumps({"type": "server_vad", "threshold": 0.3, "silence_duration_ms": 50})},
                                 (*vad, "--vad-threshold", "0.3", "--vad-min-silence-ms", "50"))):
            status, _, body = s.transcribe(SPOKEN, response_format="srt", **fields)
            assert status == 200 and body == program(SPOKEN, "-f", "srt", *options), (fields, status, body)


run(globals())
