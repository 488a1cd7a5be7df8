# steno: the tokenizer of openai-whisper's interface. SPDX-License-Identifier: MIT
"""Tokens. A vocabulary belongs to a model here: to the given one, else to the one that was loaded last, else to one on this machine."""
from __future__ import annotations

import weakref
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._errors import HubError
from .._model import Model
from .._names import find_model
from .._native import lib
from .._shared import NAMES, OWN_NAMES
from .._tokens import LANGUAGE_CODES, TASKS, UNSPACED, BaseTokenizer, Vocabulary

_loaded: Dict[bool, weakref.ref[Model]] = {} # by whether it is multilingual
_kept: List[Model] = []                      # opened for their vocabularies


def remember(model: Model) -> None:
    _loaded[model.info.is_multilingual] = weakref.ref(model)


def model_with_vocabulary(multilingual: bool) -> Model:
    held = _loaded.get(multilingual)
    model = held() if held is not None else None
    if model is not None and not model._closed:
        return model
    for name in NAMES:
        if name.endswith(".en") == multilingual:
            continue
        try:
            model = Model(find_model(OWN_NAMES.get(name, name), download=False))
        except HubError:
            continue
        remember(model)
        _kept.append(model)
        return model
    kind = "multilingual" if multilingual else "English-only"
    raise HubError(f"get_tokenizer: no {kind} model is loaded or on this machine, and a vocabulary is part of a model; load one first", "EIO")


def language_names() -> Dict[str, str]:
    """Names of languages by their codes."""
    names = ((code, lib.steno_language_name(code.encode())) for code in LANGUAGE_CODES)
    return {code: name.decode() if name else code for code, name in names}


def __getattr__(name: str) -> Any:
    if name == "LANGUAGES":
        return language_names()
    if name == "TO_LANGUAGE_CODE":
        return {word: code for code, word in language_names().items()}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Tokenizer(BaseTokenizer):
    """Tokens of a language and a task."""

    def __init__(self, encoding: Vocabulary, num_languages: int, language: Optional[str] = None, task: Optional[str] = None) -> None:
        self.encoding = self.words = encoding
        self.num_languages, self.language, self.task = num_languages, language, task
        self.special_tokens = encoding.special
        sequence = [self.sot]
        if language is not None:
            sequence.append(self.to_language_token(language))
        if task is not None:
            sequence.append(self.transcribe if task == "transcribe" else self.translate)
        self.sot_sequence: Tuple[int, ...] = tuple(sequence)

    @property
    def language_token(self) -> int:
        if self.language is None:
            raise ValueError("This tokenizer does not have language token configured")
        return self.to_language_token(self.language)

    def to_language_token(self, language: str) -> int:
        token = self.special_tokens.get(f"<|{language}|>")
        if token is None:
            raise KeyError(f"Language {language} not found in tokenizer.")
        return token

    @property
    def all_language_tokens(self) -> Tuple[int, ...]:
        return tuple(range(self.sot + 1, self.sot + 1 + self.num_languages))

    @property
    def all_language_codes(self) -> Tuple[str, ...]:
        return LANGUAGE_CODES[:self.num_languages]

    @property
    def sot_sequence_including_notimestamps(self) -> Tuple[int, ...]:
        return (*self.sot_sequence, self.no_timestamps)

    def decode(self, token_ids: Sequence[int], **kwargs: Any) -> str:
        """The text of tokens without timestamps."""
        return self.words.decode([t for t in token_ids if t < self.timestamp_begin])

    def split_to_word_tokens(self, tokens: Sequence[int]) -> Tuple[List[str], List[List[int]]]:
        return self.split_tokens_on_unicode(tokens) if self.language in UNSPACED else self.split_tokens_on_spaces(tokens)


def get_tokenizer(multilingual: bool, *, num_languages: int = 99, language: Optional[str] = None, task: Optional[str] = None,
                  model: Any = None) -> Tokenizer:
    """The tokenizer of a language and a task. ``model`` is a loaded model whose vocabulary it has."""
    if language is not None:
        code = lib.steno_language_code(language.lower().encode())
        if code is None:
            raise ValueError(f"Unsupported language: {language}")
        language = code.decode()
    own = getattr(model, "_steno", model) or model_with_vocabulary(multilingual)
    if own.info.is_multilingual != multilingual:
        raise ValueError(f"multilingual is {multilingual}: the model is {'multilingual' if own.info.is_multilingual else 'English-only'}")
    if not multilingual:
        language = task = None
    else:
        language, task = language or "en", task or "transcribe"
        if task not in TASKS:
            raise ValueError(f"task is {task!r}, not one of: {', '.join(TASKS)}")
    return Tokenizer(Vocabulary(own, num_languages), num_languages, language, task)


__all__ = ["Tokenizer", "get_tokenizer"]
