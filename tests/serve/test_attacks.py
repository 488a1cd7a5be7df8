# steno: what hostile clients try against `steno serve`, threat by threat. SPDX-License-Identifier: MIT
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time

from serving import SANITIZED, SPOKEN, STENO, Server, form, key_file, run, until, wav
from websocket_client import Refused, WebSocket

KEY = "sk-of-the-test-0123456789abcdef"
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


def exchange(s, data, seconds=10):
    """Sends bytes and reads until the server closes. @return what it sent, and whether it closed"""
    with s.sent(timeout=seconds) as c:
        got = b""
        try:
            for piece in [data] if isinstance(data, bytes) else data:
                c.sendall(piece)
            while True:
                more = c.recv(65536)
                if not more:
                    return got, True
                got += more
        except (ConnectionResetError, BrokenPipeError):
            return got, True
        except socket.timeout:
            return got, False


def statuses(answer):
    return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d+)", answer)]


def error_of(answer):
    status, _, body = answer
    return status, json.loads(body)["error"]["code"]


def still_serves(s, **headers):
    status, _, body = s.transcribe(SPOKEN, headers=headers, response_format="text")
    assert status == 200 and body.strip(), (status, body)


# ---- request smuggling: a length that two readers read in different ways. The second request must not be answered.

def test_ambiguous_heads_are_refused_and_close():
    start = b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\n"
    heads = {
        "CL and TE": start + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "TE and CL": start + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "two lengths": start + b"Content-Length: 5\r\nContent-Length: 0\r\n",
        "the same length twice": start + b"Content-Length: 5\r\nContent-Length: 5\r\n",
        "a list of lengths": start + b"Content-Length: 5, 5\r\n",
        "a sign": start + b"Content-Length: +5\r\n",
        "a negative length": start + b"Content-Length: -1\r\n",
        "a hexadecimal length": start + b"Content-Length: 0x5\r\n",
        "a length of 2^64": start + b"Content-Length: 18446744073709551616\r\n",
        "a space before the colon": start + b"Content-Length : 5\r\n",
        "an unknown encoding": start + b"Transfer-Encoding: xchunked\r\n",
        "a list of encodings": start + b"Transfer-Encoding: gzip, chunked\r\n",
        "two encodings": start + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "an encoding in 1.0": start.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n",
        "no host": b"POST /v1/audio/transcriptions HTTP/1.1\r\nContent-Length: 5\r\n",
        "two hosts": start + b"Host: localhost\r\nContent-Length: 5\r\n",
        "a name that is no token": start + b"Bad(Name): x\r\nContent-Length: 5\r\n",
        "a control byte in a value": start + b"X-Value: a\x01b\r\nContent-Length: 5\r\n",
    }
    with Server() as s:
        for name, head in heads.items():
            answer, closed = exchange(s, head + b"\r\n0\r\n\r\n" + LIVEZ)
            assert closed, f"{name}: the connection stays open: {answer}"
            assert 200 not in statuses(answer), f"{name}: {answer}"
            assert set(statuses(answer)) <= {400, 413}, f"{name}: {answer}"
        for chunk in (b"-1\r\n", b"0x5\r\nabcde\r\n", b"11111111111111111\r\n", b"5\r\nabcdeXX", b"zz\r\n", b"\r\n"):
            answer, closed = exchange(s, start + b"Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                      chunk + LIVEZ)
            assert closed and 200 not in statuses(answer), f"chunk {chunk}: {answer}"
        still_serves(s)


# ---- slow clients: times are total, so bytes that trickle do not help

def check_slow(s, first, rest, seconds, name):
    begun = time.monotonic()
    with s.sent(first, timeout=20) as c:
        c.settimeout(0.1)
        while time.monotonic() < begun + seconds + 10:
            try:
                c.sendall(rest)
                if not c.recv(65536):
                    break
            except socket.timeout:
                continue
            except OSError:
                break
    took = time.monotonic() - begun
    assert took < seconds + 5, f"{name}: open for {took:.1f} s"


def test_slow_clients_lose_their_connections():
    with Server("--head-timeout", "1", "--body-timeout", "1", "--idle-timeout", "1") as s:
        start = b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        check_slow(s, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"a", 1, "head")
        check_slow(s, start + b"Content-Length: 1000000\r\n\r\n--b\r\n", b"a", 17, "body")
        check_slow(s, start + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", 2, "chunks")
        check_slow(s, LIVEZ, b"", 1, "idle")
        check_slow(s, b"", b"", 1, "silent")
        still_serves(s)


# ---- memory and disk: nothing grows by what a client announces, and files have no names

def test_lengths_are_limits_and_not_allocations():
    with Server("--max-upload", "1") as s:
        still_serves(s)
        before = s.resident_kb()
        head = b"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        for length in (b"1100000000", b"1099511627776", b"9223372036854775807"):
            answer, closed = exchange(s, head + b"Content-Length: " + length + b"\r\n\r\n")
            assert statuses(answer) in ([413], [400]) and closed, answer
        assert error_of(s.transcribe(b"\0" * 1500000))[1] == "request_too_large"
        big = b"%x\r\n" % 1000000 + b"a" * 1000000 + b"\r\n"
        answer, closed = exchange(s, [head + b"Transfer-Encoding: chunked\r\n\r\n"] + [big] * 100)
        assert closed and 200 not in statuses(answer), answer
        bodies = {
            "long part head": b"--b\r\nContent-Disposition: form-data; name=\"a\"; x=" + b"y" * 100000 + b"\r\n\r\n1\r\n--b--\r\n",
            "many parts": b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n" * 5000 + b"--b--\r\n",
            "long value": b"--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\n" + b"y" * 900000 + b"\r\n--b--\r\n",
            "no end": b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n",
            "no part": b"--b--\r\n",
            "wrong boundary": b"--c\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--c--\r\n",
        }
        for name, body in bodies.items():
            status, code = error_of(s.request("POST", "/v1/audio/transcriptions", body,
                                              {"Content-Type": "multipart/form-data; boundary=b"}))
            assert status in (400, 413), f"{name}: {status} {code}"
        for kind in ("multipart/form-data; boundary=" + "b" * 71, "multipart/form-data", "text/plain", "multipart/form-data; boundary="):
            assert s.request("POST", "/v1/audio/transcriptions", b"--b--\r\n", {"Content-Type": kind})[0] in (400, 415), kind
        answer, closed = exchange(s, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 60000 + b"\r\n\r\n")
        assert 200 not in statuses(answer) and closed, answer[:200]
        answer, closed = exchange(s, b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n")
        assert 200 not in statuses(answer) and closed, answer[:200]
        still_serves(s)
        if not SANITIZED:
            assert s.resident_kb() < before + 30000, f"{before} KB became {s.resident_kb()} KB"


def test_uploads_leave_nothing_behind():
    with tempfile.TemporaryDirectory() as folder, Server("--spool", folder, "--spool-max", "10") as s:
        still_serves(s)
        n = s.descriptors()
        status, code = error_of(s.transcribe(b"\0" * 20000000))
        assert status == 503 and code == "spool_full", (status, code)
        body, kind = form({}, b"\0" * 5000000)
        head = f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        for _ in range(5):
            with s.sent(head.encode() + body[:3000000]):
                assert not os.listdir(folder)
        until(lambda: s.metric("steno_spool_bytes") == 0)
        until(lambda: s.descriptors() <= n + 1)
        body, kind = form({}, SPOKEN, file_name="../../../../tmp/steno-attack")
        assert s.request("POST", "/v1/audio/transcriptions", body, {"Content-Type": kind})[0] == 200
        assert not os.listdir(folder) and not os.path.exists("/tmp/steno-attack")
        still_serves(s)


# ---- media: samples are counted while they are decoded; no file names another one

def test_long_audio_ends_at_the_limit():
    with Server("--max-seconds", "10") as s:
        assert error_of(s.transcribe(wav(60 * 16000))) == (400, "audio_too_long")
        true = wav(16000)
        lying = true[:4] + b"\xff\xff\xff\x7f" + true[8:40] + b"\xff\xff\xff\x7f" + true[44:]
        assert s.transcribe(lying)[0] in (200, 400)
        still_serves(s)


def test_files_that_name_others_are_refused():
    asked = []
    trap = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=lambda: asked.append(trap.accept()), daemon=True).start()
    url = f"http://127.0.0.1:{trap.getsockname()[1]}/a.ts"
    sound = os.path.abspath(SPOKEN)
    files = {
        "HLS": f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n{url}\n#EXT-X-ENDLIST\n",
        "HLS of files": f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile://{sound}\n#EXT-X-ENDLIST\n",
        "concat": f"ffconcat version 1.0\nfile '{sound}'\n",
        "concat of URLs": f"ffconcat version 1.0\nfile '{url}'\n",
        "SDP": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 49170 RTP/AVP 0\n",
        "DASH": f"<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011' type='static'><Period><AdaptationSet>"
                f"<Representation id='1' bandwidth='1'><BaseURL>{url}</BaseURL></Representation></AdaptationSet></Period></MPD>",
        "text": "this is a text\n" * 1000,
        "nothing": "",
        "a WAV head alone": "RIFF",
    }
    with Server() as s:
        for name, text in files.items():
            status, code = error_of(s.transcribe(text.encode()))
            assert status == 400 and code in ("unsupported_format", "invalid_audio", "no_audio_stream", "audio_too_short"), \
                f"{name}: {status} {code}"
        still_serves(s)
    assert not asked, "a file made the server open " + url
    trap.close()


# ---- paths: no name of a request reaches the file system

def test_paths_are_those_of_the_routes():
    with Server() as s:
        for target in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page.css%00.html", "/page.css/../../x",
                       "http://localhost/etc/passwd", "/v1/models/..%2f..%2fetc%2fpasswd", "/v1/models//etc/passwd", "*", "etc/passwd",
                       "/serve/page/page.js", "/.", "/..", "/%00", "/v1/../livez", "/\\..\\livez", "/" + "a" * 5000):
            answer, _ = exchange(s, f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            assert statuses(answer)[0] in (400, 403, 404, 405, 414, 431), f"{target[:40]}: {answer[:200]}"
            assert b"root:" not in answer
        for model in ("/etc/passwd", "../../etc/passwd", "models/whisper-digits/whisper-digits.bin", "demo\0", "demo/../demo"):
            assert error_of(s.transcribe(SPOKEN, model=model))[0] in (400, 404), model
        still_serves(s)


# ---- keys

TWO_KEYS = ("# two keys", "another-key-of-the-test-000", KEY)


def test_keys_are_compared_whole_and_never_written():
    with key_file(*TWO_KEYS) as keys, Server("--api-key-file", keys) as s:
        for value in (None, "", "Bearer", "Bearer ", "Bearer x", "Bearer " + KEY[:-1], "Bearer " + KEY + "x", "Bearer " + KEY.upper(), KEY,
                      "Basic " + KEY, "Bearer # two keys", "Bearer " + KEY + "\tx", "Bearer " + "a" * 5000):
            status, headers, body = s.request("GET", "/v1/models", headers={} if value is None else {"Authorization": value})
            assert status == 401, f"{value}: {status}"
            assert "Bearer" in headers["WWW-Authenticate"] and KEY.encode() not in body
        for query in ("?api_key=", "?key=", "?access_token=", "?authorization=Bearer%20"):
            assert s.request("GET", "/v1/models" + query + KEY)[0] == 401, query
        for route in ("/v1/models", "/metrics", "/v1/audio/transcriptions"):
            assert s.request("GET" if route != "/v1/audio/transcriptions" else "POST", route)[0] == 401, route
        assert s.request("GET", "/v1/models", headers={"Authorization": "Bearer " + KEY})[0] == 200
        assert s.request("GET", "/v1/models", headers={"X-API-Key": KEY})[0] == 200
        assert s.request("GET", "/livez")[0] == 200
        still_serves(s, Authorization="Bearer " + KEY)
        log = s.log
    assert KEY not in "".join(log)


def test_unsafe_starts_are_refused():
    with key_file(*TWO_KEYS) as keys, key_file(*TWO_KEYS, mode=0o644) as open_keys, key_file("# no key", "") as empty:
        for options in (["--host", "0.0.0.0"], ["--host", "::"], ["--api-key-file", open_keys], ["--api-key-file", keys + ".absent"],
                        ["--api-key-file", empty]):
            done = subprocess.run([STENO, "serve", "--demo", "--port", "0", *options], capture_output=True, text=True, timeout=60)
            assert done.returncode == 2, f"{options}: exit code {done.returncode}\n{done.stderr}"
            assert KEY not in done.stderr
        with Server("--host", "0.0.0.0", "--api-key-file", keys) as s:
            still_serves(s, Authorization="Bearer " + KEY)
            assert sum("TLS" in line or "plain HTTP" in line for line in s.log) == 1, s.log


# ---- foreign pages: a form needs no preflight, and a WebSocket no CORS

def upgrade(s, origin):
    """The status of a WebSocket from a page of that origin."""
    try:
        w = WebSocket("127.0.0.1", s.port, "/v1/realtime", {"Origin": origin})
    except Refused as refused:
        return refused.status
    w.abort()
    return w.status


def test_origins_are_own_or_listed():
    app = "https://app.example.org"
    with Server("--cors", app) as s:
        own = f"http://127.0.0.1:{s.port}"
        bad = ("https://evil.example", "null", "https://app.example.org.evil.example", "http://app.example.org", app + ":8443",
               "https://APP.example.org.", own + "0", "file://", "https://xapp.example.org")
        for origin in bad:
            status, headers, body = s.transcribe(SPOKEN, headers={"Origin": origin})
            assert status == 403 and b"origin_not_allowed" in body, f"{origin}: {status}"
            assert headers["Access-Control-Allow-Origin"] is None
            assert upgrade(s, origin) == 403, origin
            assert s.request("OPTIONS", "/v1/audio/transcriptions",
                             headers={"Origin": origin, "Access-Control-Request-Method": "POST"})[0] == 403
        status, headers, _ = s.transcribe(SPOKEN, headers={"Origin": app})
        assert status == 200 and headers["Access-Control-Allow-Origin"] == app and "Origin" in headers["Vary"]
        status, headers, _ = s.request("OPTIONS", "/v1/audio/transcriptions",
                                       headers={"Origin": app, "Access-Control-Request-Method": "POST"})
        assert status == 204 and headers["Access-Control-Allow-Origin"] == app
        assert s.transcribe(SPOKEN, headers={"Origin": own})[0] == 200
        assert upgrade(s, app) == upgrade(s, own) == 101
        still_serves(s)


def test_names_that_are_not_local_are_refused_without_keys():
    with Server("--allow-host", "stt.example.org") as s:
        def status(host):
            return statuses(exchange(s, f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())[0])[0]
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "127.0.0.256", "127.1x",
                     "0x7f.0.0.1", "[::2]", "[::1].evil.example", "stt.example.org.evil.example", "xstt.example.org", "localhost:80:80"):
            assert status(host) in (400, 403), host
        for host in ("localhost", f"localhost:{s.port}", "127.0.0.1", "127.9.8.7:1", "[::1]", "[::1]:8090", "LOCALHOST", "stt.example.org"):
            assert status(host) == 200, host


def test_the_page_has_a_policy():
    with Server() as s:
        for path in ("/", "/page.js"):
            status, headers, _ = s.request("GET", path)
            assert status == 200 and "default-src 'self'" in headers["Content-Security-Policy"]
            assert "unsafe" not in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
        status, _, body = s.request("GET", "/", headers={"If-None-Match": s.request("GET", "/")[1]["ETag"]})
        assert (status, body) == (304, b"")
    with Server("--no-page") as s:
        assert s.request("GET", "/")[0] == 404


# ---- proxies, and work

def test_forwarded_addresses_are_believed_from_proxies_only():
    for options, known in (([], "127.0.0.1"), (["--trust-proxy", "127.0.0.0/8"], "192.0.2.7"),
                           (["--trust-proxy", "10.0.0.0/8"], "127.0.0.1")):
        with Server(*options) as s:
            s.request("GET", "/v1/models", headers={"X-Forwarded-For": "198.51.100.1, 192.0.2.7", "X-Request-Id": "of-the-test"})
            line = until(lambda: next((l for l in s.log if "of-the-test" in l), None))
            assert json.loads(line)["client"] == known, line


def test_work_of_one_client_is_limited():
    with Server("--per-ip", "4") as s:
        before = s.descriptors()
        open_ones = [s.sent() for _ in range(4)]
        until(lambda: s.descriptors() >= before + 4)  # the server has accepted them
        answer, closed = exchange(s, LIVEZ, 3)
        assert closed and 200 not in statuses(answer), answer
        for c in open_ones:
            c.close()
        until(lambda: statuses(exchange(s, LIVEZ.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), 3)[0]) == [200])
        for field in ("beam_size", "best_of"):
            assert error_of(s.transcribe(SPOKEN, **{field: "9"}))[0] == 400, field
            assert error_of(s.transcribe(SPOKEN, **{field: "999999999999999999999"}))[0] == 400, field
        for field, value in (("temperature", "nan"), ("temperature", "-1"), ("offset_ms", "1e300"), ("language", "x" * 10000),
                             ("response_format", "exe"), ("prompt", "x" * 17000)):
            assert error_of(s.transcribe(SPOKEN, **{field: value}))[0] == 400, field
        still_serves(s)


def test_requests_beyond_the_queue_are_refused_at_once():
    with Server("--queue", "1", "--parallel", "1") as s:
        sound = wav(600 * 8000, 8000)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(s.transcribe(sound, timeout=300))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        codes = [a[0] for a in answers]
        assert set(codes) <= {200, 429} and 200 in codes and 429 in codes, codes
        refused = next(a for a in answers if a[0] == 429)
        assert 1 <= int(refused[1]["Retry-After"]) <= 120 and refused[1]["retry-after-ms"]
        still_serves(s)


def test_many_idle_connections_cost_little():
    with Server("--per-ip", "2000", "--connections", "1100", "--idle-timeout", "60", "--head-timeout", "60") as s:
        still_serves(s)
        before = s.resident_kb()
        idle = [s.sent() for _ in range(500)]
        begun = time.monotonic()
        assert s.request("GET", "/livez")[0] == 200
        assert time.monotonic() - begun < (5 if SANITIZED else 1)
        if not SANITIZED:
            assert s.resident_kb() < before + 40000, f"{before} KB became {s.resident_kb()} KB"
        for c in idle:
            c.close()
        still_serves(s)


run(globals())
