"""Profile of judged queries, with its printed forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankadapters.audit.profiling.field_effects import Effect
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.table import Table
from rankadapters.statistics.cells import percent, spelled
from rankadapters.statistics.document import Document


@dataclass(frozen=True, kw_only=True, slots=True)
class DataProfile(Document):
    """Traits of judged queries, and how much each field of a convention changes a value; made by `profile`.

    Attributes
    ----------
    k : tuple of int or None
        The requested cutoffs.
    n_queries, n_docs, longest : int
        Number of queries, number of rows, and number of rows in the largest query.
    empty : float
        Share of the queries in which no label is above 0.
    short : dict of (int or None) to float
        Share of the queries with fewer than k retrieved rows, by k.
    single_document : float
        Share of the queries with one judged row.
    all_equal : float
        Share of the queries whose labels are all equal, including queries of a single document.
    tied : float or None
        Share of the queries in which two retrieved rows have equal scores; None without scores.
    tied_at_cut : dict of (int or None) to float, or None
        Share of the queries in which tied rows with different labels are on both sides of the cutoff, by k.
    labels : dict of float to int
        Number of rows with each label.
    random : dict of Convention to float
        Expected value of a random ranking at each cutoff, under the measure's first preset that allows `ties="average"`
        and has a value on the data; empty if none has.
    measure : str
        The measure whose fields were varied, as named in signatures.
    effects : tuple of Effect
        The largest change that each field makes on this data, largest first.
    warnings : tuple of str
        Known pitfalls of this data, each with its reason.
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
    random: dict[Convention, float]
    measure: str
    effects: tuple[Effect, ...]
    warnings: tuple[str, ...]

    def blocks(self) -> list[str | Table]:
        """Return the size, the value of a random ranking, the tables, and the warnings."""
        return [*self.sentences(), *self.tables(), *(f"Warning: {warning}" for warning in self.warnings)]

    def sentences(self) -> tuple[str, ...]:
        """Return the numbers of queries and rows, and the expected value of a random ranking, if there is one."""
        values = ", ".join(f"{value:.4f} ({convention.name})" for convention, value in self.random.items())
        return self.size, *([f"A random ranking is expected to reach {values}."] if values else [])

    @property
    def size(self) -> str:
        """The numbers of queries and rows, as a sentence."""
        return f"{self.n_queries} queries, {self.n_docs} rows, up to {self.longest} in a query"

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of shares, labels and effects."""
        return self._share_table(), self._label_table(), *([self._effect_table()] if self.effects else [])

    def plot(self) -> Any:
        """Return a matplotlib Figure with a bar for each field: the largest change of the value by this field.

        Raises
        ------
        InputError
            No field makes a difference on this data.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import bars

        if not self.effects:
            msg = "no field of a convention makes a difference on this data, so there is nothing to draw."
            raise InputError(f"{msg}\nHint: print the profile to see the shares and the labels.")
        return bars([(e.field, e.change) for e in self.effects], f"largest change of {self.measure.upper()}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
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
            "random": {str(convention): value for convention, value in self.random.items()},
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
        basis = "expected of random rankings" if self.tied is None else "of these scores"
        lines = [(e.field, f"{e.change:.6f}", e.lowest, e.highest, e.convention.name) for e in self.effects]
        caption = f"Largest change of {self.measure.upper()} that each field makes, {basis}"
        return Table.of(
            f"{caption}, all else being one preset's", ("field", "change", "lowest with", "highest with", "in"), lines
        )
