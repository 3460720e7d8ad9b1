"""Means of all policies for missing, short and empty queries and all averages, from a few sums that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values
from rankadapters.core.measures import NDCG
from rankadapters.core.queries import Queries

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Cutoffs = tuple[int | None, ...]

AVERAGES: Values = NDCG.declared()["average"].tried
EMPTY: Values = NDCG.declared()["empty"].tried


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of policies; several values of a field say the same on this data."""

    short: str
    empty: Values
    missing: Values
    average: Values


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The mean under each choice of policies, at each cutoff; NaN where another choice says the same there."""

    choices: list[Choice]
    values: Floats  # shape (n_choices, n_cutoffs)
    table: _Table

    def fields(self, number: int, column: int) -> dict[str, Values]:
        """Give the fields of a choice at a cutoff, with all that say the same there."""
        choice = self.choices[number]
        short: Values = (choice.short,) if self.table.policies.some_short[column] else ("pad", "zero", "skip")
        return {"short": short, "empty": choice.empty, "missing": choice.missing, "average": choice.average}

    def key(self, number: int, column: int) -> tuple[bytes, object]:
        """Name what every query's value is: equal keys mean equal values of all queries, and an equal mean."""
        choice, policies, table = self.choices[number], self.table.policies, self.table
        values = np.where(table.empty[:, column], _fixed(choice.empty[0]), table.ndcg[:, column])
        if choice.short != "pad":
            values[policies.short[:, column]] = _fixed(choice.short)
        values[policies.missing] = _fixed(choice.missing[0])
        return (values + 0.0).tobytes(), choice.average[0]  # + 0.0 makes -0.0 and 0.0 one value


def _fixed(choice: float | str) -> float:
    return float("nan") if choice == "skip" else 0.0 if isinstance(choice, str) else choice


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """NDCG of each query at each cutoff, 0 where it is empty, and where that is; shape (n_queries, n_cutoffs)."""

    policies: Policies
    ndcg: Floats
    empty: Flags


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Weighted sums over queries by cutoff: of the values, and of what is empty."""

    values: Floats
    weight_of_empty: Floats
    empty: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Policies:
    """What decides which queries a policy concerns: their sizes and weights."""

    weights: Floats  # shape (n_queries,), 0 where missing
    counts: Floats  # 1, and 0 where missing
    missing: Flags
    missing_weight: float
    short: Flags  # shape (n_queries, n_cutoffs)
    long: Flags  # the others
    some_short: Flags  # shape (n_cutoffs,)
    weighted: bool

    @classmethod
    def of(
        cls, queries: Queries, retrieved: NDArray[np.int64], judged: NDArray[np.int64], cutoffs: Cutoffs
    ) -> Policies:
        """Look at the sizes of the queries."""
        weights = np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
        missing = (retrieved == 0) & (judged > 0)
        short = retrieved[:, None] < np.array([k or 0 for k in cutoffs])[None, :]
        return cls(
            weights=np.where(missing, 0.0, weights),
            counts=(~missing).astype(float),
            missing=missing,
            missing_weight=float(weights[missing].sum()),
            short=short,
            long=~short,
            some_short=np.asarray(short.any(axis=0)),
            weighted=queries.query_weight is not None,
        )

    def outcomes(self, dcg: Floats, ideal: Floats, usable: Flags) -> Outcomes:
        """Give the mean under every choice of policies that differs here, at the usable cutoffs."""
        empty = ideal <= 0
        ndcg = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=~empty)
        whole = self._sums(ndcg, empty)
        cut = self._sums(ndcg * self.long, empty & self.long) if self.some_short.any() else whole
        choices, values = [], []
        for short, missing in self._pairs():
            total = self.weights @ self.long if short == "skip" else np.full(usable.size, self.weights.sum())
            if missing == "zero":
                total = total + self.missing_weight
            concerned = usable & (self.some_short | (short == "pad"))
            for names, averages, value, where in self._empties(whole if short == "pad" else cut, total):
                choices.append(Choice(short, names, self._missing(missing), averages))
                values.append(np.where(concerned & where, value, np.nan))
        return Outcomes(choices, np.stack(values), _Table(self, ndcg, empty))

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Choices of `short` and `missing` that concern some query."""
        for short in ("pad", "zero", "skip") if self.some_short.any() else ("pad",):
            for missing in ("zero", "skip") if self.missing.any() else ("zero",):
                yield short, missing

    def _missing(self, choice: str) -> Values:
        return (choice,) if self.missing.any() else ("error", "zero", "skip")

    def _sums(self, ndcg: Floats, empty: Flags) -> _Sums:
        return _Sums(self.weights @ ndcg, self.weights @ empty, self.counts @ empty)

    def _empties(self, sums: _Sums, total: Floats) -> Iterator[tuple[Values, Values, Floats, Flags]]:
        """Give every choice of `empty` and `average`, its mean at each cutoff, and the cutoffs that it concerns."""
        some = sums.empty > 0
        averages = AVERAGES[1:] if self.weighted else AVERAGES
        with np.errstate(divide="ignore", invalid="ignore"):
            yield (*EMPTY, "error"), averages, sums.values / total, ~some
            yield ("skip",), averages, sums.values / (total - sums.weight_of_empty), some
            for value in (choice for choice in EMPTY if not isinstance(choice, str)):
                plain = (sums.values + value * sums.weight_of_empty) / total
                if not (self.weighted and value):
                    yield (value,), averages, plain, some
                    continue
                yield (value,), ("query",), plain, some
                yield (value,), ("query-except-empty",), (sums.values + value * sums.empty) / total, some
