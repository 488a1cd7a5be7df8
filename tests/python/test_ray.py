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

from steno.ray import Transcribe, joined, transcribe # noqa: E402

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
        """Rows with and without a number of channels, in blocks of one, by paths that the workers' folder does not have."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        shutil.copy(r.MODEL, "model.bin")
        output = "split"
        rows = [{**row, "path": os.path.relpath(row["path"])} for row in rows]
        rows = [*rows, {**rows[0], "id": "chosen", "channel": 0}]
        summary = transcribe(rows, output, "model.bin", cpus=1, workers=1, rows_per_task=1, channels="split")
        self.assertEqual(summary, {"inputs": 4, "skipped": 0, "done": 4, "failed": 0})
        self.assertEqual([(row["id"], row["channel"], row["channels"]) for row in joined(output, rows)],
                         [*((row["id"], 0, 1) for row in rows[:3]), ("chosen", 0, None)])


if __name__ == "__main__":
    unittest.main()
