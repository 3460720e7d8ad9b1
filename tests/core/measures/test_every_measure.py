"""Every public way to evaluate gives the same value, for one preset of every measure; some are better if lower."""

from __future__ import annotations

import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.helpers.conventions import DATA, DOCIDS, LABELS, SCORES, every_measure, without_docids


def value(convention, **columns):
    return ra.evaluate(LABELS, SCORES, convention, qid=DATA.qid, **columns).value


def test_measures_declare_whether_their_values_are_in_the_unit_interval():
    unbounded = {
        "coverage", "dcg", "err", "filtered-dcg", "kendall", "pair-logit", "pearson", "precision",
        "query-cross-entropy", "query-rmse", "query-soft-max", "rbp", "spearman",
    }  # fmt: skip
    assert {name for name, measure in MEASURES.items() if not measure.in_unit_interval} == unbounded


@every_measure
def test_a_list_of_conventions_and_a_text_give_the_same_value(convention):
    columns = {"qid": DATA.qid, "docid": DOCIDS}
    scores = ra.evaluate(LABELS, SCORES, [convention, "textbook@3", str(convention)], **columns)
    assert scores[convention].value == value(convention, docid=DOCIDS)
    assert value(convention.name, docid=DOCIDS) == value(str(convention), docid=DOCIDS) == scores[convention].value


@pytest.mark.long
@every_measure
def test_a_scorer_returns_the_value_or_its_negative_if_lower_is_better(convention):
    linear = pytest.importorskip("sklearn.linear_model")
    convention = without_docids(convention)
    model = linear.LinearRegression().fit(DATA.X, LABELS)
    expected = ra.evaluate(LABELS, model.predict(DATA.X), convention, qid=DATA.qid).value
    sign = 1 if convention.higher_is_better else -1
    assert ra.sklearn.query_scorer(convention)(model, DATA.X, LABELS, qid=DATA.qid) == sign * expected
    ranker = ra.sklearn.QueryRanker(linear.LinearRegression(), convention=convention).fit(DATA.X, LABELS, qid=DATA.qid)
    assert ranker.score(DATA.X, LABELS, qid=DATA.qid) == sign * expected


LOWER_IS_BETTER = {"query-rmse", "query-soft-max", "pair-logit", "query-cross-entropy", "fall-out", "coverage"}


def test_lower_is_better_for_losses_fall_out_and_coverage():
    assert {name for name, measure in MEASURES.items() if not measure.higher_is_better} == LOWER_IS_BETTER
