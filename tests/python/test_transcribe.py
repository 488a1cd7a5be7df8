# steno tests: transcriptions from Python equal the program's. SPDX-License-Identifier: MIT
import array
import asyncio
import io
import json
import pickle
import tempfile
import unittest

import recordings as r
import steno


class Transcribe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = steno.Model(r.MODEL)
        cls.text = r.steno("-m", r.MODEL, "-f", "txt", r.DEMO)

    def test_text_and_files_equal_the_programs_to_the_byte(self):
        for formats, options, arguments in (
                (("txt", "srt", "vtt", "tsv"), {}, ()),
                (("srt", "vtt"), {"word_timestamps": True}, ("--word-timestamps",)),
                (("txt", "srt"), {"beam_size": 0, "best_of": 0},
                 ("--greedy",)),
                (("txt",), {"temperature": 0.6, "seed": 7}, ("--temperature", "0.6", "--seed", "7")),
                (("txt", "tsv"), {"language": "de", "task": "translate"}, ("--language", "de", "--task", "translate"))):
            result = self.model.transcribe(r.DEMO, formats=formats, **options).result()
            for form in formats:
                self.assertEqual(result.outputs[form], r.steno("-m", r.MODEL, "-f", form, *arguments, r.DEMO), (form, options))

    def test_json_of_the_program_has_the_same_figures(self):
        run = self.model.transcribe(r.DEMO)
        expected = json.loads(r.steno("-m", r.MODEL, "-f", "json", r.DEMO))
        segments = list(run)
        self.assertEqual(len(segments), len(expected["segments"]))
        for s, e in zip(segments, expected["segments"]):
            self.assertEqual((s.id, s.start, s.end, s.text, s.tokens), (e["id"], e["start"], e["end"], e["text"], e["tokens"]))
            self.assertEqual((s.avg_logprob, s.no_speech_prob, s.compression_ratio, s.temperature),
                             (e["avg_logprob"], e["no_speech_prob"], e["compression_ratio"], e["temperature"]))
        self.assertEqual(run.language, expected["language"])

    def test_word_times_of_an_aligner_are_the_programs(self):
        aligner = steno.Model(r.SOURCE + "/tests/data/qwen3_aligner")
        expected = json.loads(r.steno("-m", r.MODEL, "--align-model", r.SOURCE + "/tests/data/qwen3_aligner", "-f", "json", r.DEMO))
        with open(r.DEMO, "rb") as f:
            data = f.read()
            f.seek(0)
            results = [self.model.transcribe(audio, aligner=aligner).result() for audio in (r.DEMO, f, io.BytesIO(data), data, r.floats())]
        results += self.model.transcribe_many([r.DEMO, r.DEMO], aligner=aligner)
        for result in results:
            self.assertEqual([[(w.word, w.start, w.end) for w in s.words] for s in result.segments],
                             [[(w["word"], w["start"], w["end"]) for w in s["words"]] for s in expected["segments"]])
            self.assertEqual([(s.start, s.end) for s in result.segments], [(s["start"], s["end"]) for s in expected["segments"]])
        self.assertTrue(expected["segments"][0]["words"])

    def test_the_head_of_a_hybrid_is_an_option_of_the_model(self):
        folder = r.shared("material/parakeet")
        hybrid, audio = folder + "/nemo/parakeet-digits-tdt_ctc.nemo", folder + "/audio/long.wav"
        texts = [steno.Model(hybrid, decoder_type=head).transcribe(audio).result().text for head in ("auto", "tdt", "ctc")]
        expected = [r.steno("-m", hybrid, "--decoder-type", head, audio) for head in ("auto", "tdt", "ctc")]
        self.assertEqual([t.split() for t in texts], [t.split() for t in expected])
        self.assertEqual((len(set(texts)), texts[0]), (2, texts[1]))
        with self.assertRaisesRegex(steno.Error, "decoder_type is rnnt, and .* decodes with tdt or ctc"):
            steno.Model(hybrid, decoder_type="rnnt")

    def test_hot_words_and_beams_of_parakeet_are_those_of_the_program(self):
        folder = r.shared("material/parakeet")
        hybrid, audio = folder + "/nemo/parakeet-digits-tdt_ctc.nemo", folder + "/audio/long.wav"
        for head, options in (("tdt", {"hotwords": "seven"}), ("ctc", {"hotwords": "two", "hotwords_boost": 6, "beam_size": 4})):
            arguments = [text for name, value in options.items() for text in ("--" + name.replace("_", "-"), str(value))]
            model = steno.Model(hybrid, decoder_type=head)
            text = model.transcribe(audio, **options).result().text
            self.assertEqual(text.split(), r.steno("-m", hybrid, "--decoder-type", head, *arguments, audio).split())
            self.assertNotEqual(text, model.transcribe(audio).result().text)

    def test_a_stream_of_chunks_has_the_words_of_the_program_however_it_is_cut(self):
        model, audio = r.shared("material/nemotron") + "/nemotron-tiny.nemo", r.shared("material/parakeet") + "/audio/phrases.wav"
        samples = r.floats(audio)
        for options in ({}, {"lookahead": 0}, {"lookahead": 1, "language": "de"}):
            arguments = [text for name, value in options.items() for text in ("--" + name, str(value))]
            expected = [json.loads(line) for line in r.steno("stream", "-q", "-m", model, *arguments, audio).splitlines()]
            words = "".join(e["text"] for e in expected if e["type"] == "final")
            self.assertTrue(words)
            for piece in (160, 4999, len(samples)):
                with steno.Model(model).stream(**options) as live:
                    events = [e for at in range(0, len(samples), piece) for e in live.push(samples[at:at + piece])] + live.end()
                self.assertEqual("".join(e.text for e in events if e.kind == "final"), words, (options, piece))
                self.assertEqual([(e.start, e.text) for e in events if e.kind == "endpoint"],
                                 [(e["start"], e["text"]) for e in expected if e["type"] == "endpoint"])

    def test_only_an_aligner_aligns(self):
        with self.assertRaisesRegex(steno.Error, "does not align the words of transcripts"):
            self.model.transcribe(r.DEMO, aligner=self.model)
        with self.assertRaisesRegex(steno.Error, "nl"):
            self.model.transcribe(r.DEMO, language="nl", aligner=steno.Model(r.SOURCE + "/tests/data/qwen3_aligner"))

    def test_every_form_of_audio_gives_the_same_segments(self):
        expected = list(self.model.transcribe(r.DEMO))
        with open(r.DEMO, "rb") as f:
            data = f.read()
        with open(r.DEMO, "rb") as file, tempfile.SpooledTemporaryFile() as spool:
            spool.write(data)
            spool.seek(0)
            forms = {"bytes": data, "bytearray": bytearray(data), "memoryview": memoryview(data), "file": file, "stream": io.BytesIO(data),
                     "spool": spool, "float32": r.floats(), "int16": r.integers(), "read-only": memoryview(bytes(r.floats())).cast("f")}
            for name, audio in forms.items():
                self.assertEqual(list(self.model.transcribe(audio)), expected, name)

    def test_numpy_arrays_are_read_in_place(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no package numpy")
        samples = numpy.array(r.floats(), dtype=numpy.float32)
        self.assertEqual(self.model.transcribe(samples).result().segments, self.model.transcribe(r.DEMO).result().segments)
        for bad, error, text in ((samples.astype("float64"), TypeError, "float64"), (samples[:200].reshape(2, -1), ValueError, "dimension"),
                                 (samples[::2], ValueError, "contiguous")):
            with self.assertRaisesRegex(error, text):
                self.model.transcribe(bad).result()

    def test_nothing_is_decoded_before_a_segment_is_read(self):
        run = self.model.transcribe(r.DEMO)
        self.assertEqual(run.position, 0)
        self.assertEqual((run.language, round(run.duration, 3)), ("en", 3.721))
        self.assertGreater(run.language_probability, 0.9)
        self.assertEqual(list(run.languages)[0], "en")
        self.assertEqual(run._work.segments, [])
        self.assertEqual(next(run).text, " zero nine one eight.")

    def test_two_runs_take_turns(self):
        one, two = self.model.transcribe(r.long_floats(40)), self.model.transcribe(r.DEMO)
        self.assertEqual((one.language, two.language), ("en", "en"))
        first = next(one)
        self.assertEqual([s.text for s in two], [" zero nine one eight.", " two seven."])
        self.assertEqual(first.text, " zero nine one eight.")
        self.assertGreater(len(list(one)), 10)

    def test_log_probabilities_and_words_come_with_a_segment(self):
        for s in self.model.transcribe(r.DEMO, logprobs=True, word_timestamps=True):
            self.assertEqual(len(s.logprobs), len(s.tokens))
            self.assertTrue(all(p <= 0 for p in s.logprobs))
            self.assertEqual("".join(w.word for w in s.words), s.text)

    def test_batches_equal_single_runs(self):
        inputs = [r.DEMO, r.long_floats(35), steno.Job(r.DEMO, id="x", language="de"), "no/such/file.wav", r.integers()] * 2
        singles = [self.model.transcribe(r.DEMO).result().segments, self.model.transcribe(r.long_floats(35)).result().segments,
                   self.model.transcribe(r.DEMO, language="de").result().segments]
        for size in (1, 4):
            results = list(self.model.transcribe_many(inputs, batch_size=size, ordered=True))
            self.assertEqual([x.segments for x in results], [singles[0], singles[1], singles[2], [], singles[0]] * 2)
            self.assertIsInstance(results[3].error, steno.AudioError)
            self.assertIn("no/such/file.wav", str(results[3].error))
            self.assertEqual(results[2].id, "x")
        unordered = list(self.model.transcribe_many(inputs, batch_size=4))
        self.assertEqual(sorted(str(x.segments) for x in unordered), sorted(str(x.segments) for x in results))
        with self.assertRaises(steno.AudioError):
            list(self.model.transcribe_many(inputs, on_error="raise"))

    def test_a_batch_can_be_left(self):
        with self.model.transcribe_many([r.long_floats(60)] * 20, batch_size=2) as results:
            self.assertGreater(len(next(results).segments), 10)
        self.assertEqual(list(self.model.transcribe_many([])), [])

    def test_alignment_finds_the_words_of_a_text(self):
        segments = self.model.align(r.DEMO, "zero nine one eight.\ntwo seven.")
        lines = r.steno("align", "-m", r.MODEL, r.DEMO, "zero nine one eight.\ntwo seven.").split("\n")
        found = [f"{round(w.start * 1000)} {round(w.end * 1000)} {w.word.strip()}" for s in segments for w in s.words]
        self.assertEqual(found, lines[:len(found)])

    def test_language_detection_equals_the_programs(self):
        found = self.model.detect_language(r.DEMO)
        first = r.steno("detect", "-m", r.MODEL, r.DEMO).split()
        self.assertEqual(list(found)[0], first[0])
        self.assertAlmostEqual(found[first[0]], float(first[1]), places=4)

    def test_async_iteration_gives_the_same_segments(self):
        async def read():
            return [s async for s in self.model.transcribe(r.DEMO)]
        self.assertEqual(asyncio.run(read()), list(self.model.transcribe(r.DEMO)))

    def test_a_stream_ends_with_the_text_of_the_whole(self):
        samples, words = r.floats(), []
        with self.model.stream() as live:
            for i in range(0, len(samples), 4000):
                words += [" " * e.spaces + e.text for e in live.push(samples[i:i + 4000]) if e.kind == "final"]
            last = live.end()
        words += [" " * e.spaces + e.text for e in last if e.kind == "final"]
        self.assertEqual(last[-1].kind, "endpoint")
        self.assertEqual("".join(words), last[-1].text)
        self.assertIn("nine one eight", last[-1].text)

    def test_a_stream_has_a_padding_behind_its_updates(self):
        samples, ends = r.floats(), []
        for padding in (None, 0, 500, 30000):
            with self.model.stream(audio_padding_ms=padding, language="en") as live:
                live.push(samples)
                ends.append(live.end()[-1].text)
        self.assertEqual(ends, ends[:1] * 4)
        with self.assertRaisesRegex(steno.Error, "audio_padding_ms is 499, not 0 or 500 to 30000"):
            self.model.stream(audio_padding_ms=499)

    def test_tokens_of_a_text_come_back_as_the_text(self):
        ids = self.model.tokenize(" zero nine, größer")
        self.assertEqual(self.model.detokenize(ids), " zero nine, größer")
        self.assertEqual(self.model.token_id("end"), 50257)

    def test_results_and_models_can_be_pickled(self):
        result = self.model.transcribe(r.DEMO).result()
        self.assertEqual(pickle.loads(pickle.dumps(result)), result)
        again = pickle.loads(pickle.dumps(self.model))
        self.assertEqual(again.transcribe(r.DEMO).result(), result)


class Texts(unittest.TestCase):
    def test_language_models_generate_and_embed(self):
        with steno.Model(r.LM) as model:
            pieces = []
            answer = model.generate("hello", max_tokens=8, on_text=lambda t: pieces.append(t))
            self.assertEqual(answer.text, "".join(pieces))
            self.assertLessEqual(len(answer.tokens), 8)
            self.assertTrue(all(t.logprob <= 0 for t in answer.tokens))
            self.assertEqual(answer, model.generate(model.tokenize("hello", whole=True), max_tokens=8))
            one, two = model.embed(["first", "second"])
            self.assertAlmostEqual(sum(x * x for x in one), 1, places=5)
            self.assertNotEqual(one, two)
            self.assertIsInstance(one, array.array)

    def test_an_exception_of_on_text_is_raised(self):
        with steno.Model(r.LM) as model, self.assertRaisesRegex(KeyError, "mine"):
            model.generate("hello", max_tokens=8, on_text=lambda t: {}["mine"])


class Errors(unittest.TestCase):
    def test_errors_have_the_librarys_text(self):
        with self.assertRaises(steno.ModelError) as e:
            steno.Model(r.DEMO)
        self.assertIn("demo.wav", str(e.exception))
        model = steno.Model(r.MODEL)
        for options, error, text in (({"beam_size": 33}, steno.OptionError, "beam_size is 33"), ({"language": "xx"}, steno.OptionError, "xx"),
                                     ({"beams": 3}, TypeError, "beams"), ({"task": "sing"}, ValueError, "transcribe, translate"),
                                     ({"beam_size": "many"}, TypeError, "beam_size"), ({"itn": 1}, steno.OptionError, "itn")):
            with self.assertRaisesRegex(error, text):
                model.transcribe(r.DEMO, **options).result()
        for audio, error, text in (("no/such.wav", steno.AudioError, "no/such.wav"), (b"no audio", steno.AudioError, "<bytes>"),
                                   (3.5, TypeError, "float"), (array.array("d", [0.0]), TypeError, "float64")):
            with self.assertRaisesRegex(error, text):
                model.transcribe(audio).result()
        with self.assertRaisesRegex(steno.OptionError, "speech"):
            model.find_speech(r.DEMO)
        model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            model.transcribe(r.DEMO).result()

    def test_an_unknown_name_is_refused_with_the_programs_advice(self):
        with self.assertRaisesRegex(steno.HubError, "models pull base|no model of that name|not on this machine"):
            steno.Model("base", download=False, cache_dir="/nonexistent")
        with self.assertRaises(FileNotFoundError):
            steno.Model("./no-such-model.bin")


if __name__ == "__main__":
    unittest.main()
