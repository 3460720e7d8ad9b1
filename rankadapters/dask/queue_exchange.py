"""Sum arrays over the workers of a training, through queues of Dask's scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Queue

from rankadapters.core.arrays import Ints
from rankadapters.core.declaration.arguments import number
from rankadapters.core.errors import InputError, RankAdaptersError


class QueueExchange:
    """Adds up the arrays of a training's workers; made by `exchange`.

    One queue holds a single item, the unfinished sums by key; whoever has taken it out may change the sums. The
    workers of a sum get the total from a second queue, which is new for each sum.
    """

    def __init__(self, sums: Queue, timeout: float) -> None:
        self._sums, self._timeout = sums, timeout

    def add(self, key: str, parts: int, array: Ints) -> Ints:
        """Wait until `parts` workers have called `add` with this key and arrays of one shape, and return the sum.

        Raises
        ------
        InputError
            The array is not of int64, or not of the shape of the other workers' arrays.
        RankAdaptersError
            A worker waited for `timeout` seconds; all workers that wait for the same sum raise it.
        """
        data = np.ascontiguousarray(array)
        if data.dtype != np.int64:
            raise InputError(f"array has dtype {data.dtype}, but int64 is needed.", hint="array.astype('int64')")
        with self._unfinished() as sums:
            name, count, total = sums.get(key, (f"{key} {uuid4()}", 0, bytes(data.nbytes)))
            if len(total) != data.nbytes:
                raise InputError(f"{key}: array has {data.size} entries, but {len(total) // 8} in other workers.")
            total = (np.frombuffer(total, np.int64) + data.ravel()).tobytes()
            totals = Queue(name, self._sums.client)
            sums[key] = name, count + 1, total
            if count + 1 == parts:
                _put(totals, total, parts)
                del sums[key]
        try:
            total = totals.get(timeout=self._timeout)
        except TimeoutError:
            with self._unfinished() as sums:
                if sums.get(key, [None])[0] == name:  # otherwise a worker has just put the total or given up
                    _put(totals, b"", sums.pop(key)[1])
            with suppress(TimeoutError):
                total = b""
                total = totals.get(timeout=self._timeout)
        finally:
            totals.close()
        if not total:
            msg = f"{key}: not all of {parts} workers called add within {self._timeout:g} s."
            raise RankAdaptersError(msg, hint="see the log of the other workers for an error, or use a longer timeout=")
        return np.frombuffer(total, np.int64).reshape(data.shape)

    @contextmanager
    def _unfinished(self) -> Iterator[dict[str, Any]]:
        """Take the unfinished sums by key out of their queue, and put them back after the block."""
        try:
            sums = self._sums.get(timeout=self._timeout)
        except TimeoutError:
            msg = f"the sums did not return within {self._timeout:g} s: perhaps a worker was lost while it added."
            raise RankAdaptersError(msg, hint="make a new ra.dask.exchange(client)") from None
        try:
            yield sums
        finally:
            self._sums.put(sums)


def _put(queue: Queue, item: bytes, times: int) -> None:
    for _ in range(times):
        queue.put(item)


def exchange(client: Client, *, timeout: float = 60.0) -> QueueExchange:
    """Return an object that adds up arrays of a training's Dask workers, for `ra.lightgbm.global_eval`.

    Dask's scheduler holds the unfinished sums: 1.2 kB per convention. If a worker is lost or fails, the others raise
    an error after `timeout` seconds. After a worker was killed, or after `client.restart()`, make a new exchange: the
    old one may hold a part of that worker.

    Parameters
    ----------
    client : distributed.Client
        Client of the training cluster.
    timeout : float
        Maximum number of seconds that a worker waits for the other workers, above 0.

    Returns
    -------
    QueueExchange
        Has the method `add(key, parts, array)`, and can be pickled to workers.

    Raises
    ------
    InputError
        `client` is not a client of Dask, or `timeout` is not a number above 0.

    Examples
    --------
    >>> import numpy as np, rankadapters as ra
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     exchange = ra.dask.exchange(client)
    ...     print(exchange.add("round 1", 1, np.array([1, 2])))
    [1 2]
    """
    if not isinstance(client, Client):
        msg = f"client is a {type(client).__name__}, not a distributed.Client.\nHint: client = Client(cluster)."
        raise InputError(msg)
    seconds = number("timeout", timeout, least=0, above=True, hint="timeout=60")
    sums = Queue(client=client)
    sums.put({})
    return QueueExchange(sums, seconds)
