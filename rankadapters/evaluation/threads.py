"""Threads over chunks of queries: numpy and machine code release the GIL, and each chunk writes to its own slice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration.arguments import whole_or_none

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

ROWS_PER_THREAD = 50_000  # for fewer rows, starting a thread costs more time than it saves

# Limit of the work in one call, which takes a fraction of a second, since Ctrl-C cannot interrupt machine
# code. A pair of rows is 1 unit of work, and a row is ROW units.
WORK_PER_CALL = 2**25
ROW = 2**5


def as_n_threads(n_threads: object) -> int:
    """Return a checked number of threads; None means all CPUs that this process may use."""
    number = whole_or_none("n_threads", n_threads, "all CPUs")
    if number is not None:
        return number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_chunks(
    run: Callable[[int, int], Iterable[Any]],
    indptr: NDArray[np.int64],
    n_threads: int | None,
    work: NDArray[Any] | None = None,
) -> list[Any]:
    """Call `run(first, last)`, which yields results, for ranges that cover all queries; return the results in order.

    An exception, such as from Ctrl-C, stops every thread at the next result that it yields.

    Parameters
    ----------
    run : callable
        Must be thread-safe.
    indptr : int64 array, shape (n_queries + 1,)
        Offsets of the queries' rows.
    n_threads : int or None
        Maximum number of threads; None means all CPUs.
    work : float array, shape (n_queries + 1,), optional
        Cumulative work of the queries, if it is not proportional to their rows.
    """
    n_queries, n_docs = indptr.size - 1, int(indptr[-1])
    n_chunks = max(1, min(as_n_threads(n_threads), n_queries, n_docs // ROWS_PER_THREAD))
    costs, stopped = indptr * ROW if work is None else work, Event()

    def run_chunk(first: int, last: int) -> list[Any]:
        results = []
        for part in _parts(costs, first, last):
            for result in run(*part):
                results.append(result)
                if stopped.is_set():
                    return results
        return results

    if n_chunks == 1:
        return run_chunk(0, n_queries)
    cuts = np.searchsorted(indptr, np.linspace(0, n_docs, n_chunks + 1)[1:-1])
    chunks = list(pairwise([0, *cuts.tolist(), n_queries]))
    try:
        # The calling thread works too, so that it makes progress even if other callers keep the pool busy.
        waiting = [_pool(os.getpid(), n_chunks - 1).submit(run_chunk, *chunk) for chunk in chunks[1:]]
        return [*run_chunk(*chunks[0]), *(result for future in waiting for result in future.result())]
    except KeyboardInterrupt:
        _pool.cache_clear()  # the pool may hold a lock that it never releases, if Ctrl-C came in the middle of `submit`
        raise
    finally:
        stopped.set()


def _parts(costs: NDArray[Any], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Split a range of queries so that each part fits in one call; a single query is never split."""
    while first < last:
        end = int(np.searchsorted(costs, costs[first] + WORK_PER_CALL, side="right")) - 1
        end = min(max(end, first + 1), last)
        yield first, end
        first = end


@lru_cache(maxsize=4)
def _pool(pid: int, size: int) -> ThreadPoolExecutor:
    """Return the thread pool of this process; a forked process needs a new one, since threads are not copied."""
    from concurrent.futures import ThreadPoolExecutor  # imported late, since it takes long to import

    return ThreadPoolExecutor(size, thread_name_prefix=f"rankadapters-{pid}")
