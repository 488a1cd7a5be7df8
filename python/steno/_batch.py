# steno: many audios in one batch. SPDX-License-Identifier: MIT
"""The batch runs on a thread of its own. The reader opens inputs and submits them, so that an iterable runs on the reader's thread."""
from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional

from . import _abi, _worker
from ._audio import Source, name_of, open_audio
from ._errors import Canceled, ModelError
from ._native import ON_DONE, ON_WINDOW, Failure, lib, new, pointer
from ._run import Request, failure_of, finish, segments_of
from ._values import Result

if TYPE_CHECKING:
    from ._model import Model


class Job:
    """An input with an id and options of its own. ``channel`` and ``track`` are those of ``Model.transcribe``."""

    def __init__(self, audio: Any, id: Any = None, *, channel: int = -1, track: int = 0, **options: Any) -> None:
        self.audio, self.id, self.channel, self.track, self.options = audio, id, channel, track, options


class Slot:
    """A session of the batch, and the input that it has."""

    def __init__(self, core: Core) -> None:
        self.handle = ctypes.c_void_p()
        self.number = -1
        self.request: Optional[Request] = None
        self.source: Optional[Source] = None
        params, failure = new("steno_session_params", max_lanes=core.lanes, batch=core.handle), Failure()
        rc = lib.steno_session_open(ctypes.byref(self.handle), core.model._handle(), core.team, ctypes.byref(params), failure.at)
        if rc < 0:
            raise failure.error(rc, ModelError)


class Core:
    """The batch with its thread. It does not refer to its reader, so that an abandoned batch ends."""

    def __init__(self, model: Model, windows: int, lanes: int) -> None:
        self.model, self.lanes = model, lanes
        self.team = model._open_team()
        self.handle, failure = ctypes.c_void_p(), Failure()
        self.changed = threading.Condition()
        self.slots: dict[int, Slot] = {}
        self.free: deque[Slot] = deque()
        self.done: deque[tuple[int, Result]] = deque()
        self.stopped = self.ended = False
        self._done = ON_DONE(self.on_done)
        params = new("steno_batch_params", max_windows=windows, max_lanes=lanes, on_done=pointer(self._done),
                     draft_model=model._draft._handle() if model._draft is not None else None)
        rc = lib.steno_batch_open(ctypes.byref(self.handle), model._handle(), self.team, ctypes.byref(params), failure.at)
        if rc < 0:
            raise failure.error(rc, ModelError)
        try:
            model._enter(self)
            self.thread = _worker.start(self.run, self.cancel)
        except BaseException:
            model._leave(self)
            lib.steno_batch_close(self.handle)
            raise
        _worker.watch_fork(self)

    def _after_fork(self) -> None:
        self.changed, self.ended = threading.Condition(), True # its thread is in the parent process

    def run(self) -> None:
        lib.steno_batch_run_as(self.handle, _abi.ENUMS["steno_run_mode"]["STENO_RUN_SERVE"])
        with self.changed:
            self.ended = True
            for slot in self.slots.values():
                lib.steno_session_close(slot.handle)
            self.slots.clear()
            lib.steno_batch_close(self.handle)
            self.changed.notify_all()
        self.model._leave(self)

    def on_done(self, user: Any, session: int, status: int) -> None:
        with self.changed:
            slot = self.slots[session]
            request, source = slot.request, slot.source
        assert request is not None and source is not None
        try:
            if status < 0:
                raise failure_of(slot.handle, status, source)
            result = finish(slot.handle, self.model, request, segments_of(slot.handle, request), source, lambda: self.stopped)
        except Exception as e:
            result = failed(request.name, request.id, e)
        source.close()
        with self.changed:
            self.done.append((slot.number, result))
            slot.request = slot.source = None
            self.free.append(slot)
            self.changed.notify_all()

    def cancel(self) -> None:
        with self.changed:
            if not self.ended:
                self.stopped = True
                for slot in self.slots.values():
                    if slot.source is not None:
                        lib.steno_cancel(slot.handle)
                        slot.source.interrupt()
                lib.steno_batch_stop(self.handle)

    def submit(self, number: int, request: Request, source: Source) -> None:
        if request.one_window:
            request.keep = only_first_window()
            request.params.struct.on_window = pointer(request.keep)
        with self.changed:
            if self.ended or self.stopped:
                raise Canceled("canceled", "ECANCELED")
            if not self.free:
                slot = Slot(self)
                self.slots[slot.handle.value or 0] = slot
                self.free.append(slot)
            slot = self.free[0]
            rc = lib.steno_batch_add(self.handle, slot.handle, source.at, request.params.at)
            if rc < 0:
                raise failure_of(slot.handle, rc, source)
            self.free.popleft()
            slot.number, slot.request, slot.source = number, request, source


def only_first_window() -> Any:
    """A callback that ends a request after its first window."""
    windows: list[int] = []

    def on_window(user: Any, at_ms: int) -> int:
        windows.append(at_ms)
        return int(len(windows) == 1)
    return ON_WINDOW(on_window)


def failed(name: Any, id: Any, error: Exception) -> Result:
    return Result([], "", "", 0.0, 0.0, name, id, {}, error)


class Batch(Iterator[Result]):
    """Results of many audios. ``close`` cancels those that run; so does the end of a ``with`` block."""

    def __init__(self, model: Model, audio: Iterable[Any], windows: int, ordered: bool, on_error: str, unclocked: bool,
                 options: dict[str, Any]) -> None:
        if on_error not in ("yield", "raise"):
            raise ValueError(f"on_error is {on_error!r}, not one of: yield, raise")
        self._model, self._inputs, self._ordered, self._on_error = model, iter(audio), ordered, on_error
        self._unclocked, self._options = unclocked, options
        request = model._request(dict(options))
        self._lanes = request.lanes
        if windows < 1:
            raise ValueError(f"batch_size is {windows}, must be 1 or more")
        self._windows = min(windows, 256 // self._lanes)
        self._core: Optional[Core] = None
        self._room = self._windows + min(self._windows, 8) # inputs that are open at the same time
        self._open, self._next, self._given, self._more = 0, 0, 0, True
        self._waiting: dict[int, Result] = {}

    def _feed(self) -> None:
        while self._more and self._open < self._room:
            try:
                item = next(self._inputs)
            except StopIteration:
                self._more = False
                return
            number, self._next, self._open = self._next, self._next + 1, self._open + 1
            job = item if isinstance(item, Job) else Job(item)
            name = name_of(job.audio)
            try:
                request = self._model._request({**self._options, **job.options}, name=name)
                request.id = job.id if job.id is not None else name
                if request.lanes > self._lanes:
                    raise ValueError("a job cannot have more beams or candidates than the batch")
                source = open_audio(job.audio, self._unclocked, job.channel, track=job.track)
                try:
                    self._running().submit(number, request, source)
                except BaseException:
                    source.close()
                    raise
            except Exception as e:
                self._waiting[number] = failed(name, job.id if job.id is not None else name, e)

    def _running(self) -> Core:
        if self._core is None:
            self._core = Core(self._model, self._windows, self._lanes)
            weakref.finalize(self, self._core.cancel).atexit = False
        return self._core

    def _ready(self) -> Optional[Result]:
        if self._core is not None:
            with self._core.changed:
                while self._core.done:
                    number, result = self._core.done.popleft()
                    self._waiting[number] = result
        number = self._given if self._ordered else next(iter(self._waiting), -1)
        return self._waiting.pop(number, None)

    def __iter__(self) -> Batch:
        return self

    def __next__(self) -> Result:
        try:
            while True:
                self._feed()
                result = self._ready()
                if result is not None:
                    self._open, self._given = self._open - 1, self._given + 1
                    if result.error is not None and self._on_error == "raise":
                        raise result.error
                    return result
                if self._open == 0 and not self._more:
                    self.close()
                    raise StopIteration
                assert self._core is not None
                with self._core.changed:
                    while not self._core.done and not self._core.ended:
                        self._core.changed.wait()
                    if self._core.ended and not self._core.done:
                        raise Canceled("canceled", "ECANCELED")
        except StopIteration:
            raise
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        """Cancel what runs. From any thread, at any time."""
        self._more, core = False, self._core
        if core is not None:
            core.cancel()

    def close(self) -> None:
        """Cancel what runs, and wait for its end."""
        self.cancel()
        core = self._core
        if core is not None:
            if core.thread is threading.current_thread():
                return # a collected reader closes it in one of its callbacks
            with core.changed:
                while not core.ended:
                    core.changed.wait(0.01)
            self._core = None
            self._open = 0

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
