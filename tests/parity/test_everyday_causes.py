"""Everyday mistakes are named, with ties and without, and numbers that fit nothing are given no cause."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import QueryDifferences, check_value
from rankadapters.parity.causes import judge
from rankadapters.parity.checks import compare_numbers
from rankadapters.parity.rows import OurNumber
from tests.helpers.depth import examples
from tests.tables import for_each, short

CONVENTIONS = ["lightgbm@5", "ranklib@5", "sklearn@5"]
N_QUERIES = 40


class Data:
    """Queries of one row to eleven, whose ids are not in the order of the rows."""

    def __init__(self, convention, *, ties):
        rng = np.random.default_rng(0)
        self.sizes = rng.integers(1, 12, N_QUERIES)
        self.sizes[:3] = 1
        self.labels = rng.integers(0, 4, self.sizes.sum()) * (rng.random(self.sizes.sum()) < 0.6) * 1.0
        scores = rng.normal(size=self.labels.size)
        self.scores = scores.round() if ties else scores
        self.qid = np.repeat([f"q{number:03}" for number in rng.permutation(N_QUERIES)], self.sizes)
        self.convention = convention
        self.value = self.evaluate()

    @property
    def per_query(self):
        panel = ra.Panel(self.labels, [self.convention], qid=self.qid)
        return next(iter(panel.per_query(self.scores).values()))

    def evaluate(self, labels=None, scores=None, rows=slice(None), **groups):
        labels, scores = (self.labels if labels is None else labels), (self.scores if scores is None else scores)
        groups = groups or {"qid": self.qid[rows]}
        return ra.evaluate(labels[rows], scores[rows], self.convention, **groups).value

    def reason(self, value):
        return check_value(self.labels, self.scores, self.convention, value=value, qid=self.qid).rows[0].reason


@cache
def data_of(convention, *, ties):
    return Data(convention, ties=ties)


@pytest.fixture(params=[(name, ties) for name in CONVENTIONS for ties in (True, False)], ids=short)
def data(request):
    name, ties = request.param
    return data_of(name, ties=ties)


def truncated(value):
    """The value cut off after some decimals, where that is not the value rounded."""
    rounded = {round(value, decimals) for decimals in range(10)}
    return [cut for n in (6, 7, 5, 8, 4) if (cut := math.floor(value * 10**n) / 10**n) not in rounded]


MISTAKES = {
    "ours rounded to": lambda data: round(data.value, 4),
    "ours truncated to": lambda data: truncated(data.value)[0],
    "ours in float32": lambda data: float(np.float32(data.value)),
    "ours as a percentage": lambda data: 100 * data.value,
    "ours as a percentage, rounded to": lambda data: round(100 * data.value, 2),
    "1 - ours": lambda data: 1 - data.value,
    "ours with the other sign": lambda data: -data.value,
    "one-document queries": lambda data: data.evaluate(rows=np.repeat(data.sizes, data.sizes) > 1),
    "with 0 for the": lambda data: data.per_query[data.sizes > 1].sum() / N_QUERIES,
    "of the scores negated": lambda data: data.evaluate(scores=-data.scores),
    "of the labels in reverse order": lambda data: data.evaluate(labels=data.labels[::-1]),
    "of the labels moved down by one row": lambda data: data.evaluate(labels=np.roll(data.labels, 1)),
    "of the labels sorted by query": lambda data: data.evaluate(
        labels=data.labels[np.argsort(data.qid, kind="stable")]
    ),
    "the median of the queries' values": lambda data: np.median(data.per_query),
    "the sum of the queries' values": lambda data: data.per_query.sum(),
    "by the number of rows": lambda data: data.per_query.sum() / data.labels.size,
    "every query weighed by its number of rows": lambda data: np.average(data.per_query, weights=data.sizes),
    "divided by k=5": lambda data: data.value / 5,
    "divided by log e of 2": lambda data: data.value / math.log(2),
    "divided by 57 instead of 40": lambda data: data.per_query.sum() / 57,
    "of the sizes of the queries, in the order of their ids": lambda data: data.evaluate(
        group_sizes=np.unique(data.qid, return_counts=True)[1]
    ),
    "of the sizes of the queries, from the largest": lambda data: data.evaluate(group_sizes=np.sort(data.sizes)[::-1]),
}


@pytest.mark.parametrize("ties", [True, False], ids=["ties", "no ties"])
@for_each(("cause", "convention"), zip(MISTAKES, cycle(CONVENTIONS)))
def test_an_everyday_mistake_is_named_and_ties_are_not_blamed(cause, convention, ties):
    if "float32" in cause:
        return  # which is a match only where equal bits are asked for
    data = data_of(convention, ties=ties)
    reason = data.reason(MISTAKES[cause](data))
    assert cause in reason
    assert "not excluded" not in reason
    assert "by chance" not in reason


@for_each("cause", ["ours rounded to", "ours in float32", "one-document queries", "1 - ours"])
def test_the_plugin_asks_for_equal_bits_and_names_the_mistake_too(data, cause):
    queries = ra.Queries(data.labels, qid=data.qid)
    value, convention = MISTAKES[cause](data), ra.parse(data.convention)
    [row] = compare_numbers(value, data.value, convention=convention, queries=queries, scores=data.scores).rows
    assert cause in row.reason
    assert "not excluded" not in row.reason


@for_each("n_steps", [1, 3, -2])
def test_a_difference_in_the_last_bits_asks_for_a_tolerance(data, n_steps):
    queries = ra.Queries(data.labels, qid=data.qid)
    value = data.value + n_steps * np.spacing(data.value)
    [row] = compare_numbers(
        value, data.value, convention=ra.parse(data.convention), queries=queries, scores=data.scores
    ).rows
    assert row.reason.startswith("Looking for the cause: it is ours but for the last bits")
    assert "a tolerance of 1e-09 takes it" in row.reason
    assert "ties" not in row.reason


@pytest.mark.parametrize(("a", "b", "cause"), [(0.6309, 0.630929753571, "rounded"), (0.37, 0.63, "1 - ours")])
def test_two_bare_numbers_are_explained_by_each_other(a, b, cause):
    assert cause in compare_numbers(a, b).rows[0].reason
    assert not compare_numbers(0.2718281, b).rows[0].reason


@for_each("seed", range(examples(6)))
def test_a_number_that_fits_nothing_is_given_no_cause(data, seed):
    rng = np.random.default_rng(seed)
    reasons = [data.reason(rng.uniform(*ends)) for ends in ((0, 1), (data.value - 0.02, data.value + 0.02))]
    for reason in reasons:
        assert "none of the changes tried gives it" in reason or "are not excluded" in reason
        assert "it is" not in reason


@for_each(("decimals", "off"), [(6, 3), (9, -4)])
def test_a_wrong_last_digit_is_given_no_cause_that_is_certain(data, decimals, off):
    reason = data.reason(f"{data.value + off * 10.0**-decimals:.{decimals}f}")
    vague = "none of the changes", "not excluded", "perhaps by chance", "within 1e-06 of ours"
    assert any(text in reason for text in vague)


def test_a_match_that_most_numbers_would_have_is_called_chance():
    data = Data("lightgbm@5", ties=False)
    values = [f"{data.value + step:.3f}" for step in np.arange(-0.01, 0.01, 0.001)]
    reasons = [data.reason(value) for value in values if float(value) != round(data.value, 3)]
    assert all(re.search("perhaps by chance, as |none of the changes|ours truncated", reason) for reason in reasons)
    assert sum("perhaps by chance, as " in reason for reason in reasons) > len(reasons) / 2


def test_scikit_learns_loop_is_named_under_another_convention():
    data = Data("lightgbm@5", ties=True)
    kept = np.repeat(data.sizes, data.sizes) > 1
    value = ra.evaluate(data.labels[kept], data.scores[kept], "sklearn@5", qid=data.qid[kept]).value
    reason = data.reason(value)
    assert "presets.sklearn, that is gain='linear'" in reason
    assert ", without the one-document queries" in reason


def test_labels_and_scores_swapped_are_named():
    rng = np.random.default_rng(4)
    labels, scores, qid = rng.integers(0, 4, 60), rng.random(60), np.repeat(np.arange(10), 6)
    value = ra.evaluate(scores, labels, "catboost@5", qid=qid).value
    reason = check_value(labels, scores, "catboost@5", value=value, qid=qid).rows[0].reason
    assert "of labels and scores swapped" in reason


def test_a_float_of_few_decimals_is_taken_as_rounded_where_nothing_gives_it_in_full():
    data = Data("sklearn@5", ties=True)
    value = ra.evaluate(data.labels, data.scores, "sklearn@10", qid=data.qid).value
    assert "taken as rounded, it is the value under k=10 in place of k=5" in data.reason(round(value, 5))


def mixed(data):
    """Rows of the queries mixed, as a frame has them before it is grouped."""
    rows = np.random.default_rng(1).permutation(data.labels.size)
    return data.labels[rows], data.scores[rows], data.qid[rows]


def sizes_of(qid):
    return [np.count_nonzero(qid == name) for name in dict.fromkeys(qid)]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize(
    ("cause", "group_sizes"),
    [
        ("the sizes of the queries, in the order in which they appear, laid over rows", sizes_of),
        (
            "the sizes of the queries, in the order of their ids, laid over rows",
            lambda qid: np.unique(qid, return_counts=True)[1],
        ),
        (
            "every run of rows of one query taken as a query",
            lambda qid: np.diff(np.flatnonzero(np.r_[True, qid[1:] != qid[:-1], True])),
        ),
    ],
)
def test_sizes_laid_over_rows_in_another_order_are_named(convention, cause, group_sizes):
    labels, scores, qid = mixed(Data(convention, ties=True))
    value = ra.evaluate(labels, scores, convention, group_sizes=group_sizes(qid)).value
    assert cause in check_value(labels, scores, convention, value=value, qid=qid).rows[0].reason


@pytest.mark.parametrize("column", ["labels", "scores"])
def test_one_column_grouped_by_query_and_the_other_not_is_named(column):
    labels, scores, qid = mixed(Data("ranklib@5", ties=False))
    order = np.argsort(qid, kind="stable")
    value = ra.evaluate(
        labels[order] if column == "labels" else labels, scores[order] if column == "scores" else scores, "ranklib@5",
        qid=qid,
    ).value  # fmt: skip
    reason = check_value(labels, scores, "ranklib@5", value=value, qid=qid).rows[0].reason
    assert f"of the {column} sorted by query" in reason


def test_rows_that_were_not_retrieved_ranked_by_a_score_of_0_are_named():
    rng = np.random.default_rng(2)
    labels, scores, qid = rng.integers(0, 2, 60), rng.normal(size=60), np.repeat(np.arange(10), 6)
    retrieved = rng.random(60) < 0.7
    convention = ra.presets.trec_eval_9(5)
    docid = [f"d{row:02}" for row in range(60)]
    value = ra.evaluate(labels, np.where(retrieved, scores, 0), convention, qid=qid, docid=docid).value
    row = check_value(labels, scores, convention, value=value, qid=qid, docid=docid, retrieved=retrieved).rows[0]
    assert "the rows that were not retrieved, ranked by a score of 0" in row.reason


@pytest.mark.parametrize("k", [None, 4])
def test_the_last_relevant_rank_taken_for_the_first_is_named(k):
    rng = np.random.default_rng(3)
    labels, scores, sizes = rng.integers(0, 2, 60), rng.normal(size=60), [6] * 10
    convention = ra.presets.catboost.mrr(k, use_weights=False)
    ranks = [np.flatnonzero(labels[rows][np.argsort(-scores[rows])])[: k or 6] for rows in np.arange(60).reshape(10, 6)]
    last = [max((rank + 1 for rank in found if rank < (k or 6)), default=math.inf) for found in ranks]
    value = np.mean([1 / rank for rank in last])
    reason = check_value(labels, scores, convention, value=value, group_sizes=sizes).rows[0].reason
    assert "the last relevant row taken for the first" in reason


@pytest.mark.parametrize(("factor", "named"), [(0.75, True), (1.0, False)])
def test_a_constant_ratio_of_the_values_by_query_is_named(factor, named):
    data = Data("ranklib@5", ties=False)
    queries = ra.Queries(data.labels, qid=data.qid)
    ours = OurNumber.of(queries, data.scores, ra.parse(data.convention))
    theirs = factor * data.per_query
    parts = QueryDifferences(
        query_ids=queries.query_ids, values=theirs, our_values=data.per_query, contributions=theirs - data.per_query
    )
    row = judge(ours, factor * data.value + 1e-6, "a toolkit", "1", per_query=lambda: parts)
    assert ("it is 0.75 times ours on every query" in row.reason) is named


def test_a_query_left_out_for_a_nan_is_said_to_have_nothing_to_find():
    labels, scores, sizes = [1, 0, 0, 0, 0, 1, 2, 0, 0, 0], np.arange(10.0), [2, 3, 2, 3]
    values = next(iter(ra.Panel(labels, ["yahoo@3"], group_sizes=sizes).per_query(scores).values()))
    values[1] = math.nan
    reason = check_value(labels, scores, "yahoo@3", value=np.nanmean(values), group_sizes=sizes).rows[0].reason
    assert "without query 1, where nothing is to be found: its value is 0/0, a NaN, to many programs" in reason


def test_a_query_of_equal_values_is_said_to_have_more_of_a_mean_of_fewer_queries():
    labels, scores, sizes = [0, 1, 0, 0, 0, 1], [2.0, 1, 2, 1, 2, 1], [2, 2, 2]  # 1 / log2(3), nothing to find, again
    value = ra.evaluate(labels, scores, ra.presets.ranklib(2).replace(empty="skip"), group_sizes=sizes).value
    row = check_value(labels, scores, "ranklib@2", value=value, group_sizes=sizes).rows[0]
    assert row.details()[-3:] == [
        "the queries that contribute most:",
        "  query 0: 0.63093 in both, with 0.167 more of the mean than in ours: contributes +0.105",
        "  query 2: 0.63093 in both, with 0.167 more of the mean than in ours: contributes +0.105",
    ]


@pytest.mark.parametrize("convention", ["sklearn.roc_auc_score", "trec_eval_9.gm_map"])
def test_columns_are_looked_at_where_the_value_is_no_sum_over_queries(convention):
    data = Data("sklearn@5", ties=False)
    labels = (data.labels > 1) * 1
    queries = ra.Queries(labels, qid=data.qid, docid=[f"d{row:03}" for row in range(labels.size)])
    value = ra.evaluate(queries, -data.scores, convention).value
    assert "of the scores negated" in check_value(queries, data.scores, convention, value=value).rows[0].reason
