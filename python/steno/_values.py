# steno: results. SPDX-License-Identifier: MIT
"""Results as immutable tuples with names. Times are seconds."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional


class Word(NamedTuple):
    """A word of a segment. ``start`` and ``end`` are NaN where the audio does not contain it."""

    word: str
    start: float
    end: float
    probability: float


class Token(NamedTuple):
    """A token of a result; ``p`` and ``logprob`` are among the tokens that the rules allow."""

    id: int
    text: str
    p: float
    logprob: float


class Span(NamedTuple):
    """A span of speech."""

    start: float
    end: float


class Segment(NamedTuple):
    """A finished segment of text, with the figures of its window."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    temperature: float
    words: Optional[list[Word]] = None
    logprobs: Optional[list[float]] = None
    flags: int = 0
    language: Optional[str] = None
    emotion: Optional[str] = None
    event: Optional[str] = None
    speaker_turn: bool = False


class Result(NamedTuple):
    """A whole transcript. ``outputs`` has a text for each format that was asked for. ``error`` is None unless the input failed."""

    segments: list[Segment]
    text: str
    language: str
    language_probability: float
    duration: float
    input: Any = None
    id: Any = None
    outputs: dict[str, str] = {}  # noqa: RUF012
    error: Optional[Exception] = None


class Generated(NamedTuple):
    """A generated text; ``finish`` is "end", "stop", "length", "caller" or "canceled"."""

    text: str
    tokens: list[Token]
    finish: str
    n_prompt_tokens: int


class Event(NamedTuple):
    """An event of a live transcription; ``kind`` is "partial", "final" or "endpoint"."""

    kind: str
    turn: int
    start: float
    end: float
    text: str
    language: Optional[str]
    spaces: int = 0  # between the final words of the turn so far and the text


class ModelInfo(NamedTuple):
    """A model, as steno_model_info describes it."""

    family: str
    name: str
    weight_type: str
    compute: str
    cpu_level: str
    format: str
    n_mels: int
    n_vocab: int
    n_text_ctx: int
    n_audio_ctx: int
    is_multilingual: bool
    languages: list[str]
    parameters: int
    weight_bytes: int
    session_bytes: int
    chat: str
