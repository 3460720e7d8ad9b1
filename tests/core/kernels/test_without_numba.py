"""Without numba everything evaluates; gradients and learners warn once that they are slow, and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives, presets
from tests.helpers.every_objective import one_objective_per_kind

BLOCK_NUMBA = "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
IMPORTS = "import json, warnings\nfrom tests.core.kernels.test_without_numba import *\n"
RECORD_WARNINGS = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {first}
    {second}
print(json.dumps([[str(warning.message), warning.filename] for warning in caught]))
"""
REASON = "since numba cannot be imported (import of numba halted; None in sys.modules).\nHint: pip install numba."


def run_without_numba(code, **environment):
    """Run code in a new process that cannot import numba."""
    return subprocess.run(
        [sys.executable, "-c", BLOCK_NUMBA + code], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "RANKADAPTERS_KERNELS": "later", **environment},
    )  # fmt: skip


def parsed_output(code):
    """Run code that prints JSON in a process that cannot import numba, and return the parsed output."""
    process = run_without_numba(IMPORTS + code)
    assert (process.returncode, process.stderr) == (0, "")
    return json.loads(process.stdout)


def preset_values():
    """Return the value of every preset to the last bit, or the error as text."""
    rng, values = np.random.default_rng(0), {}
    labels, scores = rng.integers(0, 2, 40), rng.integers(0, 9, 40) / 8
    queries = ra.Queries(labels, qid=rng.integers(0, 6, 40), docid=[f"d{row}" for row in range(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in presets.names(None):
            try:
                values[name] = ra.evaluate(queries, scores, presets.make(name, 3)).value.hex()
            except ra.RankAdaptersError as error:
                values[name] = str(error)
    return values


def objective_gradients():
    """Return gradients of every objective for float32 and float64 scores."""
    rng, results = np.random.default_rng(1), []
    labels, scores, qid = rng.integers(0, 2, 20), rng.random(20), rng.integers(0, 2, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for objective in one_objective_per_kind():
            both = (objectives.gradients(labels, scores.astype(dtype), objective, qid=qid) for dtype in ("f4", "f8"))
            results += [np.stack(pair).tolist() for pair in both]
    return results


def learner_predictions():
    """Return predictions of the learners that have kernels or try many candidates."""
    rng = np.random.default_rng(2)
    X, y, qid = rng.random((18, 3)), rng.integers(0, 3, 18), np.repeat([0, 1, 2], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            ra.learners.RankBoost(max_iter=2), ra.learners.AdaRank("yahoo@3", max_iter=2),
            ra.learners.CoordinateAscent("yahoo@3", n_restarts=1, max_iter=1, random_state=0),
        ]  # fmt: skip
        return [model.fit(X, y, qid=qid).predict(X).tolist() for model in models]


def test_values_gradients_and_predictions_equal_those_with_numba():
    pytest.importorskip("sklearn")
    code = "print(json.dumps([preset_values(), objective_gradients(), learner_predictions()]))"
    values, gradients, predictions = parsed_output(code)
    assert values == preset_values()  # to the last bit
    assert sum(text.startswith("0x") for text in values.values()) > 150
    pytest.importorskip("numba")
    for pairs, expected in zip(gradients, objective_gradients(), strict=True):
        np.testing.assert_allclose(pairs, expected, rtol=1e-6, atol=1e-12)
    for scores, expected in zip(predictions, learner_predictions(), strict=True):
        np.testing.assert_allclose(scores, expected, rtol=1e-9)


GRADIENTS = "objectives.gradients([1, 0], [0.2, 0.1], objectives.lightgbm.lambdarank(), group_sizes=[2])"
TRIALS = 'ra.Trials([1, 0], "yahoo@2", group_sizes=[2])'

MUCH_EVALUATION = "__import__('rankadapters.core.kernels.dispatch', fromlist=['']).expect_rows(10**9), preset_values()"
# Evaluation does not warn, but the trials after it do.
SILENT = f"{MUCH_EVALUATION}\n    assert caught == []\n    {TRIALS}"


@pytest.mark.parametrize(
    ("first", "second"),
    [(GRADIENTS, TRIALS), (SILENT, "pass"), (SILENT, GRADIENTS)],
    ids=["gradients and trials", "trials", "trials and gradients"],
)
def test_gradients_and_trials_warn_once_that_they_are_slow_but_evaluation_does_not(first, second):
    [[message, file]] = parsed_output(RECORD_WARNINGS.format(first=first, second=second))
    assert message == f"gradients and learners run in plain Python, some hundred times as slowly, {REASON}"
    assert file == "<string>"


def test_asking_for_machine_code_at_once_raises_an_error_that_names_numba():
    code = 'import rankadapters as ra; ra.evaluate([1], [1], "yahoo@1", qid=[1])'
    process = run_without_numba(code, RANKADAPTERS_KERNELS="now")
    problem, hint = process.stderr.splitlines()[-2:]
    assert problem.partition("InputError: ")[2] == (
        "RANKADAPTERS_KERNELS='now' and warmup compile kernels, but numba cannot be imported "
        "(import of numba halted; None in sys.modules)."
    )
    assert hint == "Hint: pip install numba; with RANKADAPTERS_KERNELS='later' kernels run in Python, without it."


def test_warmup_raises_an_error_that_names_numba():
    process = run_without_numba("sys.argv[1:] = ['warmup']\nfrom rankadapters.__main__ import main\nsys.exit(main())")
    assert process.returncode == 2
    assert "numba cannot be imported" in process.stderr
