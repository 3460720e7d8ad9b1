"""Explain a difference by changing the convention, the mean or the queries; `base` is our number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.parity.rows import OurNumber
from rankadapters.statistics.inert import terms_of

CUTOFFS = (1, 3, 5, 10, 20, None)
MAX_CUTOFF = 100  # largest cutoff that is tried
MAX_PIECE_ROWS = 300_000  # `cut_queries` tries nothing if the pieces of all queries together have more rows
MAX_PAIRS = 4_000_000  # `swapped_weights` tries nothing if there are more pairs of queries


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


NONE = Changes.of([])


def different_fields(base: OurNumber) -> Changes:
    """Change the fields of the convention, one at a time."""
    return Changes.of((f"the value under {text}", base.changed(convention=c), c) for text, c in _field_changes(base))


def different_presets(base: OurNumber) -> Changes:
    """Replace the convention with each preset of its measure."""
    return Changes.of((f"the value under {text}", base.changed(convention=c), c) for text, c in _presets(base))


def two_changes(base: OurNumber) -> Changes:
    """Change a field or use a preset, and also omit one-document queries, as a loop over sklearn's ndcg_score must."""
    multi_row = np.flatnonzero(base.sizes > 1)
    if multi_row.size in {0, base.sizes.size}:
        return NONE
    queries, rows = base.queries.take(multi_row)
    part = base._replace(queries=queries, scores=base.scores[rows])
    return Changes.of(
        (f"the value under {text}, without the one-document queries", part.changed(convention=convention))
        for text, convention in (*_field_changes(base), *_presets(base))
    )


def _presets(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    for name in presets.names(base.convention.measure):
        other = presets.make(name, getattr(base.convention, "k", None))
        yield f"presets.{name}, that is {_describe_fields(base.convention, other)}", other


def _field_changes(base: OurNumber) -> Iterator[tuple[str, Convention]]:
    convention = base.convention
    values: dict[str, tuple[Any, ...]] = {name: kind.tried for name, kind in convention.declared().items()}
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(base.queries.longest, MAX_CUTOFF)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            try:
                other = convention.replace(**{name: value})
            except RankAdaptersError:
                continue
            if other != convention:
                yield _describe_fields(convention, other), other


def _describe_fields(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)


def different_means(base: OurNumber) -> Changes:
    """Summarize the queries' values differently, or weight them differently."""
    return Changes.of([*_means(base), *_weights(base)])


def _means(base: OurNumber) -> Iterator[tuple[str, float]]:
    parts, divisors, value = base.parts, base.terms.divisors, float(base.terms.shares.sum())
    scored = divisors > 0
    yield "the median of the queries' values, not their mean", float(np.median(base.terms.values[scored]))
    yield "the sum of the queries' values, not their mean", float(parts.sum())
    yield "the sum of the queries' values by the number of rows", float(parts.sum()) / base.queries.n_docs
    for log_base, factor in (("e", math.log(2)), ("10", math.log10(2))):
        yield f"ours with every query's value divided by log {log_base} of 2, as other logarithms do", value / factor
        yield f"ours with every query's value multiplied by log {log_base} of 2, as other logarithms do", value * factor
    if k := getattr(base.convention, "k", None):
        yield f"ours with every query's value multiplied by k={k}", value * k
        yield f"ours with every query's value divided by k={k}", value / k
    for text, rule in _omission_rules(base).items():
        divisor = np.where(divisors[~rule].sum() > 0, divisors[~rule].sum(), np.nan)
        yield f"the value without {text}", float(parts[~rule].sum() / divisor)
        yield f"the value with 0 for {text}", float(parts[~rule].sum() / divisors.sum())


def _omission_rules(base: OurNumber) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the queries that programs often omit silently: with one row, equal labels or equal scores."""
    rows, starts = base.queries.rows, base.queries.indptr[:-1]
    columns = {"labels": base.queries.labels[rows], "scores": base.scores[rows]}
    rules = {"one-document queries": base.sizes == 1}
    for name, column in columns.items():
        rules[f"queries whose {name} are all equal"] = np.minimum.reduceat(column, starts) == np.maximum.reduceat(
            column, starts
        )
    distinct = {rule.tobytes(): (text, rule) for text, rule in reversed(rules.items()) if 0 < rule.sum() < rule.size}
    return {f"the {rule.sum()} {text}": rule for text, rule in reversed(distinct.values())}


def _weights(base: OurNumber) -> Iterator[tuple[str, float]]:
    """Ignore the weights, weight by number of rows, or reverse the weights."""
    weights, convention = base.queries.query_weight, base.convention
    counts_weights = weights is not None and convention.weighting == "query_weight"
    variants: dict[str, Floats | None] = {"every query weighed by its number of rows": base.sizes.astype(np.float64)}
    if weights is not None and counts_weights:
        variants |= {"the query weights ignored": None, "the query weights in reverse order": weights[::-1]}
    convention = convention if counts_weights else convention.replace(average="query")
    for text, query_weight in variants.items():
        yield (
            f"the value with {text}",
            base.changed(queries=base.queries.with_weights(query_weight), convention=convention),
        )


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


def _nothing_to_find(base: OurNumber) -> NDArray[np.bool_]:
    try:
        skipping = terms_of(base.queries, base.scores, base.convention.replace(empty="skip"))
    except RankAdaptersError:
        return np.zeros(base.queries.n_queries, np.bool_)
    return np.isnan(skipping.values) & ~np.isnan(base.terms.values)


def cut_queries(base: OurNumber) -> Changes:
    """Drop the last or the first rows of a query, or divide its rows into two queries."""
    sizes, retrieval = base.sizes, base.queries.retrieved is not None or base.queries.judged is not None
    if retrieval or (sizes * (sizes - 1)).sum() > MAX_PIECE_ROWS or sizes.max() == 1:
        return NONE
    pieces, query, rows = _cut_pieces(base.queries)
    try:
        terms = terms_of(pieces, base.scores[rows], base.convention)
    except RankAdaptersError:
        return NONE
    piece_parts, divisors = terms.shares * terms.divisors.sum(), terms.divisors
    other_parts = base.parts.sum() - base.parts[query]
    other_divisors = base.terms.divisors.sum() - base.terms.divisors[query]
    top, bottom = slice(0, None, 2), slice(1, None, 2)
    texts = ("{} cut after its first {} rows", "{} without its first {} rows", "{} cut in two after {} rows")
    numerators = np.stack([piece_parts[top], piece_parts[bottom], piece_parts[top] + piece_parts[bottom]])
    denominators = np.stack([divisors[top], divisors[bottom], divisors[top] + divisors[bottom]])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (other_parts + numerators) / (other_divisors + denominators)
    cut_points = [part for n in sizes for part in range(1, n)]
    names = base.queries.query_ids

    def describe(index: int) -> Cause:
        kind, piece = divmod(index, query.size)
        return Cause(f"it is the value with query {texts[kind].format(names[query[piece]], cut_points[piece])}")

    return Changes(means.ravel(), describe)


def _cut_pieces(queries: Queries) -> tuple[Queries, NDArray[np.intp], NDArray[Any]]:
    """Cut every query at every position. Return the pieces as queries, each cut's query, and each piece's rows."""
    sizes = np.diff(queries.indptr)
    n_cuts = sizes - 1
    rows = np.split(queries.rows, queries.indptr[1:-1])
    piece_rows = np.concatenate([np.tile(part, n) for part, n in zip(rows, n_cuts, strict=True)])
    lengths = np.array([length for n in sizes for first in range(1, n) for length in (first, n - first)])
    query = np.repeat(np.arange(sizes.size), n_cuts)
    weight = None if queries.query_weight is None else np.repeat(queries.query_weight[query], 2)
    pieces = Queries(queries.labels[piece_rows], group_sizes=lengths, query_weight=weight)
    ranks = queries.docid_rank
    return pieces if ranks is None else pieces.with_docid_ranks(ranks[piece_rows]), query, piece_rows


def swapped_weights(base: OurNumber) -> Changes:
    """Swap the weights of two queries, for every pair of queries."""
    weights = base.queries.query_weight
    if weights is None or base.convention.average != "query" or weights.size**2 > MAX_PAIRS:
        return NONE
    scored = np.flatnonzero(base.terms.divisors > 0)
    values, weights, names = base.terms.values[scored], weights[scored], base.queries.query_ids[scored]
    gains = (weights[None, :] - weights[:, None]) * (values[:, None] - values[None, :])
    first, second = np.triu_indices(scored.size, 1)
    means = (base.terms.shares.sum() + gains / base.terms.divisors.sum())[first, second]
    return Changes(
        means,
        lambda index: Cause(
            f"it is the value with the weights of queries {names[first[index]]} and {names[second[index]]} swapped"
        ),
    )


def different_divisors(base: OurNumber) -> Changes:
    """Divide the sum of the queries' values by another whole number, as if more or fewer queries had a value."""
    total, divisor = base.parts.sum(), f"{base.terms.divisors.sum():g}"
    text = "the sum of the queries' values divided by {} instead of {}"
    return Changes.of((text.format(n, divisor), total / n) for n in range(1, 2 * max(base.queries.n_queries, 2) + 1))
