# steno: the bodies that clients of OpenAI's API send, as they write them. SPDX-License-Identifier: MIT
#
# The bytes follow the documented shapes of each client: Open WebUI, .NET's MultipartFormDataContent, browsers, curl, uploads in chunks.
import json
from serving import SPOKEN, Server, program, run

PATH = "/v1/audio/transcriptions"
TEXT = json.loads(program("-l", "en", "-f", "json", SPOKEN))["text"].strip()
with open(SPOKEN, "rb") as spoken:
    SOUND = spoken.read()


def part(head, value):
    return head.encode() + b"\r\n\r\n" + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"


def body(boundary, *parts):
    return b"".join(b"--" + boundary.encode() + b"\r\n" + p for p in parts) + b"--" + boundary.encode() + b"--\r\n"


def read_answer(c, got=b""):
    """The status, the head and the body of the next answer that is not 1xx, and what came before it."""
    before = b""
    while True:
        while b"\r\n\r\n" not in got:
            more = c.recv(65536)
            assert more, (before, got)
            got += more
        head, got = got.split(b"\r\n\r\n", 1)
        status = int(head.split()[1])
        if status >= 200:
            break
        before += head
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(got) < length:
        got += c.recv(65536)
    return status, head, got[:length], before


def head(content_type, *more, path=PATH):
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {content_type}", *more, "", ""]).encode()


def send(s, content_type, data, *more):
    with s.sent(head(content_type, f"Content-Length: {len(data)}", *more) + data) as c:
        return read_answer(c)


def check(answer):
    status, _, data, _ = answer
    assert status == 200 and json.loads(data)["text"].strip() == TEXT, answer


# ---- Open WebUI: a file, the model, perhaps a language; the error's message is an object's

def open_webui(s, **fields):
    boundary = "0123456789abcdef0123456789abcdef"
    parts = [part('Content-Disposition: form-data; name="file"; filename="recording.wav"', SOUND)]
    parts += [part(f'Content-Disposition: form-data; name="{name}"', value) for name, value in fields.items()]
    return [send(s, f"multipart/form-data; boundary={boundary}", body(boundary, *p), "Accept: */*", "Authorization: Bearer any")
            for p in (parts, parts[::-1])]


def test_open_webui():
    with Server() as s:
        for fields in ({"model": "whisper-1"}, {"model": "whisper-1", "language": "en"}, {"model": "whisper-1", "language": "en-US"}):
            for answer in open_webui(s, **fields):
                check(answer)
        for status, _, data, _ in open_webui(s, model="whisper-1", language="klingon"):
            e = json.loads(data)["error"]
            assert status == 400 and isinstance(e["message"], str) and e["param"] == "language", data
        for answer in open_webui(s, model="whisper-1"):  # its second try
            check(answer)
        for status, _, data, _ in open_webui(s, model="whisper-1", response_format="verbose_json", **{"timestamp_granularities[]": "segment"}):
            assert status == 200 and json.loads(data)["segments"] and json.loads(data)["text"].strip() == TEXT, data


# ---- .NET: names without quotes, the boundary in quotes, a type for each text, chunks, Expect

DOTNET = 'multipart/form-data; boundary="8f0c7f2e-6f0c-4f6e-9d0e-0a1b2c3d4e5f"'


def dotnet(name="a.wav"):
    return body(DOTNET.split('"')[1],
                part("Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=model", "whisper-1"),
                part("Content-Type: audio/wav\r\nContent-Disposition: form-data; name=file; "
                     f"filename={name}; filename*=utf-8''{name}", SOUND),
                part("Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=language", "en"),
                part("Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=response_format", "json"))


def chunks(data, sizes):
    out, at = b"", 0
    while at < len(data):
        n = sizes[len(out) % len(sizes)] if len(sizes) > 1 else sizes[0]
        out += b"%x\r\n" % len(data[at:at + n]) + data[at:at + n] + b"\r\n"
        at += n
    return out + b"0\r\n\r\n"


def test_dotnet():
    with Server() as s:
        check(send(s, DOTNET, dotnet()))
        check(send(s, DOTNET, dotnet('"a b.wav"')))
        check(send(s, DOTNET + "; charset=utf-8", dotnet()))
        check(send(s, DOTNET.replace("boundary", "Boundary"), dotnet()))
        with s.sent() as c:
            c.sendall(head(DOTNET, "Transfer-Encoding: chunked", "Expect: 100-continue"))
            assert b" 100 " in c.recv(4096)
            c.sendall(chunks(dotnet(), [4096]))
            check(read_answer(c))


# ---- uploads in chunks, on one connection

def test_chunks():
    with Server() as s, s.sent() as c:
        for sizes in ([65536], [1000, 1, 7, 8192], [len(dotnet())]):
            c.sendall(head(DOTNET, "Transfer-Encoding: chunked") + chunks(dotnet(), sizes))
            check(read_answer(c))
        for at in range(0, 40, 13):  # the first bytes arrive one by one
            data = head(DOTNET, "Transfer-Encoding: chunked") + chunks(dotnet(), [30000])
            for i in range(at, at + 5):
                c.sendall(data[i:i + 1] if i > at else data[:at + 1])
            c.sendall(data[at + 5:])
            check(read_answer(c))


# ---- a client that asks before it sends

def test_expect():
    with Server("--max-upload", "1") as s:
        for _ in range(2):
            with s.sent() as c:
                c.sendall(head(DOTNET, f"Content-Length: {len(dotnet())}", "Expect: 100-continue"))
                got = c.recv(4096)
                assert got.startswith(b"HTTP/1.1 100 "), got
                c.sendall(dotnet())
                check(read_answer(c, got))
        with s.sent() as c:  # it does not wait for the answer
            c.sendall(head(DOTNET, f"Content-Length: {len(dotnet())}", "Expect: 100-continue") + dotnet())
            check(read_answer(c))
        with s.sent() as c:  # too large: the body is not asked for
            c.sendall(head(DOTNET, "Content-Length: 50000000", "Expect: 100-continue"))
            status, _, data, before = read_answer(c)
            assert status == 413 and before == b"" and json.loads(data)["error"]["code"] == "request_too_large", data
        status, *_ = send(s, "application/json", b"{}")
        assert status == 415


# ---- browsers and curl

def test_browsers_and_curl():
    web, curl = "----WebKitFormBoundaryABCDEFGHIJKLMNOP", "------------------------0123456789abcdef"
    with Server() as s:
        names = ('a.wav', 'C:\\fakepath\\a.wav', 'a%22b.wav', 'a\\"b.wav', 'ü.wav', '')
        for boundary in (web, curl):
            for name in names:
                check(send(s, f"multipart/form-data; boundary={boundary}", body(
                    boundary, part(f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: audio/webm', SOUND),
                    part('Content-Disposition: form-data; name="model"', ""), part('Content-Disposition: form-data; name="language"', "en"),
                    part('Content-Disposition: form-data; name="stream"', "False"))))


# ---- programs that ask what a path can do, or send what no route reads

def test_methods():
    with Server() as s:
        paths = {"/": "GET, HEAD", "/index.html": "GET, HEAD", "/livez": "GET, HEAD", PATH: "POST", "/v1/realtime": "GET", "/v1/stream": "GET",
                 "/v1/listen": "POST, GET"}
        for path, methods in paths.items():
            status, headers, _ = s.request("OPTIONS", path)  # no Origin: no browser asks
            assert status == 204 and headers["Allow"] == methods + ", OPTIONS", (path, status, headers["Allow"])
            for method in {"GET", "HEAD", "POST", "PUT", "TRACE"} - set(methods.split(", ")):
                status, headers, _ = s.request(method, path)
                assert status == 405 and headers["Allow"] == methods, (method, path, status, headers["Allow"])
        assert s.request("OPTIONS", "/nope")[0] == s.request("PATCH", "/nope")[0] == 404
    with Server("--no-page") as s:
        assert s.request("POST", "/")[0] == s.request("OPTIONS", "/")[0] == 404


def test_compressed_bodies():
    with Server() as s:
        for path in (PATH, "/inference", "/asr", "/v1/listen", "/v1/chat/completions"):
            for coding in ("gzip", "br", "identity, gzip"):
                status, _, data = s.request("POST", path, dotnet(), {"Content-Type": DOTNET, "Content-Encoding": coding})
                assert status == 415 and coding.encode() in data, (path, coding, status, data)
        assert send(s, DOTNET, dotnet(), "Content-Encoding: identity", "Content-Encoding: gzip")[0] == 400
        for coding in ("identity", "Identity", ""):
            check(send(s, DOTNET, dotnet(), f"Content-Encoding: {coding}"))


def test_numbers_and_characters_that_json_has_and_this_server_not():
    with Server() as s:
        for value, word in (("9223372036854775808", "too large"), ("1e999", "too large"), ('"a\\u0000"', "NUL")):
            status, _, data = s.request("POST", "/v1/chat/completions", '{"seed": %s}' % value, {"Content-Type": "application/json"})
            assert status == 400 and word in json.loads(data)["error"]["message"], (value, data)


def test_a_handshake_has_no_body():
    fields = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
    with Server() as s:
        for path in ("/v1/stream", "/v1/realtime", "/v1/listen?encoding=linear16&sample_rate=16000"):
            for more, bytes_, want in (((), "", b"101"), (("Content-Length: 0",), "", b"101"), (("Content-Length: 3",), "abc", b"400"),
                                       (("Transfer-Encoding: chunked",), "0\r\n\r\n", b"400")):
                with s.sent("\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *fields, *more, "", bytes_]).encode()) as c:
                    got = c.recv(65536)
                    assert got.split()[1] == want, (path, more, got)


if __name__ == "__main__":
    run(globals())
