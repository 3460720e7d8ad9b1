"""Planted faults: a number that someone computed otherwise is told by name, and what fits nothing has no cause."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import QueryDifferences, causes, changes, check_value
from rankadapters.parity.causes import Cause, _first_causes, judge, number_causes
from rankadapters.parity.checks import compare_numbers
from rankadapters.parity.rows import OurNumber
from tests.helpers.depth import examples
from tests.helpers.tables import for_each

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes


def reason_for(labels, scores, convention, value, **columns):
    [row] = check_value(labels, scores, convention, value=value, **columns).rows
    assert row.verdict == "different"
    return row.reason


# Few queries: every change of the convention, of the queries and of their weights.

DECLARED = ra.presets.ranklib(3).replace(average="query", ties="input")


class Few:
    """Queries with ties, an empty one, a short one, weights, fractions in the labels, and near-ties beyond float32."""

    rng = np.random.default_rng(12)
    sizes = np.array([5, 1, 6, 4, 7, 2, 5])
    labels = rng.integers(0, 4, sizes.sum()).astype(float)
    labels[6:12] = 0
    labels[[0, 14, 20]] = (1.5, 2.5, 0.5)
    scores = rng.integers(0, 4, sizes.sum()) / 4 + 0.25
    scores[16:20] += np.arange(4) * 1e-10
    weights = rng.uniform(0.5, 2, sizes.size)
    of = np.repeat(np.arange(7), sizes)
    rank = np.concatenate([np.arange(size) for size in sizes])  # of each row in its query

    @classmethod
    def value(cls, rows=slice(None), convention=DECLARED, sizes=sizes, weights=weights):
        columns = {"group_sizes": sizes, "query_weight": weights}
        return ra.evaluate(cls.labels[rows], cls.scores[rows], convention, **columns).value

    @classmethod
    def reason(cls, value):
        return reason_for(cls.labels, cls.scores, DECLARED, value, group_sizes=cls.sizes, query_weight=cls.weights)


def flips():
    # Words only: the labels have fractions, of which a table has no gain.
    values = {name: ra.NDCG.declared()[name].words for name in ("gain", "discount", "ties", "short", "average")}
    values |= {"precision": ["float32"], "empty": [0.5, 1, "skip"], "k": [1, 2, 4, 5, 6, None]}
    docids = {"docid-ascending", "docid-descending"}
    return [(name, value) for name, several in values.items() for value in several
            if getattr(DECLARED, name) != value and value not in docids]  # fmt: skip


@for_each(("name", "value"), flips())
def test_a_flipped_field_is_named(name, value):
    other = DECLARED.replace(**{name: value})
    given = Few.value(convention=other, weights=None if value == "uniform" else Few.weights)
    if value == "query-except-empty":
        assert given == pytest.approx(Few.value(), abs=1e-9)  # the field cannot matter here
    else:
        change = f"{name}={getattr(other, name)!r} in place of {name}={getattr(DECLARED, name)!r}"
        assert change in Few.reason(given)


def without(query):
    return Few.value(Few.of != query, sizes=np.delete(Few.sizes, query), weights=np.delete(Few.weights, query))


def cut_in_two(query, first):
    sizes = np.insert(Few.sizes, query + 1, Few.sizes[query] - first)
    sizes[query] = first
    return Few.value(sizes=sizes, weights=np.insert(Few.weights, query + 1, Few.weights[query]))


def of_some_rows(query, kept):
    rows = (Few.of != query) | kept
    return Few.value(rows, sizes=np.bincount(Few.of[rows]))


def swapped(one, other):
    weights = Few.weights.copy()
    weights[[one, other]] = weights[[other, one]]
    return Few.value(weights=weights)


FAULTS = [
    *((f"without query {query}", lambda query=query: without(query)) for query in range(7)),
    ("query 0 cut in two after 2 rows", lambda: cut_in_two(0, 2)),
    ("query 3 cut in two after 1 rows", lambda: cut_in_two(3, 1)),
    ("query 4 cut in two after 4 rows", lambda: cut_in_two(4, 4)),
    ("query 6 cut in two after 3 rows", lambda: cut_in_two(6, 3)),
    ("query 0 cut after its first 2 rows", lambda: of_some_rows(0, Few.rank < 2)),
    ("query 3 cut after its first 2 rows", lambda: of_some_rows(3, Few.rank < 2)),
    ("query 4 cut after its first 4 rows", lambda: of_some_rows(4, Few.rank < 4)),
    ("query 3 without its first 2 rows", lambda: of_some_rows(3, Few.rank >= 2)),
    ("weights of queries 0 and 2 swapped", lambda: swapped(0, 2)),
    ("weights of queries 3 and 4 swapped", lambda: swapped(3, 4)),
    ("weights of queries 2 and 6 swapped", lambda: swapped(2, 6)),
    ("the query weights in reverse order", lambda: Few.value(weights=Few.weights[::-1])),
    ("the query weights ignored", lambda: Few.value(weights=np.ones(7))),
    ("every query weighed by its number of rows", lambda: Few.value(weights=Few.sizes.astype(float))),
    ("all rows taken as one query", lambda: Few.value(sizes=[Few.labels.size], weights=None)),
    ("presets.sklearn, that is gain='linear' in place of gain='exp2', ties='average'",
     lambda: Few.value(convention=ra.presets.sklearn(3))),
]  # fmt: skip


@for_each(("text", "value"), FAULTS)
def test_a_fault_in_the_queries_or_their_weights_is_named(text, value):
    assert text in Few.reason(value())


@for_each("seed", range(5))
def test_shuffled_tied_rows_are_named(seed):
    order = np.lexsort((np.random.default_rng(seed).random(Few.of.size), Few.of))
    assert "ties" in Few.reason(Few.value(order))


@for_each(
    ("value", "text"),
    [
        (0.01234567891, "none of the changes tried gives it"),
        (math.nan, "it is nan, which is not a value of any convention"),
    ],
)
def test_what_no_change_gives_is_said_so(value, text):
    assert Few.reason(value) == f"Looking for the cause: {text}."


def test_interleaved_rows_and_docids_are_followed():
    declared = DECLARED.replace(ties="docid-ascending", average="uniform")
    columns = {"qid": np.char.add("q", Few.of.astype(str)), "docid": np.array([f"d{i:02}" for i in range(Few.of.size)])}
    mixed, kept = np.random.default_rng(3).permutation(Few.of.size), Few.of != 4
    left, shuffled = ({name: column[rows] for name, column in columns.items()} for rows in (kept, mixed))
    value = ra.evaluate(Few.labels[kept], Few.scores[kept], declared, **left).value
    assert "without query q4" in reason_for(Few.labels[mixed], Few.scores[mixed], declared, value, **shuffled)


@pytest.mark.parametrize(("n", "expected"), [(3, ["0", "1", "2"]), (5, ["0", "1", "2", "and others, such as: 3"])])
def test_three_causes_of_a_kind_are_named_and_one_of_the_others(n, expected):
    assert [cause.text for cause in _first_causes(Cause(str(number)) for number in range(n))] == expected


@for_each("weight", [1.0, 0.25])
def test_one_query_may_be_all_that_is_left_of_a_mean(weight):
    labels, scores, convention = [1, 0, 1, 0], [1, 3, 2, 1], ra.parse("sklearn@3")
    value = ra.evaluate(labels[1:], scores[1:], convention, group_sizes=[3]).value
    reason = reason_for(labels, scores, convention, value, group_sizes=[1, 3], query_weight=[weight, weight])
    assert "it is the value without the 1 one-document queries" in reason


# Measures other than NDCG.

SUMS = {
    "ap": ra.presets.trec_eval_9.map(),
    "ap@3": ra.presets.lightgbm.map(3),
    "rr": ra.presets.catboost.mrr(None, use_weights=False),
    "auc of queries": ra.presets.catboost.query_auc(),
    "every two": ra.presets.xgboost.auc(),
    "dcg": ra.presets.sklearn.dcg(4),
}
WHOLE = {
    "all rows": ra.presets.sklearn.roc_auc_score(),
    "geometric": ra.presets.trec_eval_9.gm_map(),
    "average precision of all rows": ra.presets.lightgbm.average_precision(),
}


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 30).astype(float)
    docid = [f"d{i:02}" for i in range(30)]
    return ra.Queries(labels, group_sizes=[5, 3, 6, 4, 7, 5], docid=docid), rng.normal(size=30)


@for_each("name", SUMS)
@for_each("query", range(6))
def test_of_every_measure_that_is_a_sum_a_query_left_out_is_named(name, query, binary):
    queries, scores = binary
    left, rows = queries.take(np.flatnonzero(np.arange(6) != query))
    given = ra.evaluate(left, scores[rows], SUMS[name]).value
    row = check_value(queries, scores, SUMS[name], value=given).rows[0]
    if row.verdict == "different":
        assert f"the value without query {query}" in row.reason
    else:  # a query whose value is the mean, or which counts nothing
        assert abs(given - ra.evaluate(queries, scores, SUMS[name]).value) < 1e-9


@for_each(
    ("declared", "field", "value"),
    [
        ("ap@3", "k", 2), ("ap@3", "divisor", "relevant"), ("ap", "empty", 1.0), ("rr", "k", 1),
        ("auc of queries", "pool", "rows"), ("dcg", "discount", "reciprocal"),
        ("average precision of all rows", "pool", "queries"),
    ],
)  # fmt: skip
def test_a_flipped_field_of_another_measure_is_named(declared, field, value, binary):
    queries, scores = binary
    labels = np.where(queries.query_of_row == 1, 0, queries.labels) if field == "empty" else queries.labels
    queries, convention = queries.with_labels(labels), (SUMS | WHOLE)[declared]
    other = convention.replace(**{field: value})
    reason = reason_for(queries, scores, convention, ra.evaluate(queries, scores, other).value)
    assert f"{field}={getattr(other, field)!r} in place of {field}={getattr(convention, field)!r}" in reason


@for_each("name", [*SUMS, *WHOLE])
def test_a_measure_that_is_no_sum_says_that_no_query_was_looked_at(name, binary):
    queries, scores = binary
    row = check_value(queries, scores, (SUMS | WHOLE)[name], value=0.0123456789).rows[0]
    assert row.verdict == "different"
    assert ("The value is not a sum over the queries" in row.reason) is (name in WHOLE)
    assert row.per_query is None


# Everyday mistakes on many queries, with ties and without.
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
        self.name = f"{convention}, ties={ties}"

    def __repr__(self):
        return self.name

    @property
    def per_query(self):
        panel = ra.Panel(self.labels, [self.convention], qid=self.qid)
        return next(iter(panel.per_query(self.scores).values()))

    def evaluate(self, labels=None, scores=None, rows=slice(None), **groups):
        labels, scores = (self.labels if labels is None else labels), (self.scores if scores is None else scores)
        groups = groups or {"qid": self.qid[rows]}
        return ra.evaluate(labels[rows], scores[rows], self.convention, **groups).value

    def reason(self, value):
        return reason_for(self.labels, self.scores, self.convention, value, qid=self.qid)

    def compared(self, value):
        """The row of the number beside ours, of which equal bits are asked."""
        queries, convention = ra.Queries(self.labels, qid=self.qid), ra.parse(self.convention)
        [row] = compare_numbers(value, self.value, convention=convention, queries=queries, scores=self.scores).rows
        return row


@cache
def data_of(convention, *, ties):
    return Data(convention, ties=ties)


SETS = [data_of(name, ties=ties) for name in CONVENTIONS for ties in (True, False)]


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


@for_each("ties", [True, False])
@for_each(("cause", "convention"), zip(MISTAKES, cycle(CONVENTIONS)))
def test_an_everyday_mistake_is_named_and_ties_are_not_blamed(cause, convention, ties):
    if "float32" in cause:
        return  # which is a match only where equal bits are asked for
    data = data_of(convention, ties=ties)
    reason = data.reason(MISTAKES[cause](data))
    assert cause in reason
    assert "not excluded" not in reason
    assert "by chance" not in reason


@for_each("data", SETS)
@for_each("cause", ["ours rounded to", "ours in float32", "one-document queries", "1 - ours"])
def test_the_plugin_asks_for_equal_bits_and_names_the_mistake_too(data, cause):
    reason = data.compared(MISTAKES[cause](data)).reason
    assert cause in reason
    assert "not excluded" not in reason


@for_each("data", SETS)
@for_each("n_steps", [1, 3, -2])
def test_a_difference_in_the_last_bits_asks_for_a_tolerance(data, n_steps):
    reason = data.compared(data.value + n_steps * np.spacing(data.value)).reason
    assert reason.startswith("Looking for the cause: it is ours but for the last bits")
    assert "a tolerance of 1e-09 takes it" in reason
    assert "ties" not in reason


@pytest.mark.parametrize(("a", "b", "cause"), [(0.6309, 0.630929753571, "rounded"), (0.37, 0.63, "1 - ours")])
def test_two_bare_numbers_are_explained_by_each_other(a, b, cause):
    assert cause in compare_numbers(a, b).rows[0].reason
    assert not compare_numbers(0.2718281, b).rows[0].reason


OF_12_DIGITS = 0.12345678901234567


@for_each(
    ("value", "ours", "text"),
    [
        (0.2, 0.204, ["ours rounded to 2 decimals: a tolerance of 5e-03 takes it"]),
        (0.2, 0.196, []),  # fewer than 20 units of the last decimal
        (0.2, 0.209, ["ours truncated to 2 decimals: a tolerance of 1e-02 takes it"]),
        (0.2, -0.204, ["ours with the other sign, rounded to 2 decimals"]),
        (round(-OF_12_DIGITS, 12), OF_12_DIGITS, ["ours with the other sign, rounded to 12 decimals"]),
        (round(-OF_12_DIGITS, 13), OF_12_DIGITS, []),
    ],
)
def test_a_rounded_number_has_twelve_decimals_at_most_and_twenty_units_of_the_last_at_least(value, ours, text):
    assert list(number_causes(value, ours, 0)) == text


FEW = ra.Queries(Few.labels, group_sizes=Few.sizes, query_weight=Few.weights)
CHANCE = "perhaps by chance, as 6 of 100 numbers around it would fit something: "


@for_each(("step", "doubt"), [(51, ""), (-51, ""), *((step, CHANCE) for step in (5, 50, -50))])
def test_changes_that_give_more_than_five_of_the_hundred_numbers_around_are_chance(step, doubt, monkeypatch):
    ours = OurNumber.of(FEW, Few.scores, DECLARED)
    value = ours.value + 0.01
    search = [(f"a change by {n}", value + n * 2e-6) for n in (0, 1, 2, 3, -4, step)]
    monkeypatch.setattr(causes, "TIERS", ((lambda _: changes.Changes.of(search),),))
    assert causes.causes(ours, value=value, tolerance=1e-6)[0].text == f"{doubt}it is a change by 0"


@for_each(("decimals", "named"), [(8, False), (9, True)])
def test_another_divisor_is_named_only_by_more_than_eight_decimals(decimals, named):
    data = data_of("ranklib@5", ties=False)
    reason = data.reason(f"{data.per_query.sum() / 57:.{decimals}f}")
    assert ("divided by 57 instead of 40" in reason) is named


TRIED = [1, 3, 5, 10, 20, None]
MORE = [k for k in range(1, 101) if k not in TRIED]


@for_each(("n_rows", "k", "tried"), [(3, 2, TRIED), (7, 8, [*TRIED, 2, 4, 6, 7, 9]), (150, 120, [*TRIED, *MORE, 121])])
def test_cutoffs_that_are_tried(n_rows, k, tried):
    queries = ra.Queries(np.arange(n_rows) % 2, group_sizes=[n_rows])
    ours = OurNumber.of(queries, np.arange(float(n_rows)), ra.presets.ranklib(10).replace(k=k))
    assert [c.k for _, c in changes._field_changes(ours) if c.k != k] == tried


SIZES_OF_SEARCHES = [
    ("MAX_PIECE_ROWS", Few.sizes @ (Few.sizes - 1), changes.cut_queries),
    ("MAX_PAIRS", Few.sizes.size**2, changes.swapped_weights),
]


@for_each(("most", "n", "search"), SIZES_OF_SEARCHES)
def test_searches_of_too_much_data_find_nothing(most, n, search, monkeypatch):
    ours = OurNumber.of(FEW, Few.scores, DECLARED)
    for limit in (n, n - 1):
        monkeypatch.setattr(changes, most, limit)
        assert (search(ours).values.size > 0) == (limit == n)


@for_each(("n_queries", "largest"), [(1, 4), (2, 4), (3, 6)])
def test_divisors_that_are_tried(n_queries, largest):
    ours = OurNumber.of(ra.Queries([1, 0] * n_queries, group_sizes=[2] * n_queries), np.ones(2 * n_queries), DECLARED)
    assert changes.different_divisors(ours).values.tolist() == [
        n_queries * ours.value / n for n in range(1, largest + 1)
    ]


@for_each(("seed", "data"), [(seed, SETS[seed % len(SETS)]) for seed in range(examples(36))])
def test_a_number_that_fits_nothing_is_given_no_cause(seed, data):
    rng = np.random.default_rng(seed)
    reasons = [data.reason(rng.uniform(*ends)) for ends in ((0, 1), (data.value - 0.02, data.value + 0.02))]
    for reason in reasons:
        assert "none of the changes tried gives it" in reason or "are not excluded" in reason
        assert "it is" not in reason


@for_each("data", SETS)
@for_each(("decimals", "off"), [(6, 3), (9, -4)])
def test_a_wrong_last_digit_is_given_no_cause_that_is_certain(data, decimals, off):
    reason = data.reason(f"{data.value + off * 10.0**-decimals:.{decimals}f}")
    vague = "none of the changes", "not excluded", "perhaps by chance", "within 1e-06 of ours"
    assert any(text in reason for text in vague)


def test_a_match_that_most_numbers_would_have_is_called_chance():
    data = data_of("lightgbm@5", ties=False)
    values = [f"{data.value + step:.3f}" for step in np.arange(-0.01, 0.01, 0.002)]
    reasons = [data.reason(value) for value in values if float(value) != round(data.value, 3)]
    assert all(re.search("perhaps by chance, as |none of the changes|ours truncated", reason) for reason in reasons)
    assert sum("perhaps by chance, as " in reason for reason in reasons) > len(reasons) / 2


def test_scikit_learns_loop_is_named_under_another_convention():
    data = data_of("lightgbm@5", ties=True)
    kept = np.repeat(data.sizes, data.sizes) > 1
    value = ra.evaluate(data.labels[kept], data.scores[kept], "sklearn@5", qid=data.qid[kept]).value
    reason = data.reason(value)
    assert "presets.sklearn, that is gain='linear'" in reason
    assert ", without the one-document queries" in reason


def test_labels_and_scores_swapped_are_named():
    rng = np.random.default_rng(4)
    labels, scores, qid = rng.integers(0, 4, 60), rng.random(60), np.repeat(np.arange(10), 6)
    value = ra.evaluate(scores, labels, "catboost@5", qid=qid).value
    assert "of labels and scores swapped" in reason_for(labels, scores, "catboost@5", value, qid=qid)


def test_a_float_of_few_decimals_is_taken_as_rounded_where_nothing_gives_it_in_full():
    data = data_of("sklearn@5", ties=True)
    value = ra.evaluate(data.labels, data.scores, "sklearn@10", qid=data.qid).value
    assert "taken as rounded, it is the value under k=10 in place of k=5" in data.reason(round(value, 5))


def mixed(convention, *, ties):
    """Labels, scores and queries of rows in mixed order, as a frame has them before it is grouped."""
    data = data_of(convention, ties=ties)
    rows = np.random.default_rng(1).permutation(data.labels.size)
    return data.labels[rows], data.scores[rows], data.qid[rows]


SIZES = {
    "of the queries, in the order in which they appear, laid over rows": lambda qid: [
        np.count_nonzero(qid == name) for name in dict.fromkeys(qid)
    ],
    "of the queries, in the order of their ids, laid over rows": lambda qid: np.unique(qid, return_counts=True)[1],
    "every run of rows of one query taken as a query": lambda qid: np.diff(
        np.flatnonzero(np.r_[True, qid[1:] != qid[:-1], True])
    ),
}


@for_each("convention", CONVENTIONS)
@for_each("cause", SIZES)
def test_sizes_laid_over_rows_in_another_order_are_named(convention, cause):
    labels, scores, qid = mixed(convention, ties=True)
    value = ra.evaluate(labels, scores, convention, group_sizes=SIZES[cause](qid)).value
    assert cause in reason_for(labels, scores, convention, value, qid=qid)


@for_each("column", ["labels", "scores"])
def test_one_column_grouped_by_query_and_the_other_not_is_named(column):
    labels, scores, qid = mixed("ranklib@5", ties=False)
    order = np.argsort(qid, kind="stable")
    grouped = {"labels": labels, "scores": scores}
    grouped[column] = grouped[column][order]
    value = ra.evaluate(**grouped, convention="ranklib@5", qid=qid).value
    assert f"of the {column} sorted by query" in reason_for(labels, scores, "ranklib@5", value, qid=qid)


def test_rows_that_were_not_retrieved_ranked_by_a_score_of_0_are_named():
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 2, 60), rng.normal(size=60)
    retrieved, convention = rng.random(60) < 0.7, ra.presets.trec_eval_9(5)
    columns = {"group_sizes": [6] * 10, "docid": [f"d{row:02}" for row in range(60)]}
    value = ra.evaluate(labels, np.where(retrieved, scores, 0), convention, **columns).value
    reason = reason_for(labels, scores, convention, value, retrieved=retrieved, **columns)
    assert "the rows that were not retrieved, ranked by a score of 0" in reason


@for_each("k", [None, 4])
@for_each("least", [0, 1])
def test_the_last_relevant_rank_taken_for_the_first_is_named(k, least):
    rng = np.random.default_rng(3)
    labels, scores, sizes = rng.integers(least, 2, 60), rng.normal(size=60), [6] * 10
    convention = ra.presets.catboost.mrr(k, use_weights=False)
    ranks = [np.flatnonzero(labels[rows][np.argsort(-scores[rows])])[: k or 6] for rows in np.arange(60).reshape(10, 6)]
    last = [max((rank + 1 for rank in found if rank < (k or 6)), default=math.inf) for found in ranks]
    reason = reason_for(labels, scores, convention, np.mean([1 / rank for rank in last]), group_sizes=sizes)
    assert "the last relevant row taken for the first" in reason


@for_each(("factor", "named"), [(0.75, True), (1.0, False)])
def test_a_constant_ratio_of_the_values_by_query_is_named(factor, named):
    data = data_of("ranklib@5", ties=False)
    queries = ra.Queries(data.labels, qid=data.qid)
    ours = OurNumber.of(queries, data.scores, ra.parse(data.convention))
    theirs = factor * data.per_query
    parts = QueryDifferences(
        query_ids=queries.query_ids, values=theirs, our_values=data.per_query, contributions=theirs - data.per_query
    )
    row = judge(ours, factor * data.value + 1e-6, "a toolkit", "1", per_query=lambda: parts)
    assert ("it is 0.75 times ours on every query" in row.reason) is named
    assert row.reason.count("times ours on every query") == named


@for_each(("ours", "named"), [([0.5, 0.25, 0.0, math.nan], True), ([0.5, 0.5, 0.0, math.nan], False)])
def test_a_ratio_is_constant_where_two_different_values_have_it(ours, named):
    values, ids = np.array(ours), np.arange(4)
    parts = QueryDifferences(query_ids=ids, values=0.75 * values, our_values=values, contributions=-values / 4)
    assert list(causes._constant_ratio(parts)) == ["0.75 times ours on every query"] * named


def test_a_query_left_out_for_a_nan_is_said_to_have_nothing_to_find():
    labels, scores, sizes = [1, 0, 0, 0, 0, 1, 2, 0, 0, 0], np.arange(10.0), [2, 3, 2, 3]
    values = next(iter(ra.Panel(labels, ["yahoo@3"], group_sizes=sizes).per_query(scores).values()))
    values[1] = math.nan
    reason = reason_for(labels, scores, "yahoo@3", np.nanmean(values), group_sizes=sizes)
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


@for_each("convention", ["sklearn.roc_auc_score", "trec_eval_9.gm_map"])
def test_columns_are_looked_at_where_the_value_is_no_sum_over_queries(convention):
    data = data_of("sklearn@5", ties=False)
    labels = (data.labels > 1) * 1
    queries = ra.Queries(labels, qid=data.qid, docid=[f"d{row:03}" for row in range(labels.size)])
    value = ra.evaluate(queries, -data.scores, convention).value
    assert "of the scores negated" in reason_for(queries, data.scores, convention, value)
