"""steno tests: names of models, ModelScope, and the verbs beside pull. SPDX-License-Identifier: MIT"""
import os
import pty
import shutil

from fakehub import COMMIT, OLD, WHISPER, sha256
from steno_hub import SOURCE, STENO, Case, json, main

TINY = "openai/whisper-tiny"
DIGITS = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
SPEECH = os.path.join(SOURCE, "tests/data/demo.wav")


def table():
    rows = []
    with open(os.path.join(SOURCE, "models/known.tsv")) as f:
        lines = [line.rstrip("\n") for line in f if not line.startswith("#")]
    for line in lines:
        rows.append(["" if c == "-" else c for c in line.split("\t")])
    return rows


class Names(Case):
    def test_the_table_is_well_formed(self):
        names = {}
        for r in table():
            self.assertEqual(len(r), 12, r)
            name, aliases, hub, repo, commit, file, size, digest, family, languages, licence, memory = r
            self.assertIn(hub, ("hf", "ms"))
            self.assertRegex(repo, r"^[\w.-]+/[\w.-]+$")
            self.assertTrue(not digest or len(digest) == 64 and size, r)
            self.assertRegex(size, r"^~?[1-9][0-9]*$", r)  # a download of unknown size surprises
            if family:
                self.assertTrue(languages and licence and int(memory) > 0, r)
                for n in [name] + aliases.split(",") * bool(aliases):
                    self.assertNotIn(n.lower(), names)
                    names[n.lower()] = 1
            if hub == "hf" and digest:
                self.assertRegex(commit, "^[0-9a-f]{40}$")

    def test_the_program_has_the_table(self):
        out, _ = self.run_steno(0, "models", "list", "--all", "--json")
        got = {r["name"]: r for r in map(json.loads, out.splitlines())}
        want = [r for r in table() if r[8]]
        self.assertEqual(sorted(got), sorted(r[0] for r in want))
        for r in want:
            self.assertEqual((got[r[0]]["repo"], got[r[0]]["licence"], got[r[0]]["memory_mb"]), (r[3], r[10], int(r[11])))

    def test_the_documentation_has_the_table(self):
        with open(os.path.join(SOURCE, "doc/models.md")) as f:
            shown = [[c.strip() for c in line.split("|")[1:-1]] for line in f if line.startswith("| ")]
        rows, want = {r[0]: r for r in shown if len(r) == 7}, table()
        for r in want:
            if r[8]:
                sizes = [x[6] for x in want if x[0] == r[0]]
                size = "about " + sizes[0][1:] if sizes[0][0] == "~" else "%.1f" % (sum(map(int, sizes)) / 1e6)
                self.assertEqual(rows[r[0]], [r[0], r[1].replace(",", " "), size, r[11], r[9], r[10],
                                              ("ModelScope: " if r[2] == "ms" else "") + r[3]])
        self.assertEqual(sorted(rows.keys() - {"name", "---"}), sorted({r[0] for r in want}))  # and nothing else

    def test_a_name_without_hashes_is_what_the_hub_lists(self):
        self.hub.repos["openai/whisper-base"] = dict(WHISPER)
        out, _ = self.pull(0, "whisper-base")
        self.assertEqual(out.strip(), self.snapshot("openai/whisper-base"))

    def test_a_name_with_a_hash_takes_nothing_else(self):
        pinned = [r for r in table() if r[0] == "silero-v6"][0]
        self.hub.repos[pinned[3]] = {pinned[5]: b"x" * int(pinned[6])}
        self.hub.commits[pinned[3]] = pinned[4]
        _, err = self.pull(3, "silero")
        self.assertIn("its bytes are wrong", err)
        self.assertFalse([p for p in self.hub.paths() if "/api/" in p])  # nothing has to be asked
        self.hub.repos[pinned[3]] = {pinned[5]: b"short"}
        _, err = self.pull(3, "SILERO-v6")
        self.assertIn("5 bytes", err)
        self.assertEqual([f for d, _, n in os.walk(self.cache) for f in n if "silero" in f], [])

    def test_a_name_that_nobody_knows(self):
        _, err = self.pull(3, "bose")
        self.assertIn("models list --all", err)
        self.pull(2, "--hub", "ms", "base")
        self.assertFalse(self.hub.log)

    def put(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(DIGITS, path)
        return path

    def test_names_find_files_in_every_cache_in_order(self):
        c = self.home + "/.cache/"
        ms = self.ms_cache
        places = [  # from the last to the first
            c + "whisper/tiny.bin", c + "whisper.cpp/ggml-tiny.bin",
            ms + "/hub/ggerganov/whisper___cpp/ggml-tiny.bin",
            ms + "/models/ggerganov--whisper.cpp/snapshots/master/ggml-tiny.bin",
            self.snapshot("ggerganov/whisper.cpp") + "/ggml-tiny.bin", c + "steno/tiny.bin", self.home + "/models/ggml-tiny.bin"]
        for p in places:
            self.put(p)
            out, _ = self.run_steno(0, "models", "where", "tiny")
            self.assertEqual(os.path.join(self.home, out.strip()), p)
            out, _ = self.run_steno(0, "-q", "-m", "tiny", SPEECH)
            self.assertTrue(out)
        out, _ = self.run_steno(0, "models", "list", "--json")
        found = {os.path.join(self.home, json.loads(line)["path"]) for line in out.splitlines()}
        self.assertEqual(found, set(places))

    def test_ms_old_places(self):
        for p, name in (("/hub/models/iic/Sense___Voice/ggml-x.bin", "iic/Sense.Voice"), ("/models/iic/two/ggml-y.bin", "iic/two")):
            self.put(self.ms_cache + p)
            out, _ = self.run_steno(0, "models", "where", name)
            self.assertEqual(out.strip(), self.ms_cache + p)

    def test_a_name_is_found_under_any_owner(self):
        """ModelScope has models of Hugging Face's hub under another owner, and long names."""
        files = {"model.pt": b"x" * 400, "config.yaml": b"model: x\n", "am.mvn": b"x", "tokens.json": b"[]"}
        long_name = "speech_seaco_paraformer_large_asr_nat-zh-cn-16k-common-vocab8404-pytorch"
        for repo, names in (("iic/SenseVoiceSmall", ["sensevoice-small", "sensevoice", "SenseVoiceSmall"]), ("iic/" + long_name, ["paraformer-zh", long_name]),
                            ("iic/" + "x" * 92, ["x" * 92]), ("me/my.model", ["my.model"])):
            for place in (None, "models", "hub", "hub/models", "."):
                with self.subTest(repo=repo, place=place):
                    self.hub.repos[repo] = files
                    if place is None:
                        self.pull(0, "-q", "--hub", "ms", repo)
                    for file, data in files.items():
                        path = os.path.join(self.ms_cache, place or "none", repo.replace(".", "___"), file)
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                        with open(path, "wb") as f:
                            f.write(data if place else b"")
                    for name in [repo] + names:
                        out, _ = self.run_steno(0, "models", "where", name)
                        self.assertIn("/modelscope/", out)
                    shutil.rmtree(self.ms_cache)
        self.run_steno(3, "models", "where", "SenseVoiceSmal")

    def test_a_missing_model_says_how_to_get_it(self):
        for how in (["-m", "base", SPEECH], ["info", "base"], ["bench", "-m", "base"]):
            _, err = self.run_steno(3, *how)
            if how[0] == "-m":
                self.assertIn("steno models pull base", err)
                self.assertEqual(len(err.splitlines()), 1)
        _, err = self.run_steno(3, "-m", "some/model", SPEECH)
        self.assertIn("steno models pull some/model", err)
        _, err = self.run_steno(3, "-m", "bse", SPEECH)
        self.assertIn("did you mean base?", err)
        self.assertFalse(self.hub.log)

    def on_terminal(self, answer, *args):
        """Run it at a terminal that answers; exit code and what the terminal shows."""
        pid, fd = pty.fork()
        if not pid:
            os.chdir(self.home)
            os.execve(STENO, ["steno", *args], self.env(TERM="xterm"))
        shown, answered = b"", False
        while True:
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            shown += data
            if b"[y/N]" in shown and not answered:
                os.write(fd, answer)
                answered = True
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(errors="replace")

    def test_a_terminal_is_asked(self):
        with open(DIGITS, "rb") as f:
            self.hub.repos["some/model"] = {"ggml-d.bin": f.read()}
        code, shown = self.on_terminal(b"n\n", "-m", "some/model", SPEECH)
        self.assertEqual(code, 3, shown)
        self.assertFalse(self.hub.log)
        code, shown = self.on_terminal(b"y\n", "-m", "some/model", SPEECH)
        self.assertEqual(code, 0, shown)
        self.assertIn("hash is right", shown)
        code, shown = self.on_terminal(b"y\n", "-m", "some/model", SPEECH)
        self.assertNotIn("[y/N]", shown)

    def test_companion_models_are_found_where_pull_puts_them(self):
        material = os.path.join(os.environ.get("STENO_SHARED", "/none"), "material/funasr")
        if not os.path.isdir(material + "/fsmn-vad/pt"):
            self.skipTest("no model of voice activity")
        vad = self.ms_cache + "/models/iic--speech_fsmn_vad_zh-cn-16k-common-pytorch/snapshots/v2.0.4"
        shutil.copytree(material + "/fsmn-vad/pt", vad)
        out, err = self.run_steno(0, "-m", DIGITS, "--vad", "fsmn", SPEECH)
        self.assertIn(vad, err)
        self.assertEqual(self.run_steno(0, "models", "where", "fsmn-vad")[0].strip(), vad)

    # ---- rm, verify

    def tree(self):
        return sorted(os.path.join(d, f)[len(self.home):] for d, _, n in os.walk(self.cache) for f in n if "/.locks/" not in d + "/")

    def test_rm_takes_what_nobody_else_names(self):
        self.pull(0, TINY)
        self.pull(0, TINY + "@" + OLD)
        self.hub.repos["a/other"] = {"ggml-x.bin": b"x"}
        self.pull(0, "a/other")
        before = self.tree()
        _, err = self.run_steno(2, "models", "rm", TINY)
        self.assertIn("give --yes", err)
        out, _ = self.run_steno(0, "models", "rm", "--dry-run", TINY)
        self.assertEqual(self.tree(), before)
        size = sum(len(WHISPER[n]) for n in ("config.json", "generation_config.json", "model.safetensors", "vocab.json"))
        self.assertEqual(out.strip(), "%s: 8 files, %d bytes would be removed" % (TINY, size))
        out, _ = self.run_steno(0, "models", "rm", "--dry-run", TINY + "@" + OLD)
        self.assertIn("4 files, 0 bytes", out)
        out, _ = self.run_steno(0, "models", "rm", "--yes", TINY + "@" + OLD)
        self.assertIn("4 files, 0 bytes", out)
        self.nothing_wrong()
        self.assertTrue(os.path.exists(self.snapshot(TINY) + "/model.safetensors"))
        out, _ = self.run_steno(0, "models", "rm", "--yes", TINY + ":model.safetensors")
        self.assertIn("1 files, 2097152 bytes", out)
        self.assertTrue(os.path.exists(self.snapshot(TINY) + "/vocab.json"))
        out, _ = self.run_steno(0, "models", "rm", "--yes", TINY)
        self.assertEqual([p for p in self.tree() if "whisper-tiny" in p], [])
        self.assertTrue(os.path.exists(self.snapshot("a/other") + "/ggml-x.bin"))
        self.run_steno(3, "models", "rm", "--yes", TINY)

    def test_verify_needs_no_network(self):
        self.pull(0, TINY)
        self.pull(0, TINY, HF_HUB_CACHE=self.home + "/plain", HF_HUB_DISABLE_SYMLINKS="1")
        self.hub.log.clear()
        for env in ({}, {"HF_HUB_CACHE": self.home + "/plain"}):
            out, err = self.run_steno(0, "models", "verify", TINY, **env)
            self.assertIn("4 files are right, 0 are not", err)
            path = os.path.join(env.get("HF_HUB_CACHE", self.cache), "models--openai--whisper-tiny/snapshots", COMMIT, "vocab.json")
            with open(path, "r+b") as f:
                f.write(b"?")
            out, _ = self.run_steno(3, "models", "verify", "--all", **env)
            self.assertEqual(len(out.splitlines()), 1)
            self.assertIn("vocab.json: its bytes are wrong", out)
            out, _ = self.run_steno(0, "models", "verify", TINY + ":config.json", **env)
        self.assertFalse(self.hub.log)
        self.pull(0, "--force", TINY)
        self.run_steno(0, "models", "verify", TINY)
        self.run_steno(2, "models", "verify")
        self.run_steno(3, "models", "verify", "a/none")

    def test_verify_looks_at_files_of_other_programs(self):
        c = self.home + "/.cache/"
        for path, right in ((c + "whisper/base.pt", 0), (c + "whisper.cpp/ggml-base.bin", 0), (c + "whisper/mine.pt", 1),
                            (c + "whisper/large-v3-turbo.pt", 0)):
            self.put(path)
            for how in (path, os.path.basename(path)):
                out, err = self.run_steno(0 if right else 3, "models", "verify", how)
                self.assertEqual(out.startswith(path + ": "), not right, out + err)
                self.assertEqual("no hash is known of 1 files" in err, bool(right))
        out, _ = self.run_steno(3, "models", "verify", "base")
        self.assertEqual(len(out.splitlines()), 2)
        out, _ = self.run_steno(3, "models", "verify", "turbo")
        self.assertIn("its hash is", out.replace("their", "its"))
        out, err = self.run_steno(3, "models", "verify", "--all")
        self.assertIn("0 files are right, 3 are not", err)
        out, _ = self.run_steno(0, "models", "where", "turbo")
        self.assertEqual(out.strip(), c + "whisper/large-v3-turbo.pt")
        self.assertEqual(self.run_steno(0, "models", "where", "mine.pt")[0].strip(), c + "whisper/mine.pt")
        out, _ = self.run_steno(0, "models", "list")
        self.assertIn("mine.pt", out)
        self.run_steno(3, "models", "verify", "medium")

    def test_a_file_of_a_known_name_that_is_right(self):
        silero = os.path.join(os.environ.get("STENO_SHARED", "/none"), "material/funasr/silero/ggml-silero-v6.2.0.bin")
        if not os.path.exists(silero):
            self.skipTest("no file of a known hash")
        os.makedirs(self.home + "/.cache/whisper.cpp")
        path = shutil.copy(silero, self.home + "/.cache/whisper.cpp")
        for how in (path, "silero", "silero-v6"):
            _, err = self.run_steno(0, "models", "verify", how)
            self.assertIn("1 files are right, 0 are not", err)

    def test_the_hashes_of_openais_files(self):
        with open(os.path.join(SOURCE, "models/openai.tsv")) as f:
            rows = dict(line.rstrip().split("\t") for line in f if not line.startswith("#"))
        self.assertEqual(len(rows), 12)
        for name, digest in rows.items():
            self.put(os.path.join(self.home, name))
            out, _ = self.run_steno(3, "models", "verify", name)
            self.assertIn("not " + digest, out)

    # ---- search, ModelScope

    def test_the_address_of_a_page_is_a_name(self):
        """As it is copied from a browser, of the hub itself, of a mirror or of the endpoint."""
        self.hub.repos["iic/v"] = {"model.pt": b"x" * 99, "config.yaml": b"x", "sub/odd name.pt": b"y"}
        file, rest = "/openai/whisper-tiny/%s/main/model.safetensors", "?download=true&sig=x#L1"
        of_hf = [("", None), ("/", None), ("/tree/main", None), ("/tree/main/", None), ("?library=x#readme", None), ("/tree/" + OLD, OLD), ("/commits/main", None),
                 ("/tree/refs%2Fpr%2F1", COMMIT)]
        for host in ("https://huggingface.co", "http://huggingface.co", "HTTPS://HuggingFace.co", "https://hf.co", "https://hf-mirror.com", self.hub.url):
            for path, rev in of_hf if host == self.hub.url else of_hf[:3]:
                with self.subTest(host=host, path=path):
                    out, _ = self.pull(0, "-q", host + "/openai/whisper-tiny" + path)
                    self.assertEqual(out.strip(), self.snapshot(TINY, rev or COMMIT))
                    self.assertEqual(self.run_steno(0, "models", "where", host + "/openai/whisper-tiny" + path)[0], out)
            for way in ("blob", "resolve", "raw"):
                shutil.rmtree(self.cache)
                out, _ = self.pull(0, "-q", host + file % way + rest)
                self.assertEqual(out.strip(), self.snapshot(TINY) + "/model.safetensors")
                self.assertEqual(self.files_below(self.snapshot(TINY)), ["model.safetensors"])
        self.pull(0, "-q", "https://huggingface.co/openai/whisper-tiny/blob/main/sub/odd%20name.json")
        self.run_steno(0, "models", "verify", "https://huggingface.co/openai/whisper-tiny")
        self.run_steno(0, "models", "rm", "--yes", "https://huggingface.co/openai/whisper-tiny")
        for host in ("https://modelscope.cn", "https://www.modelscope.cn", "http://www.modelscope.ai", self.hub.url):
            for path in ("", "/", "/summary", "/files", "/files?version=master"):
                out, _ = self.pull(0, "-q", host + "/models/iic/v" + path)
                self.assertIn("/modelscope/models/iic--v/snapshots/master", out)
            for path in ("/resolve/master/sub/odd%20name.pt", "/file/view/master/sub/odd%20name.pt", "/file/view/master?fileName=sub%2Fodd%20name.pt&status=1"):
                out, _ = self.pull(0, "-q", host + "/models/iic/v" + path)
                self.assertTrue(out.strip().endswith("snapshots/master/sub/odd name.pt"), out)
        both, _ = self.pull(0, "-q", "https://modelscope.cn/models/iic/v", "https://huggingface.co/openai/whisper-tiny", TINY)
        self.assertEqual(len(both.splitlines()), 3)

    def test_addresses_that_are_no_page_of_a_model(self):
        for url, says in (("https://example.com/a/b", "not a page of Hugging Face's hub or of ModelScope"), ("ftp://huggingface.co/a/b", "not a page of Hugging"),
                          ("https://huggingface.co.evil.com/a/b", "not a page of Hugging"), ("https://huggingface.co", "does not name a model"),
                          ("https://huggingface.co/gpt2", "does not name a model"), ("https://huggingface.co/datasets/a/b", "not the page of a model"),
                          ("https://huggingface.co/spaces/a/b", "not the page of a model"), ("https://huggingface.co/a/b/discussions/1", "not the page of a model"),
                          ("https://huggingface.co/a/b/tree/main/sub", "shows a folder"), ("https://huggingface.co/a/b%00c", "without two digits after it"),
                          ("https://huggingface.co/a/b/blob/main/..%2f..%2fx", "a part of it is empty"), ("https://huggingface.co/a/b%2", "without two digits after it"),
                          ("https://huggingface.co/a/b/blob/main/x%0ay", "control characters"), ("https://huggingface.co/a/" + "b" * 99, "too long"),
                          ("https://huggingface.co/a/b/blob/main/" + "/".join("d" * 99), "too many parts"), ("https://www.modelscope.cn/datasets/a/b", "not the page of a model"),
                          ("https://modelscope.cn/collections/x", "not the page of a model"), ("https://www.modelscope.cn/organization/a", "not the page of a model"),
                          ("https://huggingface.co/collections/a/b-1", "not the page of a model"), ("https://huggingface.co/papers/1", "not the page of a model"),
                          ("https://modelscope.cn/collections/x/y", "not the page of a model"), ("https://huggingface.co/docs/a", "not the page of a model"),
                          ("https://user:word@huggingface.co/a/b", "not a page of"), ("https://huggingface.co/-a/b", "begins or ends"),
                          ("https://huggingface.co/a/b/blob/main/" + "x" * 300, "too long"), ("https://huggingface.co/a/b/tree/" + "x" * 300, "too long")):
            with self.subTest(url=url):
                _, err = self.pull(2, url)
                self.assertIn(says, err)
        _, err = self.pull(2, "--hub", "ms", "https://huggingface.co/a/b")
        self.assertIn("on another hub than that of --hub", err)
        self.assertFalse(self.hub.log)

    def test_search(self):
        self.hub.repos["a/whisper-x"] = {}
        for hub in ("hf", "ms"):
            out, _ = self.run_steno(0, "models", "search", "--hub", hub, "whisper")
            self.assertEqual([line.split()[0] for line in out.splitlines()], [TINY, "a/whisper-x"])
        out, _ = self.run_steno(0, "models", "search", "--json", "--limit", "1", "whisper")
        self.assertEqual([json.loads(line)["name"] for line in out.splitlines()], [TINY])
        out, err = self.run_steno(0, "models", "search", "nothing like it")
        self.assertIn("no model has such a name", err)
        self.run_steno(7, "models", "search", "x", HF_HUB_OFFLINE="1")

    def test_modelscope(self):
        self.hub.repos["iic/v"] = {"config.yaml": b"model: x\n", "model.pt": b"PK" * 1000, "am.mvn": b"mvn", "README.md": b"no",
                                   "example/a.wav": b"no"}
        out, _ = self.pull(0, "--hub", "ms", "iic/v", MODELSCOPE_API_TOKEN="word")
        folder = self.ms_cache + "/models/iic--v/snapshots/master"
        self.assertEqual(out.strip(), folder)
        self.assertEqual(self.files_below(folder), ["am.mvn", "config.yaml", "model.pt"])
        self.assertEqual(self.read(folder, "model.pt"), b"PK" * 1000)
        self.assertTrue(all(f.get("Cookie") == "m_session_id=word" for m, p, f in self.hub.log))
        self.hub.log.clear()
        self.pull(0, "--hub", "ms", "iic/v")
        self.assertFalse([p for p in self.hub.paths() if "resolve" in p])
        self.run_steno(0, "models", "verify", "iic/v")
        with open(folder + "/am.mvn", "wb") as f:
            f.write(b"mvm")
        out, _ = self.run_steno(3, "models", "verify", "iic/v")
        self.assertIn("am.mvn", out)
        self.pull(0, "--hub", "ms", "iic/v")  # its hub is found without the option
        self.run_steno(0, "models", "verify", "iic/v")
        self.assertEqual(self.read(folder, "am.mvn"), b"mvn")
        self.assertEqual(self.run_steno(0, "models", "where", "iic/v")[0].strip(), folder)
        out, _ = self.run_steno(0, "models", "rm", "--yes", "iic/v")
        self.assertEqual(self.files_below(self.ms_cache + "/models"), [])

    def test_modelscope_faults(self):
        _, err = self.pull(3, "--hub", "ms", "iic/none")
        self.assertIn("iic/none", err)
        _, err = self.pull(3, "--hub", "ms", "fault/code")
        self.assertIn("not this revision", err)
        _, err = self.pull(3, "--hub", "ms", "--retries", "1", "fault/badbytes")
        self.assertEqual([f for f in self.files_below(self.ms_cache) if f.endswith("safetensors")], [])
        for fault in ("cut-1000000", "norange", "slow"):
            out, _ = self.pull(0, "--hub", "ms", "fault/" + fault)
            self.assertEqual(self.read(out.strip(), "model.safetensors"), WHISPER["model.safetensors"])
        both = [self.start("models", "pull", "--hub", "ms", "--force", "fault/slow") for _ in range(2)]
        for p in both:
            self.assertEqual(p.wait(60), 0)
            p.communicate()


main()
