"""Every public function is called with one wrong argument at a time and raises only our errors."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.parameters import long_except
from tests.objectives.examples import ALL
from tests.project.public_calls import CALLS, TEXT, USES, callable_of, parameter_names, public_callables


@pytest.fixture(autouse=True)
def _in_a_temporary_folder(monkeypatch, tmp_path):
    """Writers accept any text as a path, and write to it."""
    monkeypatch.chdir(tmp_path)


class Anything:
    """A class that can be called like any function."""

    def __init__(self, *_):
        pass


WRONG_VALUES: dict[str, Any] = {
    "None": None,
    "a text": "nonsense",
    "bytes": b"yahoo@2",
    "NaN": float("nan"),
    "a negative number": -1,
    "a fraction": 0.5,
    "a number beyond float64": 10**400,
    "True": True,
    "an empty list": [],
    "a list of None": [None],
    "a list of another length": [1.0, 2.0, 3.0],
    "a list of texts": ["x", "y", "z", "z"],
    "a list of NaN": [float("nan")] * 4,
    "a ragged list": [[1], [2, 3]],
    "a mapping": {"x": 1},
    "a matrix": np.ones((2, 3)),
    "an array without dimensions": np.array(3),
    "an object": object(),
    "a function": lambda *_: None,
    "a type": Anything,
}
# Arguments that can ask for endless work.
ENDLESS = {"n_resamples", "max_iter", "n_restarts", "n_steps", "n_splits", "n_thresholds", "hidden_layer_sizes"}
# Arguments that scikit-learn checks, because its tests of estimators demand its errors.
FEATURES = {"X", "y"}
SHORT = ("evaluate", "Queries", "Score.from_dict", "audit.explain", "compare.Results", "parse")
# Valid labels of conformance functions that make many vectors, which takes seconds.
MANY_VECTORS = {"None", "a list of another length"}


def foreign_error(name: str, function: Any, keywords: dict[str, Any]) -> str | None:
    """Call a function, and return its error unless it is one of ours."""
    try:
        USES.get(name, lambda result: result)(function(**keywords))
    except ra.RankAdaptersError:
        return None
    except Exception as error:  # noqa: BLE001 - any error may come
        return f"{type(error).__name__}: {error}"
    return None


# Public names that are not called here.
LEFT_OUT = {
    "results of functions, which users do not create": (
        r"Score|SegmentTallies|Tally|audit\.[A-Z]\w+|conformance\.(Conformance|Failure|Vectors?)|compare\.(Front|LeaveOneOut|Stratified\w+|WinningNumbers)|io\.(Scored)?Judgments"
        r"|parity\.[A-Z]\w+|datasets\.Grouped|objectives\.(AddedBiases|PairRatios)|sklearn\.QueryScorer"
        r"|(lightgbm|xgboost|catboost)\.(EvalMetric|GlobalEval|EarlyStopping)"
    ),
    "methods of results, and methods that toolkits or other modules of the package call": (
        r"parity\.\w+\..*|(lightgbm|xgboost|catboost)\.\w+\..*|audit\.\w+\..*|compare\.\w+\.plot|datasets\.\w+\..*"
        r"|[\w.]+\.to_(latex|markdown)|io\.\w+\.\w+|Evaluator\.of|Tally\.from_limbs|Queries\.(as_one|per_query|per_row|reordered|select|subset|take|weighed_by|weights_per_query"
        r"|with_columns)"
    ),
    "declared values, whose fields are tested one by one below": (
        r"(objectives\.)?[A-Z]\w+|(objectives\.)?[A-Z]\w+\.(at|bind|called|diff|doubt|get|learned|link|link_slope|lower|named|replace|worth)"
    ),
    "needs a cluster or an account of a service": r"(dask|spark)\..*|trackers\.(log|tag)_.*",
    "takes no keywords": r"io\.read_features",
    "the same functions as in the folders of the toolkits": r"objectives\.\w+\.(native|read)_objective",
}


def test_every_public_name_is_called_here_or_listed_as_left_out():
    left_out = {name for name in public_callables() if name not in CALLS}
    assert {name for name in left_out if not any(re.fullmatch(names, name) for names in LEFT_OUT.values())} == set()
    for reason, names in LEFT_OUT.items():
        assert any(re.fullmatch(names, name) for name in left_out), reason


def test_every_function_that_takes_a_number_of_threads_refuses_zero():
    takers = {name: callable_of(name) for name in CALLS if "n_threads" in parameter_names(callable_of(name))}
    assert {"evaluate", "lightgbm.eval_metric", "xgboost.EvalCallback", "learners.RankBoost"} <= takers.keys()
    for name, function in takers.items():
        with pytest.raises(ra.RankAdaptersError, match=r"n_threads\b.*\b0\b"):
            USES.get(name, lambda result: result)(function(**CALLS[name]() | {"n_threads": 0}))


def declared_values():
    """Return one convention per measure and some objectives, by the names of their classes."""
    conventions = (ra.parse(f"{name}@5" if takes_k(name) else name) for name in ra.presets.names(None))
    objectives = [
        *(*ALL, ra.objectives.unbiased_lambdamart(), ra.objectives.lightgbm.position_bias()),
        ra.objectives.lambdarank(TEXT, truncation=3),
    ]
    return {type(value).__name__: value for value in [*conventions, *objectives]}


def takes_k(name):
    tool, _, method = name.partition(".")
    return "k" in signature(getattr(ra.presets.TOOLS[tool], method or "__call__")).parameters


VALUES = declared_values()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", long_except(VALUES, "NDCG", "LambdaRank"))
def test_wrong_values_of_a_field_raise_only_our_errors(name):
    """`replace` and the constructor check a field in the same way."""
    value = VALUES[name]
    errors = {
        f"{field}: {kind}": foreign_error("", value.replace, {field: wrong})
        for field in value.fields()
        for kind, wrong in WRONG_VALUES.items()
    }
    assert {kind: error for kind, error in errors.items() if error is not None} == {}


@pytest.mark.parametrize("tool", long_except(ra.presets.TOOLS, "lightgbm"))
def test_wrong_arguments_of_a_preset_raise_only_our_errors(tool):
    presets = ra.presets.TOOLS[tool]
    errors = {}
    for name in ("__call__", *presets.measures(), "read"):
        method = getattr(presets, name)
        valid = {
            word: value for word, value in {"k": 5, "text": "ndcg"}.items() if word in signature(method).parameters
        }
        errors |= {
            f"{name}, {parameter}: {kind}": foreign_error("", method, {**valid, parameter: wrong})
            for parameter in parameter_names(method)
            for kind, wrong in WRONG_VALUES.items()
        }
    assert {kind: error for kind, error in errors.items() if error is not None} == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", long_except(CALLS, *SHORT))
def test_wrong_arguments_raise_only_our_errors(name):
    function = callable_of(name)
    USES.get(name, lambda result: result)(function(**CALLS[name]()))
    errors = {
        f"{parameter}: {kind}": foreign_error(name, function, {**CALLS[name](), parameter: value})
        for parameter in parameter_names(function)
        for kind, value in WRONG_VALUES.items()
        if not (parameter in ENDLESS and kind == "a number beyond float64")
        and not (parameter in FEATURES and name.startswith(("learners.", "sklearn.QueryRanker")))
        and not (name.startswith("conformance.") and parameter == "labels" and kind in MANY_VECTORS)
        and not (name == "catboost.train" and parameter == "params" and kind == "a mapping")  # CatBoost checks it
    }
    assert {kind: error for kind, error in errors.items() if error is not None} == {}
