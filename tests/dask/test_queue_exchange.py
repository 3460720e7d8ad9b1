"""`ra.dask.exchange` adds arrays over the tasks of a cluster; tasks that wait in vain raise."""

import time

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.engines import failure_of
from tests.helpers.python_processes import TIMEOUT

distributed = pytest.importorskip("distributed")
from rankadapters.dask.queue_exchange import QueueExchange  # noqa: E402 - after the skip
from tests.helpers.engines import workers_of  # noqa: E402

pytestmark = pytest.mark.long
SHORT = 5  # seconds, for a wait that is in vain; the scheduler of a busy machine must answer in this time


def add_numbers(exchange, keys, number):
    return [exchange.add(key, 3, np.array([number, 1])).tolist() for key in keys]


def start_tasks(client, exchange, keys_by_worker):
    """Start a task on each of the first workers, which adds its number under each of its keys in turn."""
    return [
        client.submit(add_numbers, exchange, keys, number, workers=[worker], pure=False)
        for number, (worker, keys) in enumerate(zip(workers_of(client), keys_by_worker, strict=False))
    ]


def test_each_worker_gets_the_sum_of_each_key(cluster3):
    exchange = ra.dask.exchange(cluster3, timeout=TIMEOUT)
    keys = ["a", "b", *(f"round {number}" for number in range(30))]
    assert cluster3.gather(start_tasks(cluster3, exchange, [keys] * 3)) == [[[3, 3]] * 32] * 3


def test_two_exchanges_with_the_same_keys_are_independent(cluster3):
    first, second = ra.dask.exchange(cluster3, timeout=SHORT), ra.dask.exchange(cluster3, timeout=TIMEOUT)
    waiting = start_tasks(cluster3, first, [["a"]])
    error = failure_of(waiting[0].result)
    assert cluster3.gather(start_tasks(cluster3, second, [["a"]] * 3)) == [[[3, 3]]] * 3
    assert "not all of 3 workers" in str(error)


@pytest.fixture
def sums(cluster3):
    """Return the queue of a new exchange, which holds the unfinished sums by key."""
    queue = distributed.Queue(client=cluster3)
    queue.put({})
    return queue


def wait_for_sum(sums, key):
    """Wait until a worker has added to the sum of a key."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        unfinished = sums.get()
        sums.put(unfinished)
        if key in unfinished:
            return
    pytest.fail(f"no worker has added to {key}")


@pytest.mark.parametrize("earlier_keys", [[], ["a"]], ids=["first key", "later key"])
def test_tasks_that_wait_in_vain_raise_together_and_the_exchange_works_again(cluster3, sums, earlier_keys):
    """The impatient worker ends the wait of the patient one, which would be far longer than the test."""
    impatient, patient = QueueExchange(sums, SHORT), QueueExchange(sums, 10 * TIMEOUT)
    assert cluster3.gather(start_tasks(cluster3, patient, [earlier_keys] * 3)) == [[[3, 3]] * len(earlier_keys)] * 3
    tasks = start_tasks(cluster3, patient, [["z"]])
    wait_for_sum(sums, "z")
    tasks += start_tasks(cluster3, impatient, [[], ["z"]])
    for task, seconds in ((tasks[0], 10 * TIMEOUT), (tasks[2], SHORT)):
        error = failure_of(task.result)
        assert isinstance(error, ra.RankAdaptersError)
        assert str(error).startswith(f"z: not all of 3 workers called add within {seconds} s.\nHint: see the log")
    assert cluster3.gather(start_tasks(cluster3, patient, [["z", "a"]] * 3)) == [[[3, 3]] * 2] * 3


def test_a_sum_has_no_part_of_a_worker_that_was_lost(cluster3, sums):
    """The lost worker's part is dropped with the sum that the others give up."""
    sums.get()
    sums.put({"a": ("totals of a lost worker", 1, np.array([1000, 1]).tobytes())})
    survivors = start_tasks(cluster3, QueueExchange(sums, SHORT), [["a"]])
    assert str(failure_of(survivors[0].result)).startswith("a: not all of 3 workers called add")
    assert cluster3.gather(start_tasks(cluster3, QueueExchange(sums, TIMEOUT), [["a"]] * 3)) == [[[3, 3]]] * 3


def test_outside_a_task_waiting_ends_after_the_timeout(cluster3):
    exchange = ra.dask.exchange(cluster3, timeout=SHORT)
    error = failure_of(lambda: exchange.add("a", 2, np.array([1])))
    assert isinstance(error, ra.RankAdaptersError)
    message = f"a: not all of 2 workers called add within {SHORT} s.\nHint: see the log of the other"
    assert str(error).startswith(message)


def test_a_worker_that_died_while_it_changed_the_sums_ends_all_others_with_an_error(sums):
    sums.get()
    error = failure_of(lambda: QueueExchange(sums, 0.1).add("a", 2, np.array([1])))
    assert isinstance(error, ra.RankAdaptersError)
    assert str(error).startswith("the sums did not return within")


def test_a_client_of_another_type_is_refused():
    with pytest.raises(ra.InputError, match=r"client is a str, not a distributed\.Client\.\nHint: client = Client"):
        ra.dask.exchange("tcp://127.0.0.1:8786")
