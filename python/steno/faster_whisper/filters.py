# steno: the prefix of the first window. SPDX-License-Identifier: MIT
"""The prefix of the first window, as a logits filter of the library, which is called before each choice."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence, Tuple

from .._native import lib, new


def prefix_filter(forced: Sequence[int], banned: Sequence[int]) -> Tuple[Any, Any]:
    """The filter, and its struct, which must stay referenced."""
    ids, others = (ctypes.c_int32 * len(forced))(*forced), (ctypes.c_int32 * len(banned))(*banned)
    data = new("steno_prefix", ids=ctypes.addressof(ids), n=len(ids), banned=ctypes.addressof(others), n_banned=len(others))
    data.keep = ids, others
    return lib.steno_prefix_filter, data


def put_filter(out: Any, forced: Sequence[int], suppressed: Sequence[int]) -> None:
    """Add the filter to options of the library. Tokens of the prefix are allowed there although they are suppressed elsewhere."""
    if not forced:
        return
    banned = set(forced) & set(suppressed)
    if banned:
        out["suppress_tokens"] = ",".join(str(t) for t in suppressed if t not in banned)
    out["_logits_filter"] = prefix_filter(forced, sorted(banned))
