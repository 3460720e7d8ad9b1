"""The conventions that give several numbers at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.field_grid import Values, searched
from rankadapters.audit.identify.candidates import Block, Candidate, Candidates, Cutoffs, is_convention
from rankadapters.audit.identify.known_presets import starts
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError

Rows = NDArray[np.int64]  # shape (n, n_fields): of each field a set of values, as bits


@dataclass(frozen=True, slots=True)
class Bits:
    """Sets of values of a measure's fields as bits; the cutoff is not among the fields."""

    names: tuple[str, ...]
    values: dict[str, list[Any]] = field(default_factory=dict)
    sets: dict[tuple[str, Values], int] = field(default_factory=dict)

    def rows(self, blocks: Iterable[Block]) -> Rows:
        """Give a row for each block."""
        rows = [[self._set(name, block[name]) for name in self.names] for block in blocks]
        return np.array(rows, np.int64).reshape(-1, len(self.names))

    def _set(self, name: str, values: Values) -> int:
        if (name, values) not in self.sets:
            known = self.values.setdefault(name, [])
            known += [value for value in dict.fromkeys(values) if value not in known]
            self.sets[name, values] = sum(1 << known.index(value) for value in dict.fromkeys(values))
        return self.sets[name, values]


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Conventions that are candidates for every number.

    Attributes
    ----------
    measure : type of Convention
        What was searched.
    candidates : list of tuple of Candidate
        One of each number; the conventions are those that are in the blocks of all of them.
    n_changes : int64 array, shape (n,)
        How many fields differ from the nearest preset.
    """

    measure: type[Convention]
    candidates: list[tuple[Candidate, ...]]
    n_changes: NDArray[np.int64]

    def groups(self) -> dict[object, list[Block]]:
        """Give the conventions by what the value of every query is under them, where they give all the numbers."""
        found: dict[object, list[Block]] = {}
        for candidates in self.candidates:
            keys = tuple(candidate.key for candidate in candidates)
            block = {} if None in keys else _in_all([candidate.block for candidate in candidates])
            if block and is_convention(self.measure, block):
                found.setdefault(keys, []).append(block)
        return found


def join(queries: Queries, cutoffs: Sequence[Cutoffs], found: Sequence[Candidates]) -> Joint:
    """Find the conventions that are candidates for every number.

    Parameters
    ----------
    cutoffs : sequence of tuple
        Those that were searched for each number. Several, where it is unknown, are the same for all numbers.
    found : sequence of Candidates
        Of each number.
    """
    measure, several = found[0].measure, [one.near for one in found]
    unknown = len(cutoffs[0]) > 1
    if not unknown and cutoffs[0] != (None,):
        several = [
            _with_cutoff(measure, queries, near) if ks == (None,) else near
            for ks, near in zip(cutoffs, several, strict=True)
        ]
    bits = Bits(tuple(name for name, kind in measure.declared().items() if kind.group != "head"))
    parts = [_joined(bits, part) for part in _by_cutoff(several)] if unknown else [_joined(bits, several)]
    rows = np.concatenate([bits.rows([]), *(rows for rows, _ in parts)])
    presets = starts(measure, cutoffs[0][0]).values()
    return Joint(measure, [joint for _, joints in parts for joint in joints], _n_changes(bits, rows, presets))


def _n_changes(bits: Bits, rows: Rows, presets: Iterable[Convention]) -> NDArray[np.int64]:
    """Count the fields in which the conventions of each row differ from the nearest preset."""
    found = np.full(len(rows), len(bits.names))
    for preset in bits.rows({name: (getattr(one, name),) for name in bits.names} for one in presets):
        found = np.minimum(found, np.count_nonzero((rows & preset) == 0, axis=1))
    return found


def _joined(bits: Bits, several: Sequence[Sequence[Candidate]]) -> tuple[Rows, list[tuple[Candidate, ...]]]:
    rows = bits.rows(candidate.block for candidate in several[0])
    joint: list[tuple[Candidate, ...]] = [(candidate,) for candidate in several[0]]
    for candidates in several[1:]:
        others = bits.rows(candidate.block for candidate in candidates)
        pairs = [(i, j) for i, row in enumerate(rows) for j in np.flatnonzero((row & others).all(axis=1)).tolist()]
        rows = bits.rows([]) if not pairs else np.stack([rows[i] & others[j] for i, j in pairs])
        joint = [(*joint[i], candidates[j]) for i, j in pairs]
    return rows, joint


def _by_cutoff(several: Sequence[Sequence[Candidate]]) -> list[list[list[Candidate]]]:
    """Put together the candidates of each cutoff."""
    found: dict[Values, list[list[Candidate]]] = {}
    for number, candidates in enumerate(several):
        for candidate in candidates:
            found.setdefault(candidate.block["k"], [[] for _ in several])[number].append(candidate)
    return list(found.values())


def _with_cutoff(measure: type[Convention], queries: Queries, several: list[Candidate]) -> list[Candidate]:
    """Add the values that mean the same without a cutoff, such as those of `short`."""
    same: dict[str, dict[Any, Any]] = {}
    for candidate in several[:1]:
        first = {name: values[0] for name, values in candidate.block.items()}
        for name, values in searched(measure, queries).items():
            same[name] = {value: _unified(measure, {**first, name: value}, name) for value in values}
    return [
        candidate._replace(
            block={
                name: (*values, *(v for v, meant in same.get(name, {}).items() if meant in values and v not in values))
                for name, values in candidate.block.items()
            }
        )
        for candidate in several
    ]


def _unified(measure: type[Convention], fields: dict[str, Any], name: str) -> Any:
    try:
        return getattr(measure(**fields), name)
    except ConventionError:
        return fields[name]


def _in_all(blocks: list[Block]) -> Block:
    first, *others = blocks
    return {
        name: tuple(v for v in values if name == "k" or all(v in other[name] for other in others))
        for name, values in first.items()
    }
