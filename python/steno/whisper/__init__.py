# steno: the interface of openai-whisper 20250625. SPDX-License-Identifier: MIT
"""openai-whisper's interface: change ``import whisper`` to ``import steno.whisper as whisper``."""
from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from .._errors import HubError
from .._model import Model
from .._names import find_model
from .._native import lib, new
from .._shared import APPEND, NAMES, OWN_NAMES, PREPEND, Progress, clip_seconds, format_timestamp, steps_of, temperature_options
from .._values import Segment
from .audio import load_audio, log_mel_spectrogram, pad_or_trim
from .tokenizer import remember
from .utils import get_writer

__version__ = "20250625"
NATIVE = "steno.Model(...).transcribe(..., logprobs=True), tokenize() and generate() are the native calls"
DECODE = ("task", "language", "sample_len", "best_of", "beam_size", "patience", "length_penalty", "prompt", "prefix", "suppress_tokens",
          "suppress_blank", "without_timestamps", "max_initial_timestamp", "fp16")


def available_models() -> List[str]:
    """The names of the models."""
    return list(NAMES)


@dataclass
class ModelDimensions:
    n_mels: int
    n_audio_ctx: int
    n_audio_state: int
    n_audio_head: int
    n_audio_layer: int
    n_vocab: int
    n_text_ctx: int
    n_text_state: int
    n_text_head: int
    n_text_layer: int


class Whisper:
    """A loaded model."""

    device = "cpu"

    def __init__(self, model: Model) -> None:
        self._steno = model
        remember(model)
        i = new("steno_model_info")
        lib.steno_model_info_get(model._handle(), ctypes.byref(i))
        self.dims = ModelDimensions(*(getattr(i, name) for name in ModelDimensions.__dataclass_fields__))

    @property
    def is_multilingual(self) -> bool:
        return self._steno.info.is_multilingual

    @property
    def num_languages(self) -> int:
        return len(self._steno.info.languages) or 99

    def to(self, device: Any) -> Whisper:
        if str(device) != "cpu":
            raise ValueError(f"device is {device!r}: steno computes on the CPU")
        return self

    def eval(self) -> Whisper:
        return self

    def transcribe(self, audio: Any, **options: Any) -> Dict[str, Any]:
        """Transcribe a file or samples. See ``transcribe``."""
        return transcribe(self, audio, **options)

    def log_mel(self, audio: Any, padding: int = 0) -> Any:
        """The log-mel spectrogram that the model reads: [n_mels, frames]."""
        return log_mel_spectrogram(audio, self.dims.n_mels, padding, model=self)

    def detect_language(self, audio: Any) -> Tuple[int, Dict[str, float]]:
        """The token of the language of samples or a file, and the probabilities of all languages."""
        probs = self._steno.detect_language(audio, unclocked=True)
        index = lib.steno_language_id(self._steno._handle(), next(iter(probs)).encode())
        return self._steno.token_id("language") + index, probs

    def decode(self, mel: Any, options: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError(f"decode: {NATIVE}")


def load_model(name: str, device: Optional[Any] = None, download_root: Optional[str] = None, in_memory: bool = False) -> Whisper:
    """Load a model by name or path. A .pt file of openai-whisper in ``download_root`` (~/.cache/whisper) is used if it is there."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"device is {device!r}: steno computes on the CPU; use \"cpu\"")
    path = name
    if not os.path.exists(name):
        if name not in NAMES:
            raise RuntimeError(f"Model {name} not found; available models = {available_models()}")
        own = OWN_NAMES.get(name, name)
        root = download_root or os.path.join(os.getenv("XDG_CACHE_HOME", os.path.join(os.path.expanduser("~"), ".cache")), "whisper")
        stored = os.path.join(root, own + ".pt")
        try:
            path = find_model(own, download=False)
        except HubError:
            path = stored if os.path.exists(stored) else find_model(own)
    model = Model(path, compute="f32")
    if model.info.family != "whisper":
        model.close()
        raise ValueError(f"{path} is not a Whisper model: use steno.Model")
    return Whisper(model)


def put_decoding(given: Dict[str, Any], options: Dict[str, Any]) -> None:
    """The library's options for those of openai-whisper's DecodingOptions."""
    unknown = [key for key in given if key not in DECODE]
    if unknown:
        raise TypeError(f"transcribe() got an unexpected keyword argument {unknown[0]!r}")
    if given.get("prompt") is not None:
        raise ValueError("prompt: give initial_prompt, which transcribe() puts before the first window")
    for key in ("task", "language", "prefix", "suppress_blank", "without_timestamps", "max_initial_timestamp"):
        if key in given:
            options[key] = given[key]
    if given.get("max_initial_timestamp", 1.0) is None:
        options["max_initial_timestamp"] = 0
    if given.get("sample_len") is not None:
        options["sample_len"] = given["sample_len"]
    if isinstance(options.get("prefix"), (list, tuple)):
        options["prefix_tokens"] = options.pop("prefix")
    tokens = given.get("suppress_tokens", "-1")
    options["suppress_tokens"] = tokens if isinstance(tokens, str) else ",".join(map(str, tokens or []))
    draws = options["temperature"] > 0 or bool(options.get("fallback_temperatures"))
    beams = given.get("beam_size") if options["temperature"] == 0 else None
    best_of = given.get("best_of") if draws else None
    options.update(beam_size=beams or 0, best_of=best_of or 0)
    if given.get("patience") is not None:
        if given.get("beam_size") is None:
            raise ValueError("patience requires beam_size to be given")
        if beams:
            options["patience"] = given["patience"]
    if given.get("length_penalty") is not None and ((beams or 0) > 1 or (best_of or 0) > 1):
        options["length_penalty"] = given["length_penalty"]


def theirs(s: Segment) -> Dict[str, Any]:
    row: Dict[str, Any] = {
        "id": s.id, "seek": s.seek, "start": s.start, "end": s.end, "text": s.text, "tokens": s.tokens, "temperature": s.temperature,
        "avg_logprob": s.avg_logprob, "compression_ratio": s.compression_ratio, "no_speech_prob": s.no_speech_prob}
    if s.words is not None:
        row["words"] = [{"word": w.word, "start": w.start, "end": w.end, "probability": w.probability} for w in s.words]
    return row


def transcribe(model: Whisper, audio: Any, *, verbose: Optional[bool] = None,
               temperature: Union[float, Tuple[float, ...]] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
               compression_ratio_threshold: Optional[float] = 2.4, logprob_threshold: Optional[float] = -1.0,
               no_speech_threshold: Optional[float] = 0.6, condition_on_previous_text: bool = True, initial_prompt: Optional[str] = None,
               carry_initial_prompt: bool = False, word_timestamps: bool = False, prepend_punctuations: str = PREPEND,
               append_punctuations: str = APPEND, clip_timestamps: Union[str, List[float]] = "0",
               hallucination_silence_threshold: Optional[float] = None, **decode_options: Any) -> Dict[str, Any]:
    """Transcribe a file or samples at 16 kHz: {"text": ..., "segments": [...], "language": ...}.

    ``verbose=True`` prints segments as they are decoded, ``False`` a progress bar (if tqdm is installed).
    """
    options = temperature_options(steps_of(temperature))
    options.update(guards="off", compression_ratio_threshold=compression_ratio_threshold, logprob_threshold=logprob_threshold,
                   no_speech_threshold=no_speech_threshold, condition_on_previous_text=condition_on_previous_text,
                   word_timestamps=word_timestamps)
    put_decoding(decode_options, options)
    if initial_prompt is not None:
        options.update(initial_prompt=initial_prompt.strip(), carry_initial_prompt=carry_initial_prompt)
    if word_timestamps:
        options.update(prepend_punctuations=prepend_punctuations, append_punctuations=append_punctuations,
                       hallucination_silence_threshold=hallucination_silence_threshold)
    clips = clip_seconds(clip_timestamps)
    if clips:
        options["clip_timestamps"] = clips
    run = model._steno.transcribe(audio, unclocked=isinstance(audio, (str, os.PathLike)), **options)
    if options.get("language") is None and model.is_multilingual and verbose is not None:
        if verbose:
            print("Detecting language using up to the first 30 seconds. Use `--language` to specify the language")
        name = lib.steno_language_name(run.language.encode())
        print(f"Detected language: {name.decode().title() if name else run.language}")
    segments: List[Dict[str, Any]] = []
    progress = Progress(run.duration, verbose is False, "s")
    try:
        for s in run:
            segments.append(theirs(s))
            progress.at(s.end)
            if verbose:
                print_line(s)
    finally:
        progress.close()
        run.close()
    result = run.result()
    return {"text": result.text, "segments": segments, "language": result.language or options.get("language") or "en"}


def print_line(s: Segment) -> None:
    line = f"[{format_timestamp(s.start)} --> {format_timestamp(s.end)}] {s.text}"
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "replace").decode(encoding), flush=True)


def detect_language(model: Whisper, mel: Any, tokenizer: Any = None) -> Any:
    raise NotImplementedError("detect_language of a spectrogram: use model.detect_language(audio)")


def decode(model: Whisper, mel: Any, options: Any = None, **kwargs: Any) -> Any:
    raise NotImplementedError(f"decode: {NATIVE}")


__all__ = ["ModelDimensions", "Whisper", "available_models", "decode", "detect_language", "get_writer", "load_audio", "load_model",
           "log_mel_spectrogram", "pad_or_trim", "transcribe"]
