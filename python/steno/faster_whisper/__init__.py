# steno: the interface of faster-whisper 1.2.1. SPDX-License-Identifier: MIT
"""faster-whisper's interface: change ``from faster_whisper import WhisperModel`` to ``from steno.faster_whisper import WhisperModel``."""
from __future__ import annotations

from .audio import decode_audio
from .transcribe import BatchedInferencePipeline, WhisperModel
from .utils import available_models, download_model, format_timestamp

__version__ = "1.2.1"
__all__ = ["available_models", "decode_audio", "WhisperModel", "BatchedInferencePipeline", "download_model", "format_timestamp", "__version__"]
