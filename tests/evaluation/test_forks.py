"""Processes that are forked while a thread evaluates or loads machine code."""

from __future__ import annotations

import pytest

from tests.helpers.parameters import long_except
from tests.helpers.python_processes import needs_posix, run_python

# Children are forked one after the other while a thread evaluates; a child that waits for a lock is killed and counted.
FORK = """
import os, sys, time
from threading import Event, Thread
import numpy as np
import rankadapters as ra

rng = np.random.default_rng(0)
queries = ra.Queries(rng.integers(0, 2, 24_000), group_sizes=np.full(2_000, 12))
scores = rng.random(24_000).round(2)
conventions = ["textbook@10", "lightgbm@all", "lightgbm.map@5", "lightgbm.auc", "catboost.query_rmse"]
rounds, n_children = map(int, sys.argv[1:])

def values():
    return [score.value for score in ra.evaluate(queries, scores, conventions, n_threads=1).values()]

def ended(child):
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False

def loop():
    while not stopped.is_set():
        started.set()
        values()

ra.evaluate([1, 0], [2, 1], "textbook@1", group_sizes=[2])  # imports all modules: no child has them half imported
expected = [values() for _ in range(rounds)]
started, stopped = Event(), Event()
thread = Thread(target=loop)
thread.start()
started.wait()
n_ended = 0
for delay in rng.uniform(0, 0.01, n_children):
    time.sleep(delay)
    child = os.fork()
    if child == 0:
        os._exit(0 if all(values() == first for first in expected or [values()]) else 1)
    if not ended(child):
        break
    n_ended += 1
stopped.set()
thread.join()
print(n_ended)
"""


@needs_posix
@pytest.mark.parametrize("kernels", long_except(["never", "now"], "now"))
def test_processes_forked_while_a_thread_evaluates_return_the_same_values(kernels):
    if kernels == "now":
        pytest.importorskip("numba")
    assert run_python("-c", FORK, 1, 12, RANKADAPTERS_KERNELS=kernels).stdout == "12\n"


@pytest.mark.long
@needs_posix
def test_a_process_forked_while_a_thread_loads_machine_code_evaluates():
    pytest.importorskip("numba")
    assert run_python("-c", FORK, 0, 1, RANKADAPTERS_KERNELS="now").stdout == "1\n"
