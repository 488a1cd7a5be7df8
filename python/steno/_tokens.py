# steno: tokens for the interfaces of faster-whisper and openai-whisper. SPDX-License-Identifier: MIT
"""Whisper's vocabulary: text, special tokens, words, and the tokens of signs that are not speech."""
from __future__ import annotations

import string
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._model import Model

LANGUAGE_CODES = tuple(
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr "
    "az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl "
    "mg as tt haw ln ha ba jw su yue".split())
TASKS = ("transcribe", "translate")
UNSPACED = {"zh", "ja", "th", "lo", "my", "yue"} # written without spaces
CONTROL = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
SIGNS = ('" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (\' (" (( )) ((( ))) [[ ]] {{ }} ♪♪ '
         '♪♪♪').split()
MUSIC = "♩♪♫♬♭♮♯"
LOST = "\ufffd" # what incomplete bytes become


class Vocabulary:
    """The vocabulary of a model, with special tokens by their names ("<|en|>")."""

    def __init__(self, model: Model, n_languages: Optional[int] = None) -> None:
        self.model = model
        self.n_languages = n_languages or len(model.info.languages) or 99
        if not model.info.is_multilingual:
            self.n_languages = n_languages or 99
        self.end = model.token_id("end")
        self.names = names = ["endoftext", "startoftranscript", *LANGUAGE_CODES[:self.n_languages], *CONTROL]
        self.special: Dict[str, int] = {f"<|{name}|>": self.end + i for i, name in enumerate(names)}
        self.timestamp_begin = self.end + len(names)
        self.size = self.timestamp_begin + 1501

    def encode(self, text: str) -> List[int]:
        return self.model.tokenize(text)

    def token_of(self, name: str) -> Optional[int]:
        """The special token of a name, a time included."""
        try:
            at = round(float(name[2:-2]) / 0.02)
        except ValueError:
            return self.special.get(name)
        token = self.timestamp_begin + at
        return token if token < self.size and self.name_of(token) == name else None

    def name_of(self, token: int) -> str:
        """The text of a special token."""
        if token >= self.timestamp_begin:
            return f"<|{(token - self.timestamp_begin) * 0.02:.2f}|>"
        return f"<|{self.names[token - self.end]}|>"

    def decode(self, tokens: Sequence[int], special: bool = True) -> str:
        """The text of tokens, and with ``special`` also the names of special ones."""
        out: List[bytes] = []
        for token in tokens:
            if not 0 <= token < self.size:
                raise ValueError(f"token {token}: the vocabulary has {self.size}")
            if token < self.end:
                out.append(self.model._token_bytes(token))
            elif special:
                out.append(self.name_of(token).encode())
        return b"".join(out).decode("utf-8", "replace")


class BaseTokenizer:
    """What the tokenizers of both packages have in common."""

    words: Vocabulary
    language: Any
    task: Any

    def _special(self, name: str) -> int:
        return self.words.special[f"<|{name}|>"]

    @property
    def eot(self) -> int:
        return self.words.end

    @property
    def sot(self) -> int:
        return self._special("startoftranscript")

    @property
    def transcribe(self) -> int:
        return self._special("transcribe")

    @property
    def translate(self) -> int:
        return self._special("translate")

    @property
    def sot_lm(self) -> int:
        return self._special("startoflm")

    @property
    def sot_prev(self) -> int:
        return self._special("startofprev")

    @property
    def no_speech(self) -> int:
        return self._special("nospeech")

    @property
    def no_timestamps(self) -> int:
        return self._special("notimestamps")

    @property
    def timestamp_begin(self) -> int:
        return self.words.timestamp_begin

    def encode(self, text: str) -> List[int]:
        """Tokens of a text."""
        return self.words.encode(text)

    def decode_with_timestamps(self, tokens: Sequence[int]) -> str:
        """Text in which timestamps stand as "<|1.08|>"."""
        return self.words.decode(tokens)

    @property
    def non_speech_tokens(self) -> Tuple[int, ...]:
        """Tokens of signs that transcripts of speech do not need: brackets, quotes and notes of music."""
        found = {self.encode(" -")[0], self.encode(" '")[0]}
        for text in (*SIGNS, *MUSIC):
            for tokens in (self.encode(text), self.encode(" " + text)):
                if len(tokens) == 1 or text in MUSIC:
                    found.add(tokens[0])
        return tuple(sorted(found))

    def split_tokens_on_unicode(self, tokens: Sequence[int]) -> Tuple[List[str], List[List[int]]]:
        """The shortest runs of tokens that are whole characters."""
        texts: List[str] = []
        runs: List[List[int]] = []
        run: List[int] = []
        whole = self.decode_with_timestamps(tokens)
        at = 0
        for token in tokens:
            run.append(token)
            text = self.decode_with_timestamps(run)
            lost = text.find(LOST)
            if lost >= 0 and whole[at + lost:at + lost + 1] != LOST:
                continue # the next token completes the character
            texts.append(text)
            runs.append(run)
            at, run = at + len(text), []
        return texts, runs

    def split_tokens_on_spaces(self, tokens: Sequence[int]) -> Tuple[List[str], List[List[int]]]:
        """Runs of tokens that are words: each begins with a space, a sign or a special token."""
        texts: List[str] = []
        runs: List[List[int]] = []
        for text, run in zip(*self.split_tokens_on_unicode(tokens)):
            if not texts or run[0] >= self.eot or text.startswith(" ") or text.strip() in string.punctuation:
                texts.append(text)
                runs.append(run)
            else:
                texts[-1] += text
                runs[-1] += run
        return texts, runs
