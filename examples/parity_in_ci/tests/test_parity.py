"""What the project's number means, and that it stays so."""

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
    """LightGBM's log against the convention we publish under; with the data at hand, a failure names its cause."""
    scores, logged = reported
    columns = {"labels": test_set.labels, "qid": test_set.qid}
    ours = ra.evaluate(scores=scores, convention=ra.presets.lightgbm(5), **columns)
    assert_same_ndcg(logged, ours, tolerance=1e-9, scores=scores, **columns)


@pytest.mark.rank_parity(convention="lightgbm@5", toolkits=["lightgbm"])
def test_the_toolkit_computes_it_for_these_scores(reported, test_set, ranking_parity):
    """No training involved: the toolkit is asked for its own number of the same scores."""
    scores, _ = reported
    ranking_parity(test_set.labels, scores, qid=test_set.qid)


@pytest.mark.rank_parity(convention="textbook@5")
def test_every_installed_toolkit_agrees_where_it_can(ranking_parity):
    """Labels 0 and 1, no ties and nothing empty: no toolkit can tell its own convention from the textbook's."""
    labels = [1, 0, 0, 1, 1, 0]
    report = ranking_parity(labels, [0.3, 0.9, 0.1, 0.2, 0.8, 0.4], qid=["a", "a", "a", "b", "b", "b"])
    assert all(row.verdict in {"equal", "equal-on-this-data"} for row in report.rows)


def test_a_published_number_still_holds(assert_same_ndcg):
    """A number from a file, with its convention and as many decimals as it was written with."""
    published = json.loads((Path(__file__).parent.parent / "published.json").read_text())
    test_set = data()[1]
    scores, convention = test_set.X[:, published["feature"]], ra.parse(published["convention"])
    ours = ra.evaluate(test_set.labels, scores, convention, qid=test_set.qid)
    assert_same_ndcg(published["value"], ours, tolerance=1e-4)
