"""A mistake raises the same error class in every public function, and the message suggests a fix."""

from __future__ import annotations

from inspect import Parameter, signature
from operator import attrgetter

import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

LABELS, SCORES, QID = [2.0, 0.0, 1.0, 0.0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
NAN = [2.0, float("nan"), 1.0, 0.0]

EVALUATIONS = {
    "evaluate": ra.evaluate,
    "evaluate, a list": lambda labels, scores, convention, **columns: ra.evaluate(
        labels, scores, [convention], **columns
    ),
    "models": lambda labels, scores, convention, **columns: ra.evaluate(labels, {"a": scores}, [convention], **columns),
    "Evaluator": lambda labels, scores, convention, **columns: ra.Evaluator(labels, convention, **columns).tally(
        scores
    ),
    "Evaluator, a list": lambda labels, scores, convention, **columns: ra.Evaluator(
        labels, [convention], **columns
    ).per_query(scores),
    "explain": lambda labels, scores, convention, **columns: ra.audit.explain(
        labels, scores, convention, "yahoo@2", **columns
    ),
    "order": lambda labels, scores, convention, **columns: ra.audit.order(
        labels, {"a": scores, "b": scores}, [convention], n_resamples=9, **columns
    ),
    "page": lambda labels, scores, convention, **columns: ra.audit.page(
        labels, {"a": scores}, [convention], n_resamples=9, **columns
    ),
    "check_value": lambda labels, scores, convention, **columns: ra.parity.check_value(
        labels, scores, convention, value="0.5", **columns
    ),
    "crosscheck": lambda labels, scores, convention, **columns: ra.parity.crosscheck(
        labels, scores, convention, toolkits=["sklearn"], **columns
    ),
}
WITHOUT_CONVENTION = {
    "letor_mean_ndcg": lambda labels, scores, **columns: ra.parity.letor_mean_ndcg(
        labels, scores, "letor4@all", **columns
    ),
    "identify": lambda labels, scores, **columns: ra.audit.identify(labels, scores, value="0.5", k=2, **columns),
    "profile": lambda labels, scores, **columns: ra.audit.profile(labels, scores=scores, k=2, **columns),
    "gradients": lambda labels, scores, **columns: ra.objectives.gradients(
        labels, scores, ra.objectives.lightgbm.lambdarank(), **columns
    ),
}
WITHOUT_DATA = {
    "inert": lambda convention: ra.inert(ra.Queries(LABELS, qid=QID), "gain", convention, "linear"),
    "letor_mean_ndcg": lambda convention: ra.parity.letor_mean_ndcg(LABELS, SCORES, convention, qid=QID),
    "diff": lambda convention: ra.presets.yahoo(2).diff(convention),
    "objectives.LambdaRank": lambda convention: ra.objectives.lightgbm.lambdarank().replace(convention=convention),
    "lightgbm.early_stopping": lambda convention: ra.lightgbm.early_stopping(convention, rounds=5),
    "lightgbm.lambdarank": lambda convention: ra.lightgbm.lambdarank(convention, truncation=30),
    "xgboost.lambdarank": lambda convention: ra.xgboost.lambdarank(convention, truncation=30),
    "xgboost.EvalCallback": lambda convention: ra.xgboost.EvalCallback([convention], [((LABELS, LABELS, QID), "a")]),
    "catboost.eval_metric": lambda convention: ra.catboost.eval_metric(convention, sets=[(LABELS, QID)]),
}
CONVENTION_ALONE = (
    "parse", "lightgbm.eval_metric", "lightgbm.native_metric", "xgboost.eval_metric", "xgboost.native_metric",
    "catboost.native_metric", "sklearn.query_scorer",
)  # fmt: skip
PACKAGES = {
    "page": ("matplotlib",),
    "crosscheck": ("sklearn",),
    "objectives.LambdaRank": (),
}
WITH_DATA = EVALUATIONS | WITHOUT_CONVENTION


def require_packages(name):
    package, dot, _ = name.partition(".")
    for required in PACKAGES.get(name, (package,) if dot else ()):
        pytest.importorskip(required)


def raised_error(error_class, function, *arguments, **columns):
    """Return the error of a call, which must be of exactly this class and have a hint."""
    with pytest.raises(error_class, match="Hint: ") as raised:
        function(*arguments, **columns)
    assert raised.type is error_class
    return raised.value


@pytest.mark.parametrize("convention", [5, None, "nope@10", "nope", b"yahoo@2", {"k": 2}])
@for_each("name", [*EVALUATIONS, *WITHOUT_DATA, *CONVENTION_ALONE])
def test_an_invalid_convention_raises_a_convention_error(name, convention):
    require_packages(name)
    if name in EVALUATIONS:
        raised_error(ra.ConventionError, EVALUATIONS[name], LABELS, SCORES, convention, qid=QID)
    else:
        raised_error(ra.ConventionError, WITHOUT_DATA.get(name) or attrgetter(name)(ra), convention)


def input_error(name, labels, scores, **columns):
    require_packages(name)
    convention = ("letor4@2",) if name in EVALUATIONS else ()
    return raised_error(ra.InputError, WITH_DATA[name], labels, scores, *convention, **columns)


@for_each("name", WITH_DATA)
def test_scores_of_a_different_length_raise_an_input_error_without_a_row(name):
    error = input_error(name, LABELS, SCORES[:3], qid=QID)
    assert "scores has 3 rows but the queries cover 4" in str(error)
    assert error.row is None


@for_each("name", WITH_DATA)
def test_a_nan_label_raises_an_input_error_with_its_row(name):
    error = input_error(name, NAN, SCORES, qid=QID)
    assert "labels[1] is nan" in str(error)
    assert error.row == 1


@for_each("name", WITH_DATA)
def test_a_nan_score_raises_an_input_error_with_its_row(name):
    error = input_error(name, LABELS, NAN, qid=QID)
    assert "scores[1] is nan" in str(error)
    assert error.row == 1


@for_each("name", WITH_DATA)
def test_rows_without_queries_raise_an_input_error(name):
    error = input_error(name, LABELS, SCORES)
    assert "exactly one of qid and group_sizes is needed, but neither was given" in str(error)


@for_each("name", WITH_DATA)
def test_an_unknown_column_raises_an_input_error(name):
    assert "'qids' is not an accepted column" in str(input_error(name, LABELS, SCORES, qids=QID))


@pytest.mark.parametrize("name", [name for name in ra.__all__ if name.endswith("Error")])
def test_details_of_an_error_are_passed_by_name(name):
    _, message, *details = signature(getattr(ra, name).__init__).parameters.values()
    assert message.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL}
    assert {detail.kind for detail in details} <= {Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD}
