# steno tests: the test suites of faster-whisper 1.2.1 and openai-whisper 20250625 with steno in place of these packages. SPDX-License-Identifier: MIT
#
# STENO_SUITE_FASTER_WHISPER and STENO_SUITE_WHISPER are source folders of the two projects (a clone or an sdist that has tests/).
# STENO_SUITE_MODELS maps a model's name to its file: "tiny=FILE;tiny.en=FILE;silero=FILE;*=FILE". Needs pytest and numpy.
import os
import re
import subprocess
import sys
import unittest

import recordings as r

r.need("pytest")
r.need("numpy")
HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = "the text that tiny's weights give" # with other weights the original fails as well
OTHERS = {
    "test_transcribe.py::test_transcribe": TEXTS, "test_transcribe.py::test_vad": TEXTS,
    "test_transcribe.py::test_multilingual_transcription": TEXTS, "test_transcribe.py::test_batched_transcribe": TEXTS,
    "test_transcribe.py::test_cliptimestamps_segments": TEXTS, "test_transcribe.py::test_cliptimestamps_timings": TEXTS,
    "test_utils.py::test_download_model_in_cache": "a download",
}


def outcomes(variable, *files, needs=("STENO_SUITE_MODELS",), options=()):
    """{test: outcome} of a suite."""
    for need in (variable, *needs):
        if not os.environ.get(need):
            raise unittest.SkipTest(f"{need} is not set")
    folder = os.environ[variable]
    tests = os.path.join(folder, "tests")
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "suite_doors", "-p", "no:cacheprovider", "-q", "-rA", "--tb=line",
                           *options, *(os.path.join(tests, f) for f in files)], cwd=folder, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + os.pathsep + HERE})
    rows = re.findall(r"^(PASSED|FAILED|ERROR) (?:\S*/)?(test_\w+\.py::[^\s\[]+)(\[[^\]]*\])?", done.stdout, re.M)
    found = {name + part: outcome for outcome, name, part in rows}
    print(f"{os.path.basename(folder)}: {done.stdout.splitlines()[-1]}")
    if not found:
        raise AssertionError(done.stdout)
    return found


class Suites(unittest.TestCase):
    def test_faster_whispers_suite_passes(self):
        found = outcomes("STENO_SUITE_FASTER_WHISPER", "test_tokenizer.py", "test_transcribe.py", "test_utils.py")
        missing = [] if os.path.exists(os.path.join(os.environ["STENO_SUITE_FASTER_WHISPER"], "tests/data/physicsworks.wav")) else [
            "test_transcribe.py::test_monotonic_timestamps"]
        self.assertEqual([t for t, outcome in found.items() if outcome != "PASSED" and t not in OTHERS and t not in missing], [])

    def test_openai_whispers_suite_passes(self):
        found = outcomes("STENO_SUITE_WHISPER", "test_transcribe.py", "test_tokenizer.py")
        self.assertEqual([t for t, outcome in found.items() if outcome != "PASSED"], [])

    def test_openai_whispers_suite_of_normalizers_and_timing_passes(self):
        r.need("scipy")
        found = outcomes("STENO_SUITE_WHISPER", "test_normalizer.py", "test_timing.py", needs=(), options=("-m", "not requires_cuda"))
        self.assertEqual([t for t, outcome in found.items() if outcome != "PASSED"], [])
        self.assertEqual(len(found), 12)


if __name__ == "__main__":
    unittest.main()
