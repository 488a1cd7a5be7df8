# steno: the library through ctypes. SPDX-License-Identifier: MIT
"""The library. It is opened at the first call; a function gets its types at its first use. Calls release the GIL."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable

from . import _abi
from ._errors import Error, error_of

TYPES: dict[str, Any] = {
    "i4": ctypes.c_int32, "u4": ctypes.c_uint32, "i8": ctypes.c_int64, "u8": ctypes.c_uint64, "f4": ctypes.c_float, "f8": ctypes.c_double,
    "z": ctypes.c_char_p, "p": ctypes.c_void_p,
    "i": ctypes.c_int32, "I": ctypes.c_uint32, "q": ctypes.c_int64, "Q": ctypes.c_uint64, "f": ctypes.c_float, "d": ctypes.c_double,
    "v": None,
}
_structs: dict[str, Any] = {}
_free: Any = None


def field_rows(name: str) -> list[tuple[str, str, int]]:
    """(name, kind, offset) of each field of a struct."""
    rows: list[tuple[str, str, int]] = []
    for part in _abi.STRUCTS[name][1].split():
        field, _, rest = part.partition(":")
        kind, _, offset = rest.partition("@")
        rows.append((field, kind, int(offset)))
    return rows


def _field_type(kind: str) -> Any:
    if kind[0] == "s":
        return ctypes.c_char * int(kind[1:])
    base, _, n = kind.partition("*")
    return TYPES[base] * int(n) if n else TYPES[base]


def struct_type(name: str) -> Any:
    """The ctypes structure of a public struct; its size is the compiler's."""
    made = _structs.get(name)
    if made is None:
        fields = [(field, _field_type(kind)) for field, kind, _ in field_rows(name)]
        made = type(name, (ctypes.Structure,), {"_fields_": fields})
        if ctypes.sizeof(made) != _abi.STRUCTS[name][0]:
            raise ImportError(f"steno: {name} has {ctypes.sizeof(made)} bytes here, {_abi.STRUCTS[name][0]} in the library")
        _structs[name] = made
    return made


def new(name: str, **values: Any) -> Any:
    """A struct. One with parameters has the library's defaults, and another one its size."""
    s = struct_type(name)()
    fill = name + "_fill"
    if fill in _abi.FUNCTIONS:
        getattr(lib, fill)(ctypes.byref(s), ctypes.sizeof(s))
    elif name + "_init" in _abi.FUNCTIONS:
        getattr(lib, name + "_init")(ctypes.byref(s))
    elif _abi.STRUCTS[name][1].startswith("size:u4"):
        s.size = ctypes.sizeof(s)
    for field, value in values.items():
        setattr(s, field, value)
    return s


def library_path() -> str:
    return os.environ.get("STENO_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libsteno-python.so")


class Library:
    """Functions of the library as attributes. ``library.steno_cancel(session)``."""

    def __init__(self) -> None:
        self._dll: Any = None

    def _open(self) -> Any:
        path = library_path()
        try:
            dll = ctypes.CDLL(path)
        except OSError as e:
            raise ImportError(f"steno: the library cannot be opened: {e}") from None
        dll.steno_version.restype = ctypes.c_char_p
        found = dll.steno_version().decode()
        if found != _abi.VERSION:
            raise ImportError(f"steno: {path} has version {found}, this package needs {_abi.VERSION}")
        missing = [name for name in _abi.FUNCTIONS if not hasattr(dll, name)]
        if missing:
            raise ImportError(f"steno: {path} has no {missing[0]}; this package needs libsteno-python.so, which has all parts of the library")
        self._dll = dll
        return dll

    def __getattr__(self, name: str) -> Callable[..., Any]:
        signature = _abi.FUNCTIONS.get(name)
        if signature is None:
            raise AttributeError(name)
        function = getattr(self._dll or self._open(), name)
        result, _, arguments = signature.partition(":")
        function.restype = TYPES[result]
        function.argtypes = [TYPES[a] for a in arguments]
        setattr(self, name, function)
        return function  # type: ignore[no-any-return]


lib = Library()


def text_of(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


def bytes_of(text: str | None) -> bytes | None:
    """Text for the library: UTF-8 without zero bytes."""
    if text is None:
        return None
    data = text.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise ValueError("a text contains a zero byte")
    return data


def taken_text(at: ctypes.c_void_p, n: int) -> str:
    """The text at an address that the library allocated, which is freed."""
    global _free
    try:
        return ctypes.string_at(at.value or 0, n).decode("utf-8")
    finally:
        if _free is None:
            _free = ctypes.CDLL(None).free
            _free.argtypes, _free.restype = [ctypes.c_void_p], None
        _free(at)


class Failure:
    """A steno_error, and the exception of its status."""

    def __init__(self) -> None:
        self.struct = new("steno_error")

    @property
    def at(self) -> Any:
        return ctypes.byref(self.struct)

    def error(self, status: int, otherwise: type[Error] = Error) -> Error:
        text = text_of(self.struct.text) or text_of(lib.steno_status_text(status))
        return error_of(status, text, otherwise)


def call_type(*kinds: str) -> Any:
    """A type of callbacks: the kind of the result, then those of the arguments."""
    return ctypes.CFUNCTYPE(*(TYPES[k] for k in kinds))


def pointer(callback: Any) -> Any:
    """The address of a callback, for a field of a struct. The callback must stay referenced."""
    return ctypes.cast(callback, ctypes.c_void_p)


READ = call_type("q", "p", "p", "q")
REWIND = call_type("i", "p")
STOP = call_type("i", "p")
ON_SEGMENT = call_type("v", "p", "p")
ON_WINDOW = call_type("i", "p", "q")
ON_PROGRESS = call_type("v", "p", "q", "q")
ON_DONE = call_type("v", "p", "p", "i")
ON_TOKEN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
ON_EVENT = call_type("v", "p", "p")
OPEN = call_type("i", "p", "z", "p")
