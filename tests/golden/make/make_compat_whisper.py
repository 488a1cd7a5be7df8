#!/usr/bin/env python3
# steno tests: make tests/data/compat/whisper.golden. SPDX-License-Identifier: MIT
#
#   python3 tests/golden/make/make_compat_whisper.py MODEL.pt > tests/data/compat/whisper.golden
#
# What openai-whisper 20250625 prints and writes for the command lines of tests/data/compat/whisper.cases, with the small model of spoken
# digits. A case whose text was sampled is left out: its random numbers are torch's. tests/cli/compat/compat_whisper.sh has steno do the same.
import contextlib
import io
import json
import os
import sys
import tempfile
import wave
from pathlib import Path

import torch
from whisper.transcribe import cli

DATA = Path(__file__).resolve().parent.parent.parent / "data"
SOUNDS = ["golden/de_phrases.wav", "golden/en_twelve.wav", "golden/es_phrases.wav", "golden/fr_phrases.wav", "golden/zh_short.wav",
          "golden/chord.wav", "golden/noise.wav", "golden/tiny50ms.wav", "audio/zh_phrases.wav"]
MIXED = ["de_phrases", "es_phrases", "fr_phrases", "en_twelve", "zh_phrases", "de_phrases"]


def joined(path, names):
    with wave.open(path, "wb") as out:
        out.setparams((1, 2, 16000, 0, "NONE", ""))
        for name in names:
            with wave.open(name + ".wav") as w:
                out.writeframes(w.readframes(w.getnframes()))


def sounds():
    for name in SOUNDS:
        Path(Path(name).name).write_bytes((DATA / name).read_bytes())
    joined("long.wav", ["zh_phrases"] * 6)
    joined("mixed.wav", MIXED)
    os.link("zh_phrases.wav", "japanese.wav")
    os.link("en_twelve.wav", "audio.wav")
    os.mkdir("sounds")
    os.link("zh_short.wav", "sounds/zh_short")
    os.link("fr_phrases.wav", "sounds/two.dots.wav")


def put(text):
    sys.stdout.write(text if text.endswith("\n") or not text else text + "\n@@ no newline\n")


def run(name, words, model):
    before = {p for p in Path(".").rglob("*")}
    shown, sys.argv = io.StringIO(), ["whisper", "--model", model, *words]
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        cli()
    made = sorted(p for p in Path(".").rglob("*") if p not in before and p.is_file())
    texts = {p: p.read_text(encoding="utf-8") for p in made}
    for p in made:
        p.unlink()
    hot = [s for p, t in texts.items() if p.suffix == ".json" for s in json.loads(t)["segments"] if s["temperature"] > 0]
    if hot:
        print(f"{name}: sampled, left out", file=sys.stderr)
        return
    sys.stdout.write(f"@@ case {name}\n")
    put(shown.getvalue())
    for p, text in texts.items():
        sys.stdout.write(f"@@ file {p}\n")
        put(text)


def main():
    model = os.path.realpath(sys.argv[1])
    only = sys.argv[2:]
    torch.set_num_threads(1)
    cases = (DATA / "compat/whisper.cases").read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sounds()
        for line in cases:
            name, *words = line.split(" ")
            if not only or name in only:
                run(name, words, model)
                sys.stdout.flush()
        os.chdir("/")


main()
