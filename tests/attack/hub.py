"""steno: servers that answer anything. SPDX-License-Identifier: MIT

A server on the loopback interface answers as a hub does, but for a few things in each round: lengths, ranges, redirects, header fields, names,
JSON, codes and pauses are random, and the connection may end anywhere. The program ends by itself with an exit code of its own, a reason,
prints no secret, leaves no wrong bytes under a name that promises others, and touches nothing outside of the cache or the folder that it was
given. hub.py SECONDS SEED: rounds go on for so long; 0: a few."""
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STENO = os.path.realpath(os.environ["STENO"])
SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
MODEL, SPEECH = SOURCE + "/models/whisper-digits/whisper-digits.bin", SOURCE + "/tests/data/demo.wav"
SECONDS, SEED = int(sys.argv[1]), int(sys.argv[2])
COMMIT, SECRET = "a" * 40, "S3cr3tW0rd"
FILES = {"config.json": b'{"model_type": "whisper"}\n', "model.safetensors": bytes(range(256)) * 600, "vocab.json": b"{}\n" * 9}
NAMES = ["../x", "/etc/x", "a//b", "", ".", "a" * 300, "d/" * 70 + "x", "a\nb", "\x1b[2J", "C:x", "a\\b", "config.json/x", ".cache/huggingface/download/x",
         "model.safetensors.steno.incomplete", "config.json.steno.incomplete", "é", "\ud83d\ude00"]
NUMBERS = ["0", "1", "-1", "9" * 18, "9" * 40, "x", "", "1e9", " 7", "0x10", "153600", "153599", "153601"]
FIELDS = ["ETag", "X-Linked-Etag", "X-Linked-Size", "X-Repo-Commit", "X-Error-Code", "X-Error-Message", "Link", "Retry-After", "RateLimit", "Content-Encoding",
          "Content-Range", "Date", "Content-Type"]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    rate = 0.0

    def log_message(self, *_):
        pass

    def odd(self, p=1.0):
        return self.server.random.random() < self.server.rate * p

    def pick(self, *of):
        return self.server.random.choice(of)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        try:
            with self.server.lock:
                answer = self.answer(urllib.parse.urlsplit(self.path))
            self.send(*answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def listing(self):
        files = []
        for path, data in FILES.items():
            digest = hashlib.sha256(data).hexdigest()
            entry = {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(),
                     "lfs": {"oid": digest, "size": len(data)}, "Path": path, "Name": path, "Size": len(data), "Sha256": digest, "Type": "blob"}
            if self.odd(0.3):
                entry[self.pick(*entry)] = self.pick(None, -1, 1 << 70, "x" * 64, "0" * 64, [], {}, True, 0.5, *NAMES)
            files.append(entry)
        return files

    def answer(self, url):
        path = urllib.parse.unquote(url.path)
        fields, data = {}, None
        if path.endswith("/talk.wav"):
            data = self.server.speech
        elif "/resolve/" in path or "FilePath=" in url.query:
            data = FILES.get(path.split("/")[-1] if "/resolve/" in path else dict(urllib.parse.parse_qsl(url.query)).get("FilePath"))
            fields["X-Repo-Commit"] = COMMIT
        elif "/tree/" in path:
            data = json.dumps(self.listing()).encode()
        elif "/repo/files" in path:
            data = json.dumps({"Code": 200, "Data": {"Files": self.listing()}}).encode()
        elif "/api/models/" in path:
            data = json.dumps({"id": "a/b", "sha": self.pick(*NAMES) if self.odd(0.2) else COMMIT, "siblings": [{"rfilename": f} for f in FILES]}).encode()
        elif "/api/v1/" in path:
            data = json.dumps({"Code": 200, "Data": {"Revision": "master"}}).encode()
        code = 200 if data is not None else 404
        data = data or b"no"
        if code == 200 and (self.headers.get("Range") or "").startswith("bytes=") and not self.odd(0.3):
            begin = int(self.headers["Range"][6:].split("-")[0])
            code, fields["Content-Range"] = 206, "bytes %d-%d/%d" % (begin, len(data) - 1, len(data))
            data = data[begin:]
        return self.spoil(code, data, fields)

    def spoil(self, code, data, fields):
        rng = self.server.random
        if self.odd(0.3):
            code = self.pick(200, 201, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 416, 429, 500, 501, 503, 599)
        if 300 <= code < 400 or self.odd(0.1):
            fields["Location"] = self.pick(self.path, self.path + "x", "/" + "y" * 3000, "http://127.0.0.1:1/?" + SECRET, "file:///etc/passwd", "//", "?a",
                                           "http://u:%s@127.0.0.1/x" % SECRET, self.path + "?h=%d" % rng.randrange(1 << 30))
        for _ in range(rng.randrange(4) if self.odd(0.5) else 0):
            fields[self.pick(*FIELDS)] = self.pick(*NUMBERS, "bytes 0-9/10", "bytes */0", "gzip", '"x"', "x" * 5000, "<//>; rel=next", '"api";r=0;t=2',
                                                  "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "GatedRepo", "\x1b[31m")
        if self.odd(0.3) and data:
            at = rng.randrange(len(data))
            data = self.pick(data[:at], data[:at] + bytes([rng.randrange(256)]) + data[at + 1:], data + b"more", b"", data * 2, b"[" * 9000)
        length = self.pick(*NUMBERS) if self.odd(0.2) else str(len(data))
        return code, data, fields, length, rng.randrange(len(data) + 1) if self.odd(0.2) else len(data)

    def send(self, code, data, fields, length, n):
        self.send_response_only(code)
        for name, value in fields.items():
            self.send_header(name, value.replace("\n", " "))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD" and code not in (204, 304):
            self.wfile.write(data[:n])
        self.close_connection = length != str(len(data)) or n != len(data) or code in (204, 304) or self.command == "HEAD"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    lock = threading.Lock()

    def handle_error(self, *_):
        pass


def files_below(folder):
    return {os.path.relpath(os.path.join(d, f), folder): os.path.join(d, f) for d, _, names in os.walk(folder) for f in names}


def check(home, outside, p, out, err, is_to):
    """@return what is wrong"""
    code, bad = p.returncode, []
    if code not in (0, 2, 3, 4, 6, 7):
        bad.append("exit code %d" % code)
    if code and not err.strip():
        bad.append("no reason is given")
    if SECRET in out + err or "\x1b" in out + err:
        bad.append("something is printed that may not be")
    if {n: open(f, "rb").read() for n, f in files_below(outside).items()} != {"mine": b"mine"}:
        bad.append("files outside: %s" % sorted(files_below(outside)))
    for name, path in files_below(home).items():
        with open(path, "rb") as f:
            data = f.read()
        base, parts = os.path.basename(name), name.split("/")
        if ".tmp" in base and "steno" in base:
            bad.append("a temporary file: " + name)
        if parts[-2:-1] == ["blobs"] and not base.endswith(".incomplete"):
            if base not in (hashlib.sha256(data).hexdigest(), hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()):
                bad.append("wrong bytes: " + name)
    return bad


def main():
    rng = random.Random(SEED)
    server = Server(("127.0.0.1", 0), Handler)
    server.random, server.rate = rng, 0.0
    with open(SPEECH, "rb") as f:
        server.speech = f.read()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    url, began, n, codes, failed = "http://127.0.0.1:%d" % server.server_port, time.time(), 0, {}, 0
    while n < 30 or time.time() - began < SECONDS:
        top = tempfile.mkdtemp(prefix="steno-attack-")
        home, outside = top + "/home", top + "/outside"
        os.mkdir(home), os.mkdir(outside)
        with open(outside + "/mine", "w") as f:
            f.write("mine")
        server.rate = rng.choice([0, 0.1, 0.3, 1])
        pull = ["models", "pull", "--retries", str(rng.randrange(2))]
        args = rng.choice([pull + ["a/b"], pull + ["--hub", "ms", "a/b"], pull + ["--to", "here", "a/b"], pull + ["a/b:config.json"], ["models", "search", "x",
                          "--retries", "0"], ["-q", "-m", MODEL, "%s/talk.wav?sig=%s" % (url, SECRET)], pull + [url + "/a/b/blob/main/vocab.json?" + SECRET]])
        if args[0] == "-q" and server.rate > 0.1:
            server.rate = 0.1  # an address has five more tries, with pauses
        env = {"HOME": home, "PATH": os.environ["PATH"], "HF_ENDPOINT": url, "MODELSCOPE_ENDPOINT": url, "HF_HUB_DOWNLOAD_TIMEOUT": "2",
               "HF_HUB_ETAG_TIMEOUT": "2", "no_proxy": "*", "LC_ALL": "C.UTF-8"}
        p = subprocess.Popen([STENO, *args], env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = (x.decode("utf-8", "replace") for x in p.communicate(timeout=400))
            bad = check(home, outside, p, out, err, "--to" in args)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            bad, err = ["it does not end"], ""
        if server.rate == 0 and p.returncode and args[1] != "search":
            bad.append("a server without faults: exit code %d" % p.returncode)
        codes[p.returncode] = codes.get(p.returncode, 0) + 1
        for b in bad:
            failed += 1
            print("FAILED: round %d, seed %d: %s: %s\n    %s" % (n, SEED, " ".join(args), b, err.strip()[:400]))
        shutil.rmtree(top)
        n += 1
    print("%d rounds, exit codes %s, %d failed" % (n, codes, failed))
    sys.exit(failed > 0)


main()
