#!/usr/bin/env python3
# steno tests: make tests/data/golden/words.json. SPDX-License-Identifier: MIT
#
#   python3 tests/golden/make/make_words.py COLLECTION > tests/data/golden/words.json
#
# Recordings of spoken digits, each composed of words cut from one file of the collection, and what openai-whisper 20250625 (float32, greedy)
# writes for them. Only places are stored: a recording is a list of [from, to, pause], in samples of its file.
import json
import sys
import wave

import numpy as np
import whisper

FILES = ["en_short", "en_phrases", "en_noisy", "en_twelve", "en_repeat", "en_late", "de_phrases", "es_phrases", "fr_phrases"]
RATE, EDGE, RECORDINGS, PHRASES = 16000, 480, 13, 4


def samples(path):
    with wave.open(path) as w:
        assert (w.getframerate(), w.getnchannels(), w.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768


def words_of(truth, n):
    for phrase in truth["phrases"]:
        for start, end in phrase["words"]:
            yield max(0, int(start * RATE) - EDGE), min(n, int(end * RATE) + EDGE)


def compose(words, draw):
    pieces = []
    for _ in range(PHRASES):
        length = 1 + draw(4)
        for i in range(length):
            start, end = words[draw(len(words))]
            pieces.append([start, end, RATE // 20 if i + 1 < length else RATE * 3 // 5 + draw(RATE // 2)])
    return pieces


def main(folder):
    state = 1

    def draw(n):
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return (state >> 16) % n

    model = whisper.load_model(f"{folder}/whisper-digits.pt", device="cpu")
    with open(f"{folder}/golden/truth.json") as f:
        truth = json.load(f)
    print("[")
    for at, name in enumerate(FILES):
        pcm = samples(f"{folder}/golden/audio/{name}.wav")
        words = list(words_of(truth[f"{name}.wav"], len(pcm)))
        for i in range(RECORDINGS):
            pieces = compose(words, draw)
            audio = np.concatenate([np.zeros(RATE // 2, np.float32)]
                                   + [np.concatenate([pcm[a:b], np.zeros(p, np.float32)]) for a, b, p in pieces])
            assert len(audio) < 30 * RATE
            result = model.transcribe(audio, language=truth[f"{name}.wav"]["language"], temperature=0.0, fp16=False,
                                      condition_on_previous_text=False)
            row = {"file": f"{name}.wav", "language": result["language"], "pieces": pieces, "text": result["text"]}
            last = at + 1 == len(FILES) and i + 1 == RECORDINGS
            print(json.dumps(row, ensure_ascii=False) + ("" if last else ","))
    print("]")


main(sys.argv[1])
