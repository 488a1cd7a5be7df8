"""steno tests: links and other things in a cache that are no plain files. SPDX-License-Identifier: MIT

A folder outside of the cache has files that no command may touch; every test ends with a look at them. Behind a link `models rm` removes
nothing: the link itself goes where it is what was asked for, else the command is refused."""
import os
import shutil
import time

from fakehub import COMMIT, OLD, WHISPER, sha256
from steno_hub import Case, main

TINY = "openai/whisper-tiny"
WANTED = ["config.json", "generation_config.json", "model.safetensors", "vocab.json"]
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
            self.assertIn("is a link, and the target of a link is not removed", err)
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
        self.assertIn("remove its target by other means", err)

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
        self.assertIn("nothing in it identifies it as a model's", err)
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
        self.assertIn("it is not a regular file", out)
        self.assertIn("1 files are right, 1 are not", err)
        os.unlink(self.repo + "/pipe")
        self.rm(0, ME)
        self.assertFalse(os.path.exists(self.repo + "/snapshots/" + COMMIT))

    # ---- a folder of the user's, who has files of the same names

    def into(self, code, *args):
        before = {n: self.mode_of(n) for n in self.names("mine")}
        out, err = self.pull(code, "--to", "mine", *args, TINY)
        if code:
            self.assertIn("mine", err)
            self.assertFalse([p for p in self.hub.paths() if "/resolve/" in p], err)  # not one byte was fetched
            self.assertEqual({n: self.mode_of(n) for n in self.names("mine")}, before)
        self.hub.log.clear()
        return err

    def names(self, folder):
        return sorted(os.path.join(d, n) for d, f, g in os.walk(os.path.join(self.home, folder)) for n in f + g)

    def mode_of(self, path):
        st = os.lstat(path)
        return st.st_mode, st.st_ino, st.st_size, st.st_mtime_ns

    def test_files_of_the_user_are_not_replaced(self):
        for name in WANTED:
            with self.subTest(name=name):
                path = self.home + "/mine/" + name
                self.write(path, "my own")
                err = self.into(6)
                self.assertIn("mine/%s: exists with other content, and is not replaced; name another folder with --to, or replace it with "
                              "--force" % name, err)
                self.assertEqual(self.read(path), b"my own")
                self.write(path, "my own" + "x" * (len(WHISPER[name]) - 6))  # the same length
                self.into(6)
                self.into(0, "--force")
                self.assertEqual(self.read(path), WHISPER[name])
                self.into(0)
                shutil.rmtree(self.home + "/mine")

    def test_a_file_with_the_right_bytes_is_kept(self):
        os.makedirs(self.home + "/mine")
        for name in ("config.json", "vocab.json"):
            self.write(self.home + "/" + name, WHISPER[name].decode())
        os.link(self.home + "/config.json", self.home + "/mine/config.json")
        self.link(self.home + "/mine/vocab.json", "../vocab.json")
        before = self.mode_of(self.home + "/mine/config.json"), self.mode_of(self.home + "/mine/vocab.json")
        err = self.into(0)
        self.assertIn("config.json: exists already", err)
        self.assertIn("vocab.json: exists already", err)
        self.assertEqual(before, (self.mode_of(self.home + "/mine/config.json"), self.mode_of(self.home + "/mine/vocab.json")))

    def test_pull_replaces_unchanged_files_of_an_earlier_pull(self):
        self.into(0)
        newer = dict(WHISPER, **{"config.json": b'{"model_type": "whisper", "newer": 1}\n'})
        self.hub.repos[TINY], self.hub.commits[TINY] = newer, "c" * 40
        self.write(self.home + "/mine/vocab.json", "mine now")
        self.into(6)
        self.assertEqual(self.read(self.home, "mine/config.json"), WHISPER["config.json"])
        self.write(self.home + "/mine/vocab.json", WHISPER["vocab.json"].decode())
        self.into(0)
        self.assertEqual(self.read(self.home, "mine/config.json"), newer["config.json"])
        self.run_steno(0, "models", "verify", "mine")

    def test_other_things_of_that_name(self):
        make = {"pipe": os.mkfifo, "folder": os.mkdir, "dangling": lambda p: os.symlink("none", p), "loop": lambda p: os.symlink(p, p),
                "link": lambda p: os.symlink(self.outside + "/config.json", p)}
        for what, how in make.items():
            for name in ("config.json", "config.json.steno.incomplete", ".cache/huggingface/download/config.json.metadata"):
                with self.subTest(what=what, name=name):
                    path = os.path.join(self.home, "mine", name)
                    os.makedirs(os.path.dirname(path))
                    how(path)
                    self.assertIn(name, self.into(6))
                    self.assertEqual(self.look(), self.before)
                    if what != "folder" and not name.endswith("incomplete"):
                        self.into(0, "--force")
                        self.assertTrue(os.path.isfile(path) and not os.path.islink(path))
                        self.assertEqual(self.look(), self.before)
                    shutil.rmtree(self.home + "/mine")

    def test_other_names_of_a_partial_file_keep_their_bytes(self):
        os.makedirs(self.home + "/mine")
        for name in ("config.json", "model.safetensors"):
            path = self.home + "/mine/%s.steno.incomplete" % name
            os.link(self.outside + "/thesis.txt", path)
            self.assertIn("more than one name (hard links)", self.into(6))
            os.unlink(path)
        self.into(0)

    def test_a_partial_file_of_ones_own_goes_on(self):
        os.makedirs(self.home + "/mine")
        with open(self.home + "/mine/model.safetensors.steno.incomplete", "wb") as f:
            f.write(WHISPER["model.safetensors"][:1 << 20])
        self.pull(0, "--to", "mine", TINY)
        self.assertIn("bytes=1048576-", [h.get("Range") for _, p, h in self.hub.log if "model.safetensors" in p])

    def test_partial_files_of_the_cache_are_plain_ones(self):
        for how, says in ((os.mkfifo, "is not a regular file"), (lambda p: os.link(self.outside + "/thesis.txt", p), "hard links"),
                          (lambda p: os.symlink(self.outside + "/thesis.txt", p), "symbolic link")):
            path = self.snapshot(TINY) + "/../../blobs/" + sha256(WHISPER["model.safetensors"]) + ".steno.incomplete"
            os.makedirs(os.path.dirname(os.path.normpath(path)), exist_ok=True)
            how(os.path.normpath(path))
            _, err = self.pull(6, TINY)
            self.assertIn(says, err)
            self.assertEqual(self.look(), self.before)
            os.unlink(os.path.normpath(path))
        self.pull(0, TINY)

    def test_folders_on_the_way_are_folders(self):
        self.hub.repos[TINY] = {"sub/er/ggml-x.bin": b"weights", "config.json": b"{}"}
        self.hub.commits[TINY] = "d" * 40
        for way in ("sub", "sub/er", ".cache", ".cache/huggingface", ".cache/huggingface/download", ".cache/huggingface/download/sub/er"):
            for target in (self.outside, "/none", "."):
                with self.subTest(way=way, target=target):
                    self.link(self.home + "/mine/" + way, target)
                    _, err = self.pull(6, "--to", "mine", TINY + ":sub/er/ggml-x.bin")
                    self.assertIn("mine/%s: is a symbolic link, and files are only put into real folders" % way, err)
                    self.assertFalse([p for p in self.hub.paths() if "/resolve/" in p])
                    shutil.rmtree(self.home + "/mine")
        self.write(self.home + "/mine/sub")
        _, err = self.pull(6, "--to", "mine", TINY + ":sub/er/ggml-x.bin")
        self.assertIn("a part of the path is not a folder", err)
        os.unlink(self.home + "/mine/sub")
        self.link(self.home + "/link", "mine")  # the folder itself may be one
        self.pull(0, "--to", "link", TINY + ":sub/er/ggml-x.bin")
        self.assertEqual(self.read(self.home, "mine/sub/er/ggml-x.bin"), b"weights")

    def test_a_file_that_comes_in_the_meantime_is_not_replaced(self):
        for name in ("model.safetensors", "vocab.json"):
            p = self.start("models", "pull", "--to", "mine", "fault/slow")
            partial = self.home + "/mine/model.safetensors.steno.incomplete"
            while p.poll() is None and not (os.path.exists(partial) and os.path.getsize(partial)):
                time.sleep(0.01)
            self.write(self.home + "/mine/" + name, "mine")
            _, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 6, err)
            self.assertIn("mine/%s: another program has put a file there in the meantime" % name, err)
            self.assertEqual(self.read(self.home, "mine", name), b"mine")
            shutil.rmtree(self.home + "/mine")

    def test_two_pulls_into_one_folder(self):
        both = [self.start("models", "pull", "--to", "mine", "fault/slow") for _ in range(2)]
        for p in both:
            _, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 0, err)
        self.run_steno(0, "models", "verify", "mine")

    # ---- how deep

    def test_pulled_models_are_listed(self):
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

    def test_repositories_deeper_than_64_folders_are_refused(self):
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
