# steno: errors with the library's text. SPDX-License-Identifier: MIT
"""Errors that steno raises. Each has the library's text, and the name of its status as ``status``."""
from __future__ import annotations


class Error(RuntimeError):
    """A call of the library failed. ``status`` is the name of its status: "EARG", "ENOMEM", "EIO", ..."""

    def __init__(self, text: str, status: str = "") -> None:
        super().__init__(text)
        self.status = status

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return type(self), (str(self), self.status)


class OptionError(Error, ValueError):
    """An option is out of range, unknown, or does not fit the model."""


class ModelError(Error):
    """A model cannot be opened: it is damaged, not supported, or has no vocabulary."""


class AudioError(Error):
    """Audio cannot be opened or read."""


class MemoryLimit(Error, MemoryError):
    """The library ran out of memory."""


class Canceled(Error):
    """The call was cancelled."""


class HubError(Error):
    """A model is not on this machine and could not be downloaded."""


STATUS_NAMES = {
    -1: "EARG", -2: "ENOMEM", -3: "EIO", -4: "EFORMAT", -5: "EUNSUPPORTED", -6: "ECANCELED", -7: "ESOURCE", -8: "ENOVOCAB",
}


def error_of(status: int, text: str, otherwise: type[Error] = Error) -> Error:
    """The error of a status. EIO, EFORMAT, EUNSUPPORTED, ESOURCE and ENOVOCAB become ``otherwise``."""
    name = STATUS_NAMES.get(status, str(status))
    kinds: dict[str, type[Error]] = {"EARG": OptionError, "ENOMEM": MemoryLimit, "ECANCELED": Canceled, "ESOURCE": AudioError}
    return kinds.get(name, otherwise)(text, name)
