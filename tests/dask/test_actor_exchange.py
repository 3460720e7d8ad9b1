"""`dask.exchange`: sums over the tasks of a cluster, and what becomes of those that wait."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of

pytest.importorskip("distributed")


def handed_over(exchange, keys, number):
    return [exchange.add(key, 3, np.array([number, 1])).tolist() for key in keys]


def on_workers(client, exchange, keys_of_each):
    """One task on each of the first workers, which hands itself over under each key in turn."""
    workers = sorted(client.scheduler_info()["workers"])
    return [
        client.submit(handed_over, exchange, keys, number, workers=[worker], pure=False)
        for number, (worker, keys) in enumerate(zip(workers, keys_of_each, strict=False))
    ]


def test_each_worker_gets_the_sum_under_each_key(cluster3):
    exchange = ra.dask.exchange(cluster3)
    tasks = on_workers(cluster3, exchange, [["a", "b"]] * 3)
    assert cluster3.gather(tasks) == [[[3, 3]] * 2] * 3


@pytest.mark.parametrize("before", [[], ["a"]], ids=["first round", "later"])
def test_those_that_wait_for_a_task_that_ended_raise(cluster3, before):
    exchange = ra.dask.exchange(cluster3)
    waiting = on_workers(cluster3, exchange, [[*before, "z"], before, [*before, "z"]])
    assert waiting[1].result() == [[3, 3]] * len(before)
    for task in (waiting[0], waiting[2]):
        error = failure_of(task.result)
        assert isinstance(error, ra.RankAdaptersError)
        assert str(error).startswith("z: another worker's task ended before its call of add.\nHint: see that")


def test_a_task_that_waits_for_its_turn_does_not_stand_for_one_that_ended(cluster3):
    exchange = ra.dask.exchange(cluster3, timeout=20)
    first, _, third = on_workers(cluster3, exchange, [["a", "z"], ["a"], ["a", "z"]])
    [later] = on_workers(cluster3, exchange, [[]])
    for task in (first, third):
        assert str(failure_of(task.result)).startswith("z: another worker's task ended before its call of add")
    assert later.result() == []


def test_an_exchange_serves_again_after_a_failure(cluster3):
    exchange = ra.dask.exchange(cluster3)
    for task in on_workers(cluster3, exchange, [["a"], ["a"], []])[:2]:
        assert "ended before its call of add" in str(failure_of(task.result))
    assert cluster3.gather(on_workers(cluster3, exchange, [["a"]] * 3)) == [[[3, 3]]] * 3


def test_outside_of_tasks_nobody_waits_longer_than_the_timeout(cluster2):
    exchange = ra.dask.exchange(cluster2, timeout=0.5)

    def waits():
        with cluster2.as_current():  # which an actor asks for outside of a task
            exchange.add("a", 2, np.array([1]))

    error = failure_of(waits)
    assert isinstance(error, ra.RankAdaptersError)
    assert str(error) == "a: not all of 2 workers called add within 0.5 s.\nHint: use a longer timeout=."


def test_a_pickle_does_not_keep_the_actor(cluster2):
    assert pickle.loads(pickle.dumps(ra.dask.exchange(cluster2)))._future is None


def test_what_is_not_a_client():
    with pytest.raises(ra.InputError, match=r"client is a str, not a distributed\.Client\.\nHint: client = Client"):
        ra.dask.exchange("tcp://127.0.0.1:8786")
