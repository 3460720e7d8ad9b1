"""Text parsed in blocks of whole lines: several at once, and a few in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from rankadapters.core.evaluation.threads import as_n_threads

Found = TypeVar("Found")

BLOCK = 1 << 20  # bytes that are looked at together: fewer, and calling numpy costs more than what it does


def parsed(data: bytes, parse: Callable[[bytes], Found]) -> Iterator[tuple[bytes, Found]]:
    r"""Parse a text in blocks, as many at once as there are CPUs; their order stays.

    Examples
    --------
    >>> [(len(block), found) for block, found in parsed(b"2\n1\n0", lambda block: block.count(b"\n"))]
    [(5, 2)]
    """
    if len(data) <= BLOCK:
        yield data, parse(data)
    else:
        yield from parsed_blocks(_blocks(data), parse)


def parsed_blocks(blocks: Iterable[bytes], parse: Callable[[bytes], Found]) -> Iterator[tuple[bytes, Found]]:
    """Parse blocks of whole lines, as many at once as there are CPUs, which are held until then; their order stays."""
    _keep_freed_memory()
    n_threads = as_n_threads(None)
    waiting: deque[tuple[bytes, Future[Found]]] = deque()
    pool = ThreadPoolExecutor(n_threads)
    try:
        for block in blocks:
            waiting.append((block, pool.submit(parse, block)))
            if len(waiting) > n_threads:
                yield _next(waiting)
        while waiting:
            yield _next(waiting)
    finally:
        # Nobody waits for the threads: Python may end what is left of this after an error in any thread of its own,
        # while another one is being started, and would wait for ever.
        pool.shutdown(wait=False, cancel_futures=True)


def _next(waiting: deque[tuple[bytes, Future[Found]]]) -> tuple[bytes, Found]:
    block, found = waiting.popleft()
    return block, found.result()


def _blocks(data: bytes) -> Iterator[bytes]:
    """Cut between lines."""
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start + BLOCK) + 1 or len(data)
        yield data[start:stop]
        start = stop


def _keep_freed_memory() -> None:
    """Have the C library keep what is freed for the arrays of the next block, where it would give it back each time.

    glibc keeps blocks of the size of the largest that was freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD). Asking
    for the pages again took longer than parsing.
    """
    np.empty(24 * BLOCK, np.uint8)
