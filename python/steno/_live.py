# steno: live transcription. SPDX-License-Identifier: MIT
"""Samples are pushed as they arrive; events come back: words that may change, words that are final, and ends of turns."""
from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional

from . import _worker
from ._audio import Converter, Samples
from ._errors import ModelError, OptionError, error_of
from ._native import ON_EVENT, Failure, lib, new, pointer, struct_type, text_of
from ._params import Params
from ._values import Event

if TYPE_CHECKING:
    from ._model import Model, Session

KINDS = ("partial", "final", "endpoint")
LAST_PASSES = ("window", "turn")


class Live:
    """A live transcription::

        with model.stream(vad=steno.Model("silero")) as live:
            for samples in microphone:          # float32 or int16, mono, 16 kHz, any length
                for event in live.push(samples):
                    print(event.kind, event.text)
            for event in live.end():
                print(event.kind, event.text)
    """

    def __init__(self, model: Model, vad: Optional[Model], step_ms: Optional[int], max_turn_ms: Optional[int],
                 audio_padding_ms: Optional[int], last_pass: Optional[str], vad_options: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._model, self._vad = model, vad
        self._lock = threading.Lock() # of a call
        self._converter = Converter()
        self._session: Optional[Session] = None
        self._events: list[Event] = []
        self._handle = ctypes.c_void_p()
        self._text = Params("steno_transcribe_params", options)
        self._find = Params("steno_vad_params", vad_options)
        self._on_event = ON_EVENT(self._take_event)
        params = new("steno_live_params", vad=vad._handle() if vad is not None else None, on_event=pointer(self._on_event))
        streaming = model.supports("chunk_size") or model.supports("lookahead")
        if last_pass not in (None, *LAST_PASSES):
            raise OptionError(f"last_pass is {last_pass!r}, not 'window' or 'turn'", "EARG")
        last = None if last_pass is None else LAST_PASSES.index(last_pass)
        for name, value in (("step_ms", step_ms), ("max_turn_ms", max_turn_ms), ("audio_padding_ms", audio_padding_ms), ("last_pass", last)):
            if value is not None:
                if streaming:
                    raise OptionError(f"{name}: the model decodes chunk by chunk, see chunk_size and lookahead", "EARG")
                if name in ("audio_padding_ms", "last_pass") and not model.supports("audio_ctx"):
                    raise OptionError(f"{name} is for Whisper: passes of this model encode only the turn", "EARG")
                setattr(params, name, value)
        params.text = ctypes.cast(ctypes.pointer(self._text.struct), ctypes.c_void_p)
        params.find = ctypes.cast(ctypes.pointer(self._find.struct), ctypes.c_void_p) if vad_options else None
        failure = Failure()
        model._enter(self)
        try:
            if not streaming:
                self._session = model._take(max(1, self._text.struct.beam_size, self._text.struct.best_of))
            rc = lib.steno_live_open(ctypes.byref(self._handle), model._handle(), self._session.handle if self._session else None,
                                     model._open_team(), ctypes.byref(params), failure.at)
            if rc < 0:
                raise failure.error(rc, ModelError)
        except BaseException:
            self.close()
            raise
        _worker.watch_fork(self)

    def _take_event(self, user: Any, at: int) -> None:
        e = struct_type("steno_live_event").from_address(at)
        self._events.append(Event(KINDS[e.kind], e.turn, e.t0_ms / 1000, e.t1_ms / 1000, text_of(e.text), text_of(e.language) or None,
                                  e.spaces))

    def _call(self, work: Callable[[Any], Any]) -> list[Event]:
        failure = Failure()
        with self._lock:
            if not self._handle:
                raise ValueError("the live transcription is closed")
            rc = _worker.call(lambda: work(failure.at), self._interrupt)
            events, self._events = self._events, []
        if rc < 0:
            raise failure.error(rc)
        return events

    def _interrupt(self) -> None:
        if self._session is not None:
            self._session.cancel()

    def push(self, samples: Any, *, late: float = 0.0) -> list[Event]:
        """Push samples at 16 kHz. ``late`` is the age of the last of them in seconds: from 0.2 on, updates wait for newer audio."""
        data = Samples(samples)
        pcm: Any = ctypes.c_void_p(data.address)
        if data.is_int16:
            pcm = (ctypes.c_float * max(1, data.n))()
            rc = self._converter.write(ctypes.addressof(pcm), data.address, data.n)
            if rc < 0:
                raise error_of(rc, text_of(lib.steno_status_text(rc)))
        return self._call(lambda e: lib.steno_live_push(self._handle, pcm, data.n, int(late * 1000), e))

    def end(self) -> list[Event]:
        """End the audio, and close the open turn."""
        return self._call(lambda e: lib.steno_live_end(self._handle, e))

    def cancel(self) -> bool:
        """Close the transcription, or end the call that runs on another thread. Returns whether it is closed."""
        if not self._lock.acquire(False):
            self._interrupt()
            return False
        try:
            lib.steno_live_close(self._handle)
            self._handle = ctypes.c_void_p()
            session, self._session = self._session, None
            self._converter.close()
        finally:
            self._lock.release()
        if session is not None:
            self._model._give(session)
        self._model._leave(self)
        return True

    def close(self) -> None:
        while not self.cancel():
            time.sleep(0.002)

    def __del__(self) -> None:
        # Without locks: it may run anywhere.
        if getattr(self, "_handle", None):
            lib.steno_live_close(self._handle)
            self._converter.close()
            if self._session is not None:
                self._session.close()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._handle, self._session = ctypes.c_void_p(), None # their threads are in the parent process

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
