# steno bench: what the Python package costs beside the C interface. SPDX-License-Identifier: MIT
"""python_threads.py [stall] [files] [overhead] [-m MODEL] [-n FILES] [-t THREADS] [--rounds N]

Prints PROGRAM, MEASURE, VALUE, UNIT, separated by tabs. STENO_LIBRARY and STENO_PROGRAM name libsteno-python.so and the
program of a build folder.

stall     how late another Python thread wakes up from sleeps of 1 ms while a run decodes, and, as the machine's part of it, while the
          program decodes the same audio in a process of its own
files     N short files of 1 to 3 s: one by one, by 8 threads, and by one call of the program; results must be equal
overhead  ten minutes of audio: processor time of Model.transcribe().result() and of steno_transcribe on the same samples, interleaved

All decode greedily at temperature 0, where Python has the largest part.
"""
import argparse
import array
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import wave

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE, "python"))
import steno  # noqa: E402
from steno._native import lib  # noqa: E402

GREEDY = {"beam_size": 0}
DEMO = os.path.join(SOURCE, "tests/data/demo.wav")


def samples():
    with wave.open(DEMO) as w:
        return array.array("h", w.readframes(w.getnframes()))


def put_wav(path, pcm):
    with wave.open(path, "wb") as w:
        w.setparams((1, 2, 16000, len(pcm), "NONE", ""))
        w.writeframes(pcm.tobytes())


def row(measure, value, unit):
    print(f"python\t{measure}\t{value:.4g}\t{unit}", flush=True)


class Ticks(threading.Thread):
    """A thread that sleeps 1 ms at a time, and notes how much longer each sleep took. It runs before all others if the system permits that,
    so that it waits for the lock of the interpreter and not for a processor."""

    def __init__(self):
        super().__init__()
        self.late, self.over = [], False

    def run(self):
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except (OSError, AttributeError):
            row("without real-time priority: waits for a processor are counted, too", 1, "")
        while not self.over:
            begun = time.perf_counter()
            time.sleep(0.001)
            self.late.append((time.perf_counter() - begun - 0.001) * 1000)

    def report(self, what):
        self.over = True
        self.join()
        late = sorted(self.late)
        for name, share in (("median", 0.5), ("99 %", 0.99), ("99.9 %", 0.999), ("maximum", 1)):
            row(f"stall of another thread, {what}, {name}", late[min(int(len(late) * share), len(late) - 1)], "ms")


def stall(o):
    pcm = samples() * (60 * 16000 // len(samples()))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "long.wav")
        put_wav(path, pcm)
        ticks = Ticks()
        ticks.start()
        subprocess.run([o.program, "-q", "-m", o.model, "-t", str(o.threads), "--greedy", path], check=True, stdout=subprocess.DEVNULL)
        ticks.report("the program decodes")
    for kind, options in (("segments", {}), ("words", {"word_timestamps": True}), ("tokens with formats", {"logprobs": True, "formats": ("json",)})):
        with steno.Model(o.model, threads=o.threads) as model:
            ticks = Ticks()
            ticks.start()
            n = sum(1 for _ in model.transcribe(pcm, **GREEDY, **options))
            ticks.report(f"a run decodes {n} {kind}")


def made_files(folder, n):
    pcm, paths = samples(), []
    for i in range(n):
        length, begin = 16000 + i * 31 % 32000, i * 97 % 16000
        paths.append(os.path.join(folder, f"{i:04}.wav"))
        put_wav(paths[-1], pcm[begin:begin + length])
    return paths


def by_threads(model, paths, n_threads):
    results, left, lock = {}, list(reversed(paths)), threading.Lock()

    def work():
        while True:
            with lock:
                if not left:
                    return
                path = left.pop()
            results[path] = [(s.start, s.end, s.text, s.avg_logprob) for s in model.transcribe(path, **GREEDY).result().segments]

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    begun, busy = time.perf_counter(), time.process_time()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results, time.perf_counter() - begun, time.process_time() - busy


def files(o):
    with tempfile.TemporaryDirectory() as folder:
        paths = made_files(folder, o.n)
        expected = None
        with steno.Model(o.model, threads=o.threads) as model:
            for _ in range(o.rounds):
                begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([o.program, "-q", "-m", o.model, "-t", str(o.threads), "--greedy", "-f", "tsv", "-o", folder, *paths], check=True)
                program, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
                busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                row(f"{o.n} files, the program", o.n / program, "1/s")
                row(f"{o.n} files, the program, processor time", busy, "s")
                for n_threads in (1, 8):
                    results, spent, own = by_threads(model, paths, n_threads)
                    expected = expected or results
                    if results != expected:
                        sys.exit("results of threads differ from those of one")
                    row(f"{o.n} files, Python threads: {n_threads}", o.n / spent, "1/s")
                    row(f"{o.n} files, Python threads: {n_threads}, of the program's speed", 100 * program / spent, "%")
                    row(f"{o.n} files, Python threads: {n_threads}, processor time", own, "s")
                begun = time.perf_counter()
                many = {r.input: [(s.start, s.end, s.text, s.avg_logprob) for s in r.segments] for r in model.transcribe_many(paths, **GREEDY)}
                if many != expected:
                    sys.exit("results of transcribe_many differ")
                row(f"{o.n} files, transcribe_many", o.n / (time.perf_counter() - begun), "1/s")


def overhead(o):
    pcm = array.array("f", (x / 32768 for x in samples() * (600 * 16000 // len(samples()) + 1)))[:600 * 16000]
    address, n = pcm.buffer_info()
    ratios = []
    with steno.Model(o.model, threads=o.threads) as model:
        request = model._request(dict(GREEDY))
        session = model._take(request.lanes)
        for i in range(o.rounds + 1):
            begun = time.process_time()
            if lib.steno_transcribe(session.handle, address, n, request.params.at) < 0:
                sys.exit("steno_transcribe failed")
            bare = time.process_time() - begun
            n_segments = lib.steno_segment_count(session.handle)
            begun = time.process_time()
            result = model.transcribe(pcm, **GREEDY).result()
            spent = time.process_time() - begun
            if len(result.segments) != n_segments:
                sys.exit("Python has other segments")
            if i:  # the first round warms up
                ratios.append(100 * (spent / bare - 1))
                row(f"ten minutes, {n_segments} segments, C interface", bare, "s")
                row("ten minutes, more processor time of Python", ratios[-1], "%")
        model._give(session)
    row("ten minutes, more processor time of Python, median", sorted(ratios)[len(ratios) // 2], "%")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("part", nargs="*", default=[])
    p.add_argument("-m", dest="model", default=os.path.join(SOURCE, "models/whisper-digits/whisper-digits.bin"))
    p.add_argument("-n", type=int, default=1000)
    p.add_argument("-t", dest="threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    o = p.parse_args()
    o.program = os.environ.get("STENO_PROGRAM", "steno")
    parts = {"stall": stall, "files": files, "overhead": overhead}
    if set(o.part) - set(parts):
        p.error(f"parts are {', '.join(parts)}")
    for name in o.part or parts:
        parts[name](o)


if __name__ == "__main__":
    main()
