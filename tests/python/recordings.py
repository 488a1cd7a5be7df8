# steno tests: models and sounds for the Python package. SPDX-License-Identifier: MIT
import array
import atexit
import faulthandler
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from packages import need, skip  # noqa: E402, F401

faulthandler.dump_traceback_later(280, exit=True) # a test that hangs prints where its threads are

SOURCE = os.environ.get("STENO_SOURCE", ".")
STENO = os.environ["STENO_PROGRAM"]
MODEL = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
DEMO = os.path.join(SOURCE, "tests/data/demo.wav")
PHRASES = os.path.join(SOURCE, "tests/data/audio/zh_phrases.wav")
LM = os.path.join(SOURCE, "tests/data/lm/qwen3-q4_0.gguf")


def steno(*arguments, **options):
    """Standard output of the program."""
    return subprocess.run([STENO, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout.decode()


def shared(path):
    """A folder of the shared collection; without it the test is skipped."""
    full = os.path.join(os.environ.get("STENO_SHARED", ""), path)
    if not os.path.isdir(full):
        raise unittest.SkipTest("STENO_SHARED does not name a folder with " + path)
    return full


def integers(path=DEMO):
    """Samples of a WAV file at 16 kHz with 16 bits."""
    with wave.open(path) as w:
        assert (w.getframerate(), w.getnchannels(), w.getsampwidth()) == (16000, 1, 2)
        return array.array("h", w.readframes(w.getnframes()))


def floats(path=DEMO):
    return array.array("f", [x / 32768 for x in integers(path)])


def long_floats(seconds):
    one = floats()
    return one * (seconds * 16000 // len(one) + 1)


def pipe():
    """The path of a pipe without a writer; its folder is removed at exit."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    path = os.path.join(folder, "pipe")
    os.mkfifo(path)
    return path
