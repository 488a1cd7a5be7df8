# steno: the server as a process: start, signals, exit codes. SPDX-License-Identifier: MIT
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from serving import SANITIZED, SPOKEN, STENO, Server, key_file, program, run, until


def fails(code, text, *args):
    r = subprocess.run([STENO, "serve", *args], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60)
    assert r.returncode == code and text in r.stderr, (r.returncode, r.stderr)


def test_usage():
    fails(2, "serve takes no files", "--demo", "a.wav")
    fails(2, "did you mean --port", "--demo", "--prot", "1")
    fails(2, "need each other", "--demo", "--tls-cert", "a.pem")
    fails(2, "must begin with /", "--demo", "--prefix", "stt")
    fails(2, "exclude each other", "--demo", "-m", "base")
    for useless in (("--port", "1", "--unix", "/nonexistent/x"), ("--host", "::1", "--unix", "/nonexistent/x"),
                    ("--allow-host", "a", "--api-key-file", "/nonexistent/x"), ("--live-step", "300", "--live", "0"),
                    ("--live-max-turn", "3000", "--live", "0"), ("--live-audio-padding", "3000", "--live", "0"),
                    ("--live-last-pass", "turn", "--live", "0"), ("--live-max-delay", "2", "--live", "0"),
                    ("--live-max-seconds", "3", "--live", "0")):
        fails(2, useless[0] + " has no effect with " + useless[2], "--demo", *useless)
    fails(2, "is not NAME=MODEL", "--demo", "--alias", "a")
    fails(2, "no model has the name x", "--demo", "--alias", "a=x")
    fails(3, "/nonexistent/model.bin", "-m", "/nonexistent/model.bin", "--port", "0")
    fails(2, "--api-key-file", "--demo", "--host", "0.0.0.0", "--port", "0")


def test_log_that_nobody_reads():
    """Nobody reads standard error: all are answered, and what was left out is counted when somebody reads again."""
    read, write = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/socket"
        p = subprocess.Popen([STENO, "serve", "--demo", "--unix", path], stderr=write)
        os.close(write)
        until(lambda: os.path.exists(path))

        def request():
            with socket.socket(socket.AF_UNIX) as c:
                c.settimeout(60)
                c.connect(path)
                c.sendall(b"GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return b"".join(iter(lambda: c.recv(65536), b""))
        until(lambda: request().startswith(b"HTTP/1.1 404 "))
        for _ in range(1000):  # about 300 kB of lines, and a pipe has room for 64
            assert request().startswith(b"HTTP/1.1 404 ")
        os.set_blocking(read, False)
        text = b""
        while b"lines of the log are lost" not in text:
            try:
                text += os.read(read, 1 << 16)
            except BlockingIOError:
                request()
        p.send_signal(signal.SIGTERM)
        os.set_blocking(read, True)
        while more := os.read(read, 1 << 16):
            text += more
        assert p.wait(60) == 0
        lines = [line for line in text.decode().splitlines() if line.startswith("{")]
        lost = int(re.search(r"steno: (\d+) lines of the log are lost, because standard error was not read\n", text.decode())[1])
        assert all(json.loads(line)["code"] == 404 for line in lines) and lost > 500 and len(lines) > 100, (lost, len(lines))
        os.close(read)


def test_spool():
    fails(6, "no temporary file can be made", "--demo", "--port", "0", "--spool", "/nonexistent")


def test_key_file():
    with key_file("# a comment", "secret-1", "secret-2", mode=0o644) as keys:
        fails(2, "keys", "--demo", "--port", "0", "--api-key-file", keys)
        os.chmod(keys, 0o600)
        with Server("--api-key-file", keys) as s:
            assert s.request("GET", "/v1/models")[0] == 401
            assert s.request("GET", "/livez")[0] == 200
            for key, status in (("secret-1", 200), ("secret-2", 200), ("secret", 401), ("secret-11", 401), ("", 401), ("# a comment", 401)):
                assert s.request("GET", "/v1/models", headers={"Authorization": "Bearer " + key})[0] == status, key
            status, headers, body = s.transcribe(SPOKEN)
            assert status == 401 and headers["WWW-Authenticate"] == "Bearer"
            assert json.loads(body)["error"]["code"] == "invalid_api_key"
            with open(keys, "w") as f:
                f.write("other\n")
            s.process.send_signal(signal.SIGHUP)
            until(lambda: s.request("GET", "/v1/models", headers={"Authorization": "Bearer other"})[0] == 200)
            assert s.request("GET", "/v1/models", headers={"Authorization": "Bearer secret-1"})[0] == 401
            with open(keys, "w"):  # no key is left in it
                s.process.send_signal(signal.SIGHUP)
            until(lambda: any("the keys stay as they were" in line for line in s.log))
            assert s.request("GET", "/v1/models", headers={"Authorization": "Bearer other"})[0] == 200
            assert not any("secret" in line or "other\n" in line for line in s.log), s.log
            assert all(line.startswith(("{", "steno: ")) for line in s.log), s.log


def test_wyoming_has_no_keys():
    with key_file("secret-1") as keys:
        unix = os.path.join(os.path.dirname(keys), "socket")
        for host in ("0.0.0.0", "::", "localhost.example"):
            fails(2, "Wyoming has no keys", "--demo", "--port", "0", "--api-key-file", keys, "--wyoming", "0", "--host", host)
            fails(2, "Wyoming has no keys", "--demo", "--unix", unix, "--api-key-file", keys, "--wyoming", "0", "--host", host)
        with Server("--api-key-file", keys, "--wyoming", "0") as s:
            until(lambda: any("Wyoming on port" in line for line in s.log))
        for args in (("--host", "0.0.0.0", "--no-auth"), ()):
            with Server("--wyoming", "0", *args) as s:
                until(lambda: any("Wyoming on port" in line for line in s.log))


def answer(c):
    """What the server sends until it closes the connection."""
    got = b""
    with c:
        while more := c.recv(65536):
            got += more
    return got.decode()


def records(s):
    return [json.loads(line) for line in s.log if line.startswith("{")]


def logged(s, code, reason, n=1):
    """The lines of the log with this code and reason: as many as were expected, and no fewer requests in the metrics."""
    found = until(lambda: (lambda r: len(r) >= n and r)([r for r in records(s) if (r["code"], r["reason"]) == (code, reason)]))
    assert len(found) == n, found
    return found


def rejected(s, reason):
    text = s.request("GET", "/metrics")[2].decode()
    return [float(line.split()[-1]) for line in text.split("\n") if line.startswith("steno_requests_rejected_total") and f'"{reason}"' in line]


def test_the_log_and_the_metrics_have_what_no_route_saw():
    head, upgrade = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n", b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\n"
    with Server() as s:
        for field in (b"Host: localhost\r\n", b"Content-Length: 1\r\nContent-Length: 1\r\n", b"Transfer-Encoding: gzip\r\n"):
            assert " 400 " in answer(s.sent(head + field + b"\r\n"))
        of_gate = logged(s, 400, "bad_request", 3)
        assert all(r["route"] == "/livez" and r["client"] == "127.0.0.1" and r["id"] for r in of_gate), of_gate
        assert s.request("GET", "/nowhere")[0] == 404 and s.request("PUT", "/livez")[0] == 405
        logged(s, 404, "not_found"), logged(s, 405, "method_not_allowed")
        assert s.request("GET", "/v1/realtime")[0] == 426
        assert logged(s, 426, "upgrade_required")[0]["route"] == "/v1/realtime"
        c = s.sent(upgrade + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        assert b" 101 " in c.recv(4096)
        c.close()
        assert logged(s, 101, None)[0]["route"] == "/v1/realtime"
        n = len(records(s))
        assert s.metric("steno_requests_total") == n, (n, s.log)
        assert s.metric("steno_requests_rejected_total") in (None, 0)


def test_the_log_and_the_metrics_have_what_limits_refuse():
    for args, code in ((("--per-ip", "2"), 429), (("--connections", "2"), 503)):
        with Server(*args) as s:
            held = [s.sent(b"GET /livez HTTP/1.1\r\nHost: ") for _ in range(2)]
            for k in range(2):
                until(lambda: len(records(s)) > k or f" {code} " in answer(s.sent()))
            refused = logged(s, code, "too_many_connections", 2)
            assert refused[0]["client"] == "127.0.0.1" and refused[0]["route"] is None and refused[0]["total"] is None, refused
            for c in held:
                c.close()
            until(lambda: s.request("GET", "/livez")[0] == 200)
            until(lambda: rejected(s, "too_many_connections") == [len([r for r in records(s) if r["reason"] == "too_many_connections"])])
    body = b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.7\r\nContent-Length: 9\r\n" \
           b"Content-Type: multipart/form-data; boundary=b\r\n\r\n--b"
    with Server("--per-ip", "1", "--trust-proxy", "127.0.0.0/8") as s:
        held = s.sent(body)
        until(lambda: s.request("GET", "/livez", headers={"X-Forwarded-For": "192.0.2.7"})[0] == 429)
        assert logged(s, 429, "too_many_connections")[0]["client"] == "192.0.2.7"
        assert rejected(s, "too_many_connections") == [1.0]
        held.close()


def received(address, *args):
    """The server with a listening socket of that address, as systemd passes it."""
    with socket.create_server((address, 0)) as listener:
        command = f'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" serve --demo "$@" 3<&{listener.fileno()}'
        process = subprocess.Popen(["bash", "-c", command, STENO, *args], stderr=subprocess.PIPE, text=True, pass_fds=(listener.fileno(),))
        return process, listener.getsockname()[1]


def test_received_sockets():
    process, _ = received("0.0.0.0")
    assert process.wait(60) == 2 and "keys" in process.stderr.read()
    for address, args in (("0.0.0.0", ("--no-auth",)), ("127.0.0.1", ())):
        process, port = received(address, *args)
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as s: # it waits in the queue of the socket until the server is ready
                s.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert s.recv(100).startswith(b"HTTP/1.1 200"), address
        finally:
            process.terminate() # perhaps before the line "serving demo"
        assert process.wait(60) == 0, process.stderr.read()


def test_a_signal_during_the_opening_ends_in_order():
    """The first request is answered before the server prints that it runs."""
    for _ in range(8):
        process, port = received("127.0.0.1")
        with socket.create_connection(("127.0.0.1", port), 60) as s:
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert s.recv(1) == b"H"
            process.terminate()
            try:
                code = process.wait(60 if not SANITIZED else 20)
            except subprocess.TimeoutExpired:  # ThreadSanitizer may keep a signal that arrives while a thread begins to wait
                process.terminate() if SANITIZED else process.kill()
                code = process.wait(60)
            assert code == 0, process.stderr.read()


def test_address_in_use():
    with Server() as s:
        fails(7, "another program listens there", "--demo", "--port", str(s.port))


def test_unix_socket():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "steno.sock")
        with Server("--unix", path) as s:
            c = socket.socket(socket.AF_UNIX)
            c.connect(path)
            c.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert answer(c).startswith("HTTP/1.1 200")
        assert not os.path.exists(path)


def test_drain():
    """SIGTERM: what runs is answered, what comes is refused, the exit code is 0."""
    def transcribe():
        try:
            answers.append(s.transcribe(SPOKEN)[0])
        except ConnectionError:
            answers.append(0)  # it came after the listening had ended

    with Server("--parallel", "1") as s:
        answers = []
        threads = [threading.Thread(target=transcribe) for _ in range(4)]
        for t in threads:
            t.start()
        until(lambda: s.metric("steno_requests_running") or len(answers) == 4)
        assert s.stop() == 0
        for t in threads:
            t.join()
        assert set(answers) <= {200, 503, 0} and 200 in answers and len(answers) == 4, answers


def test_memory():
    """The weights count."""
    weights = json.loads(subprocess.run([STENO, "info", "--demo", "--json"], stdout=subprocess.PIPE, check=True).stdout)["weight_bytes"]
    with Server("--parallel", "1", "--live", "0") as s:
        assert s.metric("steno_model_bytes") > weights > 1e6


def test_prefix():
    with Server("--prefix", "/stt") as s:
        assert s.request("GET", "/stt/livez")[0] == 200
        assert s.request("GET", "/livez")[0] == 404
        assert s.transcribe(SPOKEN, path="/stt/v1/audio/transcriptions", response_format="srt")[2] == program(SPOKEN, "-f", "srt")


def test_idle():
    """An idle server uses no processor time, and little memory after its model was closed."""
    with Server("--idle-unload", "1") as s:
        assert s.transcribe(SPOKEN)[0] == 200
        until(lambda: s.metric("steno_models_loaded") == 0, 20)
        time.sleep(0.5)
        assert SANITIZED or s.resident_kb() < 30000, s.resident_kb()
        ticks = cpu_ticks(s.process.pid)
        time.sleep(2)
        assert cpu_ticks(s.process.pid) - ticks <= 4, "the server is not idle"
        assert s.transcribe(SPOKEN)[0] == 200


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


run(globals())
