"""The conventions that give a number, to be read and printed."""

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

FEW = 4  # names in a cell
SHOWN = 20  # lines of the printed forms; the list itself and to_dict hold all


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Conventions that give every query of the data the same value, and a number that this value's mean prints as.

    Attributes
    ----------
    convention : Convention
        The one that is nearest to a preset.
    values : tuple of float
        What `evaluate` gives under it, for each number.
    presets : tuple of str
        Presets and their variants among the conventions.
    near : tuple of str
        The presets that are nearest: `presets`, or those that the same few changes bring among the conventions.
    changes : dict of str to value
        The fields in which `convention` differs from the nearest preset; empty where it is a preset.
    alike : dict of str to tuple
        Fields that have several values among the conventions, with these: on this data they cannot be told.
    blocks : tuple of dict of str to tuple
        All the conventions: each block holds every combination of the values of its fields.
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
        """What `evaluate` gives under the convention, for the first number."""
        return self.values[0]

    def covers(self, convention: Convention) -> bool:
        """Tell whether a convention is among those that are the same on this data."""
        fields = convention.to_dict()
        if type(convention) is not type(self.convention):
            return False
        return any(all(fields[name] in values for name, values in block.items()) for block in self.blocks)

    def __str__(self) -> str:
        """Write the convention as `ra.parse` and the commands' `--convention` read it."""
        return self.convention.short_name

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {
            "signature": str(self.convention),
            "value": self.value,
            "values": list(self.values),
            "presets": list(self.presets),
            "near": list(self.near),
            "changes": {name: spelled(value) for name, value in self.changes.items()},
            "alike": {name: [spelled(value) for value in values] for name, values in self.alike.items()},
        }


class Matches(list[Match], Document):
    """Every match, the likeliest first; made by `identify`.

    Attributes
    ----------
    numbers : tuple of Number
        The numbers that were searched for, those without a cutoff last.
    chance : Chance
        How many conventions give random numbers in their place.
    telling : tuple of Telling
        Which further number would tell the matches apart.
    nearest : Match or None
        Where nothing matches, what comes nearest.
    notes : tuple of str
        What was not searched, and, where nothing matches, what would be needed.
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
        """Give the matches, or what comes nearest, then what would tell them apart."""
        shown = [f"Note: {note}" for note in self.notes[:SHOWN]]
        if len(self.notes) > SHOWN:
            shown.append(f"Note: {len(self.notes) - SHOWN} more; to_dict() has all")
        return [*(self._matched() if self else self._unmatched()), *(["\n".join(shown)] if shown else [])]

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
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
        several = "one convention" if len(self) == 1 else f"{len(self)} conventions that differ on this data"
        head = f"{self._asked('is', 'are all')} given by {several}.\n{self.chance.sentence(len(self[0].changes))}"
        if len(self.numbers) == 1 and self.chance.share(len(self[0].changes)) >= POSSIBLE:
            head += f"\nHint: give several numbers of the table at once, {EXAMPLE}."
        names = ["value"] if len(self.numbers) == 1 else [number.name for number in self.numbers]
        lines = [
            (str(m), *(f"{value:.8f}" for value in m.values), _few(m.near), ", ".join(m.alike) or "-")
            for m in self[:SHOWN]
        ]
        shown = "Matches" if n_first == len(self) else f"The likeliest {n_first} of {len(self)} matches"
        table = Table.of(shown, ("convention", *names, "presets, changed alike", "cannot be told here"), lines)
        return [head, table, *self._told(), *map(_signature, self[:SHOWN])]

    def _asked(self, one: str, several: str) -> str:
        if len(self.numbers) == 1:
            return f"{self.numbers[0].printed} {one}"
        return f"{', '.join(map(str, self.numbers))} {several}"

    def _told(self) -> list[str | Table]:
        if not self.telling:
            return []
        names = [str(telling) for telling in self.telling]
        among = len(self.telling[0].values)
        lines = [(str(self[i]), *(t.values[i] for t in self.telling)) for i in range(min(among, SHOWN))]
        groups = ", ".join(f"{name} makes {t.n_groups} groups" for name, t in zip(names, self.telling, strict=True))
        caption = f"What would tell them apart: {groups} of the {'first ' if among < len(self) else ''}{among}"
        return [Table.of(caption, ("convention", *names), lines)]

    def _unmatched(self) -> list[str | Table]:
        if len(self.numbers) > 1:
            return [f"No convention of the grid gives all of {', '.join(map(str, self.numbers))}."]
        printed = self.numbers[0].printed
        head = f"No convention of the grid gives {printed}."
        if self.nearest is None:
            return [head]
        off = signed(self.nearest.value - float(printed.value))
        return [f"{head}\nThe nearest is {self.nearest}: {self.nearest.value:.8f}, off by {off}."]


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _signature(match: Match) -> str:
    alike = "; ".join(f"{name}={'|'.join(map(spelled, values))}" for name, values in match.alike.items())
    return f"{match}: {match.convention}" + (f"\nThe same on this data: {alike}" if alike else "")
