"""Ideal lists: the gains of each query from the largest down."""

from __future__ import annotations

import numpy as np

from rankadapters.core.binding.gains import levels_of, narrowed
from rankadapters.core.data.columns import Floats, Ints
from rankadapters.core.data.rows import Rows, offsets
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.in_numpy import few_rows
from rankadapters.core.kernels.ranking import counted_gains, ranked_columns

NO_ENDS = np.empty(0, np.int64)  # of ties, which are broken
MOST_LEVELS = 16  # different gains, up to which they are counted in every query and not sorted


def ranked_by_gain(gains: Floats, rows: Rows, cut: Ints) -> tuple[Floats, Ints]:
    """Gains of each query in descending order, as many as `cut` says, and where each query's begin."""
    outptr, own = offsets(cut), rows.take(gains)
    if own.size <= few_rows.FEW_ROWS:
        return np.array(few_rows.largest_first(own, rows.indptr, cut), np.float64), outptr
    ranked = np.empty((1, int(outptr[-1])))
    small = narrowed(own)
    levels = levels_of(small) if small.dtype == np.uint8 else None
    if levels is not None and levels.size <= MOST_LEVELS:
        dispatch.run(counted_gains, small, levels, rows.indptr, outptr, ranked[0])
    else:  # gains rank themselves
        depth, written = max(1, int(cut.max())), (small[None, :], outptr, ranked, NO_ENDS)
        dispatch.run(ranked_columns, gains, rows.order, rows.indptr, depth, "rows", None, *written, rows=small.size)
    return ranked[0], outptr
