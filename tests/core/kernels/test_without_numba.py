"""Without numba everything evaluates, and gradients and learners say once that they are slow, and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core import presets
from tests.helpers.every_objective import one_of_each

BLOCKED = "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
REST = "import json, warnings\nfrom tests.core.kernels.test_without_numba import *\n"
WARNED = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    {first}
    {second}
print(json.dumps([[str(each.message), each.filename] for each in caught]))
"""
REASON = "since numba cannot be imported (import of numba halted; None in sys.modules).\nHint: pip install numba."


def run(code, **environment):
    """Run code in a process that cannot import numba."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "RANKADAPTERS_KERNELS": "later", **environment},
    )  # fmt: skip


def said(code, **environment):
    """Return what code prints there."""
    done = run(REST + code, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def values():
    """Value of every preset, to the last bit, or why there is none."""
    rng, found = np.random.default_rng(0), {}
    labels, scores = rng.integers(0, 2, 40), rng.integers(0, 9, 40) / 8
    queries = ra.Queries(labels, qid=rng.integers(0, 6, 40), docid=[f"d{row}" for row in range(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in presets.names(None):
            try:
                found[name] = ra.evaluate(queries, scores, presets.make(name, 3)).value.hex()
            except ra.RankAdaptersError as error:
                found[name] = str(error)
    return found


def gradients():
    """Gradients of every objective and arithmetic, for float32 and float64 scores."""
    rng, found = np.random.default_rng(1), []
    labels, scores, qid = rng.integers(0, 2, 20), rng.random(20), rng.integers(0, 2, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for objective in one_of_each():
            both = (objectives.gradients(labels, scores.astype(dtype), objective, qid=qid) for dtype in ("f4", "f8"))
            found += [np.stack(pair).tolist() for pair in both]
    return found


def learned():
    """Predictions of the learners that have kernels or try many candidates."""
    rng = np.random.default_rng(2)
    X, y, qid = rng.random((18, 3)), rng.integers(0, 3, 18), np.repeat([0, 1, 2], 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            ra.learners.RankBoost(max_iter=2), ra.learners.AdaRank("yahoo@3", max_iter=2),
            ra.learners.CoordinateAscent("yahoo@3", n_restarts=1, max_iter=1, random_state=0),
        ]  # fmt: skip
        return [model.fit(X, y, qid=qid).predict(X).tolist() for model in models]


def test_values_gradients_and_learners_are_the_same():
    pytest.importorskip("sklearn")
    of_presets, of_objectives, of_learners = said("print(json.dumps([values(), gradients(), learned()]))")
    assert of_presets == values()  # to the last bit
    assert sum(text.startswith("0x") for text in of_presets.values()) > 150
    pytest.importorskip("numba")
    for found, expected in zip(of_objectives, gradients(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    for found, expected in zip(of_learners, learned(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


GRADIENTS = "objectives.gradients([1, 0], [0.2, 0.1], objectives.lightgbm.lambdarank(), group_sizes=[2])"
TRIALS = 'ra.Trials([1, 0], "yahoo@2", group_sizes=[2])'

MUCH = "__import__('rankadapters.core.kernels.dispatch', fromlist=['']).expect_rows(10**9), values()"
SILENT = f"{MUCH}\n    assert caught == []\n    {TRIALS}"


@pytest.mark.parametrize(("first", "second"), [(GRADIENTS, TRIALS), (SILENT, GRADIENTS)], ids=["gradients", "trials"])
def test_gradients_and_trials_say_once_that_they_are_slow_and_why_but_evaluation_says_nothing(first, second):
    [[message, file]] = said(WARNED.format(first=first, second=second))
    assert message == f"gradients and learners run in plain Python, some hundred times as slowly, {REASON}"
    assert file == "<string>"


def test_machine_code_that_is_asked_for_at_once_is_an_error_that_says_what_is_missing():
    done = run('import rankadapters as ra; ra.evaluate([1], [1], "yahoo@1", qid=[1])', RANKADAPTERS_KERNELS="now")
    what, hint = done.stderr.splitlines()[-2:]
    assert what.partition("InputError: ")[2] == (
        "RANKADAPTERS_KERNELS='now' and warmup compile kernels, but numba cannot be imported "
        "(import of numba halted; None in sys.modules)."
    )
    assert hint == "Hint: pip install numba; with RANKADAPTERS_KERNELS='later' kernels run in Python, without it."


def test_warmup_says_what_is_missing():
    done = run("sys.argv[1:] = ['warmup']\nfrom rankadapters.__main__ import main\nsys.exit(main())")
    assert done.returncode == 2
    assert "numba cannot be imported" in done.stderr
