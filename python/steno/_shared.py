# steno: what the interfaces of faster-whisper and openai-whisper share. SPDX-License-Identifier: MIT
"""Names of models, punctuation, temperatures, clips, times and progress, as both interfaces have them."""
from __future__ import annotations

import warnings
from typing import Any, Dict, List, Sequence, Tuple, Union

NAMES = ("tiny.en", "tiny", "base.en", "base", "small.en", "small", "medium.en", "medium", "large-v1", "large-v2", "large-v3", "large",
         "large-v3-turbo", "turbo")
OWN_NAMES = {"large": "large-v3", "turbo": "large-v3-turbo"} # those of steno's table
APPEND = "\"'.。,，!！?？:：”)]}、"
PREPEND = "\"'“¿([{-"


def format_timestamp(seconds: float, always_include_hours: bool = False, decimal_marker: str = ".") -> str:
    """A time as "MM:SS.mmm", or with hours as "HH:MM:SS.mmm"."""
    if seconds < 0:
        raise AssertionError("non-negative timestamp expected")
    ms = round(seconds * 1000)
    hours, minutes = divmod(ms // 60000, 60)
    head = f"{hours:02d}:" if always_include_hours or hours else ""
    return f"{head}{minutes:02d}:{ms // 1000 % 60:02d}{decimal_marker}{ms % 1000:03d}"


def steps_of(temperature: Union[float, List[float], Tuple[float, ...]]) -> List[float]:
    return [float(t) for t in temperature] if isinstance(temperature, (list, tuple)) else [float(temperature)]


def temperature_options(steps: Sequence[float]) -> Dict[str, Any]:
    """The library's options for one temperature, or for those of several attempts."""
    if not steps:
        raise ValueError("temperature is an empty list")
    if any(after <= before for before, after in zip(steps, steps[1:])):
        raise ValueError(f"temperature {list(steps)}: each one must be above the one before")
    out: Dict[str, Any] = {"temperature": float(steps[0])}
    if len(steps) == 1:
        out["temperature_increment_on_fallback"] = None
    else:
        out["fallback_temperatures"] = list(steps[1:])
    return out


def clip_seconds(clips: Union[str, Sequence[float]]) -> List[float]:
    if isinstance(clips, str):
        clips = [float(c) for c in clips.split(",")] if clips else []
    return [] if list(clips) == [0] else [float(c) for c in clips]


class Progress:
    """A bar of tqdm, where it is installed, else nothing."""

    def __init__(self, total: float, shown: bool, unit: str) -> None:
        self.bar: Any = None
        if shown:
            try:
                from tqdm import tqdm
            except ImportError:
                warnings.warn("log_progress needs the package tqdm", stacklevel=3)
                return
            self.bar = tqdm(total=round(total, 2), unit=unit)

    def at(self, done: float) -> None:
        if self.bar is not None:
            self.bar.update(round(min(done, self.bar.total) - self.bar.n, 2))

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
