"""Ctrl-C ends the command with one line and exit code 130, and stops long computations."""

import math
import os
import signal
import threading

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core.ranking.jit import Jitted
from rankadapters.evaluation import threads
from rankadapters.objectives.kernels.pairs import pair_gradients
from rankadapters.objectives.kernels.replicas import replica_gradients
from rankadapters.objectives.kernels.stochastic_filter import stochastic_filter_gradients
from rankadapters.objectives.kernels.stochastic_rank import stochastic_rank_gradients
from rankadapters.objectives.kernels.yetirank import yetirank_gradients
from tests.helpers.python_processes import TIMEOUT, needs_posix, start_python
from tests.objectives.examples import ALL, EXACT, TABULATED, objective_id

EVALUATE = ["evaluate", "--convention", "textbook@3", "--format", "json"]

pytestmark = pytest.mark.usefixtures("default_sigint")


@needs_posix
def test_an_interrupted_command_prints_one_line(tmp_path):
    """The command waits for a pipe without a writer. Opening the pipe for writing waits until the command reads it."""
    pipe = tmp_path / "features"
    os.mkfifo(pipe)
    with start_python("-m", "rankadapters", *EVALUATE, "--features", str(pipe), "--predictions", str(pipe)) as process:
        writer = []
        opening = threading.Thread(target=lambda: writer.append(os.open(pipe, os.O_WRONLY)), daemon=True)
        opening.start()
        opening.join(TIMEOUT)
        assert writer, "the command never opened its file"
        process.send_signal(signal.SIGINT)
        os.close(writer[0])  # ends a read that starts just after the signal, which would wait for ever
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, err) == (130, "", "rankadapters: interrupted\n")


@needs_posix
@pytest.mark.parametrize("module", ["numpy", pytest.param("rankadapters.core.ranking.ranks", marks=pytest.mark.long)])
def test_a_command_interrupted_while_it_imports_prints_one_line(tmp_path, module):
    code = (
        "import signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "import rankadapters.__main__ as command\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.exit(command.main())\n"
    )
    features, predictions = tmp_path / "features", tmp_path / "predictions"
    features.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    predictions.write_text("0.5\n0.25\n")
    files = ["--features", str(features), "--predictions", str(predictions)]
    with start_python("-c", code, *EVALUATE, *files) as process:
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, err) == (130, "", "rankadapters: interrupted\n")


PAIRWISE = {
    "exact": (EXACT.replace(truncation=None), pair_gradients),
    "table": (TABULATED.replace(truncation=None), replica_gradients),
    "map": (objectives.xgboost.map().replace(truncation=None), replica_gradients),
}
SIZES = [1, 30, 2, 90, 3, 1, 60]
RNG = np.random.default_rng(0)
LABELS, SCORES = RNG.integers(0, 2, sum(SIZES)), RNG.standard_normal(sum(SIZES))
LONG_QUERY = 201  # rows of one query, computed in calls of 50 ranks; the last rank has no pairs with later ranks


@pytest.mark.long
@pytest.mark.parametrize("value", ALL, ids=objective_id)
@pytest.mark.parametrize(("work", "spread"), [(1, 1), (100, 1000), (5000, 1)])
def test_gradients_in_many_calls_have_the_same_bits(monkeypatch, value, work, spread):
    """Scores far apart need more than one unit for exp(s)."""
    queries = ra.Queries(LABELS, group_sizes=SIZES)
    expected = value.bind(queries, n_threads=1).gradients(SCORES * spread)
    assert np.isfinite(expected).all()
    monkeypatch.setattr(threads, "WORK_PER_CALL", work)
    np.testing.assert_array_equal(value.bind(queries, n_threads=1).gradients(SCORES * spread), expected)


@pytest.mark.long
@pytest.mark.parametrize(
    ("value", "kernel"),
    [
        (objectives.catboost.stochastic_rank("NDCG"), stochastic_rank_gradients),
        (objectives.catboost.yetirank(), yetirank_gradients),
        (objectives.catboost.stochastic_filter(), stochastic_filter_gradients),
    ],
)
def test_a_kernel_with_noise_is_called_once_or_for_each_query(monkeypatch, value, kernel):
    for work, least, most in ((2**40, 1, 1), (1, len(SIZES), math.inf)):
        with monkeypatch.context() as patch:
            patch.setattr(threads, "WORK_PER_CALL", work)
            calls = count_calls(patch, kernel, lambda number: None)
            value.bind(ra.Queries(LABELS, group_sizes=SIZES), n_threads=1).gradients(SCORES)
        assert least <= len(calls) <= most


def test_values_in_many_calls_have_the_same_bits(monkeypatch):
    conventions = ["textbook@3", "lightgbm.map@3", "catboost.query_auc", "letor4@2"]
    expected = ra.Evaluator(LABELS, conventions, group_sizes=SIZES).measure(SCORES).tallies
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1)
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 1)
    for convention, tally in ra.Evaluator(LABELS, conventions, group_sizes=SIZES).measure(SCORES).tallies.items():
        assert tally.to_dict() == expected[convention].to_dict()


def count_calls(monkeypatch, kernel, before):
    """Call `before` with the number of the call, from 1 on, before each call of the kernel; return all calls."""
    calls, call = [], Jitted.__call__

    def count_and_call(self, *arguments):
        if self is kernel:
            calls.append(threading.current_thread())
            before(len(calls))
        return call(self, *arguments)

    monkeypatch.setattr(Jitted, "__call__", count_and_call)
    return calls


@pytest.mark.parametrize("name", ["exact", *(pytest.param(name, marks=pytest.mark.long) for name in ("table", "map"))])
def test_the_pairs_of_one_long_query_are_interrupted_between_calls(monkeypatch, name):
    objective, kernel = PAIRWISE[name]
    monkeypatch.setattr(threads, "WORK_PER_CALL", 50 * LONG_QUERY)
    bound_objective = objective.bind(ra.Queries(np.arange(LONG_QUERY) % 2, group_sizes=[LONG_QUERY]))
    calls = count_calls(monkeypatch, kernel, lambda number: None)
    expected = bound_objective.gradients(np.sin(np.arange(LONG_QUERY)))
    assert len(calls) == 4
    calls = count_calls(monkeypatch, kernel, lambda number: number == 3 and signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        bound_objective.gradients(np.sin(np.arange(LONG_QUERY)))
    assert len(calls) == 3
    monkeypatch.undo()
    # The interrupted call leaves no state behind.
    np.testing.assert_array_equal(bound_objective.gradients(np.sin(np.arange(LONG_QUERY))), expected)


def test_the_first_score_without_a_gradient_ends_the_query(monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 50 * LONG_QUERY)
    calls = count_calls(monkeypatch, pair_gradients, lambda number: None)
    scores = np.r_[1.5e308, np.zeros(LONG_QUERY - 2), -1.5e308]
    with pytest.raises(ra.InputError, match=rf"scores\[{LONG_QUERY - 1}\] is -1.5e\+308, too far"):
        objectives.gradients(
            np.arange(LONG_QUERY) % 2, scores, objectives.catboost.pair_logit(), group_sizes=[LONG_QUERY]
        )
    assert len(calls) == 1


def test_other_threads_stop_at_their_next_result():
    second_started, interrupted, second_ended = (threading.Event() for _ in range(3))
    results = []

    def run(start, end):
        del end
        if start:  # the second chunk
            second_started.set()
            interrupted.wait(TIMEOUT)
            try:
                for number in range(5):
                    results.append(number)
                    yield number
            finally:
                second_ended.set()
        else:
            second_started.wait(TIMEOUT)
            yield -1
            signal.raise_signal(signal.SIGINT)

    indptr = np.array([0, 1, 2]) * threads.ROWS_PER_THREAD
    with pytest.raises(KeyboardInterrupt):
        threads.over_chunks(run, indptr, 2)
    interrupted.set()
    assert second_ended.wait(TIMEOUT)
    assert results == [0]


@needs_posix
@pytest.mark.long
def test_a_training_on_one_query_of_a_million_rows_is_interrupted():
    """The 5e11 pairs of the query would take a quarter of an hour."""
    code = (
        "import numpy as np, rankadapters as ra\n"
        "value = ra.objectives.catboost.pair_logit()\n"
        "ra.objectives.gradients([1, 0], [0.5, 0.25], value, group_sizes=[2])\n"
        "bound = value.bind(ra.Queries(np.arange(10**6) % 2, group_sizes=[10**6]))\n"
        "print('begins', flush=True)\n"
        "bound.gradients(np.sin(np.arange(10**6)))\n"
    )
    with start_python("-c", code) as process:
        assert process.stdout.readline() == "begins\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == -signal.SIGINT
    assert err.endswith("KeyboardInterrupt\n")
