"""Results by convention: every entry asked for, found by a convention or by any text of it; scores are also a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.errors import ConventionError, NotAskedError, choices
from rankadapters.core.evaluation.score import HEAD, Score
from rankadapters.core.evaluation.table import Table
from rankadapters.core.evaluation.written import Written

Found = TypeVar("Found")  # a Score, a dict of model to Score, or what else a convention gives


class ByConvention(Mapping[Convention, Found]):
    """Results in the order of the conventions asked for.

    Iterating gives every entry asked for, also where two of them mean equal conventions. A look-up takes a convention
    or any text of it, and prefers the entry of the same name.

    Parameters
    ----------
    entries : iterable of (Convention, result)
        In the order asked for.

    Examples
    --------
    >>> import rankadapters as ra
    >>> texts = ["letor3@2", "letor4@2"]
    >>> scores = ra.evaluate([1, 0], [0.9, 0.2], texts, group_sizes=[2])
    >>> [convention.short_name for convention in scores]
    ['letor3@2', 'letor4@2']
    >>> scores["letor4@2"].value
    1.0
    >>> scores["letor4@5"]
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.NotAskedError: letor4@5 was not asked for.
    Hint: this result holds 'letor3@2', 'letor4@2'.
    """

    def __init__(self, entries: Iterable[tuple[Convention, Found]]) -> None:
        self._entries = tuple(entries)
        self._places: dict[Convention, list[int]] = {}
        for place, (convention, _) in enumerate(self._entries):
            self._places.setdefault(convention, []).append(place)

    def __getitem__(self, key: Convention | str) -> Found:
        """Return the result under a convention, or a text of one."""
        try:
            convention = key if isinstance(key, Convention) else as_convention(key)
        except ConventionError as error:
            raise NotAskedError(str(error)) from None
        places = self._places.get(convention)
        if places is None:
            held = choices(convention.short_name for convention in self)
            raise NotAskedError(f"{convention.short_name} was not asked for.", hint=f"this result holds {held}")
        if len(places) > 1:
            places = [place for place in places if self._entries[place][0].name == convention.name] or places
        return self._entries[places[0]][1]

    def __iter__(self) -> Iterator[Convention]:
        """Iterate over the conventions in the order asked for."""
        return (convention for convention, _ in self._entries)

    def __len__(self) -> int:
        """Count the entries asked for."""
        return len(self._entries)

    def __repr__(self) -> str:
        """Show each result by its convention's shortest text."""
        entries = ", ".join(f"{convention.short_name!r}: {found!r}" for convention, found in self._entries)
        return f"{type(self).__name__}({{{entries}}})"


class Scores(ByConvention[Found], Written):
    """The scores of each convention, which notebooks show as a table."""

    def table(self) -> Table:
        """Give a line for each convention, and for each model where there are several."""
        lines = list(self._lines())
        models = ("model",) if lines and len(lines[0]) > 1 + len(HEAD) else ()
        return Table.of(f"{len(self)} convention{'s' * (len(self) != 1)}", ("name", *models, *HEAD), lines)

    def blocks(self) -> list[str | Table]:
        """Give the table, and the signature of each convention."""
        return [self.table(), signatures(self)]

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for convention, found in self._entries:
            if isinstance(found, Score):
                yield (convention.name, *found.cells())
            elif isinstance(found, dict):
                yield from ((convention.name, str(model), *score.cells()) for model, score in found.items())

    def _repr_html_(self) -> str:
        return self.table().html()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()


def shaped(
    conventions: Sequence[Convention], models: Mapping[Any, ByConvention[Any]], *, is_one: bool, one_model: bool
) -> Any:
    """Return the results of one convention alone where one was given, and by model where the models have names."""
    first = next(iter(models.values()))
    by_model = ((each, {name: results[each] for name, results in models.items()}) for each in conventions)
    found = first if one_model else type(first)(by_model)
    return found[conventions[0]] if is_one else found


def signatures(conventions: Iterable[Convention]) -> str:
    """Write each convention's name and signature in a line of its own."""
    return "\n".join(dict.fromkeys(f"{convention.name}: {convention}" for convention in conventions))


def named_as(conventions: Iterable[Convention], scores: Mapping[Convention, Score]) -> Scores[Score]:
    """Return the score of each convention asked for, under that convention's own name."""
    return Scores((convention, replace(scores[convention], convention=convention)) for convention in conventions)
