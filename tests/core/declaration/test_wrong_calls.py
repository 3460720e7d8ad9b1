"""Wrong calls are refused: keywords of other libraries and bad fields."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each
from tests.helpers.two_queries import CONV, LABELS, QID, SCORES


@for_each(
    ("call", "problem"),
    [
        (lambda: ra.evaluate(LABELS, SCORES, [CONV, 10], qid=QID), "10 is not a convention"),
        (lambda: ra.evaluate(LABELS, SCORES, np.array(QID), qid=QID), "then a convention"),
        (lambda: ra.evaluate(LABELS, SCORES, None, qid=QID), "None is not a convention"),
        (lambda: ra.Evaluator(LABELS, 10, qid=QID), "10 is not a convention"),
        (lambda: ra.evaluate(ra.Queries(LABELS, qid=QID), SCORES, CONV, groups=None), "'groups' is not an accepted"),
        (lambda: ra.evaluate(LABELS, frozenset(SCORES), CONV, qid=QID), "one entry per row"),
        (lambda: ra.evaluate(LABELS, SCORES, CONV, qid=QID, n_threads=np.array([1, 2])), "n_threads"),
        (
            lambda: ra.parity.letor_mean_ndcg([0, 0], [1, 2], CONV.replace(k=None, empty="skip"), group_sizes=[2]),
            "every query was skipped",
        ),
    ],
)
def test_wrong_arguments_are_refused(call, problem):
    with pytest.raises((ra.InputError, ra.ConventionError), match=problem):
        call()


LOSS = ra.objectives.ListNet()
CALLS_WITH_COLUMNS = {
    "Queries": lambda **columns: ra.Queries(LABELS, **columns),
    "Evaluator": lambda **columns: ra.Evaluator(LABELS, CONV, **columns),
    "evaluate": lambda **columns: ra.evaluate(LABELS, SCORES, CONV, **columns),
    "evaluate, list of conventions": lambda **columns: ra.evaluate(LABELS, SCORES, [CONV], **columns),
    "per_query": lambda **columns: ra.per_query(LABELS, SCORES, CONV, **columns),
    "parity.letor_mean_ndcg": lambda **columns: ra.parity.letor_mean_ndcg(LABELS, SCORES, "letor4@all", **columns),
    "objectives.gradients": lambda **columns: ra.objectives.gradients(LABELS, SCORES, LOSS, **columns),
    "inert": lambda **columns: ra.inert(LABELS, SCORES, CONV, "yahoo@3", **columns),
    "audit.explain": lambda **columns: ra.audit.explain(LABELS, SCORES, CONV, "yahoo@3", **columns),
    "audit.identify": lambda **columns: ra.audit.identify(LABELS, SCORES, value="0.5", k=3, **columns),
    "audit.order": lambda **columns: ra.audit.order(LABELS, {"a": SCORES, "b": SCORES}, [CONV], **columns),
    "audit.profile": lambda **columns: ra.audit.profile(LABELS, k=3, **columns),
    "audit.page": lambda **columns: ra.audit.page(LABELS, {"a": SCORES, "b": SCORES}, [CONV], **columns),
    "parity.check_value": lambda **columns: ra.parity.check_value(LABELS, SCORES, CONV, value=0.5, **columns),
    "parity.crosscheck": lambda **columns: ra.parity.crosscheck(LABELS, SCORES, CONV, **columns),
    **{
        f"{toolkit}.check_parity": lambda toolkit=toolkit, **columns: getattr(ra, toolkit).check_parity(
            LABELS, SCORES, getattr(ra.presets, toolkit)(3), **columns
        )
        for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn")
    },
}


@for_each(
    ("keyword", "hint"),
    [
        ("group", "group_sizes= takes the rows of each query, qid= one id per row"),
        ("groups", "qid= takes one id per row, group_sizes= the rows of each query"),
        ("qids", "qid= takes one id per row"),
        ("sample_weight", "row_weight= takes one weight per row, query_weight= one per query"),
    ],
)
@for_each("function", CALLS_WITH_COLUMNS)
def test_a_keyword_of_another_library_is_refused_with_the_right_one(function, keyword, hint):
    if function.endswith("check_parity"):
        pytest.importorskip(function.partition(".")[0])
    with pytest.raises(ra.InputError, match=f"'{keyword}' is not an accepted column; .*\nHint: {hint}"):
        CALLS_WITH_COLUMNS[function](**{keyword: [4]})


def test_the_table_above_has_every_public_function_that_takes_columns():
    modules = {"": ra, "audit.": ra.audit, "parity.": ra.parity, "objectives.": ra.objectives}
    public = {f"{prefix}{name}": getattr(module, name) for prefix, module in modules.items() for name in module.__all__}
    functions = {name: function for name, function in public.items() if inspect.isfunction(function)}
    taking_columns = {
        name for name, function in functions.items() if "columns" in inspect.signature(function).parameters
    }
    assert {"evaluate", "audit.profile"} <= taking_columns <= set(CALLS_WITH_COLUMNS)


@for_each(
    "call",
    [
        lambda: CONV.replace(k=np.array([1, 2])),
        lambda: CONV.replace(empty=np.array([0.5])),
        lambda: CONV.replace(empty=np.True_),
        lambda: CONV.replace(ties=np.array(["input"])),
        lambda: CONV.diff(3),
        lambda: ra.parse(None),
        lambda: ra.parse("yahoo@" + "9" * 5000),
        lambda: ra.parse("ndcg@" + "9" * 5000 + "/v1"),
        lambda: ra.presets.lightgbm(3, label_gain="0,1,3"),
        lambda: ra.presets.lightgbm(3, label_gain=["a"]),
        lambda: ra.presets.catboost(3, type=["Base"]),
        lambda: ra.presets.xgboost(3, ndcg_exp_gain="false"),
    ],
)
def test_bad_values_of_fields_and_parameters_are_refused(call):
    assert ra.presets.lightgbm(3, label_gain=[-0.0, 1]) == ra.presets.lightgbm(3, label_gain=[0, 1])
    with pytest.raises(ra.ConventionError):
        call()
