# steno: waits of single requests, beside load and without; cancelling, uploads, idle connections. SPDX-License-Identifier: MIT
import os
import random
import resource
import socket
import threading
import time

from load_base import ROUTES, quantile, wav_bytes
from serving import form


def first(run, n):
    """From the last byte of a request to the first text of its stream, on an idle server."""
    file = run.clip()
    run.want(file, "json")
    waits, whole = [], []
    with run.server() as s:
        run.answer(s)
        for _ in range(n):
            begun = time.monotonic()
            c = s.send(ROUTES["steno"], {"stream": "true"}, run.data[file], "audio.wav")
            r = c.getresponse()
            line = b"-"
            while line and b"transcript.text.delta" not in line:
                line = r.readline()
            if not line:
                run.note("a stream has no delta")
            waits.append(time.monotonic() - begun)
            r.read()
            c.close()
            whole.append(run.answer(s))
    run.row("first text p50, p95, s", "%.3f, %.3f" % (quantile(waits, 0.5), quantile(waits, 0.95)))
    run.row("alone, %.1f s of audio: p50, p99, s" % run.seconds(file), "%.3f, %.3f" % (quantile(whole, 0.5), quantile(whole, 0.99)))


def timed(run, s, file):
    if not run.args.peer:
        return run.answer(s, file)
    begun = time.monotonic()
    status, _, body = run.post(s, run.data[file], response_format="json")
    run.note(None if status == 200 and body else "status %d: %r" % (status, body[:300]))
    return time.monotonic() - begun


def beside(run, n):
    """A short clip alone, and beside two long files."""
    file = run.clip()
    long_file = wav_bytes(run.samples(30 if run.args.quick else 600))
    run.want(file, "text")
    stop = threading.Event()

    def long_one():
        while not stop.is_set():
            try:
                c = s.send(run.route(), {"response_format": "json"}, long_file, "long.wav")
                while not stop.is_set():
                    c.sock.settimeout(0.5)
                    try:
                        if c.sock.recv(65536):
                            break
                        return run.note("a long file has no answer")
                    except TimeoutError:
                        pass
                c.close()
            except OSError as e:
                return run.note("a long file: %s" % e)

    with run.server() as s:
        timed(run, s, file)
        alone = [timed(run, s, file) for _ in range(n)]
        threads = [threading.Thread(target=long_one, daemon=True) for _ in range(2)]
        for t in threads:
            t.start()
        time.sleep(0.3 if run.args.quick else 3)
        together = [timed(run, s, file) for _ in range(n)]
        stop.set()
        for t in threads:
            t.join()
        if not run.args.peer:
            run.idle(s, "two long files were left")
    p50, p95 = quantile(alone, 0.5), quantile(together, 0.95)
    run.row("clip of %.1f s alone, p50, s" % run.seconds(file), "%.3f" % p50)
    run.row("beside two long files, p50, p95, s", "%.3f, %.3f" % (quantile(together, 0.5), p95))
    run.row("p95 beside, times alone", "%.2f" % (p95 / p50))


def cancel(run, n):
    """From the moment at which a client leaves to an idle server."""
    rng, data, waits = random.Random(run.args.seed), wav_bytes(run.samples(60)), []
    with run.server() as s:
        alone = run.answer(s)
        before = s.descriptors()
        for _ in range(n):
            c = s.send(ROUTES["steno"], {"stream": "true"}, data, "audio.wav")
            time.sleep(rng.uniform(0, 2 * alone))
            begun = time.monotonic()
            c.sock.shutdown(socket.SHUT_RDWR)
            c.close()
            while s.busy() and time.monotonic() < begun + 10:
                pass
            waits.append(time.monotonic() - begun)
        run.answer(s)
        run.idle(s, "the last cancelled request")
        run.closed(s, "cancel", before)
    run.row("cancelled, number", n)
    run.row("free again p50, p99, s", "%.4f, %.4f" % (quantile(waits, 0.5), quantile(waits, 0.99)))


def upload(run, megabytes):
    """Bytes that are no audio: the upload costs, decoding does not. From the first byte that is sent to the answer."""
    (body, kind), speeds, cpu = form({}, bytes(1000) + os.urandom(1000000) * megabytes), [], []
    with run.server() as s:
        run.answer(s)
        for _ in range(3):
            used, begun = s.cpu_seconds(), time.monotonic()
            status, _, answer = run.read(s.send_form(run.route(), body, len(body), kind))
            speeds.append(megabytes / (time.monotonic() - begun))
            cpu.append((s.cpu_seconds() - used) * 100 / megabytes)
            run.note(None if status == 400 else "an upload that is no audio gives %d: %r" % (status, answer[:200]))
        run.answer(s)
        run.idle(s, "the last upload")
    run.row("upload of %d MB, MB a second" % megabytes, "%.0f" % max(speeds))
    run.row("upload, processor seconds for 100 MB", "%.3f" % min(cpu))


def idle(run, n):
    """Connections without a request, and some that had one: others are answered, and the server closes them in the end."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if n > (files - 150) // 2:  # the server has two descriptors for a connection
        n = (files - 150) // 2
        run.row("idle: limited by open files", files)
    limit = 3 if run.args.quick else 20
    sockets = []
    with run.server("--connections", str(n + 100), "--per-ip", str(n + 100), "--head-timeout", str(limit), "--idle-timeout", str(limit)) as s:
        run.answer(s)
        memory = s.memory()
        head = ("GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n" % s.url.hostname).encode()
        for i in range(n):
            c = socket.create_connection((s.url.hostname, s.url.port), 10)
            sockets.append(c)
            if i % 2:
                c.sendall(head)
        waits = []
        for _ in range(20):
            begun = time.monotonic()
            if s.get("/livez")[0] != 200:
                run.note("idle: /livez does not answer 200")
            waits.append(time.monotonic() - begun)
        run.answer(s)
        at_once, now = s.connections(), s.memory()
        if at_once < n:
            run.note("idle: %d connections are open, %d were opened" % (at_once, n))
        ends = time.monotonic() + 2 * limit + 20
        left = s.connections()
        while left and time.monotonic() < ends:
            run.answer(s)
            time.sleep(0.2)
            left = s.connections()
        if left:
            run.note("idle: %d connections are left" % left)
        for c in sockets:
            c.close()
        run.answer(s)
        run.row("idle connections", at_once)
        run.row("idle: /livez p50, p95, s", "%.4f, %.4f" % (quantile(waits, 0.5), quantile(waits, 0.95)))
        run.row("idle: memory, MB, and kB a connection", "%.1f, %.1f" % (now / 1e6, (now - memory) / 1e3 / n))
        run.row("idle: memory after they are closed, MB", "%.1f" % (s.memory() / 1e6))
