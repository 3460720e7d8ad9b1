"""Several scores, which a notebook shows as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from rankadapters.core.convention import Convention
from rankadapters.core.score import COUNTS, Score
from rankadapters.core.table import Table

Found = TypeVar("Found")  # a Score, or a dict of model to Score
HEAD = ("value", *(name.removeprefix("n_") for name in COUNTS))


class Scores(dict[Convention, Found], Generic[Found]):
    """What each convention gives: a dict like any other, but for what notebooks show."""

    __slots__ = ()

    def table(self) -> Table:
        """Give a line for each convention, and for each model where there are several."""
        lines = list(self._lines())
        models = ("model",) if lines and len(lines[0]) > 1 + len(HEAD) else ()
        return Table.of(f"{len(self)} convention{'s' * (len(self) != 1)}", ("name", *models, *HEAD), lines)

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for convention, found in self.items():
            if isinstance(found, Score):
                yield (convention.name, *_cells(found))
            elif isinstance(found, dict):
                yield from ((convention.name, str(model), *_cells(score)) for model, score in found.items())

    def _repr_html_(self) -> str:
        return self.table().html()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()


def _cells(score: Score) -> tuple[str, ...]:
    return (f"{score.value:.4f}", *(str(getattr(score, name)) for name in COUNTS))
