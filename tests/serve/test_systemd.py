# steno: `steno serve` under a service manager: messages, and sockets that it receives. SPDX-License-Identifier: MIT
import http.client
import os
import signal
import socket
import subprocess
import tempfile
import time

from serving import STENO, key_file, run, until


class Managed:
    """The server, with listening sockets as descriptors from 3 on, and a socket for its messages."""

    def __init__(self, sockets=(), names="", options=(), env=None, abstract=False):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "notify")
        self.inbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.inbox.bind("\0" + path if abstract else path)
        self.inbox.settimeout(60)
        self.messages = []
        self.log = tempfile.TemporaryFile("w+")
        moved = [os.dup(s.fileno()) for s in sockets]  # above 3, so that no redirection overwrites one that is still needed
        while any(fd < 20 for fd in moved):
            moved = [os.dup(fd) if fd < 20 else fd for fd in moved]
        places = " ".join(f"{3 + i}<&{fd}" for i, fd in enumerate(moved))
        variables = {"NOTIFY_SOCKET": "@" + path if abstract else path, **(env or {})}
        if sockets:
            variables.update(LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=names)
        port = [] if sockets else ["--port", "0"]
        self.process = subprocess.Popen(["bash", "-c", f'export LISTEN_PID=$$; exec "$0" "$@" {places}', STENO, "serve", "--demo", *port,
                                         *options], env={**os.environ, **variables}, pass_fds=moved, stderr=self.log)

    def message(self):
        self.messages.append(self.inbox.recv(4096).decode())
        return self.messages[-1]

    def ready(self):
        while "READY=1" not in self.message().split("\n"):
            pass
        return self

    def stop(self):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.inbox.close()
        self.log.close()
        self.folder.cleanup()


def answered(address):
    """Status of /livez on a socket's address."""
    c = http.client.HTTPConnection("localhost", timeout=60)
    c.sock = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    c.sock.settimeout(60)
    c.sock.connect(address)
    c.request("GET", "/livez")
    status = c.getresponse().status
    c.close()
    return status


def test_messages_follow_the_state():
    for abstract in (False, True):
        with Managed(abstract=abstract) as m:
            m.ready()
            assert any(line.startswith("STATUS=") for line in m.messages[-1].split("\n")), m.messages
            m.process.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in m.message().split("\n"):
                pass
            assert "EXTEND_TIMEOUT_USEC=" in m.messages[-1]
            assert m.process.wait(60) == 0


def test_a_reload_is_reported_with_its_end():
    with key_file("secret-1") as keys:
        with Managed(options=("--api-key-file", keys)) as m:
            m.ready()
            for text, status in (("secret-2\n", "STATUS=ready"), ("", "STATUS=the keys stay as they were: ")):
                with open(keys, "w") as f:
                    f.write(text)
                m.process.send_signal(signal.SIGHUP)
                begun, ended = m.message().split("\n"), m.message().split("\n")
                assert begun[0] == "RELOADING=1" and begun[1].startswith("MONOTONIC_USEC="), begun
                assert ended[0] == "READY=1" and ended[1].startswith(status), ended
            assert m.stop() == 0
            assert "READY=1" not in m.message(), "a server that stops is ready no more"


def test_signs_of_life_come_at_half_of_the_period():
    with Managed(env={"WATCHDOG_USEC": "400000"}) as m:
        m.ready()
        begun = time.monotonic()
        for _ in range(5):
            assert m.message() == "WATCHDOG=1"
        assert 0.5 < time.monotonic() - begun < 5
        assert m.stop() == 0
    with Managed(env={"WATCHDOG_USEC": "400000", "WATCHDOG_PID": "1"}) as m:
        m.ready()
        m.inbox.settimeout(1)
        try:
            raise AssertionError("a watchdog of another process got " + m.message())
        except socket.timeout:
            assert m.stop() == 0


def test_received_sockets_are_served_across_restarts():
    with tempfile.TemporaryDirectory() as folder:
        tcp, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
        unix.bind(os.path.join(folder, "steno.sock"))
        unix.listen(8)
        for names in ("http:http", "steno.socket:unknown"):
            early = socket.create_connection(tcp.getsockname())  # before the server starts: it waits
            early.settimeout(60)
            early.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with Managed((tcp, unix), names) as m:
                m.ready()
                assert b"200 OK" in early.recv(65536)
                assert answered(tcp.getsockname()) == answered(unix.getsockname()) == 200
                assert m.stop() == 0
            early.close()
            assert os.path.exists(unix.getsockname()), "the server removed a socket that is not its own"
        tcp.close()
        unix.close()


def test_bad_sockets_are_refused():
    tcp, public, plain = socket.create_server(("127.0.0.1", 0)), socket.create_server(("0.0.0.0", 0)), socket.socket()
    for sockets, names in (((plain,), "http"), ((tcp,), "metrics"), ((public,), "http"), ((tcp, public), "http:http")):
        with Managed(sockets, names) as m:
            assert m.process.wait(60) == 2, f"{names}: exit code {m.process.returncode}"
            m.log.seek(0)
            assert m.log.read().strip(), "a refusal without a message"
    with Managed((public,), "http", ("--no-auth",)) as m:
        m.ready()
        assert answered(("127.0.0.1", public.getsockname()[1])) == 200
        assert m.stop() == 0
    for s in (tcp, public, plain):
        s.close()


def test_wyoming_is_served_and_needs_a_trusted_address():
    with key_file("secret-1") as keys:
        tcp, local, public = (socket.create_server((host, 0)) for host in ("127.0.0.1", "127.0.0.1", "0.0.0.0"))
        for sockets, options in (((tcp, public), ("--api-key-file", keys)), ((tcp, public), ())):
            with Managed(sockets, "http:wyoming", options) as m:
                assert m.process.wait(60) == 2, m.process.returncode
                m.log.seek(0)
                assert "needs" in m.log.read()
        for wyoming, options in ((local, ("--api-key-file", keys)), (public, ("--no-auth",))):
            with Managed((tcp, wyoming), "http:wyoming", options) as m:
                m.ready()
                with socket.create_connection(("127.0.0.1", wyoming.getsockname()[1]), 60) as c:
                    c.sendall(b'{"type":"ping"}\n')
                    assert b"pong" in c.recv(65536)
                assert m.stop() == 0
        for s in (tcp, local, public):
            s.close()


def test_variables_of_other_processes_are_ignored():
    tcp = socket.create_server(("127.0.0.1", 0))
    with Managed(env={"LISTEN_FDS": "1", "LISTEN_FDNAMES": "http"}) as m:  # descriptor 3 is not one; LISTEN_PID is ours: an error
        assert m.process.wait(60) == 2
    process = subprocess.Popen([STENO, "serve", "--demo", "--port", "0"], stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "LISTEN_PID": "1", "LISTEN_FDS": "1", "NOTIFY_SOCKET": ""})
    lines = []
    until(lambda: "serving" in (lines.append(process.stderr.readline()) or lines[-1]))
    process.terminate()
    assert process.wait(60) == 0
    tcp.close()


run(globals())
