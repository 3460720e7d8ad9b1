"""LETOR's MeanNDCG is the mean over queries of the mean NDCG at every cutoff."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import letor_mean_ndcg
from rankadapters.parity.letor import AT_ONCE

LETOR = ra.presets.letor4(None)


@pytest.mark.parametrize("empty", [0.25, "skip"])
def test_the_mean_is_over_the_cutoffs_of_each_query(empty):
    """Queries are shorter and longer than the cutoffs of one evaluator."""
    rng, sizes = np.random.default_rng(0), [1, 3, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 3, 4, 2]
    labels, scores = rng.integers(0, 3, sum(sizes)), rng.normal(size=sum(sizes))
    labels[-6:-2] = 0
    convention = LETOR.replace(empty=empty)
    means = []
    for rows in np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]):
        n = rows.size
        if empty == "skip" and not labels[rows].any():
            continue
        columns = {"labels": labels[rows], "scores": scores[rows], "group_sizes": [n]}
        of_cutoffs = ra.evaluate(**columns, convention=[convention.at(k) for k in range(1, n + 1)])
        means.append(np.mean([score.value for score in of_cutoffs.values()]))
    value = letor_mean_ndcg(labels, scores, convention, group_sizes=sizes)
    assert value == pytest.approx(np.mean(means), rel=1e-12)


def test_cutoffs_beyond_the_retrieved_rows_do_not_count():
    convention = LETOR.replace(missing="zero")
    retrieved = [True, True, False, False, False]
    columns = {"retrieved": retrieved, "group_sizes": [3, 2]}
    values = [
        ra.evaluate([0, 1, 1], [3, 2, 1], convention.at(k), retrieved=retrieved[:3], group_sizes=[3]) for k in (1, 2)
    ]
    value = letor_mean_ndcg([0, 1, 1, 1, 0], [3, 2, 1, 2, 1], convention, **columns)
    assert value == pytest.approx(np.mean(values) / 2)  # the second query retrieves nothing


@pytest.mark.parametrize(
    ("convention", "problem"),
    [
        ("letor4@10", "averages NDCG over all cutoffs, but ndcg@10/letor4 has the cutoff 10"),
        ("letor4.map", "MeanNDCG averages an NDCG with average='uniform'"),
        (LETOR.replace(average="query"), "MeanNDCG averages an NDCG with average='uniform'"),
    ],
)
def test_other_measures_means_and_cutoffs_are_refused(convention, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        letor_mean_ndcg([1, 0], [2, 1], convention, group_sizes=[2])


def test_a_mean_over_no_query_is_refused():
    with pytest.raises(ra.InputError, match="nothing is left to average: every query was skipped"):
        letor_mean_ndcg([0, 0], [2, 1], LETOR.replace(empty="skip"), group_sizes=[2])
