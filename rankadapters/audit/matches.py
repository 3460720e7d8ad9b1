"""The result of `identify`: the conventions that give the printed numbers, and how likely that is by chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankadapters.audit.numbers import EXAMPLE, Number
from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.evaluation.table import Cell, Table, fixed
from rankadapters.statistics.cells import percent, signed, spelled
from rankadapters.statistics.document import Document, plain
from rankadapters.statistics.grid import Block

MOST_NAMES = 4  # in a cell
MISTAKE = "mistake"  # the key of a mistake in words among the changes of a match
SHOWN = 20  # matches and notes that are printed; the list itself and to_dict have all
LIKELY, POSSIBLE = 0.5, 0.05  # if at least this share of the numbers matches, `Chance.verdict` doubts a match


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """How many of the numbers near the printed ones, with as many digits, conventions give on the same data.

    If the measure can take few values on the data, such as multiples of 1/50, only these are counted.

    Attributes
    ----------
    expected : tuple of float
        Mean number of conventions that give such a number. Entry i counts conventions that differ from a preset in at
        most i fields, where a mistake counts as a field; the last entry counts all.
    shares : tuple of float
        Share of these numbers that at least one convention gives; entries as in `expected`.
    n_random : int
        Number of numbers nearby, the printed one included, or, for several printed numbers, of their combinations.
    """

    expected: tuple[float, ...]
    shares: tuple[float, ...]
    n_random: int

    def share(self, n_changes: int) -> float:
        """Return the share of the numbers nearby that some preset with at most `n_changes` changed fields gives."""
        return self.shares[min(n_changes, len(self.shares) - 1)]

    def verdict(self, n_changes: int) -> str:
        """Say in words how likely it is that a match with `n_changes` changed fields is mere chance.

        >>> [Chance(expected=(e,), shares=(e,), n_random=10**4).verdict(0) for e in (0.6, 0.1, 0.01)]
        ['as likely as not by chance', 'perhaps by chance', 'hardly by chance']
        """
        share = self.share(n_changes)
        doubt = "as likely as not" if share >= LIKELY else "perhaps" if share >= POSSIBLE else "hardly"
        return f"{doubt} by chance"

    def sentence(self, n_changes: int) -> str:
        """Return a sentence: the share of the numbers nearby that conventions give, and the verdict for `n_changes`."""
        text = (
            f"Of the {self.n_random} numbers nearby that the measure can take, a convention gives "
            f"{self._written(self.shares[-1])} ({self.expected[-1]:.2g} conventions on average)"
        )
        if self.share(n_changes) < self.shares[-1]:
            fields = f"one that differs from a preset in {n_changes} field{'s'[: n_changes > 1]} at most"
            text += f", and {fields if n_changes else 'a preset'} {self._written(self.share(n_changes))}"
        return f"{text}: the first match is {self.verdict(n_changes)}."

    def _written(self, share: float) -> str:
        if share >= 0.001:  # noqa: PLR2004 - a percentage shows smaller shares as 0
            return percent(share)
        return f"one in {1 / share:.0f}" if share else f"none of {self.n_random}"


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Conventions with the same per-query values on the data, whose means round to the printed numbers.

    Or a preset that gives the numbers with a mistake, such as leaving one-document queries out.

    Attributes
    ----------
    conventions : tuple of Convention
        The convention that is nearest to a preset, at the cutoff of each number.
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

    conventions: tuple[Convention, ...]
    values: tuple[float, ...]
    presets: tuple[str, ...]
    near: tuple[str, ...]
    changes: dict[str, Any]
    alike: dict[str, tuple[Any, ...]]
    blocks: tuple[Block, ...] = field(repr=False)

    @property
    def convention(self) -> Convention:
        """The convention at the cutoff of the first number."""
        return self.conventions[0]

    @property
    def value(self) -> float:
        """Value of `convention` for the first number, as returned by `evaluate`."""
        return self.values[0]

    def single_convention(self) -> Convention:
        """Return the convention of all numbers; an error that asks which one if they have different cutoffs."""
        if len(set(self.conventions)) > 1:
            names = ", ".join(dict.fromkeys(convention.name for convention in self.conventions))
            message = f"this match has a convention for each of its numbers, {names}."
            raise ConventionError(message, hint="name one of them, such as match.conventions[0]")
        return self.convention

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
        """Return plain JSON types; values of fields are spelled as in signatures."""
        return {
            "signature": str(self.convention),
            "value": self.value,
            **{name: list(getattr(self, name)) for name in ("values", "presets", "near")},
            "changes": {name: spelled(value) for name, value in self.changes.items()},
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
    nearest : Match or None
        The nearest convention, if nothing matches a single number.
    notes : tuple of str
        Parts of the grid that were not searched, and, if nothing matches several numbers, each number without which
        the others match.
    """

    __slots__ = ("chance", "nearest", "notes", "numbers")

    def __init__(
        self,
        matches: Iterable[Match],
        *,
        numbers: Sequence[Number],
        chance: Chance,
        nearest: Match | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        super().__init__(matches)
        self.numbers, self.chance, self.nearest, self.notes = tuple(numbers), chance, nearest, tuple(notes)

    def blocks(self) -> list[str | Table]:
        """Return the matches or the nearest convention, and then the notes."""
        notes = list(self.notes[:SHOWN])
        if len(self.notes) > SHOWN:
            notes.append(f"{len(self.notes) - SHOWN} more; to_dict() has all")
        shown = "\n".join(f"Note: {note}" for note in notes)
        return [*(self._matched() if self else [self._unmatched()]), *filter(None, [shown])]

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes and the `matches` as plain JSON types."""
        attributes = {"numbers": self.numbers, "chance": self.chance, "matches": list(self), "nearest": self.nearest}
        return {**plain(attributes), "notes": list(self.notes)}

    def _frame_rows(self) -> list[dict[str, Any]]:
        """Return a row for each match."""
        return [{"name": str(match), **match.to_dict()} for match in self]

    def _matched(self) -> list[str | Table]:
        n_changes, single = len(self[0].changes), len(self.numbers) == 1
        conventions = "one convention" if len(self) == 1 else f"{len(self)} conventions that differ on this data"
        given = f"{self.numbers[0].printed} is" if single else f"{', '.join(map(str, self.numbers))} are all"
        head = f"{given} given by {conventions}.\n{self.chance.sentence(n_changes)}"
        if single and self.chance.share(n_changes) >= POSSIBLE:
            head += f"\nHint: give several numbers of the table at once, {EXAMPLE}."
        lines, signatures = [], []
        for match in self[:SHOWN]:
            more = f" and {len(match.near) - MOST_NAMES} more" if len(match.near) > MOST_NAMES else ""
            near, values = ", ".join(match.near[:MOST_NAMES]) + more, (Cell("{:.8f}", value) for value in match.values)
            lines.append((str(match), *values, near, ", ".join(match.alike) or "-"))
            alike = "; ".join(f"{name}={'|'.join(map(spelled, values))}" for name, values in match.alike.items())
            signatures.append(f"{match}: {match.convention}" + (f"\nThe same on this data: {alike}" if alike else ""))
        names = ["value"] if single else [number.name for number in self.numbers]
        shown = "Matches" if len(self) <= SHOWN else f"The likeliest {SHOWN} of {len(self)} matches"
        table = Table.of(shown, ("convention", *names, "presets, changed alike", "cannot be told here"), lines)
        return [head, table, *signatures]

    def _unmatched(self) -> str:
        if len(self.numbers) > 1:
            return f"No convention of the grid gives all of {', '.join(map(str, self.numbers))}."
        [number] = self.numbers
        head = f"No convention of the grid gives {number.printed}."
        if self.nearest is None:
            return head
        difference = signed(self.nearest.value - number.value)
        return f"{head}\nThe nearest is {self.nearest}: {fixed(self.nearest.value, 8)}, off by {difference}."
