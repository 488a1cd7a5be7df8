# steno: WhisperModel and BatchedInferencePipeline. SPDX-License-Identifier: MIT
"""faster-whisper's classes. Options are checked; one that steno cannot follow is a ValueError, and none is ignored silently."""
from __future__ import annotations

import os
import warnings
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Optional, Tuple, Union
from warnings import warn

from .._audio import RATE, read_samples
from .._model import Model
from .._run import Run
from .._shared import APPEND, PREPEND, Progress, clip_seconds, format_timestamp, steps_of, temperature_options
from .._values import Segment as OwnSegment
from .._tokens import Vocabulary
from .audio import as_array
from .filters import put_filter
from .tokenizer import HfTokenizer, Tokenizer
from .utils import get_logger, model_path
from .vad import (
    SpeechTimestampsMap, VadOptions, collect_chunks, get_speech_timestamps, joined_samples, options_of_dict, view_of,
)

COMPUTE = {"default": "auto", "auto": "auto", "float32": "f32", "bfloat16": "bf16", "int16": "int16", "int8": "int8", "int8_float32": "int8",
           "int8_bfloat16": "int8", "float16": "auto", "int8_float16": "int8"}


@dataclass
class Word:
    start: float
    end: float
    word: str
    probability: float

    def _asdict(self) -> Dict[str, Any]:
        warn("Word._asdict() is deprecated: use dataclasses.asdict(word)", DeprecationWarning, 2)
        return asdict(self)


@dataclass
class Segment:
    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: List[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: Optional[List[Word]]
    temperature: Optional[float]

    def _asdict(self) -> Dict[str, Any]:
        warn("Segment._asdict() is deprecated: use dataclasses.asdict(segment)", DeprecationWarning, 2)
        return asdict(self)


@dataclass
class TranscriptionOptions:
    beam_size: int
    best_of: int
    patience: float
    length_penalty: float
    repetition_penalty: float
    no_repeat_ngram_size: int
    log_prob_threshold: Optional[float]
    no_speech_threshold: Optional[float]
    compression_ratio_threshold: Optional[float]
    condition_on_previous_text: bool
    prompt_reset_on_temperature: float
    temperatures: List[float]
    initial_prompt: Optional[Union[str, Iterable[int]]]
    prefix: Optional[str]
    suppress_blank: bool
    suppress_tokens: Optional[List[int]]
    without_timestamps: bool
    max_initial_timestamp: float
    word_timestamps: bool
    prepend_punctuations: str
    append_punctuations: str
    multilingual: bool
    max_new_tokens: Optional[int]
    clip_timestamps: Union[str, List[float]]
    hallucination_silence_threshold: Optional[float]
    hotwords: Optional[str]


@dataclass
class TranscriptionInfo:
    language: str
    language_probability: float
    duration: float
    duration_after_vad: float
    all_language_probs: Optional[List[Tuple[str, float]]]
    transcription_options: TranscriptionOptions
    vad_options: VadOptions


def options_of(given: Dict[str, Any], **fixed: Any) -> TranscriptionOptions:
    """The options among the arguments of a call, but for those that are fixed."""
    prompt = given["initial_prompt"]
    given = {**given, "temperatures": steps_of(given["temperature"]),
             "initial_prompt": prompt if prompt is None or isinstance(prompt, str) else list(prompt), **fixed}
    return TranscriptionOptions(**{f.name: given[f.name] for f in fields(TranscriptionOptions)})


def library_options(o: TranscriptionOptions, model: Model, language: Optional[str], task: str) -> Dict[str, Any]:
    """The library's options for those of faster-whisper."""
    if o.length_penalty not in (0, 1):
        raise ValueError(f"length_penalty is {o.length_penalty}: steno supports 1 (mean of the tokens) and 0 (their sum)")
    out = temperature_options(o.temperatures)
    draws = out["temperature"] > 0 or "fallback_temperatures" in out
    beams = out["temperature"] == 0 and o.beam_size > 1
    out.update(
        language=language, task=task, guards="off", beam_size=o.beam_size if beams else 0, best_of=o.best_of if draws else 0,
        suppress_blank=o.suppress_blank, without_timestamps=o.without_timestamps, max_initial_timestamp=o.max_initial_timestamp,
        condition_on_previous_text=o.condition_on_previous_text, no_speech_threshold=o.no_speech_threshold,
        logprob_threshold=o.log_prob_threshold, compression_ratio_threshold=o.compression_ratio_threshold,
        suppress_tokens=",".join(map(str, o.suppress_tokens or [])), word_timestamps=o.word_timestamps)
    if beams and o.patience != 1:
        out["patience"] = o.patience
    if o.length_penalty == 0 and (beams or draws):
        out["length_penalty"] = 0
    if o.word_timestamps:
        out.update(prepend_punctuations=o.prepend_punctuations, append_punctuations=o.append_punctuations,
                   hallucination_silence_threshold=o.hallucination_silence_threshold)
    if o.max_new_tokens is not None:
        out["sample_len"] = o.max_new_tokens
    if draws and o.condition_on_previous_text:
        out["prompt_reset_on_temperature"] = o.prompt_reset_on_temperature
    if o.repetition_penalty <= 0:
        raise ValueError(f"repetition_penalty is {o.repetition_penalty}: must be above 0")
    if o.no_repeat_ngram_size < 0:
        raise ValueError(f"no_repeat_ngram_size is {o.no_repeat_ngram_size}: must be 0 or more")
    out.update(repetition_penalty=o.repetition_penalty, no_repeat_ngram_size=o.no_repeat_ngram_size)
    put_filter(out, *prefix_of(o, model))
    if o.multilingual and model.info.is_multilingual:
        out["language_per_segment"] = 1
    put_prompt(out, o)
    return out


def prefix_of(o: TranscriptionOptions, model: Model) -> Tuple[List[int], Tuple[int, ...]]:
    """The tokens with which the first window begins, and those that the options suppress."""
    if not o.prefix or not o.prefix.strip():
        return [], ()
    tokenizer = Tokenizer(HfTokenizer(Vocabulary(model)), False)
    most = model.info.n_text_ctx // 2
    prefix = tokenizer.encode(" " + o.prefix.strip())
    prefix = prefix[:most - 1] if len(prefix) >= most else prefix
    return prefix if o.without_timestamps else [tokenizer.timestamp_begin, *prefix], get_suppressed_tokens(tokenizer, o.suppress_tokens)


def put_prompt(out: Dict[str, Any], o: TranscriptionOptions) -> None:
    """Hot words are text before every window; an initial prompt is text before the first one."""
    prompt = o.initial_prompt
    hotwords = o.hotwords.strip() if o.hotwords and not o.prefix else None
    if hotwords:
        if prompt is not None and not isinstance(prompt, str):
            raise ValueError("hotwords and an initial_prompt of tokens: give the prompt as text")
        out.update(initial_prompt=f"{hotwords} {prompt.strip()}" if prompt else hotwords, carry_initial_prompt=1)
    elif isinstance(prompt, str):
        out["initial_prompt"] = prompt.strip()
    elif prompt is not None:
        out["prompt_tokens"] = list(prompt)


def samples_of(audio: Any) -> Any:
    """Samples, decoded unless they are."""
    given: Any = audio
    return as_array(read_samples(given, True)) if isinstance(audio, (str, os.PathLike)) or hasattr(audio, "read") else given


def has_text(s: OwnSegment) -> bool:
    return bool(s.text.strip()) and s.start != s.end


def theirs(s: OwnSegment, number: int) -> Segment:
    words = [Word(w.start, w.end, w.word, w.probability) for w in s.words] if s.words is not None else None
    return Segment(number, s.seek, s.start, s.end, s.text, s.tokens, s.avg_logprob, s.compression_ratio, s.no_speech_prob, words,
                   s.temperature)


def restored(segment: Segment, times: SpeechTimestampsMap) -> Segment:
    """The segment with times in the audio that has its pauses."""
    if segment.words:
        words: List[Word] = []
        for w in segment.words:
            index = times.get_chunk_index((w.start + w.end) / 2)
            words.append(replace(w, start=times.get_original_time(w.start, index), end=times.get_original_time(w.end, index)))
        return replace(segment, start=words[0].start, end=words[-1].end, words=words)
    return replace(segment, start=times.get_original_time(segment.start), end=times.get_original_time(segment.end, is_end=True))


class Network:
    """What users read of CTranslate2's model."""

    def __init__(self, model: Model, compute_type: str) -> None:
        self.is_multilingual, self.n_mels = model.info.is_multilingual, model.info.n_mels
        self.device, self.device_index, self.compute_type = "cpu", [0], compute_type


class WhisperModel:
    def __init__(self, model_size_or_path: str, device: str = "auto", device_index: Union[int, List[int]] = 0, compute_type: str = "default",
                 cpu_threads: int = 0, num_workers: int = 1, download_root: Optional[str] = None, local_files_only: bool = False,
                 files: Optional[Dict[str, Any]] = None, revision: Optional[str] = None, use_auth_token: Optional[Union[str, bool]] = None,
                 **model_kwargs: Any) -> None:
        if device not in ("cpu", "auto"):
            raise ValueError(f"device is {device!r}: steno computes on the CPU; use \"cpu\" or \"auto\"")
        if device_index not in (0, [0]):
            raise ValueError(f"device_index is {device_index}: there is one CPU, 0")
        if compute_type not in COMPUTE:
            raise ValueError(f"Invalid compute type: {compute_type}; compute_type is one of {', '.join(COMPUTE)}")
        if files:
            raise ValueError("files: steno opens a model by its path")
        if model_kwargs:
            raise ValueError(f"{next(iter(model_kwargs))}: an option of CTranslate2 that steno does not have")
        if "float16" in compute_type and "b" not in compute_type:
            warnings.warn(f"compute_type {compute_type}: the CPU computes it as {COMPUTE[compute_type]}", stacklevel=2)
        self.logger = get_logger()
        self.model_path = model_path(model_size_or_path, not local_files_only, download_root, revision, use_auth_token)
        self._steno = Model(self.model_path, threads=cpu_threads, sessions=num_workers, compute=COMPUTE[compute_type])
        if self._steno.info.family != "whisper":
            raise ValueError(f"{self.model_path} is not a Whisper model: use steno.Model")
        self.model = Network(self._steno, compute_type)
        self.frames_per_second, self.max_length, self.time_precision, self.num_samples_per_token = 100, 448, 0.02, 320

    @property
    def supported_languages(self) -> List[str]:
        """Codes of the languages."""
        return list(self._steno.info.languages) if self.model.is_multilingual else ["en"]

    @property
    def hf_tokenizer(self) -> HfTokenizer:
        """Tokens, by methods of the package tokenizers."""
        return HfTokenizer(Vocabulary(self._steno))

    def _language(self, language: Optional[str]) -> Optional[str]:
        if language is None or language in self.supported_languages:
            return language
        if self.model.is_multilingual:
            raise ValueError(f"'{language}' is not a valid language code (accepted language codes: {', '.join(self.supported_languages)})")
        self.logger.warning("The model is English-only: the language '%s' is not used", language)
        return "en"

    def transcribe(self, audio: Union[str, BinaryIO, Any], language: Optional[str] = None, task: str = "transcribe",
                   log_progress: bool = False, beam_size: int = 5, best_of: int = 5, patience: float = 1, length_penalty: float = 1,
                   repetition_penalty: float = 1, no_repeat_ngram_size: int = 0,
                   temperature: Union[float, List[float], Tuple[float, ...]] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
                   compression_ratio_threshold: Optional[float] = 2.4, log_prob_threshold: Optional[float] = -1.0,
                   no_speech_threshold: Optional[float] = 0.6, condition_on_previous_text: bool = True,
                   prompt_reset_on_temperature: float = 0.5, initial_prompt: Optional[Union[str, Iterable[int]]] = None,
                   prefix: Optional[str] = None, suppress_blank: bool = True, suppress_tokens: Optional[List[int]] = [-1],
                   without_timestamps: bool = False, max_initial_timestamp: float = 1.0, word_timestamps: bool = False,
                   prepend_punctuations: str = PREPEND, append_punctuations: str = APPEND, multilingual: bool = False,
                   vad_filter: bool = False, vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None,
                   max_new_tokens: Optional[int] = None, chunk_length: Optional[int] = None, clip_timestamps: Union[str, List[float]] = "0",
                   hallucination_silence_threshold: Optional[float] = None, hotwords: Optional[str] = None,
                   language_detection_threshold: Optional[float] = 0.5,
                   language_detection_segments: int = 1) -> Tuple[Iterable[Segment], TranscriptionInfo]:
        """Transcribe audio. Segments are decoded while they are read."""
        o = options_of(locals())
        if chunk_length is not None and chunk_length != 30:
            raise ValueError(f"chunk_length is {chunk_length}: windows have 30 s")
        language = self._language(language)
        options = library_options(o, self._steno, language, task)
        clips = clip_seconds(clip_timestamps)
        if clips:
            options["clip_timestamps"] = clips
        if language is None and language_detection_segments != 1:
            options.update(language_detection_segments=language_detection_segments,
                           language_detection_threshold=language_detection_threshold or 0.0)
        vad = options_of_dict(vad_parameters)
        times, whole = None, None
        if vad_filter and not clips:
            samples: Any = samples_of(audio)
            whole = len(samples) / RATE
            chunks = get_speech_timestamps(samples, vad)
            audio = collect_chunks(samples, chunks)[0][0]
            times = SpeechTimestampsMap(chunks, RATE) if chunks else None
        run = self._steno.transcribe(audio, unclocked=True, **options)
        duration = whole if whole is not None else run.duration
        self.logger.info("Processing audio with duration %s", format_timestamp(duration))
        detected = language is None and self.model.is_multilingual
        info = TranscriptionInfo(run.language, run.language_probability if detected else 1, duration, run.duration,
                                 list(run.languages.items()) if detected else None, o, vad)
        return segments_of_run(run, times, Progress(run.duration or duration, log_progress, "seconds")), info

    def detect_language(self, audio: Any = None, features: Any = None, vad_filter: bool = False,
                        vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None, language_detection_segments: int = 1,
                        language_detection_threshold: float = 0.5) -> Tuple[str, float, List[Tuple[str, float]]]:
        """The language of audio, its probability, and the probabilities of all languages."""
        if features is not None or audio is None:
            raise ValueError("detect_language: steno computes the features itself; give audio")
        if vad_filter:
            audio = collect_chunks(audio, get_speech_timestamps(audio, options_of_dict(vad_parameters)))[0][0]
        if language_detection_segments > 1:
            run = self._steno.transcribe(audio, language_detection_segments=language_detection_segments,
                                         language_detection_threshold=language_detection_threshold)
            with run:
                return run.language, run.language_probability, list(run.languages.items())
        found = list(self._steno.detect_language(audio, unclocked=True).items())
        return found[0][0], found[0][1], found


def segments_of_run(run: Run, times: Optional[SpeechTimestampsMap], progress: Progress) -> Iterator[Segment]:
    number = 0
    try:
        for s in run:
            progress.at(s.end)
            if not has_text(s):
                continue
            number += 1
            segment = theirs(s, number)
            yield restored(segment, times) if times else segment
        progress.at(1e12)
    finally:
        progress.close()
        run.cancel() # without waiting: a dropped generator may end on any thread


class BatchedInferencePipeline:
    def __init__(self, model: WhisperModel) -> None:
        self.model = model
        self.last_speech_timestamp = 0.0

    def transcribe(self, audio: Union[str, BinaryIO, Any], language: Optional[str] = None, task: str = "transcribe",
                   log_progress: bool = False, beam_size: int = 5, best_of: int = 5, patience: float = 1, length_penalty: float = 1,
                   repetition_penalty: float = 1, no_repeat_ngram_size: int = 0,
                   temperature: Union[float, List[float], Tuple[float, ...]] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
                   compression_ratio_threshold: Optional[float] = 2.4, log_prob_threshold: Optional[float] = -1.0,
                   no_speech_threshold: Optional[float] = 0.6, condition_on_previous_text: bool = True,
                   prompt_reset_on_temperature: float = 0.5, initial_prompt: Optional[Union[str, Iterable[int]]] = None,
                   prefix: Optional[str] = None, suppress_blank: bool = True, suppress_tokens: Optional[List[int]] = [-1],
                   without_timestamps: bool = True, max_initial_timestamp: float = 1.0, word_timestamps: bool = False,
                   prepend_punctuations: str = PREPEND, append_punctuations: str = APPEND, multilingual: bool = False,
                   vad_filter: bool = True, vad_parameters: Optional[Union[Dict[str, Any], VadOptions]] = None,
                   max_new_tokens: Optional[int] = None, chunk_length: Optional[int] = None,
                   clip_timestamps: Optional[List[Dict[str, float]]] = None, hallucination_silence_threshold: Optional[float] = None,
                   batch_size: int = 8, hotwords: Optional[str] = None, language_detection_threshold: Optional[float] = 0.5,
                   language_detection_segments: int = 1) -> Tuple[Iterable[Segment], TranscriptionInfo]:
        """Transcribe parts of audio together: spans of speech, joined to at most ``chunk_length`` seconds, or the given clips. As in
        faster-whisper, parts know nothing of each other, and have one temperature and no thresholds."""
        if isinstance(temperature, (list, tuple)):
            temperature = temperature[:1]
        o = options_of(locals(), condition_on_previous_text=False, prompt_reset_on_temperature=0.5, max_initial_timestamp=0.0,
                       hallucination_silence_threshold=None, clip_timestamps=clip_timestamps or [])
        own = self.model
        samples = samples_of(audio)
        n, most = len(samples), chunk_length or 30
        if not 1 <= most <= 30:
            raise ValueError(f"chunk_length is {chunk_length}, must be 1 to 30")
        vad: Any = vad_parameters
        if clip_timestamps:
            chunks = [{k: int(v * RATE) for k, v in clip.items()} for clip in clip_timestamps]
        elif vad_filter:
            vad = VadOptions(min_silence_duration_ms=160) if vad is None else options_of_dict(vad)
            vad = replace(vad, max_speech_duration_s=most)
            chunks = get_speech_timestamps(samples, vad)
        elif n <= most * RATE:
            chunks = [{"start": 0, "end": n}]
        else:
            raise RuntimeError("No clip timestamps found. Set 'vad_filter' to True or provide 'clip_timestamps'.")
        times = None if clip_timestamps or not chunks else SpeechTimestampsMap(chunks, RATE)
        if clip_timestamps:
            whole = view_of(samples)
            parts = [whole[c["start"]:min(c["end"], c["start"] + 30 * RATE)] for c in chunks]
            offsets = [c["start"] / RATE for c in chunks]
        else:
            joined, about = collect_chunks(samples, chunks, RATE, most)
            parts, offsets = (joined, [a["offset"] for a in about]) if chunks else ([], [])
        speech = sum(c["end"] - c["start"] for c in chunks) / RATE
        language = own._language(language)
        probs: Optional[List[Tuple[str, float]]] = None
        probability = 1.0
        if language is None and own.model.is_multilingual and parts:
            language, probability, probs = own.detect_language(
                joined_samples(parts, language_detection_segments * 30 * RATE), language_detection_segments=language_detection_segments,
                language_detection_threshold=language_detection_threshold or 0.0)
        options = library_options(o, own._steno, language or "en", task)
        options.update(no_speech_threshold=None, logprob_threshold=None, compression_ratio_threshold=None, _one_window=True)
        if not without_timestamps:
            options["max_initial_timestamp"] = 0.001
        info = TranscriptionInfo(language or "en", probability, n / RATE, speech, probs, o, vad)
        return self._segments(parts, offsets, times, batch_size, options, log_progress), info

    def _segments(self, parts: List[Any], offsets: List[float], times: Optional[SpeechTimestampsMap], batch_size: int,
                  options: Dict[str, Any], log_progress: bool) -> Iterator[Segment]:
        number, progress = 0, Progress(len(parts), log_progress, "it")
        results = self.model._steno.transcribe_many(parts, batch_size=batch_size, ordered=True, on_error="raise", **options)
        try:
            for i, result in enumerate(results):
                for s in filter(has_text, result.segments):
                    number += 1
                    segment = moved(theirs(s, number), offsets[i])
                    yield restored(segment, times) if times else segment
                progress.at(i + 1)
        finally:
            progress.close()
            results.cancel()


def get_suppressed_tokens(tokenizer: Tokenizer, suppress_tokens: Optional[Iterable[int]]) -> Tuple[int, ...]:
    """The tokens that a decoding never has: the given ones, for -1 those of signs that are not speech, and special tokens."""
    given = list(suppress_tokens or [])
    found = {t for t in given if t >= 0} | set(tokenizer.non_speech_tokens if -1 in given else ())
    t = tokenizer
    return tuple(sorted(found | {t.transcribe, t.translate, t.sot, t.sot_prev, t.sot_lm, t.no_speech}))


def moved(segment: Segment, by: float) -> Segment:
    words = [replace(w, start=round(w.start + by, 2), end=round(w.end + by, 2)) for w in segment.words] if segment.words is not None else None
    return replace(segment, seek=segment.seek + int(by * 100), start=round(segment.start + by, 3), end=round(segment.end + by, 3), words=words)


__all__ = ["BatchedInferencePipeline", "Segment", "TranscriptionInfo", "TranscriptionOptions", "WhisperModel", "Word", "get_suppressed_tokens"]
