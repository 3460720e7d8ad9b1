"""Rows without judgment that have a label all the same, ideal lists of ones, and weights of documents."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from tests.tables import for_each

ES = ra.presets.elasticsearch
# What Elasticsearch's own tests compute by hand: DiscountedCumulativeGainTests and ExpectedReciprocalRankTests.
HITS = {"labels": [3, 2, 3, 9, 1, 9], "judged": [1, 1, 1, 0, 1, 0]}
FOUR = {"labels": [3, 9, 0, 1], "judged": [1, 0, 1, 1]}
IDEAL = 7 + 7 / log2(3) + 3 / 2 + 1 / log2(5)


def evaluate(columns, convention):
    """The value of one query whose rows stand by descending score."""
    given = {"labels": columns["labels"], "judged": np.array(columns["judged"], bool)}
    scores = -np.arange(float(len(columns["labels"])))
    return ra.evaluate(scores=scores, convention=convention, group_sizes=[scores.size], **given).value


@pytest.mark.parametrize("choice", [NOW, NEVER])
@for_each(
    ("columns", "convention", "value"),
    [
        (HITS, ES.dcg(10), 12.779642067948913),
        (HITS, ES(10), 12.779642067948913 / 13.347184833073591),
        (HITS, ES.dcg(10, unknown_doc_rating=2), 12.779642067948913 + 3 / log2(5) + 3 / log2(7)),
        (HITS, ES(10, unknown_doc_rating=2), (12.779642067948913 + 3 / log2(5) + 3 / log2(7)) / IDEAL),
        (HITS, ES(4, unknown_doc_rating=5), (12.392789260714371 + 31 / log2(5)) / IDEAL),
        (FOUR, ES.err(4, maximum_relevance=3), 0.875 + 0.00390625),
        (FOUR, ES.err(4, maximum_relevance=3, unknown_doc_rating=2), 0.8984375 + 0.00244140625),
        (FOUR, ES.err(3, maximum_relevance=3, unknown_doc_rating=2), 0.8984375),
        (FOUR, ES.precision(3), 1 / 3),
        (FOUR, ES.precision(3, relevant_rating_threshold=0), 2 / 3),
        (FOUR, ES.recall(3), 1 / 2),
        (FOUR, ES.mrr(4, relevant_rating_threshold=4), 0),
    ],
)
def test_elasticsearch(columns, convention, value, choice):
    with kernels(choice):
        assert evaluate(columns, convention) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("text", "params", "means"),
    [
        ("dcg", {}, "elasticsearch.dcg@10"),
        ("dcg", {"normalize": True, "k": 5, "unknown_doc_rating": 2}, "elasticsearch@5+unjudged=2"),
        ("expected_reciprocal_rank", {"maximum_relevance": 3, "k": 20}, "elasticsearch.err@20+scale=8"),
        ("precision", {"relevant_rating_threshold": 2}, "elasticsearch.precision@10+relevant=from_2"),
        ("recall", {"k": 20}, "elasticsearch.recall@20"),
        ("mean_reciprocal_rank", {}, "elasticsearch.mrr@10"),
    ],
)
def test_elasticsearch_reads_its_own_words(text, params, means):
    assert ES.read(text, **params) == ra.parse(means)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda: ES(5, unknown_doc_rating=-1), "unknown_doc_rating=-1; allowed are whole numbers from 0 on"),
        (lambda: ES.err(5, maximum_relevance=0.5), "maximum_relevance=0.5; allowed are whole numbers"),
        (lambda: ES.precision(5, ignore_unlabeled=True), "removes hits after applying the cutoff.*\nHint: presets."),
        (lambda: ES.read("recall", normalize=True), "'recall' has no parameter 'normalize'"),
        (lambda: ES.read("dcg", normalize=True, foo=1), "'dcg' has no parameter 'foo'"),
        (lambda: ES.read("ndcg"), "'ndcg' with 'k' is not a known metric of elasticsearch"),
        (lambda: ra.presets.rectools(5, log_base=1), "discount='log_1'"),
        (lambda: ES(5).replace(unjudged=-1), r"unjudged=-1 is not a choice; allowed are 'a number in \[0, 1023\]'"),
        (lambda: ES(5).replace(unjudged=True), "unjudged=True is not a choice"),
        (lambda: ES(5).replace(unjudged=2, gain="table_0_1"), "unjudged=2 is a label outside the gain table.*\nHint: "),
        (lambda: ES(5).replace(unjudged=0.5, gain="table_0_1"), "unjudged=0.5 is a label outside the gain table"),
        (lambda: ES.mrr(5).replace(unjudged=1), "unjudged=1 is not a choice; allowed are 'zero', 'drop', 'error'"),
        (lambda: ra.presets.rectools(10**6 + 1), "k=1000001 with ideal='ones'.*up to 1000000.\nHint: k=None"),
    ],
)
def test_what_means_nothing_is_refused(wrong, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        wrong()


@pytest.mark.parametrize(
    ("gain", "label", "spelled"),
    [
        ("exp2", 0, "zero"),
        ("exp2-floor", 0.9, "zero"),
        ("exp2", 0.9, 0.9),
        ("table_0_0_1", 1, "zero"),
        ("table_1_2", 0, 0.0),
    ],
)
def test_a_label_without_gain_is_zero(gain, label, spelled):
    assert ES(5).replace(gain=gain, unjudged=label).unjudged == spelled


def test_ties_go_by_the_gain_of_rows_without_judgment_too():
    """Gains 3 and 1 (not judged: 2 and so 3) share a score: worst and best order, and their mean."""
    columns = {"labels": [1, 9], "group_sizes": [2], "judged": [True, False]}
    found = {
        ties: ra.evaluate(scores=[1, 1], convention=ES.dcg(None, unknown_doc_rating=2).replace(ties=ties), **columns)
        for ties in ("worst", "average", "best")
    }
    values = [score.value for score in found.values()]
    assert values == pytest.approx([1 + 3 / log2(3), 2 + 2 / log2(3), 3 + 1 / log2(3)])


@pytest.mark.parametrize("choice", [NOW, NEVER])
@pytest.mark.parametrize(
    ("k", "labels", "value"),
    [
        (3, [0, 1, 0, 1], 1 / log2(3) / (1 + 1 / log2(3) + 1 / 2)),
        (10, [1, 1], (1 + 1 / log2(3)) / sum(1 / log2(rank + 1) for rank in range(1, 11))),
        (None, [1, 0], 1 / (1 + 1 / log2(3))),
        (2, [3, 0], 3 / (1 + 1 / log2(3))),  # graded labels go beyond gain 1, and so beyond 1
    ],
)
def test_an_ideal_list_of_ones(k, labels, value, choice):
    convention = ra.presets.textbook(k).replace(ideal="ones", gain="linear")
    with kernels(choice):
        score = ra.evaluate(labels, -np.arange(float(len(labels))), convention, group_sizes=[len(labels)])
    assert score.value == pytest.approx(value, rel=1e-15)


def test_a_query_without_relevant_documents_is_empty_under_ones_too():
    convention = ra.presets.rectools(3)
    assert ra.evaluate([0, 0, 1, 0], [4, 3, 2, 1], convention, group_sizes=[2, 2]).value == pytest.approx(
        1 / (1 + 1 / log2(3) + 1 / 2)
    )


def test_a_search_meets_an_ideal_list_of_ones_and_names_the_preset():
    rng = np.random.default_rng(0)
    queries = ra.Queries((rng.random(400) < 0.3).astype(float), group_sizes=[10] * 40)
    scores = rng.random(400)
    value = ra.evaluate(queries, scores, ra.presets.rectools(5)).value
    found = ra.audit.identify(queries, scores, value=f"{value:.8f}", k=5)
    assert "rectools" in {name for match in found for name in match.presets}


def test_a_search_meets_rows_without_judgment_of_label_1():
    rng = np.random.default_rng(1)
    queries = ra.Queries(rng.integers(0, 4, 400), group_sizes=[10] * 40, judged=rng.random(400) < 0.7)
    scores = rng.random(400)
    convention = ES(5, unknown_doc_rating=1)
    value = ra.evaluate(queries, scores, convention).value
    found = ra.audit.identify(queries, scores, value=f"{value:.8f}", k=5)
    assert any(match.covers(convention) for match in found)


def test_weights_of_documents_are_labels_of_their_gains():
    """As TensorFlow Ranking, Keras-RS and Rax weigh documents: gain x weight, in the ideal list too."""
    gains, weights, scores = np.array([[3, 0, 1], [1, 7, 0]]), np.array([[0.5, 2, 4], [1, 0.25, 3]]), [3, 2, 1]
    discounts = 1 / np.log2([2, 3, 4])
    products = gains * weights
    per_list = (products * discounts).sum(1) / (-np.sort(-products) * discounts).sum(1)
    lists = products.sum(1) / gains.sum(1)
    linear = ra.presets.ranklib(None).replace(gain="linear", average="query")
    queries = ra.Queries(products.ravel(), group_sizes=[3, 3], query_weight=lists)
    assert ra.Evaluator(queries, linear).per_query(scores * 2) == pytest.approx(per_list)
    assert ra.evaluate(queries, scores * 2, linear).value == pytest.approx((per_list * lists).sum() / lists.sum())
    assert "labels w x g with gain='linear'" in ra.presets.inexpressible()["document_weights"]
