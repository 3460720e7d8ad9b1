"""Means of all policies for missing, short and empty queries and all averages, from a few sums that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import REFUSAL, Values, grid
from rankadapters.audit.identify.candidates import Cutoffs
from rankadapters.core.binding.policies import Sizes
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POLICIES = ("short", "empty", "missing", "average")  # the fields that `core.policies` reads, which decide no value


@dataclass(frozen=True, slots=True)
class PolicyValues:
    """Values of the policies of a measure that are searched; empty where it does not have the field.

    The last value of `empty`, and the first one of `missing`, is the one that refuses such queries.
    """

    short: Values
    empty: Values
    missing: Values
    average: Values

    @classmethod
    def of(cls, measure: type[Convention], queries: Queries) -> PolicyValues:
        """Ask the fields of a measure."""
        tried = {name: values for name, values in grid(measure, queries).items() if name in POLICIES}
        short, empty, missing, average = (tried.get(name, ()) for name in POLICIES)
        return cls(short, (*empty, REFUSAL) if empty else (), (REFUSAL, *missing) if missing else (), average)


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A choice of policies; several values of a field say the same on this data."""

    short: str
    empty: Values
    missing: Values
    average: Values


@dataclass(frozen=True, slots=True, eq=False)
class PolicyMeans:
    """The mean under each choice of policies, at each cutoff; NaN where another choice says the same there."""

    choices: list[PolicyChoice]
    means: Floats  # shape (n_choices, n_cutoffs)
    policies: Policies
    values: Floats  # of each query at each cutoff, 0 where it is empty; shape (n_queries, n_cutoffs)
    empty: Flags  # shape (n_queries, n_cutoffs)

    def fields(self, number: int, column: int) -> dict[str, Values]:
        """Give the fields of a choice at a cutoff, with all that say the same there."""
        choice = self.choices[number]
        short: Values = (choice.short,) if self.policies.some_short[column] else self.policies.known.short
        found = {"short": short, "empty": choice.empty, "missing": choice.missing, "average": choice.average}
        return {name: values for name, values in found.items() if values}

    def key(self, number: int, column: int) -> tuple[bytes, object]:
        """Name what every query's value is: equal keys mean equal values of all queries, and an equal mean."""
        choice, policies = self.choices[number], self.policies
        values = self.values[:, column].copy()
        if choice.empty:
            values[self.empty[:, column]] = _fixed(choice.empty[0])
        if choice.short != "pad":
            values[policies.short[:, column]] = _fixed(choice.short)
        if choice.missing:
            values[policies.missing] = _fixed(choice.missing[0])
        return (values + 0.0).tobytes(), choice.average[0]  # + 0.0 makes -0.0 and 0.0 one value


def _fixed(choice: float | str) -> float:
    return float("nan") if choice == "skip" else 0.0 if isinstance(choice, str) else choice


@dataclass(frozen=True, slots=True, eq=False)
class _Empty:
    """How many queries are empty at each cutoff, and what they weigh; shape (n_cutoffs,)."""

    number: Floats
    weight: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Policies:
    """What decides which queries a policy concerns: their sizes and weights, and which are empty."""

    known: PolicyValues
    weights: Floats  # shape (n_queries,), 0 where missing
    missing: Flags
    missing_weight: float
    short: Flags  # shape (n_queries, n_cutoffs)
    long: Flags  # the others
    some_short: Flags  # shape (n_cutoffs,)
    weighted: bool
    empty: Flags  # shape (n_queries, n_cutoffs)
    all_empty: _Empty
    long_empty: _Empty  # of the queries that are not short

    @classmethod
    def of(
        cls,
        known: PolicyValues,
        weight: Floats | None,
        sizes: Sizes,
        cutoffs: Cutoffs,
    ) -> Policies:
        """Look at weights and sizes of the queries, and where they have nothing to find at each cutoff."""
        retrieved, judged, empty = sizes
        weights = np.ones(retrieved.size) if weight is None else weight
        missing = (retrieved == 0) & (judged > 0)
        short = retrieved[:, None] < np.array([k or 0 for k in cutoffs])[None, :]
        counts, counted = (~missing).astype(float), np.where(missing, 0.0, weights)
        all_empty, long_empty = (_Empty(counts @ each, counted @ each) for each in (empty, empty & ~short))
        return cls(
            known=known,
            weights=counted,
            missing=missing,
            missing_weight=float(weights[missing].sum()),
            short=short,
            long=~short,
            some_short=np.asarray(short.any(axis=0)) & bool(known.short),
            weighted=weight is not None,
            empty=empty,
            all_empty=all_empty,
            long_empty=long_empty,
        )

    def means(self, values: Floats, usable: Flags) -> PolicyMeans:
        """Give the mean under every choice of policies that differs here, at the usable cutoffs.

        Parameters
        ----------
        values : float64 array, shape (n_queries, n_cutoffs)
            Value of each query before any policy, 0 where it is empty.
        usable : bool array, shape (n_cutoffs,)
            Which cutoffs to look at.
        """
        whole = self.weights @ values
        cut = self.weights @ (values * self.long) if self.some_short.any() else whole
        choices, means = [], []
        for short, missing in self._pairs():
            total = self.weights @ self.long if short == "skip" else np.full(usable.size, self.weights.sum())
            if missing == "zero":
                total = total + self.missing_weight
            concerned = usable & (self.some_short | (short == "pad"))
            sums = (whole, self.all_empty) if short == "pad" else (cut, self.long_empty)
            for names, averages, mean, where in self._empties(*sums, total):
                choices.append(PolicyChoice(short, names, self._missing(missing), averages))
                means.append(np.where(concerned & where, mean, np.nan))
        return PolicyMeans(choices, np.stack(means), self, values, self.empty)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Choices of `short` and `missing` that concern some query."""
        for short in ("pad", "zero", "skip") if self.some_short.any() else ("pad",):
            for missing in ("zero", "skip") if self.missing.any() else ("zero",):
                yield short, missing

    def _missing(self, choice: str) -> Values:
        return (choice,) if self.missing.any() and self.known.missing else self.known.missing

    def _empties(self, sums: Floats, empty: _Empty, total: Floats) -> Iterator[tuple[Values, Values, Floats, Flags]]:
        """Give every choice of `empty` and `average`, its mean at each cutoff, and the cutoffs that it concerns."""
        some = empty.number > 0
        averages = self.known.average
        with np.errstate(divide="ignore", invalid="ignore"):
            yield self.known.empty, averages, sums / total, ~some
            if "skip" in self.known.empty:
                yield ("skip",), averages, sums / (total - empty.weight), some
            for value in (choice for choice in self.known.empty if not isinstance(choice, str)):
                plain = (sums + value * empty.weight) / total
                exempting = tuple(average for average in averages if average == "query-except-empty")
                if not (self.weighted and value and exempting):
                    yield (value,), averages, plain, some
                    continue
                others = tuple(average for average in averages if average not in exempting)
                if others:
                    yield (value,), others, plain, some
                yield (value,), exempting, (sums + value * empty.number) / total, some
