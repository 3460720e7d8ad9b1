"""One mistake has one error class, whichever public function is handed it, and a way out."""

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
    "evaluate, several": lambda labels, scores, convention, **columns: ra.evaluate(
        labels, scores, [convention], **columns
    ),
    "models": lambda labels, scores, convention, **columns: ra.evaluate(labels, {"a": scores}, [convention], **columns),
    "Evaluator": lambda labels, scores, convention, **columns: ra.Evaluator(labels, convention, **columns).tally(
        scores
    ),
    "Panel": lambda labels, scores, convention, **columns: ra.Panel(labels, [convention], **columns).per_query(scores),
    "mean_ndcg": ra.mean_ndcg,
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
    "check": lambda labels, scores, convention, **columns: ra.parity.crosscheck(
        labels, scores, convention, toolkits=["sklearn"], **columns
    ),
}
WITHOUT_CONVENTION = {
    "identify": lambda labels, scores, **columns: ra.audit.identify(labels, scores, value="0.5", k=2, **columns),
    "profile": lambda labels, scores, **columns: ra.audit.profile(labels, scores=scores, k=2, **columns),
    "gradients": lambda labels, scores, **columns: ra.objectives.gradients(
        labels, scores, ra.objectives.lightgbm.lambdarank(), **columns
    ),
}
WITHOUT_DATA = {
    "inert": lambda convention: ra.inert(ra.Queries(LABELS, qid=QID), "gain", convention, "linear"),
    "diff": lambda convention: ra.presets.yahoo(2).diff(convention),
    "objectives.LambdaRank": lambda convention: ra.objectives.lightgbm.lambdarank().replace(convention=convention),
    "lightgbm.early_stopping": lambda convention: ra.lightgbm.early_stopping(convention, rounds=5),
    "lightgbm.lambdarank": lambda convention: ra.lightgbm.lambdarank(convention, truncation=30),
    "xgboost.lambdarank": lambda convention: ra.xgboost.lambdarank(convention, truncation=30),
    "xgboost.EvalCallback": lambda convention: ra.xgboost.EvalCallback([convention], [((LABELS, LABELS, QID), "a")]),
    "catboost.eval_metric": lambda convention: ra.catboost.eval_metric(convention, sets=[(LABELS, QID)]),
}
CONVENTION_ALONE = (
    "parse", "lightgbm.eval_metric", "lightgbm.native_metric", "xgboost.custom_metric", "xgboost.native_metric",
    "catboost.native_metric", "sklearn.query_scorer",
)  # fmt: skip
NEEDS = {
    "order": ("scipy",),
    "page": ("scipy", "matplotlib", "jinja2"),
    "check": ("sklearn",),
    "objectives.LambdaRank": (),
}
EVERY = EVALUATIONS | WITHOUT_CONVENTION


def needs(name):
    package, dot, _ = name.partition(".")
    for needed in NEEDS.get(name, (package,) if dot else ()):
        pytest.importorskip(needed)


def caught(kind, call, *given, **columns):
    """Give the error, which is of that class itself and says the way out."""
    with pytest.raises(kind, match="Hint: ") as found:
        call(*given, **columns)
    assert found.type is kind
    return found.value


@pytest.mark.parametrize("convention", [5, None, "nope@10", "nope", b"yahoo@2", {"k": 2}])
@for_each("name", [*EVALUATIONS, *WITHOUT_DATA, *CONVENTION_ALONE])
def test_what_is_not_a_convention_is_a_convention_error(name, convention):
    needs(name)
    if name in EVALUATIONS:
        caught(ra.ConventionError, EVALUATIONS[name], LABELS, SCORES, convention, qid=QID)
    else:
        caught(ra.ConventionError, WITHOUT_DATA.get(name) or attrgetter(name)(ra), convention)


def call(name, labels, scores, **columns):
    needs(name)
    given = ("letor4@2",) if name in EVALUATIONS else ()
    return caught(ra.InputError, EVERY[name], labels, scores, *given, **columns)


@for_each("name", EVERY)
def test_scores_of_another_length_are_an_input_error_that_blames_no_row(name):
    error = call(name, LABELS, SCORES[:3], qid=QID)
    assert "scores has 3 rows but the queries cover 4" in str(error)
    assert error.row is None


@for_each("name", EVERY)
def test_a_label_that_is_nan_is_an_input_error_with_its_row(name):
    error = call(name, NAN, SCORES, qid=QID)
    assert "labels[1] is nan" in str(error)
    assert error.row == 1


@for_each("name", EVERY)
def test_a_score_that_is_nan_is_an_input_error_with_its_row(name):
    error = call(name, LABELS, NAN, qid=QID)
    assert "scores[1] is nan" in str(error)
    assert error.row == 1


@for_each("name", EVERY)
def test_rows_without_queries_are_an_input_error(name):
    assert "exactly one of qid and group_sizes is needed, but neither was given" in str(call(name, LABELS, SCORES))


@for_each("name", EVERY)
def test_a_keyword_of_another_library_is_an_input_error_that_names_ours(name):
    assert "'qids' is not an accepted column" in str(call(name, LABELS, SCORES, qids=QID))


@pytest.mark.parametrize("name", [name for name in ra.__all__ if name.endswith("Error")])
def test_what_an_error_knows_beside_its_message_is_given_by_name(name):
    _, message, *others = signature(getattr(ra, name).__init__).parameters.values()
    assert message.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL}
    assert {each.kind for each in others} <= {Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD}
