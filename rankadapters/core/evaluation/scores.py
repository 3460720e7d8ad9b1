"""Results by convention, looked up by a convention or any text that parses to it; scores are shown as a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, NotAskedError, choices
from rankadapters.core.evaluation.score import HEAD, Score
from rankadapters.core.evaluation.table import Table, Written
from rankadapters.presets.texts import as_convention

Result = TypeVar("Result")  # such as a Score, or a dict of Scores by model


class ByConvention(Mapping[Convention, Result]):
    """Results in the order of the requested conventions.

    Iteration yields every requested entry, even if two conventions are equal. A look-up accepts a convention or any
    text of it, and prefers the entry with the same name.

    Parameters
    ----------
    entries : iterable of (Convention, result)
        The entries in the requested order.

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

    def __init__(self, entries: Iterable[tuple[Convention, Result]]) -> None:
        self._entries = tuple(entries)
        self._indices: dict[Convention, list[int]] = {}
        for index, (convention, _) in enumerate(self._entries):
            self._indices.setdefault(convention, []).append(index)

    def __getitem__(self, key: Convention | str) -> Result:
        """Return the result for a convention, or for a text that parses to it."""
        try:
            convention = key if isinstance(key, Convention) else as_convention(key)
        except ConventionError as error:
            raise NotAskedError(str(error)) from None
        indices = self._indices.get(convention)
        if indices is None:
            names = choices(convention.short_name for convention in self)
            raise NotAskedError(f"{convention.short_name} was not asked for.", hint=f"this result holds {names}")
        if len(indices) > 1:
            indices = [index for index in indices if self._entries[index][0].name == convention.name] or indices
        return self._entries[indices[0]][1]

    def __iter__(self) -> Iterator[Convention]:
        """Iterate over the conventions in the requested order."""
        return (convention for convention, _ in self._entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __repr__(self) -> str:
        """Show each result by its convention's shortest text."""
        entries = ", ".join(f"{convention.short_name!r}: {result!r}" for convention, result in self._entries)
        return f"{type(self).__name__}({{{entries}}})"


class _ShownScores(Written):
    """Scores that are written as a table with a line for each convention and model; notebooks show it."""

    @abstractmethod
    def _scores(self) -> Collection[tuple[Convention, Any]]:
        """Return each convention with its score, or with a dict of the scores of models."""

    def table(self) -> Table:
        """Return a table with a line for each convention and model."""
        scores, lines, models = self._scores(), list[tuple[str, ...]](), tuple[str, ...]()
        for convention, result in scores:
            if isinstance(result, dict):
                models = ("model",)
                lines += [(convention.name, str(model), *score.cells()) for model, score in result.items()]
            else:
                lines.append((convention.name, *result.cells()))
        return Table.of(f"{len(scores)} convention{'s' * (len(scores) != 1)}", ("name", *models, *HEAD), lines)

    def blocks(self) -> list[str | Table]:
        """Return the table, and the signature of each convention."""
        return [self.table(), signatures(convention for convention, _ in self._scores())]

    def _repr_html_(self) -> str:
        return self.table().html()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()


class Scores(ByConvention[Result], _ShownScores):
    """The scores of each convention, shown as a table in notebooks."""

    def __str__(self) -> str:
        """Return the table as text."""
        return str(self.table())

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        return self._entries


class ScoresOfModels(dict[Any, Score], _ShownScores):
    """The score of each model under one convention: a dict, shown as a table as `Scores` are."""

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        return [(convention, self) for convention in {score.convention for score in self.values()}]


def shape_results(
    conventions: Sequence[Convention], models: Mapping[Any, ByConvention[Any]], *, is_one: bool, one_model: bool
) -> Any:
    """Return results by convention, then model; leave out a level if the caller passed a single object for it."""
    first = next(iter(models.values()))
    kind = ScoresOfModels if isinstance(first, Scores) else dict
    by_model = ((key, kind({name: results[key] for name, results in models.items()})) for key in conventions)
    results = first if one_model else type(first)(by_model)
    return results[conventions[0]] if is_one else results


def signatures(conventions: Iterable[Convention]) -> str:
    """Return one line with name and signature for each convention."""
    return "\n".join(dict.fromkeys(f"{convention.name}: {convention}" for convention in conventions))
