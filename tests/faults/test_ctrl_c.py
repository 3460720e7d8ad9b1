"""Ctrl-C: the command ends in one line, a Python session goes on with right values."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.compiling import ctrl_c_waits
from tests.helpers.one_kernel import answer
from tests.helpers.python_processes import PATIENCE, posix, started

pytestmark = [posix, pytest.mark.usefixtures("heeded")]

LINE = "rankadapters: interrupted\n"


SENT = """
import signal, sys
import rankadapters.__main__ as command
def run():
    {body}
import rankadapters.cli
rankadapters.cli.main = run
sys.exit(command.main())
"""


@pytest.mark.parametrize(
    ("body", "code", "err"),
    [
        ("signal.raise_signal(2)", 130, LINE),
        ("try: signal.raise_signal(2)\n    finally: signal.raise_signal(2)", 130, LINE),  # pressed twice
        ("signal.raise_signal(15)", 143, ""),
        ("return 1", 1, ""),
        ("sys.exit('a message')", 1, "a message\n"),
    ],
)  # fmt: skip
def test_a_signal_ends_the_command(body, code, err):
    with started("-c", SENT.format(body=body)) as process:
        out, told = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, told) == (code, "", err)


@contextmanager
def interrupting(after):
    """Press Ctrl-C after some seconds."""
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_waits_until_a_kernel_is_compiled(made):
    answer(made(added=1))  # which imports numba, and all that it imports to compile
    start, seen = time.monotonic(), 0
    answer(made(added=2))
    took = time.monotonic() - start
    for number in range(3, 23):
        kernel = made(added=number)
        dispatcher = kernel.compiled  # which compiles nothing yet
        try:
            with interrupting(0.001 + (number - 3) / 20 * took):
                answer(kernel)
        except KeyboardInterrupt:
            seen += 1
            assert dispatcher.overloads
        assert answer(kernel) == (41 + number, 1)
        assert answer(made(added=number)) == (41 + number, 0)
    assert seen


def test_a_ctrl_c_that_somebody_else_handles_does_not_wait():
    pressed = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    with ctrl_c_waits():
        signal.raise_signal(signal.SIGINT)
        assert pressed == [signal.SIGINT]


@posix
def test_a_ctrl_c_waits_in_the_main_thread_only():
    handler, seen = signal.getsignal(signal.SIGINT), []

    def look():
        with ctrl_c_waits():
            seen.append(signal.getsignal(signal.SIGINT))

    with ThreadPoolExecutor(1) as pool:
        pool.submit(look).result()
    look()
    assert seen[0] is handler is signal.default_int_handler
    assert seen[1] is not handler
    assert signal.getsignal(signal.SIGINT) is handler


SIZES = np.array([4, 3, 5])
LABELS = np.array([0, 1, 2, 0, 1, 0, 2, 2, 1, 0, 0, 1])
FEATURES = np.arange(24.0).reshape(12, 2) % 7


def expected(scores):
    return ra.evaluate(LABELS, scores, "letor4@3", group_sizes=SIZES).value


def of_lightgbm():
    lgb = pytest.importorskip("lightgbm")
    metric, value = ra.lightgbm.eval_metric("letor4@3"), ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())
    data = lgb.Dataset(FEATURES, LABELS, group=SIZES, free_raw_data=False)
    params = {"objective": value, "verbosity": -1, "num_threads": 1, "metric": "None", "min_data_in_leaf": 1}
    return (
        lambda: lgb.train(params, data, 5, valid_sets=[data], feval=metric),
        lambda scores: metric(scores, data)[0][1],
        metric,
    )


def of_xgboost():
    xgb = pytest.importorskip("xgboost")
    metric, value = ra.xgboost.custom_metric("letor4@3"), ra.xgboost.objective(ra.objectives.xgboost.ndcg())
    data = xgb.DMatrix(FEATURES, LABELS, group=SIZES)
    params = {"nthread": 1, "disable_default_eval_metric": True}
    watched = {"evals": [(data, "data")], "verbose_eval": False}
    return (
        lambda: xgb.train(params, data, 5, obj=value, custom_metric=metric, **watched),
        lambda scores: metric(scores.astype(np.float32), data)[0][1],
        metric,
    )


def of_catboost():
    cb = pytest.importorskip("catboost")
    qid = np.repeat(np.arange(SIZES.size), SIZES)
    metric = ra.catboost.eval_metric("letor4@3", sets=[(LABELS, qid)])
    params = {"loss_function": "QueryRMSE", "eval_metric": metric, "iterations": 5, "depth": 1, "thread_count": 1}
    quiet = {"logging_level": "Silent", "allow_writing_files": False}
    pool = cb.Pool(FEATURES, LABELS, group_id=qid)
    return (
        lambda: cb.CatBoost(params | quiet).fit(pool),
        lambda scores: metric.evaluate([scores], LABELS, None)[0],
        metric,
    )


INTERRUPTED = {of_catboost: "CatBoostError"}  # whose message ends with KeyboardInterrupt


class Presses:
    """Counts the kernels that run; Ctrl-C comes with the one of this number."""

    def __init__(self):
        self.at = self.seen = 0
        self._run = dispatch.run

    def run(self, kernel, *arguments, rows=0):
        self.seen += 1
        if self.seen == self.at:
            signal.raise_signal(signal.SIGINT)
        return self._run(kernel, *arguments, rows=rows)


@pytest.fixture
def presses(monkeypatch):
    presses = Presses()
    monkeypatch.setattr(dispatch, "run", presses.run)
    return presses


@pytest.mark.parametrize("toolkit", [of_lightgbm, of_xgboost, of_catboost])
def test_a_training_is_interrupted_inside_our_callbacks_and_begins_again(presses, toolkit):
    train, value, metric = toolkit()
    train()  # which prepares the labels, once
    presses.seen = 0
    metric.history.clear()
    train()
    whole, history = presses.seen, [entry[2] for entry in metric.history]
    assert (whole >= 5, len(history)) == (True, 5)
    for presses.at in (1, whole // 2, whole):
        presses.seen = 0
        metric.history.clear()
        with pytest.raises(BaseException, match=r"\bKeyboardInterrupt\b|^$") as raised:
            train()
        assert (raised.typename, presses.seen) == (INTERRUPTED.get(toolkit, "KeyboardInterrupt"), presses.at)
        assert [entry[2] for entry in metric.history] == history[: len(metric.history)]
        scores = np.sin(np.arange(12.0))
        assert value(scores) == expected(scores if toolkit is of_lightgbm else scores.astype(np.float32))
    presses.at = 0
    metric.history.clear()
    train()
    assert [entry[2] for entry in metric.history] == history


def test_a_training_under_an_objective_that_catboost_lacks_is_interrupted(presses):
    cb = pytest.importorskip("catboost")
    pool = cb.Pool(FEATURES, LABELS, group_id=np.repeat(np.arange(SIZES.size), SIZES))
    params = {"iterations": 5, "depth": 1, "thread_count": 1, "learning_rate": 0.1}

    def train():
        presses.seen = 0
        return ra.catboost.train(params, pool, ra.objectives.lightgbm.lambdarank(), "letor4@3").history

    history, whole = train(), presses.seen
    for presses.at in (1, whole // 2, whole):
        with pytest.raises(KeyboardInterrupt):
            train()
        assert presses.seen == presses.at
    presses.at = 0
    assert (len(history), train()) == (5, history)


def test_an_evaluation_in_threads_is_interrupted_and_the_next_is_right(monkeypatch):
    rng = np.random.default_rng(0)
    labels, scores, sizes = rng.integers(0, 3, 60_000), rng.random(60_000), np.full(3000, 20)
    monkeypatch.setattr("rankadapters.core.evaluation.threads.ROWS_PER_THREAD", 1000)
    evaluator = ra.Evaluator(labels, "letor4@10", group_sizes=sizes, n_threads=4)
    start = time.monotonic()
    whole = evaluator.evaluate(scores)
    took = time.monotonic() - start
    for number in range(6):
        try:
            with interrupting((number + 0.1) / 6 * took):
                evaluator.evaluate(scores)
        except KeyboardInterrupt:
            pass
        assert evaluator.evaluate(scores) == whole
