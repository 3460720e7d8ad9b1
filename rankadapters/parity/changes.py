"""What is tried for the cause of a difference: changes of the convention, of the mean and of queries."""

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
MOST_CUTOFFS = 100  # tried one by one
MOST_PIECES = 300_000  # rows of all pieces of all queries, above which cut queries are not searched
MOST_PAIRS = 4_000_000  # pairs of queries whose weights may have been swapped


class Cause(NamedTuple):
    """What would give a number: in words, and the convention where it is another one."""

    text: str
    convention: Convention | None = None


class Changes(NamedTuple):
    """Values that changes would give, NaN where a change gives none, and a description of each change."""

    values: Floats
    describe: Callable[[int], Cause]

    @classmethod
    def of(cls, changes: Iterable[tuple[str, float] | tuple[str, float, Convention]]) -> Self:
        """Join changes in words with their values, and with a convention where it is what changes."""
        listed = list(changes)
        values = np.array([change[1] for change in listed], np.float64)
        return cls(values, lambda place: Cause(f"it is {listed[place][0]}", *listed[place][2:]))


NONE = Changes.of([])


def other_fields(ours: OurNumber) -> Changes:
    """The convention with another value of one field."""
    return Changes.of((f"the value under {text}", ours.changed(convention=c), c) for text, c in _flips(ours))


def other_presets(ours: OurNumber) -> Changes:
    """The presets of the measure."""
    return Changes.of((f"the value under {text}", ours.changed(convention=c), c) for text, c in _named(ours))


def two_changes(ours: OurNumber) -> Changes:
    """Another field or preset, and one-document queries left out, as by a loop over scikit-learn's function."""
    several = np.flatnonzero(ours.sizes > 1)
    if several.size in {0, ours.sizes.size}:
        return NONE
    queries, rows = ours.queries.take(several)
    part = ours._replace(queries=queries, scores=ours.scores[rows])
    return Changes.of(
        (f"the value under {text}, without the one-document queries", part.changed(convention=convention))
        for text, convention in (*_flips(ours), *_named(ours))
    )


def _named(ours: OurNumber) -> Iterator[tuple[str, Convention]]:
    """Presets, with what each changes."""
    for name in presets.names(ours.convention.measure):
        other = presets.make(name, getattr(ours.convention, "k", None))
        yield f"presets.{name}, that is {_spelled(ours.convention, other)}", other


def _flips(ours: OurNumber) -> Iterator[tuple[str, Convention]]:
    """Conventions with another value of one field."""
    convention = ours.convention
    values: dict[str, tuple[Any, ...]] = {name: kind.tried for name, kind in convention.declared().items()}
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(ours.queries.longest, MOST_CUTOFFS)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            try:
                other = convention.replace(**{name: value})
            except RankAdaptersError:
                continue
            if other != convention:
                yield _spelled(convention, other), other


def _spelled(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)


def other_means(ours: OurNumber) -> Changes:
    """Other ways from the queries' values to one number, and weights that are ignored or others."""
    return Changes.of([*_means(ours), *_weights(ours)])


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


def left_out(ours: OurNumber) -> Changes:
    """The value without each query."""
    divisors, parts = ours.terms.divisors, ours.parts
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (parts.sum() - parts) / (divisors.sum() - divisors)
    why = ", where nothing is to be found: its value is 0/0, a NaN, to many programs"
    about = zip(ours.queries.query_ids, _nothing_to_find(ours), np.where(divisors > 0, means, np.nan), strict=True)
    return Changes.of((f"the value without query {name}{why if empty else ''}", mean) for name, empty, mean in about)


def _nothing_to_find(ours: OurNumber) -> NDArray[np.bool_]:
    try:
        skipping = terms_of(ours.queries, ours.scores, ours.convention.replace(empty="skip"))
    except RankAdaptersError:
        return np.zeros(ours.queries.n_queries, np.bool_)
    return np.isnan(skipping.values) & ~np.isnan(ours.terms.values)


def cut(ours: OurNumber) -> Changes:
    """The value where a query lost its last or its first rows, or its rows became two queries."""
    sizes, retrieval = ours.sizes, ours.queries.retrieved is not None or ours.queries.judged is not None
    if retrieval or (sizes * (sizes - 1)).sum() > MOST_PIECES or sizes.max() == 1:
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

    return Changes(means.ravel(), describe)


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


def swapped(ours: OurNumber) -> Changes:
    """The value with the weights of two queries swapped."""
    weights = ours.queries.query_weight
    if weights is None or ours.convention.average != "query" or weights.size**2 > MOST_PAIRS:
        return NONE
    scored = np.flatnonzero(ours.terms.divisors > 0)
    values, weights, names = ours.terms.values[scored], weights[scored], ours.queries.query_ids[scored]
    gained = (weights[None, :] - weights[:, None]) * (values[:, None] - values[None, :])
    first, second = np.triu_indices(scored.size, 1)
    means = (ours.terms.shares.sum() + gained / ours.terms.divisors.sum())[first, second]
    return Changes(
        means,
        lambda place: Cause(
            f"it is the value with the weights of queries {names[first[place]]} and {names[second[place]]} swapped"
        ),
    )


def other_divisors(ours: OurNumber) -> Changes:
    """The sum of the queries' values divided by another whole number: queries counted that have no value, or not."""
    total, divisor = ours.parts.sum(), f"{ours.terms.divisors.sum():g}"
    text = "the sum of the queries' values divided by {} instead of {}"
    return Changes.of((text.format(n, divisor), total / n) for n in range(1, 2 * max(ours.queries.n_queries, 2) + 1))
