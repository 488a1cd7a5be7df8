# steno: live sessions at the speed of speech: delay of their text, and the refusal of one more. SPDX-License-Identifier: MIT
import json
import random
import threading
import time

from load_base import quantile
from websocket_client import Closed, Refused, WebSocket, committed

PIECE_S = 0.1


class Session(threading.Thread):
    def __init__(self, run, s, samples, delay):
        super().__init__(daemon=True)
        self.run_, self.s, self.samples, self.delay = run, s, samples, delay
        self.lags, self.events, self.finish = [], [], None

    def run(self):
        try:
            headers = self.s.headers()
            w = WebSocket(self.s.url.hostname, self.s.url.port, self.s.url.path + "/v1/stream", headers)
            time.sleep(self.delay)
            self.begun = time.monotonic()
            sender = threading.Thread(target=self.send, args=(w,), daemon=True)
            sender.start()
            self.read(w)
            sender.join()
        except (OSError, Refused, Closed) as e:
            self.run_.note("live: %s: %s" % (type(e).__name__, e))

    def send(self, w):
        step = int(32000 * PIECE_S)
        for i in range(0, len(self.samples), step):
            ahead = self.begun + (i + step) / 32000 - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            w.send_bytes(self.samples[i:i + step])
        self.finish = time.monotonic()
        w.send_json(type="end")

    def read(self, w):
        heard = 0
        try:
            while True:
                e = json.loads(w.receive(120))
                now = time.monotonic()
                if e["type"] in ("partial", "final") and e["heard"] > heard and not self.finish:  # its first text; endpoints repeat words
                    heard = e["heard"]
                    self.lags.append(now - self.begun - heard)
                self.events.append(e)
        except Closed as closed:
            self.tail = time.monotonic() - (self.finish or time.monotonic())
            if closed.code != 1000:
                self.run_.note("live: a session ends with %s" % closed)
        turns = [e["text"] for e in self.events if e["type"] == "endpoint" and e["text"]]
        if committed(self.events) != turns or not turns:
            self.run_.note("live: committed text is %r, turns are %r" % (committed(self.events), turns))


def live(run, n):
    seconds, spread = (4, 1) if run.args.quick else (30, 10)  # turns of all sessions must not end together
    samples, rng = run.samples(seconds), random.Random(run.args.seed)
    with run.server("--live", str(n), "--per-ip", str(n + 64), "--live-max-turn", "15000") as s:
        run.answer(s)
        sessions = [Session(run, s, samples, rng.uniform(0, spread)) for _ in range(n)]
        for t in sessions:
            t.start()
        time.sleep(2)
        begun = time.monotonic()
        if not refused(s):
            run.note("live: a session above the limit was not refused")
        refusal = time.monotonic() - begun
        for t in sessions:
            t.join()
        run.idle(s, "the last live session")
        now = s.metrics()
        memory = s.memory()
    lags = [lag for t in sessions for lag in t.lags]
    run.row("live sessions", n)
    run.row("live: delay of a text p50, p95, s", "%.3f, %.3f" % (quantile(lags, 0.5), quantile(lags, 0.95)))
    run.row("live: end to last text p95, s", "%.3f" % quantile([t.tail for t in sessions if hasattr(t, "tail")], 0.95))
    done = now.get('steno_live_updates_total{result="done"}', 0)
    run.row("live: updates, share of one for each second", "%.2f" % (done / (n * seconds)))
    run.row("live: refusal of one more, s", "%.4f" % refusal)
    run.row("live: memory, MB", "%.1f" % (memory / 1e6))


def refused(s):
    """One more session. @return whether its refusal is clean"""
    try:
        w = WebSocket(s.url.hostname, s.url.port, s.url.path + "/v1/stream", s.headers())
        try:
            while True:
                w.receive(5)
        except Closed as closed:
            return closed.code == 1013
    except Refused as r:
        return r.status == 429 and r.code() == "too_many_sessions"
