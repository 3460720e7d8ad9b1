"""For one preset of every measure: its values, its direction, and the scores and weights that it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.conventions import (
    DATA,
    DOCIDS,
    LABELS,
    SCORES,
    WITH_PRESET,
    convention_of,
    every_measure,
    without_docids,
)


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


def plain(measure):
    """Return the text of a convention of queries that needs neither pairs nor docids and allows empty queries."""
    convention = without_docids(convention_of(measure))
    of_queries = {"pool": "queries", "average": "uniform"} if convention.over == "rows" else {}
    empty = {"empty": 0} if getattr(convention, "empty", 0) == "error" else {}
    return str(convention.replace(**of_queries, **empty))


PLAIN = {name: plain(name) for name in WITH_PRESET}
MORE = ["yahoo@3", "trec_eval_9@3", "catboost.mrr@3", "lightgbm.map@3"]


@pytest.mark.parametrize("text", [*PLAIN.values(), *MORE])
def test_a_bad_score_in_a_query_without_relevant_rows_is_refused(text):
    scores = np.arange(33.0)
    scores[3] = np.nan
    for choice in (NEVER, NOW):
        with kernels(choice), pytest.raises(ra.InputError, match=r"scores\[3\] is nan"):
            ra.evaluate([0] * 30 + [1, 0, 1], scores, text, group_sizes=[30, 3], docid=[f"d{row}" for row in range(33)])


@pytest.mark.parametrize("text", PLAIN.values())
@pytest.mark.parametrize(("column", "weights"), [("query_weight", [1, 2]), ("row_weight", [1, 2, 3, 4])])
def test_weights_that_a_convention_does_not_count_are_refused(text, column, weights):
    convention = ra.parse(text).replace(average="uniform")
    with pytest.raises(ra.InputError, match=rf"{column} was given but the convention says average='uniform'.*\nHint"):
        ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], convention, group_sizes=[2, 2], **{column: weights})


def test_weights_of_pairs_that_a_convention_does_not_count_are_refused_unless_it_ignores_pairs():
    rows = {"labels": [1, 0], "scores": [2, 1], "group_sizes": [2], "pairs": ([0], [1], [2.0])}
    with pytest.raises(ra.InputError, match=r"pair_weight was given but the convention says average='uniform'.*\nHint"):
        ra.evaluate(convention=ra.presets.catboost.pair_logit().replace(average="uniform"), **rows)
    assert ra.evaluate(convention="textbook@2", **rows).value == 1


BINARY = [text for text in PLAIN.values() if {"relevant", "empty"} <= set(ra.parse(text).fields())]


@pytest.mark.parametrize("text", BINARY)
def test_a_query_without_relevant_rows_counts_what_empty_says(text):
    """For FallOut, a query is empty if it has no irrelevant row."""
    convention = ra.parse(text)
    convention = convention.replace(relevant="from_0" if convention.measure == "fall-out" else "above_7")
    rows = {"labels": [1, 0, 2, 0], "scores": [4, 3, 2, 1], "group_sizes": [2, 2]}
    assert ra.evaluate(convention=convention.replace(empty=0.25), **rows).value == 0.25
    with pytest.raises(ra.InputError, match=r"query 0 has nothing to find.*empty='error'"):
        ra.evaluate(convention=convention.replace(empty="error"), **rows)
