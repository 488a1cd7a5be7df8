# steno tests: steno.ray on a local cluster whose workers and nodes are killed. SPDX-License-Identifier: MIT
#
# 200 inputs, or STENO_RAY_INPUTS.
import faulthandler
import glob
import json
import os
import shutil
import signal
import tempfile
import threading
import time
import unittest
import wave

import recordings as r

ray = r.need("ray")
r.need("ray.data")
from ray.cluster_utils import Cluster # noqa: E402

from steno import AudioError, Model # noqa: E402
from steno.ray import Transcribe, failed_row, joined, row_of, rows_of_manifest, transcribe # noqa: E402

N = int(os.environ.get("STENO_RAY_INPUTS", "200"))
faulthandler.dump_traceback_later(280 + N, exit=True)


def clips(folder, n):
    """Manifest of n cuts of the recording, each with another start."""
    samples, rows = r.integers(), []
    for i in range(n):
        first = i * 7 % 30000
        path = os.path.join(folder, f"{i}.wav")
        with wave.open(path, "wb") as w:
            w.setparams((1, 2, 16000, 0, "NONE", ""))
            w.writeframes(samples[first:first + 16000].tobytes())
        rows.append({"id": f"clip-{i}", "path": path, "language": "en"})
    return rows


def killer(stop, folder, killed):
    """Kill a worker each time that some more results are there."""
    goal = 1
    while not stop.wait(0.05):
        if len(glob.glob(os.path.join(folder, "*.jsonl"))) < goal:
            continue
        for status in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(status, "rb") as f:
                    line = f.read()
            except OSError:
                continue
            pid = int(status.split("/")[2])
            if line.startswith(b"ray::MapWorker(MapBatches(Transcribe))") and pid not in killed:
                try:
                    with open(f"/proc/{pid}/environ", "rb") as f:
                        if f"STENO_RAY_TEST={os.getpid()}".encode() not in f.read():
                            continue
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
                killed.append(pid)
                goal += 2
                break
        if len(killed) >= 2:
            return


class OnACluster(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir="/tmp") # paths of its sockets must be short
        self.addCleanup(shutil.rmtree, self.folder, True)
        os.environ["STENO_RAY_TEST"] = str(os.getpid())
        os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False,
                                                                     "object_store_memory": 100 << 20})
        self.addCleanup(self.cluster.shutdown)
        self.nodes = [self.cluster.add_node(num_cpus=2, object_store_memory=100 << 20) for _ in range(2)]
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="error")
        self.addCleanup(ray.shutdown)

    def test_killed_workers_and_a_killed_node_lose_nothing(self):
        rows, output = clips(self.folder, N), os.path.join(self.folder, "out")
        stop, killed = threading.Event(), []
        hunter = threading.Thread(target=killer, args=(stop, output, killed))

        def lose_a_node():
            while not stop.wait(0.1):
                if len(glob.glob(os.path.join(output, "*.jsonl"))) >= 3:
                    self.cluster.remove_node(self.nodes[0], allow_graceful=False)
                    return
        loser = threading.Thread(target=lose_a_node)
        hunter.start()
        loser.start()
        try:
            summary = transcribe(rows, output, r.MODEL, rows_per_task=16, cpus=1, workers=2)
        finally:
            stop.set()
            hunter.join()
            loser.join()
        self.assertEqual(summary, {"inputs": N, "skipped": 0, "done": N, "failed": 0})
        self.assertGreater(len(killed), 0)
        self.assertFalse(self.nodes[0].any_processes_alive())
        single = Transcribe(r.MODEL)
        self.assertEqual([json.dumps(row) for row in joined(output, rows)], [json.dumps(row) for row in single.rows(rows)])
        again = transcribe([*rows, {"path": "missing.wav"}], output, r.MODEL, cpus=1, workers=1)
        self.assertEqual(again, {"inputs": N + 1, "skipped": N, "done": 0, "failed": 1})
        self.split_channels(rows[:3])

    def split_channels(self, rows):
        """Rows with and without a number of channels, in blocks of one."""
        output = os.path.join(self.folder, "split")
        rows = [*rows, {**rows[0], "id": "chosen", "channel": 0}]
        summary = transcribe(rows, output, r.MODEL, cpus=1, workers=1, rows_per_task=1, channels="split")
        self.assertEqual(summary, {"inputs": 4, "skipped": 0, "done": 4, "failed": 0})
        self.assertEqual([(row["id"], row["channel"], row["channels"]) for row in joined(output, rows)],
                         [*((row["id"], 0, 1) for row in rows[:3]), ("chosen", 0, None)])


def batch(folder, lines, *options):
    """Results of steno batch: id, track, tracks, channel, channels and text."""
    manifest, out = os.path.join(folder, "m.jsonl"), os.path.join(folder, "batch.jsonl")
    with open(manifest, "w") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    r.steno("batch", "-q", "-t", "1", "-m", r.MODEL, "-i", manifest, "-o", out, *options)
    with open(out) as f:
        rows = [json.loads(line) for line in f]
    os.remove(out)
    found = {}
    for row in rows:
        if row["type"] == "transcript":
            found.setdefault(row["id"], []).append(place(row))
    return [row for line in lines for row in found[line["id"]]]


def place(row):
    return [*(row[name] for name in ("id", "track", "tracks", "channel", "channels")), row["text"].strip()]


class Tracks(unittest.TestCase):
    """Each track and channel has a row, as steno batch writes it. The film needs FFmpeg."""
    FILM = os.path.join(r.SOURCE, "tests/data/audio/two_tracks.mkv") # its first track has one channel, its second has two
    CASES = (({}, ()), ({"audio_track": "all"}, ("--audio-track", "all")), ({"channels": "split"}, ("--channels", "split")),
             ({"audio_track": "all", "channels": "split"}, ("--audio-track", "all", "--channels", "split")),
             ({"audio_track": 2, "channels": 0}, ("--audio-track", "2", "--channels", "0")))

    def setUp(self):
        try:
            list(Model(r.MODEL).transcribe(self.FILM, language="zh"))
        except AudioError as e:
            self.skipTest(str(e))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        two = os.path.join(self.folder, "two.wav")
        with wave.open(two, "wb") as w:
            w.setparams((2, 2, 16000, 0, "NONE", ""))
            w.writeframes(b"".join(x.to_bytes(2, "little", signed=True) + b"\0\0" for x in r.integers()))
        self.lines = [{"id": "film", "path": self.FILM, "language": "zh"}, {"id": "one", "path": r.DEMO, "language": "en"},
                      {"id": "two", "path": two, "language": "en"}]

    def test_rows_are_those_of_steno_batch(self):
        chosen = [*self.lines, {"id": "left", "path": self.lines[2]["path"], "language": "en", "channel": 0}]
        for given, options in self.CASES:
            lines = self.lines[:1] if given.get("audio_track") == 2 else chosen
            worker = Transcribe(r.MODEL, threads=1, **given)
            got = worker({name: [line.get(name) for line in lines] for name in ("id", "path", "channel", "language")})
            rows = [dict(zip(got, values)) for values in zip(*got.values())]
            self.assertEqual(list(map(place, rows)), batch(self.folder, lines, *options))
            self.assertEqual(set(got["error"]), {""})

    def test_a_failed_channel_is_the_only_row_of_its_input(self):
        lines = [{**self.lines[0], "channel": 1}, self.lines[1]] # its first track has no channel 1
        with tempfile.TemporaryDirectory() as output:
            worker = Transcribe(r.MODEL, threads=1, output=output, audio_track="all")
            worker({name: [line.get(name) for line in lines] for name in ("id", "path", "channel", "language")})
            rows = list(joined(output, lines))
            self.assertEqual([row[:5] for row in map(place, rows)], [["film", None, None, None, None], ["one", 1, 1, None, None]])
            self.assertIn("channel", rows[0]["error"])
            self.assertFalse(rows[1]["error"])

    def test_joined_rows_of_an_input_are_of_one_attempt(self):
        with tempfile.TemporaryDirectory() as output:
            store = Transcribe(r.MODEL, threads=1, output=output, channels="split").store
            split = [{"id": "a", "track": None, "tracks": None, "channel": i, "channels": 2, "text": str(i), "error": ""} for i in range(2)]
            store.write([failed_row("a", "lost")])
            store.write(split)
            store.write(split)
            self.assertEqual(list(joined(output, ["a"])), split)

    def test_values_are_checked(self):
        for given, why in (({"channels": "both"}, "channels is 'both', must be 'mix', 'split' or a number from 0"),
                           ({"channels": -1}, "channels is -1"), ({"audio_track": 0}, "'auto', 'all' or a number from 1")):
            self.assertRaisesRegex(ValueError, why, Transcribe, r.MODEL, **given)
            self.assertRaisesRegex(ValueError, why, transcribe, ["a"], self.folder, r.MODEL, **given)


class Worker(unittest.TestCase):
    def test_an_input_that_ends_its_process_is_a_row_with_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = [{"id": "a", "path": r.DEMO}, {"id": "b", "path": "missing.wav"}]
            columns = {name: [row[name] for row in rows] for name in ("id", "path")}
            worker = Transcribe(r.MODEL, threads=1, output=folder, retries=2)
            worker.store.attempt("a\nb") # an attempt that did not return
            worker.store.attempt("=a")
            worker.store.attempt("=a")
            out = worker(columns)
            self.assertEqual(out["id"], ["a", "b"])
            self.assertIn("the process ended during 2 attempts", out["error"][0])
            self.assertIn("missing.wav", out["error"][1])
            self.assertEqual([row["id"] for row in joined(folder, rows)], ["a", "b"])
            with self.assertRaisesRegex(KeyError, "no result of c"):
                list(joined(folder, [{"path": "c"}]))

    def test_a_manifest_is_checked(self):
        self.assertEqual(row_of("x.wav"), {"id": "x.wav", "path": "x.wav", "channel": -1, "language": "", "initial_prompt": ""})
        self.assertEqual(row_of({"audio_filepath": "x.wav", "id": "1", "language": None})["language"], "")
        self.assertEqual([row_of({"path": "a", "channel": c})["channel"] for c in (None, float("nan"), 1.0, 0)], [-1, -1, 1, 0])
        for bad, why in (([{"id": "1"}], "none of path"), (["a", "a"], "occurs twice"), ([{"path": "a", "offset": 1}], "offset"),
                         ([{"path": "a", "channel": 0.5}], "channel 0.5"), ([{"path": "a", "channel": -2}], "channel -2"),
                         ([{"path": "a", "channel": "left"}], "channel 'left'")):
            self.assertRaisesRegex(ValueError, why, rows_of_manifest, bad)


if __name__ == "__main__":
    unittest.main()
