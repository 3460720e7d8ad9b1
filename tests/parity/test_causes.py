"""A parity report names the planted cause of a different number, and names none where no change explains it."""

from __future__ import annotations

import math
from functools import cache
from itertools import cycle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import causes, check_value
from rankadapters.parity.causes import number_causes
from rankadapters.parity.checks import compare_numbers
from rankadapters.statistics.rivals import OurNumber
from tests.helpers.parameters import examples

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # labels that some tools refuse


def reason_for(labels, scores, convention, value, **columns):
    [row] = check_value(labels, scores, convention, value=value, **columns).rows
    assert row.verdict == "different"
    return row.reason


# A few queries: changes of the convention, of the queries and of their weights.

DECLARED = ra.presets.ranklib(3).replace(average="query", ties="input")


class Few:
    """Seven weighted queries with fractional labels, exact ties, ties in float32 only and a query with label 0 only."""

    rng = np.random.default_rng(12)
    sizes = np.array([5, 1, 6, 4, 7, 2, 5])
    labels = rng.integers(0, 4, sizes.sum()).astype(float)
    labels[6:12] = 0
    labels[[0, 14, 20]] = (1.5, 2.5, 0.5)
    scores = rng.integers(0, 4, sizes.sum()) / 4 + 0.25
    scores[16:20] += np.arange(4) * 1e-10
    weights = rng.uniform(0.5, 2, sizes.size)
    qid = np.repeat(np.arange(7), sizes)

    @classmethod
    def value(cls, rows=slice(None), convention=DECLARED, sizes=sizes, weights=weights):
        columns = {"group_sizes": sizes, "query_weight": weights}
        return ra.evaluate(cls.labels[rows], cls.scores[rows], convention, **columns).value

    @classmethod
    def reason(cls, value):
        return reason_for(cls.labels, cls.scores, DECLARED, value, group_sizes=cls.sizes, query_weight=cls.weights)


FEW = ra.Queries(Few.labels, group_sizes=Few.sizes, query_weight=Few.weights)


def flips():
    # Only named gains, as a gain table has no gain for fractional labels.
    values = {name: ra.NDCG.declared()[name].words for name in ("gain", "discount", "ties", "short", "average")}
    values |= {"precision": ["float32"], "empty": [0.5, 1, "skip"], "k": [1, 2, 4, 5, 6, None]}
    docid_ties = {"docid-ascending", "docid-descending"}
    return [(name, value) for name, options in values.items() for value in options
            if getattr(DECLARED, name) != value and value not in docid_ties]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("name", "value"), flips())
def test_a_flipped_field_is_named(name, value):
    changed = DECLARED.replace(**{name: value})
    number = Few.value(convention=changed, weights=None if value == "uniform" else Few.weights)
    if value == "query-except-empty":
        assert number == pytest.approx(Few.value(), abs=1e-9)  # the field cannot matter here
    else:
        change = f"{name}={getattr(changed, name)!r} in place of {name}={getattr(DECLARED, name)!r}"
        assert change in Few.reason(number)


def test_shuffled_tied_rows_are_named_and_an_invented_number_has_no_cause():
    order = np.lexsort((np.random.default_rng(0).random(Few.qid.size), Few.qid))
    assert "tied rows in another order than ties='input' are not excluded" in Few.reason(Few.value(order))
    assert "the query weights ignored" in Few.reason(Few.value(weights=np.ones(7)))
    for value, text in (
        (0.01234567891, "none of the changes tried gives it"),
        (math.nan, "it is nan, which is not a value of any convention"),
    ):
        assert Few.reason(value) == f"Looking for the cause: {text}."


def test_a_query_left_out_of_interleaved_rows_with_docids_is_named():
    declared = DECLARED.replace(ties="docid-ascending", average="uniform")
    docid = np.array([f"d{row:02}" for row in range(Few.qid.size)])
    columns = {"qid": np.char.add("q", Few.qid.astype(str)), "docid": docid}
    shuffle, is_kept = np.random.default_rng(3).permutation(Few.qid.size), Few.qid != 4
    subset, shuffled = ({name: column[rows] for name, column in columns.items()} for rows in (is_kept, shuffle))
    value = ra.evaluate(Few.labels[is_kept], Few.scores[is_kept], declared, **subset).value
    assert "without query q4" in reason_for(Few.labels[shuffle], Few.scores[shuffle], declared, value, **shuffled)


@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_a_cause_may_leave_only_one_query_in_the_mean(weight):
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


@pytest.mark.long
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("query", range(6))
def test_a_query_left_out_is_named_for_every_measure_that_is_a_sum(name, query, binary):
    queries, scores = binary
    kept_queries, rows = queries.subset(np.flatnonzero(np.arange(6) != query))
    value = ra.evaluate(kept_queries, scores[rows], SUMS[name]).value
    row = check_value(queries, scores, SUMS[name], value=value).rows[0]
    if row.verdict == "different":
        assert f"the value without query {query}" in row.reason
    else:  # the query's value is the mean, or the query counts nothing
        assert abs(value - ra.evaluate(queries, scores, SUMS[name]).value) < 1e-9


@pytest.mark.long
@pytest.mark.parametrize("name", [*SUMS, *WHOLE])
def test_the_reason_says_if_the_measure_is_not_a_sum_over_queries(name, binary):
    queries, scores = binary
    row = check_value(queries, scores, (SUMS | WHOLE)[name], value=0.0123456789).rows[0]
    assert (row.verdict, row.per_query) == ("different", None)
    assert ("The value is not a sum over the queries" in row.reason) is (name in WHOLE)
    if name in WHOLE:  # changed columns are tried all the same
        value = ra.evaluate(queries, -scores, WHOLE[name]).value
        assert "of the scores negated" in reason_for(queries, scores, WHOLE[name], value)


@pytest.mark.long
@pytest.mark.parametrize(
    ("declared", "field", "value"),
    [
        ("ap@3", "k", 2), ("ap@3", "divisor", "relevant"), ("ap", "empty", 1.0), ("rr", "k", 1),
        ("auc of queries", "pool", "rows"), ("dcg", "discount", "reciprocal"),
        ("average precision of all rows", "pool", "queries"),
    ],
)  # fmt: skip
def test_a_flipped_field_of_a_measure_other_than_ndcg_is_named(declared, field, value, binary):
    queries, scores = binary
    labels = np.where(queries.query_of_row == 1, 0, queries.labels) if field == "empty" else queries.labels
    queries, convention = queries.with_labels(labels), (SUMS | WHOLE)[declared]
    changed = convention.replace(**{field: value})
    reason = reason_for(queries, scores, convention, ra.evaluate(queries, scores, changed).value)
    assert f"{field}={getattr(changed, field)!r} in place of {field}={getattr(convention, field)!r}" in reason


# Everyday mistakes on many queries, with ties and without.
CONVENTIONS = ["lightgbm@5", "ranklib@5", "sklearn@5"]
N_QUERIES = 40


class Data:
    """Queries of 1 to 11 rows; sorting their ids changes their order."""

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
        evaluator = ra.Evaluator(self.labels, [self.convention], qid=self.qid)
        return next(iter(evaluator.per_query(self.scores).values()))

    def evaluate(self, labels=None, scores=None, rows=slice(None), **groups):
        labels, scores = (self.labels if labels is None else labels), (self.scores if scores is None else scores)
        groups = groups or {"qid": self.qid[rows]}
        return ra.evaluate(labels[rows], scores[rows], self.convention, **groups).value

    def reason(self, value):
        return reason_for(self.labels, self.scores, self.convention, value, qid=self.qid)

    def row_compared_exactly(self, value):
        """Return the row that compares the value with ours and allows no difference."""
        queries, convention = ra.Queries(self.labels, qid=self.qid), ra.parse(self.convention)
        [row] = compare_numbers(value, self.value, convention=convention, labels=queries, scores=self.scores).rows
        return row


@cache
def data_of(convention, *, ties):
    return Data(convention, ties=ties)


DATA_SETS = [data_of(name, ties=ties) for name in CONVENTIONS for ties in (True, False)]


def truncated(value):
    """Return the value truncated to 4 to 8 decimals, leaving out results that are also the value rounded."""
    rounded = {round(value, decimals) for decimals in range(10)}
    return [shortened for n in (6, 7, 5, 8, 4) if (shortened := math.floor(value * 10**n) / 10**n) not in rounded]


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
    "of the labels sorted by query": lambda data: data.evaluate(
        labels=data.labels[np.argsort(data.qid, kind="stable")]
    ),
    "the median of the queries' values": lambda data: np.median(data.per_query),
    "the sum of the queries' values": lambda data: data.per_query.sum(),
    "by the number of rows": lambda data: data.per_query.sum() / data.labels.size,
    "every query weighed by its number of rows": lambda data: np.average(data.per_query, weights=data.sizes),
    "divided by log e of 2": lambda data: data.value / math.log(2),
    "multiplied by log e of 2": lambda data: data.value * math.log(2),
    "divided by 41 instead of 40": lambda data: data.value * 40 / 41,  # a number of one query more
    "divided by 57 instead of 40": lambda data: data.per_query.sum() / 57,
    "of the sizes of the queries, in the order of their ids": lambda data: data.evaluate(
        group_sizes=np.unique(data.qid, return_counts=True)[1]
    ),
    "of the sizes of the queries, from the largest": lambda data: data.evaluate(group_sizes=np.sort(data.sizes)[::-1]),
}


@pytest.mark.long
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize(
    ("cause", "convention"), [row for row in zip(MISTAKES, cycle(CONVENTIONS)) if "float32" not in row[0]]
)
def test_an_everyday_mistake_is_named_and_ties_are_not_blamed(cause, convention, ties):
    """Only an exact comparison, as in the next test, tells float32 from float64."""
    data = data_of(convention, ties=ties)
    reason = data.reason(MISTAKES[cause](data))
    assert cause in reason
    assert "not excluded" not in reason
    assert "by chance" not in reason


@pytest.mark.long
@pytest.mark.parametrize("data", DATA_SETS)
@pytest.mark.parametrize("n_steps", [1, 3, -2])
def test_the_reason_suggests_a_tolerance_for_a_difference_in_the_last_bits(data, n_steps):
    reason = data.row_compared_exactly(data.value + n_steps * np.spacing(data.value)).reason
    assert reason.startswith("Looking for the cause: it is ours but for the last bits")
    assert "a tolerance of 1e-09 takes it" in reason
    assert "ties" not in reason


@pytest.mark.parametrize(
    ("error", "our_value", "in_last_bits"),
    [(5e-13, 0.5, True), (1.5e-12, 0.5, False), (5e-10, 1e3, True), (5e-9, 1e3, False)],
)
def test_the_last_bits_are_a_share_of_numbers_above_1_and_the_only_cause(error, our_value, in_last_bits):
    [first, *others] = number_causes(our_value, our_value + error, 0)
    last_bits = "ours but for the last bits, as from a different order of sums: a tolerance of 1e-09 takes it"
    assert (first == last_bits) is in_last_bits
    assert not (in_last_bits and others)
    our_number = OurNumber.of(FEW, Few.scores, DECLARED)
    value = our_number.value + 2 * np.spacing(our_number.value)
    assert causes.causes(our_number, value=value, tolerance=0) == [causes.Cause(f"it is {last_bits}")]


def test_one_of_0_and_1_is_not_taken_for_1_minus_the_other():
    texts = [list(number_causes(value, our_value, 0)) for value, our_value in ((1, 0), (0, 1), (2, -1), (-1, 2))]
    assert texts == [[], [], ["1 - ours"], ["1 - ours"]]


def test_the_causes_of_a_measure_that_is_no_sum_are_whole_columns():
    rng, convention = np.random.default_rng(0), ra.presets.sklearn.roc_auc_score()
    labels, scores = rng.integers(0, 2, 30), rng.normal(size=30)
    value = ra.evaluate(labels, -scores, convention, group_sizes=[30]).value
    causes_line, not_a_sum = reason_for(labels, scores, convention, value, group_sizes=[30]).splitlines()
    assert causes_line == "Looking for the cause: it is 1 - ours; it is the value of the scores negated."
    assert not_a_sum == causes.NOT_A_SUM


def test_three_causes_of_one_search_are_named_and_a_fourth_stands_for_the_rest(monkeypatch):
    our_number = OurNumber.of(FEW, Few.scores, DECLARED)
    value = our_number.value + 0.01
    monkeypatch.setattr(causes, "TIERS", ((lambda _: iter([(f"change {n}", value) for n in range(6)]),),))
    texts = [cause.text for cause in causes.causes(our_number, value=value, tolerance=1e-6)]
    assert texts == [*(f"it is change {n}" for n in range(3)), "and others, such as: it is change 3"]


@pytest.mark.parametrize(("a", "b", "cause"), [(0.6309, 0.630929753571, "rounded"), (0.37, 0.63, "1 - ours")])
def test_two_bare_numbers_are_explained_by_each_other(a, b, cause):
    assert cause in compare_numbers(a, b).rows[0].reason
    assert not compare_numbers(0.2718281, b).rows[0].reason


LONG_DECIMAL = 0.12345678901234567


@pytest.mark.parametrize(
    ("value", "our_value", "texts"),
    [
        (0.2, 0.204, ["ours rounded to 2 decimals: a tolerance of 5e-03 takes it"]),
        (0.2, 0.196, []),  # fewer than 20 units of the last decimal
        (0.2, 0.209, ["ours truncated to 2 decimals: a tolerance of 1e-02 takes it"]),
        (0.2, -0.204, ["ours with the other sign, rounded to 2 decimals"]),
        (round(-LONG_DECIMAL, 12), LONG_DECIMAL, ["ours with the other sign, rounded to 12 decimals"]),
        (round(-LONG_DECIMAL, 13), LONG_DECIMAL, []),
    ],
)
def test_a_rounded_number_has_12_decimals_at_most_and_20_units_of_the_last_at_least(value, our_value, texts):
    assert list(number_causes(value, our_value, 0)) == texts


CHANCE = "perhaps by chance, as 6 of 100 numbers around it would fit something: "


@pytest.mark.parametrize(("step", "doubt"), [(51, ""), (-51, ""), *((step, CHANCE) for step in (5, 50, -50))])
def test_a_match_is_doubted_if_changes_give_over_5_of_the_100_numbers_around_it(step, doubt, monkeypatch):
    our_number = OurNumber.of(FEW, Few.scores, DECLARED)
    value = our_number.value + 0.01
    candidates = [(f"a change by {n}", value + n * 2e-6) for n in (0, 1, 2, 3, -4, step)]
    monkeypatch.setattr(causes, "TIERS", ((lambda _: iter(candidates),),))
    assert causes.causes(our_number, value=value, tolerance=1e-6)[0].text == f"{doubt}it is a change by 0"


@pytest.mark.long
@pytest.mark.parametrize(("decimals", "named"), [(8, False), (9, True)])
def test_a_different_divisor_is_named_only_for_numbers_with_over_8_decimals(decimals, named):
    data = data_of("ranklib@5", ties=False)
    reason = data.reason(f"{data.per_query.sum() / 57:.{decimals}f}")
    assert ("divided by 57 instead of 40" in reason) is named


@pytest.mark.long
@pytest.mark.parametrize("data", DATA_SETS)
@pytest.mark.parametrize(("decimals", "n_units"), [(6, 3), (9, -4)])
def test_a_wrong_last_digit_has_no_certain_cause(data, decimals, n_units):
    reason = data.reason(f"{data.value + n_units * 10.0**-decimals:.{decimals}f}")
    doubts = "none of the changes", "not excluded", "perhaps by chance", "within 1e-06 of ours"
    assert any(text in reason for text in doubts)


def test_a_preset_together_with_a_change_of_the_queries_is_named():
    data = data_of("lightgbm@5", ties=True)
    is_kept = np.repeat(data.sizes, data.sizes) > 1
    value = ra.evaluate(data.labels[is_kept], data.scores[is_kept], "sklearn@5", qid=data.qid[is_kept]).value
    reason = data.reason(value)
    assert "presets.sklearn, that is gain='linear'" in reason
    assert ", without the one-document queries" in reason


@pytest.mark.parametrize(
    ("sizes", "declared", "k", "named"),  # for NDCG, every row has a gain
    [
        *(([4] * 10, "letor4.p@6", k, True) for k in (1, 2, 3, 4, 5, 7, 10, 20)),  # of the longest query, k + 1, usual
        *(([4] * 10, "letor4.p@6", k, False) for k in (8, 21)),
        ([110, 90], "sklearn@3", 100, True),
        ([110, 90], "sklearn@3", 101, False),
        ([60, 50], "sklearn@3", 60, True),
        ([60, 50], "sklearn@3", 59, True),
    ],
)
def test_usual_cutoffs_and_those_up_to_the_longest_query_or_100_are_tried(sizes, declared, k, named):
    rng = np.random.default_rng(2)
    convention = ra.parse(declared)
    labels, scores = rng.integers(0, 2, sum(sizes)) + (convention.measure == "ndcg"), rng.normal(size=sum(sizes))
    value = ra.evaluate(labels, scores, convention.at(k), group_sizes=sizes).value
    reason = reason_for(labels, scores, convention, value, group_sizes=sizes)
    assert (f"k={k} in place of k={convention.k}" in reason) is named


def test_labels_and_scores_swapped_are_named():
    rng = np.random.default_rng(4)
    labels, scores, qid = rng.integers(0, 4, 60), rng.random(60), np.repeat(np.arange(10), 6)
    value = ra.evaluate(scores, labels, "catboost@5", qid=qid).value
    assert "of labels and scores swapped" in reason_for(labels, scores, "catboost@5", value, qid=qid)


def test_a_float_of_few_decimals_is_taken_as_rounded_if_nothing_gives_it_exactly():
    data = data_of("sklearn@5", ties=True)
    value = ra.evaluate(data.labels, data.scores, "sklearn@10", qid=data.qid).value
    assert "taken as rounded, it is the value under k=10 in place of k=5" in data.reason(round(value, 5))


def shuffled_rows(convention, *, ties):
    """Return labels, scores and query ids in random row order, like a frame that is not yet grouped."""
    data = data_of(convention, ties=ties)
    rows = np.random.default_rng(1).permutation(data.labels.size)
    return data.labels[rows], data.scores[rows], data.qid[rows]


MISPLACED_SIZES = {
    "of the queries, in the order in which they appear, laid over rows": lambda qid: [
        np.count_nonzero(qid == name) for name in dict.fromkeys(qid)
    ],
    "of the queries, in the order of their ids, laid over rows": lambda qid: np.unique(qid, return_counts=True)[1],
    "every run of rows of one query taken as a query": lambda qid: np.diff(
        np.flatnonzero(np.r_[True, qid[1:] != qid[:-1], True])
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("cause", MISPLACED_SIZES)
def test_group_sizes_applied_to_rows_in_a_different_order_are_named(convention, cause):
    labels, scores, qid = shuffled_rows(convention, ties=True)
    value = ra.evaluate(labels, scores, convention, group_sizes=MISPLACED_SIZES[cause](qid)).value
    assert cause in reason_for(labels, scores, convention, value, qid=qid)


@pytest.mark.parametrize("column", ["labels", "scores"])
def test_one_column_sorted_by_query_beside_an_unsorted_one_is_named(column):
    labels, scores, qid = shuffled_rows("ranklib@5", ties=False)
    order = np.argsort(qid, kind="stable")
    columns = {"labels": labels, "scores": scores}
    columns[column] = columns[column][order]
    value = ra.evaluate(**columns, convention="ranklib@5", qid=qid).value
    assert f"of the {column} sorted by query" in reason_for(labels, scores, "ranklib@5", value, qid=qid)


@pytest.mark.parametrize("k", [None, 4])
@pytest.mark.parametrize("lowest_label", [0, 1])
def test_the_last_relevant_rank_taken_for_the_first_is_named(k, lowest_label):
    rng = np.random.default_rng(3)
    labels, scores, sizes = rng.integers(lowest_label, 2, 60), rng.normal(size=60), [6] * 10
    convention = ra.presets.catboost.mrr(k, use_weights=False)
    hits = [np.flatnonzero(labels[rows][np.argsort(-scores[rows])])[: k or 6] for rows in np.arange(60).reshape(10, 6)]
    last_ranks = [max((index + 1 for index in indexes if index < (k or 6)), default=math.inf) for indexes in hits]
    reason = reason_for(labels, scores, convention, np.mean([1 / rank for rank in last_ranks]), group_sizes=sizes)
    assert "the last relevant row taken for the first" in reason


def test_the_reason_explains_that_a_query_with_nothing_relevant_may_give_nan():
    labels, scores, sizes = [1, 0, 0, 0, 0, 1, 2, 0, 0, 0], np.arange(10.0), [2, 3, 2, 3]
    values = next(iter(ra.Evaluator(labels, ["yahoo@3"], group_sizes=sizes).per_query(scores).values()))
    values[1] = math.nan
    reason = reason_for(labels, scores, "yahoo@3", np.nanmean(values), group_sizes=sizes)
    assert "without query 1, where nothing is to be found: its value is 0/0, a NaN, to many programs" in reason


def test_details_show_the_larger_weight_of_a_query_in_a_mean_of_fewer_queries():
    labels, scores, sizes = [0, 1, 0, 0, 0, 1], [2.0, 1, 2, 1, 2, 1], [2, 2, 2]  # NDCG 1 / log2(3), 0 / 0, 1 / log2(3)
    value = ra.evaluate(labels, scores, ra.presets.ranklib(2).replace(empty="skip"), group_sizes=sizes).value
    row = check_value(labels, scores, "ranklib@2", value=value, group_sizes=sizes).rows[0]
    assert row.details()[-3:] == [
        "the queries that contribute most:",
        "  query 0: 0.63093 in both, with 0.167 more of the mean than in ours: contributes +0.105",
        "  query 2: 0.63093 in both, with 0.167 more of the mean than in ours: contributes +0.105",
    ]


# Causes of programs that evaluate retrieval.


class Retrieval:
    """Thirty queries of 4 to 9 rows with grades; every third query is also a document, a relevant one."""

    rng = np.random.default_rng(5)
    sizes = rng.integers(4, 10, 30)
    qid = np.repeat([f"q{number}" for number in range(30)], sizes)
    labels = rng.integers(0, 4, qid.size) * (rng.random(qid.size) < 0.7) * 1.0
    scores = rng.normal(size=qid.size) + labels
    docid = np.array([f"d{row}" for row in range(qid.size)])
    own = np.cumsum(sizes)[::3] - 2  # a row of each third query
    docid[own], labels[own] = qid[own], 2

    @classmethod
    def reason(cls, convention, value):
        return reason_for(cls.labels, cls.scores, convention, value, qid=cls.qid, docid=cls.docid)

    @classmethod
    def ranked_labels(cls):
        """Return the labels of each query by rank."""
        queries = [cls.qid == f"q{number}" for number in range(30)]
        return [cls.labels[rows][np.argsort(-cls.scores[rows])] for rows in queries]


def hits_over_the_most_hits(k):
    queries = [labels > 0 for labels in Retrieval.ranked_labels()]
    return sum(query[:k].sum() for query in queries) / sum(min(k, query.sum()) for query in queries)


NDCG_3, P_5 = "sklearn@3", ra.presets.trec_eval_9.P(5).replace(ties="input")
RETRIEVAL_CAUSES = {
    "the hits of all queries divided by the sum of min(k, R)": (P_5, lambda: hits_over_the_most_hits(5)),
    "the value of the rows in the order given, the scores ignored": (
        NDCG_3, lambda: ra.evaluate(Retrieval.labels, -np.arange(Retrieval.qid.size), NDCG_3, qid=Retrieval.qid).value,
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("cause", RETRIEVAL_CAUSES)
def test_a_cause_of_a_retrieval_program_is_named_for_its_number_only(cause):
    convention, compute = RETRIEVAL_CAUSES[cause]
    for number, named in ((compute(), True), (f"{compute():.5f}", True), (f"{compute() + 3e-5:.5f}", False)):
        reason = Retrieval.reason(convention, number)
        assert [other for other in RETRIEVAL_CAUSES if other in reason] == [cause] * named


def test_a_docid_that_is_another_querys_id_is_no_cause():
    docid = Retrieval.docid.copy()
    docid[Retrieval.own] = [f"q{number + 1}" for number in range(0, 30, 3)]
    columns = {"qid": Retrieval.qid, "docid": docid}
    own = np.isin(np.arange(docid.size), Retrieval.own)
    value = ra.evaluate(Retrieval.labels, Retrieval.scores, "pytrec_eval@10", retrieved=~own, **columns).value
    assert "BEIR" not in reason_for(Retrieval.labels, Retrieval.scores, "pytrec_eval@10", value, **columns)


def test_an_ndcg_above_1_is_explained():
    # By rank, labels 5, 4, 3 under jk2: (5 + 4 + 3 / log2(3)) / (5 + 4) = 1.2103
    cause = "the value with the DCG of all ranks over the ideal DCG cut at k=2"
    assert cause in reason_for([5, 4, 3], [3, 2, 1], "lenskit@2", (9 + 3 / math.log2(3)) / 9, group_sizes=[3])
    assert f"{cause}, under discount='jk2'" in reason_for([5, 4, 3], [3, 2, 1], "sklearn@2", "1.2103", group_sizes=[3])


# Measures that take few values.


def coarse_data(seed, convention):
    """Return labels, scores of two unrelated models, and the query ids of 50 queries."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((50, 10))
    for row in labels:
        row[rng.choice(10, 1 if "recall" in convention else 3, replace=False)] = 1
    models = (rng.normal(size=500) + labels.ravel() * rng.uniform(0, 1.5) for _ in range(2))
    return labels.ravel(), *models, np.repeat(np.arange(50), 10)


COARSE = ["trec_eval_9.recall@1+ties=input", "trec_eval_9.P@5+ties=input", "ranx.hit_rate@5", "textbook@1"]


@pytest.mark.long
@pytest.mark.parametrize("convention", COARSE)
@pytest.mark.parametrize("decimals", [None, 4])
def test_the_number_of_an_unrelated_model_has_no_certain_cause_if_the_measure_takes_few_values(convention, decimals):
    certain = 0
    for seed in range(examples(8)):
        labels, scores, other, qid = coarse_data(seed, convention)
        value = ra.evaluate(labels, other, convention, qid=qid).value
        printed = value if decimals is None else f"{value:.{decimals}f}"
        [row] = check_value(labels, scores, convention, value=printed, qid=qid).rows
        certain += "it is" in row.reason and "perhaps by chance" not in row.reason
    assert certain <= 1


def test_recall_of_doubled_rows_has_no_certain_false_cause():
    labels, scores, _, qid = coarse_data(3, "recall")
    value = ra.evaluate(*(np.repeat(column, 2) for column in (labels, scores)), COARSE[0], qid=np.repeat(qid, 2)).value
    assert value == ra.evaluate(labels, scores, COARSE[0], qid=qid).value / 2
    reason = reason_for(labels, scores, COARSE[0], value, qid=qid)
    assert reason.startswith("Looking for the cause: perhaps by chance, as ")
    assert "it is the value with every row twice" in reason


def test_a_number_that_no_ranking_gives_is_no_chance():
    labels, scores, _, qid = coarse_data(3, "recall")
    kept = qid != 7  # 49 queries: a multiple of 1/49, none of 1/50
    value = ra.evaluate(labels[kept], scores[kept], COARSE[0], qid=qid[kept]).value
    assert reason_for(labels, scores, COARSE[0], value, qid=qid).startswith(
        "Looking for the cause: it is the value wit"
    )


# Scores of rows that were not retrieved.


def test_scores_of_rows_that_were_not_retrieved_may_be_nan():
    retrieved = np.arange(Few.qid.size) % 4 != 1
    scores, columns = np.where(retrieved, Few.scores, np.nan), {"retrieved": retrieved, "group_sizes": Few.sizes}
    convention = ra.presets.trec_eval_9(3).replace(ties="input")
    value = ra.evaluate(Few.labels, scores, convention, **columns).value
    assert check_value(Few.labels, scores, convention, value=value, **columns).ok
    filled = np.where(retrieved, Few.scores, 0)
    number = ra.evaluate(Few.labels, filled, convention, group_sizes=Few.sizes).value
    assert "not retrieved, ranked by a score of 0" in reason_for(Few.labels, scores, convention, number, **columns)
    with pytest.raises(ra.InputError, match=r"scores\[1\] is nan"):
        check_value(Few.labels, scores, convention, value=value, group_sizes=Few.sizes)
