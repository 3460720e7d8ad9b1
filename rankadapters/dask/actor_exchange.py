"""Sums over the workers of a training, which an actor on one of them makes."""

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

_LOOK = 1.0  # seconds between two looks at whether the others are still there
_ANSWER = 30.0  # seconds that an actor may take to answer, on a worker that is busy


class ActorExchange:
    """What adds up the arrays of a training's workers; made by `exchange`."""

    def __init__(self, sums: Actor, timeout: float, kept: Future | None = None) -> None:
        self._sums = sums
        self._timeout = timeout
        self._kept = kept  # or Dask lets the actor go

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to workers without what keeps the actor: the client's own exchange does."""
        return type(self), (self._sums, self._timeout)

    def add(self, key: str, parts: int, array: Integers) -> Integers:
        """Wait until `parts` workers have handed an array of one shape over under this key, and give the sum.

        Raises
        ------
        RankAdaptersError
            A worker's task ended before it came, or took longer than `timeout`.
        """
        waiting, start = self._sums.add(key, parts, array, _own_task()), time.monotonic()
        while True:
            try:
                total: Integers = waiting.result(timeout=_LOOK)
            except TimeoutError:
                self._look(key, parts, time.monotonic() - start)
            else:
                return total

    def _look(self, key: str, parts: int, waited: float) -> None:
        """Give up where a worker will not come, for all that wait."""
        try:
            missing, running = self._sums.missing(key).result(timeout=_ANSWER), _running_siblings()
        except TimeoutError:
            msg = f"{key}: the actor that adds up is gone.\nHint: keep ra.dask.exchange(client) until training ends."
            raise RankAdaptersError(msg) from None
        if running is not None and (len(running) < parts or not missing <= running):
            why = "the task of another worker ended before it came.\nHint: the cause is that task's own error."
        elif waited > self._timeout:
            why = f"of {parts} workers not all came within {self._timeout:g} s.\nHint: timeout=."
        else:
            return
        self._sums.give_up(key, f"{key}: {why}").result(timeout=_ANSWER)


def exchange(client: Client, *, timeout: float = 600.0) -> ActorExchange:
    """Make what adds up the arrays of a training's workers on a Dask cluster; for `ra.lightgbm.global_eval`.

    An actor on one of the workers holds the sums, 1.2 kB a worker, convention and round. A worker that waits looks
    every second whether the others' tasks, which are of one function, still run; where one ended, all that wait raise.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster that trains. Keep the exchange until the training ends.
    timeout : float
        Seconds to wait for the slowest worker at most, from the first on that came.

    Returns
    -------
    ActorExchange
        Has `add(key, parts, array)`, and a pickle that goes to workers.

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
    kept = client.submit(_Sums, actor=True, pure=False)
    return ActorExchange(kept.result(), timeout, kept)


class _Sums:
    """The actor: sums that are not complete yet, and whose tasks came for the last that was."""

    def __init__(self) -> None:
        self._open: dict[str, _Sum] = {}
        self._tasks: frozenset[str] = frozenset()

    async def add(self, key: str, parts: int, array: Integers, task: str | None) -> Integers:
        """Add one worker's part, and wait for the others'."""
        found = self._open.setdefault(key, _Sum(asyncio.get_running_loop().create_future()))
        found.parts.append(array)
        found.tasks.update([task] if task else [])
        if len(found.parts) == parts:
            self._tasks = frozenset(self._open.pop(key).tasks)
            found.ready.set_result(np.sum(found.parts, axis=0))
        # Shielded, since a connection that is lost would cancel the others' wait too.
        total: Integers = await asyncio.shield(found.ready)
        return total

    def missing(self, key: str) -> frozenset[str]:
        """Tasks that came for the last sum and not yet for this one; none are known in a training's first round."""
        found = self._open.get(key)
        return self._tasks - found.tasks if found and found.tasks <= self._tasks else frozenset()

    async def give_up(self, key: str, why: str) -> None:
        """Let all that wait raise."""
        if found := self._open.pop(key, None):
            found.ready.set_exception(RankAdaptersError(why))


class _Sum:
    def __init__(self, ready: asyncio.Future[Integers]) -> None:
        self.ready = ready
        self.parts: list[Integers] = []
        self.tasks: set[str] = set()


def _own_task() -> str | None:
    """Key of the task that this is called in, outside of which nobody can tell whether it still runs."""
    try:
        return str(get_worker().get_current_task())
    except ValueError:
        return None


def _running_siblings() -> set[str] | None:
    """Tasks of the same function as this one, waiting ones included; None outside of a task."""
    own = _own_task()
    if own is None:
        return None
    running = {str(key) for keys in get_client().processing().values() for key in keys}
    return {key for key in running if key_split(key) == key_split(own)}
