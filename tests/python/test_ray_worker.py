# steno tests: the worker of steno.ray, and its folder of results, without Ray. SPDX-License-Identifier: MIT
import array
import glob
import json
import os
import shutil
import tempfile
import threading
import unittest
import wave
from unittest import mock

import recordings as r

from steno import AudioError, Model
from steno.ray import Store, Transcribe, failed_row, job_of, joined, row_of, rows_of_manifest, transcribe


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
            asked = {"a": row_of("a")}
            for rows in ([failed_row("a", "lost")], split, split):
                store.write(rows, asked)
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

    def test_a_folder_has_results_of_one_job(self):
        lines = [{"id": "a", "path": r.DEMO, "language": "en"}, {"id": "b", "path": r.PHRASES, "language": "zh"}]
        columns = {name: [line[name] for line in lines] for name in ("id", "path", "language")}
        other = r.LM # of another family; it is compared before it is used
        with tempfile.TemporaryDirectory() as output:
            Transcribe(r.MODEL, threads=1, output=output, options={"beam_size": 2}, channels="split")(columns)
            files = len(glob.glob(output + "/*.jsonl"))
            given = {"beam_size": 2, "channels": "split"}
            self.assertEqual(transcribe(lines, output, r.MODEL, cpus=2, workers=3, batch_size=5, retries=1, rows_per_task=1, **given),
                             {"inputs": 2, "skipped": 2, "done": 0, "failed": 0})
            for model, options, why in (
                    (r.MODEL, {**given, "channels": "mix"}, "channels is 'split' there, 'mix' here"),
                    (r.MODEL, {"beam_size": 2}, "channels is 'split' there, 'mix' here"),
                    (r.MODEL, {**given, "audio_track": 1}, "audio_track is 'auto' there, 1 here"),
                    (r.MODEL, {**given, "beam_size": 3}, "options is {'beam_size': 2} there, {'beam_size': 3} here"),
                    (r.MODEL, {"channels": "split"}, "options is"), (other, given, "model is")):
                self.assertRaisesRegex(ValueError, why, transcribe, lines, output, model, **options)
                audio = {name: options[name] for name in ("channels", "audio_track") if name in options}
                own = {name: value for name, value in options.items() if name not in audio}
                self.assertRaisesRegex(ValueError, why, Transcribe, model, threads=1, output=output, options=own, **audio)
            for name, value in (("language", "zh"), ("initial_prompt", "x"), ("channel", 0), ("path", r.PHRASES)):
                changed = [{**lines[0], name: value}, lines[1]]
                self.assertRaisesRegex(ValueError, "result of 'a' with another " + name, transcribe, changed, output, r.MODEL, **given)
            self.assertEqual(len(glob.glob(output + "/*.jsonl")), files)
            self.assertEqual(glob.glob(output + "/*.part"), [])
            os.remove(os.path.join(output, "job.json"))
            self.assertRaisesRegex(ValueError, "no job.json", transcribe, lines, output, r.MODEL, **given)

    def test_options_are_compared_as_they_are_stored(self):
        options = {"temperature": float("nan"), "clip_timestamps": array.array("d", [0, 0.5]), "beam_size": 2}
        with tempfile.TemporaryDirectory() as output:
            for _ in range(2):
                Transcribe(r.MODEL, threads=1, output=output, options=options)
            self.assertRaisesRegex(ValueError, "clip_timestamps", Transcribe, r.MODEL, threads=1, output=output,
                                   options={**options, "clip_timestamps": array.array("d", [0, 1])})

    def test_options_are_models_lists_and_numbers(self):
        with tempfile.TemporaryDirectory() as folder, Model(r.LM) as lm, Model(r.MODEL, index_only=1) as model:
            def stated(**options):
                return job_of(model, options, "auto", "mix")["options"]
            copy = os.path.join(folder, "copy.gguf")
            shutil.copy(r.LM, copy)
            with Model(copy, threads=2) as same, Model(copy, index_only=1) as described:
                self.assertEqual(stated(punctuation=lm), stated(punctuation=same))
                self.assertNotEqual(stated(punctuation=lm), stated(punctuation=described)) # its options differ
            self.assertNotEqual(stated(punctuation=lm), stated(punctuation=model))
            self.assertEqual(stated(clip_timestamps=range(2), stop=("a", "b"), prompt_tokens={3, 1}, vad={"threshold": 0.5}),
                             {"clip_timestamps": [0, 1], "stop": ["a", "b"], "prompt_tokens": [1, 3], "vad": {"threshold": 0.5}})
            for bad in (object(), iter([1.0]), print, {(0, 1): 1}, {"a", 1}):
                self.assertRaisesRegex(TypeError, "option clip_timestamps", stated, beam_size=2, clip_timestamps=bad)
            Transcribe(r.MODEL, threads=1, output=os.path.join(folder, "out"), options={"punctuation": lm})

    def test_text_of_a_recording_that_is_gone_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            here = os.getcwd()
            self.addCleanup(os.chdir, here)
            os.chdir(folder)
            shutil.copy(r.DEMO, "a.wav")
            path = os.path.abspath("a.wav")
            Transcribe(r.MODEL, threads=1, output="out", options={"language": "en"})({"id": ["a.wav"], "path": [path]})
            for _ in range(2):
                self.assertEqual(transcribe(["a.wav"], "out", os.path.join(here, r.MODEL), language="en")["skipped"], 1)
                if os.path.exists("a.wav"):
                    os.remove("a.wav")

    def test_processes_of_other_users_can_read(self):
        was = os.umask(0o027)
        self.addCleanup(os.umask, was)
        with tempfile.TemporaryDirectory() as output:
            Transcribe(r.MODEL, threads=1, output=output)({"id": ["a"], "path": [r.DEMO]})
            names = glob.glob(output + "/*.json*")
            self.assertEqual([os.stat(name).st_mode & 0o777 for name in names], [0o640] * 2)

    def test_workers_claim_a_folder_together(self):
        job = {"version": "1", "options": {}}
        for links in (True, False):
            with tempfile.TemporaryDirectory() as output, mock.patch("os.link", os.link if links else mock.Mock(side_effect=PermissionError)):
                failures = []

                def worker(i):
                    store = Store(output)
                    try:
                        store.claim(job if i else {**job, "options": {"beam_size": 2}})
                        store.write([failed_row("a", "lost")], {"a": row_of("a")})
                    except Exception as e:
                        failures.append((i, e))
                threads = [threading.Thread(target=worker, args=(i,)) for i in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                first = {0} if 0 not in [i for i, _ in failures] else set(range(1, 8))
                self.assertEqual({i for i, _ in failures}, set(range(8)) - first, failures)
                self.assertTrue(all("results of another job" in str(e) for _, e in failures), failures)
                self.assertEqual(glob.glob(output + "/*.part"), [])

    def test_a_claim_between_two_looks_is_no_error(self):
        job = {"version": "1"}
        with tempfile.TemporaryDirectory() as output:
            class Slow(Store): # another worker is faster
                def read(self):
                    if not os.path.exists(os.path.join(output, "job.json")):
                        other = Store(output)
                        other.claim(job)
                        other.write([failed_row("a", "lost")], {"a": row_of("a")})
                    return super().read()
            Slow(output).claim(job)
            with open(os.path.join(output, "job.json"), "w") as f:
                f.write('{"version')
            with mock.patch("steno.ray.PATIENCE", 0.1):
                self.assertRaisesRegex(ValueError, "job.json is not whole", Store(output).claim, job)

    def test_results_of_no_folder_are_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = os.path.join(folder, "typo")
            self.assertRaises(FileNotFoundError, lambda: list(joined(missing, ["a"])))
            self.assertFalse(os.path.exists(missing))

    def test_a_model_names_its_files(self):
        for path in (r.MODEL, r.LM):
            with Model(path, index_only=1) as described, Model(path) as model:
                self.assertEqual(described.files, model.files)
                self.assertIn(path, model.files)

    def test_a_manifest_is_checked(self):
        self.assertEqual(row_of("x.wav"), {"id": "x.wav", "path": "x.wav", "channel": -1, "language": "", "initial_prompt": ""})
        self.assertEqual(row_of({"audio_filepath": "x.wav", "id": "1", "language": None})["language"], "")
        self.assertEqual([row_of({"path": "a", "channel": c})["channel"] for c in (None, float("nan"), 1.0, 0)], [-1, -1, 1, 0])
        for bad, why in (([{"id": "1"}], "none of path"), (["a", "a"], "occurs twice"), ([{"path": "a", "offset": 1}], "offset"),
                         ([{"path": "a", "channel": 0.5}], "channel 0.5"), ([{"path": "a", "channel": -2}], "channel -2"),
                         ([{"path": "a", "channel": "left"}], "channel 'left'")):
            self.assertRaisesRegex(ValueError, why, rows_of_manifest, bad)
        url = "https://me:secret@example.com/a.wav?sig=secret"
        for bad, why in ((url, "^an input: a URL .https://"), ({"path": url, "channel": "left"}, "^an input: a URL"),
                         ({"id": "call", "audio_filepath": url}, "^call: a URL"), ({"url": url}, "none of path")):
            with self.assertRaisesRegex(ValueError, why) as caught:
                rows_of_manifest(["b.wav", bad])
            self.assertNotIn("secret", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
