"""scikit-learn's top_k_accuracy_score, dcg_score and average_precision_score: our values, reading and writing."""

import math

import numpy as np
import pytest

import rankadapters as ra

metrics = pytest.importorskip("sklearn.metrics")


def samples_with_classes(n_classes, seed=0, n_samples=40):
    """Return one-hot class labels of samples, with scores that tie."""
    rng = np.random.default_rng(seed)
    labels = np.eye(n_classes)[rng.integers(0, n_classes, n_samples)]
    return labels, rng.integers(0, 4, (n_samples, n_classes)) / 3


@pytest.mark.parametrize("n_classes", [3, 5, 20])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_top_k_accuracy_equals_success_with_samples_as_queries(n_classes, k):
    labels, scores = samples_with_classes(n_classes)
    weights = np.arange(1.0, len(labels) + 1)
    convention = ra.sklearn.read_metric("top_k_accuracy_score", k=k)
    queries = ra.Queries(labels.ravel(), group_sizes=[n_classes] * len(labels), query_weight=weights)
    if k < n_classes:
        sklearn_value = metrics.top_k_accuracy_score(
            labels.argmax(1), scores, k=k, sample_weight=weights, labels=range(n_classes)
        )
        assert ra.evaluate(queries, scores.ravel(), convention).value == pytest.approx(sklearn_value, rel=1e-12)
    report = ra.sklearn.check_parity(queries, scores.ravel(), convention)
    assert (report.ok, report.rows[0].verdict) == (True, "equal")
    assert f"top_k_accuracy_score(k={k})" in str(report)


def test_top_k_accuracy_has_a_default_k_of_2_and_is_written_as_read():
    convention = ra.sklearn.read_metric("top_k_accuracy_score")
    assert convention == ra.parse("sklearn.top_k_accuracy_score@2")
    assert ra.sklearn.native_metric(convention) == {"metric": "top_k_accuracy_score", "k": 2}
    with pytest.raises(ra.UnsupportedConventionError, match="cannot express ties='worst', only ties='reverse'"):
        ra.sklearn.native_metric(convention.replace(ties="worst"))


@pytest.mark.parametrize("base", [2, math.e, 10, 1.5])
@pytest.mark.parametrize("k", [3, None])
def test_dcg_score_takes_a_base_of_the_logarithm(base, k):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 4, (30, 8)), rng.integers(0, 5, (30, 8)) / 4
    convention = ra.sklearn.read_metric("dcg_score", k=k, log_base=base)
    queries = ra.Queries(labels.ravel(), group_sizes=[8] * 30)
    sklearn_value = metrics.dcg_score(labels, scores, k=k, log_base=base)
    assert ra.evaluate(queries, scores.ravel(), convention).value == pytest.approx(sklearn_value, rel=1e-12)
    written = ra.sklearn.native_metric(convention)
    assert written == {"metric": "dcg_score", "k": k} | ({} if base == 2 else {"log_base": base})
    assert ra.sklearn.read_metric(written) == convention
    report = ra.sklearn.check_parity(queries, scores.ravel(), convention)
    assert (report.ok, report.rows[0].verdict) == (True, "equal")


def test_a_base_of_another_function_is_refused():
    with pytest.raises(ra.UnsupportedConventionError, match="cannot express discount='log_10', only discount='log2'"):
        ra.sklearn.native_metric(ra.presets.sklearn(5).replace(discount="log_10"))


@pytest.mark.parametrize("labels", [[1, 0], [1, 1, 0], [0, 0, 0]], ids=["two rows", "two relevant", "none relevant"])
def test_a_query_that_is_no_sample_of_top_k_accuracy_is_named(labels):
    convention, scores = ra.presets.sklearn.top_k_accuracy_score(1), [0.5, 0.25, 1.0]
    queries = {"qid": [*"aaa", *"b" * len(labels)]}
    with pytest.raises(ra.InputError, match="query b is not a sample of sklearn's top_k_accuracy_score: three rows"):
        ra.sklearn.check_parity([1, 0, 0, *labels], scores + scores[: len(labels)], convention, **queries)
    assert ra.sklearn.check_parity([1, 0, 0, 0.5, 1, 0], scores * 2, convention, qid=list("aaabbb")).ok


def test_queries_of_one_document_are_left_out_unless_all_are():
    [row] = ra.sklearn.check_parity([1, 0, 1], [1, 0, 2], "sklearn@2", qid=["a", "b", "b"]).rows
    assert (row.value, row.our_value) == (1, 1)
    assert row.reason == "scikit-learn refuses one-document queries: 1 left out on both sides."
    kept = (("label_ranking_average_precision_score", "abb"), ("average_precision_score", "abb"), ("ndcg_score", "aaa"))
    for function, qid in kept:
        [row] = ra.sklearn.check_parity([1, 0, 1], [1, 0, 2], ra.presets.sklearn.read(function), qid=list(qid)).rows
        assert (row.verdict, row.reason) == ("equal", "")
    with pytest.raises(ra.InputError, match="every query has one document, which sklearn's functions refuse"):
        ra.sklearn.check_parity([1, 0], [1, 0], "sklearn@2", qid=["a", "b"])
