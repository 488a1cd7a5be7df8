# steno: audio for openai-whisper's interface. SPDX-License-Identifier: MIT
"""Samples at 16 kHz, and their log-mel spectrogram. Needs numpy."""
from __future__ import annotations

import ctypes
from typing import Any, Optional

from .._audio import Samples, read_samples
from .._native import lib

SAMPLE_RATE = 16000
N_FFT = 400
HOP_LENGTH = 160
CHUNK_LENGTH = 30
N_SAMPLES = CHUNK_LENGTH * SAMPLE_RATE
N_FRAMES = N_SAMPLES // HOP_LENGTH


def load_audio(file: str, sr: int = SAMPLE_RATE) -> Any:
    """Samples of an audio file: a numpy array of float32."""
    import numpy
    if sr != SAMPLE_RATE:
        raise ValueError(f"sr is {sr}: models need {SAMPLE_RATE}")
    return numpy.frombuffer(read_samples(file, True), dtype=numpy.float32)


def pad_or_trim(array: Any, length: int = N_SAMPLES, *, axis: int = -1) -> Any:
    """The array with this length along an axis: cut, or padded with zeros."""
    import numpy
    n = array.shape[axis]
    if n > length:
        return array.take(range(length), axis=axis)
    pads = [(0, 0)] * array.ndim
    pads[axis] = (0, length - n)
    return numpy.pad(array, pads) if n < length else array


def log_mel_spectrogram(audio: Any, n_mels: int = 80, padding: int = 0, device: Optional[Any] = None, *, model: Any = None) -> Any:
    """The log-mel spectrogram of samples or a file: [n_mels, frames] of float32. ``model`` is a loaded model with these mel bands."""
    import numpy
    if model is None:
        raise NotImplementedError("log_mel_spectrogram needs a model: log_mel_spectrogram(audio, model=model), or model.log_mel(audio)")
    if isinstance(audio, str):
        audio = load_audio(audio)
    if padding:
        audio = numpy.pad(audio, (0, padding))
    samples = Samples(audio)
    if samples.is_int16:
        raise TypeError("audio must be float32")
    bands = model.dims.n_mels
    if n_mels != bands:
        raise ValueError(f"n_mels is {n_mels}: the model has {bands}")
    if device is not None and str(device) != "cpu":
        raise ValueError(f"device is {device!r}: steno computes on the CPU")
    handle = model._steno._handle()
    n = int(lib.steno_mel(handle, samples.address, samples.n, None, 0))
    out: Any = numpy.empty((max(0, n), bands), dtype=numpy.float32)
    if n > 0:
        lib.steno_mel(handle, samples.address, samples.n, ctypes.c_void_p(out.ctypes.data), n)
    bands_first: Any = out.T
    return numpy.ascontiguousarray(bands_first)
