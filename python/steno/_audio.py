# steno: audio as a source of the library. SPDX-License-Identifier: MIT
"""Audio as a path, the bytes of a file, a file object, or samples at 16 kHz, as a source that the library reads in pieces."""
from __future__ import annotations

import ctypes
import os
from typing import IO, Any, Callable, Optional, Union

from . import _abi
from ._errors import AudioError, Canceled, Error, OptionError
from ._native import OPEN, READ, REWIND, STOP, Failure, lib, new, pointer, text_of

RATE = 16000
Audio = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], Any]


def samples_view(audio: Any) -> memoryview:
    try:
        return memoryview(audio)
    except (TypeError, BufferError, ValueError):
        pass
    if hasattr(audio, "__array__"):  # a tensor
        return memoryview(audio.__array__())
    raise TypeError(f"audio must be a path, bytes, a file object or samples, not {type(audio).__name__}")


class Samples:
    """The address of mono samples at 16 kHz, float32 or int16, which stay referenced."""

    def __init__(self, audio: Any) -> None:
        view = samples_view(audio)
        kind = view.format.lstrip("<=@")
        if kind not in ("f", "h"):
            raise TypeError(f"samples must be float32 or int16, not {_kind_name(audio, view)}")
        if view.ndim != 1:
            raise ValueError(f"samples must have one dimension, not the shape {tuple(view.shape or ())}")
        if not view.c_contiguous:
            raise ValueError("samples must be contiguous: pass a copy")
        self.is_int16 = kind == "h"
        self.n = view.nbytes // view.itemsize
        self.item = view.itemsize
        if view.readonly:
            at = getattr(audio, "__array_interface__", None)
            if at is not None:
                self.keep, self.address = audio, at["data"][0]
                return
            view = memoryview(bytearray(view))
        flat = view.cast("B")
        kept = (ctypes.c_char * len(flat)).from_buffer(flat) if len(flat) else None
        self.keep, self.address = kept, ctypes.addressof(kept) if kept is not None else 0


def _kind_name(audio: Any, view: memoryview) -> str:
    return str(getattr(audio, "dtype", None) or {"d": "float64", "i": "int32", "l": "int64", "q": "int64"}.get(view.format, view.format))


class Converter:
    """int16 samples at 16 kHz as floats: divided by 32768."""

    def __init__(self) -> None:
        self.resampler = ctypes.c_void_p()

    def write(self, pcm: int, at: int, n: int) -> int:
        """Write n floats to the address pcm. Returns n, or a negative status."""
        if not self.resampler:
            rc: int = lib.steno_resampler_open(ctypes.byref(self.resampler), 0, RATE, 1, None)
            if rc < 0:
                return rc
        out = ctypes.c_void_p()
        got: int = lib.steno_resampler_push(self.resampler, at, n * 2, ctypes.byref(out), None)
        if got > 0 and out.value:
            ctypes.memmove(pcm, out.value, got * 4)
        return got

    def close(self) -> None:
        if self.resampler:
            lib.steno_resampler_close(self.resampler)
            self.resampler = ctypes.c_void_p()


class Source:
    """A steno_source and what it reads from. ``close`` frees it; the library must not use it then."""

    def __init__(self) -> None:
        self.struct = new("steno_source")
        self.duration: Optional[float] = None

    @property
    def at(self) -> Any:
        return ctypes.byref(self.struct)

    def rewind(self) -> None:
        """Go back to the first sample, for another reading."""
        if REWIND(self.struct.rewind)(self.struct.user) < 0:
            raise self.error(AudioError("the audio cannot go back to its start", "ESOURCE"))

    def error(self, otherwise: Error) -> Error:
        return otherwise

    def interrupt(self) -> None:
        pass

    def close(self) -> None:
        pass


class SampleSource(Source):
    def __init__(self, audio: Any) -> None:
        super().__init__()
        self.samples = Samples(audio)
        self.position = 0
        self.converter = Converter()
        self.duration = self.samples.n / RATE
        self._callbacks = READ(self._read), REWIND(self._rewind)
        self.struct.read, self.struct.rewind = map(pointer, self._callbacks)

    def _read(self, user: Any, pcm: int, n: int) -> int:
        n = min(n, self.samples.n - self.position)
        at = self.samples.address + self.position * self.samples.item
        self.position += n
        if n > 0:
            if self.samples.is_int16:
                return self.converter.write(pcm, at, n)
            ctypes.memmove(pcm, at, n * 4)
        return n

    def _rewind(self, user: Any) -> int:
        self.position = 0
        return 0

    def close(self) -> None:
        self.converter.close()
        self._callbacks = self._callbacks[:0]  # type: ignore[assignment]


class MediaSource(Source):
    """A file, or an open descriptor, through libsteno-media."""

    def __init__(self, name: str, descriptor: Optional[int], unclocked: bool, channel: int, track: int,
                 stop: Optional[Callable[[], bool]]) -> None:
        super().__init__()
        self.media = ctypes.c_void_p()
        params = new("steno_media_params", unclocked=int(unclocked), track=track)

        def dup(user: Any, path: Any, e: Any) -> int:
            return _dup(descriptor)

        def is_stopped(user: Any) -> int:
            return int(stop is not None and stop())

        opened = OPEN(dup)
        if descriptor is not None:
            params.open = pointer(opened)
        asked = STOP(is_stopped)
        params.stop = pointer(asked)
        failure = Failure()
        rc = lib.steno_media_open_params(ctypes.byref(self.media), os.fsencode(name), ctypes.byref(params), failure.at)
        if rc < 0:
            raise failure.error(rc, AudioError)
        if channel >= 0:
            rc = lib.steno_media_select(self.media, channel)
            if rc < 0:
                reason = text_of(lib.steno_media_error(self.media)) or f"{name}: no channel {channel}"
                self.close()
                raise OptionError(reason, "EARG")
        lib.steno_media_source(self.media, self.at)
        declared = lib.steno_media_duration_ms(self.media)
        self.duration = declared / 1000 if declared >= 0 else None
        self.name = name

    @property
    def channels(self) -> int:
        return int(lib.steno_media_channels(self.media))

    @property
    def tracks(self) -> int:
        return int(lib.steno_media_tracks(self.media))

    def error(self, otherwise: Error) -> Error:
        reason = text_of(lib.steno_media_error(self.media)) if self.media else ""
        return AudioError(reason if self.name in reason else f"{self.name}: {reason}", "ESOURCE") if reason else otherwise

    def interrupt(self) -> None:
        if self.media:
            lib.steno_media_interrupt(self.media)

    def close(self) -> None:
        if self.media:
            lib.steno_media_close(self.media)
            self.media = ctypes.c_void_p()


def _dup(descriptor: Any) -> int:
    try:
        return os.dup(descriptor)
    except OSError:
        return _abi.ENUMS["steno_media_number"]["STENO_MEDIA_FAILED"]


def _spooled(audio: IO[bytes], stop: Optional[Callable[[], bool]]) -> int:
    """A descriptor of the rest of a file object: the file itself, or an unlinked copy."""
    import stat
    import tempfile
    try:
        number = audio.fileno()
        if stat.S_ISREG(os.fstat(number).st_mode) and audio.tell() == 0:
            return os.open(f"/proc/self/fd/{number}", os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, AttributeError, ValueError):
        pass  # not a file of the system
    with tempfile.TemporaryFile() as copy:
        _copied(audio, copy, stop)
        copy.flush()
        copy.seek(0)
        return os.dup(copy.fileno())


def _copied(audio: IO[bytes], copy: IO[bytes], stop: Optional[Callable[[], bool]]) -> None:
    """Copy a file object on a thread of its own, as a read of a pipe may wait for ever. A true ``stop`` ends it."""
    import threading
    failed: list[BaseException] = []
    done, left = threading.Event(), threading.Event()

    def pieces() -> None:
        try:
            while not left.is_set():
                piece = audio.read(1 << 16)
                if not piece:
                    break
                if not left.is_set():
                    copy.write(piece)
        except BaseException as e:  # it belongs to the caller
            failed.append(e)
        finally:
            done.set()

    threading.Thread(target=pieces, name="steno-copy", daemon=True).start()
    try:
        while not done.wait(0.02):
            if stop is not None and stop():
                raise Canceled("canceled", "ECANCELED")
    finally:
        left.set()
    if failed:
        raise failed[0]


def _memory_file(data: Any) -> int:
    descriptor = os.memfd_create("steno", os.MFD_CLOEXEC)
    view = memoryview(data).cast("B")
    while view:
        view = view[os.write(descriptor, view):]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def name_of(audio: Any) -> Optional[str]:
    """The path of an audio, or the name of its file object."""
    given: Any = audio
    if isinstance(audio, (str, os.PathLike)):
        return os.fsdecode(given)
    name = getattr(audio, "name", None)
    return name if isinstance(name, str) else None


def open_audio(audio: Audio, unclocked: bool = False, channel: int = -1, stop: Optional[Callable[[], bool]] = None,
               track: int = 0) -> Source:
    """The source of an audio. ``channel`` selects one channel of a file, -1 mixes all of them; ``track`` selects an audio track, from 1,
    and 0 is FFmpeg's choice. A true ``stop`` ends a long opening."""
    given: Any = audio
    if isinstance(audio, (str, os.PathLike)):
        return MediaSource(os.fsdecode(given), None, unclocked, channel, track, stop)
    if isinstance(audio, (bytes, bytearray)) or isinstance(audio, memoryview) and audio.format in ("B", "b", "c"):
        name, descriptor = "<bytes>", _memory_file(audio)
    elif hasattr(given, "read") and not hasattr(given, "__array__"):
        name, descriptor = str(getattr(given, "name", "<file>")), _spooled(given, stop)
    else:
        if channel >= 0 or track > 0:
            raise ValueError("channel and track select a part of a file; samples have one")
        return SampleSource(audio)
    try:
        return MediaSource(name, descriptor, unclocked, channel, track, stop)
    finally:
        os.close(descriptor)


def read_samples(audio: Audio, unclocked: bool = False, channel: int = -1) -> Any:
    """All samples of an audio: float32, mono, 16 kHz, as array.array('f')."""
    from array import array
    source = open_audio(audio, unclocked, channel)
    try:
        out = array("f")
        room = (ctypes.c_float * (1 << 18))()
        read = READ(source.struct.read)
        while True:
            n = read(source.struct.user, ctypes.addressof(room), len(room))
            if n <= 0:
                break
            out.frombytes(memoryview(room).cast("B")[:n * 4])
        if n < 0:
            raise source.error(AudioError("the audio cannot be read", "ESOURCE"))
        return out
    finally:
        source.close()
