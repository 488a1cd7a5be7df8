# steno: options as parameters of the library. SPDX-License-Identifier: MIT
"""Options are the fields of the library's structs under their own names. None means "none" for a number that may be absent."""
from __future__ import annotations

import ctypes
import math
import os
from typing import Any, Iterable, Mapping

from . import _abi
from ._native import Failure, bytes_of, field_rows, lib, new

CHOICES = { # by field: the enum, and what its enumerators have before the name of a choice
    "task": ("steno_task", "STENO_"), "guards": ("steno_guards", "STENO_GUARDS_"), "tags": ("steno_tags", "STENO_TAGS_"),
    "decoding": ("steno_decoding", "STENO_DECODING_"), "compute": ("steno_compute", "STENO_COMPUTE_"),
    "kv_type": ("steno_kv_type", "STENO_KV_"), "gelu": ("steno_gelu", "STENO_GELU_"),
    "decoder_type": ("steno_decoder_type", "STENO_DECODER_"), "pooling": ("steno_pooling", "STENO_POOLING_"),
    "schedule": ("steno_vad_schedule", "STENO_VAD_SCHEDULE_"), "rules": ("steno_vad_rules", "STENO_VAD_RULES_"),
}
LISTS: dict[str, Any] = {
    "prompt_tokens": ctypes.c_int32, "prefix_tokens": ctypes.c_int32, "clip_timestamps": ctypes.c_double,
    "fallback_temperatures": ctypes.c_double, "stop": ctypes.c_char_p,
}
CALLS = ("size", "pad", "pad2", "pad3", "user", "resume", "n_resume", "team", "share_with")
_fields: dict[str, dict[str, str]] = {}


def fields_of(name: str) -> dict[str, str]:
    """The kinds of a struct's options: its fields but for callbacks, lengths and padding."""
    found = _fields.get(name)
    if found is None:
        rows = field_rows(name)
        names = {row[0] for row in rows}
        objects = ("vad_model", "vad", *LISTS)
        found = _fields[name] = {
            field: kind for field, kind, _ in rows
            if field not in CALLS and not (kind == "p" and field not in objects) and not (field.startswith("n_") and field[2:] in names)
        }
    return found


def choice(field: str, value: str) -> int:
    enum, prefix = CHOICES[field]
    names = _abi.ENUMS[enum]
    number = names.get(prefix + value.upper())
    if number is None:
        words = ", ".join(n[len(prefix):].lower() for n in names)
        raise ValueError(f"{field} is {value!r}, not one of: {words}")
    return number


class Params:
    """A struct of the library with the given options. It keeps what its pointers point to."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.struct = new(name)
        self.keep: list[Any] = []
        fields = fields_of(name)
        for key, value in options.items():
            kind = fields.get(key)
            if kind is None:
                raise TypeError(f"unexpected option {key!r}; the options are: {', '.join(sorted(fields))}")
            try:
                self._put(key, kind, value)
            except (TypeError, ctypes.ArgumentError) as e:
                raise TypeError(f"{key} cannot be {value!r}: {e}") from None
            except OverflowError:
                raise ValueError(f"{key} is {value!r}, which is out of range") from None

    @property
    def at(self) -> Any:
        return ctypes.byref(self.struct)

    def _put(self, key: str, kind: str, value: Any) -> None:
        if key in LISTS:
            self._put_list(key, value)
        elif key == "vad_model":
            self.keep.append(value)
            self.struct.vad_model = value._handle() if value is not None else None
        elif key == "vad":
            vad = Params("steno_vad_params", value) if value is not None else None
            self.keep.append(vad)
            self.struct.vad = ctypes.cast(ctypes.pointer(vad.struct), ctypes.c_void_p) if vad else None
        elif kind == "z":
            if key in ("vocab", "llm", "jieba_dict") and value is not None:
                setattr(self.struct, key, os.fsencode(value))
            else:
                words: Any = value
                setattr(self.struct, key, bytes_of("\n".join(words) if key == "hotwords" and isinstance(value, (list, tuple)) else words))
        elif kind in ("f8", "f4"):
            setattr(self.struct, key, math.nan if value is None else value)
        elif isinstance(value, str):
            if key not in CHOICES:
                raise TypeError("a number is needed")
            setattr(self.struct, key, choice(key, value))
        else:
            number: int = int(value)
            if number != value:
                raise TypeError("an integer is needed")
            bits = int(kind[1]) * 8
            low = 0 if kind[0] == "u" else -1 << (bits - 1)
            if not low <= number < low + (1 << bits):
                raise OverflowError
            setattr(self.struct, key, number)

    def _put_list(self, key: str, value: Any) -> None:
        items: list[Any] = list(value) if value is not None else []
        if key == "clip_timestamps":
            items = flat_spans(items)
        if key == "stop":
            items = [bytes_of(item) for item in items]
        array = (LISTS[key] * len(items))(*items)
        self.keep.append(array)
        setattr(self.struct, key, ctypes.cast(array, ctypes.c_void_p) if items else None)
        setattr(self.struct, "n_" + key, len(items))

    def check(self, model: Any, call: str) -> None:
        """The library's check, before any audio is read."""
        failure = Failure()
        rc = lib.steno_params_check(model, _abi.ENUMS["steno_call"]["STENO_CALL_" + call], self.at, None, failure.at)
        if rc < 0:
            raise failure.error(rc)


def flat_spans(items: Iterable[Any]) -> list[float]:
    """Seconds from numbers, spans or {"start": s, "end": s}."""
    out: list[float] = []
    for item in items:
        if isinstance(item, (Mapping, tuple)):
            pair: Any = item # type: ignore[misc,unused-ignore]
            first, last = ("start", "end") if isinstance(item, Mapping) else (0, 1)
            out += [float(pair[first]), float(pair[last])]
        else:
            out.append(float(item))
    return out


def served(model: Any, call: str) -> set[str]:
    """The options of a call that the model supports."""
    names: set[str] = set()
    row, i = new("steno_param"), 0
    number = _abi.ENUMS["steno_call"]["STENO_CALL_" + call]
    while lib.steno_param_get(model, number, i, ctypes.byref(row)) == 0:
        if row.served:
            names.add(row.name.decode())
        i += 1
    return names
