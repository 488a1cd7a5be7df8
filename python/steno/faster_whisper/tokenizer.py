# steno: the tokenizer of faster-whisper's interface. SPDX-License-Identifier: MIT
"""Tokens of a model: ``Tokenizer(model.hf_tokenizer, model.model.is_multilingual, "transcribe", "en")``."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from .._tokens import LANGUAGE_CODES, TASKS, UNSPACED, BaseTokenizer, Vocabulary

_TASKS = TASKS
_LANGUAGE_CODES = LANGUAGE_CODES


class Encoding(NamedTuple):
    ids: List[int]


class HfTokenizer:
    """The methods of the package tokenizers that users of ``model.hf_tokenizer`` call."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoding:
        tokens = self.words.encode(text)
        head = [self.words.special["<|startoftranscript|>"], self.words.special["<|notimestamps|>"]] if add_special_tokens else []
        return Encoding([*head, *tokens, self.words.end] if add_special_tokens else tokens)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return self.words.decode([i for i in ids if i < self.words.timestamp_begin or not skip_special_tokens], not skip_special_tokens)

    def token_to_id(self, token: str) -> Optional[int]:
        if token.startswith("<|") and token.endswith("|>"):
            return self.words.token_of("<|nospeech|>" if token == "<|nocaptions|>" else token)
        ids = self.words.encode(token.replace("Ġ", " ")) # its name of a space
        return ids[0] if len(ids) == 1 else None

    def get_vocab_size(self) -> int:
        return self.words.size


class Tokenizer(BaseTokenizer):
    """Tokens of a language and a task."""

    def __init__(self, tokenizer: HfTokenizer, multilingual: bool, task: Optional[str] = None, language: Optional[str] = None) -> None:
        self.tokenizer, self.words = tokenizer, tokenizer.words
        self.task = self.language = None
        self.language_code: Any = "en"
        if multilingual:
            if task not in TASKS:
                raise ValueError(f"'{task}' is not a valid task (accepted tasks: {', '.join(TASKS)})")
            if language not in LANGUAGE_CODES:
                raise ValueError(f"'{language}' is not a valid language code (accepted language codes: {', '.join(LANGUAGE_CODES)})")
            self.task, self.language, self.language_code = self._special(task), self._special(language), language

    @property
    def sot_sequence(self) -> List[int]:
        return [t for t in (self.sot, self.language, self.task) if t is not None]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens without special ones."""
        return self.words.decode([t for t in tokens if t < self.eot])

    def split_to_word_tokens(self, tokens: Sequence[int]) -> Tuple[List[str], List[List[int]]]:
        return self.split_tokens_on_unicode(tokens) if self.language_code in UNSPACED else self.split_tokens_on_spaces(tokens)


__all__ = ["Tokenizer"]
