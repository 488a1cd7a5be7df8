# steno: voice activity detection for faster-whisper's interface. SPDX-License-Identifier: MIT
"""Spans of speech by Silero VAD, audio without the pauses between them, and times in the original audio."""
from __future__ import annotations

import bisect
import math
import threading
from array import array
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from .._audio import RATE, Samples, samples_view
from .._model import Model
from .audio import as_array


@dataclass
class VadOptions:
    """Options of voice activity detection. Spans longer than ``max_speech_duration_s`` are cut; None of ``neg_threshold`` is 0.15 less
    than ``threshold``."""

    threshold: float = 0.5
    neg_threshold: Optional[float] = None
    min_speech_duration_ms: int = 0
    max_speech_duration_s: float = float("inf")
    min_silence_duration_ms: int = 2000
    speech_pad_ms: int = 400


def options_of_dict(given: Union[VadOptions, Dict[str, Any], None]) -> VadOptions:
    return VadOptions(**given) if isinstance(given, dict) else given or VadOptions()


_models: Dict[str, Model] = {}
_lock = threading.Lock()


def vad_model(name: str = "silero") -> Model:
    """The detector: Silero VAD, by its name or path; it is opened once."""
    with _lock:
        if name not in _models:
            _models[name] = Model(name, threads=1)
        return _models[name]


def get_speech_timestamps(audio: Any, vad_options: Optional[VadOptions] = None, sampling_rate: int = RATE, **kwargs: Any) -> List[Dict[str, int]]:
    """Spans of speech as {"start": sample, "end": sample}."""
    if sampling_rate != RATE:
        raise ValueError(f"sampling_rate is {sampling_rate}: the detector needs {RATE}")
    name = kwargs.pop("model", "silero")
    o = vad_options or VadOptions(**kwargs)
    n = len(audio)
    most = -1 if math.isinf(o.max_speech_duration_s) else int(o.max_speech_duration_s * 1000)
    spans = vad_model(name).find_speech(
        audio, threshold=o.threshold, neg_threshold=o.neg_threshold, min_speech_ms=o.min_speech_duration_ms, max_segment_ms=most,
        max_end_silence_ms=o.min_silence_duration_ms, speech_pad_ms=o.speech_pad_ms)
    return [{"start": max(0, round(s.start * RATE)), "end": min(n, round(s.end * RATE))} for s in spans]


def view_of(audio: Any) -> memoryview:
    """Samples without a copy."""
    if Samples(audio).is_int16:
        raise TypeError("voice activity detection needs float32 samples")
    return samples_view(audio)


def joined_samples(parts: Iterable[Any], most: int) -> array[float]:
    """The first samples of the parts, at most this number."""
    out = array("f")
    for part in parts:
        out.frombytes(view_of(part)[:most - len(out)].tobytes())
    return out


def collect_chunks(audio: Any, chunks: List[Dict[str, int]], sampling_rate: int = RATE,
                   max_duration: float = float("inf")) -> Tuple[List[Any], List[Dict[str, Any]]]:
    """The samples of the spans, joined to parts of at most ``max_duration`` seconds, and for each part where it comes from."""
    whole = view_of(audio)
    parts: List[Any] = []
    about: List[Dict[str, Any]] = []
    spans: List[Dict[str, int]] = []
    joined, before = array("f"), 0
    for chunk in chunks:
        piece = whole[chunk["start"]:chunk["end"]]
        if spans and (len(joined) + len(piece)) / sampling_rate > max_duration:
            parts.append(as_array(joined))
            about.append({"offset": before / sampling_rate, "duration": len(joined) / sampling_rate, "segments": spans})
            before += len(joined)
            joined, spans = array("f"), []
        joined.frombytes(piece.tobytes())
        spans.append(chunk)
    parts.append(as_array(joined))
    about.append({"offset": before / sampling_rate, "duration": len(joined) / sampling_rate, "segments": spans})
    return parts, about


class SpeechTimestampsMap:
    """From times in audio without pauses to times in the original."""

    def __init__(self, chunks: List[Dict[str, int]], sampling_rate: int, time_precision: int = 2) -> None:
        self.sampling_rate, self.time_precision = sampling_rate, time_precision
        self.ends: List[int] = []
        self.removed: List[float] = []
        end, silent = 0, 0
        for chunk in chunks:
            silent += chunk["start"] - end
            end = chunk["end"]
            self.ends.append(end - silent)
            self.removed.append(silent / sampling_rate)

    def get_original_time(self, time: float, chunk_index: Optional[int] = None, is_end: bool = False) -> float:
        index = self.get_chunk_index(time, is_end) if chunk_index is None else chunk_index
        return round(self.removed[index] + time, self.time_precision)

    def get_chunk_index(self, time: float, is_end: bool = False) -> int:
        sample = int(time * self.sampling_rate)
        if is_end and sample in self.ends:
            return self.ends.index(sample)
        return min(bisect.bisect(self.ends, sample), len(self.ends) - 1)


__all__ = ["SpeechTimestampsMap", "VadOptions", "collect_chunks", "get_speech_timestamps"]
