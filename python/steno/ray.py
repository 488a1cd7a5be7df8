# steno: many files on a Ray cluster. SPDX-License-Identifier: MIT
"""Transcribe a manifest with Ray Data: one model per node, results in a folder, inputs that have a result are skipped.

``Transcribe`` is the worker; it needs no Ray, and Spark takes it as well. Nothing is imported from Ray until ``transcribe`` is called.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from itertools import groupby
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._abi import VERSION
from ._audio import MediaSource, open_audio
from ._batch import Job
from ._errors import Error
from ._model import Model
from ._values import Result

Row = Dict[str, Any]
OPTIONS = ("language", "initial_prompt") # members of a row that are options of its transcription
PATHS = ("path", "audio_filepath", "input")
MIX, SPLIT = -1, -2 # beside the number of a channel
ANY, ALL = 0, -1 # beside the number of a track
PLACE = ("track", "tracks", "channel", "channels") # which audio of its input a result is of, as in the journal of steno batch
AUDIO_OPTIONS = ("audio_track", "channels")
WORKER_OPTIONS = ("workers", "cpus", "batch_size", "retries", *AUDIO_OPTIONS) # of dataset, not of the transcription
COLUMNS = ("id", *PLACE, "text", "language", "duration", "error", "segments")
ASKED = ("path", "channel", *OPTIONS) # members of a row that determine its results
NOT_RESULTS = ("threads", "sessions", "draft", "download", "revision", "cache_dir", "hub") # of Model, beside what its files determine
PATIENCE = 10.0 # seconds until a file that another process writes is whole


def number_of(name: str, value: Union[str, int], words: Mapping[str, int], first: int) -> int:
    """The number of a channel or track, or what a word stands for."""
    if isinstance(value, str) and value in words:
        return words[value]
    if isinstance(value, int) and value >= first:
        return value
    raise ValueError(f"{name} is {value!r}, must be {', '.join(repr(word) for word in words)} or a number from {first}")


def row_of(item: Union[str, Mapping[str, Any]]) -> Row:
    """{"id", "path", "channel", "language", "initial_prompt"} of a path or of an object of a manifest. Channel -1: it chooses none."""
    given: Mapping[str, Any] = {"path": item} if isinstance(item, str) else item
    path = next((given[name] for name in PATHS if given.get(name)), None)
    if path is None:
        raise ValueError(f"an input has none of {', '.join(PATHS)}: its members are {', '.join(map(str, given)) or 'none'}")
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", str(path)) # what follows may be secret
    if scheme:
        raise ValueError(f"{given.get('id') or 'an input'}: a URL ({scheme[0]}...) is an input of steno batch alone; fetch it first")
    ranged = [name for name in ("offset", "duration") if given.get(name) is not None]
    if ranged:
        raise ValueError(f"{path}: {ranged[0]} is an option of steno batch alone; cut the file first")
    channel = given.get("channel")
    if channel is None or channel != channel: # a table has NaN where a row has none
        channel = MIX
    try:
        number = int(channel)
    except (TypeError, ValueError, OverflowError):
        number = SPLIT
    if number != channel or number < MIX:
        raise ValueError(f"{path}: the channel {channel!r} is not a number from 0")
    own = {name: given.get(name) or "" for name in OPTIONS}
    return {"id": str(given.get("id") or path), "path": str(path), "channel": number, **own}


def absolute(model: str) -> str:
    """A model for a process in another folder: a path, or a name, which stays as it is."""
    return os.path.abspath(model) if os.path.exists(model) else model


def placed(row: Row) -> Row:
    """A row for a process in another folder. Its file may be gone."""
    return {**row, "path": os.path.abspath(row["path"])}


def rows_of_manifest(manifest: Union[str, os.PathLike[str], Iterable[Any]]) -> List[Row]:
    """The rows of a manifest: the path of JSON lines or of a list of paths, or the items themselves. Ids must be unique."""
    if isinstance(manifest, (str, os.PathLike)):
        with open(manifest, encoding="utf-8") as f:
            lines = [line.strip() for line in f]
        manifest = [json.loads(line) if line.startswith("{") else line for line in lines if line]
    rows = [row_of(item) for item in manifest]
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise ValueError(f"the id {row['id']!r} occurs twice")
        seen.add(row["id"])
    return rows


def result_row(result: Result, place: Sequence[Optional[int]]) -> Row:
    """What is stored of a result. It does not depend on the machine or on other inputs."""
    segments = [{"start": s.start, "end": s.end, "text": s.text, "avg_logprob": s.avg_logprob, "no_speech_prob": s.no_speech_prob}
                for s in result.segments]
    return {"id": result.id, **dict(zip(PLACE, place)), "text": result.text, "language": result.language, "duration": result.duration,
            "error": "", "segments": json.dumps(segments, ensure_ascii=False)}


def failed_row(name: str, error: str) -> Row:
    return {"id": name, **dict.fromkeys(PLACE), "text": "", "language": "", "duration": 0.0, "error": error, "segments": "[]"}


def places_of(path: str, track: int, channel: int) -> List[Tuple[Optional[int], ...]]:
    """The members of PLACE of each result of a file, in the order of steno batch: all channels of track 1, then those of track 2."""
    if track != ALL and channel != SPLIT:
        return [(track or None, None, None if channel == MIX else channel, None)]
    places: List[Tuple[Optional[int], ...]] = []
    number, last = (1, 1) if track == ALL else (track, track)
    while number <= last:
        source = open_audio(path, track=number)
        assert isinstance(source, MediaSource)
        n, last = source.channels, source.tracks if track == ALL else last
        source.close()
        for i in range(n) if channel == SPLIT else (channel,):
            places.append((number or None, last if track == ALL else None, None if i == MIX else i, n if channel == SPLIT else None))
        number += 1
    return places


def digest_of(model: Model) -> str:
    digest = hashlib.sha256()
    for file in model.files:
        with open(file, "rb") as f:
            for part in iter(lambda: f.read(1 << 20), b""):
                digest.update(part)
    return digest.hexdigest()


def plain(value: Any) -> Any:
    """The value of an option that JSON does not have by itself. TypeError: it cannot be stated."""
    given: Any = value # without what isinstance makes of its type
    if isinstance(value, Model):
        return {"model": digest_of(value), **{name: option for name, option in value._again[1].items() if name not in NOT_RESULTS}}
    if hasattr(value, "tolist"): # an array
        return given.tolist()
    if isinstance(value, os.PathLike):
        return os.fsdecode(given)
    if isinstance(value, Mapping):
        return dict(given)
    if isinstance(value, (set, frozenset)):
        return sorted(given)
    if isinstance(value, Iterable) and not isinstance(value, Iterator): # an iterator would be empty afterwards
        return list(given)
    raise TypeError(f"{type(given).__name__} cannot be stated")


def stated(options: Mapping[str, Any]) -> Row:
    """Options as JSON has them."""
    out: Row = {}
    for name in sorted(options):
        try:
            out[name] = json.loads(json.dumps(options[name], default=plain))
        except TypeError as e:
            raise TypeError(f"job.json cannot have the option {name}: {e}") from None
    return out


def job_of(model: Model, options: Mapping[str, Any], audio_track: Union[str, int], channels: Union[str, int]) -> Row:
    """What determines the results beside the rows, as JSON has it. Threads and sizes of batches do not."""
    return {"version": VERSION, "model": digest_of(model), "audio_track": audio_track, "channels": channels, "options": stated(options)}


class Store:
    """Results as JSON lines in a folder that all nodes share. A file appears when it is whole."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def claim(self, job: Row) -> None:
        """Make the folder one of this job's results. ValueError: it has results of another job."""
        os.makedirs(os.path.join(self.folder, "attempts"), exist_ok=True)
        path = os.path.join(self.folder, "job.json")
        if not os.path.exists(path):
            if next(self.read(), None) and not os.path.exists(path): # another process may have been faster
                raise ValueError(f"{self.folder} has results, but no job.json that states their options; give another folder")
            self._enter(job, path)
        was = self._entered(path)
        for name in job:
            if json.dumps(was.get(name)) != json.dumps(job[name]): # a NaN equals itself
                raise ValueError(f"{self.folder} has results of another job: {name} is {was.get(name)!r} there, {job[name]!r} here; "
                                 "give another folder")

    def _enter(self, job: Row, path: str) -> None:
        """Write job.json, unless another process does."""
        own = self._write([job])
        try:
            os.link(own, path)
        except FileExistsError:
            pass
        except OSError: # a file system without links: others wait until it is whole
            try:
                self._write([job], path)
            except FileExistsError:
                pass
        os.remove(own)

    def _entered(self, path: str) -> Row:
        end = time.monotonic() + PATIENCE
        while True:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            try:
                job: Row = json.loads(text)
                return job
            except ValueError:
                if time.monotonic() > end:
                    raise ValueError(f"{path} is not whole: remove it, if the folder has no results") from None
            time.sleep(0.05)

    def _write(self, rows: Iterable[Row], path: Optional[str] = None) -> str:
        """Write a file that does not exist yet. Its mode is that of the umask, because workers may be of other users. Returns its path."""
        path = path or os.path.join(self.folder, uuid.uuid4().hex + ".part")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8") as f:
            for row in rows:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")
            f.flush()
            os.fsync(f.fileno())
        return path

    def write(self, rows: Sequence[Row], asked: Mapping[str, Row]) -> None:
        """Store results; asked: the row of each id."""
        path = self._write({**row, "asked": {name: asked[row["id"]][name] for name in ASKED}} for row in rows)
        os.replace(path, path[:-len(".part")] + ".jsonl")

    def finished(self, rows: Iterable[Row]) -> set[str]:
        """Ids of the rows that have text. ValueError: such a row asks for something else than it did."""
        found = {results[0]["id"]: results[0]["asked"] for results in self.read() if not results[0]["error"]}
        for row in rows:
            was = found.get(row["id"], row)
            for name in ASKED:
                if was[name] != row[name]:
                    raise ValueError(f"{self.folder} has a result of {row['id']!r} with another {name}: {was[name]!r} there, {row[name]!r} "
                                     "in the manifest; give another folder, or another id")
        return set(found)

    def read(self) -> Iterator[List[Row]]:
        """The rows of each input with what it was asked for: one, or one for each track and channel, which are in one file."""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".jsonl"):
                with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                    for _, rows in groupby(map(json.loads, f), key=lambda row: row["id"]):
                        yield list(rows)

    def attempt(self, key: str) -> int:
        """The number of attempts at something, this one included."""
        path = os.path.join(self.folder, "attempts", hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest())
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, b".")
            return os.fstat(handle).st_size
        finally:
            os.close(handle)


class Meter:
    """Figures for Ray's metrics, where it runs."""

    def __init__(self) -> None:
        self.counters: Dict[str, Any] = {}
        try:
            from ray.util.metrics import Counter
        except ImportError:
            return
        for name, text in (("steno_inputs", "Inputs with a result"), ("steno_failures", "Inputs without text, by an error"),
                           ("steno_audio_seconds", "Seconds of audio"), ("steno_busy_seconds", "Seconds of transcription")):
            self.counters[name] = Counter(name, description=text)

    def count(self, rows: Sequence[Row], seconds: float) -> None:
        for name, n in (("steno_inputs", len({row["id"] for row in rows})), ("steno_failures", sum(1 for row in rows if row["error"])),
                        ("steno_audio_seconds", sum(row["duration"] for row in rows)), ("steno_busy_seconds", seconds)):
            if n > 0 and name in self.counters:
                self.counters[name].inc(n)


def check_audio(audio_track: Union[str, int], channels: Union[str, int]) -> Tuple[int, int]:
    """Numbers of the track and of the channel, or ANY, ALL, MIX, SPLIT."""
    return (number_of("audio_track", audio_track, {"auto": ANY, "all": ALL}, 1),
            number_of("channels", channels, {"mix": MIX, "split": SPLIT}, 0))


class Transcribe:
    """A worker with a model. It is called with columns (``id``, ``path``, ``channel``, ``language``, ``initial_prompt``; arrays, lists or a
    pandas table) and returns columns (``id``, ``track``, ``tracks``, ``channel``, ``channels``, ``text``, ``language``, ``duration``,
    ``error``, ``segments``). An input that fails is a row with ``error``. With ``output`` results are also stored in this folder. An input
    during which its process died more than ``retries`` times is a row with an error, so that a file that ends its process does not end the
    others. ``audio_track`` is "auto", "all" or a number from 1, and ``channels`` is "mix", "split" or a number from 0: with "all" and
    "split" an input has a row for each."""

    def __init__(self, model: str, threads: int = 0, batch_size: int = 8, output: Optional[str] = None, retries: int = 2,
                 options: Optional[Mapping[str, Any]] = None, audio_track: Union[str, int] = "auto",
                 channels: Union[str, int] = "mix") -> None:
        self.track, self.channel = check_audio(audio_track, channels)
        self.model = Model(model, threads=threads)
        self.batch_size, self.retries, self.options = batch_size, retries, dict(options or {})
        self.store = Store(output) if output else None
        if self.store is not None:
            self.store.claim(job_of(self.model, self.options, audio_track, channels))
        self.meter = Meter()

    def rows(self, rows: Sequence[Row]) -> List[Row]:
        """Results in the order of the rows. A failure is the only row of its input."""
        jobs: List[Job] = []
        places: List[Tuple[Optional[int], ...]] = []
        errors: Dict[str, str] = {}
        for row in rows:
            own = row.get("channel", MIX)
            try:
                found = places_of(row["path"], self.track, self.channel if own == MIX else own)
            except Error as e:
                errors[row["id"]] = str(e)
                continue
            options = {name: row[name] for name in OPTIONS if row.get(name)}
            for place in found:
                track, _, channel, _ = place
                jobs.append(Job(row["path"], row["id"], track=track or ANY, channel=MIX if channel is None else channel, **options))
            places += found
        out: Dict[str, List[Row]] = {row["id"]: [] for row in rows}
        for result, place in zip(self.model.transcribe_many(jobs, batch_size=self.batch_size, ordered=True, **self.options), places):
            if result.error is not None:
                errors.setdefault(str(result.id), str(result.error))
            out[str(result.id)].append(result_row(result, place))
        for name, error in errors.items():
            out[name] = [failed_row(name, error)]
        return [row for name in out for row in out[name]]

    def attempted(self, rows: Sequence[Row]) -> Iterator[List[Row]]:
        """Results together, or one by one where an earlier attempt at these rows did not return."""
        store = self.store
        if store is None or store.attempt("\n".join(row["id"] for row in rows)) == 1:
            yield self.rows(rows)
            return
        for row in rows:
            if store.attempt("=" + row["id"]) > self.retries:
                yield [failed_row(row["id"], f"the process ended during {self.retries} attempts at it")]
            else:
                yield self.rows([row])

    def __call__(self, columns: Any) -> Dict[str, List[Any]]:
        names = [name for name in ("id", "path", "channel", *OPTIONS) if name in columns]
        given = [dict(zip(names, values)) for values in zip(*(list(columns[name]) for name in names))]
        out: List[Row] = []
        begun = time.monotonic()
        requests = [row_of(row) for row in given]
        for rows in self.attempted(requests):
            if self.store is not None:
                self.store.write(rows, {row["id"]: row for row in requests})
            self.meter.count(rows, time.monotonic() - begun)
            begun = time.monotonic()
            out += rows
        return {name: [row[name] for row in out] for name in COLUMNS}


def joined(output: str, manifest: Union[str, os.PathLike[str], Iterable[Any]]) -> Iterator[Row]:
    """The results of each input, in the order of the manifest: one, or one for each track and channel. An input without a result is a
    KeyError."""
    found: Dict[str, List[Row]] = {}
    for rows in Store(output).read():
        name = rows[0]["id"]
        if name not in found or found[name][0]["error"]:
            found[name] = rows
    for row in rows_of_manifest(manifest):
        if row["id"] not in found:
            raise KeyError(f"{output} has no result of {row['id']}")
        for result in found[row["id"]]:
            yield {name: value for name, value in result.items() if name != "asked"}


def nodes_of_cluster() -> List[int]:
    """Processors of each living node."""
    from importlib import import_module
    nodes: List[Dict[str, Any]] = import_module("ray").nodes() # without its types
    return [int(node["Resources"]["CPU"]) for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def dataset(rows: Any, model: str, *, output: Optional[str] = None, workers: Optional[int] = None, cpus: Optional[int] = None,
            batch_size: int = 8, rows_per_task: int = 32, retries: int = 2, audio_track: Union[str, int] = "auto",
            channels: Union[str, int] = "mix", **options: Any) -> Any:
    """The Ray dataset of results for a dataset with the columns ``id`` and ``path``. Nothing runs until it is read."""
    import ray
    check_audio(audio_track, channels)
    nodes = nodes_of_cluster()
    if not nodes:
        raise RuntimeError("the cluster has no node with a processor")
    # one processor of each node is left to Ray's own tasks; a model per node, as long as nodes are alike
    cpus = cpus or max(1, min(nodes) - 1)
    workers = workers or len(nodes)
    return rows.map_batches(
        Transcribe, batch_size=rows_per_task, batch_format="numpy", num_cpus=cpus,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers, max_tasks_in_flight_per_actor=2),
        fn_constructor_kwargs={"model": model, "threads": cpus, "batch_size": batch_size, "output": output, "retries": retries,
                               "options": options, "audio_track": audio_track, "channels": channels})


def transcribe(manifest: Union[str, os.PathLike[str], Iterable[Any]], output: Union[str, os.PathLike[str]], model: str, *,
               rows_per_task: int = 32, **options: Any) -> Dict[str, int]:
    """Transcribe a manifest into a folder that all nodes share. Call it again to continue: inputs with text are skipped. A folder with
    results of another version, model, ``audio_track``, ``channels`` or option is a ValueError, and so is an input that has text of another
    path, channel, language or prompt.

    ``workers`` is the number of models (one per node), ``cpus`` that of processors and threads of each; ``audio_track`` and ``channels``
    are those of ``Transcribe``, other options those of steno_transcribe_params. Returns {"inputs", "skipped", "done", "failed"}.
    """
    own = {name: value for name, value in options.items() if name not in WORKER_OPTIONS}
    audio = {"audio_track": "auto", "channels": "mix", **{name: options[name] for name in AUDIO_OPTIONS if name in options}}
    check_audio(**audio)
    model = absolute(model)
    store, rows = Store(os.path.abspath(output)), list(map(placed, rows_of_manifest(manifest)))
    with Model(model, index_only=1) as described:
        store.claim(job_of(described, own, **audio))
    finished = store.finished(rows)
    left = [row for row in rows if row["id"] not in finished]
    summary = {"inputs": len(rows), "skipped": len(rows) - len(left), "done": 0, "failed": 0}
    if not left:
        return summary
    import ray
    blocks = max(1, (len(left) + rows_per_task - 1) // rows_per_task)
    data: Any = ray.data
    source = data.from_items(left, override_num_blocks=blocks)
    done: set[str] = set() # a batch may begin between the rows of an input
    for batch in dataset(source, model, output=store.folder, rows_per_task=rows_per_task, **options).iter_batches(batch_format="numpy"):
        summary["failed"] += sum(1 for error in batch["error"] if error)
        done.update(name for name, error in zip(batch["id"], batch["error"]) if not error)
    summary["done"] = len(done)
    return summary


__all__ = ["Transcribe", "dataset", "joined", "transcribe"]
