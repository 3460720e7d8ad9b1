"""Every public function is called with wrong arguments, one at a time; every error is one of ours."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.public_calls import CALLS, TEXT, USES, callable_of, parameters, public_callables, valid_call


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch, tmp_path):
    """Writers take any text as a path, and write there."""
    monkeypatch.chdir(tmp_path)


class Anything:
    """A class that can be called like any function."""

    def __init__(self, *_):
        pass


WRONG: dict[str, Any] = {
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
# What asks for endless work, or is scikit-learn's to check: its own tests of estimators demand its own errors.
ENDLESS = {"n_resamples", "max_iter", "n_restarts", "n_steps", "n_splits", "n_thresholds", "hidden_layer_sizes"}
FEATURES = {"X", "y"}
MANY_VECTORS = {
    "None",
    "a list of another length",
}  # labels that are allowed and make many vectors, which takes seconds


def raw_error(name: str, function: Any, keywords: dict[str, Any]) -> str | None:
    """Return the error of a call that is not one of ours."""
    try:
        USES.get(name, lambda made: made)(function(**keywords))
    except ra.RankAdaptersError:
        return None
    except Exception as error:  # noqa: BLE001 - which is what is looked for
        return f"{type(error).__name__}: {error}"
    return None


# What is public and not called here.
LEFT_OUT = {
    "the results of functions, which nobody makes by hand": (
        r"Score|Tally|audit\.[A-Z]\w+|conformance\.(Conformance|Failure|Vectors?)|compare\.(Front|LeaveOneOut|Stratified\w+|WinningNumbers)|io\.(Scored)?Judgments"
        r"|parity\.[A-Z]\w+|datasets\.Grouped|objectives\.(AddedBiases|PairRatios)|sklearn\.QueryScorer"
        r"|(lightgbm|xgboost|catboost)\.(EvalMetric|CustomMetric|GlobalEval|EarlyStopping)"
    ),
    "methods of results, and what toolkits and other modules of the package call": (
        r"parity\.\w+\..*|(lightgbm|xgboost|catboost)\.\w+\..*|audit\.\w+\..*|compare\.\w+\.plot|datasets\.\w+\..*"
        r"|io\.\w+\.\w+|Tally\.(from_limbs|knowing)|Queries\.(as_one|by_query|per_query|per_row|reordered|select|take|weighed_by"
        r"|with_docid_ranks|with_pairs|with_query_ids)"
    ),
    "declared values, whose fields are checked one by one below": (
        r"(objectives\.)?[A-Z]\w+|(objectives\.)?[A-Z]\w+\.(at|bind|diff|doubt|learned|link|link_slope|lower|named|replace|worth)"
    ),
    "needs a cluster, or the account of a service": r"(dask|spark)\..*|trackers\.(log_.*|pruning)",
    "takes no keyword": r"io\.read_features",
    "the same function as Convention.from_json": r"[A-Z]\w+\.from_json",
    "the same functions as those of the toolkits' folders": r"objectives\.\w+\.(native|read)_objective",
}


def test_no_public_function_is_left_out():
    left_out = {name for name in public_callables() if name not in CALLS}
    assert {name for name in left_out if not any(re.fullmatch(names, name) for names in LEFT_OUT.values())} == set()
    for why, names in LEFT_OUT.items():
        assert any(re.fullmatch(names, name) for name in left_out), why


def declared_values():
    """Return one value of every measure that a preset has, and some objectives."""
    conventions = (ra.parse(f"{name}@5" if takes_k(name) else name) for name in ra.presets.names(None))
    built_in = ra.objectives.catboost
    objectives = [
        *(ra.objectives.parse(text) for text in ("listnet/v1", "listmle/v1")),
        *(ra.objectives.lambdarank(TEXT, truncation=3), ra.objectives.unbiased_lambdamart()),
        *(ra.objectives.lightgbm.xendcg(), ra.objectives.lightgbm.position_bias(), ra.objectives.xgboost.map()),
        *(built_in.yetirank(), built_in.stochastic_rank("NDCG"), built_in.stochastic_filter(), built_in.pair_logit()),
        *(built_in.query_rmse(), built_in.query_soft_max(), built_in.query_cross_entropy()),
    ]
    return list({type(value): value for value in [*conventions, *objectives]}.values())


def takes_k(name):
    """Tell whether a preset needs a cutoff."""
    tool, _, method = name.partition(".")
    return "k" in signature(getattr(ra.presets.TOOLS[tool], method or "__call__")).parameters


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", declared_values(), ids=lambda value: type(value).__name__)
def test_every_field_is_checked(value):
    """A field has its check beside it; `replace` and the constructor call it."""
    raw = {
        f"{field}: {what}": raw_error("", value.replace, {field: wrong})
        for field in value.fields()
        for what, wrong in WRONG.items()
    }
    assert {what: error for what, error in raw.items() if error is not None} == {}


@pytest.mark.parametrize("tool", ra.presets.TOOLS)
def test_every_option_of_a_preset_is_checked(tool):
    presets = ra.presets.TOOLS[tool]
    raw = {}
    for name in ("__call__", *presets.measures(), "read"):
        method = getattr(presets, name)
        valid = {
            word: value for word, value in {"k": 5, "text": "ndcg"}.items() if word in signature(method).parameters
        }
        raw |= {
            f"{name}, {parameter}: {what}": raw_error("", method, {**valid, parameter: wrong})
            for parameter in parameters(method)
            for what, wrong in WRONG.items()
        }
    assert {what: error for what, error in raw.items() if error is not None} == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_every_error_is_one_of_ours(name):
    if name.endswith(".page"):
        pytest.importorskip("jinja2")
    function = callable_of(name)
    USES.get(name, lambda made: made)(function(**valid_call(name)))
    raw = {
        f"{parameter}: {what}": raw_error(name, function, {**valid_call(name), parameter: value})
        for parameter in parameters(function)
        for what, value in WRONG.items()
        if not (parameter in ENDLESS and what == "a number beyond float64")
        and not (parameter in FEATURES and name.startswith(("learners.", "sklearn.QueryRanker")))
        and not (name.startswith("conformance.") and parameter == "labels" and what in MANY_VECTORS)
        and not (name == "catboost.train" and parameter == "params" and what == "a mapping")  # CatBoost knows its own
    }
    assert {what: error for what, error in raw.items() if error is not None} == {}
