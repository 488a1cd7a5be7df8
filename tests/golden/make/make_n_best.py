#!/usr/bin/env python3
# steno tests: make tests/data/n_best.json. SPDX-License-Identifier: MIT
#
#   python3 tests/golden/make/make_n_best.py COLLECTION > tests/data/n_best.json
#
# The candidates of openai-whisper 20250625 (float32) for the first 30 s of recordings in tests/data: what its BeamSearchDecoder hands to
# the ranker, sorted by what that ranks them by, equal ones in the order it has them in. `text` is the one that it chooses.
import json
import sys

import torch
import whisper
from whisper import decoding

FILES = {"golden/de_phrases": "de", "golden/es_phrases": "es", "golden/fr_phrases": "fr", "golden/en_twelve": "en",
         "audio/zh_phrases": "zh"}
CASES = [(5, None, None), (3, 2.0, None), (2, None, 0.6)]


class Seen(decoding.MaximumLikelihoodRanker):
    def rank(self, tokens, sum_logprobs):
        self.tokens, self.sums = tokens[0], sum_logprobs[0]
        return super().rank(tokens, sum_logprobs)


def score(length_penalty, n, total):
    return total / (n if length_penalty is None else ((5 + n) / 6) ** length_penalty)


def main(folder):
    model = whisper.load_model(f"{folder}/whisper-digits.pt", device="cpu")
    cases = []
    for name, language in FILES.items():
        mel = whisper.log_mel_spectrogram(f"tests/data/{name}.wav", model.dims.n_mels, padding=whisper.audio.N_SAMPLES)
        frames = min(mel.shape[-1], 2 * whisper.audio.N_FRAMES) - whisper.audio.N_FRAMES  # as transcribe() cuts its first window
        mel = whisper.pad_or_trim(mel[:, :frames], whisper.audio.N_FRAMES)
        for beam_size, patience, length_penalty in CASES:
            options = decoding.DecodingOptions(language=language, fp16=False, beam_size=beam_size, patience=patience,
                                               length_penalty=length_penalty)
            task = decoding.DecodingTask(model, options)
            task.sequence_ranker = Seen(length_penalty)
            with torch.no_grad():
                result = task.run(mel[None])[0]
            seen = task.sequence_ranker
            found = [(score(length_penalty, len(t), s), s, t.tolist()) for t, s in zip(seen.tokens, seen.sums)]
            found.sort(key=lambda f: -f[0])
            assert found[0][2] == result.tokens
            cases.append({"file": name, "language": language, "beam_size": beam_size, "patience": patience,
                          "length_penalty": length_penalty, "text": result.text, "avg_logprob": round(result.avg_logprob, 7),
                          "candidates": [{"score": round(a, 7), "sum": round(b, 6), "tokens": c} for a, b, c in found]})
    json.dump(cases, sys.stdout, ensure_ascii=False, separators=(",", ":"))
    print()


main(sys.argv[1])
