"""Rivals of a convention: what programs compute instead, for `check_value`, `identify`, `probe` and `conformance`.

A rival is a text, a convention, and at most one change of the data, of the queries' values or of their mean.
`other_conventions` changes nothing else, `changed_columns` the data, `changed_values` the queries' values, all at once
for any number of queries, and `changed_means` what is made of the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.gains import discounts_of, is_relevant
from rankadapters.core.binding.plans import Plan
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, RankAdaptersError
from rankadapters.core.measures import AP, DCG, ERR, MEASURES, NDCG, RR, Precision, Recall
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.passes import Member, bind_usable, numerators
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.statistics.grid import replaced
from rankadapters.statistics.inert import ROUNDING, Terms, terms_in, terms_of, with_counted_weights

DECIMALS = range(1, 7)  # numbers of decimals to which a file may have rounded scores

DIGITS = 6  # significant digits of scores in many files
MOST_TEXTS = 20_000  # scores that are written as texts; more take too long
BELOW_0 = -2e-38  # in float32 too

FEW_DECIMALS = 8  # a number with at most this many decimals was probably rounded

# What programs make of the value: a factor and an offset.
PERCENTAGE, NEGATED, LOSS = (100.0, 0.0), (-1.0, 0.0), (-1.0, 1.0)
CHANGED_NUMBERS = {"ours as a percentage": PERCENTAGE, "ours with the other sign": NEGATED, "1 - ours": LOSS}
FACTORS = {"twice ours": (2.0, 0.0), "half of ours": (0.5, 0.0)}  # `probe` finds any factor

# What a relevant row may count at a rank, in proportion to rank 1: the discounts of conventions, and others.
USUAL_DISCOUNTS: dict[str, Callable[[int], float]] = {
    "1/log2(rank + 1)": lambda rank: 1 / math.log2(rank + 1),
    "1/rank": lambda rank: 1 / rank,
    "1": lambda _: 1.0,
    "1 at rank 1 and 1/log2(rank) from rank 2 on": lambda rank: 1 / math.log2(max(rank, 2)),
}
WRONG_DISCOUNTS: dict[str, Callable[[int], float]] = {
    "1/log2(rank + 2)": lambda rank: 1 / math.log2(rank + 2),
    "1/(rank + 1)": lambda rank: 1 / (rank + 1),
    "1/sqrt(rank)": lambda rank: 1 / math.sqrt(rank),
    "1/rank^2": lambda rank: 1 / rank**2,
    "1/log2(rank + 1)^2": lambda rank: 1 / math.log2(rank + 1) ** 2,
    "1 up to rank 2 and 1/ln(rank) from rank 3 on": lambda rank: 1 / max(1.0, math.log(rank)),
    "1 up to rank 9 and 1/log10(rank) from rank 10 on": lambda rank: 1 / max(1.0, math.log10(rank)),
}

BATCHES = (2, 4, 8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 500, 512, 1000, 1024)  # queries of a batch
# The mistakes with a formula that are also tried with another convention; more would match most numbers by chance.
COMMONEST = ("the value with the DCG of all ranks", "the value of the last relevant row")
MOST_GRADES = 16  # the highest label of a table of gains
LEAST_VALUE = 1e-5  # that a query has in a geometric mean, as in trec_eval
SUMS = {  # the words for the two sums of a ratio
    "ndcg": ("DCG", "ideal DCG"), "recall": ("hits", "relevant rows"), "r-precision": ("hits", "relevant rows"),
    "precision": ("hits", "divisors"), "ap": ("precisions at hits", "divisors"),
}  # fmt: skip


OTHER_FIELDS: dict[str, Any] = {  # of a convention of another measure, where its own measure has no such field
    "k": None, "gain": "linear", "discount": "log2", "ideal": "cutoff", "divisor": "k", "ties": "input",
    "precision": "float64", "retrieve": "all", "short": "pad", "empty": 0.0, "missing": "zero", "unjudged": "zero",
    "average": "uniform", "pool": "queries",
}  # fmt: skip
OTHER_MEASURES: dict[str, list[dict[str, Any]]] = {  # and what to try of each
    "ndcg": [{"gain": "linear"}, {"gain": "exp2"}], "dcg": [{}], "ap": [{"divisor": "relevant"}, {"divisor": "cutoff"}],
    "rr": [{}], "precision": [{"divisor": "k"}, {"divisor": "relevant"}], "recall": [{}], "success": [{}],
    "r-precision": [{}],
}  # fmt: skip
OTHER_NAMES = {  # what to say of a measure and its divisor or gain
    ("precision", "relevant"): " with the divisor min(k, R), or capped recall", ("success", ""): ", or hit rate",
    ("ap", "cutoff"): " with the divisor min(k, R)", ("ndcg", "exp2"): " with the gain 2^label - 1",
}  # fmt: skip


class OurNumber(NamedTuple):
    """Our value for scores under a convention, and the term of each query in this value.

    >>> from rankadapters import presets
    >>> our_number = OurNumber.of(Queries([0, 1], group_sizes=[2]), np.array([1.0, 2.0]), presets.yahoo(2))
    >>> our_number.value, our_number.terms.shares.tolist()
    (1.0, [1.0])
    """

    queries: Queries
    scores: Array
    convention: Convention
    value: float
    terms: Terms

    @classmethod
    def of(cls, queries: Queries, scores: Array, convention: Convention, *, ignore_weights: bool = False) -> Self:
        """Evaluate the scores. Weights that the convention does not use are an error unless `ignore_weights`."""
        queries = with_counted_weights(queries, convention) if ignore_weights else queries
        return cls.under(convention, queries, scores, Evaluator.of(queries, [convention]).measure(scores))

    @classmethod
    def under(cls, convention: Convention, queries: Queries, scores: Array, measured: Measured) -> Self:
        """Return the number under a convention of an Evaluator that has evaluated the scores."""
        return cls(queries, scores, convention, measured.scores[convention].value, terms_in(measured, convention))

    @property
    def parts(self) -> Floats:
        """Each query's summand in the numerator of the value."""
        parts: Floats = self.terms.shares * self.terms.divisors.sum()
        return parts

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each query."""
        return np.diff(self.queries.indptr)

    @property
    def member(self) -> Member:
        """The convention, bound to the queries; an error if it has no value."""
        return next(iter(bind_usable(with_counted_weights(self.queries, self.convention), [self.convention])))

    def mean(self, values: Floats) -> float:
        """Return the mean of other values of the queries; NaN for a value without a number."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            parts = np.where(self.terms.weights > 0, values * self.terms.weights, 0.0)
            return float(parts.sum() / self.terms.divisors.sum())

    def changed(self, **changes: Any) -> float:
        """Return the value after replacing the queries, the scores or the convention; NaN if it is undefined."""
        terms = self.changed_terms(**changes)
        return np.nan if terms is None else float(terms.shares.sum())

    def changed_terms(self, **changes: Any) -> Terms | None:
        """Return the terms after replacing the queries, the scores or the convention; None if they are undefined."""
        changed = self._replace(**changes)
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # as when labels and scores are swapped
                return terms_of(changed.queries, changed.scores, changed.convention)
        except RankAdaptersError:
            return None


def without_query(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the value without each query in turn; NaN where no other query counts."""
    divisors, parts = base.terms.divisors, base.parts
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (parts.sum() - parts) / (divisors.sum() - divisors)
    remark = ", where nothing is to be found: its value is 0/0, a NaN, to many programs"
    queries = zip(base.queries.query_ids, _nothing_to_find(base), np.where(divisors > 0, means, np.nan), strict=True)
    for name, empty, mean in queries:
        yield f"the value without query {name}{remark if empty else ''}", mean


def different_divisors(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the sum of the queries' values by whole numbers, as if more or fewer queries had a value."""
    total, divisor = base.parts.sum(), f"{base.terms.divisors.sum():g}"
    for n in range(1, 2 * max(base.queries.n_queries, 2) + 1):
        yield f"the sum of the queries' values divided by {n} instead of {divisor}", total / n


def _nothing_to_find(base: OurNumber) -> NDArray[np.bool_]:
    skip = replaced(base.convention, {"empty": "skip"})
    skipping = None if skip is None else base.changed_terms(convention=skip)
    if skipping is None:
        return np.zeros(base.queries.n_queries, np.bool_)
    return np.isnan(skipping.values) & ~np.isnan(base.terms.values)


ColumnChanges = Iterator[tuple[str, Queries, Array]]  # a mistake in words, and the queries and scores that it makes


def changed_columns(queries: Queries, scores: Array) -> ColumnChanges:
    """Yield the mistakes with the data: with scores, labels, groups, and rows that are left out or repeated."""
    yield from _rows(queries, scores)
    yield "the value of the scores negated", queries, -scores
    yield "the value of the rows in the order given, the scores ignored", queries, -np.arange(float(scores.size))
    yield "the value of the scores in float16", queries, _in_float16(scores)
    yield "the value of the sigmoid of the scores, whose digits end near 1", queries, _sigmoid(scores)
    for decimals in DECIMALS:
        yield f"the value of the scores rounded to {decimals} decimals", queries, np.round(scores, decimals)
    yield f"the value of the scores rounded to {DIGITS} digits", queries, _to_digits(scores)
    if scores.size <= MOST_TEXTS:
        texts = {f" of {DIGITS} digits": [f"{score:.{DIGITS}g}" for score in scores.tolist()]}
        for kind, written in (texts | {"": [str(score) for score in scores.tolist()]}).items():
            ranks = np.unique(written, return_inverse=True)[1].astype(np.float64)  # the text "10" is below "9"
            yield f"the value of the scores compared as texts{kind}", queries, ranks
    if (negative_zero := (scores == 0) & np.signbit(scores)).any():
        text = "the value with a score of -0.0 below one of 0.0, as in an order of their bits"
        yield text, queries, np.where(negative_zero, BELOW_0, scores)
    for text, order in (("descending", _order(queries, -scores)), ("ascending", _order(queries, scores))):
        yield f"the value of one argsort taken for the ranks, {text}", queries, -order
    if queries.retrieved is None and queries.judged is None:
        yield from _groups(queries, scores)
        yield from _labels(queries, scores)


def _labels(queries: Queries, scores: Array) -> ColumnChanges:
    """Yield labels or scores in a different order of rows, labels swapped with scores, and labels as 0 and 1."""
    labels, rows = queries.labels, np.arange(queries.n_docs)
    reversed_rows = np.empty_like(rows)
    reversed_rows[queries.rows] = np.lexsort((-rows, queries.query_of_row))
    orders = {
        "in reverse order": rows[::-1],
        "of each query in reverse order": reversed_rows,
        "grouped by query": queries.rows,
        "sorted by query": _by_id(queries),
    }
    for text, order in orders.items():
        if order is not None and not np.array_equal(order, rows):
            yield f"the value of the labels {text}, the scores as they are", queries.with_labels(labels[order]), scores
            if text.endswith("by query"):
                yield f"the value of the scores {text}, the labels as they are", queries, scores[order]
    yield "the value of labels and scores swapped", queries.with_labels(scores), labels
    yield "the value of the labels as 0 and 1", queries.with_labels((labels > 0) * 1.0), scores


def _groups(queries: Queries, scores: Array) -> ColumnChanges:
    """Yield the rows grouped into wrong queries, such as by group sizes in a different order."""
    sizes, of_row = np.diff(queries.indptr), queries.query_of_row
    by_size, ids = np.argsort(-sizes, kind="stable"), _by_id(queries)
    sizes_by_order = {
        "in the order in which they appear": sizes,
        "from the largest": sizes[by_size],
        "in the order of their ids": None if ids is None else _runs(of_row[ids]),
    }
    weights = queries.query_weight
    for order, variant_sizes in sizes_by_order.items():
        if variant_sizes is not None and not (queries.order is None and np.array_equal(variant_sizes, sizes)):
            text = f"the value of the sizes of the queries, {order}, laid over rows that are not in that order"
            yield text, _regrouped(queries, variant_sizes, weights), scores
    if queries.order is not None:
        runs = _runs(of_row)
        of_runs = None if weights is None else weights[of_row[np.cumsum(runs) - runs]]
        text = "the value of every run of rows of one query taken as a query"
        yield text, _regrouped(queries, runs, of_runs), scores
    if queries.n_queries > 1:
        whole = _regrouped(queries, np.array([queries.n_docs]), None)
        yield "the value with all rows taken as one query", whole, scores
    if queries.n_docs > queries.n_queries:
        alone = _regrouped(queries, np.ones(queries.n_docs, np.int64), None if weights is None else weights[of_row])
        yield "the value with every row taken for a query of its own", alone, scores


def _rows(queries: Queries, scores: Array) -> ColumnChanges:
    """Yield rows that are retrieved by mistake, not retrieved by mistake, or repeated."""
    rows = np.arange(queries.n_docs)
    retrieved = np.ones(rows.size, np.bool_) if queries.retrieved is None else queries.retrieved
    if not retrieved.all():
        filled = np.where(retrieved, scores, 0).astype(scores.dtype)
        text = "the value of the rows that were not retrieved, ranked by a score of 0"
        yield text, _of_rows(queries, rows, retrieved=None), filled
    own = queries.own_docid
    if own is not None and (own & retrieved).any():
        kept = rows if queries.judged is None else rows[~own | queries.judged]
        if np.unique(queries.query_of_row[kept]).size == queries.n_queries:
            text = "the value without the retrieved rows whose docid is their query's id, as BEIR evaluates"
            yield text, _of_rows(queries, kept, retrieved=(retrieved & ~own)[kept]), scores[kept]
    yield "the value with every row twice", _of_rows(queries, np.repeat(rows, 2)), np.repeat(scores, 2)
    yield _without_last(queries, scores)


def _without_last(queries: Queries, scores: Array) -> tuple[str, Queries, Array]:
    """Leave out the last row of each query; the only row of a query stays, but is not relevant."""
    labels, last = queries.labels.copy(), queries.rows[queries.indptr[1:] - 1]
    labels[last] = min(labels.min(), 0.0)
    kept = np.delete(np.arange(queries.n_docs), last[np.diff(queries.indptr) > 1])
    return "the value without the last row of each query", _of_rows(queries.with_labels(labels), kept), scores[kept]


def _of_rows(queries: Queries, rows: NDArray[np.intp], **columns: Any) -> Queries:
    """Return the queries with these rows only, some of them perhaps repeated, and some columns replaced."""
    for name in ("row_weight", "retrieved", "judged"):
        column = getattr(queries, name)
        columns.setdefault(name, None if column is None else column[rows])
    part = Queries(
        queries.labels[rows], qid=queries.query_of_row[rows], query_weight=queries.query_weight, **columns
    )  # fmt: skip
    if queries.docid_rank is None:
        return part
    ranks = np.empty(rows.size, np.int64)  # the ranks of the copies of a row follow each other
    ranks[np.argsort(queries.docid_rank[rows], kind="stable")] = np.arange(rows.size)
    return part.with_columns(docid_rank=ranks, own_docid=None)


def _regrouped(queries: Queries, sizes: NDArray[Any], query_weight: Floats | None) -> Queries:
    """Return the rows, in the caller's order, as queries of the given sizes."""
    part = Queries(queries.labels, group_sizes=sizes, query_weight=query_weight, row_weight=queries.row_weight)
    return part if queries.docid_rank is None else part.with_columns(docid_rank=queries.docid_rank, own_docid=None)


def _in_float16(scores: Array) -> Floats:
    with np.errstate(over="ignore"):
        return np.nan_to_num(scores.astype(np.float16).astype(np.float64))


def _sigmoid(scores: Array) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-scores.astype(np.float64))))


def _to_digits(scores: Array) -> Floats:
    """Return the scores rounded to significant digits, as %g in C and streams in C++ write them."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(scores.astype(np.float64)))) - (DIGITS - 1))
        return np.where((unit > 0) & np.isfinite(unit), np.round(scores / unit) * unit, scores)


def _order(queries: Queries, keys: Array) -> Floats:
    """Return one argsort for each query, in the caller's order of rows: the row, from 0, that has each rank."""
    rows, starts, sizes = queries.rows, queries.indptr[:-1], np.diff(queries.indptr)
    query = np.repeat(np.arange(sizes.size), sizes)
    order = np.empty(rows.size)
    order[rows] = np.lexsort((keys[rows], query)) - np.repeat(starts, sizes)
    return order


def _by_id(queries: Queries) -> NDArray[np.intp] | None:
    """Return the rows sorted by query id; None if the ids cannot be sorted."""
    try:
        _, ranks = np.unique(queries.query_ids, return_inverse=True)
    except TypeError:
        return None
    return np.argsort(ranks[queries.query_of_row], kind="stable")


def _runs(of_row: NDArray[Any]) -> NDArray[np.int64]:
    """Return the lengths of the runs of equal values."""
    return np.diff(np.flatnonzero(np.diff(of_row, prepend=-1)), append=of_row.size)


def other_conventions(convention: Convention, labels: Floats) -> Iterator[tuple[str, Convention]]:
    """Yield conventions that are often taken for this one: other measures at this cutoff, and gains of 2^label."""
    graded = not (labels % 1).any() and labels.min() >= 0 and labels.max() <= MOST_GRADES
    if graded and getattr(convention, "gain", "") == "exp2":
        table = "_".join(["table", *(str(2**label) for label in range(int(labels.max()) + 1))])
        yield "the value with the gains 2^label, without - 1", convention.replace(gain=table)
    declared = convention.to_dict()
    relevant = declared.get("relevant", "above_0")
    if declared.get("gain", "").startswith(("from_", "above_")):
        relevant = declared["gain"]
    for name in [name for name in OTHER_MEASURES if name != convention.measure]:
        for variant in OTHER_MEASURES[name]:
            fields = {**OTHER_FIELDS, "relevant": relevant, **declared, **variant}
            # Most programs of these measures count queries with nothing relevant as 0, and rank all rows.
            changes: tuple[dict[str, Any], ...] = ({}, {"empty": 0.0}, {"empty": 0.0, "retrieve": "all"})
            variants = (_measure_with(MEASURES[name], {**fields, **change}) for change in changes)
            for other in dict.fromkeys(filter(None, variants)):
                at = "" if (k := getattr(other, "k", None)) is None else f"@{k}"
                detail = OTHER_NAMES.get((name, variant.get("divisor", variant.get("gain", ""))), "")
                yield f"the value of {name}{at}{detail}, another measure", other


def _measure_with(measure: type[Convention], fields: Mapping[str, Any]) -> Convention | None:
    """Return a convention of a measure with those of the fields that it has; None if they contradict each other."""
    own = {name: value for name, value in fields.items() if name in measure.fields()}
    for average in (own["average"], "query", "uniform"):
        with suppress(ConventionError):
            return measure(**{**own, "average": average})
    return None


def changed_formulas(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the mistakes with the queries' values that change our number."""
    value = float(base.terms.shares.sum())
    for text, values in changed_values(base):
        changed = base.mean(values)
        if not math.isclose(changed, value, rel_tol=ROUNDING):
            yield text, changed


def changed_values(base: OurNumber) -> Iterator[tuple[str, Floats]]:
    """Yield the mistakes with the formula of a measure, each with the value of every query, NaN if it is skipped."""
    convention, queries = base.convention, base.queries
    if not convention.is_sum or base.terms.values.size != queries.n_queries:
        return
    member = base.member
    if isinstance(convention, RR):
        last = queries.with_labels(_last_relevant(queries, base.scores, convention))
        if (terms := base.changed_terms(queries=last)) is not None:
            yield "the value of the last relevant row taken for the first", terms.values
        if convention.count == "first":
            later = base.terms.values / (1 + base.terms.values)
            yield "the value where the first relevant row counts 1/(rank + 1)", later
    if isinstance(convention, ERR) and (values := _by_highest_label(base)) is not None:
        yield "the value with gains divided by 2^(the query's highest label)", values
    if queries.retrieved is None and queries.judged is None and member.plan.k is not None:
        plans = dict(_changed_plans(convention, member.plan, int(base.sizes.max())))
        members = [replace(member, plan=plan) for plan in plans.values()]
        yield from zip(plans, numerators(members, base.scores, as_n_threads(None)), strict=True)
        if (twice := _ranked_twice(base)) is not None:
            yield "the value with every row twice in the ranking, but once among the judgments", twice
    if isinstance(convention, Precision | Recall):
        text = "the value with every query's share rounded down to a whole number, as // does"
        yield text, np.floor(base.terms.values)


Plans = Iterator[tuple[str, Plan]]
IdealDCG = Callable[[Floats], Floats]


def _changed_plans(convention: Convention, plan: Plan, longest: int) -> Plans:
    """Yield plans with other discounts, cutoffs or divisors."""
    if isinstance(convention, DCG):
        yield from _changed_discounts(convention, plan, _ideals(plan))
    if isinstance(convention, NDCG) and convention.ideal == "cutoff":
        ideal_dcg = _ideals(plan)
        yield from _changed_discounts(convention, plan, ideal_dcg)
        yield from _changed_ideals(convention, plan, longest, ideal_dcg)
    if isinstance(convention, AP | Recall) and "divisor" in plan.by_query:
        yield from _changed_divisors(convention, plan)


def _changed_divisors(convention: AP | Recall, plan: Plan) -> Plans:
    k, divisor = convention.k, getattr(convention, "divisor", "relevant")
    if divisor == "found":
        return
    relevance = np.asarray(next(iter(plan.columns.values())), np.float64)
    twice = 2 * np.add.reduceat(relevance, plan.rows.indptr[:-1])
    twice = np.where(plan.empty, 1.0, twice if divisor == "relevant" or k is None else twice.clip(max=k))
    yield "the value with every relevant row counted twice among the judgments", _divided_by(plan, twice)
    if isinstance(convention, AP) and k is not None:
        text = f"the value with the sum of the precisions always divided by k={k}"
        yield text, _divided_by(plan, np.full(plan.empty.size, float(k)))


def _divided_by(plan: Plan, divisor: Floats) -> Plan:
    [name] = plan.by_query
    return replace(plan, by_query={name: divisor})


def _changed_discounts(convention: NDCG | DCG, plan: Plan, ideal_dcg: IdealDCG) -> Plans:
    for text, discount in WRONG_DISCOUNTS.items():
        n_ranks = plan.by_rank["discounts"].size
        discounts = np.fromiter(map(discount, range(1, n_ranks + 1)), np.float64, n_ranks)
        changed = _divided_by(plan, ideal_dcg(discounts)) if isinstance(convention, NDCG) else plan
        yield f"the value with the discount {text}", replace(changed, by_rank={"discounts": discounts})


def _changed_ideals(convention: NDCG, plan: Plan, longest: int, ideal_dcg: IdealDCG) -> Plans:
    """Yield NDCG whose ideal list is cut elsewhere than its ranking, or has every row twice."""
    discounts, k = discounts_of(convention.discount, longest + 1), convention.k
    n_ranks = plan.by_rank["discounts"].size
    pairs = (
        np.append(discounts[:n_ranks], 0.0)[: n_ranks + n_ranks % 2].reshape(-1, 2).sum(axis=1)
    )  # of a row's two ranks
    yield "the value with every judgment twice in the ideal list", _divided_by(plan, ideal_dcg(pairs))
    if k is None:
        return
    text = f"the value with the DCG of all ranks over the ideal DCG cut at k={k}"
    yield text, replace(plan, k=longest, by_rank={"discounts": discounts[:longest]})
    for cut in (k - 1, k + 1):
        if cut:
            yield f"the value with the ideal DCG cut at {cut}", _divided_by(plan, ideal_dcg(discounts[:cut]))


def _ideals(plan: Plan) -> IdealDCG:
    """Return a function of discounts: the DCG of each query's ideal list, 1 where it is not positive."""
    gains, starts, sizes = plan.columns["gains"], plan.rows.indptr[:-1], np.diff(plan.rows.indptr)
    ideal = gains[np.lexsort((-gains, np.repeat(np.arange(sizes.size), sizes)))]
    rank = np.arange(gains.size) - np.repeat(starts, sizes)

    def ideal_dcg(discounts: Floats) -> Floats:
        padded = np.zeros(max(discounts.size, sizes.max()))
        padded[: discounts.size] = discounts
        sums = np.add.reduceat(ideal * padded[rank], starts)
        return np.where(sums <= 0, 1.0, sums)

    return ideal_dcg


def _ranked_twice(base: OurNumber) -> Floats | None:
    """Return the queries' values if the ranking has every row twice, but the divisor counts it once."""
    if not isinstance(base.convention, NDCG | AP | Recall):
        return None
    rows = np.repeat(np.arange(base.queries.n_docs), 2)
    doubled = base._replace(queries=_of_rows(base.queries, rows), scores=np.repeat(base.scores, 2))
    with suppress(RankAdaptersError):
        divisors, of_doubled = (_divisors(number.member) for number in (base, doubled))
        terms = doubled.changed_terms()
        if terms is not None and divisors is not None and of_doubled is not None:
            return terms.values * np.divide(of_doubled, divisors, out=np.ones_like(divisors), where=divisors > 0)
    return None


def _divisors(member: Member) -> Floats | None:
    """Return what the value of each query is divided by, 0 where nothing is to be found; None if nothing divides it."""
    divisors = member.plan.by_query.get("ideal", member.plan.by_query.get("divisor"))
    return None if divisors is None else np.where(member.plan.empty, 0.0, divisors)


def _by_highest_label(base: OurNumber) -> Floats | None:
    """Return the values of ERR whose scale is 2 to the power of each query's highest label."""
    highest = np.maximum.reduceat(base.queries.labels[base.queries.rows], base.queries.indptr[:-1])
    values = base.terms.values.copy()
    for label in np.unique(highest[highest > 0]):
        terms = base.changed_terms(convention=base.convention.replace(scale=2.0**label))
        if terms is None:
            return None
        values[highest == label] = terms.values[highest == label]
    return values


def _last_relevant(queries: Queries, scores: Array, convention: RR) -> Floats:
    """Return labels with which only the last relevant row of each query stays relevant."""
    rows = np.lexsort((np.arange(queries.n_docs), -scores, queries.query_of_row))
    ranks = np.arange(rows.size) - np.repeat(queries.indptr[:-1], np.diff(queries.indptr))
    relevant = is_relevant(queries.labels, convention.relevant)
    top = rows[relevant[rows] & (ranks < (convention.k or rows.size))]
    last = np.full(queries.n_queries, -1)
    last[queries.query_of_row[top]] = top  # later assignments win, so this is the last of each query
    labels = np.where(relevant, queries.labels.min() - 1, queries.labels)
    labels[last[last >= 0]] = queries.labels[last[last >= 0]]
    return labels


def changed_means(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the mistakes with the mean: other summaries, weights, and queries that are left out or counted as 0."""
    parts, divisors, value = base.parts, base.terms.divisors, float(base.terms.shares.sum())
    scored = divisors > 0
    if not scored.any():  # of a pooled measure without pairs
        return
    values = base.terms.values[scored]
    yield "the median of the queries' values, not their mean", float(np.median(values))
    yield "the sum of the queries' values, not their mean", float(parts.sum())
    yield "the sum of the queries' values by the number of rows", float(parts.sum()) / base.queries.n_docs
    yield "ours with every query's value divided by log e of 2, as other logarithms do", value / math.log(2)
    yield "ours with every query's value multiplied by log e of 2, as other logarithms do", value * math.log(2)
    yield from _geometric_means(values)
    yield from _ratios_of_sums(base)
    for size in [size for size in BATCHES if size < divisors.size and divisors.size % size]:
        sums, masses = (np.add.reduceat(column, np.arange(0, divisors.size, size)) for column in (parts, divisors))
        if (masses > 0).any():
            batches = float(np.mean(sums[masses > 0] / masses[masses > 0]))
            yield f"the mean of the means of batches of {size} queries", batches
    if 0 < (zeros := values == 0).sum() < zeros.size:
        yield (
            "the value without the queries of value 0",
            float(parts[scored][~zeros].sum() / divisors[scored][~zeros].sum()),
        )
    for text, rule in _omission_rules(base).items():
        divisor = np.where(divisors[~rule].sum() > 0, divisors[~rule].sum(), np.nan)
        yield f"the value without {text}", float(parts[~rule].sum() / divisor)
        yield f"the value with 0 for {text}", float(parts[~rule].sum() / divisors.sum())
    yield from _weights(base)


def _geometric_means(values: Floats) -> Iterator[tuple[str, float]]:
    """Yield geometric means of the queries' values, if they are positive or 0."""
    if values.size > 1 and values.min() >= 0:
        with np.errstate(divide="ignore"):
            yield "the geometric mean of the queries' values", float(np.exp(np.log(values).mean()))
        floored = float(np.exp(np.log(np.maximum(values, LEAST_VALUE)).mean()))
        yield f"the geometric mean of the queries' values, those below {LEAST_VALUE:g} counting as that", floored
        if 0 < (values > 0).sum() < values.size:
            positive = float(np.exp(np.log(values[values > 0]).mean()))
            yield "the geometric mean of the queries' values above 0", positive


def _ratios_of_sums(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the sum of the queries' numerators, divided by the sum of their divisors."""
    measure = base.convention.measure
    if measure not in SUMS or base.terms.values.size != base.queries.n_queries:
        return
    with suppress(RankAdaptersError, StopIteration):
        divisors = _divisors(base.member)
        if divisors is not None and divisors.sum() > 0:
            dividends = np.where(divisors > 0, np.nan_to_num(base.terms.values) * divisors, 0.0)
            numerator, divisor = SUMS[measure]
            text = f"the ratio of two sums over the queries, of the {numerator} and of the {divisor}"
            yield text, float(dividends.sum() / divisors.sum())
    if (
        isinstance(base.convention, Precision)
        and base.convention.divisor == "k"
        and base.convention.relevant != "label"
    ):
        capped = base.convention.replace(divisor="relevant", pool="sums")
        yield "the hits of all queries divided by the sum of min(k, R)", base.changed(convention=capped)


def _omission_rules(base: OurNumber) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the queries that programs often omit silently: with one row, equal labels or equal scores."""
    rows, starts = base.queries.rows, base.queries.indptr[:-1]
    rules = {"one-document queries": base.sizes == 1}
    if "empty" not in base.convention.fields():
        rules["queries with nothing relevant"] = np.maximum.reduceat(base.queries.labels[rows], starts) <= 0
    for name, column in {"labels": base.queries.labels[rows], "scores": base.scores[rows]}.items():
        lowest, highest = np.minimum.reduceat(column, starts), np.maximum.reduceat(column, starts)
        rules[f"queries whose {name} are all equal"] = lowest == highest
    distinct = {rule.tobytes(): (text, rule) for text, rule in reversed(rules.items()) if 0 < rule.sum() < rule.size}
    return {f"the {rule.sum()} {text}": rule for text, rule in reversed(distinct.values())}


def _weights(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Weight the queries by number of rows, or ignore their weights."""
    convention = base.convention
    variants: dict[str, Floats | None] = {"every query weighed by its number of rows": base.sizes.astype(np.float64)}
    if base.queries.query_weight is not None and convention.weighting == "query_weight":
        variants["the query weights ignored"] = None
    else:
        convention = convention.replace(average="query")
    for text, query_weight in variants.items():
        queries = base.queries.with_weights(query_weight)
        yield f"the value with {text}", base.changed(queries=queries, convention=convention)
