# steno tests: steno.faster_whisper. SPDX-License-Identifier: MIT
import array
import ctypes
import dataclasses
import io
import math
import os
import tempfile
import unittest
import unittest.mock
import warnings

import recordings as r
import steno
from steno import faster_whisper
from steno.faster_whisper import BatchedInferencePipeline, WhisperModel, available_models, decode_audio, download_model, format_timestamp
from steno._native import struct_type
from steno.faster_whisper import filters, vad
from steno.faster_whisper.tokenizer import Tokenizer
from steno.faster_whisper.transcribe import Segment, clip_seconds, get_suppressed_tokens, temperature_options


class Door(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = WhisperModel(r.MODEL, device="cpu", compute_type="int16")
        cls.default = steno.Model(r.MODEL, threads=1)

    def test_the_first_example_of_the_readme_runs(self):
        segments, info = self.model.transcribe(r.DEMO, beam_size=5)
        self.assertEqual((info.language, info.language_probability > 0.9, round(info.duration, 2)), ("en", True, 3.72))
        lines = ["[%.2fs -> %.2fs] %s" % (s.start, s.end, s.text) for s in segments]
        self.assertEqual(lines, ["[0.00s -> 1.86s]  zero nine one eight.", "[2.74s -> 3.74s]  two seven."])
        self.assertEqual(info.all_language_probs[0][0], "en")

    def test_texts_equal_the_programs(self):
        for options, arguments in (({}, ()),
                                   ({"beam_size": 1, "temperature": 0.0}, ("--greedy", "--temperature-increment-on-fallback", "0")),
                                   ({"word_timestamps": True}, ("--word-timestamps",)),
                                   ({"without_timestamps": True}, ("--without-timestamps",)),
                                   ({"language": "de", "task": "translate"}, ("--language", "de", "--task", "translate")),
                                   ({"initial_prompt": "one two"}, ("--initial-prompt", "one two")),
                                   ({"hotwords": "nine"}, ("--initial-prompt", "nine", "--carry-initial-prompt")),
                                   ({"clip_timestamps": "1.5,3"}, ("--clip-timestamps", "1.5,3"))):
            segments, _ = self.model.transcribe(r.DEMO, **options)
            expected = r.steno("-m", r.MODEL, "--compute", "int16", "--guards", "off", "-f", "txt", *arguments, r.DEMO)
            self.assertEqual("".join(s.text.strip() + "\n" for s in segments), expected, options)

    def test_each_compute_type_selects_an_arithmetic(self):
        for name, arithmetic in (("default", None), ("auto", None), ("float16", None), ("float32", "f32"), ("bfloat16", "bf16"),
                                 ("int16", "int16"), ("int8", "int8"), ("int8_float32", "int8"), ("int8_float16", "int8"),
                                 ("int8_bfloat16", "int8")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = WhisperModel(r.MODEL, compute_type=name, cpu_threads=1)
            self.assertEqual([str(w.message).split(":")[0] for w in caught],
                             [f"compute_type {name}"] if name.endswith("_float16") or name == "float16" else [])
            self.assertEqual(model._steno.info.compute, arithmetic or self.default.info.compute, name)
            self.assertEqual(model.model.compute_type, name)
        for name in ("int4", "FLOAT32", "", "f32"):
            with self.assertRaisesRegex(ValueError, f"^Invalid compute type: {name};"):
                WhisperModel(r.MODEL, compute_type=name)

    def test_segments_are_lazy_and_numbered_from_1(self):
        segments, _ = self.model.transcribe(r.long_floats(40))
        self.assertIs(iter(segments), segments)
        first = next(segments)
        self.assertEqual((type(first), first.id, first.words), (Segment, 1, None))
        segments.close()
        words = next(self.model.transcribe(r.DEMO, word_timestamps=True)[0]).words
        self.assertEqual("".join(w.word for w in words), " zero nine one eight.")
        self.assertEqual(list(dataclasses.asdict(words[0])), ["start", "end", "word", "probability"])

    def test_the_batched_pipeline_gives_the_text_of_each_clip(self):
        batched = BatchedInferencePipeline(model=self.model)
        segments, info = batched.transcribe(r.DEMO, batch_size=16, vad_filter=False)
        self.assertEqual([(s.id, s.text) for s in segments], [(1, " zero nine one eight. two seven.")])
        clips = [{"start": 0.0, "end": 2.2}, {"start": 2.2, "end": 3.7}]
        for size in (1, 2):
            segments, info = batched.transcribe(r.DEMO, batch_size=size, clip_timestamps=clips, word_timestamps=True)
            segments = list(segments)
            self.assertEqual([s.text.strip() for s in segments], ["zero nine one eight.", "two seven."])
            self.assertTrue(2.2 <= segments[1].words[0].start <= segments[1].end <= 3.8, segments)
            self.assertAlmostEqual(info.duration_after_vad, 3.7)
        with self.assertRaisesRegex(RuntimeError, "vad_filter"):
            batched.transcribe(r.long_floats(40), vad_filter=False)

    def test_an_option_that_steno_does_not_have_is_refused_by_name(self):
        for options, name in (({"repetition_penalty": 0}, "repetition_penalty"), ({"no_repeat_ngram_size": -1}, "no_repeat_ngram_size"),
                              ({"prompt_reset_on_temperature": -1}, "prompt_reset_on_temperature"), ({"chunk_length": 15}, "chunk_length"),
                              ({"length_penalty": 0.5}, "length_penalty"), ({"temperature": [0, 0.5, 0.2]}, "temperature"),
                              ({"language": "xx"}, "xx")):
            with self.assertRaisesRegex(ValueError, name):
                self.model.transcribe(r.DEMO, **options)
        for options, name in (({"device": "cuda"}, "device"), ({"compute_type": "int4"}, "compute_type"), ({"files": {"a": b""}}, "files"),
                              ({"flash_attention": True}, "flash_attention"), ({"device_index": 1}, "device_index")):
            with self.assertRaisesRegex(ValueError, name):
                WhisperModel(r.MODEL, **options)
        with self.assertRaisesRegex(ValueError, "revision"):
            WhisperModel("base", revision="main")
        with self.assertRaisesRegex(ValueError, "Invalid model size 'huge'"):
            WhisperModel("huge")

    def test_ngrams_do_not_repeat(self):
        segments, _ = self.model.transcribe(array.array("f", r.floats() * 2), no_repeat_ngram_size=2, temperature=0.0)
        windows = {}
        for s in segments:
            windows.setdefault(s.seek, []).extend(s.tokens)
        for tokens in windows.values():
            pairs = list(zip(tokens, tokens[1:]))
            self.assertEqual(len(set(pairs)), len(pairs), tokens)
        plain, _ = self.model.transcribe(array.array("f", r.floats() * 2), temperature=0.0)
        self.assertNotEqual([t for s in plain for t in s.tokens], [t for tokens in windows.values() for t in tokens])

    def test_a_repetition_penalty_changes_the_probabilities(self):
        plain, _ = self.model.transcribe(r.DEMO, temperature=0.0)
        held, _ = self.model.transcribe(r.DEMO, temperature=0.0, repetition_penalty=1.2)
        self.assertNotEqual(next(iter(plain)).avg_logprob, next(iter(held)).avg_logprob)

    def test_a_prefix_begins_the_first_window_alone(self):
        audio = array.array("f", r.floats() * 12)
        texts = [s.text for s in self.model.transcribe(audio, prefix="five", condition_on_previous_text=False)[0]]
        self.assertTrue(texts[0].startswith(" five"), texts)
        self.assertEqual([t for t in texts[1:] if "five" in t], [])
        (one,) = self.model.transcribe(r.DEMO, prefix='zero (nine) "', without_timestamps=True)[0]
        self.assertTrue(one.text.startswith(' zero (nine) "'), one.text) # brackets are suppressed elsewhere
        parts, _ = BatchedInferencePipeline(self.model).transcribe(r.DEMO, prefix="five", vad_filter=False)
        self.assertTrue(next(iter(parts)).text.startswith(" five"))

    def test_a_prefix_counts_as_if_its_tokens_had_been_chosen(self):
        """The library's filter gives the results of the same filter in Python."""
        def in_python(forced, banned):
            step = struct_type("steno_step")

            def choose(user, at, logits, tokens, n):
                here = step.from_address(at)
                row = (ctypes.c_float * here.n_vocab).from_address(logits)
                if here.at_ms == 0 and n < len(forced):
                    row[:] = [-math.inf] * here.n_vocab
                    row[forced[n]] = 0.0
                else:
                    for token in banned:
                        row[token] = -math.inf
            kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int32)
            return kind(choose), ctypes.c_int(0)

        for prefix in ("five", 'zero (nine) "', "nine " * 30):
            for options in ({"beam_size": 1, "temperature": 0.0}, {"without_timestamps": True, "temperature": 0.0}, {"temperature": 0.5},
                            {"repetition_penalty": 1.2, "temperature": 0.0}, {"word_timestamps": True}, {"best_of": 2, "temperature": [0.0, 0.8]}):
                own = list(self.model.transcribe(r.DEMO, prefix=prefix, **options)[0])
                with unittest.mock.patch.object(filters, "prefix_filter", in_python):
                    self.assertEqual(own, list(self.model.transcribe(r.DEMO, prefix=prefix, **options)[0]), (prefix, options))
                tokens = Tokenizer(self.model.hf_tokenizer, False).encode(" " + prefix.strip())
                begun = own[0].tokens if options.get("without_timestamps") else own[0].tokens[1:]
                self.assertEqual(begun[:min(len(tokens), len(begun))], tokens[:len(begun)], "the tokens of the prefix are in the result")

    def test_tokens_have_the_numbers_of_the_model(self):
        words = self.model.hf_tokenizer
        t = Tokenizer(words, True, "translate", "de")
        own = self.model._steno
        self.assertEqual(t.sot_sequence, [own.token_id("start"), own.token_id("language") + 2, own.token_id("translate")])
        self.assertEqual((t.eot, t.timestamp_begin, t.no_timestamps, t.no_speech, t.sot_prev, t.sot_lm),
                         tuple(map(own.token_id, ("end", "timestamp", "no_timestamps", "no_speech", "previous", "start_lm"))))
        self.assertEqual(words.token_to_id("<|1.08|>"), t.timestamp_begin + 54)
        self.assertEqual((words.token_to_id("<|31.00|>"), words.token_to_id("<|xx|>")), (None, None))
        tokens = t.encode(" l'\u00e9crit oire")
        self.assertEqual(t.decode([t.sot, *tokens, t.timestamp_begin]), " l'\u00e9crit oire")
        self.assertEqual(t.decode_with_timestamps([*tokens, t.timestamp_begin + 54])[-8:], "<|1.08|>")
        self.assertEqual("".join(t.split_to_word_tokens(tokens)[0]), " l'\u00e9crit oire")
        self.assertEqual(t.split_to_word_tokens(t.encode(" zero nine"))[0], [" zero", " nine"])
        half = t.encode("\u30c3")
        if len(half) > 1: # incomplete bytes are a word at the end only
            self.assertEqual(t.split_tokens_on_unicode(half), (["\u30c3"], [half]))
            self.assertEqual(t.split_tokens_on_unicode(half[:1]), (["\ufffd"], [half[:1]]))
        suppressed = get_suppressed_tokens(t, [-1])
        self.assertTrue(set(t.encode("(")) < set(suppressed))
        self.assertEqual(get_suppressed_tokens(t, [13])[0], 13)
        for task, language in (("sing", "en"), ("translate", "xx")):
            self.assertRaises(ValueError, Tokenizer, words, True, task, language)

    def test_a_downloaded_folder_opens(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(r.MODEL, os.path.join(folder, "a.bin"))
            again = os.path.join(folder, "again")
            self.assertEqual(download_model(os.path.join(folder, "a.bin"), output_dir=again), again)
            self.assertFalse(os.path.islink(os.path.join(again, "a.bin")))
            self.assertEqual(WhisperModel(again).model_path, os.path.join(again, "a.bin"))

    def test_temperatures_of_attempts_rise(self):
        self.assertEqual(temperature_options([0.0]), {"temperature": 0.0, "temperature_increment_on_fallback": None})
        self.assertEqual(temperature_options([0, 0.3, 1]), {"temperature": 0.0, "fallback_temperatures": [0.3, 1]})
        for bad in ([], [0.4, 0.2], [0, 0.2, 0.2]):
            self.assertRaises(ValueError, temperature_options, bad)

    def test_uneven_temperatures_are_those_of_the_attempts(self):
        for steps in ([0.0, 0.3], [0.1, 0.15, 0.7], [0, 0.25, 1.5]): # no attempt reaches a log-probability of 0, and the last is kept
            segments, info = self.model.transcribe(r.DEMO, temperature=steps, log_prob_threshold=0.0, no_speech_threshold=None)
            self.assertEqual({s.temperature for s in segments}, {steps[-1]})
            self.assertEqual(info.transcription_options.temperatures, steps)

    def test_a_temperature_resets_the_prompt(self):
        def texts(**options):
            segments, _ = self.model.transcribe(array.array("f", r.floats() * 12), temperature=0.4, best_of=1, **options)
            return [(s.text, s.avg_logprob) for s in segments]
        alone = texts(condition_on_previous_text=False)
        self.assertNotEqual(texts(), alone)
        self.assertEqual(texts(prompt_reset_on_temperature=0.3), alone)
        self.assertEqual(texts(prompt_reset_on_temperature=0.4), texts())
        self.assertEqual(texts(condition_on_previous_text=False, prompt_reset_on_temperature=0.3), alone)

    def test_audio_is_decoded_as_a_whole_or_by_channel(self):
        whole = decode_audio(r.DEMO)
        self.assertEqual(list(whole), list(r.floats()))
        with open(r.DEMO, "rb") as f:
            self.assertEqual(list(decode_audio(io.BytesIO(f.read()))), list(whole))
        left, right = decode_audio(r.DEMO, split_stereo=True)
        self.assertEqual((list(left), list(right)), (list(whole), list(whole)))
        self.assertRaises(ValueError, decode_audio, r.DEMO, sampling_rate=8000)

    def test_language_detection_has_three_parts(self):
        code, p, probs = self.model.detect_language(decode_audio(r.DEMO))
        self.assertEqual((code, probs[0], len(probs)), ("en", ("en", p), len(self.model.supported_languages)))
        self.assertEqual(self.model.detect_language(decode_audio(r.DEMO), language_detection_segments=2)[0], "en")

    def test_chunks_without_pauses_keep_their_times(self):
        samples = r.long_floats(8)[:8 * 16000]
        chunks = [{"start": 0, "end": 16000}, {"start": 48000, "end": 96000}, {"start": 112000, "end": 128000}]
        parts, about = vad.collect_chunks(samples, chunks)
        self.assertEqual((len(parts), len(parts[0]), about[0]["segments"]), (1, 80000, chunks))
        parts, about = vad.collect_chunks(samples, chunks, max_duration=4)
        self.assertEqual([len(p) for p in parts], [64000, 16000])
        self.assertEqual([a["offset"] for a in about], [0, 4])
        times = vad.SpeechTimestampsMap(chunks, 16000)
        self.assertEqual([times.get_original_time(t) for t in (0.5, 1.5, 4.5)], [0.5, 3.5, 7.5])
        self.assertEqual([times.get_original_time(t, is_end=True) for t in (1.0, 4.0, 5.0)], [1.0, 6.0, 8.0])

    def test_small_functions(self):
        self.assertEqual(len(available_models()), 19)
        self.assertEqual(format_timestamp(3661.5), "01:01:01.500")
        self.assertEqual(format_timestamp(61.5, decimal_marker=","), "01:01,500")
        self.assertEqual(format_timestamp(0, always_include_hours=True), "00:00:00.000")
        self.assertEqual(clip_seconds("0"), [])
        with tempfile.TemporaryDirectory() as folder:
            copy = download_model(r.MODEL, output_dir=folder)
            self.assertEqual(copy, folder)
        self.assertEqual(faster_whisper.utils.own_name("Systran/faster-distil-whisper-small.en"), "distil-small.en")
        self.assertEqual(faster_whisper.utils.own_name("mobiuslabsgmbh/faster-whisper-large-v3-turbo"), "large-v3-turbo")


class Folders(unittest.TestCase):
    """Folders of CTranslate2, as faster-whisper downloads them."""
    folder = os.path.join(os.environ.get("STENO_SHARED", ""), "material/ct2/digits-int8_float16")

    def setUp(self):
        if not os.path.exists(self.folder):
            self.skipTest("STENO_SHARED does not name models of CTranslate2")

    def assert_reads(self, name, **options):
        segments, about = WhisperModel(name, cpu_threads=1, **options).transcribe(r.DEMO, word_timestamps=True)
        segments = list(segments)
        self.assertEqual([s.text for s in segments], [" zero nine one eight.", " two seven."])
        self.assertEqual(about.language, "en")
        self.assertEqual(segments[0].words[0].word, " zero")

    def test_a_folder_is_a_model(self):
        self.assert_reads(self.folder)
        self.assert_reads(self.folder, compute_type="int8")

    def test_a_repository_in_the_cache_is_found_by_its_name(self):
        with tempfile.TemporaryDirectory() as cache:
            repo = os.path.join(cache, "models--Systran--faster-whisper-base")
            os.makedirs(repo + "/refs")
            os.makedirs(repo + "/snapshots")
            commit = "0123456789abcdef0123456789abcdef01234567"
            with open(repo + "/refs/main", "w") as f:
                f.write(commit)
            os.symlink(self.folder, repo + "/snapshots/" + commit)
            for name in ("Systran/faster-whisper-base", "base"):
                self.assert_reads(name, download_root=cache, local_files_only=True)


class Pauses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        detector = os.path.join(os.environ.get("STENO_SHARED", ""), "material/funasr/silero/ggml-silero-v6.2.0.bin")
        if not os.path.exists(detector):
            raise unittest.SkipTest("STENO_SHARED does not name a model of Silero VAD")
        vad._models["silero"] = steno.Model(detector, threads=1)
        cls.model = WhisperModel(r.MODEL, compute_type="int16")
        cls.options = {"min_silence_duration_ms": 200, "speech_pad_ms": 50}

    def test_speech_is_found_and_times_are_those_of_the_audio(self):
        for model, more in ((self.model, {"vad_filter": True}), (BatchedInferencePipeline(self.model), {"chunk_length": 5})):
            segments, info = model.transcribe(r.DEMO, vad_parameters=dict(self.options), **more)
            segments = list(segments)
            self.assertEqual("".join(s.text for s in segments), " zero nine one eight two seven.")
            self.assertEqual((info.language, round(info.duration, 2)), ("en", 3.72))
            self.assertTrue(2 < info.duration_after_vad < 3.5 < segments[-1].end < 3.8, (segments, info))

    def test_audio_without_speech_has_no_segments(self):
        silence = array.array("f", bytes(4 * 32000))
        for model in (self.model, BatchedInferencePipeline(self.model)):
            segments, info = model.transcribe(silence, vad_filter=True)
            self.assertEqual((list(segments), info.duration, info.duration_after_vad), ([], 2, 0))

    def test_the_language_of_a_batch_is_found_in_as_many_windows_as_given(self):
        calls = []
        options = {"language_detection_segments": 2, "language_detection_threshold": 0.9}

        def detect_language(audio, **given):
            calls.append((len(audio), given))
            return "en", 1.0, []
        with unittest.mock.patch.object(self.model, "detect_language", detect_language):
            BatchedInferencePipeline(self.model).transcribe(
                r.long_floats(40), clip_timestamps=[{"start": 0, "end": 25}, {"start": 25, "end": 38}], **options)
        self.assertEqual(calls, [(38 * 16000, options)])


if __name__ == "__main__":
    unittest.main()
