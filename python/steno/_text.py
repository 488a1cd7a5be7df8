# steno: times as both interfaces write them. SPDX-License-Identifier: MIT
from __future__ import annotations


def format_timestamp(seconds: float, always_include_hours: bool = False, decimal_marker: str = ".") -> str:
    """A time as "MM:SS.mmm", or with hours as "HH:MM:SS.mmm"."""
    if seconds < 0:
        raise AssertionError("non-negative timestamp expected")
    ms = round(seconds * 1000)
    hours, minutes = divmod(ms // 60000, 60)
    head = f"{hours:02d}:" if always_include_hours or hours else ""
    return f"{head}{minutes:02d}:{ms // 1000 % 60:02d}{decimal_marker}{ms % 1000:03d}"
