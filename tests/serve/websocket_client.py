"""A WebSocket client (RFC 6455) for tests, with the standard library only."""
import base64
import hashlib
import json
import os
import socket
import struct
import time

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Refused(Exception):
    """The server answered without an upgrade: status, headers (lower-case names) and body."""

    def __init__(self, status, headers, body):
        super().__init__(f"{status}: {body[:300]!r}")
        self.status, self.headers, self.body = status, headers, body

    def code(self):
        return json.loads(self.body)["error"]["code"]


class Closed(Exception):
    """The connection is over: code of the server's close frame; 1006: there was none."""

    def __init__(self, code, reason=""):
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


class WebSocket:
    def __init__(self, host, port, path, headers=None, protocols=(), timeout=30):
        self.sock = socket.create_connection((host, port), timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data, self.is_closing = b"", False
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: keep-alive, Upgrade", "Upgrade: websocket",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        if protocols:
            lines.append("Sec-WebSocket-Protocol: " + ", ".join(protocols))
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.sock.sendall("\r\n".join(lines + ["", ""]).encode())
        self._handshake(key)

    def _handshake(self, key):
        while b"\r\n\r\n" not in self.data:
            self._more()
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {n.lower(): v.strip() for n, _, v in (f.partition(":") for f in fields)}
        if self.status != 101:
            while len(self.data) < int(self.headers.get("content-length", 0)):
                self._more()
            self.sock.close()
            raise Refused(self.status, self.headers, self.data)
        wanted = base64.b64encode(hashlib.sha1((key + MAGIC).encode()).digest()).decode()
        assert self.headers["sec-websocket-accept"] == wanted
        self.protocol = self.headers.get("sec-websocket-protocol")

    def _more(self):
        got = self.sock.recv(1 << 16)
        if not got:
            raise Closed(1006)
        self.data += got

    def _take(self, n):
        while len(self.data) < n:
            self._more()
        part, self.data = self.data[:n], self.data[n:]
        return part

    def frame(self, opcode, payload=b""):
        """Sends a message as one frame, with a mask."""
        n, mask = len(payload), os.urandom(4)
        length = struct.pack("!B", n | 0x80) if n < 126 else struct.pack("!BH", 126 | 0x80, n) if n < 65536 else \
            struct.pack("!BQ", 127 | 0x80, n)
        repeated = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(n, "big")
        self.sock.sendall(struct.pack("!B", opcode | 0x80) + length + mask + masked)

    def send(self, text):
        self.frame(TEXT, text.encode())

    def send_bytes(self, data):
        self.frame(BINARY, data)

    def send_json(self, **event):
        self.send(json.dumps(event))

    def receive(self, timeout=30):
        """The next message, str or bytes. Answers pings. Raises Closed, and TimeoutError."""
        whole, kind, end = b"", None, time.monotonic() + timeout
        while True:
            self.sock.settimeout(max(0.01, end - time.monotonic()))
            b0, b1 = self._take(2)
            assert not b1 & 0x80, "a server must not mask"
            assert not b0 & 0x70, "reserved bits"
            n = b1 & 0x7F
            if n >= 126:
                n = int.from_bytes(self._take(2 if n == 126 else 8), "big")
            payload, opcode = self._take(n), b0 & 15
            if opcode == PING:
                self.frame(PONG, payload)
            elif opcode == CLOSE:
                if not self.is_closing:
                    self.frame(CLOSE, payload[:2])
                self.sock.close()
                raise Closed(int.from_bytes(payload[:2], "big") if payload else 1005, payload[2:].decode())
            elif opcode < PING:
                kind = kind or opcode
                whole += payload
                if b0 & 0x80:
                    return whole.decode() if kind == TEXT else whole

    def receive_json(self, timeout=30):
        return json.loads(self.receive(timeout))

    def close(self, code=1000, timeout=30):
        """Closes in order. @return the server's code, and the messages before it"""
        messages = []
        self.is_closing = True
        self.frame(CLOSE, struct.pack("!H", code))
        try:
            while True:
                messages.append(self.receive(timeout))
        except Closed as closed:
            return closed.code, messages

    def abort(self):
        """Breaks the connection without a close frame."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def committed(events):
    """The text of the final events of the plain protocol, a list of turns."""
    turns = {}
    for e in events:
        if e["type"] == "final":
            turns[e["turn"]] = turns.get(e["turn"], "") + " " * e["spaces"] + e["text"]
    return list(turns.values())


def stream(s, pieces, query=""):
    """The events of a whole session of the plain protocol (/v1/stream)."""
    w = WebSocket("127.0.0.1", s.port, "/v1/stream" + query)
    for piece in pieces:
        w.send_bytes(piece)
    w.send_json(type="end")
    found = []
    try:
        while True:
            found.append(w.receive_json(60))
    except Closed as closed:
        assert closed.code == 1000, closed
    return found
