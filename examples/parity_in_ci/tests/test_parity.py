"""Test that the project's number has the declared meaning, and that it does not change."""

import json
from pathlib import Path

import pytest
from ranker import data, train_and_report

import rankadapters as ra


@pytest.fixture(scope="module")
def reported():
    return train_and_report()


@pytest.fixture(scope="module")
def test_set():
    return data()[1]


def test_the_logged_number_is_ndcg_as_declared(reported, test_set, assert_same_ndcg):
    """Compare LightGBM's log with the published convention; because the data are passed, a failure names its cause."""
    scores, logged = reported
    columns = {"labels": test_set.labels, "qid": test_set.qid}
    expected = ra.evaluate(scores=scores, convention=ra.presets.lightgbm(5), **columns)
    assert_same_ndcg(logged, expected, tolerance=1e-9, scores=scores, **columns)


@pytest.mark.rank_parity(convention="lightgbm@5", toolkits=["lightgbm"])
def test_the_toolkit_computes_it_for_these_scores(reported, test_set, ranking_parity):
    """Without training, compare the toolkit's own number for the same scores."""
    scores, _ = reported
    ranking_parity(test_set.labels, scores, qid=test_set.qid)


@pytest.mark.rank_parity(convention="textbook@5")
def test_every_installed_toolkit_agrees_where_it_can(ranking_parity):
    """With labels 0 and 1, no ties and no empty query, every toolkit's convention gives the textbook's number."""
    labels = [1, 0, 0, 1, 1, 0]
    report = ranking_parity(labels, [0.3, 0.9, 0.1, 0.2, 0.8, 0.4], qid=["a", "a", "a", "b", "b", "b"])
    assert all(row.verdict in {"equal", "equal-on-this-data"} for row in report.rows)


def test_a_published_number_still_holds(assert_same_ndcg):
    """Check a number from a file, under its convention and to its printed decimals."""
    published = json.loads((Path(__file__).parent.parent / "published.json").read_text())
    test_set = data()[1]
    scores, convention = test_set.X[:, published["feature"]], ra.parse(published["convention"])
    expected = ra.evaluate(test_set.labels, scores, convention, qid=test_set.qid)
    assert_same_ndcg(published["value"], expected, tolerance=1e-4)
