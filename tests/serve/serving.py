# steno: a server for a test, and its requests. SPDX-License-Identifier: MIT
#
# with Server("--parallel", "4") as s: starts `steno serve --demo --port 0 --parallel 4` and waits until it listens. s.log has the lines of
# standard error. At the end SIGTERM must end it with exit code 0, and no report of a sanitizer may be among the lines.
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from packages import need, skip  # noqa: E402, F401

STENO = os.environ["STENO"]
SOURCE = os.environ.get("STENO_SOURCE", ".")
SHARED = os.environ.get("STENO_SHARED")
SANITIZED = os.environ.get("STENO_SANITIZED", "0") == "1"
SPOKEN = os.path.join(SOURCE, "tests/data/demo.wav")


class Server:
    """wait: most seconds until it listens; None: no limit. prefix: a command that runs the program."""

    def __init__(self, *args, model=("--demo",), env=None, wait=60, prefix=(), port=0):
        self.log, self.port = [], None
        address = () if "--unix" in args else ("--port", str(port))
        self.process = subprocess.Popen([*prefix, STENO, "serve", *model, *address, *args], stderr=subprocess.PIPE, text=True,
                                        errors="replace", env={**os.environ, **(env or {})})
        self.listens = threading.Event()
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        if not self.listens.wait(wait) or self.port is None and self.process.poll() is not None:
            self.process.kill()
            raise AssertionError("the server does not listen:\n" + "".join(self.log))

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            at = re.search(r"serving \S+ on https?://\[?[^\]/]*\]?:(\d+)", line)
            if at:
                self.port = int(at[1])
            if at or "on the Unix socket" in line:
                self.listens.set()
        self.listens.set()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is not None:
            code = self.process.returncode
        else:
            code = self.stop()
        self.reader.join(10)
        text = "".join(self.log)
        if kind is None:
            assert code == 0, f"exit code {code}\n{text}"
            assert "Sanitizer" not in text and "runtime error" not in text, text
        else:
            sys.stderr.write(text)

    def stop(self, sig=signal.SIGTERM, wait=60):
        self.process.send_signal(sig)
        try:
            return self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return -9

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def sent(self, *pieces, timeout=60):
        """A bare connection on which these bytes were sent."""
        c = socket.create_connection(("127.0.0.1", self.port), timeout)
        for piece in pieces:
            c.sendall(piece)
        return c

    def request(self, method, path, body=None, headers=None, timeout=120):
        """Answers with (status, headers, bytes)."""
        c = self.connect(timeout)
        try:
            c.request(method, path, body, headers or {})
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    def transcribe(self, file, path="/v1/audio/transcriptions", headers=None, timeout=120, **fields):
        """A form of the fields (lists: several values), the file last."""
        body, kind = form(fields, file)
        return self.request("POST", path, body, {"Content-Type": kind, **(headers or {})}, timeout)

    def resident_kb(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def metric(self, name):
        """Sum of the values of a metric, whatever its labels."""
        text = self.request("GET", "/metrics")[2].decode()
        found = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", text, re.M)
        return sum(map(float, found)) if found else None


def ask(s, path, **fields):
    """Sends the fields as JSON; answers with (status, bytes)."""
    status, _, body = s.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
    return status, body


def form(fields, file=None, name="file", file_name="audio.wav"):
    """Bytes of a multipart form, and its Content-Type. file: a path or bytes."""
    parts, boundary = [], "steno-test-boundary"
    for key, value in fields.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{v}\r\n'.encode())
    if file is not None:
        data = file if isinstance(file, bytes) else open(file, "rb").read()
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file_name}"\r\n' \
               "Content-Type: application/octet-stream\r\n\r\n"
        parts.append(head.encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def program(*args, model=("--demo",)):
    """What the command line prints on standard output."""
    return subprocess.run([STENO, *model, "-q", *args], stdout=subprocess.PIPE, check=True).stdout


@contextlib.contextmanager
def key_file(*lines, mode=0o600):
    """The path of a file for --api-key-file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "keys")
        with open(path, "w") as f:
            f.writelines(line + "\n" for line in lines)
        os.chmod(path, mode)
        yield path


def pcm():
    """The samples of SPOKEN: 16 bits, 16 kHz, mono."""
    with wave.open(SPOKEN) as f:
        assert (f.getframerate(), f.getsampwidth(), f.getnchannels()) == (16000, 2, 1)
        return f.readframes(f.getnframes())


def wav(samples, rate=16000):
    """A WAV file of silence."""
    return b"RIFF" + struct.pack("<I", 36 + 2 * samples) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + \
        b"data" + struct.pack("<I", 2 * samples) + bytes(2 * samples)


def until(what, seconds=20, pause=0.02):
    """Waits until what() is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(pause)
    raise AssertionError("the condition did not become true within %g s" % seconds)


def events(body):
    """The objects of a stream of server-sent events; "[DONE]" as a text."""
    found = []
    for line in body.decode().split("\n"):
        if line.startswith("data: "):
            found.append(line[6:] if line[6:] == "[DONE]" else json.loads(line[6:]))
        else:
            assert line == "" or line.startswith(":"), line
    return found


def run(tests):
    """Runs the functions whose names begin with test_."""
    for name, test in list(tests.items()):
        if name.startswith("test_") and callable(test):
            begun = time.monotonic()
            test()
            print(f"{name}: passed, {time.monotonic() - begun:.1f} s", flush=True)
