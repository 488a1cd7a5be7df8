"""steno tests: the hubs' own clients judge the caches. SPDX-License-Identifier: MIT

They run in the Python that STENO_HUB_PYTHON names, or this one, where it has huggingface_hub and modelscope_hub."""
import fcntl
import os
import subprocess
import sys
import time

from fakehub import COMMIT, WHISPER, sha256
from steno_hub import Case, json, main

PYTHON = os.environ.get("STENO_HUB_PYTHON", sys.executable)
TINY = "openai/whisper-tiny"
WANTED = ["config.json", "generation_config.json", "model.safetensors", "vocab.json"]


def has(module):
    return subprocess.run([PYTHON, "-c", "import " + module], capture_output=True).returncode == 0


class Clients(Case):
    def client(self, code, *args, **more):
        """Run Python; the value that it leaves in `out`."""
        env = self.env(HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1", MODELSCOPE_DOWNLOAD_INTRA_CLOUD="false", **more)
        p = subprocess.run([PYTHON, "-c", "import json\n" + code + "\nprint('\\n' + json.dumps(out))", *args], env=env,
                           capture_output=True, text=True, timeout=120, cwd=self.home)
        self.assertEqual(p.returncode, 0, p.stderr)
        return json.loads(p.stdout.splitlines()[-1])

    def fetched(self):
        return [p for m, p, _ in self.hub.log if m == "GET" and ("/resolve/" in p or "/store/" in p)]


class HuggingFace(Clients):
    def setUp(self):
        if not has("huggingface_hub"):
            self.skipTest("%s has no huggingface_hub" % PYTHON)
        super().setUp()

    SCAN = """
from huggingface_hub import scan_cache_dir
i = scan_cache_dir()
out = [[str(w) for w in i.warnings], [[r.repo_id, r.nb_files, r.size_on_disk,
       [[v.commit_hash, sorted(v.refs), sorted(f.file_name for f in v.files)] for v in r.revisions]] for r in i.repos]]"""

    def test_a_cache_that_is_scanned_has_no_faults(self):
        self.pull(0, TINY)
        size = sum(len(WHISPER[n]) for n in WANTED)
        self.assertEqual(self.client(self.SCAN), [[], [[TINY, 4, size, [[COMMIT, ["main"], WANTED]]]]])

    def test_offline_loads(self):
        self.pull(0, TINY, TINY + ":sub/odd name.json")
        for how in ("revision='main'", "revision='%s'" % COMMIT, ""):
            out = self.client("from huggingface_hub import hf_hub_download\nout = [hf_hub_download('%s', n, local_files_only=True, %s) for "
                              "n in %r]" % (TINY, how, WANTED + ["sub/odd name.json"]))
            self.assertEqual(out, [os.path.join(self.snapshot(TINY), n) for n in WANTED + ["sub/odd name.json"]])
        out = self.client("from huggingface_hub import snapshot_download\nout = snapshot_download('%s', local_files_only=True)" % TINY)
        self.assertEqual(out, self.snapshot(TINY))

    def test_a_whole_pull_is_complete_for_the_client(self):
        self.hub.repos["a/one"] = {"ggml-x.bin": b"lmgg" * 100}
        self.pull(0, "a/one")
        out = self.client("from huggingface_hub import snapshot_download\nout = snapshot_download('a/one', local_files_only=True)")
        self.assertEqual(out, self.snapshot("a/one"))

    def test_the_client_fetches_nothing_that_is_here(self):
        self.pull(0, TINY)
        self.hub.log.clear()
        out = self.client("from huggingface_hub import snapshot_download\nout = snapshot_download('%s', allow_patterns=%r)" % (TINY, WANTED))
        self.assertEqual(out, self.snapshot(TINY))
        self.assertEqual(self.fetched(), [])

    def test_files_of_the_python_client_are_not_fetched_again(self):
        self.client("from huggingface_hub import snapshot_download\nout = snapshot_download('%s')" % TINY)
        self.hub.log.clear()
        out, _ = self.pull(0, TINY)
        self.assertEqual(out.strip(), self.snapshot(TINY))
        self.assertEqual(self.fetched(), [])
        self.nothing_wrong()
        self.assertEqual(self.client(self.SCAN)[0], [])
        self.run_steno(0, "models", "verify", TINY)

    def test_its_verify_and_its_list_agree(self):
        self.pull(0, TINY)
        hf = os.path.join(os.path.dirname(PYTHON), "hf")
        if not os.path.exists(hf):
            self.skipTest("there is no program hf")
        run = lambda *a: subprocess.run([hf, *a], env=self.env(HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1"), capture_output=True,
                                        text=True, timeout=120)
        p = run("cache", "verify", TINY)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        p = run("cache", "ls")
        self.assertIn(TINY, p.stdout, p.stderr)
        with open(os.path.join(self.snapshot(TINY), "vocab.json"), "r+b") as f:
            f.write(b"?")
        self.assertEqual(run("cache", "verify", TINY).returncode, 1)
        self.run_steno(3, "models", "verify", TINY)

    def test_rm_leaves_a_cache_without_faults(self):
        self.pull(0, TINY)
        self.hub.commits[TINY] = "c" * 40
        self.pull(0, TINY)
        self.run_steno(0, "models", "rm", "--yes", TINY + "@" + COMMIT)
        faults, repos = self.client(self.SCAN)
        self.assertEqual((faults, [r[3][0][0] for r in repos]), ([], ["c" * 40]))

    def test_a_folder_that_was_pulled_is_the_clients(self):
        folder = os.path.join(self.home, "plain")
        get = "from huggingface_hub import snapshot_download\nout = snapshot_download('%s', local_dir='%s', allow_patterns=%r)"
        self.pull(0, "--to", folder, TINY)
        self.hub.log.clear()
        self.client(get % (TINY, folder, WANTED))
        self.assertEqual(self.fetched(), [])
        self.client(get % (TINY, folder + "2", WANTED))
        _, err = self.run_steno(0, "models", "verify", folder + "2")
        self.assertIn("4 files are right, 0 are not", err)

    def test_absence_is_known_to_both_clients(self):
        absent = "from huggingface_hub import try_to_load_from_cache as t\nout = str(t('%s', 'none.json'))" % TINY
        self.pull(0, TINY)
        self.assertEqual(self.client(absent), "None")
        self.pull(3, TINY + ":none.json")
        self.assertIn("object object", self.client(absent))  # the client's _CACHED_NO_EXIST
        self.client("from huggingface_hub import hf_hub_download\nout = 0\ntry: hf_hub_download('%s', 'other.json')\nexcept Exception: pass" % TINY)
        _, err = self.pull(3, "--offline", TINY + ":other.json")
        self.assertIn("has no such file, by an earlier request", err)

    def test_its_lock_is_ours(self):
        digest = sha256(WHISPER["model.safetensors"])
        lock = os.path.join(self.cache, ".locks/models--openai--whisper-tiny/%s.lock" % digest)
        os.makedirs(os.path.dirname(lock))
        with open(lock, "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            p = self.start("models", "pull", TINY)
            time.sleep(1.5)
            self.assertIsNone(p.poll())
            self.assertFalse(os.path.exists(os.path.join(self.snapshot(TINY), "model.safetensors")))
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)

    def test_both_at_once(self):
        p = self.start("models", "pull", "fault/slow")
        out = self.client("from huggingface_hub import hf_hub_download\nout = hf_hub_download('fault/slow', 'model.safetensors')")
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(self.read(out), WHISPER["model.safetensors"])
        self.nothing_wrong()


class ModelScope(Clients):
    def setUp(self):
        if not has("modelscope_hub"):
            self.skipTest("%s has no modelscope_hub" % PYTHON)
        super().setUp()
        self.files = {"config.yaml": b"model: x\n", "model.pt": b"PK" * 1000, "am.mvn": b"mvn"}
        self.hub.repos["iic/v"] = self.files

    def test_offline_loads(self):
        self.pull(0, "--hub", "ms", "iic/v")
        folder = self.ms_cache + "/models/iic--v/snapshots/master"
        out = self.client("from modelscope_hub import HubApi\nout = str(HubApi().download_repo('iic/v', 'model', local_files_only=True))")
        self.assertEqual(out, folder)
        out = self.client("from modelscope_hub import HubApi\nout = str(HubApi().download_file('iic/v', 'model', 'am.mvn', local_files_only=True))")
        self.assertEqual(out, folder + "/am.mvn")

    def test_files_of_the_python_client_are_not_fetched_again(self):
        folder = self.client("from modelscope_hub import HubApi\nout = str(HubApi().download_repo('iic/v', 'model'))")
        self.assertEqual(folder, self.ms_cache + "/models/iic--v/snapshots/master")
        self.hub.log.clear()
        out, _ = self.pull(0, "--hub", "ms", "iic/v")
        self.assertEqual(out.strip(), folder)
        self.assertEqual(self.fetched(), [])

    def test_the_client_fetches_nothing_that_is_here(self):
        self.pull(0, "--hub", "ms", "iic/v")
        self.hub.log.clear()
        self.client("from modelscope_hub import HubApi\nout = str(HubApi().download_repo('iic/v', 'model'))")
        self.assertEqual(self.fetched(), [])


if not has("huggingface_hub") and not has("modelscope_hub"):
    print("skipped: %s has neither huggingface_hub nor modelscope_hub (STENO_HUB_PYTHON names another Python)" % PYTHON)
    sys.exit(77)
main()
