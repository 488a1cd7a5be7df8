"""steno tests: models pull when memory runs out: the exit code of memory, and never a wrong file. SPDX-License-Identifier: MIT"""
import os
import sys

from fakehub import WHISPER
from steno_hub import SOURCE, Case, main

SHIM = os.path.join(os.environ.get("STENO_SHIMS", "/none"), "shim_nomem.so")
TINY = "openai/whisper-tiny"


class NoMemory(Case):
    def count(self, *args, **more):
        path = self.home + "/count"
        self.run_steno(0, *args, LD_PRELOAD=SHIM, NOMEM_COUNT=path, **more)
        with open(path) as f:
            return int(f.read())

    def try_all(self, steps, codes, *args):
        """Refuse an allocation here and there, alone and with all behind it; libcurl's own reasons may be others."""
        n = self.count(*args)
        self.assertGreater(n, 50)
        places = sorted({1 + i * (n - 1) // steps for i in range(steps + 1)})
        for how in ("NOMEM_AT", "NOMEM_FROM"):
            for at in places:
                p = self.start(*args, LD_PRELOAD=SHIM, **{how: str(at)})
                out, err = p.communicate(timeout=60)
                self.assertIn(p.returncode, codes, "%s=%d: %s" % (how, at, err))
                self.assertTrue(p.returncode == 0 or err.startswith("steno: ") or "\nsteno: " in err, "%s=%d: %s" % (how, at, err))
                self.nothing_wrong()

    def test_pull(self):
        self.try_all(40, (0, 5, 7), "models", "pull", "--force", "--retries", "0", TINY)
        out, _ = self.pull(0, TINY)
        self.assertEqual(self.read(out.strip(), "model.safetensors"), WHISPER["model.safetensors"])

    def test_pull_from_modelscope(self):
        self.hub.repos["iic/v"] = {"config.yaml": b"model: x\n", "model.pt": b"PK" * 1000, "am.mvn": b"mvn"}
        self.try_all(15, (0, 5, 7), "models", "pull", "--hub", "ms", "--force", "--retries", "0", "iic/v")

    def test_verify_and_rm(self):
        self.pull(0, TINY)
        self.try_all(25, (0, 5), "models", "verify", "--all")
        self.try_all(25, (0, 5), "models", "rm", "--dry-run", TINY)
        self.try_all(25, (0, 5), "models", "list", "--all")

    def test_an_address(self):
        model = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
        with open(os.path.join(SOURCE, "tests/data/demo.wav"), "rb") as f:
            self.hub.repos["a/sounds"] = {"talk.wav": f.read()}
        url = self.hub.url + "/a/sounds/resolve/main/talk.wav"
        self.try_all(15, (0, 3, 4, 5), "detect", "-q", "-t", "1", "-m", model, url)


if not os.path.exists(SHIM):
    print("skipped: there is no %s, which refuses memory" % SHIM)
    sys.exit(77)
main()
