"""The history of a training: a list of its reported values, with tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Self, SupportsIndex, overload

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError, MissingToolkitError, choices
from rankadapters.core.evaluation.table import Table
from rankadapters.core.presets.texts import as_convention

Follower = Callable[["Evaluation"], object]

_FOLLOWERS_OF_ALL: ContextVar[tuple[Follower, ...]] = ContextVar("followers of every history", default=())

COLUMNS = ("run", "iteration", "dataset", "name", "convention", "value")


class _Value(NamedTuple):
    dataset: str
    convention: Convention
    value: float


class Evaluation(_Value):
    """One entry of a history, in full precision; as a tuple it is (dataset, convention, value).

    Attributes
    ----------
    dataset : str
        The set's name in the toolkit (`valid_0`, `training`, or the name that you gave). A cross-validation has one
        name for all folds, so the fold's number is added: `valid_fold_0`, `test_fold_2`. If you call the metric
        yourself, the sets are `set_0`, `set_1` and so on, in the order of their first evaluation.
    convention : Convention
        The convention of the value.
    value : float
        The value that `ra.evaluate` returns.
    name : str
        Display name of the convention.
    run : int
        Index of the training in the history, from 0 on.
    iteration : int
        Round of that training, from 0 on.
    """

    name: str
    run: int
    iteration: int

    def __new__(
        cls,
        dataset: str,
        convention: Convention,
        value: float,
        *,
        name: str | None = None,
        run: int = 0,
        iteration: int = 0,
    ) -> Self:
        """Create an entry; the display name is by default `convention.name`."""
        entry = super().__new__(cls, dataset, convention, value)
        entry.name = convention.name if name is None else name
        entry.run, entry.iteration = run, iteration
        return entry

    def __repr__(self) -> str:
        """Show all fields except the convention."""
        return (
            f"Evaluation(dataset={self.dataset!r}, name={self.name!r}, value={self.value!r}, run={self.run}, "
            f"iteration={self.iteration})"
        )

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with changed fields, including `name`, `run` and `iteration`."""
        return type(self)(**{**self._asdict(), **vars(self), **changes})


class History(list[Evaluation]):
    """The reported values in order: a list of `Evaluation` that can be filtered, tabulated and plotted.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.presets.letor4(5)
    >>> history = History(Evaluation("valid", conv, 0.25 * i, iteration=i) for i in range(3))
    >>> print(history.summary())
    1 run, 3 iterations
    run  set    name           iterations      last      best  at
      0  valid  ndcg@5/letor4           3  0.500000  0.500000   2
    >>> history.only(dataset="valid")[-1].value
    0.5
    """

    def __init__(self, entries: Iterable[Evaluation] = ()) -> None:
        super().__init__(entries)
        self._followers: list[Follower] = []

    @overload
    def __getitem__(self, index: SupportsIndex) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Evaluation | History:
        """Return an entry, or a slice as a history."""
        return History(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle only the entries, without the functions that follow them."""
        return History, (list(self),)

    @property
    def runs(self) -> list[int]:
        """The indices of the trainings that have entries; the first training is 0."""
        return sorted({entry.run for entry in self})

    def record(self, entries: Iterable[Evaluation]) -> None:
        """Add entries, and pass each of them to the functions that follow this history."""
        for entry in entries:
            self.append(entry)
            for follower in (*self._followers, *_FOLLOWERS_OF_ALL.get()):
                follower(entry)

    def report(
        self, dataset: str, values: Mapping[Convention, float], names: Mapping[Convention, str], *, run: int,
        iteration: int,
    ) -> None:  # fmt: skip
        """Add the values of a set in a round, under the conventions' display names."""
        self.record(
            Evaluation(dataset, convention, values[convention], name=name, run=run, iteration=iteration)
            for convention, name in names.items()
        )

    @contextmanager
    def followed(self, follower: Follower) -> Iterator[Self]:
        """During a `with` block, call a function with each new entry; an error in the function ends the training."""
        self._followers.append(follower)
        try:
            yield self
        finally:
            self._followers.remove(follower)

    def only(
        self,
        *,
        run: int | None = None,
        dataset: str | None = None,
        convention: Convention | str | None = None,
    ) -> History:
        """Return the entries that match a training, a set, a convention, or a combination of these.

        Parameters
        ----------
        run : int, optional
            Index of the training; -1 is the last.
        dataset : str, optional
            Name of the set.
        convention : Convention or str, optional
            A convention or its text.

        Raises
        ------
        InputError
            There is no such run, or no entry matches.
        """
        chosen = None if convention is None else as_convention(convention)
        number = None if run is None else self._numbered(run)
        entries = [
            entry
            for entry in self
            if (number is None or entry.run == number)
            and (dataset is None or entry.dataset == dataset)
            and (chosen is None or entry.convention == chosen)
        ]
        if self and not entries:
            sets, names = ({getattr(entry, field): None for entry in self} for field in ("dataset", "name"))
            msg = "no entry of the history matches."
            raise InputError(f"{msg}\nHint: its sets are {choices(sets)}, its conventions {choices(names)}.")
        return History(entries)

    def _numbered(self, run: int) -> int:
        runs = self.runs
        if run in runs:
            return run
        if is_whole(run) and -len(runs) <= run < 0:
            return runs[run]
        msg = f"run={run!r}; the runs are {choices(runs)}.\nHint: run=-1 is the last."
        raise InputError(msg)

    def series(self) -> dict[tuple[int, str, str], list[Evaluation]]:
        """Group the entries by run, set and display name."""
        entries: dict[tuple[int, str, str], list[Evaluation]] = {}
        for entry in self:
            entries.setdefault((entry.run, entry.dataset, entry.name), []).append(entry)
        return entries

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per entry; `convention` is the signature.

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingToolkitError.of("pandas", "frame") from None
        signatures = {convention: str(convention) for convention in {entry.convention for entry in self}}
        rows = [(e.run, e.iteration, e.dataset, e.name, signatures[e.convention], e.value) for e in self]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def plot(self) -> Any:
        """Return a matplotlib Figure of the values by iteration, with a line for each run, set and name.

        Raises
        ------
        InputError
            The history is empty.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.curves import curves

        if not self:
            raise InputError("the history has no entry.\nHint: train first, with a set to evaluate.")
        iterations = sorted({entry.iteration for entry in self})
        lines = {}
        for label, entries in zip(self._labels(), self.series().values(), strict=True):
            values = {entry.iteration: entry.value for entry in entries}
            lines[label] = [values.get(iteration, float("nan")) for iteration in iterations]
        names = {entry.name for entry in self}
        return curves(iterations, lines, "iteration", names.pop() if len(names) == 1 else "value")

    def _labels(self) -> list[str]:
        """Return a label for each series: its set, its run if there are several runs, its name if several names."""
        keys = list(self.series())
        runs, names = len({run for run, _, _ in keys}) > 1, len({name for _, _, name in keys}) > 1
        return [
            ", ".join([*([f"run {run}"] if runs else []), dataset, *([name] if names else [])])
            for run, dataset, name in keys
        ]

    def summary(self) -> Table:
        """Return a table with the final value, the best value and its iteration, for each run, set and name."""
        n_runs, n_iterations = len(self.runs), len({(entry.run, entry.iteration) for entry in self})
        lines = []
        for (run, dataset, name), entries in self.series().items():
            best = max(entries, key=lambda entry: entry.convention.worth(entry.value))
            numbers = (f"{entries[-1].value:.6f}", f"{best.value:.6f}", str(best.iteration))
            lines.append((str(run), dataset, name, str(len(entries)), *numbers))
        caption = f"{n_runs} run{'s' * (n_runs != 1)}, {n_iterations} iteration{'s' * (n_iterations != 1)}"
        return Table.of(caption, ("run", "set", "name", "iterations", "last", "best", "at"), lines)

    def _repr_html_(self) -> str:
        return self.summary().html()

    def _repr_markdown_(self) -> str:
        return self.summary().markdown()


@contextmanager
def all_followed(follower: Follower) -> Iterator[None]:
    """During a `with` block, call a function with each new entry of any history, in this thread only.

    This also works for a training whose history you cannot reach before the training ends.
    """
    token = _FOLLOWERS_OF_ALL.set((*_FOLLOWERS_OF_ALL.get(), follower))
    try:
        yield
    finally:
        _FOLLOWERS_OF_ALL.reset(token)
