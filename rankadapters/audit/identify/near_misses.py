"""What it would take to give a number that no convention of the grid gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankadapters.audit.evaluation import evaluated
from rankadapters.audit.field_grid import has_cutoff
from rankadapters.audit.identify.candidates import Cutoffs
from rankadapters.audit.identify.grid_search import search
from rankadapters.audit.identify.joint import join
from rankadapters.audit.identify.known_presets import known, named, nearest_of
from rankadapters.audit.printed import Printed
from rankadapters.core.data.columns import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import NumberOrWord
from rankadapters.statistics.cells import spelled

DIGITS = 2  # of a field's number; with more, some number fits any value


@dataclass(frozen=True, slots=True, eq=False)
class NearMisses:
    """What would have to be different in a preset for a number to be the one that was printed."""

    queries: Queries
    scores: Array
    measure: type[Convention]
    printed: Printed

    def notes(self, ks: Cutoffs, others: Cutoffs) -> tuple[str, ...]:
        """Tell which one field would need which value outside the grid: a number at the cutoffs `ks`, or a cutoff.

        The cutoffs in question are `others`.
        """
        # A value is linear in what a policy gives a query, but not in the label of a row.
        declared = self.measure.declared().items()
        kinds = {n: kind for n, kind in declared if isinstance(kind, NumberOrWord) and kind.group == "policy"}
        found = [note for k in ks for name, kind in kinds.items() for note in self._numbers(name, kind, k)]
        found += self._cutoffs(others) if others else []
        return tuple(dict.fromkeys(found or self._nothing(list(kinds))))

    def _nothing(self, names: list[str]) -> Iterator[str]:
        tried = [f"no other value of `{name}`" for name in names]
        tried += ["no other cutoff up to 100"] if has_cutoff(self.measure) else []
        if tried:
            yield f"{', and '.join(tried)}{',' if len(tried) > 1 else ''} would give it in a preset"

    def _numbers(self, name: str, kind: NumberOrWord, k: int | None) -> Iterator[str]:
        """Name the presets that give the number under another number of a field, in which a value is linear."""
        presets = known(self.measure, k)
        variants = {c: [c.replace(**{name: end}) for end in (kind.low, kind.high)] for c in presets.values()}
        values = evaluated(self.queries, self.scores, (c for pair in variants.values() for c in pair))
        found: dict[float, list[str]] = {}
        for label, convention in presets.items():
            below, above = (values.get(end) for end in variants[convention])
            if below is None or above is None or below.value == above.value:
                continue
            share = (float(self.printed.value) - below.value) / (above.value - below.value)
            if 0 <= share <= 1:
                number = self._shortest(convention, name, kind.low + share * (kind.high - kind.low))
                if number is not None:
                    found.setdefault(number, []).append(label)
        for number, labels in sorted(found.items(), key=lambda each: len(spelled(each[0]))):
            at = f" at {spelled(k)}" if has_cutoff(self.measure) else ""
            yield f"{name}={spelled(number)} in {', '.join(labels)}{at} would give it"

    def _shortest(self, convention: Convention, name: str, exact: float) -> float | None:
        """Number with the fewest digits under which the convention gives what was printed."""
        rounded = dict.fromkeys(float(np.round(exact, digits)) for digits in range(DIGITS + 1))
        tried = {number: convention.replace(**{name: number}) for number in rounded}
        values = evaluated(self.queries, self.scores, tried.values())
        holding = (n for n, one in tried.items() if one in values and self.printed.holds(values[one].value))
        return next(holding, None)

    def _cutoffs(self, others: Cutoffs) -> Iterator[str]:
        """Name the presets that give the number at another cutoff."""
        candidates = search(self.queries, self.scores, self.measure, self.printed, others)
        for blocks in join(self.queries, [others], [candidates]).groups().values():
            near = nearest_of(self.measure, blocks)
            values = {} if near.changes else evaluated(self.queries, self.scores, [near.convention])
            if any(self.printed.holds(score.value) for score in values.values()):
                k = getattr(near.convention, "k", None)
                yield f"k={spelled(k)} in {', '.join(named(self.measure, blocks))} would give it"
