"""Mistakes with which a program gets a different number than a convention, for `check_value`, `identify` and `probe`.

Every mistake is named in words and turns our number into another one. `changed_columns` need only the data;
`changed_formulas` and `changed_means` also need the convention and the queries' values, `base`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.gains import is_relevant
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.measures import NDCG, RR, Precision
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.evaluation.measured import Measured
from rankadapters.statistics.inert import ROUNDING, Terms, terms_in, terms_of, with_counted_weights

DECIMALS = range(1, 7)  # numbers of decimals to which a file may have rounded scores

FEW_DECIMALS = 8  # a number with at most this many decimals was probably rounded

# What programs make of the value: a factor and an offset.
PERCENTAGE, NEGATED, LOSS = (100.0, 0.0), (-1.0, 0.0), (-1.0, 1.0)
CHANGED_NUMBERS = {"ours as a percentage": PERCENTAGE, "ours with the other sign": NEGATED, "1 - ours": LOSS}


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


class Cause(NamedTuple):
    """An explanation of a number in words, and the convention that gives the number if it is not the declared one."""

    text: str
    convention: Convention | None = None


class Changes(NamedTuple):
    """Our value after each change, NaN if undefined, and a function that describes a change, given its index."""

    values: Floats
    describe: Callable[[int], Cause]

    @classmethod
    def of(cls, changes: Iterable[tuple[str, float] | tuple[str, float, Convention]]) -> Self:
        """Make changes from tuples (description, value) or (description, value, changed convention)."""
        listed = list(changes)
        values = np.array([change[1] for change in listed], np.float64)
        return cls(values, lambda index: Cause(f"it is {listed[index][0]}", *listed[index][2:]))


def different_columns(base: OurNumber) -> Changes:
    """Evaluate the convention on the columns as changed by each mistake in turn."""
    columns = changed_columns(base.queries, base.scores)
    values = ((text, base.changed(queries=queries, scores=scores)) for text, queries, scores in columns)
    return Changes.of([*changed_formulas(base), *values])


def different_means(base: OurNumber) -> Changes:
    """Summarize the queries' values differently, or weight them differently."""
    return Changes.of(changed_means(base))


def without_query(base: OurNumber) -> Changes:
    """Leave out each query in turn."""
    divisors, parts = base.terms.divisors, base.parts
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (parts.sum() - parts) / (divisors.sum() - divisors)
    remark = ", where nothing is to be found: its value is 0/0, a NaN, to many programs"
    queries = zip(base.queries.query_ids, _nothing_to_find(base), np.where(divisors > 0, means, np.nan), strict=True)
    return Changes.of(
        (f"the value without query {name}{remark if empty else ''}", mean) for name, empty, mean in queries
    )


def different_divisors(base: OurNumber) -> Changes:
    """Divide the sum of the queries' values by another whole number, as if more or fewer queries had a value."""
    total, divisor = base.parts.sum(), f"{base.terms.divisors.sum():g}"
    text = "the sum of the queries' values divided by {} instead of {}"
    return Changes.of((text.format(n, divisor), total / n) for n in range(1, 2 * max(base.queries.n_queries, 2) + 1))


def _nothing_to_find(base: OurNumber) -> NDArray[np.bool_]:
    try:
        skipping = terms_of(base.queries, base.scores, base.convention.replace(empty="skip"))
    except RankAdaptersError:
        return np.zeros(base.queries.n_queries, np.bool_)
    return np.isnan(skipping.values) & ~np.isnan(base.terms.values)


ColumnChanges = Iterator[tuple[str, Queries, Array]]  # a mistake in words, and the queries and scores that it makes


def changed_columns(queries: Queries, scores: Array) -> ColumnChanges:
    """Yield the mistakes with the data: with scores, labels, groups, and rows that are left out or repeated."""
    yield from _rows(queries, scores)
    yield "the value of the scores negated", queries, -scores
    yield "the value of the rows in the order given, the scores ignored", queries, -np.arange(float(scores.size))
    for decimals in DECIMALS:
        yield f"the value of the scores rounded to {decimals} decimals", queries, np.round(scores, decimals)
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


def changed_formulas(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Yield the mistakes with the formula of a measure that change the value."""
    value = float(base.terms.shares.sum())
    changes = _changed_formulas(base)
    yield from ((text, changed) for text, changed in changes if not math.isclose(changed, value, rel_tol=ROUNDING))


def _changed_formulas(base: OurNumber) -> Iterator[tuple[str, float]]:
    queries, convention, k = base.queries, base.convention, base.convention.get("k")
    everything_ranked = queries.retrieved is None and queries.judged is None
    if isinstance(convention, RR):
        last = queries.with_labels(_last_relevant(queries, base.scores, convention))
        yield "the value of the last relevant row taken for the first", base.changed(queries=last)
    if isinstance(convention, NDCG) and k is not None and convention.ideal == "cutoff" and everything_ranked:
        yield f"the value with the DCG of all ranks over the ideal DCG cut at k={k}", _uncut(base, convention)
    if isinstance(convention, Precision) and k is not None and convention.relevant != "label" and everything_ranked:
        count = convention.replace(divisor="one")
        hits, most = base.changed_terms(convention=count), base.changed_terms(convention=count, scores=queries.labels)
        if hits is not None and most is not None and most.values.sum():
            yield "the hits of all queries divided by the sum of min(k, R)", hits.values.sum() / most.values.sum()


def _uncut(base: OurNumber, convention: NDCG) -> float:
    """Return the value if DCG runs over all ranks and only the ideal list is cut."""
    everything = base.changed_terms(convention=convention.at(None))
    ideal = base.changed_terms(convention=convention.replace(ideal="all", ties="best"), scores=base.queries.labels)
    if everything is None or ideal is None:
        return np.nan
    longer = (base.sizes > (convention.k or 0)) & (ideal.values > 0)
    values = np.where(longer, everything.values / np.where(longer, ideal.values, 1), base.terms.values)
    parts = np.where(base.terms.weights > 0, values * base.terms.weights, 0.0)
    return float(parts.sum() / base.terms.divisors.sum())


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
    yield "the median of the queries' values, not their mean", float(np.median(base.terms.values[scored]))
    yield "the sum of the queries' values, not their mean", float(parts.sum())
    yield "the sum of the queries' values by the number of rows", float(parts.sum()) / base.queries.n_docs
    yield "ours with every query's value divided by log e of 2, as other logarithms do", value / math.log(2)
    yield "ours with every query's value multiplied by log e of 2, as other logarithms do", value * math.log(2)
    for text, rule in _omission_rules(base).items():
        divisor = np.where(divisors[~rule].sum() > 0, divisors[~rule].sum(), np.nan)
        yield f"the value without {text}", float(parts[~rule].sum() / divisor)
        yield f"the value with 0 for {text}", float(parts[~rule].sum() / divisors.sum())
    yield from _weights(base)


def _omission_rules(base: OurNumber) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the queries that programs often omit silently: with one row, equal labels or equal scores."""
    rows, starts = base.queries.rows, base.queries.indptr[:-1]
    rules = {"one-document queries": base.sizes == 1}
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
