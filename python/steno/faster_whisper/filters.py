# steno: logit rules of faster-whisper that the library does not have. SPDX-License-Identifier: MIT
"""A logits filter for ``repetition_penalty``, ``no_repeat_ngram_size`` and the prefix of the first window. It is called on the library's
threads before each choice."""
from __future__ import annotations

import ctypes
import math
from array import array
from typing import Any, FrozenSet, List, Optional, Sequence, Tuple

from .._native import LOGITS_FILTER, struct_type


def next_of_repeated(tokens: Sequence[int], n: int) -> List[int]:
    """The tokens after which ``n`` tokens in a row would occur for a second time."""
    if n < 1 or len(tokens) < n:
        return []
    tail = list(tokens[len(tokens) - n + 1:])
    return [tokens[i + n - 1] for i in range(len(tokens) - n + 1) if list(tokens[i:i + n - 1]) == tail]


class Filter:
    def __init__(self, penalty: float, ngram: int, forced: Sequence[int], banned: FrozenSet[int]) -> None:
        self.penalty, self.ngram, self.forced, self.banned = penalty, ngram, list(forced), banned
        self.step = struct_type("steno_step")
        self.nothing: Tuple[int, bytes] = (0, b"")

    def forbid_all(self, logits: int, n: int) -> None:
        if self.nothing[0] != n:
            self.nothing = n, array("f", [-math.inf]).tobytes() * n
        ctypes.memmove(logits, self.nothing[1], 4 * n)

    def __call__(self, user: Any, at: int, logits: int, tokens: Optional[int], n: int) -> None:
        step = self.step.from_address(at)
        row = (ctypes.c_float * step.n_vocab).from_address(logits)
        if step.at_ms == 0 and n < len(self.forced):
            self.forbid_all(logits, step.n_vocab)
            row[self.forced[n]] = 0.0
            return
        earlier = list((ctypes.c_int32 * n).from_address(tokens)) if tokens else []
        if self.penalty != 1:
            for token in set(earlier):
                row[token] = row[token] * self.penalty if row[token] < 0 else row[token] / self.penalty
        for token in (*next_of_repeated(earlier, self.ngram), *self.banned):
            row[token] = -math.inf


def put_filter(out: Any, penalty: float, ngram: int, forced: Sequence[int], suppressed: Sequence[int]) -> None:
    """Add the filter to options of the library. Tokens of the prefix are allowed there although they are suppressed elsewhere."""
    if penalty <= 0:
        raise ValueError(f"repetition_penalty is {penalty}: must be above 0")
    if ngram < 0:
        raise ValueError(f"no_repeat_ngram_size is {ngram}: must be 0 or more")
    if penalty == 1 and ngram == 0 and not forced:
        return
    banned = frozenset(forced) & frozenset(suppressed)
    if banned:
        out["suppress_tokens"] = ",".join(str(t) for t in suppressed if t not in banned)
    out["_logits_filter"] = LOGITS_FILTER(Filter(penalty, ngram, forced, banned))
