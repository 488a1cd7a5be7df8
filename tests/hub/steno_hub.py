"""steno tests: what the tests of the hubs' clients share. SPDX-License-Identifier: MIT

A test runs the program as people do, against the imitation, with a home of its own. STENO is the program. Nothing but the loopback
interface is asked: names of hosts that are not there would fail."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import fakehub  # noqa: E402

STENO = os.path.realpath(os.environ["STENO"])
SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


class Case(unittest.TestCase):
    def setUp(self):
        self.hub = fakehub.Hub()
        self.home = tempfile.mkdtemp(prefix="steno-hub-")
        self.cache = os.path.join(self.home, ".cache/huggingface/hub")
        self.ms_cache = os.path.join(self.home, ".cache/modelscope")

    def tearDown(self):
        self.hub.close()
        shutil.rmtree(self.home)

    def env(self, **more):
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "HF_ENDPOINT": self.hub.url, "MODELSCOPE_ENDPOINT": self.hub.url,
               "HF_HUB_DOWNLOAD_TIMEOUT": "30", "HF_HUB_ETAG_TIMEOUT": "30", "no_proxy": "*", "LC_ALL": "C.UTF-8"}
        for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_PRELOAD", "TMPDIR"):
            if name in os.environ:
                env[name] = os.environ[name]
        return {**env, **more}

    def start(self, *args, **more):
        return subprocess.Popen([STENO, *args], env=self.env(**more), cwd=self.home, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_steno(self, code, *args, **more):
        """Run it; what it printed on both streams."""
        p = self.start(*args, **more)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, code, "steno %s: %s%s" % (" ".join(args), out, err))
        return out, err

    def pull(self, code, *args, **more):
        return self.run_steno(code, "models", "pull", *args, **more)

    def snapshot(self, repo, commit=fakehub.COMMIT):
        return os.path.join(self.cache, "models--" + repo.replace("/", "--"), "snapshots", commit)

    def files_below(self, folder):
        return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)

    def nothing_wrong(self):
        """Whatever happened: what has its final name has the bytes that this name promises."""
        for d, _, names in os.walk(self.cache):
            for name in names:
                path = os.path.join(d, name)
                with open(path, "rb") as f:
                    data = f.read()
                if os.path.basename(d) == "blobs" and not name.endswith(".incomplete"):
                    self.assertEqual(name, fakehub.sha256(data) if len(name) == 64 else fakehub.sha1_git(data), path)
                if "/snapshots/" in path:
                    repo = path[len(self.cache) + 1:].split("/")[0][8:].replace("--", "/")
                    self.assertEqual(data, self.hub.files(repo)[path.split("/snapshots/")[1].split("/", 1)[1]], path)

    def read(self, *path):
        with open(os.path.join(*path), "rb") as f:
            return f.read()


def main():
    program = subprocess.run([STENO, "models", "pull", "--retries", "0", "a/b"], env={"HF_ENDPOINT": "http://127.0.0.1:9", "HOME": "/nonexistent"},
                             capture_output=True, text=True)
    if "STENO_HUB=OFF" in program.stderr or "libcurl is not installed" in program.stderr:
        print("skipped: " + program.stderr.strip())
        sys.exit(77)
    unittest.main(verbosity=1)
