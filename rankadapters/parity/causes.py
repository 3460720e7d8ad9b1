"""What would explain a number that is not ours: another field, a query cut or left out, tied rows, weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.inert import Terms, terms_of
from rankadapters.core.queries import Queries
from rankadapters.parity.ours import Ours
from rankadapters.parity.tolerances import Tolerance, agree, width

Floats = NDArray[np.float64]

CUTOFFS = (1, 3, 5, 10, 20, None)
MOST_CUTOFFS = 100  # tried one by one
MOST_PIECES = 300_000  # rows of all pieces of all queries, above which cut queries are not searched
MOST_PAIRS = 4_000_000  # pairs of queries whose weights may have been swapped
NAMED = 3  # causes of a kind that are named


class Cause(NamedTuple):
    """What would give the number: in words, and the convention where it is another one."""

    text: str
    convention: Convention | None = None


class Case(NamedTuple):
    """A number that differs, and the data and convention it was expected from."""

    queries: Queries
    scores: NDArray[Any]
    convention: Convention
    terms: Terms
    value: float
    tolerance: Tolerance

    def hits(self, values: Any) -> NDArray[np.intp]:
        """Places of the values that are the number sought and not ours."""
        return np.flatnonzero(agree(values, self.value, self.tolerance))


def causes(ours: Ours, *, value: float, tolerance: Tolerance) -> list[Cause]:
    """Search for one change of the convention or of the data that gives a number which differs from ours.

    Searched are: every field of the convention, the presets, each query left out, cut short or cut in two (where the
    data is not too large), rows that belong to no query, weights that are ignored, swapped or replaced by the number
    of rows, and the orders of tied rows.

    Parameters
    ----------
    ours : Ours
        The data, and what the number was expected to be.
    value : float
        The number.
    tolerance : float or Printed
        How far from a candidate it may lie, or the number as it was printed.

    Returns
    -------
    list of Cause
        One per candidate; empty where none gives the number. A number of few decimals has many.

    Examples
    --------
    >>> queries = Queries([1, 0, 0, 1], group_sizes=[2, 2])
    >>> ours = Ours.of(queries, np.array([2.0, 1, 4, 3]), presets.yahoo(2))
    >>> causes(ours, value=1.0, tolerance=1e-9)[1].text
    'it is the value without query 1'
    """
    if not np.isfinite(value):
        return [Cause(f"it is {value}, which is not a value of any convention")]
    queries, convention = ours.queries, ours.convention
    case = Case(queries, ours.scores, convention, ours.terms, value, tolerance)
    retrieval = queries.retrieved is not None or queries.judged is not None
    of_data = [_left_out, _weights] if retrieval else [_left_out, _cut, _grouping, _weights]
    if not convention.is_sum:  # no query has a part in the value
        of_data = []
    found = [*_few(_fields(case)), *(cause for search in of_data for cause in _few(map(Cause, search(case))))]
    return found or [Cause(text) for text in _tied_rows(case)]


def _few(found: Iterator[Cause]) -> list[Cause]:
    several = list(islice(found, NAMED + 1))
    several[NAMED:] = [Cause(f"and others, such as: {last.text}") for last in several[NAMED:]]
    return several


def _fields(case: Case) -> Iterator[Cause]:
    """Another value of one field; else a preset."""
    single = [other for other in _flips(case) if _is_value_of(case, other)]
    yield from (Cause(f"it is the value under {_spelled(case.convention, other)}", other) for other in single)
    for name in [] if single else presets.names(case.convention.measure):
        other = presets.make(name, getattr(case.convention, "k", None))
        if _is_value_of(case, other):
            yield Cause(f"it is the value under presets.{name}, that is {_spelled(case.convention, other)}", other)


def _flips(case: Case) -> Iterator[Convention]:
    convention = case.convention
    values: dict[str, tuple[Any, ...]] = {name: kind.tried for name, kind in convention.declared().items()}
    if "k" in values:
        k = convention.to_dict()["k"]
        longest = min(case.queries.longest, MOST_CUTOFFS)
        values["k"] = tuple(dict.fromkeys((*CUTOFFS, *range(1, longest + 1), *(() if k is None else (k + 1,)))))
    for name in convention.fields():
        for value in values[name]:
            try:
                other = convention.replace(**{name: value})
            except RankAdaptersError:
                continue
            if other != convention:
                yield other


def _is_value_of(case: Case, other: Convention) -> bool:
    try:
        return bool(case.hits([terms_of(case.queries, case.scores, other).shares.sum()]).size)
    except RankAdaptersError:
        return False


def _spelled(convention: Convention, other: Convention) -> str:
    pairs = other.diff(convention).items()
    return ", ".join(f"{name}={new!r} in place of {name}={old!r}" for name, (new, old) in pairs)


def _left_out(case: Case) -> Iterator[str]:
    divisors = case.terms.divisors
    parts = case.terms.shares * divisors.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (parts.sum() - parts) / (divisors.sum() - divisors)
    counted = divisors > 0
    for place in case.hits(np.where(counted, means, np.nan)):
        yield f"it is the value without query {case.queries.query_ids[place]}"


def _cut(case: Case) -> Iterator[str]:
    """A query that lost its last or its first rows, or whose rows became two queries."""
    sizes = np.diff(case.queries.indptr)
    if (sizes * (sizes - 1)).sum() > MOST_PIECES or sizes.max() == 1:
        return
    pieces, query, where = _pieces(case.queries)
    try:
        found = terms_of(pieces, case.scores[where], case.convention)
    except RankAdaptersError:
        return
    kept = found.shares * found.divisors.sum()
    first, second = (slice(half, None, 2) for half in (0, 1))
    parts, divisors = case.terms.shares * case.terms.divisors.sum(), case.terms.divisors
    rest, below = parts.sum() - parts[query], divisors.sum() - divisors[query]
    cut_at = [part for n in sizes for part in range(1, n)]
    for texts, tops, downs in (
        ("{} cut after its first {} rows", kept[first], found.divisors[first]),
        ("{} without its first {} rows", kept[second], found.divisors[second]),
        ("{} cut in two after {} rows", kept[first] + kept[second], found.divisors[first] + found.divisors[second]),
    ):
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (rest + tops) / (below + downs)
        for place in case.hits(means):
            name = case.queries.query_ids[query[place]]
            yield f"it is the value with query {texts.format(name, cut_at[place])}"


def _pieces(queries: Queries) -> tuple[Queries, NDArray[np.intp], NDArray[Any]]:
    """Both parts of every query cut at every place: as queries, with the query each pair is of, and its rows."""
    order = queries.rows
    sizes = np.diff(queries.indptr)
    cut = sizes - 1
    rows = [order[start:end] for start, end in zip(queries.indptr, queries.indptr[1:], strict=False)]
    where = np.concatenate([np.tile(part, n) for part, n in zip(rows, cut, strict=True)])
    lengths = np.array([length for n in sizes for first in range(1, n) for length in (first, n - first)])
    query = np.repeat(np.arange(sizes.size), cut)
    weight = None if queries.query_weight is None else np.repeat(queries.query_weight[query], 2)
    pieces = Queries(queries.labels[where], group_sizes=lengths, query_weight=weight)
    return _with_ranks(pieces, queries, where), query, where


def _with_ranks(part: Queries, queries: Queries, where: NDArray[Any]) -> Queries:
    return part if queries.docid_rank is None else part.with_docid_ranks(queries.docid_rank[where])


def _grouping(case: Case) -> Iterator[str]:
    if case.queries.n_queries == 1:
        return
    one = Queries(case.queries.labels, group_sizes=[case.queries.n_docs])
    with_order = _with_ranks(one, case.queries, np.arange(case.queries.n_docs))
    if _is_value_of(case._replace(queries=with_order), case.convention):
        yield "it is the value with all rows taken as one query"


def _weights(case: Case) -> Iterator[str]:
    """Weights ignored, by rows, turned round, or those of two queries swapped."""
    weights, average = case.queries.query_weight, case.convention.average
    weighted = weights is not None and case.convention.weighting == "query_weight"
    tried: dict[str, Floats | None] = {"every query weighed by its number of rows": np.diff(case.queries.indptr) * 1.0}
    if weights is not None and weighted:
        tried |= {"the query weights ignored": None, "the query weights in reverse order": weights[::-1]}
    convention = case.convention if weighted else case.convention.replace(average="query")
    for text, given in tried.items():
        if _is_value_of(case._replace(queries=case.queries.with_weights(given)), convention):
            yield f"it is the value with {text}"
    if weights is not None and average == "query" and weights.size**2 <= MOST_PAIRS:
        yield from _swapped(case, weights)


def _swapped(case: Case, weights: Floats) -> Iterator[str]:
    values, divisors = case.terms.values, case.terms.divisors
    scored = np.flatnonzero(divisors > 0)
    values, some = values[scored], weights[scored]
    gained = (some[None, :] - some[:, None]) * (values[:, None] - values[None, :])
    means = case.terms.shares.sum() + gained / divisors.sum()
    first, second = np.triu_indices(scored.size, 1)
    names = case.queries.query_ids[scored]
    for place in case.hits(means[first, second]):
        yield f"it is the value with the weights of queries {names[first[place]]} and {names[second[place]]} swapped"


def _tied_rows(case: Case) -> Iterator[str]:
    """The only cause that is a range and no number, so that it is looked at last."""
    declared = getattr(case.convention, "ties", None)
    try:
        low, high = (
            float(terms_of(case.queries, case.scores, case.convention.replace(ties=ties)).shares.sum())
            for ties in ("worst", "best")
        )
    except RankAdaptersError:
        return
    reach = width(case.tolerance)
    if high - low > reach and low - reach <= case.value <= high + reach:
        yield (
            f"tied rows in another order than ties={declared!r} are not excluded: "
            f"the orders of ties give {low:.6g} to {high:.6g}"
        )
