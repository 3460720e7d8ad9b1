"""Threads over chunks of queries: kernels release the GIL, and every chunk writes its own slice."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.errors import InputError
from rankadapters.core.fields import is_whole

ROWS_PER_THREAD = 50_000  # below this a thread costs more than it brings


def as_n_threads(n_threads: object) -> int:
    """Check a number of threads; None means all CPUs that this process may use."""
    if n_threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not is_whole(n_threads) or int(n_threads) < 1:  # type: ignore[call-overload]
        msg = f"n_threads={n_threads!r}; allowed are whole numbers from 1 on, or None for all CPUs."
        raise InputError(msg)
    return int(n_threads)  # type: ignore[call-overload, no-any-return]


def over_chunks(run: Callable[[int, int], Any], indptr: NDArray[np.int64], n_threads: int) -> list[Any]:
    """Call `run(first, last)` for ranges of queries that cover all of them; results in the order of the queries."""
    n_queries, n_docs = indptr.size - 1, int(indptr[-1])
    n_chunks = max(1, min(n_threads, n_queries, n_docs // ROWS_PER_THREAD))
    if n_chunks == 1:
        return [run(0, n_queries)]
    cuts = np.searchsorted(indptr, np.linspace(0, n_docs, n_chunks + 1)[1:-1])
    bounds = [0, *cuts.tolist(), n_queries]
    chunks = list(pairwise(bounds))
    # This thread works too, so a pool that is busy with other callers delays but never blocks.
    waiting = [_pool(os.getpid(), n_chunks - 1).submit(run, *chunk) for chunk in chunks[1:]]
    return [run(*chunks[0]), *(future.result() for future in waiting)]


@lru_cache(maxsize=4)
def _pool(pid: int, size: int) -> ThreadPoolExecutor:
    """Keep a pool per process: the threads of a parent do not survive a fork."""
    return ThreadPoolExecutor(size, thread_name_prefix=f"rankadapters-{pid}")
