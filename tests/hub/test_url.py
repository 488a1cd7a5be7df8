"""steno tests: addresses as inputs. SPDX-License-Identifier: MIT"""
import json
import os
import signal
import time

from steno_hub import SOURCE, Case, main

DIGITS = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
SPEECH = os.path.join(SOURCE, "tests/data/demo.wav")


class Url(Case):
    def setUp(self):
        super().setUp()
        with open(SPEECH, "rb") as f:
            self.sound = f.read()
        self.hub.repos["a/sounds"] = {"talk.wav": self.sound, "empty.wav": b"", "page.wav": b"<html><body>no</body></html>" * 99}
        for fault in ("cut-20000", "cuts-1000", "stall", "gzip", "packed", "norange", "308", "loop", "scheme", "slow", "nolength", "wrongrange"):
            self.hub.repos["fault/" + fault] = {"talk.bin": self.sound}
        self.text, _ = self.run_steno(0, "-q", "-m", DIGITS, SPEECH)
        self.assertTrue(self.text.strip())

    def url(self, path, repo="a/sounds"):
        return "%s/%s/resolve/main/%s" % (self.hub.url, repo, path)

    def hear(self, code, *args, **more):
        return self.run_steno(code, "-q", "-m", DIGITS, *args, **more)

    def test_an_address_is_heard_like_the_file(self):
        self.assertEqual(self.hear(0, self.url("talk.wav"))[0], self.text)
        self.assertEqual(self.hear(0, self.url("talk.wav?token=secret#x"))[0], self.text)
        out, _ = self.run_steno(0, "detect", "-q", "-n", "1", "-m", DIGITS, self.url("talk.wav"))
        self.assertEqual(out, self.run_steno(0, "detect", "-q", "-n", "1", "-m", DIGITS, SPEECH)[0])

    def test_the_clock_of_an_address_is_that_of_the_file(self):
        tried = 0
        for name in ("late.mkv", "late.mp4"):
            path = os.path.join(SOURCE, "tests/data/audio", name)
            with open(path, "rb") as f:
                sound = f.read()
            p = self.start("-q", "-m", DIGITS, "-l", "zh", "-f", "srt", path)
            if "00:00:04" not in p.communicate(timeout=120)[0]:
                continue # this build reads WAV alone
            tried += 1
            repos = ["a/sounds", "fault/cut-20000", "fault/norange", "fault/nolength"]
            for repo in repos:
                self.hub.repos[repo][name] = sound
            for more in ((), ("--offset-ms", "1000"), ("--clip-timestamps", "0,20")):
                want, _ = self.hear(0, "-l", "zh", "-f", "srt", *more, path)
                for repo in repos[:1] if more else repos:
                    with self.subTest(name=name, repo=repo, more=more):
                        out, err = self.run_steno(0, "-m", DIGITS, "-l", "zh", "-f", "srt", *more, self.url(name, repo))
                        self.assertEqual(out, want)
                        self.assertIn("after the file's start", err)
            self.hear(0, "-l", "zh", "-f", "srt,json", "-o", "out", self.url(name))
            self.assertIn("00:00:04", self.read(self.home, "out", name[:-4] + ".srt").decode())
            self.assertIn("sound-late", self.read(self.home, "out", name[:-4] + ".json").decode())
        if not tried:
            self.skipTest("this build has no FFmpeg")

    def test_results_in_files_have_the_names_of_the_address(self):
        self.hear(0, "-o", "out", "-f", "txt,json", self.url("talk.wav"))
        self.assertEqual(sorted(os.listdir(self.home + "/out")), ["talk.json", "talk.txt"])

    def test_transient_faults_are_repaired(self):
        for fault in ("cut-20000", "norange", "308", "gzip", "slow", "nolength", "stall", "wrongrange"):
            with self.subTest(fault=fault):
                self.assertEqual(self.hear(0, self.url("talk.bin", "fault/" + fault), HF_HUB_DOWNLOAD_TIMEOUT="2")[0], self.text)
        ranges = [f.get("Range") for m, p, f in self.hub.log if "cut-20000" in p and p.startswith("/store/")]
        self.assertEqual(ranges, [None, "bytes=20000-"])

    def test_faults_that_end_a_pull(self):
        for url, says in ((self.url("none.wav"), "the server answers 404"), (self.url("talk.bin", "fault/loop"), "more than 20 times"),
                          (self.url("talk.bin", "fault/scheme"), "not an http or https address"), (self.url("empty.wav"), "is empty"),
                          (self.url("talk.bin", "fault/packed"), "compresses the file"), (self.url("page.wav"), "is not a sound"),
                          ("http://user:word@127.0.0.1/talk.wav", "without name and password"), ("https://", "not an address")):
            with self.subTest(url=url):
                out, err = self.hear(4, url)
                self.assertEqual(out, "")
                self.assertIn(says, err)
        for other in ("file://" + SPEECH, "ftp://127.0.0.1/a.wav", "concat:" + SPEECH, "data:audio/wav;base64,AA"):
            _, err = self.hear(4, other)
            self.assertIn("No such file", err)

    def test_answers_without_an_end(self):
        for fault, says in (("page", "the server answers 404"), ("drip", "the server answers 404"), ("head", "fields of the answer do not end"),
                            ("hops", "redirected more than 20 times"), ("later", "too long to wait")):
            with self.subTest(fault=fault):
                self.hub.repos["fault/" + fault] = {"talk.wav": self.sound}
                self.hub.retry = "99999"
                _, err = self.hear(4, self.url("talk.wav", "fault/" + fault), HF_HUB_ETAG_TIMEOUT="2", HF_HUB_DOWNLOAD_TIMEOUT="2")
                self.assertIn(says, err)

    def test_secrets_are_not_printed(self):
        for path in ("talk.wav", "none.wav", "page.wav"):
            for args in (("-f", "jsonl"), ("-o", "out", "-f", "txt,json,jsonl"), ("--progress", "json"), ("--progress", "lines")):
                p = self.start("-m", DIGITS, *args, self.url(path + "?X-Amz-Signature=SECRET"))
                out, err = p.communicate(timeout=60)
                self.assertNotEqual(p.returncode, 2, err)
                self.assertNotIn("SECRET", out + err)
        for name in os.listdir(self.home + "/out"):
            self.assertNotIn("SECRET", name + self.read(self.home, "out", name).decode())

    def test_secrets_are_not_in_a_batch(self):
        urls = [self.url(path) for path in ("talk.wav?sig=SECRET1", "talk.wav?sig=SECRET2", "none.wav?sig=SECRET", "talk.wav")]
        with open(self.home + "/list", "w") as f: f.write("".join(u + "\n" for u in urls))
        for how in (), ("--isolate",):
            journal, files = self.home + "/" + "-".join(("j", *how)), self.home + "/" + "-".join(("files", *how))
            args = ("batch", "-q", "-m", DIGITS, "-i", self.home + "/list", "--retries", "0", "-f", "json,jsonl", "--output-dir", files,
                    "--output-template", "{n}.{format}", "-o", journal, *how)
            for again in (), ("--resume",):
                p = self.start(*args, *again)
                out, err = p.communicate(timeout=60)
                self.assertEqual(p.returncode, 1, err) # one of them is not there
                self.assertNotIn("SECRET", out + err)
            lines = [json.loads(line) for line in self.read(journal).decode().splitlines()]
            ids = [line["id"] for line in lines if line["type"] == "transcript"]
            self.assertEqual(len(set(ids)), 4, ids) # ids of URLs that differ in what is hidden differ
            self.assertEqual(len(ids), 4, ids) # --resume knows them
            self.assertIn(urls[3], ids)
            self.assertNotIn("SECRET", self.read(journal).decode())
            for name in os.listdir(files): self.assertNotIn("SECRET", name + self.read(files, name).decode())

    def test_parts_and_ids_of_an_address_have_files_of_their_own(self):
        url = self.url("talk.wav?sig=a/b")
        items = [{"audio_filepath": url, "offset": at, "duration": 1} for at in (1, 2)]
        items += [{"audio_filepath": url, "id": name} for name in ("call#1", "call#2")]
        with open(self.home + "/parts", "w") as f: f.write("".join(json.dumps(item) + "\n" for item in items))
        p = self.start("batch", "-q", "-m", DIGITS, "-i", self.home + "/parts", "-f", "txt", "--output-dir", self.home + "/parts.d",
                       "-o", self.home + "/parts.jsonl")
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        names = os.listdir(self.home + "/parts.d")
        self.assertEqual(len(names), len(items), names)
        self.assertLess({"call#1.txt", "call#2.txt"}, set(names))
        self.assertNotIn("sig", "".join(names))

    def test_secrets_are_not_in_a_report(self):
        for args in (("doctor",), ("doctor", "--json")):
            p = self.start(*args, self.url("none.gguf?sig=SECRET").replace("://", "://name:SECRET@"))
            out, err = p.communicate(timeout=60)
            self.assertEqual(p.returncode, 3, err)
            self.assertIn("none.gguf", out)
            self.assertNotIn("SECRET", out + err)

    def test_a_size_limit(self):
        self.hub.repos["a/big"] = {"talk.wav": self.sound + bytes(2000000)}
        for repo in ("a/big", ):
            _, err = self.hear(4, "--url-limit", "1", self.url("talk.wav", repo))
            self.assertIn("larger than 1 MB", err)
        self.hub.repos["fault/nolength"] = {"talk.bin": self.sound + bytes(2000000)}
        _, err = self.hear(4, "--url-limit", "1", self.url("talk.bin", "fault/nolength"))
        self.assertIn("larger than 1 MB", err)

    def test_no_file_is_left_and_a_signal_ends_it(self):
        tmp = self.home + "/tmp"
        os.mkdir(tmp)
        self.hub.repos["fault/slow"]["talk.bin"] += bytes(3 << 20)
        p = self.start("-q", "-m", DIGITS, self.url("talk.bin", "fault/slow"), TMPDIR=tmp)
        while not any(path.startswith("/store/") for path in self.hub.paths()):
            time.sleep(0.05)
        self.assertEqual(os.listdir(tmp), [])
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=20)
        self.assertEqual(p.returncode, 130)
        self.assertEqual(os.listdir(tmp), [])

    def test_no_token_is_sent(self):
        self.hear(0, self.url("talk.wav"), HF_TOKEN="hf_word")
        self.assertFalse([f for m, p, f in self.hub.log if "Authorization" in f])


main()
