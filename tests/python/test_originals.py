# steno tests: the doors have the signatures, fields and files of the packages whose interfaces they are. SPDX-License-Identifier: MIT
import dataclasses
import inspect
import os
import random
import tempfile
import unittest

import recordings as r

theirs = r.need("faster_whisper")
import steno.faster_whisper as ours
import steno.faster_whisper.transcribe as our_transcribe
import steno.faster_whisper.vad as our_vad
import steno.whisper as our_whisper


def files_of(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            out[name] = f.read()
    return out


def rows(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


class FasterWhisper(unittest.TestCase):
    def test_signatures_are_equal(self):
        for a, b in ((ours.WhisperModel.__init__, theirs.WhisperModel.__init__), (ours.WhisperModel.transcribe, theirs.WhisperModel.transcribe),
                     (ours.WhisperModel.detect_language, theirs.WhisperModel.detect_language),
                     (ours.BatchedInferencePipeline.__init__, theirs.BatchedInferencePipeline.__init__),
                     (ours.BatchedInferencePipeline.transcribe, theirs.BatchedInferencePipeline.transcribe),
                     (ours.decode_audio, theirs.decode_audio), (ours.download_model, theirs.download_model),
                     (ours.available_models, theirs.available_models), (ours.format_timestamp, theirs.format_timestamp)):
            self.assertEqual(rows(a), rows(b), a.__qualname__)
        self.assertEqual(set(ours.__all__), set(theirs.__all__))

    def test_fields_are_equal(self):
        import faster_whisper.transcribe as their_transcribe
        import faster_whisper.vad as their_vad
        for name, a, b in (*((n, our_transcribe, their_transcribe) for n in ("Word", "Segment", "TranscriptionInfo", "TranscriptionOptions")),
                           ("VadOptions", our_vad, their_vad)):
            fields = [[(f.name, f.default) for f in dataclasses.fields(getattr(m, name))] for m in (a, b)]
            self.assertEqual(fields[0], fields[1], name)

    def test_small_functions_are_equal(self):
        self.assertEqual(ours.available_models(), theirs.available_models())
        random.seed(1)
        for _ in range(300):
            arguments = random.uniform(0, 9000), random.random() < 0.5, random.choice(".,")
            self.assertEqual(ours.format_timestamp(*arguments), theirs.format_timestamp(*arguments))

    def test_results_with_a_prefix_are_equal(self):
        folder = os.path.join(os.environ.get("STENO_SHARED", ""), "material/ct2/digits-int8_float16")
        if not os.path.exists(folder):
            self.skipTest("STENO_SHARED does not name models of CTranslate2")
        a, b = (m.WhisperModel(folder, device="cpu", compute_type="float32", cpu_threads=1) for m in (ours, theirs))
        for prefix in ("five", "zero nine one", 'zero (nine) "', "nine " * 20):
            for options in ({}, {"beam_size": 1}, {"without_timestamps": True}, {"word_timestamps": True}):
                rows = []
                for model in (a, b):
                    segments, _ = model.transcribe(r.DEMO, language="en", temperature=0.0, condition_on_previous_text=False, prefix=prefix,
                                                   **options)
                    rows.append([(s.text, round(s.start, 2), round(s.end, 2), list(s.tokens), round(s.avg_logprob, 3),
                                  round(s.compression_ratio, 4), s.temperature) for s in segments])
                self.assertEqual(*rows, (prefix, options))

    def test_samples_are_equal(self):
        for name in ("demo.wav", "audio/fr.flac", "audio/zh_phrases.wav"):
            path = os.path.join(r.SOURCE, "tests/data", name)
            a, b = ours.decode_audio(path), theirs.decode_audio(path)
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            self.assertLessEqual(abs(a - b).max(), 2 / 32768, name)

    def test_chunks_and_times_are_equal(self):
        import faster_whisper.vad as their_vad
        import numpy
        audio = numpy.arange(40 * 16000, dtype=numpy.float32)
        random.seed(2)
        for _ in range(50):
            edges = sorted(random.sample(range(len(audio)), 12))
            chunks = [{"start": edges[i], "end": edges[i + 1]} for i in range(0, 12, 2)]
            for most in (float("inf"), 10):
                a, b = our_vad.collect_chunks(audio, chunks, 16000, most), their_vad.collect_chunks(audio, chunks, 16000, most)
                self.assertEqual([x.tolist() for x in a[0]], [x.tolist() for x in b[0] if len(x)])
                self.assertEqual([(x["offset"], x["duration"]) for x in a[1]], [(x["offset"], x["duration"]) for x in b[1] if x["duration"]])
            a, b = our_vad.SpeechTimestampsMap(chunks, 16000), their_vad.SpeechTimestampsMap(chunks, 16000)
            for _ in range(20):
                t = random.uniform(0, sum(c["end"] - c["start"] for c in chunks) / 16000)
                self.assertEqual((a.get_original_time(t), a.get_chunk_index(t)), (b.get_original_time(t), b.get_chunk_index(t)))


class Whisper(unittest.TestCase):
    def setUp(self):
        try:
            import whisper
        except ImportError:
            self.skipTest("no package openai-whisper")
        self.theirs = whisper

    def test_signatures_are_equal(self):
        import whisper.utils
        import whisper.audio
        for a, b in ((our_whisper.load_model, self.theirs.load_model), (our_whisper.available_models, self.theirs.available_models),
                     (our_whisper.transcribe, self.theirs.transcribe), (our_whisper.load_audio, whisper.audio.load_audio),
                     (our_whisper.pad_or_trim, whisper.audio.pad_or_trim),
                     (our_whisper.get_writer, whisper.utils.get_writer), (our_whisper.format_timestamp, whisper.utils.format_timestamp)):
            self.assertEqual(rows(a), rows(b), a.__qualname__)
        self.assertEqual(our_whisper.available_models(), self.theirs.available_models())
        self.assertEqual(set(our_whisper.DECODE), {f.name for f in dataclasses.fields(self.theirs.DecodingOptions)} - {"temperature"})
        self.assertEqual([f.name for f in dataclasses.fields(our_whisper.ModelDimensions)],
                         [f.name for f in dataclasses.fields(self.theirs.model.ModelDimensions)])

    def test_written_files_are_equal(self):
        import whisper.utils
        random.seed(3)
        for case in range(120):
            segments, at = [], 0.0
            for i in range(random.randrange(0, 6)):
                words = []
                for _ in range(random.randrange(0 if case % 3 else 1, 9)):
                    at += random.choice((0, 0, 0.2, 4.0))
                    word = random.choice((" one", " twenty-two", "a", " --> b", " x\ty", "。", " longer_than_a_line_may_be"))
                    words.append({"word": word, "start": round(at, 2), "end": round(at + 0.3, 2), "probability": 0.5})
                    at += 0.3
                start, end = (words[0]["start"], words[-1]["end"]) if words else (at, at)
                segments.append({"id": i, "start": start, "end": end, "text": "".join(w["word"] for w in words),
                                 **({"words": words} if case % 3 else {})})
            result = {"text": "".join(s["text"] for s in segments), "segments": segments, "language": "en"}
            options = {"max_line_width": random.choice((None, 5, 12)), "max_line_count": random.choice((None, 1, 2)),
                       "highlight_words": random.random() < 0.3, "max_words_per_line": random.choice((None, 2))}
            written = []
            for get_writer in (our_whisper.get_writer, whisper.utils.get_writer):
                with tempfile.TemporaryDirectory() as folder:
                    get_writer("all", folder)(result, "a/b.c.wav", dict(options))
                    written.append(files_of(folder))
            self.assertEqual(written[0], written[1], (options, segments))

    def test_padding_is_equal(self):
        import numpy
        for shape, length, axis in (((10,), 4, -1), ((10,), 12, -1), ((3, 8), 5, 0), ((3, 8), 9, 1)):
            a = numpy.arange(numpy.prod(shape), dtype=numpy.float32).reshape(shape)
            self.assertTrue((our_whisper.pad_or_trim(a, length, axis=axis) == self.theirs.pad_or_trim(a, length, axis=axis)).all())


if __name__ == "__main__":
    unittest.main()
