# steno: a client of the Wyoming protocol, for tests. SPDX-License-Identifier: MIT
import json
import re
import socket

from serving import until

FORM = {"rate": 16000, "width": 2, "channels": 1}


def port_of(s):
    return int(until(lambda: re.search(r"Wyoming on port (\d+)", "".join(s.log)))[1])


class Peer:
    def __init__(self, port, version="1.5.0"):
        self.version = version
        self.sock = socket.create_connection(("127.0.0.1", port), 30)
        self.file = self.sock.makefile("rb")

    def send(self, kind, data=None, payload=b""):
        body = json.dumps(data).encode() if data else b""
        head = {"type": kind, "version": self.version, "data_length": len(body), "payload_length": len(payload)}
        self.sock.sendall(json.dumps(head).encode() + b"\n" + body + payload)

    def receive(self):
        head = json.loads(self.file.readline())
        data = {**head.get("data", {}), **json.loads(self.file.read(head.get("data_length", 0)) or b"{}")}
        return head["type"], data

    def start(self):
        self.send("audio-start", FORM)

    def chunks(self, pcm, size=2048):
        for at in range(0, len(pcm), size):
            self.send("audio-chunk", FORM, pcm[at:at + size])

    def audio(self, pcm, size=2048):
        self.start()
        self.chunks(pcm, size)
        self.send("audio-stop")

    def until(self, last):
        """Events up to the one of the kind `last`."""
        found = [self.receive()]
        while found[-1][0] != last:
            found.append(self.receive())
        return found
