# steno: faults around a server: it is killed, its disk is full, its model goes, clients send a byte a second. SPDX-License-Identifier: MIT
import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from load_base import ROUTES, Fault, Server, is_error, wav_bytes
from serving import SANITIZED, SOURCE, form


def many(run, n):
    """Requests one after another: memory stays."""
    clip = run.clip()
    run.want(clip, "text")
    with run.server() as s:
        def some(count):
            def client():
                for _ in range(count // 8):
                    run.answer(s, clip)
            threads = [threading.Thread(target=client, daemon=True) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        some(max(n // 10, 40))
        run.idle(s, "some requests")
        before, open_before, begun = s.memory(), s.descriptors(), time.monotonic()
        some(n)
        run.idle(s, "many requests")
        spent = time.monotonic() - begun
        run.row("many: requests, and those in a second", "%d, %.0f" % (n, n / spent))
        run.flat("many", before, s.memory(), 4)
        run.closed(s, "many", open_before)


def loaded(s):
    return s.metrics().get("steno_models_loaded")


def wait_for(run, what, is_true, seconds=30):
    ends = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > ends:
            return run.note("%s did not happen within %d s" % (what, seconds))
        time.sleep(0.05)


def unload(run, rounds):
    """Memory of a server whose model was closed, and the first request after it."""
    with run.server("--idle-unload", "1") as s:
        for _ in range(rounds):
            run.answer(s)
            open_memory = s.memory()
            wait_for(run, "unloading", lambda: loaded(s) == 0)
            closed_memory = s.memory()
        again = run.answer(s)
    run.row("unload: memory with and without the model, MB", "%.1f, %.1f" % (open_memory / 1e6, closed_memory / 1e6))
    run.row("unload: first answer after it, s", "%.3f" % again)
    if closed_memory > 30e6 and not SANITIZED:
        run.note("unload: %.1f MB are left" % (closed_memory / 1e6))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as c:
        return c.getsockname()[1]


def kill(run, rounds):
    """SIGKILL under load: no temporary file is left, and a new server takes the port at once."""
    clip, port = run.clip(), free_port()
    with tempfile.TemporaryDirectory() as spool:
        def client(s):
            with contextlib.suppress(OSError, http.client.HTTPException):
                c = s.send(ROUTES["steno"], {}, wav_bytes(run.samples(60)), "audio.wav", slow=True)
                c.getresponse().read()
        waits = []
        for _ in range(rounds):
            s = Server(run, "--spool", spool, port=port)
            run.answer(s, clip)
            threads = [threading.Thread(target=client, args=(s,), daemon=True) for _ in range(8)]
            for t in threads:
                t.start()
            time.sleep(0.7)
            s.process.kill()
            s.process.wait()
            for t in threads:
                t.join()
            if os.listdir(spool):
                run.note("kill: %s are left in the spool" % os.listdir(spool))
            begun = time.monotonic()
            with run.server("--spool", spool, port=port) as s:
                run.answer(s, clip)
                waits.append(time.monotonic() - begun)
    run.row("kill: to the first answer after a restart, s", "%.3f" % max(waits))


def disk(run, _):
    """A spool on a full disk: an error, and small files are answered."""
    with tempfile.TemporaryDirectory() as spool:
        prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', spool)
        if subprocess.run([*prefix, "true"], capture_output=True).returncode:
            return run.row("disk", "skipped: no mount in a namespace of one's own")
        large, codes = wav_bytes(run.samples(120)), set()
        with run.server("--spool", spool, prefix=prefix) as s:
            for _ in range(3):
                status, _, body = run.post(s, large)
                codes.add((status, json.loads(body)["error"]["code"]) if is_error(body) else (status, body[:100]))
                if not is_error(body) or status not in (503, 507):
                    run.note("disk: a file that does not fit gives %d: %r" % (status, body[:200]))
                wait_for(run, "an empty spool", lambda: not s.busy(), 10)
                run.answer(s)
        run.row("disk: full", ", ".join(sorted("%s %s" % c for c in codes)))


def model(run, _):
    """The model file is replaced and removed, while the model is open and while it is closed."""
    if not run.args.model:
        source = os.path.join(SOURCE, "models", "whisper-digits", "whisper-digits.bin")
    else:
        source = run.args.model
    if not os.path.isfile(source):
        raise Fault("the part model needs a model that is one file")
    codes = []

    def refused(s, what):
        status, _, body = run.post(s, run.data[run.clip()])
        codes.append("%s %d" % (what, status))
        if status < 500 or not is_error(body):
            run.note("model: %s gives %d: %r" % (what, status, body[:300]))
        if s.get("/livez")[0] != 200:
            run.note("model: the server is gone")

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(source))
        shutil.copy(source, path)
        with run.server("--idle-unload", "1", model=["-m", path]) as s:
            run.answer(s)
            with open(path + ".new", "wb") as f:
                f.write(b"not a model" * 1000)
            os.replace(path + ".new", path)
            run.answer(s)
            wait_for(run, "unloading", lambda: loaded(s) == 0)
            refused(s, "a damaged file")
            os.remove(path)
            refused(s, "no file")
            with open(source, "rb") as f, open(path, "wb") as to:
                to.write(f.read(os.path.getsize(source) // 2))
            refused(s, "half a file")
            shutil.copy(source, path)
            run.answer(s)
            os.truncate(path, 1000)
            run.answer(s)
    run.row("model: statuses", ", ".join(codes))


def drip(run, n):
    """A byte a second, in the head and in the body: others are answered, and the server ends these."""
    with run.server("--head-timeout", "2", "--body-timeout", "2", "--per-ip", str(2 * n + 40)) as s:
        run.answer(s)
        body, kind = form({}, b"RIFF" * 1000)
        head = ("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (
            ROUTES["steno"], s.url.hostname, kind, len(body))).encode()
        slow = []
        for i in range(2 * n):
            c = socket.create_connection((s.url.hostname, s.url.port), 10)
            if i % 2:
                c.sendall(head)
            slow.append((c, iter(body if i % 2 else head)))
        begun = time.monotonic()
        wait_for(run, "accepting connections", lambda: s.connections() == 2 * n, 10)
        left = s.connections()
        while left and time.monotonic() < begun + 20:
            for c, rest in slow:
                with contextlib.suppress(OSError):
                    c.sendall(bytes([next(rest)]))
            until = time.monotonic() + 1
            while time.monotonic() < until:
                run.answer(s)
            left = s.connections()
        if left:
            run.note("drip: %d connections are still open" % left)
        run.row("drip: connections, and seconds until they were closed", "%d, %.1f" % (2 * n, time.monotonic() - begun))
        for c, _ in slow:
            c.close()
        run.answer(s)
