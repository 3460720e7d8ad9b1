"""Sum arrays over the workers of a training, through a Dask actor on one of them."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import numpy as np
from dask.utils import key_split
from distributed import Actor, Client, Future, get_client, get_worker
from numpy.typing import NDArray

from rankadapters.core.errors import InputError, RankAdaptersError

Integers = NDArray[np.int64]

_CHECK_INTERVAL = 1.0  # seconds between checks whether the other workers' tasks still run
_ACTOR_TIMEOUT = 30.0  # seconds to wait for the actor's answer; its worker may be busy


class ActorExchange:
    """Adds up the arrays of a training's workers; made by `exchange`."""

    def __init__(self, sums: Actor, timeout: float, future: Future | None = None) -> None:
        self._sums = sums
        self._timeout = timeout
        self._future = future  # keeps the actor alive, which Dask deletes with its last future

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the future; only the client's own exchange keeps the actor alive."""
        return type(self), (self._sums, self._timeout)

    def add(self, key: str, parts: int, array: Integers) -> Integers:
        """Wait until `parts` workers have called `add` with this key and arrays of one shape, and return the sum.

        Raises
        ------
        RankAdaptersError
            A worker's task ended before its call, or the calls took longer than `timeout`.
        """
        future, start = self._sums.add(key, parts, array, _current_task()), time.monotonic()
        while True:
            try:
                total: Integers = future.result(timeout=_CHECK_INTERVAL)
            except TimeoutError:
                self._check_workers(key, parts, time.monotonic() - start)
            else:
                return total

    def _check_workers(self, key: str, parts: int, waited: float) -> None:
        """Make all waiting calls of `add` raise an error if a worker's task has ended or the time is up."""
        try:
            late, running = self._sums.late_tasks(key).result(timeout=_ACTOR_TIMEOUT), _running_siblings()
        except TimeoutError:
            msg = f"{key}: the actor that adds up is gone.\nHint: keep ra.dask.exchange(client) until training ends."
            raise RankAdaptersError(msg) from None
        if running is not None and (len(running) < parts or not late <= running):
            why = "another worker's task ended before its call of add.\nHint: see that task's own error."
        elif waited > self._timeout:
            why = f"not all of {parts} workers called add within {self._timeout:g} s.\nHint: use a longer timeout=."
        else:
            return
        self._sums.give_up(key, f"{key}: {why}").result(timeout=_ACTOR_TIMEOUT)


def exchange(client: Client, *, timeout: float = 600.0) -> ActorExchange:
    """Return an object that adds up arrays of a training's Dask workers, for `ra.lightgbm.global_eval`.

    An actor on one of the workers holds the sums: 1.2 kB per worker, convention and round. Waiting workers check every
    second whether the others' tasks (of the same function) still run. If one has ended, all waiting workers raise.

    Parameters
    ----------
    client : distributed.Client
        Client of the training cluster. Keep the exchange until the training ends.
    timeout : float
        Maximum number of seconds from the first worker's call of `add` to the last worker's.

    Returns
    -------
    ActorExchange
        Has the method `add(key, parts, array)`, and can be pickled to workers.

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
    future = client.submit(_Sums, actor=True, pure=False)
    return ActorExchange(future.result(), timeout, future)


class _Sums:
    """The Dask actor. It holds the unfinished sums, and knows which tasks added to the previous sum."""

    def __init__(self) -> None:
        self._incomplete: dict[str, _Sum] = {}
        self._last_tasks: frozenset[str] = frozenset()

    async def add(self, key: str, parts: int, array: Integers, task: str | None) -> Integers:
        """Add one worker's array, and wait for the other workers'."""
        current = self._incomplete.setdefault(key, _Sum(asyncio.get_running_loop().create_future()))
        current.parts.append(array)
        current.tasks.update([task] if task else [])
        if len(current.parts) == parts:
            self._last_tasks = frozenset(self._incomplete.pop(key).tasks)
            current.ready.set_result(np.sum(current.parts, axis=0))
        # Without the shield, a lost connection to one worker would cancel the future that all workers wait for.
        total: Integers = await asyncio.shield(current.ready)
        return total

    def late_tasks(self, key: str) -> frozenset[str]:
        """Return the tasks that added to the previous sum but not yet to this one; none in a training's first round."""
        current = self._incomplete.get(key)
        return self._last_tasks - current.tasks if current and current.tasks <= self._last_tasks else frozenset()

    async def give_up(self, key: str, why: str) -> None:
        """Make all calls that wait for this sum raise an error."""
        if current := self._incomplete.pop(key, None):
            current.ready.set_exception(RankAdaptersError(why))


class _Sum:
    def __init__(self, ready: asyncio.Future[Integers]) -> None:
        self.ready = ready
        self.parts: list[Integers] = []
        self.tasks: set[str] = set()


def _current_task() -> str | None:
    """Return the key of the current Dask task; None outside a task."""
    try:
        return str(get_worker().get_current_task())
    except ValueError:
        return None


def _running_siblings() -> set[str] | None:
    """Return the running or queued tasks that call the same function as the current task; None outside a task."""
    task = _current_task()
    if task is None:
        return None
    running = {str(key) for keys in get_client().processing().values() for key in keys}
    return {key for key in running if key_split(key) == key_split(task)}
