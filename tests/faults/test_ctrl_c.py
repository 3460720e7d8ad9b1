"""Ctrl-C ends the command with one line; a Python session continues with correct values."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking.jit import Jitted
from rankadapters.evaluation import passes
from tests.helpers.metric_trainings import LightGBM, XGBoost
from tests.helpers.python_processes import TIMEOUT, needs_posix, start_python
from tests.helpers.rankings import Ranking

pytestmark = [needs_posix, pytest.mark.long, pytest.mark.usefixtures("default_sigint")]

LINE = "rankadapters: interrupted\n"


COMMAND = """
import signal, sys
import rankadapters.__main__ as command
def run():
    {body}
import rankadapters.cli
rankadapters.cli.main = run
sys.exit(command.main())
"""


@pytest.mark.parametrize(
    ("body", "code", "expected_stderr"),
    [
        ("signal.raise_signal(2)", 130, LINE),
        ("try: signal.raise_signal(2)\n    finally: signal.raise_signal(2)", 130, LINE),  # pressed twice
        ("signal.raise_signal(15)", 143, ""),
        ("return 1", 1, ""),
        ("sys.exit('a message')", 1, "a message\n"),
    ],
)  # fmt: skip
def test_a_signal_ends_the_command_with_its_exit_code(body, code, expected_stderr):
    with start_python("-c", COMMAND.format(body=body)) as process:
        stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stdout, stderr) == (code, "", expected_stderr)


SIZES, QID = np.array([4, 3, 5]), np.repeat([0, 1, 2], [4, 3, 5])
LABELS = np.array([0, 1, 2, 0, 1, 0, 2, 2, 1, 0, 0, 1])
FEATURES = np.arange(24.0).reshape(12, 2) % 7


def boosting(kind, objective, **params):
    toolkit = kind()
    metric, data = toolkit.metric("letor4@3"), toolkit.dataset(Ranking(FEATURES, LABELS, QID, SIZES))
    params |= {"objective": toolkit.adapter.objective(objective), "callbacks": [metric] * (kind is XGBoost)}
    return (
        lambda log: toolkit.train(metric, {"data": data}, 5, log=log, **params),
        lambda scores: metric(scores, data)[0][1],
    )


def lightgbm_training():
    return boosting(LightGBM, ra.objectives.lightgbm.lambdarank(), min_data_in_leaf=1)


def xgboost_training():
    return boosting(XGBoost, ra.objectives.xgboost.ndcg())


def catboost_training():
    cb = pytest.importorskip("catboost")
    metric = ra.catboost.eval_metric("letor4@3", sets=[(LABELS, QID)])
    params = {"loss_function": "QueryRMSE", "eval_metric": metric, "iterations": 5, "depth": 1, "thread_count": 1}
    quiet = {"logging_level": "Silent", "allow_writing_files": False}
    pool = cb.Pool(FEATURES, LABELS, group_id=QID)
    return (
        lambda log: log.update(cb.CatBoost(params | quiet).fit(pool).get_evals_result()),
        lambda scores: metric.evaluate([scores], LABELS, None)[0],
    )


ERRORS = {catboost_training: "CatBoostError"}  # its message ends with KeyboardInterrupt


class CtrlC:
    """Counts the rankings and gradient kernels that run, and presses Ctrl-C when number `at_step` starts."""

    def __init__(self):
        self.at_step = self.n_steps = 0

    def before(self, function):
        def count_and_call(*arguments):
            self.n_steps += 1
            if self.n_steps == self.at_step:
                signal.raise_signal(signal.SIGINT)
            return function(*arguments)

        return count_and_call


@pytest.fixture
def ctrl_c(monkeypatch):
    ctrl_c = CtrlC()
    monkeypatch.setattr(passes, "ranked", ctrl_c.before(passes.ranked))
    monkeypatch.setattr(Jitted, "__call__", ctrl_c.before(Jitted.__call__))
    return ctrl_c


@pytest.fixture
def values(monkeypatch):
    """Return a list that receives each value that a metric computes: an interrupted training writes no log."""
    values, evaluate = [], ra.Evaluator.evaluate

    def recorded(self, scores):
        result = evaluate(self, scores)
        values.extend(score.value for score in ([result] if isinstance(result, ra.Score) else result.values()))
        return result

    monkeypatch.setattr(ra.Evaluator, "evaluate", recorded)
    return values


@pytest.mark.parametrize("prepare", [lightgbm_training, xgboost_training, catboost_training])
def test_a_training_interrupted_inside_a_callback_can_be_repeated(ctrl_c, prepare, values):
    train, evaluate = prepare()

    def logged_values():
        log = {}
        train(log)
        return [entry.value for entry in ra.History.of(log)]

    logged_values()  # prepares the labels once
    ctrl_c.n_steps = 0
    values.clear()
    expected, n_steps = logged_values(), ctrl_c.n_steps
    assert (n_steps >= 5, len(expected)) == (True, 5)
    assert values == expected
    for ctrl_c.at_step in (1, n_steps // 2, n_steps):
        ctrl_c.n_steps = 0
        values.clear()
        with pytest.raises(BaseException, match=r"\bKeyboardInterrupt\b|^$") as raised:
            train({})
        assert (raised.typename, ctrl_c.n_steps) == (ERRORS.get(prepare, "KeyboardInterrupt"), ctrl_c.at_step)
        assert values == expected[: len(values)]
        scores = np.sin(np.arange(12)).astype(np.float64 if prepare is lightgbm_training else np.float32)
        assert evaluate(scores) == ra.evaluate(LABELS, scores, "letor4@3", group_sizes=SIZES).value
    ctrl_c.at_step = 0
    assert logged_values() == expected


def test_a_training_with_our_objective_in_catboost_can_be_interrupted(ctrl_c):
    cb = pytest.importorskip("catboost")
    pool = cb.Pool(FEATURES, LABELS, group_id=QID)
    params = {"iterations": 5, "depth": 1, "thread_count": 1, "learning_rate": 0.1}

    def train():
        ctrl_c.n_steps = 0
        model = ra.catboost.train(params, pool, ra.objectives.lightgbm.lambdarank(), "letor4@3")
        return ra.History.of(model.get_evals_result())

    history, n_steps = train(), ctrl_c.n_steps
    for ctrl_c.at_step in (1, n_steps // 2, n_steps):
        with pytest.raises(KeyboardInterrupt):
            train()
        assert ctrl_c.n_steps == ctrl_c.at_step
    ctrl_c.at_step = 0
    assert (len(history), train()) == (5, history)


def test_a_pool_that_was_interrupted_and_may_hold_a_lock_is_not_used_again(monkeypatch):
    monkeypatch.setattr("rankadapters.evaluation.threads.ROWS_PER_THREAD", 10)
    pairs = ra.Evaluator([1, 0] * 50, "letor4@10", group_sizes=[2] * 50, n_threads=4)
    scores = np.arange(100.0)
    expected, pools, submit = pairs.evaluate(scores), [], ThreadPoolExecutor.submit

    def submit_or_interrupt(pool, *call):
        pools.append(pool)
        if len(pools) == 2:
            raise KeyboardInterrupt
        return submit(pool, *call)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_or_interrupt)
    with pytest.raises(KeyboardInterrupt):
        pairs.evaluate(scores)
    assert pairs.evaluate(scores) == expected
    assert len(pools) > 2
    assert pools[0] is pools[1]
    assert pools[0] not in pools[2:]
