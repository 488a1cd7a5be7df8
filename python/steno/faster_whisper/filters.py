# steno: the prefix of the first window. SPDX-License-Identifier: MIT
"""A logits filter for the prefix of the first window. It is called on the library's threads before each choice."""
from __future__ import annotations

import ctypes
import math
from array import array
from typing import Any, FrozenSet, Optional, Sequence, Tuple

from .._native import LOGITS_FILTER, struct_type


class Filter:
    def __init__(self, forced: Sequence[int], banned: FrozenSet[int]) -> None:
        self.forced, self.banned = list(forced), banned
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
        for token in self.banned:
            row[token] = -math.inf


def put_filter(out: Any, forced: Sequence[int], suppressed: Sequence[int]) -> None:
    """Add the filter to options of the library. Tokens of the prefix are allowed there although they are suppressed elsewhere."""
    if not forced:
        return
    banned = frozenset(forced) & frozenset(suppressed)
    if banned:
        out["suppress_tokens"] = ",".join(str(t) for t in suppressed if t not in banned)
    out["_logits_filter"] = LOGITS_FILTER(Filter(forced, banned))
