# steno: what the parts of script/load share: the server under load, its requests, rows and problems. SPDX-License-Identifier: MIT
import contextlib
import http.client
import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
import time
import urllib.parse
import wave

import serving
from serving import SANITIZED, STENO, form

FORMATS = {"json": "verbose_json", "verbose_json": "verbose_json", "text": "txt", "srt": "srt", "vtt": "vtt", "tsv": "tsv"}
TYPES = {"json": "application/json", "verbose_json": "application/json", "text": "text/plain", "srt": "application/x-subrip",
         "vtt": "text/vtt", "tsv": "text/tab-separated-values"}
ROUTES = {"steno": "/v1/audio/transcriptions", "openai": "/v1/audio/transcriptions", "whisper.cpp": "/inference"}
TIMEOUT_S = 500


class Fault(Exception):
    """The load cannot go on: text for the user."""


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


class Server(serving.Server):
    """`steno serve`, or the server at a URL."""

    def __init__(self, run, *options, prefix=(), port=0, model=None):
        self.process, self.key = None, run.args.key
        if run.args.url:
            self.url = urllib.parse.urlsplit(run.args.url.rstrip("/"))
            return
        try:
            super().__init__(*run.options, *options, *shlex.split(run.args.serve), model=model or run.model, wait=None, prefix=prefix,
                             port=port)
        except AssertionError as e:
            raise Fault(str(e).strip()) from None
        self.url = urllib.parse.urlsplit(re.search(r"serving \S+ on (https?://[^\s/]+)", "".join(self.log))[1])

    def connect(self, timeout=TIMEOUT_S):
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        return kind(self.url.hostname, self.url.port, timeout=timeout)

    def headers(self):
        return {"Authorization": "Bearer " + self.key} if self.key else {}

    def get(self, path):
        c = self.connect()
        try:
            c.request("GET", self.url.path + path, headers=self.headers())
            r = c.getresponse()
            return r.status, r.read()
        finally:
            c.close()

    def send(self, route, fields, data, name, slow=False):
        """@return the connection, on which a response will come"""
        body, kind = form(fields, data, file_name=name)
        return self.send_form(route, slowly(body) if slow else body, len(body), kind)

    def send_form(self, route, body, n, kind):
        c = self.connect()
        c.request("POST", self.url.path + route, body, {**self.headers(), "Content-Type": kind, "Content-Length": str(n)})
        return c

    def metrics(self):
        status, text = self.get("/metrics")
        return {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", text.decode(), re.M)} if status == 200 else {}

    def busy(self):
        """What the server still has of requests."""
        now = self.metrics()
        return {n: now[n] for n in ("steno_requests_running", "steno_requests_waiting", "steno_spool_bytes", "steno_live_sessions")
                if now.get(n)}

    def memory(self):
        return 1024 * self.resident_kb() if self.process else int(self.metrics().get("process_resident_memory_bytes", 0))

    def connections(self):
        """Open ones, without that of the question."""
        return int(self.metrics()['steno_connections{kind="http"}']) - 1

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slowly(body):
    """In eight pieces over a second."""
    step = max(1, len(body) // 8)
    for at in range(0, len(body), step):
        yield body[at:at + step]
        time.sleep(0.12)


class Run:
    """The options, what the program prints for each file, and the results of the parts."""

    def __init__(self, args):
        self.args, self.rows, self.problems, self.lock = args, [], [], threading.Lock()
        self.model = ["-m", args.model] if args.model else ["--demo"]
        self.options = shlex.split(args.options)
        self.data, self.printed = {}, {}
        if args.printed and os.path.exists(args.printed):
            with open(args.printed, encoding="utf-8") as f:
                kept = json.load(f)
            if kept["of"] != [*self.model, *self.options]:
                raise Fault("%s is of other options: %s" % (args.printed, " ".join(kept["of"])))
            self.printed = {tuple(key): text.encode() for key, text in kept["printed"]}
        for file in args.file:
            if file not in self.data:
                with open(file, "rb") as f:
                    self.data[file] = f.read()

    def keep_printed(self):
        if self.args.printed:
            with open(self.args.printed, "w", encoding="utf-8") as f:
                json.dump({"of": [*self.model, *self.options], "printed": [(k, v.decode()) for k, v in self.printed.items()]}, f)

    def row(self, name, value):
        self.rows.append((name, value))

    def note(self, problem):
        if problem:
            with self.lock:
                self.problems.append(problem)

    def want(self, file, form_name):
        """What the program prints for a file."""
        key = file, FORMATS[form_name]
        if key not in self.printed:
            r = subprocess.run([STENO, "transcribe", *self.model, *self.options, "-q", "-f", key[1], file], capture_output=True)
            if r.returncode:
                raise Fault("%s: %s" % (file, r.stderr.decode(errors="replace").strip()))
            self.printed[key] = r.stdout
        return self.printed[key]

    def seconds(self, file):
        return json.loads(self.want(file, "json"))["duration"]

    def clip(self):
        """The shortest file that has at least a second."""
        return min((f for f in self.data if self.seconds(f) >= 1), key=self.seconds)

    def wav_file(self):
        for file in self.data:
            with contextlib.suppress(wave.Error, EOFError), wave.open(file) as f:
                if (f.getframerate(), f.getsampwidth(), f.getnchannels()) == (16000, 2, 1):
                    return file
        raise Fault("this part needs a WAV file: 16 kHz, 16 bits, mono")

    def samples(self, seconds):
        """Bytes of 16-bit samples: the first WAV file, repeated."""
        with wave.open(self.wav_file()) as f:
            once = f.readframes(f.getnframes())
        n = 32000 * seconds
        return (once * (n // len(once) + 1))[:n]

    @contextlib.contextmanager
    def server(self, *options, **how):
        """A server that must end with exit code 0, without a report of a sanitizer."""
        s = Server(self, *options, **how)
        try:
            yield s
        finally:
            code = s.stop() if s.process else 0
            if code:
                self.note("the server ends with code %d" % code)
            if s.process:
                self.note("".join(line for line in s.log if "anitizer" in line or "runtime error" in line))

    def answer(self, s, file=None, form_name="text"):
        """A request whose answer must be the program's. @return its seconds"""
        file = file or self.clip()
        begun = time.monotonic()
        status, kind, body = self.post(s, self.data[file], response_format=form_name)
        spent = time.monotonic() - begun
        self.note(wrong_whole(form_name, body, kind, self.want(file, form_name)) if status == 200 else "status %d: %r" % (status, body[:300]))
        return spent

    def post(self, s, data, **fields):
        """@return status, Content-Type and body"""
        return self.read(s.send(self.route(), fields, data, "audio.wav"))

    def route(self):
        return ROUTES[self.args.peer or "steno"]

    @staticmethod
    def read(c):
        try:
            r = c.getresponse()
            return r.status, r.getheader("Content-Type") or "", r.read()
        finally:
            c.close()

    def idle(self, s, what):
        """Waits until the server has nothing of its requests."""
        for _ in range(100):
            left = s.busy()
            if not left:
                return
            time.sleep(0.1)
        self.note("10 s after %s there are %s" % (what, left))

    def closed(self, s, what, before):
        """Waits until the server has no more open files than before, but for two: it closes a connection some time after its client. @return how many"""
        ends = time.monotonic() + 10
        while (now := s.descriptors()) > before + 2 and time.monotonic() < ends:
            time.sleep(0.1)
        if now > before + 2:
            self.note("%s: descriptors grow from %d to %d" % (what, before, now))
        return now

    def flat(self, name, before, after, most_mb):
        self.row(name + ": memory before and after, MB", "%.1f, %.1f" % (before / 1e6, after / 1e6))
        if after - before > most_mb * 1e6 and not SANITIZED:
            self.note("%s: memory grows by %.1f MB" % (name, (after - before) / 1e6))


def wav_bytes(samples):
    with tempfile.TemporaryFile() as f:
        with wave.open(f, "wb") as w:
            w.setparams((1, 2, 16000, 0, "NONE", ""))
            w.writeframes(samples)
        f.seek(0)
        return f.read()


def wrong_whole(form_name, body, kind, want):
    """Why a body is not the program's result; None: it is."""
    if not kind.startswith(TYPES[form_name]):
        return "type %s for %s" % (kind, form_name)
    if form_name in ("json", "verbose_json"):
        got, own = json.loads(body), json.loads(want)
        for key in ("text",) if form_name == "json" else ("task", "language", "duration", "text", "segments"):
            if got.get(key) != own[key]:
                return "%s of %s is %r, want %r" % (key, form_name, got.get(key), own[key])
        return None if got.get("usage", {}).get("type") == "duration" else "no usage"
    return None if body == want else "%s is %r, want %r" % (form_name, body[:200], want[:200])


def wrong_stream(body, want):
    text = json.loads(want)["text"]
    try:
        objects = serving.events(body)
    except AssertionError as e:
        return "the stream has the line %r" % str(e)
    if not objects or objects.pop() != "[DONE]" or not objects:
        return "the stream has no end"
    joined = "".join(o["delta"] for o in objects if o["type"] == "transcript.text.delta")
    if objects[-1].get("type") != "transcript.text.done" or objects[-1]["text"] != text:
        return "done is %r, want %r" % (objects[-1], text)
    return None if joined == text else "deltas are %r, want %r" % (joined, text)


def is_error(body):
    try:
        return set(json.loads(body)["error"]) == {"message", "type", "param", "code"}
    except (ValueError, KeyError, TypeError):
        return False
