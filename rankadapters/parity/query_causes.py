"""Changes of the mean, and of one query: left out, cut, weighed otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.columns import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import RankAdaptersError
from rankadapters.parity.changed_values import Cause, ChangedValues
from rankadapters.parity.ours import OurNumber
from rankadapters.statistics.inert import terms_of

MOST_PIECES = 300_000  # rows of all pieces of all queries, above which cut queries are not searched
MOST_PAIRS = 4_000_000  # pairs of queries whose weights may have been swapped
NONE = ChangedValues.of([])


def other_means(ours: OurNumber) -> ChangedValues:
    """Other ways from the queries' values to one number, and weights that are ignored or others."""
    return ChangedValues.of([*_means(ours), *_weights(ours)])


def _means(ours: OurNumber) -> Iterator[tuple[str, float]]:
    parts, divisors, value = ours.parts, ours.terms.divisors, float(ours.terms.shares.sum())
    scored = divisors > 0
    yield "the median of the queries' values, not their mean", float(np.median(ours.terms.values[scored]))
    yield "the sum of the queries' values, not their mean", float(parts.sum())
    yield "the sum of the queries' values by the number of rows", float(parts.sum()) / ours.queries.n_docs
    for base, factor in (("e", math.log(2)), ("10", math.log10(2))):
        yield f"ours with every query's value divided by log {base} of 2, as other logarithms do", value / factor
        yield f"ours with every query's value multiplied by log {base} of 2, as other logarithms do", value * factor
    if k := getattr(ours.convention, "k", None):
        yield f"ours with every query's value multiplied by k={k}", value * k
        yield f"ours with every query's value divided by k={k}", value / k
    for text, rule in _rules(ours).items():
        kept = np.where(divisors[~rule].sum() > 0, divisors[~rule].sum(), np.nan)
        yield f"the value without {text}", float(parts[~rule].sum() / kept)
        yield f"the value with 0 for {text}", float(parts[~rule].sum() / divisors.sum())


def _rules(ours: OurNumber) -> dict[str, NDArray[np.bool_]]:
    """Queries that programs leave out, often without a word: by their number of rows, or for a 0/0."""
    rows, starts = ours.queries.rows, ours.queries.indptr[:-1]
    columns = {"labels": ours.queries.labels[rows], "scores": ours.scores[rows]}
    rules = {"one-document queries": ours.sizes == 1}
    for name, column in columns.items():
        rules[f"queries whose {name} are all equal"] = np.minimum.reduceat(column, starts) == np.maximum.reduceat(
            column, starts
        )
    different = {rule.tobytes(): (text, rule) for text, rule in reversed(rules.items()) if 0 < rule.sum() < rule.size}
    return {f"the {rule.sum()} {text}": rule for text, rule in reversed(different.values())}


def _weights(ours: OurNumber) -> Iterator[tuple[str, float]]:
    """Weights ignored, by rows, or turned round."""
    weights, convention = ours.queries.query_weight, ours.convention
    weighted = weights is not None and convention.weighting == "query_weight"
    tried: dict[str, Floats | None] = {"every query weighed by its number of rows": ours.sizes.astype(np.float64)}
    if weights is not None and weighted:
        tried |= {"the query weights ignored": None, "the query weights in reverse order": weights[::-1]}
    convention = convention if weighted else convention.replace(average="query")
    for text, other in tried.items():
        yield (
            f"the value with {text}",
            ours.changed(queries=ours.queries.with_weights(other), convention=convention),
        )


def left_out(ours: OurNumber) -> ChangedValues:
    """The value without each query."""
    divisors, parts = ours.terms.divisors, ours.parts
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (parts.sum() - parts) / (divisors.sum() - divisors)
    names, empty = ours.queries.query_ids, _nothing_to_find(ours)

    def describe(place: int) -> Cause:
        why = ", where nothing is to be found: its value is 0/0, a NaN, to many programs" if empty[place] else ""
        return Cause(f"it is the value without query {names[place]}{why}")

    return ChangedValues(np.where(divisors > 0, means, np.nan), describe)


def _nothing_to_find(ours: OurNumber) -> NDArray[np.bool_]:
    try:
        skipping = terms_of(ours.queries, ours.scores, ours.convention.replace(empty="skip"))
    except RankAdaptersError:
        return np.zeros(ours.queries.n_queries, np.bool_)
    return np.isnan(skipping.values) & ~np.isnan(ours.terms.values)


def cut(ours: OurNumber) -> ChangedValues:
    """The value where a query lost its last or its first rows, or its rows became two queries."""
    sizes = ours.sizes
    if (sizes * (sizes - 1)).sum() > MOST_PIECES or sizes.max() == 1:
        return NONE
    pieces, query, rows = _pieces(ours.queries)
    try:
        terms = terms_of(pieces, ours.scores[rows], ours.convention)
    except RankAdaptersError:
        return NONE
    kept, divisors = terms.shares * terms.divisors.sum(), terms.divisors
    rest, below = ours.parts.sum() - ours.parts[query], ours.terms.divisors.sum() - ours.terms.divisors[query]
    first, second = slice(0, None, 2), slice(1, None, 2)
    texts = ("{} cut after its first {} rows", "{} without its first {} rows", "{} cut in two after {} rows")
    tops = np.stack([kept[first], kept[second], kept[first] + kept[second]])
    downs = np.stack([divisors[first], divisors[second], divisors[first] + divisors[second]])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (rest + tops) / (below + downs)
    cut_at = [part for n in sizes for part in range(1, n)]
    names = ours.queries.query_ids

    def describe(place: int) -> Cause:
        kind, piece = divmod(place, query.size)
        return Cause(f"it is the value with query {texts[kind].format(names[query[piece]], cut_at[piece])}")

    return ChangedValues(means.ravel(), describe)


def _pieces(queries: Queries) -> tuple[Queries, NDArray[np.intp], NDArray[Any]]:
    """Both parts of every query cut at every place: as queries, with the query each pair is of, and its rows."""
    sizes = np.diff(queries.indptr)
    n_cuts = sizes - 1
    rows = np.split(queries.rows, queries.indptr[1:-1])
    where = np.concatenate([np.tile(part, n) for part, n in zip(rows, n_cuts, strict=True)])
    lengths = np.array([length for n in sizes for first in range(1, n) for length in (first, n - first)])
    query = np.repeat(np.arange(sizes.size), n_cuts)
    weight = None if queries.query_weight is None else np.repeat(queries.query_weight[query], 2)
    pieces = Queries(queries.labels[where], group_sizes=lengths, query_weight=weight)
    ranks = queries.docid_rank
    return pieces if ranks is None else pieces.with_docid_ranks(ranks[where]), query, where


def swapped(ours: OurNumber) -> ChangedValues:
    """The value with the weights of two queries swapped."""
    weights = ours.queries.query_weight
    if weights is None or ours.convention.average != "query" or weights.size**2 > MOST_PAIRS:
        return NONE
    scored = np.flatnonzero(ours.terms.divisors > 0)
    values, weights, names = ours.terms.values[scored], weights[scored], ours.queries.query_ids[scored]
    gained = (weights[None, :] - weights[:, None]) * (values[:, None] - values[None, :])
    first, second = np.triu_indices(scored.size, 1)
    means = (ours.terms.shares.sum() + gained / ours.terms.divisors.sum())[first, second]
    return ChangedValues(
        means,
        lambda place: Cause(
            f"it is the value with the weights of queries {names[first[place]]} and {names[second[place]]} swapped"
        ),
    )


def other_divisors(ours: OurNumber) -> ChangedValues:
    """The sum of the queries' values divided by another whole number: queries counted that have no value, or not."""
    total, most = ours.parts.sum(), 2 * max(ours.queries.n_queries, 2)
    numbers = np.arange(1, most + 1)
    divisor = f"{ours.terms.divisors.sum():g}"
    return ChangedValues(
        total / numbers,
        lambda place: Cause(f"it is the sum of the queries' values divided by {numbers[place]} instead of {divisor}"),
    )
