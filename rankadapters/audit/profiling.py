"""What the data are like, and which choices of a convention matter on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.document import Document, Table, percent, spelled
from rankadapters.audit.effects import Effect, effects
from rankadapters.audit.pitfalls import pitfalls
from rankadapters.audit.sight import see
from rankadapters.core.errors import InputError
from rankadapters.core.fields import as_cutoff
from rankadapters.core.keywords import Columns
from rankadapters.core.queries import as_queries

Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class DataProfile(Document):
    """What the data are like; made by `profile`.

    Attributes
    ----------
    k : tuple of int or None
        The cutoffs asked for.
    n_queries, n_docs, longest : int
        Queries, rows, and rows of the largest query.
    empty : float
        Share of the queries in which no label is above 0.
    short : dict of (int or None) to float
        Share of the queries with fewer than k retrieved rows, by k.
    single_document : float
        Share of the queries with one judged row.
    all_equal : float
        Share of the queries whose labels are all the same, single documents among them.
    tied : float or None
        Share of the queries in which two retrieved rows have equal scores; None without scores.
    tied_at_cut : dict of (int or None) to float, or None
        Share of the queries in which rows on both sides of the cut are tied and differ in label, by k.
    labels : dict of float to int
        How many rows have each label.
    effects : tuple of Effect
        For each field of a convention the largest change it makes on this data, largest first.
    warnings : tuple of str
        Known pitfalls that concern this data, each with its reason.
    """

    k: tuple[int | None, ...]
    n_queries: int
    n_docs: int
    longest: int
    empty: float
    short: dict[int | None, float]
    single_document: float
    all_equal: float
    tied: float | None
    tied_at_cut: dict[int | None, float] | None
    labels: dict[float, int]
    effects: tuple[Effect, ...]
    warnings: tuple[str, ...]

    def blocks(self) -> list[str | Table]:
        """Give the size, the shares, the labels, the effects of the fields, and the warnings."""
        return [self.size, *self.tables(), *(f"Warning: {warning}" for warning in self.warnings)]

    @property
    def size(self) -> str:
        """Say how many queries and rows there are."""
        return f"{self.n_queries} queries, {self.n_docs} rows, up to {self.longest} in a query"

    def tables(self) -> tuple[Table, ...]:
        """Give the shares, the labels and the effects."""
        return self._share_table(), self._label_table(), self._effect_table()

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        plain = {name: getattr(self, name) for name in ("n_queries", "n_docs", "longest", "empty")}
        cut = self.tied_at_cut
        return {
            "k": [spelled(k) for k in self.k],
            **plain,
            "short": {spelled(k): share for k, share in self.short.items()},
            "single_document": self.single_document,
            "all_equal": self.all_equal,
            "tied": self.tied,
            "tied_at_cut": None if cut is None else {spelled(k): share for k, share in cut.items()},
            "labels": {spelled(label): count for label, count in self.labels.items()},
            "effects": [
                {
                    "field": e.field, "change": e.change, "lowest": e.lowest, "highest": e.highest,
                    "name": e.convention.name, "signature": str(e.convention),
                }
                for e in self.effects
            ],
            "warnings": list(self.warnings),
        }  # fmt: skip

    def _share_table(self) -> Table:
        lines = [
            ("nothing relevant (empty)", self.empty),
            *((f"fewer than {k} rows (short)", share) for k, share in self.short.items() if k is not None),
            ("one document", self.single_document),
            ("all labels equal", self.all_equal),
            ("tied scores", self.tied),
            *((f"a tie of different labels at the cut {k}", share) for k, share in (self.tied_at_cut or {}).items()),
        ]
        cells = [(name, "-" if share is None else percent(share)) for name, share in lines]
        return Table.of("Queries with", ("what", "share"), cells)

    def _label_table(self) -> Table:
        lines = [(spelled(label), str(n), percent(n / sum(self.labels.values()))) for label, n in self.labels.items()]
        return Table.of("Labels", ("label", "rows", "share"), lines)

    def _effect_table(self) -> Table:
        of = "expected of random rankings" if self.tied is None else "of these scores"
        lines = [(e.field, f"{e.change:.6f}", e.lowest, e.highest, e.convention.name) for e in self.effects]
        caption = f"Largest change of NDCG that each field makes, {of}, all else being one preset's"
        return Table.of(caption, ("field", "change", "lowest with", "highest with", "in"), lines)


def profile(
    labels: object, *, k: int | Iterable[int | None] | None, scores: object = None, **columns: Unpack[Columns]
) -> DataProfile:
    """Describe judged queries: what is peculiar about them, and which choices of a convention matter here.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    k : int, None or several of them
        Cutoffs in question; None counts all rows.
    scores : array-like, shape (n_docs,), optional
        Predicted scores. Without them the effects are those on the expected value of a random ranking, and that of
        `ties` the largest for any scores.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    DataProfile
        Shares, label histogram, effects of the fields, warnings.

    Raises
    ------
    InputError
        The columns contradict each other, or no preset has a value on the data.
    ConventionError
        A cutoff is no whole number from 1 on.

    Examples
    --------
    >>> found = profile([1, 0, 0, 0], k=2, scores=[2.0, 1.0, 1.0, 3.0], group_sizes=[2, 2])
    >>> found.empty, found.labels, {effect.field: effect.change for effect in found.effects}["empty"]
    (0.5, {0.0: 3, 1.0: 1}, 0.5)
    """
    cutoffs = _cutoffs(k)
    queries = as_queries(labels, **columns).weighed_by("query_weight")
    given = None if scores is None else queries.check_scores(scores)
    seen = see(queries, given, cutoffs)
    found = effects(queries, given, cutoffs)
    if not found:
        msg = "no preset has a value on this data.\nHint: ra.evaluate under one of them says why."
        raise InputError(msg)
    return DataProfile(
        k=cutoffs, n_queries=queries.n_queries, n_docs=queries.n_docs, longest=int(np.diff(queries.indptr).max()),
        empty=_share(seen.empty), short={k: _share(flags) for k, flags in seen.short.items()},
        single_document=_share(seen.single), all_equal=_share(seen.equal),
        tied=None if seen.tied is None else _share(seen.tied),
        tied_at_cut=None if seen.tied_at_cut is None else {k: _share(f) for k, f in seen.tied_at_cut.items()},
        labels=seen.labels, effects=found, warnings=pitfalls(queries, seen, found),
    )  # fmt: skip


def _cutoffs(k: object) -> tuple[int | None, ...]:
    several = list(k) if isinstance(k, Iterable) and not isinstance(k, (str, bytes)) else [k]
    if not several:
        msg = "no cutoff was given.\nHint: k=10, or k=None for all rows."
        raise InputError(msg)
    return tuple(dict.fromkeys(None if cutoff is None else as_cutoff(cutoff) for cutoff in several))


def _share(flags: Flags) -> float:
    return float(np.mean(flags))
