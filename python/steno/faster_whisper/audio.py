# steno: decoding of audio for faster-whisper's interface. SPDX-License-Identifier: MIT
"""Audio as samples at 16 kHz: numpy arrays where numpy is installed, else array.array('f')."""
from __future__ import annotations

from typing import Any, BinaryIO, Union

from .._audio import MediaSource, open_audio, read_samples


def as_array(samples: Any) -> Any:
    """Samples as a numpy array, if numpy is installed."""
    try:
        import numpy
    except ImportError:
        return samples
    return numpy.frombuffer(samples, dtype=numpy.float32)


def decode_audio(input_file: Union[str, BinaryIO], sampling_rate: int = 16000, split_stereo: bool = False) -> Any:
    """Decode audio to mono samples, or with ``split_stereo`` to the samples of the left and the right channel."""
    if sampling_rate != 16000:
        raise ValueError(f"sampling_rate is {sampling_rate}: models need 16000")
    if not split_stereo:
        return as_array(read_samples(input_file, True))
    if hasattr(input_file, "read"):
        input_file = input_file.read()  # type: ignore[assignment]
    source = open_audio(input_file, True)
    channels = source.channels if isinstance(source, MediaSource) else 1
    source.close()
    left = as_array(read_samples(input_file, True, 0))
    return left, as_array(read_samples(input_file, True, 1)) if channels > 1 else left
