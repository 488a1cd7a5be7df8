"""steno tests: what may be secret in an address is printed and written nowhere. SPDX-License-Identifier: MIT

One secret goes through all that takes an input, a model or a file, in every place of an address that may have one. It is looked for in both
streams and in the names and bytes of all files."""
import os
import shutil

from steno_hub import SOURCE, Case, main

DIGITS = os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin")
SPEECH = os.path.join(SOURCE, "tests/data/demo.wav")
SECRET = "S3cr3tW0rd"
SOUNDS = {  # what reads a sound; %s is the address
    "plain": ["-m", DIGITS, "%s"], "to files": ["-m", DIGITS, "-o", "out", "-f", "txt,json,jsonl,srt,vtt,tsv", "%s"],
    "to lines": ["-m", DIGITS, "-f", "jsonl", "%s"], "json": ["-m", DIGITS, "-f", "json", "%s"],
    "lines of progress": ["-m", DIGITS, "--progress", "lines", "%s"], "progress as json": ["-m", DIGITS, "--progress", "json", "%s"],
    "names by folders": ["-m", DIGITS, "-o", "out", "--output-template", "{dir}/{n}-{stem}.{ext}.{format}", "%s"],
    "with many words": ["-m", DIGITS, "-v", "%s"], "two alike": ["-m", DIGITS, "-o", "out", "%s", "%s"],
    "kept": ["-m", DIGITS, "-o", "out", "--resume", "%s", SPEECH], "again": ["-m", DIGITS, "-o", "out", "--resume", "%s", SPEECH],
    "two formats": ["-m", DIGITS, "-o", "out", "--output-template", "x", "-f", "txt,json", "%s"], "beside": ["-m", DIGITS, "-o", "@", "%s"],
    "a dump": ["-m", DIGITS, "--dump", "dump", "%s"], "a batch": ["-m", DIGITS, "-b", "2", "%s", "%s"],
    "a track": ["-m", DIGITS, "--audio-track", "7", "%s"], "channels": ["-m", DIGITS, "--channels", "split", "%s"],
    "translate": ["translate", "-m", DIGITS, "%s"], "detect": ["detect", "-m", DIGITS, "%s"], "stream": ["stream", "-m", DIGITS, "%s"],
    "stream as text": ["stream", "-m", DIGITS, "-f", "txt", "%s"], "vad": ["vad", "%s"], "align": ["align", "-m", DIGITS, "%s", "one"],
    "bench": ["bench", "-m", DIGITS, "%s"], "info": ["info", "%s"],
    "whisper-cli": ["--compat", "whisper-cli", "-m", DIGITS, "-f", "%s", "-otxt", "-ovtt", "-osrt", "-oj", "-ojf", "-olrc", "-ocsv"],
    "whisper-cli with its words": ["--compat", "whisper-cli", "-m", DIGITS, "-pp", "-ps", "%s"],
    "whisper-cli to a script": ["--compat", "whisper-cli", "-m", DIGITS, "-owts", "%s"],
    "whisper": ["--compat", "whisper", "%s", "--model", DIGITS, "--output_dir", "out"],
    "whisper, talking": ["--compat", "whisper", "%s", "--model", DIGITS, "--verbose", "True", "--output_format", "all"],
    "funasr": ["--compat", "funasr", "++model=" + DIGITS, "++input=%s"], "sensevoice": ["--compat", "llama-funasr-sensevoice", "-m", DIGITS, "-a", "%s"],
    "compare": ["compare", "%s", "%s"], "subtitles": ["lint-subs", "%s"], "a list": ["-m", DIGITS, "@%s"], "a list of them": ["-m", DIGITS, "@list"],
    "no verb": ["transcribee", "%s"], "no option": ["-m", DIGITS, "--no-such-option", "%s"], "an option": ["-m", DIGITS, "--language", "%s", SPEECH],
}
MODELS = {
    "pull": ["models", "pull", "%s"], "where": ["models", "where", "%s"], "verify": ["models", "verify", "%s"], "rm": ["models", "rm", "--yes", "%s"],
    "search": ["models", "search", "%s"], "pull as json": ["models", "pull", "--json", "%s"], "offline": ["models", "pull", "--offline", "%s"],
    "mistyped": ["models", "pul", "%s"], "without its verb": ["pull", "%s"],
    "a model": ["-m", "%s", SPEECH], "a draft": ["-m", DIGITS, "--draft", "%s", SPEECH], "vad": ["-m", DIGITS, "--vad-model", "%s", SPEECH],
    "info": ["info", "%s"], "convert": ["convert", "%s", "out.gguf"], "quantize": ["quantize", "%s", "o", "q8_0"],
    "generate": ["generate", "-m", "%s", "x"], "embed": ["embed", "-m", "%s", "x"], "tokenize": ["tokenize", "-m", "%s", "x"],
    "punctuate": ["punctuate", "-m", "%s", "x"], "chat": ["chat", "-m", "%s"],
    "hot words": ["-m", DIGITS, "--hotwords", "@%s", SPEECH], "grammar": ["-m", DIGITS, "--grammar", "%s", SPEECH],
    "whisper-cli": ["--compat", "whisper-cli", "-m", "%s", "-f", SPEECH], "whisper": ["--compat", "whisper", SPEECH, "--model", "%s"],
    "funasr": ["--compat", "funasr", "++model=%s", "++input=" + SPEECH],
}

# What a command line with an address in it is refused for, before any of it is read.
REFUSED_SOUNDS = {"an option", "beside", "bench", "no option", "no verb", "two alike", "two formats", "vad",
                  "whisper-cli", "whisper-cli with its words"}  # which takes files alone
REFUSED_MODELS = {"grammar", "hot words", "mistyped", "vad", "whisper", "without its verb"}


class Secrets(Case):
    def addresses(self):
        host = self.hub.url.split("://")[1]
        at = "a/sounds/resolve/main/"
        yield "query", "http://%s/%stalk.wav?X-Amz-Signature=%s&a.b=x/%s.wav/y" % (host, at, SECRET, SECRET)
        yield "password", "http://user:%s@%s/%stalk.wav" % (SECRET, host, at)

    def more(self):
        """Those that are refused in one place."""
        host = self.hub.url.split("://")[1]
        for url in ("HTTP://%s/none.wav?a=%s" % (host, SECRET), "http://%s/a/?%s" % (host, SECRET), "http://%s@%s/x.wav" % (SECRET, host),
                    "http://%s?%s" % (host, SECRET), "http://u:p/%s@%s/x.wav" % (SECRET, host), "http://u:p?%s@%s/x.wav" % (SECRET, host),
                    "http://u:%s#x@%s/y" % (SECRET, host), "http://127.0.0.1:9/x.wav?%s" % SECRET, "ftp://u:%s@%s/x" % (SECRET, host),
                    "http://%s/x y.wav?a b=%s" % (host, SECRET), "s3://a/b?%s" % SECRET,
                    "http://%s/x.wav#%s" % (host, SECRET), "rtsp://u:%s@%s/live" % (SECRET, host)):
            yield url

    def setUp(self):
        super().setUp()
        with open(SPEECH, "rb") as f:
            self.hub.repos["a/sounds"] = {"talk.wav": f.read()}

    def seen(self, what, args, url):
        args = [a.replace("%s", url) for a in args]
        with open(self.home + "/list", "w") as f:
            f.write(url + "\n")
        p = self.start(*args)
        out, err = p.communicate(timeout=60)
        os.unlink(self.home + "/list")
        found = [line for line in (out + err).splitlines() if SECRET in line]
        for d, folders, files in os.walk(self.home):
            for name in folders + files:
                path = os.path.join(d, name)
                if SECRET in path:
                    found.append("name " + path[len(self.home):])
                elif os.path.isfile(path) and SECRET.encode() in self.read(path):
                    found.append("in " + path[len(self.home):])
        self.code = p.returncode
        return ["%s: %s: %s" % (what, url, line[:200]) for line in found]

    def clear(self):
        for name in os.listdir(self.home):
            path = os.path.join(self.home, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def test_of_sounds(self):
        bad = []
        for place, url in self.addresses():
            for what, args in SOUNDS.items():
                bad += self.seen(what, args, url)
                if place == "query":
                    self.assertEqual(self.code == 2, what in REFUSED_SOUNDS, what)
                if what != "kept":
                    self.clear()
        self.assertEqual(bad, [], "\n".join(bad))

    def test_of_models(self):
        bad = []
        for place, url in self.addresses():
            for what, args in MODELS.items():
                bad += self.seen(what, args, url)
                if place == "query":
                    self.assertEqual(self.code == 2, what in REFUSED_MODELS, what)
                self.clear()
        self.assertEqual(bad, [], "\n".join(bad))

    def test_of_any_form(self):
        bad = []
        for url in self.more():
            for what, args in (("plain", SOUNDS["to files"]), ("pull", MODELS["pull"]), ("whisper-cli", SOUNDS["whisper-cli"])):
                bad += self.seen(what, args + ["--retries", "0"] * (what == "pull"), url)
                self.clear()
        self.assertEqual(bad, [], "\n".join(bad))

    def test_results_of_an_address_have_a_name(self):
        """Its last part without a query, or its host."""
        page = {"": "127", "/": "127", "/d/": "d", "/d/e//": "e", "/talk.wav?x=1.2/3.wav": "talk", "/talk.wav#y/z": "talk", "/.hidden": ".hidden",
                "/?a=b": "127", "/..": "127", "/d/.?x": "d"}
        for path, stem in page.items():
            with self.subTest(path=path):
                self.hub.anything = self.hub.repos["a/sounds"]["talk.wav"]
                self.run_steno(0, "-q", "-m", DIGITS, "-o", "out", "-f", "txt", self.hub.url + path)
                names = os.listdir(self.home + "/out")
                self.assertEqual(len(names), 1)
                self.assertTrue(names[0].endswith(".txt") and names[0].startswith(stem) and not names[0].startswith(".txt"), names)
                self.clear()


main()
