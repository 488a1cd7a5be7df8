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



def test_options_of_windows_are_refused():
    for name, value in (("--live-audio-padding", "3000"), ("--live-last-pass", "turn")):
        r = subprocess.run([STENO, "serve", "-m", HYBRID, "--port", "0", name, value], stderr=subprocess.PIPE, text=True, timeout=60)
        assert r.returncode == 2 and name + " is for Whisper" in r.stderr, (name, r.returncode, r.stderr)


def test_requests_have_hot_words_and_beams_of_their_own():
    hot = {"hotwords": "seven", "hotwords_boost": "4"}
    with Server(model=("-m", HYBRID)) as s:
        texts = [s.transcribe(AUDIO, response_format="text", **fields)[2].decode().strip() for fields in ({}, hot, {})]
    assert texts == [text_of_the_program(), text_of_the_program("--hotwords", "seven", "--hotwords-boost", "4"), texts[0]], texts
    assert texts[0] != texts[1], texts
    with Server("--decoder-type", "ctc", model=("-m", HYBRID)) as s:
        hot["beam_size"] = "4"
        status, _, body = s.transcribe(AUDIO, response_format="text", **hot)
    words = ("--hotwords", "seven", "--hotwords-boost", "4", "--beam-size", "4", "--decoder-type", "ctc")
    assert status == 200 and body.decode().strip() == text_of_the_program(*words), body


run(globals())
