# steno tests: the wheel in dist/, in a fresh environment. SPDX-License-Identifier: MIT
import glob
import os
import platform
import subprocess
import sys
import tempfile
import zipfile

import recordings as r

CODE = """
import sys, steno
from steno.faster_whisper import WhisperModel
model, sounds = sys.argv[1], sys.argv[2:]
assert "site-packages" in steno.__file__, steno.__file__
texts = [x.text for x in steno.Model(model).transcribe_many(sounds, ordered=True, on_error="raise")]
print(texts[0])
print(len([t for t in texts if t.strip()]))
print("".join(s.text for s in WhisperModel(model).transcribe(sounds[0])[0]))
"""


def main():
    wheels = glob.glob(os.path.join(r.SOURCE, f"dist/steno-*-py3-none-*_{platform.machine()}.whl"))
    if not wheels:
        r.skip("no wheel for this machine in dist/; script/wheel builds one")
    wheel = max(wheels, key=os.path.getmtime)
    assert os.path.getsize(wheel) <= 10_000_000, os.path.getsize(wheel)
    with zipfile.ZipFile(wheel) as z:
        names = z.namelist()
    for name in ("steno/py.typed", "steno/lib/libsteno-python.so", "steno/bin/steno", "steno/_abi.py"):
        assert name in names, name
    sounds = [r.DEMO, *(os.path.join(r.SOURCE, "tests/data/audio", n) for n in ("de.m4a", "de.opus", "de_22k.mp3", "fr.flac", "de_stereo.ogg"))]
    env = {k: v for k, v in os.environ.items() if not k.startswith("STENO_") and k != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = os.path.join(folder, "bin/python")
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], check=True, env=env)
        out = subprocess.run([python, "-c", CODE, r.MODEL, *sounds], check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
        assert out == f" zero nine one eight. two seven.\n{len(sounds)}\n zero nine one eight. two seven.\n", out
        out = subprocess.run([python, "-m", "steno", "-m", r.MODEL, r.DEMO], check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
        assert out == r.steno("-m", r.MODEL, r.DEMO), out
        out = subprocess.run([os.path.join(folder, "bin/steno"), "--version"], check=True, env=env, stdout=subprocess.PIPE, text=True).stdout
        assert out.startswith("steno "), out
    print(os.path.basename(wheel), "works in a fresh environment")


main()
