"""Presets that give the printed numbers if a program makes a known mistake, such as leaving queries out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

import numpy as np

from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from rankadapters.audit.identification.candidates import Candidates
from rankadapters.audit.identification.chance import SAME
from rankadapters.audit.identification.matches import MISTAKE, Match
from rankadapters.audit.identification.numbers import Number
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.known_presets import USUAL_CUTOFFS, NearestPresets, presets_by_label
from rankadapters.statistics.mistakes import (
    CHANGED_NUMBERS,
    FEW_DECIMALS,
    OurNumber,
    changed_columns,
    changed_formulas,
    changed_means,
    different_divisors,
    without_query,
)

N_CUTOFFS = 4  # cutoffs that are tried if the cutoff is unknown

Key = tuple[Convention, str]  # a preset and a mistake
Values = dict[Key, float]


class MistakenPresets:
    """The presets of a measure with every mistake, at the known cutoffs or at the likeliest ones.

    For `Chance`, a mistake counts as `n_changes` changed fields.
    """

    def __init__(self, candidates: Candidates, n_changes: int) -> None:
        self.candidates, self.numbers, self.n_changes = candidates, candidates.numbers, n_changes
        first = self.numbers[0]
        cutoffs = first.cutoffs if len(first.cutoffs) == 1 else USUAL_CUTOFFS[:N_CUTOFFS]
        self.labels: dict[Convention, list[str]] = {}
        for k in cutoffs:
            for label, convention in presets_by_label(first.measure, k).items():
                self.labels.setdefault(convention, []).append(label)
        self.bases = [_bases(number, self.labels) for number in self.numbers]

    def with_the_whole_data(self) -> list[Match]:
        """Return the presets that give all numbers with the same mistake, the likeliest first."""
        return self._matches([_mistaken(*pair) for pair in zip(self.numbers, self.bases, strict=True)])

    def without_a_query(self) -> list[Match]:
        """Return the presets that give all numbers without one query."""
        return self._matches([dict(_without_queries(*pair)) for pair in zip(self.numbers, self.bases, strict=True)])

    def _matches(self, tables: Sequence[Values]) -> list[Match]:
        """Return a match for each mistake and values that fit all numbers, and count all values as chance."""
        keys = [key for key in tables[0] if all(key in table for table in tables)]
        values = np.array([[table[key] for table in tables] for key in keys]).reshape(-1, len(tables))
        printed, reach = zip(*((float(number.printed.value), number.reach) for number in self.numbers), strict=True)
        self.candidates.add_means(values[(np.abs(values - printed) <= reach).all(axis=1)], self.n_changes)
        fits = np.all([n.printed.hold(column) for n, column in zip(self.numbers, values.T, strict=True)], axis=0)
        groups: dict[tuple[str, bytes], list[int]] = {}
        for index in np.flatnonzero(fits).tolist():
            groups.setdefault((keys[index][1], np.round(values[index], SAME).tobytes()), []).append(index)
        matches = []
        for (mistake, _), indexes in groups.items():
            labels = tuple(dict.fromkeys(label for index in indexes for label in self.labels[keys[index][0]]))
            match = Match(
                convention=keys[indexes[0]][0], values=tuple(values[indexes[0]].tolist()), presets=(), near=labels,
                changes={MISTAKE: mistake}, alike={}, blocks=(),
            )  # fmt: skip
            matches.append((NearestPresets(labels, match.convention, {}).cost, match))
        return [match for _, match in sorted(matches, key=lambda pair: pair[0])]


def _bases(number: Number, conventions: Iterable[Convention]) -> dict[Convention, OurNumber]:
    """Return our number under each preset that has a value on the data, by the preset at the first number's cutoff."""
    at_cutoff = {convention: number.at_cutoff(convention) for convention in conventions}
    ours: dict[Convention, OurNumber] = {}
    for measured in measure_in_passes(number.queries, number.scores, at_cutoff.values()):
        for convention in measured.scores:
            ours[convention] = OurNumber.under(convention, number.queries, number.scores, measured.under([convention]))
    return {convention: ours[cut] for convention, cut in at_cutoff.items() if cut in ours}


def _mistaken(number: Number, bases: dict[Convention, OurNumber]) -> Values:
    """Return the value of each preset with each mistake with the whole data."""
    values: Values = {}
    changes: dict[object, list[tuple[str, float]]] = {}
    for convention, base in bases.items():
        formula = [kind.group in {"value", "ranking"} for kind in base.convention.declared().values()]
        fields = tuple(compress(base.convention.to_dict().values(), formula))
        key = fields, base.terms.values.tobytes(), base.terms.shares.tobytes(), base.convention.weighting
        if key not in changes:  # presets of one formula whose queries count the same are equal with a mistake too
            changes[key] = [*changed_formulas(base), *(changed_means(base) if base.convention.is_sum else ())]
            changes[key] += ((text, a * base.value + b) for text, (a, b) in CHANGED_NUMBERS.items())
        values |= {(convention, _general(text, base)): value for text, value in changes[key]}
    for text, queries, scores in changed_columns(number.queries, number.scores):
        scored = evaluate_usable(queries, scores, (base.convention for base in bases.values()))
        values |= {
            (convention, text): scored[base.convention].value
            for convention, base in bases.items()
            if base.convention in scored
        }
    return values


def _general(text: str, base: OurNumber) -> str:
    """Word a mistake in the same way for every cutoff, and as one of the preset's value, not ours."""
    return text.replace("ours", "the value", 1).replace(f"k={getattr(base.convention, 'k', None)}", "k")


def _without_queries(number: Number, bases: dict[Convention, OurNumber]) -> Iterator[tuple[Key, float]]:
    """Yield the value of each preset without each query, and with another divisor if the number has enough decimals."""
    for convention, base in bases.items():
        if base.convention.is_sum:
            for search in (without_query, *((different_divisors,) if number.printed.decimals > FEW_DECIMALS else ())):
                changes = search(base)
                for index, value in enumerate(changes.values.tolist()):
                    yield (convention, changes.describe(index).text.removeprefix("it is ")), value
