# steno: result writers of openai-whisper's interface. SPDX-License-Identifier: MIT
"""Writers of transcripts: txt, vtt, srt, tsv and json, from the dictionary that ``transcribe`` returns."""
from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, TextIO, Tuple

from .._shared import format_timestamp as format_timestamp


class ResultWriter:
    extension: str = ""

    def __init__(self, output_dir: str) -> None:
        self.output_dir = output_dir

    def __call__(self, result: Dict[str, Any], audio_path: str, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        name = os.path.splitext(os.path.basename(audio_path))[0]
        with open(os.path.join(self.output_dir, f"{name}.{self.extension}"), "w", encoding="utf-8") as f:
            self.write_result(result, file=f, options=options, **kwargs)

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        raise NotImplementedError


class WriteTXT(ResultWriter):
    extension = "txt"

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        for segment in result["segments"]:
            file.write(segment["text"].strip() + "\n")


class Layout:
    """Words become cues: lines of at most ``width`` characters, at most ``lines`` of them, at most ``n_words`` words at a time. With
    no limit of both width and lines a cue is a segment."""

    def __init__(self, width: Optional[int], lines: Optional[int], n_words: Optional[int]) -> None:
        self.width, self.lines, self.n_words = width or 1000, lines, n_words or 1000
        self.keeps_segments = lines is None or width is None
        self.cue: List[Dict[str, Any]] = []
        self.used, self.n_lines = 0, 1

    def cues(self, segments: List[Dict[str, Any]]) -> Iterator[List[Dict[str, Any]]]:
        last = next((word["start"] for segment in segments for word in segment["words"]), segments[0]["start"] if segments else 0.0)
        for segment in segments:
            for i, word in enumerate(segment["words"]):
                first = self.keeps_segments and i % self.n_words == 0 and bool(self.cue)
                pause = not self.keeps_segments and word["start"] - last > 3.0
                done = self.put(dict(word), first, pause)
                if done:
                    yield done
                last = word["start"]
        if self.cue:
            yield self.cue

    def put(self, word: Dict[str, Any], first: bool, pause: bool) -> Optional[List[Dict[str, Any]]]:
        """Add a word. Returns the cue before it, if it begins another."""
        if self.used > 0 and self.used + len(word["word"]) <= self.width and not pause and not first:
            self.used += len(word["word"])
            self.cue.append(word)
            return None
        done = None
        word["word"] = word["word"].strip()
        full = bool(self.cue) and self.lines is not None and (pause or self.n_lines >= self.lines)
        if full or first:
            done, self.cue, self.n_lines = self.cue, [], 1
        elif self.used > 0:
            self.n_lines += 1
            word["word"] = "\n" + word["word"]
        self.used = len(word["word"].strip())
        self.cue.append(word)
        return done


class SubtitlesWriter(ResultWriter):
    always_include_hours = False
    decimal_marker = "."

    def format_timestamp(self, seconds: float) -> str:
        return format_timestamp(seconds, self.always_include_hours, self.decimal_marker)

    def iterate_result(self, result: Dict[str, Any], options: Optional[Dict[str, Any]] = None, *, max_line_width: Optional[int] = None,
                       max_line_count: Optional[int] = None, highlight_words: bool = False,
                       max_words_per_line: Optional[int] = None) -> Iterator[Tuple[str, str, str]]:
        """(start, end, text) of each cue."""
        options = options or {}
        width, lines = max_line_width or options.get("max_line_width"), max_line_count or options.get("max_line_count")
        n_words, marks = max_words_per_line or options.get("max_words_per_line"), highlight_words or options.get("highlight_words", False)
        segments = result["segments"]
        if not segments or "words" not in segments[0]:
            for s in segments:
                yield self.format_timestamp(s["start"]), self.format_timestamp(s["end"]), s["text"].strip().replace("-->", "->")
            return
        for cue in Layout(width, lines, n_words).cues(segments):
            words = [word["word"] for word in cue]
            start, end = self.format_timestamp(cue[0]["start"]), self.format_timestamp(cue[-1]["end"])
            if not marks:
                yield start, end, "".join(words)
                continue
            last = start
            for i, word in enumerate(cue):
                begin, stop = self.format_timestamp(word["start"]), self.format_timestamp(word["end"])
                if last != begin:
                    yield last, begin, "".join(words)
                marked = re.sub(r"^(\s*)(.*)$", r"\1<u>\2</u>", words[i])
                yield begin, stop, "".join([*words[:i], marked, *words[i + 1:]])
                last = stop


class WriteVTT(SubtitlesWriter):
    extension = "vtt"

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        file.write("WEBVTT\n\n")
        for start, end, text in self.iterate_result(result, options, **kwargs):
            file.write(f"{start} --> {end}\n{text}\n\n")


class WriteSRT(SubtitlesWriter):
    extension = "srt"
    always_include_hours = True
    decimal_marker = ","

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        for i, (start, end, text) in enumerate(self.iterate_result(result, options, **kwargs), 1):
            file.write(f"{i}\n{start} --> {end}\n{text}\n\n")


class WriteTSV(ResultWriter):
    extension = "tsv"

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        file.write("start\tend\ttext\n")
        for s in result["segments"]:
            text = s["text"].strip().replace("\t", " ")
            file.write(f"{round(1000 * s['start'])}\t{round(1000 * s['end'])}\t{text}\n")


class WriteJSON(ResultWriter):
    extension = "json"

    def write_result(self, result: Dict[str, Any], file: TextIO, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        json.dump(result, file)


WRITERS = {"txt": WriteTXT, "vtt": WriteVTT, "srt": WriteSRT, "tsv": WriteTSV, "json": WriteJSON}


def get_writer(output_format: str, output_dir: str) -> Callable[..., None]:
    """A writer of files in a folder: ``get_writer("srt", ".")(result, "talk.mp3", {"max_line_width": 40})``. "all" writes all formats."""
    if output_format != "all":
        return WRITERS[output_format](output_dir)
    writers = [writer(output_dir) for writer in WRITERS.values()]

    def write_all(result: Dict[str, Any], file: str, options: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
        for writer in writers:
            writer(result, file, options, **kwargs)
    return write_all
