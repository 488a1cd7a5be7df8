# steno: mixed load: whole, streamed, slow and broken requests, and clients that leave. SPDX-License-Identifier: MIT
import http.client
import os
import random
import socket
import subprocess
import threading
import time

from load_base import FORMATS, is_error, quantile, wrong_stream, wrong_whole
from serving import STENO


class Job:
    """One request; the same for each server, if the options are the same."""

    def __init__(self, rng, kind, file):
        self.kind, self.file, self.form = kind, file, "json" if kind == "stream" else rng.choice(sorted(FORMATS))
        self.leaves_after, self.broken = rng.uniform(0, 0.2), rng.choice([b"", b"RIFF", rng.randbytes(5000), None])


def jobs_of(args, n):
    """As many jobs as that: files in equal shares, in an order of their own."""
    rng = random.Random(args.seed)
    files = (args.file * (n // len(args.file) + 1))[:n]
    rng.shuffle(files)
    kinds, shares = zip(*((k, float(v)) for k, v in (p.split("=") for p in args.mix.split(","))))
    return [Job(rng, rng.choices(kinds, shares)[0], file) for file in files]


class Mix:
    """Clients that take jobs from one list, until it is empty or the time is over."""

    def __init__(self, run, server, jobs, ends=None):
        self.run, self.server, self.jobs, self.ends = run, server, list(reversed(jobs)), ends
        self.lock, self.waits, self.codes, self.audio, self.speeds = threading.Lock(), [], {}, 0.0, []

    def next_job(self):
        with self.lock:
            return self.jobs.pop() if self.jobs and (self.ends is None or time.monotonic() < self.ends) else None

    def client(self):
        audio = spent = 0.0
        job = self.next_job()
        while job:
            try:
                seconds, took = self.request(job)
                audio, spent = audio + seconds, spent + took
            except (OSError, http.client.HTTPException, ValueError, KeyError) as e:
                self.run.note("%s of %s: %s: %s" % (job.kind, job.form, type(e).__name__, e))
            job = self.next_job()
        with self.lock:
            if spent:
                self.speeds.append(audio / spent)

    def count(self, kind, status):
        with self.lock:
            self.codes[kind, status] = self.codes.get((kind, status), 0) + 1
        if status >= 500:
            self.run.note("%s gives status %d" % (kind, status))

    def request(self, job):
        """@return seconds of audio of an answer that was not slowed down, and the time it took"""
        data = self.run.data[job.file]
        if job.kind == "broken":
            data = data[:40] if job.broken is None else job.broken
        fields = {"response_format": "json" if self.run.args.peer else job.form}
        if job.kind == "stream":
            fields["stream"] = "true"
        begun = time.monotonic()
        c = self.server.send(self.run.route(), fields, data, os.path.basename(job.file), slow=job.kind == "slow")
        if job.kind == "cancel":
            time.sleep(job.leaves_after)
            if c.sock:
                c.sock.shutdown(socket.SHUT_RDWR)
            c.close()
            self.count("cancel", 499)
            return 0, 0
        r = c.getresponse()
        body = r.read()
        c.close()
        took = time.monotonic() - begun
        self.count(job.kind, r.status)
        if r.status == 429 and job.kind != "broken":
            time.sleep(min(float(r.getheader("Retry-After") or 1), 2))
            return 0, 0
        self.run.note(self.wrong(job, r, body))
        if r.status != 200:
            return 0, 0
        with self.lock:
            self.audio += self.run.seconds(job.file)
            if job.kind == "plain":
                self.waits.append(took)
        return (self.run.seconds(job.file), took) if job.kind == "plain" else (0, 0)

    def wrong(self, job, r, body):
        """Why an answer is not what it must be; None: it is."""
        if job.kind == "broken":
            return None if r.status in (400, 429) and is_error(body) else "a broken file gives %d: %r" % (r.status, body[:200])
        if r.status != 200:
            return "%s of %s gives %d: %r" % (job.kind, job.form, r.status, body[:300])
        if self.run.args.peer:
            return None if body else "an empty answer"
        if job.kind == "stream":
            return wrong_stream(body, self.run.want(job.file, "json"))
        return wrong_whole(job.form, body, r.getheader("Content-Type") or "", self.run.want(job.file, job.form))

    def all(self, clients):
        """@return seconds that it took"""
        threads = [threading.Thread(target=self.client, daemon=True) for _ in range(clients)]
        begun = time.monotonic()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return time.monotonic() - begun


def expect(run, jobs):
    """Runs the program before the load begins, not beside it."""
    for job in jobs:
        run.seconds(job.file)
        if not run.args.peer:
            run.want(job.file, job.form)


def batch_speed(run, jobs, n):
    files = [job.file for job in jobs if job.kind in ("plain", "stream", "slow")]
    begun = time.monotonic()
    subprocess.run([STENO, "transcribe", "-q", "-b", str(n), *run.model, *run.options, *files], stdout=subprocess.DEVNULL, check=True)
    return sum(run.seconds(f) for f in files) / (time.monotonic() - begun)


def server_options(clients):
    return ("--per-ip", str(clients + 20), "--queue", str(clients)) if clients > 40 else ()


def mix(run, _):
    clients = run.args.clients
    jobs = jobs_of(run.args, clients * run.args.requests)
    expect(run, jobs)
    with run.server(*server_options(clients)) as s:
        m = Mix(run, s, jobs)
        before = 0 if run.args.peer else s.memory()
        spent = m.all(clients)
        now = {} if run.args.peer else s.metrics()
        if not run.args.peer:
            run.idle(s, "the last answer")
        after = 0 if run.args.peer else s.memory()
    speed = m.audio / spent
    run.row("clients", clients)
    run.row("requests", sum(m.codes.values()))
    run.row("seconds", "%.1f" % spent)
    run.row("audio seconds a second", "%.1f" % speed)
    if m.speeds and run.args.requests > 1:
        run.row("slowest client, share of the mean", "%.2f" % (min(m.speeds) * len(m.speeds) / sum(m.speeds)))
    for q in (50, 95, 99):
        run.row("wait p%d, s" % q, "%.3f" % quantile(m.waits, q / 100))
    for of, n in sorted(m.codes.items()):
        run.row("%s, status %d" % of, n)
    if not run.args.peer:
        run.row("memory before and after, MB", "%.1f, %.1f" % (before / 1e6, after / 1e6))
        run.row("open descriptors", int(now.get("process_open_fds", 0)))
        if now.get("steno_batch_windows_count"):
            run.row("mean of steno_batch_windows", "%.2f" % (now["steno_batch_windows_sum"] / now["steno_batch_windows_count"]))
    if run.args.batch:
        own = batch_speed(run, jobs, run.args.batch)
        run.row("audio seconds a second, steno -b %d" % run.args.batch, "%.1f" % own)
        run.row("share of it", "%.2f" % (speed / own))


def soak(run, seconds):
    """Mixed load for some time: memory and descriptors stay."""
    clients, n = run.args.clients, run.args.clients * 4
    expect(run, jobs_of(run.args, n))
    ends, total, samples = time.monotonic() + seconds, 0, []
    with run.server(*server_options(clients)) as s:
        while time.monotonic() < ends or len(samples) < 3:
            m = Mix(run, s, jobs_of(run.args, n), ends if len(samples) >= 3 else None)
            m.all(clients)
            run.idle(s, "a round")
            total += sum(m.codes.values())
            samples.append((s.memory(), s.descriptors()))
        first = samples[len(samples) // 4]
        open_after = run.closed(s, "soak", first[1])
    run.row("soak: seconds, requests", "%d, %d" % (seconds, total))
    run.flat("soak", first[0], samples[-1][0], 8)
    run.row("soak: descriptors before and after", "%d, %d" % (first[1], open_after))
