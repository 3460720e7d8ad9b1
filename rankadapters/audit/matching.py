"""Which conventions give a published number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

from rankadapters.audit.choices import evaluated
from rankadapters.audit.document import Document, Table, signed, spelled
from rankadapters.audit.known import USUAL, Block, Near, named, nearest, nearest_of
from rankadapters.audit.needed import needed
from rankadapters.audit.printed import Printed, read
from rankadapters.audit.search import Found, Progress, search
from rankadapters.audit.telling import Telling, tell_apart
from rankadapters.core.columns import Array
from rankadapters.core.convention import Convention
from rankadapters.core.fields import as_cutoff
from rankadapters.core.keywords import Columns
from rankadapters.core.measures import NDCG
from rankadapters.core.panel import Panel
from rankadapters.core.queries import Queries, as_queries

UPTO = 100
FEW = 4  # names in a cell
SHOWN = 20  # lines of the printed forms; the list itself and to_dict hold all


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """Conventions that give every query of the data the same value, and a number that this value's mean prints as.

    Attributes
    ----------
    convention : NDCG
        The one that is nearest to a preset.
    value : float
        What `evaluate` gives under it.
    presets : tuple of str
        Presets and their variants among the conventions.
    near : tuple of str
        The presets that are nearest: `presets`, or those that the same few changes bring among the conventions.
    changes : dict of str to value
        The fields in which `convention` differs from the nearest preset; empty where it is a preset.
    alike : dict of str to tuple
        Fields that have several values among the conventions, with these: on this data they cannot be told.
    """

    convention: NDCG
    value: float
    presets: tuple[str, ...]
    near: tuple[str, ...]
    changes: dict[str, Any]
    alike: dict[str, tuple[Any, ...]]
    blocks: tuple[Block, ...] = field(repr=False)

    def covers(self, convention: Convention) -> bool:
        """Tell whether a convention is among those that are the same on this data."""
        fields = convention.to_dict()
        return any(all(fields.get(name) in values for name, values in block.items()) for block in self.blocks)

    def __str__(self) -> str:
        """Write the convention as `ra.parse` and the commands' `--convention` read it."""
        return self.convention.short_name

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {
            "signature": str(self.convention),
            "value": self.value,
            "presets": list(self.presets),
            "near": list(self.near),
            "changes": {name: spelled(value) for name, value in self.changes.items()},
            "alike": {name: [spelled(value) for value in values] for name, values in self.alike.items()},
        }


class Matches(list[Match], Document):
    """Every match, the likeliest first; made by `identify`.

    Attributes
    ----------
    printed : Printed
        The number and its decimals.
    telling : tuple of Telling
        Which further number would tell the matches apart.
    nearest : Match or None
        Where nothing matches, what comes nearest.
    notes : tuple of str
        What was not searched, and, where nothing matches, what would be needed.
    """

    __slots__ = ("nearest", "notes", "printed", "telling")

    def __init__(
        self,
        matches: Iterable[Match],
        *,
        printed: Printed,
        telling: tuple[Telling, ...] = (),
        nearest: Match | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(matches)
        self.printed, self.telling, self.nearest, self.notes = printed, telling, nearest, notes

    def blocks(self) -> list[str | Table]:
        """Give the matches, or what comes nearest, then what would tell them apart."""
        shown = [f"Note: {note}" for note in self.notes[:SHOWN]]
        if len(self.notes) > SHOWN:
            shown.append(f"Note: {len(self.notes) - SHOWN} more; to_dict() has all")
        return [*(self._matched() if self else self._unmatched()), *(["\n".join(shown)] if shown else [])]

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {
            "value": str(self.printed),
            "decimals": self.printed.decimals,
            "matches": [match.to_dict() for match in self],
            "telling": [telling.to_dict() for telling in self.telling],
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
            "notes": list(self.notes),
        }

    def _matched(self) -> list[str | Table]:
        n_first = min(len(self), SHOWN)
        several = "one convention" if len(self) == 1 else f"{len(self)} conventions that differ on this data"
        head = f"{self.printed} is given by {several}."
        lines = [(str(m), f"{m.value:.8f}", _few(m.near), ", ".join(m.alike) or "-") for m in self[:SHOWN]]
        shown = "Matches" if n_first == len(self) else f"The likeliest {n_first} of {len(self)} matches"
        table = Table.of(shown, ("convention", "value", "presets, changed alike", "cannot be told here"), lines)
        return [head, table, *self._told(), *map(_signature, self[:SHOWN])]

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
        head = f"No convention of the grid gives {self.printed}."
        if self.nearest is None:
            return [head]
        off = signed(self.nearest.value - float(self.printed.value))
        return [f"{head}\nThe nearest is {self.nearest}: {self.nearest.value:.8f}, off by {off}."]


def identify(
    value: object,
    labels: object,
    scores: object,
    *,
    k: int | Literal["unknown"] | None = "unknown",
    decimals: int | None = None,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> Matches:
    """Find the conventions that give a published number.

    Searched are all combinations of gain (the formulas and the presets' tables), discount, ideal, ties (those by docid
    where there are docids), precision, short, empty (0, 0.5, 1 and skip), missing, unjudged and average, hence all
    presets too. Conventions that give every query the same value on this data are one match.

    Parameters
    ----------
    value : str, float or Decimal
        The number as it was printed; text keeps the zeros at its end.
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    k : int, None or 'unknown'
        The cutoff; None is no cutoff; unknown searches 1 to 100 and None.
    decimals : int, optional
        How many were printed; by default those of `value`. A value matches that rounds to the number; of more than 12
        decimals 12 are compared.
    progress : callable, optional
        Called with how many parts of the search are done, and how many there are.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    Matches
        A list of `Match`: presets first, then by how many fields differ from the nearest preset. Each value is what
        `evaluate` gives. Empty where nothing matches; then `nearest` and `notes` say what comes near, and what would
        be needed.

    Raises
    ------
    InputError
        The value is no number in [0, 1] (labels below 0 allow any), or has other decimals than `decimals` says.
    ConventionError
        k is no cutoff.

    Examples
    --------
    >>> found = identify("0.5000", [0, 1, 0], [2, 1, 1], k=1, group_sizes=[2, 1])
    >>> len(found), found[0].presets[0]
    (1, 'lightgbm')
    """
    queries = as_queries(labels, **columns).weighed_by("query_weight")
    array = queries.check_scores(scores)
    printed = read(value, decimals, negative=_has_negative_labels(queries))
    cutoffs = _cutoffs(k)
    found = search(queries, array, printed, cutoffs, progress)
    matches = _confirmed(queries, array, printed, found)
    if matches:
        telling = tell_apart(queries, array, printed, [match.convention for match in matches])
        return Matches(matches, printed=printed, telling=telling, notes=tuple(found.left_out))
    near = _nearest(queries, array, found)
    others = () if len(cutoffs) > 1 else tuple(c for c in _cutoffs("unknown") if c not in cutoffs)
    usual = dict.fromkeys((near.convention.k, *USUAL)) if near and len(cutoffs) > 1 else cutoffs
    notes = () if near is None else tuple(needed(queries, array, printed, usual, others))
    cut = () if near is None or not printed.truncates(near.value) else (f"{near} gives it cut off, not rounded",)
    return Matches([], printed=printed, nearest=near, notes=(*cut, *dict.fromkeys(notes), *found.left_out))


def _has_negative_labels(queries: Queries) -> bool:
    judged = slice(None) if queries.judged is None else queries.judged
    return bool((queries.labels[judged] < 0).any())


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _signature(match: Match) -> str:
    alike = "; ".join(f"{name}={'|'.join(map(spelled, values))}" for name, values in match.alike.items())
    return f"{match}: {match.convention}" + (f"\nThe same on this data: {alike}" if alike else "")


def _cutoffs(k: object) -> tuple[int | None, ...]:
    if isinstance(k, str) and k == "unknown":
        return (*range(1, UPTO + 1), None)
    return (None if k is None else as_cutoff(k),)


def _confirmed(queries: Queries, scores: Array, printed: Printed, found: Found) -> list[Match]:
    """Evaluate one convention of each group for real, and keep those that print as the number."""
    groups = [(nearest_of(blocks), blocks) for blocks in map(_merged, found.groups.values())]
    values = evaluated(queries, scores, (near.convention for near, _ in groups))
    matches = [
        (near, _match(near, blocks, values[near.convention].value))
        for near, blocks in groups
        if near.convention in values and printed.holds(values[near.convention].value)
    ]
    return [match for _, match in sorted(matches, key=lambda pair: pair[0].cost)]


def _nearest(queries: Queries, scores: Array, found: Found) -> Match | None:
    _, block = found.nearest
    if not block:
        return None
    near = nearest(block)
    [score] = Panel(queries, [near.convention]).evaluate(scores).values()
    return _match(near, [block], score.value)


def _match(near: Near, blocks: list[Block], value: float) -> Match:
    values = {name: dict.fromkeys(v for block in blocks for v in block[name]) for name in blocks[0]}
    ordered = {name: tuple(values[name]) for name in near.convention.fields()}
    alike = {name: several for name, several in ordered.items() if len(several) > 1}
    presets = named(blocks)
    return Match(
        convention=near.convention, value=value, presets=presets, near=presets or near.presets, changes=near.changes,
        alike=alike, blocks=tuple(blocks),
    )  # fmt: skip


def _merged(blocks: list[Block]) -> list[Block]:
    """Make blocks that differ in their cutoff only one."""
    cutoffs: dict[tuple[tuple[str, tuple[Any, ...]], ...], list[int | None]] = {}
    for block in blocks:
        rest = tuple((name, values) for name, values in block.items() if name != "k")
        cutoffs.setdefault(rest, []).extend(block["k"])
    return [{"k": tuple(dict.fromkeys(ks)), **dict(rest)} for rest, ks in cutoffs.items()]
