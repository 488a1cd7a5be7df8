# steno tests: steno.whisper. SPDX-License-Identifier: MIT
import contextlib
import io
import json
import os
import tempfile
import unittest

import recordings as r
import steno.whisper as whisper


def files_of(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            out[name] = f.read()
    return out


class Door(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = whisper.load_model(r.MODEL)

    def test_files_equal_those_of_the_program_to_the_byte(self):
        cases = (({}, {}, ()),
                 ({"word_timestamps": True}, {}, ("--word_timestamps", "True")),
                 ({"word_timestamps": True}, {"max_line_width": 12, "max_line_count": 1},
                  ("--word_timestamps", "True", "--max_line_width", "12", "--max_line_count", "1")),
                 ({"word_timestamps": True}, {"max_words_per_line": 2}, ("--word_timestamps", "True", "--max_words_per_line", "2")),
                 ({"word_timestamps": True}, {"highlight_words": True}, ("--word_timestamps", "True", "--highlight_words", "True")),
                 ({"beam_size": 5, "best_of": 5}, {}, ("--beam_size", "5", "--best_of", "5")),
                 ({"temperature": 0.0, "language": "de", "task": "translate"}, {},
                  ("--temperature_increment_on_fallback", "None", "--language", "de", "--task", "translate")))
        for options, layout, arguments in cases:
            result = self.model.transcribe(r.DEMO, **options)
            search = () if "beam_size" in options else ("--beam_size", "None", "--best_of", "None")
            with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
                whisper.get_writer("all", ours)(result, r.DEMO, layout)
                r.steno("--compat", "whisper", "--model", r.MODEL, "--output_dir", theirs, *search, *arguments, r.DEMO)
                self.assertEqual(files_of(ours), files_of(theirs), (options, layout))

    def test_the_result_has_the_keys_of_the_original(self):
        result = self.model.transcribe(whisper.load_audio(r.DEMO) if has_numpy() else r.floats(), word_timestamps=True)
        self.assertEqual(list(result), ["text", "segments", "language"])
        self.assertEqual(list(result["segments"][0]), ["id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob",
                                                       "compression_ratio", "no_speech_prob", "words"])
        self.assertEqual(list(result["segments"][0]["words"][0]), ["word", "start", "end", "probability"])
        json.dumps(result)

    def test_verbose_prints_segments(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.model.transcribe(r.DEMO, verbose=True)
        self.assertIn("Detected language: English\n[00:00.000 --> 00:01.860]  zero nine one eight.\n", out.getvalue())

    def test_what_steno_does_not_have_is_refused(self):
        for options, error, text in (({"prompt": "x"}, ValueError, "initial_prompt"), ({"beams": 3}, TypeError, "beams"),
                                     ({"patience": 2.0}, ValueError, "patience")):
            with self.assertRaisesRegex(error, text):
                self.model.transcribe(r.DEMO, **options)
        with self.assertRaisesRegex(RuntimeError, "Model huge not found"):
            whisper.load_model("huge")
        with self.assertRaisesRegex(ValueError, "cuda"):
            whisper.load_model(r.MODEL, device="cuda")
        with self.assertRaisesRegex(ValueError, "qwen3_asr is not a Whisper model: use steno.Model"):
            whisper.load_model(os.path.join(r.SOURCE, "tests/data/qwen3_asr"))
        self.assertRaises(NotImplementedError, self.model.decode, None)

    def test_a_tokenizer_has_the_vocabulary_of_the_loaded_model(self):
        from steno.whisper.tokenizer import LANGUAGES, TO_LANGUAGE_CODE, get_tokenizer
        t = get_tokenizer(True, language="German", model=self.model)
        own = self.model._steno
        self.assertEqual(t.sot_sequence, (own.token_id("start"), own.token_id("language") + 2, own.token_id("transcribe")))
        self.assertEqual(t.sot_sequence_including_notimestamps[-1], own.token_id("no_timestamps"))
        self.assertEqual(list(t.all_language_codes), own.info.languages)
        self.assertEqual(t.all_language_tokens[0], own.token_id("language"))
        self.assertEqual(get_tokenizer(True, num_languages=100, model=self.model).timestamp_begin, own.token_id("timestamp") + 1)
        result = self.model.transcribe(r.DEMO)
        tokens = [token for s in result["segments"] for token in s["tokens"]]
        self.assertEqual(t.decode(tokens), result["text"])
        self.assertTrue(t.decode_with_timestamps(tokens).startswith("<|0.00|>"))
        self.assertEqual((LANGUAGES["de"], TO_LANGUAGE_CODE["german"]), ("german", "de"))
        self.assertIs(get_tokenizer(True).encoding.model.info.is_multilingual, True)
        for bad in ({"language": "xx"}, {"task": "sing"}):
            self.assertRaises(ValueError, get_tokenizer, True, model=self.model, **bad)
        self.assertRaisesRegex(ValueError, "multilingual", get_tokenizer, False, model=self.model)

    def test_the_model_is_described(self):
        self.assertEqual((self.model.dims.n_mels, self.model.dims.n_vocab, self.model.is_multilingual, self.model.device), (80, 51865, True, "cpu"))
        self.assertEqual(len(whisper.available_models()), 14)
        token, probs = self.model.detect_language(r.DEMO)
        self.assertEqual((token, next(iter(probs))), (50259, "en"))

    def test_the_spectrogram_has_the_models_bands(self):
        if not has_numpy():
            self.skipTest("no package numpy")
        audio = whisper.pad_or_trim(whisper.load_audio(r.DEMO))
        self.assertEqual(audio.shape, (480000,))
        self.assertEqual(self.model.log_mel(audio).shape, (80, 3000))
        self.assertEqual(whisper.pad_or_trim(audio[None, :], 100).shape, (1, 100))


def has_numpy():
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
