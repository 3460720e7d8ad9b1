"""The result of `identify`: the conventions that give the printed numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankadapters.audit.identification.chance import POSSIBLE, Chance
from rankadapters.audit.identification.further_numbers import Telling
from rankadapters.audit.identification.numbers import EXAMPLE, Number
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.cells import signed, spelled
from rankadapters.statistics.document import Document
from rankadapters.statistics.grid import Block

MOST_NAMES = 4  # in a cell
MISTAKE = "mistake"  # the key of a mistake in words among the changes of a match
SHOWN = 20  # matches and notes that are printed; the list itself and to_dict have all


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Conventions with the same per-query values on the data, whose means round to the printed numbers.

    Or a preset that gives the numbers with a mistake, such as leaving one-document queries out.

    Attributes
    ----------
    convention : Convention
        The convention that is nearest to a preset.
    values : tuple of float
        Its value for each number, as returned by `evaluate`.
    presets : tuple of str
        Presets and their variants among the conventions.
    near : tuple of str
        The nearest presets: `presets`; if there are none, those that become one of the conventions by `changes`.
    changes : dict of str to value
        The fields in which `convention` differs from the nearest preset; empty if it is a preset. `mistake` is the
        mistake in words.
    alike : dict of str to tuple
        Fields that this data cannot determine, each with its values among the conventions.
    blocks : tuple of dict of str to tuple
        All the conventions; a block has every combination of the values of its fields. Empty for a mistake.
    """

    convention: Convention
    values: tuple[float, ...]
    presets: tuple[str, ...]
    near: tuple[str, ...]
    changes: dict[str, Any]
    alike: dict[str, tuple[Any, ...]]
    blocks: tuple[Block, ...] = field(repr=False)

    @property
    def value(self) -> float:
        """Value of `convention` for the first number, as returned by `evaluate`."""
        return self.values[0]

    def covers(self, convention: Convention) -> bool:
        """Return whether a convention is one of the conventions of this match."""
        fields = convention.to_dict()
        if type(convention) is not type(self.convention):
            return False
        return any(all(fields[name] in values for name, values in block.items()) for block in self.blocks)

    def __str__(self) -> str:
        """Return the convention as text that `ra.parse` and the `--convention` option read, and then the mistake."""
        return ": ".join([self.convention.short_name, *([self.changes[MISTAKE]] if MISTAKE in self.changes else [])])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "signature": str(self.convention),
            "value": self.value,
            "values": list(self.values),
            "presets": list(self.presets),
            "near": list(self.near),
            "changes": {name: value if name == MISTAKE else spelled(value) for name, value in self.changes.items()},
            "alike": {name: [spelled(value) for value in values] for name, values in self.alike.items()},
        }


class Matches(list[Match], Document):
    """Every match, the likeliest first; made by `identify`.

    Attributes
    ----------
    numbers : tuple of Number
        The printed numbers, those without a cutoff last.
    chance : Chance
        Likelihood that such matches occur by chance.
    telling : tuple of Telling
        Further numbers that would distinguish the matches that are conventions without a mistake.
    nearest : Match or None
        The nearest convention, if nothing matches.
    notes : tuple of str
        Parts of the grid that were not searched, and, if nothing matches, changes that would give a match.
    """

    __slots__ = ("chance", "nearest", "notes", "numbers", "telling")

    def __init__(
        self,
        matches: Iterable[Match],
        *,
        numbers: Sequence[Number],
        chance: Chance,
        telling: tuple[Telling, ...] = (),
        nearest: Match | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(matches)
        self.numbers, self.chance = tuple(numbers), chance
        self.telling, self.nearest, self.notes = telling, nearest, notes

    def blocks(self) -> list[str | Table]:
        """Return the matches and the numbers that would distinguish them, or the nearest convention; then the notes."""
        shown = [f"Note: {note}" for note in self.notes[:SHOWN]]
        if len(self.notes) > SHOWN:
            shown.append(f"Note: {len(self.notes) - SHOWN} more; to_dict() has all")
        return [*(self._matched() if self else self._unmatched()), *(["\n".join(shown)] if shown else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "numbers": [number.to_dict() for number in self.numbers],
            "chance": self.chance.to_dict(),
            "matches": [match.to_dict() for match in self],
            "telling": [telling.to_dict() for telling in self.telling],
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
            "notes": list(self.notes),
        }

    def _matched(self) -> list[str | Table]:
        n_first = min(len(self), SHOWN)
        conventions = "one convention" if len(self) == 1 else f"{len(self)} conventions that differ on this data"
        head = f"{self._numbers('is', 'are all')} given by {conventions}.\n{self.chance.sentence(len(self[0].changes))}"
        if len(self.numbers) == 1 and self.chance.share(len(self[0].changes)) >= POSSIBLE:
            head += f"\nHint: give several numbers of the table at once, {EXAMPLE}."
        names = ["value"] if len(self.numbers) == 1 else [number.name for number in self.numbers]
        lines = [
            (str(m), *(f"{value:.8f}" for value in m.values), _shortened(m.near), ", ".join(m.alike) or "-")
            for m in self[:SHOWN]
        ]
        shown = "Matches" if n_first == len(self) else f"The likeliest {n_first} of {len(self)} matches"
        table = Table.of(shown, ("convention", *names, "presets, changed alike", "cannot be told here"), lines)
        return [head, table, *self._telling_table(), *map(_signature, self[:SHOWN])]

    def _numbers(self, singular: str, plural: str) -> str:
        if len(self.numbers) == 1:
            return f"{self.numbers[0].printed} {singular}"
        return f"{', '.join(map(str, self.numbers))} {plural}"

    def _telling_table(self) -> list[str | Table]:
        if not self.telling:
            return []
        names = [str(telling) for telling in self.telling]
        n_compared = len(self.telling[0].values)
        conventions = [match for match in self if MISTAKE not in match.changes]
        lines = [(str(conventions[i]), *(t.values[i] for t in self.telling)) for i in range(min(n_compared, SHOWN))]
        groups = ", ".join(f"{name} makes {t.n_groups} groups" for name, t in zip(names, self.telling, strict=True))
        compared = f"{'first ' if n_compared < len(conventions) else ''}{n_compared}"
        return [Table.of(f"What would tell them apart: {groups} of the {compared}", ("convention", *names), lines)]

    def _unmatched(self) -> list[str | Table]:
        if len(self.numbers) > 1:
            return [f"No convention of the grid gives all of {', '.join(map(str, self.numbers))}."]
        printed = self.numbers[0].printed
        head = f"No convention of the grid gives {printed}."
        if self.nearest is None:
            return [head]
        difference = signed(self.nearest.value - float(printed.value))
        return [f"{head}\nThe nearest is {self.nearest}: {self.nearest.value:.8f}, off by {difference}."]


def _shortened(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _signature(match: Match) -> str:
    alike = "; ".join(f"{name}={'|'.join(map(spelled, values))}" for name, values in match.alike.items())
    return f"{match}: {match.convention}" + (f"\nThe same on this data: {alike}" if alike else "")
