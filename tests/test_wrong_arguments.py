"""Every public function is called with wrong arguments, one at a time; every error is one of ours."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.public_calls import DATA, LABELS, MODELS, QID, SCORES, public_functions

COLUMNS = ("qid", "group_sizes", "query_weight", "row_weight", "pairs", "docid", "retrieved", "judged")
TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")
METRICS = {"sklearn": "ndcg_score", "lightgbm": "ndcg", "xgboost": "ndcg@2", "catboost": "NDCG:top=2"}
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
    "a function": len,
    "a type": int,
}

TEXT = "textbook@2"
FRAME = pd.DataFrame({"label": LABELS, "score": SCORES, "qid": QID})
TABLE = {"label": "label", "score": "score", "qid": "qid"}
FEATURES = np.arange(8.0).reshape(4, 2)
RESULTS = pd.DataFrame(
    [
        (d, m, "ndcg", 10, v)
        for d, first in (("one", 0.1), ("two", 0.3))
        for m, v in (("a", first), ("b", 0.2), ("c", 0.25))
    ],
    columns=["dataset", "method", "measure", "k", "value"],
)
LISTNET = "listnet"


def results():
    return ra.compare.Results(RESULTS)


# One valid call of each function: what it takes by name. A function makes what is costly or changes by use.
CALLS: dict[str, dict[str, Any] | Callable[[], dict[str, Any]]] = {
    "evaluate": {**DATA, "convention": TEXT},
    "evaluate_stream": {"batches": [FRAME], "convention": TEXT, **TABLE},
    "mean_ndcg": {**DATA, "convention": TEXT},
    "parse": {"text": TEXT},
    "inert": lambda: {"queries": ra.Queries(LABELS, qid=QID), "scores": SCORES, "a": TEXT, "b": "yahoo@2"},
    "audit.explain": {**DATA, "a": TEXT, "b": "yahoo@2"},
    "audit.profile": {"labels": LABELS, "qid": QID, "k": 2, "scores": SCORES},
    "audit.identify": {**DATA, "value": "0.8155", "k": 2},
    "audit.order": {**MODELS, "conventions": [TEXT], "n_resamples": 9},
    "audit.page": {**MODELS, "conventions": [TEXT], "n_resamples": 9},
    "compare.front": lambda: {"numbers": ra.compare.winning_numbers(results())},
    "compare.leave_one_out": lambda: {"results": results()},
    "compare.page": lambda: {"results": results()},
    "compare.winning_numbers": lambda: {"results": results()},
    "compare.stratified_tests": lambda: {
        "datasets": {"one": ra.Queries(LABELS, qid=QID)},
        "scores": {"a": {"one": SCORES}, "b": {"one": LABELS}},
        "convention": TEXT,
        "n_resamples": 9,
    },
    "datasets.mq2008_like": {"n_train_queries": 3, "n_test_queries": 3},
    "objectives.gradients": lambda: {**DATA, "objective": ra.objectives.ListNet()},
    "objectives.parse": {"signature": "listnet/v1"},
    "objectives.parse_position_bias": lambda: {"signature": str(ra.objectives.lightgbm.position_bias())},
    "parity.check_value": {**DATA, "convention": TEXT, "value": "0.8"},
    "parity.compare_numbers": {"a": 0.5, "b": 0.5},
    "crosscheck.check": {**DATA, "convention": TEXT, "toolkits": ["sklearn"]},
    **{f"{toolkit}.check_parity": {**DATA, "convention": f"{toolkit}@2"} for toolkit in TOOLKITS},
    **{f"{toolkit}.native_metric": {"convention": f"{toolkit}@2"} for toolkit in TOOLKITS},
    **{f"{toolkit}.read_metric": {"metric": METRICS[toolkit]} for toolkit in TOOLKITS},
    **{f"{toolkit}.lambdarank": {"convention": TEXT, "truncation": 3} for toolkit in ("lightgbm", "xgboost")},
    **{f"{toolkit}.early_stopping": {"convention": TEXT, "rounds": 3} for toolkit in ("lightgbm", "xgboost")},
    **{f"{toolkit}.objective": lambda: {"value": ra.objectives.ListNet()} for toolkit in ("lightgbm", "xgboost")},
    "sklearn.query_scorer": {"convention": TEXT},
    "trackers.mlflow_name": {"convention": TEXT},
    "trackers.wandb_name": {"convention": TEXT},
}
CALLS |= {
    f"objectives.{name}": {"metric": "NDCG"} if name == "catboost_stochastic_rank" else {}
    for name in (
        "catboost_lambdamart",
        "catboost_stochastic_filter",
        "catboost_stochastic_rank",
        "catboost_yetirank",
        "lightgbm_lambdarank",
        "lightgbm_position_bias",
        "lightgbm_xendcg",
        "pair_logit",
        "query_cross_entropy",
        "query_softmax",
        "unbiased_lambdamart",
        "xgboost_map",
        "xgboost_ndcg",
        "xgboost_pairwise",
        "xgboost_unbiased",
    )
}


def valid_call(name):
    """Return the keywords of a valid call."""
    call = CALLS[name]
    return dict(call() if callable(call) else call)


def wrong_calls(name, function):
    """Yield what is wrong and the keywords of a call."""
    parameters = signature(function).parameters
    takes_columns = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    named = [
        each.name for each in parameters.values() if each.kind not in {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}
    ]
    for parameter in [*named, *(COLUMNS if takes_columns else ())]:
        for what, value in WRONG.items():
            yield f"{parameter}: {what}", {**valid_call(name), parameter: value}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_every_error_is_one_of_ours(name):
    function = public_functions()[name]
    function(**valid_call(name))
    raw = {}
    for what, keywords in wrong_calls(name, function):
        try:
            function(**keywords)
        except ra.RankAdaptersError:
            pass
        except Exception as error:  # noqa: BLE001 - which is what is looked for
            raw[what] = f"{type(error).__name__}: {error}"
    assert raw == {}
