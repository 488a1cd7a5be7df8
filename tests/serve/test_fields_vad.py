# steno: fields of voice activity detection and the options of the command line. SPDX-License-Identifier: MIT
import json
import os
import tempfile
from serving import SHARED, SOURCE, SPOKEN, Server, program, run, skip

SILERO = os.path.join(SHARED or "", "material/funasr/silero/ggml-silero-v6.2.0.bin")
if not os.path.exists(SILERO):
    skip("STENO_SHARED does not name a model of Silero VAD")
OWN = ("models/whisper-digits/whisper-digits.bin", "models/parakeet-digits", "tests/data/qwen3_asr")
FAMILIES = [os.path.join(SOURCE, path) for path in OWN]
FAMILIES += [os.path.join(SHARED, "material", path) for path in ("nemotron/nemotron-tiny.nemo", "funasr/models/sensevoice/pt")]


def test_voice_activity_is_an_option():
    vad = ("--vad", "silero", "--vad-model", SILERO)
    with Server(*vad) as s:
        for fields, options in (({}, vad), ({"vad_filter": "false"}, ()), ({"chunking_strategy": "auto"}, vad),
                                ({"offset_ms": "1000"}, (*vad, "--offset-ms", "1000")),
                                ({"chunking_strategy": json.dumps({"type": "server_vad", "threshold": 0.3, "silence_duration_ms": 50})},
                                 (*vad, "--vad-threshold", "0.3", "--vad-min-silence-ms", "50"))):
            status, _, body = s.transcribe(SPOKEN, response_format="srt", **fields)
            assert status == 200 and body == program(SPOKEN, "-f", "srt", *options), (fields, status, body)


def beside(folder, family):
    """-m for the family's files, or its folder, with Silero beside it."""
    is_folder = os.path.isdir(family)
    for path in [os.path.join(family, name) for name in os.listdir(family)] if is_folder else [family]:
        os.symlink(os.path.abspath(path), os.path.join(folder, os.path.basename(path)))
    os.symlink(os.path.abspath(SILERO), os.path.join(folder, os.path.basename(SILERO)))
    return ("-m", folder if is_folder else os.path.join(folder, os.path.basename(family)))


def test_the_detector_of_live_turns_is_for_files_of_every_family():
    vad = ("--vad", "silero", "--vad-model", SILERO)
    strategy = json.dumps({"type": "server_vad", "silence_duration_ms": 50})
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            model = beside(folder, family)
            with Server(model=model) as s:
                for fields, options in (({}, ("--no-vad",)), ({"vad_filter": "true"}, vad), ({"chunking_strategy": "auto"}, vad),
                                        ({"chunking_strategy": strategy}, (*vad, "--vad-min-silence-ms", "50"))):
                    status, _, body = s.transcribe(SPOKEN, response_format="srt", **fields)
                    want = program(SPOKEN, "-f", "srt", *options, model=model)
                    assert status == 200 and body == want, (family, fields, status, body, want)


run(globals())
