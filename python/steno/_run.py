# steno: a transcription that is read segment by segment. SPDX-License-Identifier: MIT
"""A run decodes on a thread of its own, while it is iterated, at most two segments ahead of its reader."""
from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, TypeVar

from . import _worker
from ._audio import Source
from ._errors import AudioError, Canceled, Error, ModelError, error_of
from ._native import ON_PROGRESS, ON_SEGMENT, ON_WINDOW, Failure, lib, new, pointer, struct_type, taken_text, text_of
from ._params import Params
from ._values import Result, Segment, Word

if TYPE_CHECKING:
    from ._model import Model

T = TypeVar("T")
AHEAD = 2 # segments that wait for the reader


class Request:
    """What a caller asked for: options of the library, and what the result has in addition to segments."""

    def __init__(self, params: Params, lanes: int, words: bool, logprobs: bool, formats: tuple[str, ...], name: Any,
                 punctuation: Optional[Model], aligner: Optional[Model], one_window: bool) -> None:
        self.params = params
        self.lanes = lanes
        self.logprobs = logprobs
        self.formats = formats
        self.name = name
        self.id: Any = name
        self.punctuation = punctuation
        self.aligner = aligner
        self.one_window = one_window
        self.keep: Any = None # callbacks of a batch
        self.words = words

    @property
    def changes_segments(self) -> bool:
        """Whether segments change after the transcription."""
        return self.punctuation is not None or self.aligner is not None


def words_of(session: Any, i: int, n: int) -> list[Word]:
    words: list[Word] = []
    row = new("steno_word")
    for j in range(n):
        if lib.steno_word_get(session, i, j, ctypes.byref(row)) == 0:
            words.append(Word(text_of(row.text), row.start, row.end, row.probability))
    return words


def logprobs_of(session: Any, i: int, n: int) -> list[float]:
    figures: list[float] = []
    row = new("steno_token")
    for j in range(n):
        if lib.steno_token_get(session, i, j, ctypes.byref(row)) == 0:
            figures.append(float(row.logprob))
    return figures


def segment_of(session: Any, s: Any, request: Request) -> Segment:
    tokens = ctypes.cast(s.tokens, ctypes.POINTER(ctypes.c_int32))[:s.n_tokens] if s.n_tokens > 0 else []
    return Segment(
        s.id, s.seek_frames, s.start, s.end, text_of(s.text), tokens, s.avg_logprob, s.compression_ratio, s.no_speech_prob, s.temperature,
        words_of(session, s.id, s.n_words) if request.words else None,
        logprobs_of(session, s.id, s.n_tokens) if request.logprobs else None,
        s.flags, text_of(s.language) or None, text_of(s.emotion) or None, text_of(s.event) or None, bool(s.speaker_turn))


def segments_of(session: Any, request: Request) -> list[Segment]:
    out: list[Segment] = []
    row = new("steno_segment")
    for i in range(lib.steno_segment_count(session)):
        lib.steno_segment_get(session, i, ctypes.byref(row))
        out.append(segment_of(session, row, request))
    return out


def language_of(session: Any, model: Model) -> tuple[str, float]:
    """The language of the session's result, and its probability: 1 if it was given."""
    code = text_of(lib.steno_language(session))
    index = lib.steno_language_id(model._handle(), code.encode()) if code else -1
    p = float(lib.steno_language_prob(session, index)) if index >= 0 else -1.0
    return code, p if p >= 0 else 1.0


def output_of(session: Any, model: Model, request: Request, form: str) -> str:
    out, n, failure = ctypes.c_void_p(), ctypes.c_size_t(), Failure()
    params = new("steno_output_params", model=model._handle(), task=request.params.struct.task, word_times=int(request.words))
    if request.name is not None:
        params.input = str(request.name).encode("utf-8", "surrogateescape")
    rc = lib.steno_output_text(ctypes.byref(out), ctypes.byref(n), session, form.encode(), ctypes.byref(params), failure.at)
    if rc < 0:
        raise failure.error(rc)
    return taken_text(out, n.value)


def finish(session: Any, model: Model, request: Request, segments: list[Segment], source: Source, stop: Callable[[], bool]) -> Result:
    """The result of a session that has transcribed the source."""
    if request.aligner is not None:
        source.rewind()
        request.aligner._align_result(session, source, request.params, stop)
    if request.punctuation is not None:
        request.punctuation._punctuate_result(session)
    if request.changes_segments:
        segments = segments_of(session, request)
    language, probability = language_of(session, model)
    return Result(segments, text_of(lib.steno_text(session)), language, probability, lib.steno_duration_ms(session) / 1000,
                  request.name, request.id, {f: output_of(session, model, request, f) for f in request.formats})


def failure_of(session: Any, status: int, source: Source) -> Exception:
    error = error_of(status, text_of(lib.steno_last_error(session)) or text_of(lib.steno_status_text(status)), ModelError)
    return source.error(error) if isinstance(error, AudioError) else error


class Work:
    """The thread of a run, and what it shares with its reader. It does not refer to the run, so that an abandoned run ends."""

    def __init__(self, model: Model, request: Request, open_source: Callable[[Callable[[], bool]], Source]) -> None:
        self.model, self.request, self.open_source = model, request, open_source
        self.changed = threading.Condition()
        self.queue: deque[Segment] = deque()
        self.segments: list[Segment] = []
        self.ready = self.wanted = self.unread = self.canceled = self.ended = False
        self.error: Optional[BaseException] = None
        self.result: Optional[Result] = None
        self.language, self.probability, self.duration, self.position = "", 1.0, math.nan, 0.0
        self.languages: dict[str, float] = {}
        self.session: Any = None
        self.thread: Optional[threading.Thread] = None
        self.source: Optional[Source] = None

    def begin(self) -> None:
        with self.changed:
            if self.thread is None:
                self.thread = _worker.start(self.run, self.cancel)
                _worker.watch_fork(self)

    def _after_fork(self) -> None:
        self.changed = threading.Condition()
        self.session = self.source = None
        if not self.ended: # its thread is in the parent process
            self.error = Error("the run belongs to the parent process")
            self.ended = self.ready = True

    def cancel(self) -> None:
        with self.changed:
            if not self.ended:
                self.canceled = True
                if self.session is not None:
                    self.session.cancel()
                if self.source is not None:
                    self.source.interrupt()
            self.changed.notify_all()

    # ---- on the thread

    def guard(self, otherwise: Any, callback: Callable[..., Any]) -> Callable[..., Any]:
        """The callback; an exception in it ends the run, and is raised by the reader."""
        def guarded(*args: Any) -> Any:
            try:
                return callback(*args)
            except BaseException as e:
                self.error = self.error or e
                self.cancel()
                return otherwise
        return guarded

    def on_window(self, user: Any, at_ms: int) -> int:
        with self.changed:
            if not self.ready:
                self.learn()
                self.ready = True
                self.changed.notify_all()
            while not self.wanted and not self.canceled:
                self.changed.wait()
            self.position = max(self.position, at_ms / 1000)
            return int(not self.canceled)

    def learn(self) -> None:
        """Read what is known before the first window."""
        handle = self.session.handle
        self.language, self.probability = language_of(handle, self.model)
        for i, code in enumerate(self.model.info.languages):
            p = float(lib.steno_language_prob(handle, i))
            if p >= 0:
                self.languages[code] = p
        ms = lib.steno_duration_ms(handle)
        if ms > 0:
            self.duration = ms / 1000

    def on_segment(self, user: Any, at: int) -> None:
        segment = segment_of(self.session.handle, struct_type("steno_segment").from_address(at), self.request)
        self.segments.append(segment)
        if not self.request.changes_segments:
            self.put(segment)

    def put(self, segment: Segment) -> None:
        with self.changed:
            while len(self.queue) >= AHEAD and not self.canceled and not self.unread:
                self.changed.wait()
            if not self.unread:
                self.queue.append(segment)
                self.changed.notify_all()

    def on_progress(self, user: Any, done_ms: int, total_ms: int) -> None:
        self.position = max(self.position, done_ms / 1000)

    def run(self) -> None:
        source = None
        try:
            self.model._enter(self)
            source = self.open_source(lambda: self.canceled)
            with self.changed:
                self.source = source
                if source.duration is not None:
                    self.duration = source.duration
            self.session = self.model._take(self.request.lanes)
            self.transcribe(source)
        except BaseException as e:
            self.error = self.error or e
        finally:
            with self.changed:
                session, self.session, self.source = self.session, None, None
            if session is not None:
                self.model._give(session) # before the end, so that the next run takes it
            if source is not None:
                source.close()
            self.model._leave(self)
            with self.changed:
                self.ended = self.ready = True
                self.changed.notify_all()

    def transcribe(self, source: Source) -> None:
        struct, handle = self.request.params.struct, self.session.handle
        callbacks = (ON_SEGMENT(self.guard(None, self.on_segment)), ON_WINDOW(self.guard(0, self.on_window)),
                     ON_PROGRESS(self.guard(None, self.on_progress)))
        struct.on_segment, struct.on_window, struct.on_progress = map(pointer, callbacks)
        if self.canceled:
            raise Canceled("canceled", "ECANCELED")
        rc = lib.steno_transcribe_source(handle, source.at, self.request.params.at)
        if self.error is not None:
            raise self.error
        if self.canceled:
            raise Canceled("canceled", "ECANCELED")
        if rc < 0:
            raise failure_of(handle, rc, source)
        self.learn()
        result = finish(handle, self.model, self.request, self.segments, source, lambda: self.canceled)
        if self.request.changes_segments:
            for segment in result.segments:
                self.put(segment)
        self.result = result

    # ---- for the reader

    def known(self) -> Work:
        """Itself, when language and duration are known."""
        self.begin()
        with self.changed:
            while not self.ready:
                self.changed.wait()
        if self.error is not None and not self.queue:
            raise self.error
        return self

    def whole(self) -> Result:
        """The result at the end. The thread waits for no reader until then."""
        self.begin()
        with self.changed:
            self.wanted = self.unread = True
            self.queue.clear()
            self.changed.notify_all()
            while not self.ended:
                self.changed.wait()
        if self.result is None:
            raise self.error or Canceled("canceled", "ECANCELED")
        return self.result

    def next(self) -> Optional[Segment]:
        """The next segment; None at the end."""
        self.begin()
        with self.changed:
            self.wanted = True
            self.changed.notify_all()
            while not self.queue and not self.ended:
                self.changed.wait()
            if self.queue:
                segment = self.queue.popleft()
                self.changed.notify_all()
                return segment
        if self.error is not None:
            raise self.error
        return None


class Run(Iterator[Segment]):
    """The segments of a transcription, decoded while they are read.

    ``language``, ``language_probability`` and ``duration`` are known before the first segment. ``position`` is the number of seconds that
    are done. ``result()`` reads to the end. ``cancel()`` ends the run within a decoder step, from any thread. A run is also a context
    manager and an asynchronous iterator.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._finalizer = weakref.finalize(self, work.cancel)
        self._finalizer.atexit = False

    @property
    def language(self) -> str:
        return self._work.known().language

    @property
    def language_probability(self) -> float:
        return self._work.known().probability

    @property
    def languages(self) -> dict[str, float]:
        """The probability of each language, the most probable first; empty if the language was given."""
        return dict(sorted(self._work.known().languages.items(), key=lambda item: -item[1]))

    @property
    def duration(self) -> float:
        return self._work.known().duration

    @property
    def position(self) -> float:
        return self._work.position

    def __iter__(self) -> Run:
        return self

    def __next__(self) -> Segment:
        segment = self._read(self._work.next)
        if segment is None:
            raise StopIteration
        return segment

    def _read(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except KeyboardInterrupt:
            self.close()
            raise

    def result(self) -> Result:
        """The whole transcript. Segments that were read before are part of it."""
        return self._read(self._work.whole)

    def cancel(self) -> None:
        """End the run within a decoder step. From any thread, at any time."""
        self._work.cancel()

    def close(self) -> None:
        """Cancel the run, and wait for its end."""
        work = self._work
        work.cancel()
        if work.thread is threading.current_thread():
            return # a collected reader closes it in one of its callbacks
        with work.changed:
            while work.thread is not None and not work.ended:
                if not work.changed.wait(0.002) and work.session is not None:
                    work.session.cancel()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __aiter__(self) -> Run:
        return self

    async def __anext__(self) -> Segment:
        import asyncio
        loop = asyncio.get_running_loop()
        try:
            segment = await loop.run_in_executor(None, self._work.next)
        except asyncio.CancelledError:
            self.cancel()
            raise
        if segment is None:
            raise StopAsyncIteration
        return segment
