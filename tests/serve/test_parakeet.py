# steno: Parakeet models over HTTP. SPDX-License-Identifier: MIT
import os
import subprocess
from serving import SHARED, STENO, Server, run, skip

FOLDER = os.path.join(SHARED or "", "material/parakeet")
HYBRID = os.path.join(FOLDER, "nemo/parakeet-digits-tdt_ctc.nemo")
AUDIO = os.path.join(FOLDER, "audio/long.wav") # the heads differ here
if not os.path.exists(HYBRID):
    skip("STENO_SHARED does not name the Parakeet collection")


def text_of_the_program(*options):
    return subprocess.run([STENO, "-q", "-m", HYBRID, *options, AUDIO], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def test_requests_are_decoded_with_the_head_of_the_option():
    texts = set()
    for options in ((), ("--decoder-type", "tdt"), ("--decoder-type", "ctc")):
        with Server(*options, model=("-m", HYBRID)) as s:
            status, _, body = s.transcribe(AUDIO, response_format="text")
            assert status == 200 and body.decode().strip() == text_of_the_program(*options), body
            texts.add(body)
    assert len(texts) == 2, texts


run(globals())
