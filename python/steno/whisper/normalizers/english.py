# steno: English texts in one form. SPDX-License-Identifier: MIT
"""Standardization of English text, after appendix C of Radford et al. 2022."""
from __future__ import annotations

import re

from .basic import BRACKETS, PARENTHESES, remove_symbols_and_diacritics
from .numbers import EnglishNumberNormalizer
from .spelling import EnglishSpellingNormalizer

FILLERS = re.compile(r"\b(?:hmm|mm|mhm|mmm|uh|um)\b")
WORDS = {
    "won't": "will not", "can't": "can not", "let's": "let us", "ain't": "aint", "y'all": "you all", "wanna": "want to", "gotta": "got to",
    "gonna": "going to", "i'ma": "i am going to", "imma": "i am going to", "woulda": "would have", "coulda": "could have",
    "shoulda": "should have", "ma'am": "madam",
    "mr": "mister", "mrs": "missus", "st": "saint", "dr": "doctor", "prof": "professor", "capt": "captain", "gov": "governor",
    "ald": "alderman", "gen": "general", "sen": "senator", "rep": "representative", "pres": "president", "rev": "reverend",
    "hon": "honorable", "asst": "assistant", "assoc": "associate", "lt": "lieutenant", "col": "colonel", "jr": "junior", "sr": "senior",
    "esq": "esquire"}
WORD = re.compile(r"\b(?:" + "|".join(WORDS) + r")\b")
HAD, HAS = (re.compile(rf"'{letter}(?= (?:{words})\b)") for letter, words in (("d", "been|gone"), ("s", "been|gone|done|got")))
ENDINGS = (("n't", " not"), ("'re", " are"), ("'s", " is"), ("'d", " would"), ("'ll", " will"), ("'t", " not"), ("'ve", " have"), ("'m", " am"))


class EnglishTextNormalizer:
    """English text without what two correct transcripts may differ in: case, punctuation, fillers, contractions, numbers, spelling."""

    def __init__(self) -> None:
        self.standardize_numbers = EnglishNumberNormalizer()
        self.standardize_spellings = EnglishSpellingNormalizer()

    def __call__(self, s: str) -> str:
        s = PARENTHESES.sub("", BRACKETS.sub("", s.lower()))
        s = re.sub(r"\s+'", "'", FILLERS.sub("", s))
        s = WORD.sub(lambda found: WORDS[found.group()], s)
        s = HAS.sub(" has", HAD.sub(" had", s))
        for ending, words in ENDINGS:
            s = re.sub(ending + r"\b", words, s)
        s = re.sub(r"(?<=\d),(?=\d)", "", s)
        s = re.sub(r"\.(?=[^0-9]|$)", " ", s)
        s = remove_symbols_and_diacritics(s, keep=".%$¢€£")
        s = self.standardize_spellings(self.standardize_numbers(s))
        s = re.sub(r"[.$¢€£](?=[^0-9])|(?<=[^0-9])%", " ", s)
        return re.sub(r"\s+", " ", s)


__all__ = ["EnglishNumberNormalizer", "EnglishSpellingNormalizer", "EnglishTextNormalizer"]
