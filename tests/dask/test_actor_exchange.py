"""`ra.dask.exchange` adds arrays over the tasks of a cluster; tasks that wait in vain raise."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of
from tests.helpers.python_processes import TIMEOUT

pytest.importorskip("distributed")
from tests.helpers.ranking_parts import workers_of


def add_numbers(exchange, keys, number):
    return [exchange.add(key, 3, np.array([number, 1])).tolist() for key in keys]


def start_tasks(client, exchange, keys_by_worker):
    """Start a task on each of the first workers, which adds its number under each of its keys in turn."""
    return [
        client.submit(add_numbers, exchange, keys, number, workers=[worker], pure=False)
        for number, (worker, keys) in enumerate(zip(workers_of(client), keys_by_worker, strict=False))
    ]


def test_each_worker_gets_the_sum_of_each_key(cluster3):
    exchange = ra.dask.exchange(cluster3)
    tasks = start_tasks(cluster3, exchange, [["a", "b"]] * 3)
    assert cluster3.gather(tasks) == [[[3, 3]] * 2] * 3


@pytest.mark.parametrize("earlier_keys", [[], ["a"]], ids=["first key", "later key"])
def test_tasks_that_wait_for_a_task_that_ended_raise(cluster3, earlier_keys):
    exchange = ra.dask.exchange(cluster3)
    tasks = start_tasks(cluster3, exchange, [[*earlier_keys, "z"], earlier_keys, [*earlier_keys, "z"]])
    assert tasks[1].result() == [[3, 3]] * len(earlier_keys)
    for task in (tasks[0], tasks[2]):
        error = failure_of(task.result)
        assert isinstance(error, ra.RankAdaptersError)
        assert str(error).startswith("z: another worker's task ended before its call of add.\nHint: see that")


def test_a_queued_task_does_not_replace_a_task_that_ended(cluster3):
    exchange = ra.dask.exchange(cluster3, timeout=TIMEOUT / 2)
    first, _, third = start_tasks(cluster3, exchange, [["a", "z"], ["a"], ["a", "z"]])
    [later] = start_tasks(cluster3, exchange, [[]])
    for task in (first, third):
        assert str(failure_of(task.result)).startswith("z: another worker's task ended before its call of add")
    assert later.result() == []


def test_an_exchange_works_again_after_a_failure(cluster3):
    exchange = ra.dask.exchange(cluster3)
    for task in start_tasks(cluster3, exchange, [["a"], ["a"], []])[:2]:
        assert "ended before its call of add" in str(failure_of(task.result))
    assert cluster3.gather(start_tasks(cluster3, exchange, [["a"]] * 3)) == [[[3, 3]]] * 3


def test_outside_a_task_waiting_ends_after_the_timeout(cluster2):
    exchange = ra.dask.exchange(cluster2, timeout=0.5)

    def wait():
        with cluster2.as_current():  # outside a task, an actor needs a current client
            exchange.add("a", 2, np.array([1]))

    error = failure_of(wait)
    assert isinstance(error, ra.RankAdaptersError)
    assert str(error) == "a: not all of 2 workers called add within 0.5 s.\nHint: use a longer timeout=."


def test_a_pickled_exchange_does_not_contain_the_actor(cluster2):
    assert pickle.loads(pickle.dumps(ra.dask.exchange(cluster2)))._future is None


def test_a_client_of_another_type_is_refused():
    with pytest.raises(ra.InputError, match=r"client is a str, not a distributed\.Client\.\nHint: client = Client"):
        ra.dask.exchange("tcp://127.0.0.1:8786")
