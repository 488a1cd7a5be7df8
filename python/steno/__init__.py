# steno: speech to text from Python. SPDX-License-Identifier: MIT
"""Speech recognition on the CPU::

    import steno
    model = steno.Model("base")
    for segment in model.transcribe("talk.mp3"):
        print(segment.start, segment.end, segment.text)
``steno.faster_whisper`` and ``steno.whisper`` have the interfaces of faster-whisper and openai-whisper.
"""
from __future__ import annotations

from ._abi import VERSION as __version__

TYPE_CHECKING = False # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from . import faster_whisper as faster_whisper
    from . import ray as ray
    from . import whisper as whisper
    from ._audio import Audio as Audio
    from ._batch import Job as Job
    from ._errors import AudioError as AudioError
    from ._errors import Canceled as Canceled
    from ._errors import Error as Error
    from ._errors import HubError as HubError
    from ._errors import MemoryLimit as MemoryLimit
    from ._errors import ModelError as ModelError
    from ._errors import OptionError as OptionError
    from ._live import Live as Live
    from ._model import Model as Model
    from ._names import models as models
    from ._run import Run as Run
    from ._values import Event as Event
    from ._values import Generated as Generated
    from ._values import ModelInfo as ModelInfo
    from ._values import Result as Result
    from ._values import Segment as Segment
    from ._values import Span as Span
    from ._values import Token as Token
    from ._values import Word as Word
    from .faster_whisper import BatchedInferencePipeline as BatchedInferencePipeline
    from .faster_whisper import WhisperModel as WhisperModel
    from .whisper import load_model as load_model

_HOMES = {
    "_audio": ("Audio",), "_batch": ("Job",), "_live": ("Live",), "_model": ("Model",), "_names": ("models",), "_run": ("Run",),
    "_errors": ("AudioError", "Canceled", "Error", "HubError", "MemoryLimit", "ModelError", "OptionError"),
    "_values": ("Event", "Generated", "ModelInfo", "Result", "Segment", "Span", "Token", "Word"),
    "faster_whisper": ("BatchedInferencePipeline", "WhisperModel"), "whisper": ("load_model",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_DOORS = ("faster_whisper", "ray", "whisper")
__all__ = [
    "__version__", "Audio", "Job", "Live", "Model", "models", "Run", "AudioError", "Canceled", "Error", "HubError", "MemoryLimit",
    "ModelError", "OptionError", "Event", "Generated", "ModelInfo", "Result", "Segment", "Span", "Token", "Word",
    "BatchedInferencePipeline", "WhisperModel", "load_model",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are used, so that ``import steno`` takes few milliseconds."""
    home = _HOME.get(name)
    if home is None and name not in _DOORS:
        raise AttributeError(f"module 'steno' has no attribute {name!r}")
    from importlib import import_module
    if home is None:
        return import_module("." + name, __name__)
    value = getattr(import_module("." + home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
