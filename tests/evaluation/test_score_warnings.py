"""Swapped labels and scores, and ties that the preset's tool orders by an unstable sort, cause a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.arrays import Array
from rankadapters.evaluation.doubts import FEW_SCORES, MANY_LABELS, look_swapped

GRADED = ["textbook@10", "sklearn@10", "catboost@5", "textbook@all", "catboost.dcg@10", "yahoo@10"]
SWAPPED = "they look swapped"
UNSTABLE = "by an unstable sort"


def messages(labels, scores, convention, **columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ra.evaluate(labels, scores, convention, **columns)
    assert {warning.category for warning in caught} <= {ra.LabelsWarning}
    return [str(warning.message) for warning in caught]


def graded_queries(rng, n_grades=5):
    sizes = rng.integers(2, 31, rng.integers(5, 40))
    qid = np.repeat(np.arange(sizes.size), sizes)
    labels = np.minimum(rng.geometric(0.5, qid.size) - 1, n_grades - 1).astype(float)
    return labels, labels * rng.uniform(0, 2) + rng.normal(0, 1, qid.size), qid


def of_trees(scores, n_leaves):
    """Return scores with as many values as a model of few trees has."""
    return np.quantile(scores, (np.argsort(np.argsort(scores)) * n_leaves // scores.size + 0.5) / n_leaves)


PREDICTIONS = {  # of models, given real-valued scores: all positive, so that they are labels without an error
    "normal": lambda scores, _: scores - scores.min(),
    "float32": lambda scores, _: (scores - scores.min()).astype(np.float32),
    "probabilities": lambda scores, _: 1 / (1 + np.exp(-scores)),
    "trees": lambda scores, _: of_trees(scores - scores.min(), 60),
}


@pytest.mark.parametrize("kind", PREDICTIONS)
def test_swapped_columns_cause_one_warning_under_graded_gains(kind):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        labels, scores, qid = graded_queries(rng, int(rng.integers(2, 6)))
        predictions = PREDICTIONS[kind](scores, rng)
        queries = ra.Queries(predictions, qid=qid)
        assert look_swapped(queries, labels), seed
        assert not look_swapped(ra.Queries(labels, qid=qid), predictions), seed


@pytest.mark.parametrize("convention", GRADED)
def test_every_convention_with_graded_gains_warns_of_swapped_columns(convention):
    labels, scores, qid = graded_queries(np.random.default_rng(0))
    predictions = 1 / (1 + np.exp(-scores))
    [message] = messages(predictions, labels, convention, qid=qid)
    assert message.startswith(f"labels has {qid.size} different values, most of them fractions, and scores are a few")
    assert SWAPPED in message
    assert "\nHint: labels come before scores" in message
    assert messages(labels, predictions, convention, qid=qid) == []


def test_a_convention_that_refuses_fractions_says_so_only_once():
    labels, scores, qid = graded_queries(np.random.default_rng(0))
    predictions = 1 / (1 + np.exp(-scores))
    refused, swapped = messages(predictions, labels, ["lightgbm@10", "textbook@10", "sklearn@5"], qid=qid)
    assert "which LightGBM 4.7.0 refuses" in refused
    assert SWAPPED in swapped


@pytest.mark.parametrize(
    "convention", ["lightgbm.map@10", "catboost.mrr@10", "sklearn.roc_auc_score+pairs=unit", "catboost.query_rmse"]
)
def test_measures_without_graded_gains_do_not_warn(convention):
    labels, scores, qid = graded_queries(np.random.default_rng(0))
    assert SWAPPED not in "".join(messages(1 / (1 + np.exp(-scores)), labels, convention, qid=qid))


def fractional_labels(rng, n):
    """Return labels such as rates of clicks, and mean grades of a few judges."""
    return rng.beta(1, 5, n) if rng.random() < 0.5 else rng.integers(0, 13, n) / 3


ORDINARY = {  # scores beside fractional labels
    "real": lambda rng, labels, qid: labels + rng.normal(0, 1, labels.size),
    "trees": lambda rng, labels, qid: of_trees(labels + rng.normal(0, 1, labels.size), int(rng.integers(2, 30))),
    "stump": lambda rng, labels, qid: np.where(labels > np.median(labels), 0.75, 0.25),
    "constant": lambda rng, labels, qid: np.zeros(labels.size),
    "ranks": lambda rng, labels, qid: np.concatenate([np.arange(n, 0, -1) for n in np.bincount(qid)]),
    "negative ranks": lambda rng, labels, qid: -np.concatenate([rng.permutation(n) + 1 for n in np.bincount(qid)]),
    "large counts": lambda rng, labels, qid: rng.integers(0, 1000, labels.size),
    "the labels": lambda rng, labels, qid: labels,
}


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_scores_beside_fractional_labels_cause_no_warning(kind):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        qid = np.repeat(np.arange(40), rng.integers(1, FEW_SCORES + 1, 40))
        labels = fractional_labels(rng, qid.size)
        assert not look_swapped(ra.Queries(labels, qid=qid), np.asarray(ORDINARY[kind](rng, labels, qid), float)), seed


@pytest.mark.parametrize(
    "labels",
    [
        np.random.default_rng(0).integers(0, 5, 400), np.random.default_rng(0).integers(0, MANY_LABELS - 1, 400) / 8,
        np.where(np.random.default_rng(0).random(400) < 0.4, np.random.default_rng(1).random(400), 0),  # mostly 0
    ],
    ids=["grades", "few fractions", "prices of what was bought"],
)  # fmt: skip
def test_whole_scores_beside_other_labels_cause_no_warning(labels: Array):
    scores = np.random.default_rng(2).integers(0, 5, 400).astype(float)
    assert messages(labels, scores, "textbook@10", group_sizes=[10] * 40) == []


def test_a_model_with_swapped_columns_is_named_and_segments_values_and_tables_warn_too():
    labels, scores, qid = graded_queries(np.random.default_rng(0))
    predictions = 1 / (1 + np.exp(-scores))
    swapped = {"label": predictions, "score": labels, "qid": qid}
    [message] = messages(predictions, {"real": scores, "grades": labels}, "textbook@5", qid=qid)
    assert message.startswith("grades: labels has ")
    for call in (
        lambda: ra.evaluate(predictions, labels, "textbook@5", qid=qid, by=(qid % 2).astype(str)),
        lambda: ra.per_query(predictions, labels, "textbook@5", qid=qid),
        lambda: ra.evaluate_table(swapped, "textbook@5"),
        lambda: ra.evaluate_table(swapped | {"other": scores}, ["textbook@5", "sklearn@5"], score=["other", "score"]),
    ):
        with pytest.warns(ra.LabelsWarning, match=SWAPPED) as caught:
            call()
        assert len(caught) == 1


def tied_queries(n_rows, n_values, n_queries=20):
    rng = np.random.default_rng(n_rows)
    return rng.integers(0, 3, n_rows * n_queries), rng.integers(0, n_values, n_rows * n_queries).astype(float)


@pytest.mark.parametrize(
    ("convention", "n_rows", "n_values", "warns"),
    [
        ("ranx@10", 16, 4, True), ("ranx@10", 15, 4, False), ("ranx.map@5", 30, 10, True), ("rankeval@5", 17, 4, True),
        ("rankeval@5", 16, 4, False), ("ranx@10+ties=average", 30, 4, False), ("textbook@10", 30, 4, False),
        ("ranx.recall@40", 30, 4, False), ("ranx.recall@10", 30, 4, True), ("lightgbm@10", 30, 4, False),
    ],
)  # fmt: skip
def test_ties_that_the_tool_sorts_by_an_unstable_sort_cause_a_warning(convention, n_rows, n_values, warns):
    labels, scores = tied_queries(n_rows, n_values)
    found = messages(labels, scores, convention, group_sizes=[n_rows] * 20)
    assert [UNSTABLE in message for message in found] == [True] * warns
    assert messages(labels, np.arange(scores.size), convention, group_sizes=[n_rows] * 20) == []


def test_ties_of_equal_labels_or_below_the_cutoff_cause_no_warning():
    labels, scores = [1] * 10 + [0] * 10, [2.0] * 10 + [1.0] * 10
    assert messages(labels, scores, "ranx@10", group_sizes=[20]) == []
    below = [*range(40, 20, -1), *[1.0] * 10]
    assert messages([1, 0] * 15, below, "ranx@20", group_sizes=[30]) == []
    [message] = messages([1, 0] * 15, below, "ranx@21", group_sizes=[30])
    assert message.startswith("the order of tied scores changes the value of query 0, and ranx 0.3.21 sorts 16 or more")


def test_order_warns_of_each_model_as_evaluate_does():
    labels, scores, qid = graded_queries(np.random.default_rng(0))
    swapped = {"a": labels, "b": labels[::-1].copy()}
    predictions = scores - scores.min()
    with pytest.warns(ra.LabelsWarning, match=rf"^[ab]: .*{SWAPPED}") as caught:
        ra.audit.order(predictions, swapped, "textbook@10", qid=qid, n_resamples=9)
    assert [str(warning.message)[0] for warning in caught] == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ra.audit.order(labels, {"a": scores, "b": -scores}, "textbook@10", qid=qid, n_resamples=9)
