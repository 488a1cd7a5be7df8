# steno: spoken numbers in digits. SPDX-License-Identifier: MIT
"""English numbers, ordinals, years, amounts of money and percentages: "two hundred and six dollars" becomes "$206"."""
from __future__ import annotations

import re
from fractions import Fraction
from typing import Dict, List, NamedTuple, Optional, Union

DIGITS = "one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SCALES = ["thousand", *(front + "illion" for front in "m b tr quadr quint sext sept oct non dec".split())]
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}
ENDINGS = {"one": "st", "two": "nd", "three": "rd"}
ZEROS = ("o", "oh", "zero")
SIGNS = {"minus": "-", "negative": "-", "plus": "+", "positive": "+"}
MONEY = {"pound": "£", "euro": "€", "dollar": "$", "cent": "¢"}
MONEY.update({word + "s": sign for word, sign in MONEY.items()})
REPEATS = {"double": 2, "triple": 3}
MARKS = "".join(dict.fromkeys([*SIGNS.values(), *MONEY.values()]))
FIGURE = re.compile(rf"([{re.escape(MARKS)}]?)(\d+(?:\.\d+)?)")


class Part(NamedTuple):
    """What a word adds to a number; one with an ending is its last word."""

    kind: str
    value: int
    ending: str = ""


def spoken_parts() -> Dict[str, Part]:
    kinds = [("digit", DIGITS, range(1, 10)), ("teen", TEENS, range(10, 20)), ("tens", TENS, range(20, 100, 10)), ("scale", ["hundred"], [100]),
             ("scale", SCALES, [1000 ** n for n in range(1, len(SCALES) + 1)])]
    out: Dict[str, Part] = {}
    for kind, words, values in kinds:
        for word, value in zip(words, values):
            stem = word[:-1] + "ie" if word.endswith("y") else word
            ordinal = ORDINALS.get(word) or stem + "th"
            out[word] = Part(kind, value)
            out[ordinal] = Part(kind, value, ENDINGS.get(word, "th"))
            out[stem + ("es" if word.endswith("x") else "s")] = Part(kind, value, "s")
    return out


PARTS = spoken_parts()


def is_figure(word: str) -> bool:
    """Digits without a sign."""
    found = FIGURE.fullmatch(word)
    return found is not None and not found.group(1)


def is_decimal(word: str) -> bool:
    """It may follow a point."""
    part = PARTS.get(word)
    return part is not None and part.kind != "scale" and not part.ending


class Reader:
    """Reads words from left to right: a number grows until a word does not belong to it."""

    def __init__(self, words: List[str]) -> None:
        self.words, self.at = words, 0
        self.out: List[str] = []
        self.sign = ""
        self.value: Optional[Union[int, str]] = None # a str: spelled digit by digit, or with a point
        self.last = ""                               # the kind of the part before

    def ahead(self) -> str:
        """The word after this one."""
        return self.words[self.at + 1] if self.at + 1 < len(self.words) else ""

    def end_number(self, ending: str = "") -> None:
        if self.value is not None:
            self.out.append(f"{self.sign}{self.value}{ending}")
        self.sign, self.value, self.last = "", None, ""

    def put_word(self, word: str) -> None:
        self.end_number()
        self.out.append(word)

    def join(self, digits: Union[int, str]) -> None:
        self.value = f"{'' if self.value is None else self.value}{digits}"

    def take_part(self, part: Part) -> None:
        if part.kind == "scale":
            self.take_scale(part.value)
        elif self.value is None:
            self.value = part.value
        elif part.kind == "digit" and self.last == "tens":
            kept = f"{self.value}"[:-1] + str(part.value)
            self.value = kept if isinstance(self.value, str) else int(kept)
        elif isinstance(self.value, int) and self.has_room(part):
            self.value += part.value
        else: # beside the digits before, as in years: twenty | nineteen
            self.join(part.value)
        self.last = part.kind
        if part.ending:
            self.end_number(part.ending)

    def has_room(self, part: Part) -> bool:
        """The number ends in as many zeros as the part has digits, and they were not spelled."""
        if part.kind != "tens" and self.last in ("digit", "teen"):
            return False
        return int(self.value or 0) % (10 if part.kind == "digit" else 100) == 0

    def take_scale(self, scale: int) -> None:
        if self.value is None:
            self.value = scale
        elif isinstance(self.value, int) and self.value:
            rest = self.value % 1000
            self.value += rest * scale - rest
        else:
            whole = Fraction(self.value) * scale if re.fullmatch(r"\d*\.?\d+", f"{self.value}") else None
            if whole is None or whole.denominator != 1:
                self.end_number()
                whole = Fraction(scale)
            self.value = int(whole)

    def take_figure(self, sign: str, digits: str) -> None:
        if self.value is not None and not f"{self.value}".endswith("."):
            self.end_number()
        if self.value is not None:
            self.join(digits)
        else:
            self.sign = sign or self.sign
            self.value = digits if "." in digits else int(digits)
        self.last = "figure"

    def take_join(self, word: str) -> bool:
        """Words that join others. False: this one does not, here."""
        follows = self.ahead()
        if word == "and":
            return self.value is not None and self.last == "scale" and (follows in PARTS or follows in ZEROS or is_figure(follows))
        if word in REPEATS and follows in (*ZEROS, *DIGITS, *TEENS):
            self.join(str(PARTS[follows].value if follows in PARTS else 0) * REPEATS[word])
            self.last = "digit"
            self.at += 1
            return True
        if word == "point" and (follows in ZEROS or is_decimal(follows) or is_figure(follows)):
            self.join(".")
            self.last = "point"
            return True
        return False

    def take_unit(self, word: str) -> bool:
        """Words after a number that become a sign. False: this one does not, here."""
        if self.value is None:
            return False
        if word in MONEY:
            self.sign = MONEY[word]
            self.end_number()
        elif word == "percent" or (word == "per" and self.ahead() == "cent"):
            self.at += word == "per"
            self.end_number("%")
        else:
            return False
        return True

    def take(self, word: str) -> None:
        figure = FIGURE.fullmatch(word)
        if figure:
            self.take_figure(*figure.groups())
        elif word in PARTS:
            self.take_part(PARTS[word])
        elif word in ZEROS:
            self.join("0")
            self.last = "zero"
        elif word in SIGNS and (self.ahead() in PARTS or self.ahead() in ZEROS or is_figure(self.ahead())):
            self.end_number()
            self.sign = SIGNS[word]
        elif not self.take_join(word) and not self.take_unit(word):
            self.put_word(word)

    def read(self) -> str:
        while self.at < len(self.words):
            self.take(self.words[self.at])
            self.at += 1
        self.end_number()
        return " ".join(self.out)


def half_as_point(found: "re.Match[str]") -> str:
    word = found.group(1)
    part = PARTS.get(word)
    return f"{word} point five" if word in ZEROS or (part and not part.ending) else found.group(0)


def cents_joined(found: "re.Match[str]") -> str:
    return f"{found.group(1)}{found.group(2)}.{int(found.group(3)):02d}"


class EnglishNumberNormalizer:
    """Numbers in digits. A single "one" stays a word."""

    def __call__(self, s: str) -> str:
        s = re.sub(r"(\S+)\s+and\s+a\s+half\b", half_as_point, s)
        s = re.sub(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])", " ", s)
        s = re.sub(r"(?<=[0-9])\s+(?=(st|nd|rd|th|s)\b)", "", s)
        s = Reader(s.split()).read()
        s = re.sub(r"([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})\b", cents_joined, s)
        s = re.sub(r"[€£$]0\.([0-9]{1,2})\b", lambda found: f"¢{int(found.group(1))}", s)
        return re.sub(r"(?<!\.)\b1(s?)\b(?!\.\d)", r"one\1", s)
