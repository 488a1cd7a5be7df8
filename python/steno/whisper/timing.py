# steno: the functions of word times in openai-whisper's interface. SPDX-License-Identifier: MIT
"""Functions on arrays, for programs that align texts themselves. Need numpy. Word times of a model: ``transcribe(word_timestamps=True)``."""
from __future__ import annotations

from typing import Any

BLOCK = 1 << 22 # values that are sorted at once


def median_filter(x: Any, filter_width: int) -> Any:
    """Medians of ``filter_width`` neighbours along the last axis, reflected at its ends. A shorter axis stays as it is."""
    import numpy
    if filter_width < 1 or filter_width % 2 == 0:
        raise ValueError(f"filter_width is {filter_width}: must be an odd number above 0")
    x = numpy.asarray(x)
    side = filter_width // 2
    if side == 0 or x.shape[-1] <= side:
        return x
    rows = x.reshape(-1, x.shape[-1])
    out: Any = numpy.empty_like(rows)
    step = max(1, BLOCK // (rows.shape[1] * filter_width))
    for i in range(0, len(rows), step):
        padded = numpy.pad(rows[i:i + step], ((0, 0), (side, side)), mode="reflect")
        near = numpy.lib.stride_tricks.sliding_window_view(padded, filter_width, axis=-1)
        out[i:i + step] = numpy.partition(near, side, axis=-1)[..., side]
    return out.reshape(x.shape)


def dtw_cpu(x: Any) -> Any:
    """The path of least cost from the first to the last cell of a matrix: its rows and its columns, an array of two rows.

    A step goes down, right, or both. Cells of a diagonal do not depend on each other, so costs are computed by diagonals."""
    import numpy
    x = numpy.asarray(x)
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"x has the shape {x.shape}: dtw needs a matrix with rows and columns")
    n, m = x.shape
    cost: Any = numpy.full((n + 1, m + 1), numpy.inf, dtype=numpy.float32)
    step: Any = numpy.zeros((n + 1, m + 1), dtype=numpy.int8) # 0: down and right, 1: down, 2: right
    cost[0, 0] = 0
    step[0, :], step[:, 0] = 2, 1
    for d in range(2, n + m + 1):
        i = numpy.array(range(max(1, d - m), min(n, d - 1) + 1))
        j = d - i
        both, down, right = cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]
        kind = numpy.where((both < down) & (both < right), 0, numpy.where((down < both) & (down < right), 1, 2))
        step[i, j] = kind
        cost[i, j] = x[i - 1, j - 1] + numpy.choose(kind, (both, down, right))
    path: Any = []
    i, j = n, m
    while i > 0 or j > 0:
        path.append((i - 1, j - 1))
        kind = step[i, j]
        i, j = i - (kind != 2), j - (kind != 1)
    rows: Any = numpy.array(path[::-1])
    return rows.T


def dtw(x: Any) -> Any:
    """``dtw_cpu`` of a matrix."""
    return dtw_cpu(x)


def dtw_cuda(x: Any, BLOCK_SIZE: int = 1024) -> Any:
    raise NotImplementedError("dtw_cuda: steno computes on the CPU; use dtw_cpu")


__all__ = ["dtw", "dtw_cpu", "dtw_cuda", "median_filter"]
