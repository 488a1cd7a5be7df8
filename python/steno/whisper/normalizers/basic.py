# steno: texts of any language in one form. SPDX-License-Identifier: MIT
"""Standardization of text in any language, after appendix C of Radford et al. 2022."""
from __future__ import annotations

import re
import unicodedata
from typing import List

# Letters that no decomposition of Unicode takes apart
PLAIN = {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ß": "ss", "ẞ": "SS", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D",
         "þ": "th", "Þ": "th", "ł": "l", "Ł": "L"}
BRACKETS = re.compile(r"[<\[][^>\]]*[>\]]")
PARENTHESES = re.compile(r"\(([^)]+?)\)")


def is_mark(letter: str) -> bool:
    """It is a mark, a symbol or a punctuation."""
    return unicodedata.category(letter)[0] in "MSP"


def remove_symbols(s: str) -> str:
    """Spaces in place of marks, symbols and punctuation; letters with diacritics stay."""
    return "".join(" " if is_mark(c) else c for c in unicodedata.normalize("NFKC", s))


def remove_symbols_and_diacritics(s: str, keep: str = "") -> str:
    """Spaces in place of symbols and punctuation but for those to keep, and letters without diacritics."""
    out: List[str] = []
    for c in unicodedata.normalize("NFKD", s):
        if c in keep:
            out.append(c)
        elif c in PLAIN:
            out.append(PLAIN[c])
        elif unicodedata.category(c) != "Mn":
            out.append(" " if is_mark(c) else c)
    return "".join(out)


def letters_of(s: str) -> List[str]:
    """Letters, each with its marks."""
    out: List[str] = []
    for c in s:
        joined = out and (unicodedata.category(c)[0] == "M" or c == "\u200d" or out[-1][-1] == "\u200d")
        if joined:
            out[-1] += c
        else:
            out.append(c)
    return out


class BasicTextNormalizer:
    """Lower case, without brackets, symbols and punctuation; on request without diacritics, and with a space between letters."""

    def __init__(self, remove_diacritics: bool = False, split_letters: bool = False) -> None:
        self.clean = remove_symbols_and_diacritics if remove_diacritics else remove_symbols
        self.split_letters = split_letters

    def __call__(self, s: str) -> str:
        s = PARENTHESES.sub("", BRACKETS.sub("", s.lower()))
        s = self.clean(s).lower()
        if self.split_letters:
            s = " ".join(letters_of(s))
        return re.sub(r"\s+", " ", s)
