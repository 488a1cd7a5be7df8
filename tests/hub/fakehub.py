"""steno tests: an imitation of both hubs on the loopback interface. SPDX-License-Identifier: MIT

Two servers, so two origins: the hub, and the store that it redirects to with an address that counts as signed. Files lie in memory. A
repository "fault/NAME" has the same files as "openai/whisper-tiny" and goes wrong in the way of its name:

    slow       a byte now and then        cut-N      the first answer ends after N bytes     cuts-N  every answer does
    badbytes   wrong bytes, right length  badonce    the first time alone                     longer  more bytes than promised
    norange    ranges are not served      wrongrange another range than asked for             416     no range is good
    gzip       packed unless asked not to packed     packed in any case                       nolength, noetag, 308, loop, down (to http)
    403-once   a signed address is over   429-tN     N seconds, once                          503-N   N times   500 always
    stall      headers, then nothing      gated, private, norepo                              page-3  three pages of a list
    evil-N     a path that leads out      dup        one path twice                           nojson, endless
    notree     no list of files           notree-N   HEAD is refused with N, too              nothing    neither list nor hashes
    noapi      files and nothing else         seesaw     no ranges, and cut in two places in turn
    later      503 once, and Retry-After is `retry` of the hub            lies-N  an answer whose Content-Length is N
    page       404 with a page that does not end, drip  the same, slowly  head    header fields that do not end
    hops       redirects that do not end, each to another address

The hub's protocol is that of section "requests" of its clients; the log of requests is what tests look at."""
import gzip
import hashlib
import json
import re
import socketserver
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT, OLD = "a" * 39 + "1", "b" * 39 + "2"
EVIL = ["../x", "/x", "C:x", "a/../../x", "a\\x", "a\nb", "", "a//b", "./x"]


def sha1_git(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


WHISPER = {
    "config.json": b'{"model_type": "whisper"}\n',
    "generation_config.json": b"{}\n",
    "model.safetensors": bytes(range(256)) * 8192,  # 2 MiB
    "vocab.json": b'{"a": 1}\n' * 40,
    "model.fp32-00001-of-00002.safetensors": b"not wanted" * 500,
    "README.md": b"# not wanted\n",
    "sub/odd name.json": b"{}\n",
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self):  # HTTPServer's asks for the host's name, which takes a while where it is unknown
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, *_):  # clients are killed here
        pass


class Hub:
    def __init__(self):
        self.repos = {"openai/whisper-tiny": dict(WHISPER)}
        self.commits = {}  # of a repository: its commit, if not COMMIT
        self.log, self.counts, self.lock = [], {}, threading.Lock()
        self.retry = "0"
        self.anything = None  # what every other address has
        self.token = None  # what "private" and "gated" want
        self.expect_token = False
        self.hub, self.store = self.serve(HubHandler), self.serve(StoreHandler)
        self.url, self.store_url = ("http://127.0.0.1:%d" % s.server_port for s in (self.hub, self.store))

    def serve(self, handler):
        server = Server(("127.0.0.1", 0), type("H", (handler,), {"hub": self}))
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def close(self):
        for s in (self.hub, self.store):
            s.shutdown()
            s.server_close()

    def files(self, repo):
        if repo.startswith("fault/") and repo not in self.repos:
            return WHISPER
        return self.repos.get(repo)

    def commit(self, repo):
        return self.commits.get(repo, COMMIT)

    def first(self, *key):
        """How often this was asked before."""
        with self.lock:
            n = self.counts.get(key, 0)
            self.counts[key] = n + 1
        return n

    def paths(self, method="GET"):
        return [p for m, p, _ in self.log if m == method]


def is_lfs(path, data):
    return path.endswith((".safetensors", ".bin", ".pt", ".gguf", ".model"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.hub.log.append((self.command, self.path, dict(self.headers.items())))
        url = urllib.parse.urlsplit(self.path)
        try:
            self.route(urllib.parse.unquote(url.path), dict(urllib.parse.parse_qsl(url.query)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def say(self, code, body=b"", fields=None, length=True):
        fields = dict(fields or {})
        self.send_response(code)
        for k, v in fields.items():
            self.send_header(k, v)
        if length and "Content-Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        if not length:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, what, code=200, fields=None):
        self.say(code, json.dumps(what).encode(), {"Content-Type": "application/json", **(fields or {})})

    def refuse(self, code, fault, reason="no", fields=None):
        self.json({"error": reason}, code, {"X-Error-Code": fault, "X-Error-Message": reason, **(fields or {})})

    def has_token(self):
        return self.hub.token and self.headers.get("Authorization") == "Bearer " + self.hub.token

    # ---- a file's bytes, with what goes wrong

    def serve_bytes(self, repo, path, data, fields):
        fault = repo[len("fault/"):] if repo.startswith("fault/") and is_lfs(path, data) else ""
        n, whole = self.hub.first("bytes", repo, path), data
        number = int(m[1]) if (m := re.search(r"-(\d+)$", fault)) else 0
        if fault == "403-once" and n == 0:
            return self.say(403, b"expired")
        if fault == "416" and "Range" in self.headers:
            return self.say(416, b"", {"Content-Range": "bytes */7"})
        if fault == "badbytes" or (fault == "badonce" and n == 0):
            data = data[:-1] + bytes([data[-1] ^ 1])
        if fault == "longer":
            data = data + b"more"
        if fault == "packed" or (fault == "gzip" and self.headers.get("Accept-Encoding") != "identity"):
            return self.say(200, gzip.compress(data), {"Content-Encoding": "gzip"}, length=False)
        code, begin = 200, 0
        if (m := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")) and fault != "norange":
            begin = int(m[1])
            if begin >= len(data):
                return self.say(416, b"", {"Content-Range": "bytes */%d" % len(data)})
            shown = begin + 5 if fault == "wrongrange" else begin
            code, fields = 206, {**fields, "Content-Range": "bytes %d-%d/%d" % (shown, len(data) - 1, len(data))}
        body = data[begin:]
        if self.command == "HEAD":
            return self.say(200, whole, fields)
        if (fault.startswith("cut-") and n == 0) or fault.startswith("cuts-"):
            return self.cut(code, body, number, fields)
        if fault == "seesaw":
            return self.cut(200, whole, (3 << 20) if n % 2 else (1 << 20) + 100, {})
        if fault == "stall" and n == 0:
            return self.cut(code, body, 1000, fields, 6)
        if fault == "slow":
            return self.drip(code, body, fields)
        self.say(code, body, fields, length=fault != "nolength")

    def endless(self, what):
        self.close_connection = True
        self.send_response(404)
        while what == "head":
            self.send_header("X-More", "x" * 1000)
            self.flush_headers()
        self.end_headers()
        while self.command != "HEAD":
            self.wfile.write(b"x" * (1 if what == "drip" else 1 << 16))
            time.sleep(0.1 if what == "drip" else 0)

    def begin(self, code, body, fields):
        self.send_response(code)
        for k, v in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(k, v)
        self.end_headers()
        self.close_connection = True

    def cut(self, code, body, n, fields, wait=0):
        self.begin(code, body, fields)
        self.wfile.write(body[:n])
        self.wfile.flush()
        time.sleep(wait)

    def drip(self, code, body, fields):
        self.begin(code, body, fields)
        for i in range(0, len(body), 1 << 15):
            self.wfile.write(body[i:i + (1 << 15)])
            self.wfile.flush()
            time.sleep(0.03)


class StoreHandler(Handler):
    """The target of a hub's redirects. It checks signatures, and must not see a token."""

    def route(self, path, query):
        m = re.fullmatch(r"/store/([^/]+/[^/]+)/(.+)", path)
        if "Authorization" in self.headers or "Cookie" in self.headers:
            return self.say(400, b"a token came to the store")
        if not m or query.get("sig") != "secret":
            return self.say(403, b"not signed")
        data = self.hub.files(m[1])[m[2]]
        fields = {} if m[1] == "fault/noetag" else {"ETag": '"of-the-store"'}
        self.serve_bytes(m[1], m[2], data, fields)


class HubHandler(Handler):
    def route(self, path, query):
        for pattern, call in (
            (r"/prefix(/.*)", lambda rest: self.route(rest, query)),
            (r"/api/models", lambda: self.search(query)),
            (r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", self.revision),
            (r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", lambda repo, rev: self.tree(repo, rev, query)),
            (r"/api/v1/models/([^/]+/[^/]+)/repo/files", lambda repo: self.ms_files(repo, query)),
            (r"/api/v1/models/([^/]+/[^/]+)/repo", lambda repo: self.ms_file(repo, query["Revision"], query["FilePath"])),
            (r"/api/v1/models/([^/]+/[^/]+)/revisions", self.ms_revisions),
            (r"/api/v1/models/([^/]+/[^/]+)", self.ms_model),
            (r"/openapi/v1/models", lambda: self.ms_search(query)),
            (r"/models/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self.ms_file),
            (r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self.resolve),
        ):
            if m := re.fullmatch(pattern, path):
                return call(*m.groups())
        if self.hub.anything is not None:
            return self.serve_bytes("", "", self.hub.anything, {})
        self.say(404, b"no")

    def known(self, repo):
        """Answers for missing files. @return its files, or None"""
        fault = repo[len("fault/"):] if repo.startswith("fault/") else ""
        if fault == "gated" and not self.has_token():
            self.refuse(401 if not self.headers.get("Authorization") else 403, "GatedRepo", "Access to this is restricted")
        elif fault == "private" and not self.has_token():
            self.refuse(401, "RepoNotFound", "Invalid username or password.")
        elif fault == "norepo" or self.hub.files(repo) is None:
            self.refuse(404, "RepoNotFound", "Repository not found")
        elif fault == "500":
            self.refuse(500, "", "broken")
        elif fault.startswith("503-") and self.hub.first("503", repo) < int(fault[4:]):
            self.say(503, b"later", {"Retry-After": "0"})
        elif fault.startswith("429-t") and self.hub.first("429", repo) == 0:
            self.say(429, b"later", {"RateLimit": '"api";r=0;t=%d' % int(fault[5:])})
        elif fault == "noapi" and "/resolve/" not in self.path:
            self.say(405, b"no")
        elif fault == "later" and self.hub.first("later", repo) == 0:
            self.say(503, b"later", {"Retry-After": self.hub.retry})
        elif fault in ("page", "drip", "head"):
            self.endless(fault)
        elif fault.startswith("lies-") and "/resolve/" not in self.path:
            self.close_connection = True
            self.say(200, json.dumps({"id": repo, "sha": COMMIT}).encode(), {"Content-Length": fault[5:].replace("neg", "-5")})
        elif fault == "nojson":
            self.say(200, b"<html>a proxy's page</html>", {"Content-Type": "text/html"})
        else:
            return self.hub.files(repo)
        return None

    def search(self, query):
        ids = [r for r in self.hub.repos if query.get("search", "") in r][: int(query.get("limit", 20))]
        self.json([{"id": r, "modelId": r, "downloads": 1000 - i, "likes": i, "tags": []} for i, r in enumerate(ids)])

    def revision(self, repo, rev):
        files = self.known(repo)
        if files is None:
            return
        commit = self.hub.commit(repo)
        if rev not in (None, "main", "refs/pr/1", commit, OLD):
            return self.refuse(404, "RevisionNotFound", "Invalid rev id: " + rev)
        self.json({"id": repo, "modelId": repo, "sha": rev if rev == OLD else commit, "private": False, "downloads": 1, "likes": 0,
                   "tags": [], "siblings": [{"rfilename": f} for f in files]})

    def tree(self, repo, rev, query):
        files = self.known(repo)
        if files is None:
            return
        if repo.startswith("fault/notree") or repo == "fault/nothing":
            return self.say(403, b"no")
        entries = []
        for path, data in files.items():
            entry = {"type": "file", "oid": sha1_git(data), "size": len(data), "path": path}
            if is_lfs(path, data):
                entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 134}
                entry["xetHash"] = sha256(path.encode())
            entries.append(entry)
        entries.append({"type": "directory", "oid": "0" * 40, "size": 0, "path": "sub"})
        if repo.startswith("fault/evil-"):
            entries.append({"type": "file", "oid": "0" * 40, "size": 1, "path": EVIL[int(repo[11:])]})
        if repo == "fault/dup":
            entries.append(entries[0])
        page, fields = int(query.get("cursor", 0)), {}
        pages = 3 if repo == "fault/page-3" else 1
        size = -(-len(entries) // pages)
        if page + 1 < pages or repo == "fault/endless":
            # the hub's own host, as a mirror that copies fields has it
            fields["Link"] = '<https://hub.invalid/api/models/%s/tree/%s?recursive=true&cursor=%d>; rel="next"' % (repo, rev, page + 1)
        self.json([] if repo == "fault/endless" else entries[page * size:(page + 1) * size], 200, fields)

    def resolve(self, repo, rev, path):
        files = self.known(repo)
        if files is None:
            return
        commit = OLD if rev == OLD else self.hub.commit(repo)
        if path not in files:
            return self.refuse(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        if rev not in ("main", commit):
            return self.refuse(404, "RevisionNotFound", "Invalid rev id")
        if repo.startswith("fault/notree-") and self.command == "HEAD":
            return self.say(int(repo[13:]), b"no")
        data, fields = files[path], {"X-Repo-Commit": commit}
        if repo == "fault/308" and "again" not in self.path:
            return self.say(308, b"", {"Location": self.path + "?again=1"})
        if repo == "fault/loop":
            return self.say(302, b"", {"Location": self.path})
        if repo == "fault/hops":
            return self.say(302, b"", {"Location": self.path.split("?")[0] + "?hop=%d" % self.hub.first("hop")})
        if repo == "fault/scheme":
            return self.say(302, b"", {"Location": "file:///etc/passwd"})
        if is_lfs(path, data):
            digest = sha256(data)
            fields.update({"X-Linked-Size": str(len(data)), "X-Linked-Etag": '"%s"' % digest, "ETag": '"pointer"',
                           "Location": "%s/store/%s/%s?sig=secret" % (self.hub.store_url, repo, urllib.parse.quote(path))})
            if repo in ("fault/noetag", "fault/nothing"):
                del fields["X-Linked-Etag"], fields["ETag"]
            return self.say(302, b"Found. Redirecting", fields)
        fields.update({"ETag": '"%s"' % sha1_git(data), "Accept-Ranges": "bytes"})
        self.serve_bytes(repo, path, data, fields)

    # ---- ModelScope

    def ms_files(self, repo, query):
        files = self.hub.files(repo)
        if files is None:
            return self.json({"Code": 10010205001, "Message": "the model does not exist", "Success": False, "Data": None}, 404)
        if repo == "fault/code":
            return self.json({"Code": 10010101002, "Message": "not this revision", "Success": False, "Data": None})
        entries = [{"Name": p.split("/")[-1], "Path": p, "Type": "blob", "Size": len(d), "Sha256": sha256(d), "Revision": COMMIT,
                    "IsLFS": is_lfs(p, d), "Mode": "33188", "CommittedDate": 1700000000, "CommitMessage": "x"} for p, d in files.items()]
        entries.append({"Name": "sub", "Path": "sub", "Type": "tree", "Size": 0, "Sha256": "", "Revision": COMMIT, "IsLFS": False})
        self.json({"Code": 200, "Success": True, "Message": "success", "Data": {"Files": entries, "LatestCommitter": {}}})

    def ms_file(self, repo, rev, path):
        files = self.hub.files(repo)
        if files is None or path not in files:
            return self.json({"Code": 10010205003, "Message": "file not found"}, 404)
        if repo == "fault/code":
            return self.json({"Code": 10010101002, "Message": "not this revision"}, 200)
        self.serve_bytes(repo, path, files[path], {"X-Linked-Etag": sha256(files[path]), "ETag": '"%s"' % sha256(files[path])})

    def ms_revisions(self, repo):
        self.json({"Code": 200, "Data": {"RevisionMap": {"Branches": [{"Revision": "master", "CreatedAt": 1700000000}], "Tags": []}}})

    def ms_model(self, repo):
        self.json({"Code": 200, "Success": True, "Data": {"Name": repo, "Path": repo.split("/")[0], "Revision": "master"}})

    def ms_search(self, query):
        ids = [r for r in self.hub.repos if query.get("search", "") in r]
        self.json({"success": True, "data": {"models": [{"id": r, "downloads": 5, "likes": 1} for r in ids], "total_count": len(ids)}})
