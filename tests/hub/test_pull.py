"""steno tests: models pull from Hugging Face's hub, where nothing goes wrong. SPDX-License-Identifier: MIT"""
import os
import stat

from fakehub import COMMIT, OLD, WHISPER, sha1_git, sha256
from steno_hub import Case, json, main

TINY = "openai/whisper-tiny"
WANTED = ["config.json", "generation_config.json", "model.safetensors", "vocab.json"]


class Pull(Case):
    def test_pull_fetches_the_files_a_loader_reads(self):
        out, err = self.pull(0, TINY)
        self.assertEqual(out.strip(), self.snapshot(TINY))
        self.assertEqual(self.files_below(self.snapshot(TINY)), WANTED)
        for name in WANTED:
            self.assertEqual(self.read(self.snapshot(TINY), name), WHISPER[name])
        self.assertIn("hash is right", err)
        self.assertNotIn("secret", err + out)

    def test_the_layout_is_that_of_the_hubs_client(self):
        self.pull(0, TINY)
        repo = os.path.join(self.cache, "models--openai--whisper-tiny")
        self.assertEqual(self.read(repo, "refs/main"), COMMIT.encode())
        blobs = {sha256(WHISPER[n]) if n.endswith("safetensors") else sha1_git(WHISPER[n]) for n in WANTED}
        self.assertEqual(set(os.listdir(os.path.join(repo, "blobs"))), blobs)
        link = os.readlink(os.path.join(self.snapshot(TINY), "model.safetensors"))
        self.assertEqual(link, "../../blobs/" + sha256(WHISPER["model.safetensors"]))
        self.assertTrue(self.read(self.cache, "CACHEDIR.TAG").startswith(b"Signature: 8a477f597d28d172789f06886806bc55"))
        locks = os.listdir(os.path.join(self.cache, ".locks/models--openai--whisper-tiny"))
        self.assertEqual(set(locks), {b + ".lock" for b in blobs})
        self.assertFalse(os.path.exists(os.path.join(repo, "trees")))

    def test_a_file_by_name_in_a_folder(self):
        out, _ = self.pull(0, TINY + ":sub/odd name.json")
        path = os.path.join(self.snapshot(TINY), "sub/odd name.json")
        self.assertEqual(out.strip(), path)
        self.assertEqual(os.readlink(path), "../../../blobs/" + sha1_git(WHISPER["sub/odd name.json"]))
        self.assertEqual(self.read(path), WHISPER["sub/odd name.json"])

    def test_a_second_pull_fetches_nothing(self):
        self.pull(0, TINY)
        self.hub.log.clear()
        out, err = self.pull(0, TINY)
        self.assertFalse([p for p in self.hub.paths() if "resolve" in p])
        self.assertIn("exists already", err)
        out, err = self.pull(0, "--force", TINY)
        self.assertEqual(len([p for p in self.hub.paths() if "resolve" in p]), len(WANTED))

    def test_a_blob_that_has_gone_bad_is_fetched_again(self):
        self.pull(0, TINY)
        path = os.path.join(self.snapshot(TINY), "model.safetensors")
        with open(path, "r+b") as f:  # of the same length
            f.seek(1 << 20)
            f.write(b"?")
        self.pull(0, TINY)
        self.assertEqual(self.read(path), WHISPER["model.safetensors"])

    def test_a_newer_commit_shares_what_has_not_changed(self):
        self.pull(0, TINY)
        self.hub.commits[TINY] = "c" * 40
        self.hub.repos[TINY]["config.json"] = b'{"model_type": "whisper", "new": 1}\n'
        self.hub.log.clear()
        out, _ = self.pull(0, TINY)
        self.assertEqual(out.strip(), self.snapshot(TINY, "c" * 40))
        self.assertEqual([p for p in self.hub.paths() if "resolve" in p], ["/%s/resolve/%s/config.json" % (TINY, "c" * 40)])
        self.assertEqual(self.read(self.cache, "models--openai--whisper-tiny/refs/main"), b"c" * 40)
        self.assertTrue(os.path.exists(self.snapshot(TINY)))

    def test_a_pinned_pull_leaves_main_alone(self):
        out, _ = self.pull(0, TINY + "@" + OLD)
        self.assertEqual(out.strip(), self.snapshot(TINY, OLD))
        self.assertFalse(os.path.exists(os.path.join(self.cache, "models--openai--whisper-tiny/refs/main")))
        self.pull(0, TINY + "@" + COMMIT)
        self.assertEqual(self.read(self.cache, "models--openai--whisper-tiny/refs/main"), COMMIT.encode())

    def test_a_reference_in_a_folder(self):
        self.pull(0, TINY + "@refs/pr/1")
        self.assertEqual(self.read(self.cache, "models--openai--whisper-tiny/refs/refs/pr/1"), COMMIT.encode())

    def test_a_whole_repository_gets_its_list(self):
        self.hub.repos["a/one"] = {"ggml-x.bin": b"lmgg" * 100}
        out, _ = self.pull(0, "a/one")
        self.assertEqual(out.strip(), os.path.join(self.snapshot("a/one"), "ggml-x.bin"))
        tree = json.loads(self.read(self.cache, "models--a--one/trees/%s.json" % COMMIT))
        data = b"lmgg" * 100
        self.assertEqual(tree["format_version"], 1)
        self.assertEqual(tree["files"]["ggml-x.bin"]["lfs_sha256"], sha256(data))
        self.assertEqual(tree["files"]["ggml-x.bin"]["blob_id"], sha1_git(data))

    def test_of_several_models_one_has_to_be_named(self):
        self.hub.repos["a/two"] = {"ggml-x.bin": b"x", "ggml-y.bin": b"y", "README.md": b""}
        _, err = self.pull(3, "a/two")
        self.assertIn("ggml-x.bin, ggml-y.bin", err)
        out, _ = self.pull(0, "a/two:ggml-y.bin")
        self.assertEqual(self.read(out.strip()), b"y")
        _, err = self.pull(3, "a/two:none.bin")
        self.assertIn("there is no file none.bin", err)
        self.hub.repos["a/none"] = {"README.md": b"x"}
        _, err = self.pull(3, "a/none")
        self.assertIn("has no model that steno reads", err)

    def test_a_sharded_model(self):
        files = {"config.json": b"{}", "model.safetensors.index.json": b"{}", "model-00001-of-00002.safetensors": b"1",
                 "model-00002-of-00002.safetensors": b"2", "tf_model.h5": b"no"}
        self.hub.repos["a/shards"] = files
        out, _ = self.pull(0, "a/shards")
        self.assertEqual(self.files_below(out.strip()), sorted(set(files) - {"tf_model.h5"}))

    def test_a_folder_of_mlx(self):
        for name in ("weights.npz", "weights.safetensors"):
            self.hub.repos["a/mlx"] = {"config.json": b'{"n_audio_ctx": 1500}', name: b"1" * 5000, "README.md": b"no"}
            self.hub.commits["a/mlx"] = sha1_git(name.encode())
            out, _ = self.pull(0, "a/mlx")
            self.assertEqual(self.files_below(out.strip()), ["config.json", name])
        out, _ = self.run_steno(0, "models", "list")
        self.assertIn("a/mlx ", out)

    def test_a_folder_of_ctranslate2(self):
        files = {"config.json": b'{"alignment_heads": [[0, 1]], "lang_ids": [50259]}', "model.bin": b"1" * 5000, "tokenizer.json": b"{}"}
        self.hub.repos["Systran/faster-whisper-base"] = {**files, "vocabulary.txt": b"a", "README.md": b"no"}
        out, _ = self.pull(0, "Systran/faster-whisper-base")
        folder = out.strip()
        self.assertEqual(self.files_below(folder), ["config.json", "model.bin", "tokenizer.json", "vocabulary.txt"])
        self.assertEqual(self.run_steno(0, "models", "where", "base")[0].strip(), folder)
        self.assertEqual(self.run_steno(0, "models", "where", "ggml-base")[0].strip(), folder)
        self.assertIn("Systran/faster-whisper-base ", self.run_steno(0, "models", "list")[0])
        for repo, name in (("Systran/faster-distil-whisper-small.en", "distil-small.en"),
                           ("mobiuslabsgmbh/faster-whisper-large-v3-turbo", "turbo"), ("Systran/faster-whisper-large-v3", "large")):
            self.hub.repos[repo] = {**files, "vocabulary.json": b"[]"}
            self.hub.commits[repo] = sha1_git(repo.encode())
            out, _ = self.pull(0, repo)
            self.assertIn("vocabulary.json", self.files_below(out.strip()))
            self.assertEqual(self.run_steno(0, "models", "where", name)[0].strip(), out.strip())
        self.hub.repos["a/other"] = files  # model.bin without a vocabulary: of another program
        self.hub.commits["a/other"] = sha1_git(b"other")
        self.pull(3, "a/other")

    def test_a_nemo_file(self):
        """It is a model by itself: pulled without its name, found by all names of its row, and beside a folder of the same model."""
        repo, file = "nvidia/parakeet-tdt-0.6b-v3", "parakeet-tdt-0.6b-v3.nemo"
        self.hub.repos[repo] = {file: b"1" * 5000, "README.md": b"no"}
        for name in ("parakeet", repo, repo + ":" + file):
            self.pull(0, name)
            for where in ("parakeet", "parakeet-tdt-0.6b-v3", repo, repo + ":" + file):
                self.assertEqual(self.run_steno(0, "models", "where", where)[0].strip(), os.path.join(self.snapshot(repo), file))
        self.assertIn(repo + ":" + file, self.run_steno(0, "models", "list")[0])
        self.run_steno(0, "models", "rm", repo, "--yes")
        files = {"config.json": b"{}", "model.safetensors": b"2" * 5000, "processor_config.json": b"{}"}
        self.hub.repos[repo] = {**files, file: b"1" * 5000}
        self.hub.commits[repo] = sha1_git(b"both")
        folder = self.pull(0, repo)[0].strip()
        self.assertEqual(self.files_below(folder), sorted(files))
        for where in ("parakeet", "parakeet-tdt-0.6b-v3", repo):
            self.assertEqual(self.run_steno(0, "models", "where", where)[0].strip(), folder)

    def test_a_nemo_file_beside_one_of_another_form(self):
        """The other is taken; of several, one must be named."""
        for i, file in enumerate(("m-q8_0.gguf", "ggml-m.bin")):
            repo = "a/m%d" % i
            self.hub.repos[repo] = {file: b"1" * 5000, "m.nemo": b"2" * 5000}
            folder = os.path.dirname(self.pull(0, repo)[0].strip())
            self.assertEqual(self.files_below(folder), [file])
            self.pull(0, repo + ":m.nemo")
            self.assertEqual(self.files_below(folder), sorted((file, "m.nemo")))
            for where in (repo, "m%d" % i):
                self.assertEqual(self.run_steno(0, "models", "where", where)[0].strip(), os.path.join(folder, file))
            self.assertEqual(self.run_steno(0, "models", "where", repo + ":m.nemo")[0].strip(), os.path.join(folder, "m.nemo"))
        self.hub.repos["a/several"] = {name: b"1" * 5000 for name in ("a.gguf", "b.gguf", "m.nemo")}
        self.assertIn("it holds 3 models", self.pull(3, "a/several")[1])

    def test_settings_of_texts_come(self):
        names = ("config.json", "model.safetensors", "chat_template.jinja", "chat_template.json", "sentence_bert_config.json")
        self.hub.repos["a/chat"] = {name: name.encode() * 100 for name in names}
        self.assertEqual(self.files_below(self.pull(0, "a/chat")[0].strip()), sorted(names))

    def test_into_a_folder_plain_files_come(self):
        out, _ = self.pull(0, "--to", "here/below", TINY)
        self.assertEqual(out.strip(), "here/below")
        folder = os.path.join(self.home, "here/below")
        records = [".cache/huggingface/.gitignore"] + [".cache/huggingface/download/%s.metadata" % n for n in WANTED]
        self.assertEqual(self.files_below(folder), sorted(records + WANTED))
        self.assertTrue(stat.S_ISREG(os.lstat(os.path.join(folder, "config.json")).st_mode))
        self.assertFalse(os.path.exists(self.cache))
        with open(os.path.join(folder, "vocab.json"), "r+b") as f:  # of the same length
            f.write(b"X")
        out, err = self.run_steno(3, "models", "verify", folder)
        self.assertIn("vocab.json: its bytes are wrong", out)
        self.assertIn("3 files are right, 1 are not", err)
        self.assertEqual(len(out.splitlines()), 1)
        _, err = self.pull(6, "--to", folder, TINY)  # a change of the user's looks the same
        self.assertIn("vocab.json: exists with other content, and is not replaced", err)
        self.pull(0, "--to", folder, "--force", TINY)
        self.run_steno(0, "models", "verify", folder)
        self.run_steno(0, "models", "verify", folder + "/config.json")
        self.assertEqual(self.read(folder, "vocab.json"), WHISPER["vocab.json"])

    def test_without_links_files_lie_in_the_snapshot(self):
        self.pull(0, TINY, HF_HUB_DISABLE_SYMLINKS="1")
        for name in WANTED:
            self.assertFalse(os.path.islink(os.path.join(self.snapshot(TINY), name)))
        self.nothing_wrong()
        self.hub.log.clear()
        self.pull(0, TINY, HF_HUB_DISABLE_SYMLINKS="1")
        self.assertFalse([p for p in self.hub.paths() if "resolve" in p])

    def test_json_tells_of_each_file(self):
        out, err = self.pull(0, "--json", TINY)
        events = [json.loads(line) for line in err.splitlines()]
        self.assertEqual([e["file"] for e in events if e["event"] == "done"], sorted(WANTED, key=list(WHISPER).index))
        done = [e for e in events if e["file"] == "model.safetensors" and e["event"] == "done"][0]
        self.assertEqual((done["bytes"], done["total"]), (2 << 20, 2 << 20))
        self.assertEqual(done["repo"], TINY)
        self.assertEqual(done["commit"], COMMIT)
        self.assertTrue(done["path"].endswith("/model.safetensors"))

    def test_the_environment_says_where(self):
        for env, cache in (({"HF_HUB_CACHE": "$HOME/a"}, "a"), ({"HUGGINGFACE_HUB_CACHE": "~/b"}, "b"), ({"HF_HOME": "${HOME}/c"}, "c/hub"),
                           ({"XDG_CACHE_HOME": self.home + "/d"}, "d/huggingface/hub")):
            out, _ = self.pull(0, "-q", TINY + ":config.json", **env)
            self.assertTrue(out.startswith(os.path.join(self.home, cache) + "/models--"), out)

    def test_an_endpoint_may_have_a_path(self):
        self.pull(0, TINY, HF_ENDPOINT=self.hub.url + "/prefix/")
        self.assertTrue(all(p.startswith("/prefix/") for p in self.hub.paths() if not p.startswith("/store/")))

    def test_the_token_goes_to_the_hub_alone(self):
        self.hub.token = "hf_word"
        for env in ({"HF_TOKEN": " hf_word\n"}, {"HUGGING_FACE_HUB_TOKEN": "hf_word"}):
            self.pull(0, "--force", "fault/gated", **env)
        os.makedirs(self.home + "/.cache/huggingface", exist_ok=True)
        with open(self.home + "/.cache/huggingface/token", "w") as f:
            f.write("hf_word\n")
        out, err = self.pull(0, "--force", "fault/private")
        self.assertNotIn("hf_word", out + err)
        _, err = self.pull(3, "fault/private", HF_HUB_DISABLE_IMPLICIT_TOKEN="1")
        self.assertIn("no such repository, or it is private", err)
        _, err = self.pull(3, "fault/gated", HF_HUB_DISABLE_IMPLICIT_TOKEN="1")
        self.assertIn("accept the terms", err)

    def test_offline_no_socket_is_opened(self):
        self.pull(0, TINY)
        self.hub.log.clear()
        for how in (("--offline",), ()):
            env = {} if how else {"HF_HUB_OFFLINE": "yes"}
            out, _ = self.pull(0, *how, TINY, **env)
            self.assertEqual(out.strip(), self.snapshot(TINY))
            _, err = self.pull(3, *how, "a/none", **env)
            self.assertIn(self.cache, err)
        self.assertFalse(self.hub.log)

    def test_where_and_list_see_it(self):
        self.hub.repos["a/two"] = {"ggml-x.bin": b"lmgg" + bytes(100), "ggml-y.bin": b"y"}
        self.pull(0, "a/two:ggml-x.bin", TINY)
        for name, path in (("a/two", self.snapshot("a/two") + "/ggml-x.bin"), ("a/two:ggml-x.bin", self.snapshot("a/two") + "/ggml-x.bin"),
                           (TINY, self.snapshot(TINY)), (TINY + "@" + COMMIT, self.snapshot(TINY)), (TINY + "@main", self.snapshot(TINY)),
                           (TINY + ":config.json", self.snapshot(TINY) + "/config.json")):
            out, _ = self.run_steno(0, "models", "where", name)
            self.assertEqual(out.strip(), path)
        self.run_steno(3, "models", "where", "a/two:ggml-y.bin")
        out, _ = self.run_steno(0, "models", "list", "--json")
        rows = {r["name"]: r for r in map(json.loads, out.splitlines())}
        self.assertEqual(set(rows), {"a/two:ggml-x.bin", TINY})
        self.assertEqual(rows["a/two:ggml-x.bin"]["bytes"], 104)
        out, _ = self.run_steno(0, "models", "list")
        self.assertIn(TINY, out)

    def test_names_that_are_none(self):
        for name in ("a/b/c", "../x", "a/..", "a--b/c", "a/b.git", "a/b@../x", "a/b:../x", "a/b:/x", "a/b:x\\y", "a b/c", "a/b:C:x",
                     "a/" + "b" * 100):
            with self.subTest(name=name):
                self.pull(2, name)
        self.pull(2)
        self.run_steno(2, "models")
        self.run_steno(2, "models", "fly")
        self.run_steno(2, "models", "where", "--force", "a/b")
        self.assertFalse(self.hub.log)


main()
