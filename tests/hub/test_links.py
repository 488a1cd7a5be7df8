"""steno tests: links and other things in a cache that are no plain files. SPDX-License-Identifier: MIT

A folder outside of the cache has files that nobody may touch; every test ends with a look at them. Behind a link `models rm` removes
nothing: the link itself goes where it is what was asked for, else the command is refused."""
import os
import shutil

from fakehub import COMMIT, OLD, WHISPER, sha256
from steno_hub import Case, main

ME, HASH = "my/model", sha256(b"weights")
DEEP = [8, 9, 63, 64]


class Links(Case):
    def setUp(self):
        super().setUp()
        self.outside = os.path.join(self.home, "outside")
        for name in ("thesis.txt", "config.json", "sub/a.txt", "sub/deep/er/b", "ggml-x.bin", HASH, COMMIT + "/ggml-x.bin", "main", "model/ggml-x.bin",
                     "model/.msc", "blobs/" + HASH):
            self.write(os.path.join(self.outside, name), name)
        self.before = self.look()
        self.repo = os.path.join(self.cache, "models--my--model")

    def tearDown(self):
        self.assertEqual(self.look(), self.before)
        super().tearDown()

    def look(self):
        return {f: self.read(self.outside, f) for f in self.files_below(self.outside)}

    def write(self, path, text="x"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def link(self, path, target=None):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target or self.outside, path)

    def model(self, *commits):
        """As the hub's client has it."""
        self.write(self.repo + "/blobs/" + HASH, "weights")
        for c in commits or (COMMIT,):
            self.link("%s/snapshots/%s/ggml-x.bin" % (self.repo, c), "../../blobs/" + HASH)
        self.write(self.repo + "/refs/main", COMMIT)

    def rm(self, code, *args):
        dry, _ = self.run_steno(code, "models", "rm", "--dry-run", *args)
        out, err = self.run_steno(code, "models", "rm", "--yes", *args)
        self.assertEqual(dry.replace("would be removed", "removed"), out)
        self.assertEqual(self.look(), self.before)
        return out, err

    def gone(self, *args):
        out, _ = self.run_steno(0, "models", "list")
        self.assertNotIn(ME, out)
        self.run_steno(3, "models", "rm", "--yes", *(args or (ME,)))

    def test_a_snapshot_that_is_a_link(self):
        self.link(self.repo + "/snapshots/" + COMMIT)
        out, err = self.rm(0, ME)
        self.assertEqual(out, ME + ": 1 files, 0 bytes removed\n")
        self.assertIn("what lies there stays", err)
        self.assertFalse(os.path.lexists(self.repo + "/snapshots/" + COMMIT))
        self.gone()

    def test_one_revision_that_is_a_link(self):
        self.model()
        self.link(self.repo + "/snapshots/" + OLD)
        self.rm(0, ME + "@" + OLD)
        self.assertFalse(os.path.lexists(self.repo + "/snapshots/" + OLD))
        self.run_steno(0, "models", "verify", ME)

    def test_a_file_behind_a_link_stays(self):
        for link in ("snapshots/" + COMMIT, "snapshots", ""):
            path = (self.repo + "/" + link).rstrip("/")
            shutil.rmtree(self.repo, ignore_errors=True)
            self.link(path, self.outside if link != "" else self.home + "/elsewhere")
            if not link:
                self.write(self.home + "/elsewhere/snapshots/%s/ggml-x.bin" % COMMIT)
            _, err = self.rm(6, ME + ":ggml-x.bin")
            self.assertIn("is a link, and nothing behind a link is removed", err)
            self.assertIn("\"steno models rm my/model\" removes the link itself", err)
            os.unlink(path)

    def test_all_snapshots_behind_one_link(self):
        self.link(self.repo + "/snapshots")
        _, err = self.rm(6, ME + "@" + COMMIT)
        self.assertIn("is a link", err)
        out, _ = self.rm(0, ME)
        self.assertIn("1 files", out)
        self.assertFalse(os.path.lexists(self.repo + "/snapshots"))

    def test_refs_that_are_a_link(self):
        self.model()
        shutil.rmtree(self.repo + "/refs")
        self.link(self.repo + "/refs")
        out, _ = self.rm(0, ME)
        self.assertIn("1 files, 7 bytes", out)
        self.assertFalse(os.path.lexists(self.repo + "/refs"))
        self.gone()

    def test_blobs_that_are_a_link(self):
        self.model()
        os.unlink(self.repo + "/blobs/" + HASH)
        os.rmdir(self.repo + "/blobs")
        self.link(self.repo + "/blobs", self.outside + "/blobs")
        self.rm(0, ME)
        self.gone()

    def test_a_blob_that_is_a_link(self):
        self.model()
        os.unlink(self.repo + "/blobs/" + HASH)
        self.link(self.repo + "/blobs/" + HASH, self.outside + "/" + HASH)
        self.rm(0, ME)
        self.assertFalse(os.path.lexists(self.repo + "/blobs/" + HASH))

    def test_notes_that_are_links(self):
        for name in (".steno", ".steno/" + COMMIT, ".no_exist", ".no_exist/" + COMMIT, "trees"):
            self.model()
            self.link("%s/%s" % (self.repo, name))
            self.rm(0, ME)
            self.gone()
            if os.path.lexists("%s/%s" % (self.repo, name)):
                os.unlink("%s/%s" % (self.repo, name))

    def test_a_model_that_is_a_link(self):
        self.write(self.home + "/elsewhere/snapshots/%s/ggml-x.bin" % COMMIT)
        self.link(self.repo, self.home + "/elsewhere")
        self.rm(0, ME)
        self.assertFalse(os.path.lexists(self.repo))
        self.assertTrue(os.path.exists(self.home + "/elsewhere/snapshots/%s/ggml-x.bin" % COMMIT))

    def test_a_cache_that_is_a_link(self):
        self.cache = self.home + "/disk"
        self.repo = self.cache + "/models--my--model"
        self.model()
        self.write(self.cache + "/other", "stays")
        os.makedirs(self.home + "/.cache/huggingface")
        os.symlink(self.cache, self.home + "/.cache/huggingface/hub")
        self.rm(0, ME)
        self.assertEqual(self.read(self.cache + "/other"), b"stays")
        self.gone()

    def test_links_in_a_snapshot(self):
        self.model()
        snap = self.repo + "/snapshots/" + COMMIT
        self.link(snap + "/folder")
        self.link(snap + "/config.json", self.outside + "/config.json")
        self.link(snap + "/sub/" + HASH, self.outside + "/" + HASH)
        self.link(snap + "/loop", "..")
        self.link(snap + "/dangling", "/none")
        out, _ = self.rm(0, ME)
        self.assertIn("6 files, 7 bytes", out)
        self.assertFalse(os.path.exists(snap))

    def test_other_names_of_a_content(self):
        self.model()
        os.link(self.repo + "/blobs/" + HASH, self.home + "/mine")
        out, _ = self.rm(0, ME)
        self.assertIn("1 files, 0 bytes", out)  # the disk has nothing back
        self.assertEqual(self.read(self.home, "mine"), b"weights")

    def test_modelscopes_layouts(self):
        for path, name in (("models/my--model", ME), ("models/my/model", ME), ("hub/my/model", ME), ("my/model", ME)):
            self.link("%s/%s" % (self.ms_cache, path), self.outside + ("/model" if "--" not in path else ""))
            if "--" in path:
                self.run_steno(3, "models", "rm", "--yes", name)  # there is no snapshot in it
                os.unlink("%s/%s" % (self.ms_cache, path))
                self.link("%s/%s/snapshots/master" % (self.ms_cache, path))
            self.rm(0, name)
            self.assertFalse(os.path.lexists("%s/%s" % (self.ms_cache, path) + ("/snapshots/master" if "--" in path else "")))
        os.rmdir(self.ms_cache + "/models/my")
        self.link(self.ms_cache + "/models/my")  # my/model is a folder of the user's then
        _, err = self.rm(6, ME)
        self.assertIn("remove by other means what it points at", err)

    def test_a_name_with_a_dot_and_the_link_to_it(self):
        old = self.ms_cache + "/models/my"
        self.write(old + "/model___1/.msc")
        self.write(old + "/model___1/config.json")
        self.link(old + "/model.1", old + "/model___1")
        self.rm(0, "my/model.1")
        self.assertEqual(os.listdir(old), [])

    def test_a_folder_of_two_is_not_a_model_for_that(self):
        self.write(self.home + "/docs/letters/to-her.txt")
        _, err = self.run_steno(6, "models", "rm", "--yes", "docs/letters", MODELSCOPE_CACHE=self.home)
        self.assertIn("nothing in it says that it is a model's", err)
        self.assertEqual(self.files_below(self.home + "/docs"), ["letters/to-her.txt"])

    def test_whispercpps_folder(self):
        self.write(self.home + "/.cache/whisper.cpp/ggml-base.bin")
        self.run_steno(3, "models", "rm", "--yes", "base")
        self.assertTrue(os.path.exists(self.home + "/.cache/whisper.cpp/ggml-base.bin"))

    def test_contents_of_other_snapshots_stay(self):
        self.model(COMMIT, OLD)
        deep = "/".join("abcdefgh")  # where the walk from all snapshots was one folder too short
        os.makedirs("%s/snapshots/%s/%s" % (self.repo, OLD, deep))
        os.rename("%s/snapshots/%s/ggml-x.bin" % (self.repo, OLD), "%s/snapshots/%s/%s/ggml-x.bin" % (self.repo, OLD, deep))
        self.rm(0, ME + "@" + COMMIT)
        self.assertTrue(os.path.exists(self.repo + "/blobs/" + HASH))

    def test_a_snapshot_behind_a_link_uses_contents(self):
        self.model()
        self.link(self.home + "/elsewhere/ggml-x.bin", self.repo + "/blobs/" + HASH)
        self.link(self.repo + "/snapshots/" + OLD, self.home + "/elsewhere")
        self.rm(0, ME + "@" + COMMIT)
        self.assertEqual(self.read(self.repo + "/blobs/" + HASH), b"weights")

    def test_pipes_hold_nobody(self):
        self.model()
        for path in ("refs/main", "snapshots/%s/config.json" % COMMIT, "snapshots/%s/ggml-y.bin" % COMMIT, ".steno/%s/config.json" % COMMIT,
                     "trees/%s.json" % COMMIT, "pipe", "blobs/" + sha256(b"other")):
            path = os.path.join(self.repo, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.lexists(path):
                os.unlink(path)
            os.mkfifo(path)
        self.link(self.repo + "/snapshots/%s/ggml-z.bin" % COMMIT, "../../pipe")
        self.link(self.repo + "/snapshots/%s/ggml-w.bin" % COMMIT, "../../blobs/" + sha256(b"other"))
        out, _ = self.run_steno(0, "models", "list")
        self.assertIn("ggml-x.bin", out)
        self.assertNotIn("ggml-y.bin", out)
        out, err = self.run_steno(3, "models", "verify", ME)
        self.assertIn("it is no regular file", out)
        self.assertIn("1 files are right, 1 are not", err)
        os.unlink(self.repo + "/pipe")
        self.rm(0, ME)
        self.assertFalse(os.path.exists(self.repo + "/snapshots/" + COMMIT))

    # ---- how deep

    def test_what_is_pulled_is_seen(self):
        for n in DEEP:
            folder = "/".join("d%d" % i for i in range(n))
            with self.subTest(n=n):
                self.hub.repos["a/deep%d" % n] = {folder + "/x.gguf": b"GGUF" + bytes(20)}
                out, _ = self.pull(0, "-q", "a/deep%d" % n)
                _, err = self.run_steno(0, "models", "verify", "a/deep%d" % n)
                self.assertIn("1 files are right, 0 are not", err)
                self.assertIn("a/deep%d:" % n, self.run_steno(0, "models", "list")[0])
                self.assertEqual(self.run_steno(0, "models", "where", "a/deep%d" % n)[0], out)
                with open(os.path.realpath(out.strip()), "w") as f:
                    f.write("XX")
                self.run_steno(3, "models", "verify", "a/deep%d" % n)
                self.run_steno(0, "models", "rm", "--yes", "a/deep%d" % n)
                self.assertEqual(self.files_below(self.cache + "/models--a--deep%d" % n), [])
                self.pull(0, "-q", "--hub", "ms", "a/deep%d" % n)
                self.run_steno(0, "models", "verify", "a/deep%d" % n)
                self.run_steno(0, "models", "rm", "--yes", "a/deep%d" % n)
                self.assertEqual(self.files_below(self.ms_cache + "/models"), [])

    def test_what_would_not_be_seen_is_refused(self):
        for n in (65, 66, 500):
            self.hub.repos["a/deep%d" % n] = {"/".join("d" * n) + "/x.gguf": b"GGUF"}
            _, err = self.pull(3, "a/deep%d" % n)
            self.assertIn("it lies in more than 64 folders", err)
            self.assertFalse(os.path.exists(self.cache + "/models--a--deep%d" % n))

    def test_a_folder_of_the_callers_is_as_deep(self):
        path = "/".join("d%d" % i for i in range(64)) + "/x.gguf"
        self.hub.repos["a/deep"] = {path: b"GGUF" + bytes(20)}
        self.pull(0, "--to", "mine", "a/deep")
        _, err = self.run_steno(0, "models", "verify", "mine")
        self.assertIn("1 files are right, 0 are not", err)


main()
