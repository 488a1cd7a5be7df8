# steno: a model and its calls. SPDX-License-Identifier: MIT
"""A model of any family. Threads may share it; each call has a session of its own."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _abi, _worker
from ._audio import Audio, Source, name_of, open_audio
from ._errors import ModelError, error_of
from ._native import ON_TOKEN, STOP, Failure, bytes_of, lib, new, pointer, struct_type, text_of
from ._names import find_model
from ._params import Params, served
from ._run import Request, Run, Work, failure_of, segments_of
from ._values import Generated, ModelInfo, Segment, Span, Token

if TYPE_CHECKING:
    from ._batch import Batch, Job
    from ._live import Live

BEAMS = 5 # width of a search, as in the program


class Session:
    """A session of the library that serves one call at a time."""

    def __init__(self, lanes: int) -> None:
        self.lanes, self.canceled = lanes, False
        self.handle = ctypes.c_void_p()

    def open(self, model: Model) -> None:
        draft = model._draft._handle() if model._draft is not None else None
        params = new("steno_session_params", max_lanes=self.lanes, draft_model=draft)
        failure = Failure()
        rc = lib.steno_session_open(ctypes.byref(self.handle), model._handle(), model._open_team(), ctypes.byref(params), failure.at)
        if rc < 0:
            raise failure.error(rc, ModelError)

    def cancel(self) -> None:
        self.canceled = True
        lib.steno_cancel(self.handle)

    def close(self) -> None:
        handle, self.handle = self.handle, ctypes.c_void_p()
        lib.steno_session_close(handle)

    def check(self, status: int) -> int:
        """The result of a call of this session; raises its error."""
        if status < 0:
            raise error_of(status, text_of(lib.steno_last_error(self.handle)) or text_of(lib.steno_status_text(status)), ModelError)
        return status


class Model:
    """Open a model.

    ``model`` is the path of a model file or folder, or a name (``"base"``, ``"large-v3-turbo"``, ``"ORG/REPO"``), which is downloaded
    unless it is on this machine or ``download`` is false. ``threads`` is the number of threads, 0 for the physical cores. ``sessions`` is
    the number of idle sessions that are kept for the next calls. Other options are those of the library's steno_model_params.
    """

    def __init__(self, model: Union[str, os.PathLike[str]], *, threads: int = 0, sessions: int = 1, draft: Optional[Model] = None,
                 download: bool = True, revision: Optional[str] = None, cache_dir: Union[str, os.PathLike[str], None] = None,
                 hub: str = "hf", token: Optional[str] = None, **options: Any) -> None:
        self._closed = True
        self._model = ctypes.c_void_p()
        self._again = (model, dict(threads=threads, sessions=sessions, draft=draft, download=download, revision=revision,
                                   cache_dir=cache_dir, hub=hub, **options))
        self.path = find_model(model, download=download, revision=revision, cache_dir=cache_dir, hub=hub, token=token)
        self._draft, self._threads, self._kept = draft, threads, sessions
        self._team: Any = None
        self._reset()
        params = Params("steno_model_params", options)
        self._open(params)
        self._closed = False
        self._info: Optional[ModelInfo] = None
        self._served: dict[str, set[str]] = {}
        _worker.watch_fork(self)

    def _open(self, params: Params) -> None:
        team, failure = ctypes.c_void_p(), Failure()
        rc = lib.steno_team_open(ctypes.byref(team), self._threads, failure.at)
        if rc < 0:
            raise failure.error(rc)
        params.struct.team = team
        rc = lib.steno_model_open(ctypes.byref(self._model), os.fsencode(self.path), params.at, failure.at)
        lib.steno_team_close(team) # a process that forks now has no threads yet
        if rc < 0:
            raise failure.error(rc, ModelError)

    def _reset(self) -> None:
        self._lock = threading.Condition()
        self._idle: list[Session] = []
        self._users: weakref.WeakSet[Any] = weakref.WeakSet() # what has a method cancel and must end before the model is freed

    def _after_fork(self) -> None:
        self._team = None # its threads are in the parent process
        self._reset()

    def _handle(self) -> Any:
        if self._closed and self._model.value is None:
            raise ValueError("the model is closed")
        return self._model

    def _open_team(self) -> Any:
        with self._lock:
            if self._team is None:
                team, failure = ctypes.c_void_p(), Failure()
                rc = lib.steno_team_open(ctypes.byref(team), self._threads, failure.at)
                if rc < 0:
                    raise failure.error(rc)
                self._team = team
            return self._team

    def _enter(self, user: Any) -> None:
        """Until ``_leave(user)``, ``close`` calls ``user.cancel()`` and waits."""
        with self._lock:
            if self._closed:
                raise ValueError("the model is closed")
            self._users.add(user)

    def _leave(self, user: Any) -> None:
        with self._lock:
            self._users.discard(user)
            self._lock.notify_all()

    @property
    def files(self) -> list[str]:
        """Paths of the files that were read when the model was opened, in reading order. A path may occur more than once."""
        names: list[str] = []
        while (name := lib.steno_model_file(self._handle(), len(names))) is not None:
            names.append(os.fsdecode(name))
        return names

    def _take(self, lanes: int = 1) -> Session:
        """A session with at least this number of lanes."""
        with self._lock:
            fitting = [s for s in self._idle if s.lanes >= lanes]
            session = min(fitting, key=lambda s: s.lanes) if fitting else Session(lanes)
            self._enter(session)
            if fitting:
                self._idle.remove(session)
                session.canceled = False
                return session
        try:
            session.open(self)
        except BaseException:
            self._leave(session)
            raise
        return session

    def _give(self, session: Session) -> None:
        with self._lock:
            if session not in self._users:
                return # of the parent process
            self._leave(session)
            extra: list[Session] = [session]
            if not self._closed and self._kept > 0:
                self._idle.append(session)
                self._idle.sort(key=lambda s: -s.lanes)
                extra = self._idle[self._kept:]
                del self._idle[self._kept:]
        for one in extra:
            one.close()

    def _with_session(self, work: Callable[[Session], Any]) -> Any:
        """The result of ``work`` with a session. An interrupt cancels it."""
        session = self._take()
        try:
            return _worker.call(lambda: work(session), session.cancel)
        finally:
            self._give(session)

    def _with_audio(self, audio: Audio, unclocked: bool, call: Callable[[Any, Any], int], result: Callable[[Any], Any]) -> Any:
        """The result of a session's handle after ``call`` with it and a source."""
        def work(session: Session) -> Any:
            source = open_audio(audio, unclocked, stop=lambda: session.canceled)
            try:
                rc = call(session.handle, source.at)
                if rc < 0:
                    raise failure_of(session.handle, rc, source)
                return result(session.handle)
            finally:
                source.close()
        return self._with_session(work)

    def close(self) -> None:
        """Free the model. Runs, batches and live transcriptions that use it are cancelled first."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
            while self._users:
                for user in list(self._users):
                    user.cancel()
                self._lock.wait(0.005)
        for session in idle:
            session.close()
        if self._team is not None:
            lib.steno_team_close(self._team)
            self._team = None
        lib.steno_model_close(self._model)
        self._model = ctypes.c_void_p()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True) and not self._users:
            self.close()

    def __reduce__(self) -> Any:
        return _opened, self._again  # a process of its own opens the model again

    def __repr__(self) -> str:
        return f"<steno.Model {self.path!r}{', closed' if self._closed else ''}>"

    # ---- about the model

    @property
    def info(self) -> ModelInfo:
        """Family, name, sizes and languages of the model."""
        if self._info is None:
            i = new("steno_model_info")
            lib.steno_model_info_get(self._handle(), ctypes.byref(i))
            languages: list[str] = []
            while True:
                code = lib.steno_model_language(self._model, len(languages))
                if code is None:
                    break
                languages.append(code.decode())
            self._info = ModelInfo(
                text_of(i.family), text_of(i.name), text_of(i.weight_type), text_of(i.compute), text_of(i.cpu_level), text_of(i.format),
                i.n_mels, i.n_vocab, i.n_text_ctx, i.n_audio_ctx, bool(i.is_multilingual), languages, i.parameters, i.weight_bytes,
                i.session_bytes, text_of(i.chat))
            self._itn = i.itn
        return self._info

    def supports(self, option: str, call: str = "transcribe") -> bool:
        """Whether a call ("transcribe", "align", "find_speech", "embed", "generate", "punctuate") has an effect for this option."""
        if call not in self._served:
            self._served[call] = served(self._handle(), call.upper())
        return option in self._served[call]

    # ---- speech to text

    def _request(self, options: dict[str, Any], call: str = "transcribe", name: Any = None) -> Request:
        logprobs, formats = options.pop("logprobs", False), options.pop("formats", ())
        punctuation, aligner = options.pop("punctuation", None), options.pop("aligner", None)
        one_window = options.pop("_one_window", False)
        formats = (formats,) if isinstance(formats, str) else tuple(formats)
        logits_filter = options.pop("_logits_filter", None)
        self.info  # noqa: B018
        if call == "transcribe":
            self._search_defaults(options)
            if self._itn == 2 and self.supports("itn"):
                options.setdefault("itn", 1)
        params = Params("steno_transcribe_params", options)
        if logits_filter is not None:
            function, data = logits_filter
            params.keep.append(data)
            params.struct.logits_filter, params.struct.user = pointer(function), ctypes.addressof(data)
        params.check(self._handle(), call.upper())
        lanes = max(1, params.struct.beam_size, params.struct.best_of)
        words = call == "align" or aligner is not None or bool(params.struct.word_timestamps)
        if aligner is not None:
            aligner._align_result(None, None, params)
        return Request(params, lanes if self.supports("best_of") else 1, words, logprobs, formats, name, punctuation, aligner, one_window)

    def _search_defaults(self, options: dict[str, Any]) -> None:
        """Widths that were not given are those of the program: five beams at temperature 0, the best of five samples above it."""
        if not self.supports("best_of"):
            return
        temperature = options.get("temperature", 0.0) or 0.0
        step = options.get("temperature_increment_on_fallback", 0.2) or 0.0
        beams = self._draft is None and (temperature == 0 or options.get("decoding") == "ggml")
        draws = temperature > 0 or bool(options.get("fallback_temperatures")) or 0 < step <= 1 + 1e-6 - temperature
        options.setdefault("beam_size", BEAMS if beams else 0)
        options.setdefault("best_of", BEAMS if draws else 0)

    def transcribe(self, audio: Audio, *, channel: int = -1, track: int = 0, unclocked: bool = False, **options: Any) -> Run:
        """Transcribe audio: a path, the bytes of a file, a file object, or samples at 16 kHz (float32 or int16).

        Returns at once; nothing is decoded until the first segment is read. ``result()`` reads all of them. Options are the fields of
        steno_transcribe_params. ``logprobs=True`` adds the log-probability of each token, ``formats=("srt", ...)`` texts in formats of
        the program, ``punctuation=MODEL`` marks by a punctuation model, ``aligner=MODEL`` word times by a forced aligner. Segments then come
        at the end. ``channel`` selects a channel of a file, from 0, and ``track`` an audio track, from 1. ``unclocked=True`` counts time
        from the first sound, as other programs do.
        """
        request = self._request(dict(options), name=name_of(audio))
        return Run(Work(self, request, lambda stop: open_audio(audio, unclocked, channel, stop, track)))

    def transcribe_many(self, audio: Iterable[Union[Audio, Job]], *, batch_size: int = 8, ordered: bool = False, on_error: str = "yield",
                        unclocked: bool = False, **options: Any) -> Batch:
        """Transcribe many audios together: each decoder step reads the weights once for up to ``batch_size`` windows.

        Results come as they are done, or with ``ordered`` in the order of the inputs; they equal those of ``transcribe``. ``Job`` gives an
        input an id, a channel, a track and options of its own. A failed input gives a result with ``error`` or, with
        ``on_error="raise"``, raises it.
        """
        from ._batch import Batch
        return Batch(self, audio, batch_size, ordered, on_error, unclocked, options)

    def align(self, audio: Audio, text: str, *, unclocked: bool = False, **options: Any) -> list[Segment]:
        """The times of the words of a known text. Each line of the text becomes a segment; words that were not found have NaN."""
        data, request = bytes_of(text), self._request(dict(options), "align", name_of(audio))
        return self._with_audio(  # type: ignore[no-any-return]
            audio, unclocked, lambda session, source: lib.steno_align(session, source, data, request.params.at),
            lambda session: segments_of(session, request))

    def detect_language(self, audio: Audio, *, unclocked: bool = False) -> dict[str, float]:
        """The probability of each language in the first 30 s, the most probable first."""
        codes = self.info.languages
        probs = (ctypes.c_float * max(1, len(codes)))()
        return self._with_audio(  # type: ignore[no-any-return]
            audio, unclocked, lambda session, source: lib.steno_detect_language(session, source, probs, len(codes)),
            lambda session: dict(sorted(zip(codes, probs), key=lambda item: -item[1])))

    def find_speech(self, audio: Audio, *, unclocked: bool = False, **options: Any) -> list[Span]:
        """Spans of speech, by a voice-activity model. Options are the fields of steno_vad_params."""
        params = Params("steno_vad_params", options)

        def spans_of(session: Any) -> list[Span]:
            spans: list[Span] = []
            row = new("steno_span")
            for i in range(lib.steno_span_count(session)):
                lib.steno_span_get(session, i, ctypes.byref(row))
                spans.append(Span(row.t0_ms / 1000, row.t1_ms / 1000))
            return spans
        return self._with_audio(  # type: ignore[no-any-return]
            audio, unclocked, lambda session, source: lib.steno_find_speech(session, source, params.at), spans_of)

    def stream(self, *, vad: Optional[Model] = None, step_ms: Optional[int] = None, max_turn_ms: Optional[int] = None,
               audio_padding_ms: Optional[int] = None, last_pass: Optional[str] = None, vad_options: Mapping[str, Any] = {},
               **options: Any) -> Live:
        """A live transcription: push samples as they arrive, read events. See Live."""
        from ._live import Live
        return Live(self, vad, step_ms, max_turn_ms, audio_padding_ms, last_pass, vad_options, options)

    # ---- text

    def punctuate(self, text: str, **options: Any) -> str:
        """The text with punctuation, by a punctuation model."""
        params, data = Params("steno_punctuate_params", options), bytes_of(text)

        def work(session: Session) -> str:
            session.check(lib.steno_punctuate(session.handle, data, params.at))
            return text_of(lib.steno_text(session.handle))
        return self._with_session(work)  # type: ignore[no-any-return]

    def _punctuate_result(self, of: Any) -> None:
        session = self._take()
        try:
            session.check(lib.steno_punctuate_result(session.handle, of, None))
        finally:
            self._give(session)

    def _align_result(self, of: Any, source: Optional[Source], asked: Params, stop: Callable[[], bool] = lambda: False) -> None:
        """Word times of the transcript of a session, whose source is at its beginning. None: only the options are checked."""
        def is_stopped(user: Any) -> int:
            return int(stop())

        params, should_abort = Params("steno_transcribe_params", {}), STOP(is_stopped)
        params.struct.language, params.struct.should_abort = asked.struct.language, pointer(should_abort)
        session = self._take()
        try:
            session.check(lib.steno_align_result(session.handle, of, source.at if source is not None else None, params.at))
        finally:
            self._give(session)

    def tokenize(self, text: str, *, special: bool = False, whole: bool = False) -> list[int]:
        """Token ids of a text. ``special`` reads special tokens in it, ``whole`` adds those that the model expects around a text."""
        data = text.encode("utf-8", "surrogatepass")
        flags = special * 1 + whole * 2
        n = len(data) + 8
        while True:
            ids = (ctypes.c_int32 * n)()
            found = lib.steno_tokenize_text(self._handle(), data, len(data), flags, ids, n)
            if found < 0:
                raise error_of(found, f"{self.path}: the text cannot be tokenized: {text_of(lib.steno_status_text(found))}")
            if found <= n:
                return list(ids[:found])
            n = found

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of token ids. Timestamps are dropped."""
        ids, n = (ctypes.c_int32 * len(tokens))(*tokens), 64 + 16 * len(tokens)
        while True:
            buf = ctypes.create_string_buffer(n)
            found = lib.steno_detokenize(self._handle(), ids, len(tokens), buf, n)
            if found < 0:
                raise error_of(found, "unknown token id")
            if found < n:
                return text_of(buf.value)
            n = found + 1

    def token_id(self, name: str) -> int:
        """The id of a special token ("end", "start", "language", "transcribe", "timestamp", ...); -1 if the model does not have it."""
        number = _abi.ENUMS["steno_special"].get("STENO_TOKEN_" + name.upper())
        if number is None:
            raise ValueError(f"unknown special token {name!r}")
        return int(lib.steno_token_id(self._handle(), number))

    def chat_tokens(self, messages: Iterable[Mapping[str, str]], *, answer: bool = True, thinking: bool = True) -> list[int]:
        """Token ids of a conversation ([{"role": "user", "content": "..."}]) in the model's chat format."""
        rows = [(bytes_of(m["role"]), bytes_of(m["content"])) for m in messages]
        array = (struct_type("steno_message") * len(rows))(*rows)
        flags, failure, n = answer * 1 + (not thinking) * 2, Failure(), 1024
        while True:
            ids = (ctypes.c_int32 * n)()
            found = lib.steno_chat_tokenize(self._handle(), array, len(rows), flags, ids, n, failure.at)
            if found < 0:
                raise failure.error(found)
            if found <= n:
                return list(ids[:found])
            n = found

    def generate(self, prompt: Union[str, Sequence[int], Sequence[Mapping[str, str]]], *, thinking: bool = True,
                 on_text: Optional[Callable[[str], Any]] = None, **options: Any) -> Generated:
        """Generate text with a language model after a prompt: a text, token ids, or the turns of a conversation.

        ``on_text`` is called with the text as it is generated; a true result ends it. Options are those of steno_generate_params.
        """
        is_chat = not isinstance(prompt, str) and len(prompt) > 0 and isinstance(prompt[0], Mapping)
        if not thinking and not is_chat:
            raise ValueError("thinking: only a conversation has this choice")
        if isinstance(prompt, str):
            ids = self.tokenize(prompt, whole=True)
        elif is_chat:
            ids = self.chat_tokens(prompt, thinking=thinking)  # type: ignore[arg-type]
        else:
            ids = [int(i) for i in prompt]  # type: ignore[arg-type]
        failed: list[BaseException] = []
        params = Params("steno_generate_params", options)

        def token(user: Any, tok: Any, text: Any, n: int) -> int:
            try:
                return int(bool(on_text and n and on_text(ctypes.string_at(text, n).decode("utf-8", "replace"))))
            except BaseException as e:
                failed.append(e)
                return 1

        callback = ON_TOKEN(token)
        if on_text is not None:
            params.struct.on_token = pointer(callback)

        def work(session: Session) -> Generated:
            array = (ctypes.c_int32 * len(ids))(*ids)
            rc = lib.steno_generate(session.handle, array, len(ids), params.at)
            if failed:
                raise failed[0]
            n = session.check(rc)
            tokens: list[Token] = []
            row = new("steno_token")
            for i in range(n):
                lib.steno_generated_get(session.handle, i, ctypes.byref(row))
                tokens.append(Token(row.id, self._token_text(row.id), row.p, row.logprob))
            finishes = ("none", "end", "stop", "length", "caller", "canceled")
            return Generated(text_of(lib.steno_generated_text(session.handle)), tokens, finishes[lib.steno_generate_finish(session.handle)],
                             len(ids))
        return self._with_session(work)  # type: ignore[no-any-return]

    def _token_bytes(self, token: int) -> bytes:
        buf = ctypes.create_string_buffer(256)
        n = lib.steno_token_bytes(self._model, token, buf, 256)
        return buf.raw[:max(0, min(n, 256))]

    def _token_text(self, token: int) -> str:
        return self._token_bytes(token).decode("utf-8", "replace")

    def embed(self, texts: Union[str, Sequence[str]], **options: Any) -> list[Any]:
        """A vector of each text: array.array('f'), which numpy reads without a copy. Options are those of steno_embed_params."""
        from array import array
        many = [texts] if isinstance(texts, str) else list(texts)
        params, data = Params("steno_embed_params", options), (ctypes.c_char_p * len(many))(*map(bytes_of, many))

        def work(session: Session) -> list[Any]:
            session.check(lib.steno_embed(session.handle, data, len(many), params.at))
            out: list[array[float]] = []
            row = new("steno_embedding")
            for i in range(len(many)):
                lib.steno_embedding_get(session.handle, i, ctypes.byref(row))
                vector = array("f")
                vector.frombytes(ctypes.string_at(row.vector, row.n * 4))
                out.append(vector)
            return out
        return self._with_session(work)  # type: ignore[no-any-return]


def _opened(model: Any, options: dict[str, Any]) -> Model:
    return Model(model, **options)
