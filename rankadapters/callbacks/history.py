"""What a training reported, round by round: a list of values that knows its trainings, as a table and as a plot."""

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
        The set's name as the toolkit shows it (`valid_0`, `training`, the name that was given). A cross-validation
        shows one name for all folds, so the fold's number follows: `valid_fold_0`, `test_fold_2`. A set of a call by
        hand is `set_0`, `set_1` and so on, in the order of first sight.
    convention : Convention
        What decided the value.
    value : float
        What `ra.evaluate` gives.
    name : str
        What the convention reports under.
    run : int
        Which training of the history, from 0 on.
    iteration : int
        Which round of that training, from 0 on.
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
        """Make an entry; a convention reports under its own name by default."""
        entry = super().__new__(cls, dataset, convention, value)
        entry.name = convention.name if name is None else name
        entry.run, entry.iteration = run, iteration
        return entry

    def __repr__(self) -> str:
        """Show everything but the signature."""
        return (
            f"Evaluation(dataset={self.dataset!r}, name={self.name!r}, value={self.value!r}, run={self.run}, "
            f"iteration={self.iteration})"
        )

    def _replace(self, **changes: Any) -> Self:
        """Change fields, those outside of the tuple too."""
        return type(self)(**{**self._asdict(), **vars(self), **changes})


class History(list[Evaluation]):
    """What was reported, in order: a list of `Evaluation` with a table, a plot, and choices among its entries.

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
    def __getitem__(self, place: SupportsIndex) -> Evaluation: ...
    @overload
    def __getitem__(self, place: slice) -> History: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Evaluation | History:
        """Give an entry, or a part as a history."""
        return History(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the entries, not who follows them."""
        return History, (list(self),)

    @property
    def runs(self) -> list[int]:
        """The trainings that there are entries of, from 0 on."""
        return sorted({entry.run for entry in self})

    def record(self, entries: Iterable[Evaluation]) -> None:
        """Add entries, and tell those who follow."""
        for entry in entries:
            self.append(entry)
            for follower in (*self._followers, *_FOLLOWERS_OF_ALL.get()):
                follower(entry)

    def report(
        self, dataset: str, values: Mapping[Convention, float], names: Mapping[Convention, str], *, run: int,
        iteration: int,
    ) -> None:  # fmt: skip
        """Add the values of a set in a round, under the names that the conventions report under."""
        self.record(
            Evaluation(dataset, convention, values[convention], name=name, run=run, iteration=iteration)
            for convention, name in names.items()
        )

    @contextmanager
    def followed(self, follower: Follower) -> Iterator[Self]:
        """Call a function with each entry as it comes, inside a `with` block; what it raises ends the training."""
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
        """Keep the entries of a training, of a set or under a convention.

        Parameters
        ----------
        run : int, optional
            As in the entries; -1 is the last.
        dataset : str, optional
            As in the entries.
        convention : Convention or str, optional
            A convention or the text of one.

        Raises
        ------
        InputError
            There is no such run, or nothing is left.
        """
        wanted = None if convention is None else as_convention(convention)
        number = None if run is None else self._numbered(run)
        kept = [
            entry
            for entry in self
            if (number is None or entry.run == number)
            and (dataset is None or entry.dataset == dataset)
            and (wanted is None or entry.convention == wanted)
        ]
        if self and not kept:
            sets, names = ({getattr(entry, of): None for entry in self} for of in ("dataset", "name"))
            msg = "nothing of the history is left."
            raise InputError(f"{msg}\nHint: its sets are {choices(sets)}, its conventions {choices(names)}.")
        return History(kept)

    def _numbered(self, run: int) -> int:
        runs = self.runs
        if run in runs:
            return run
        if is_whole(run) and -len(runs) <= run < 0:
            return runs[run]
        msg = f"run={run!r}; the runs are {choices(runs)}.\nHint: run=-1 is the last."
        raise InputError(msg)

    def series(self) -> dict[tuple[int, str, str], list[Evaluation]]:
        """Give the entries by run, set and name."""
        found: dict[tuple[int, str, str], list[Evaluation]] = {}
        for entry in self:
            found.setdefault((entry.run, entry.dataset, entry.name), []).append(entry)
        return found

    def to_frame(self) -> Any:
        """Give a pandas DataFrame with a row per entry; `convention` is the signature.

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
        """Draw the values against the iteration, one line per run, set and name: a matplotlib Figure.

        Raises
        ------
        InputError
            There is no entry.
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
        """Name each series by its set and by what else differs between them."""
        keys = list(self.series())
        runs, names = len({run for run, _, _ in keys}) > 1, len({name for _, _, name in keys}) > 1
        return [
            ", ".join([*([f"run {run}"] if runs else []), dataset, *([name] if names else [])])
            for run, dataset, name in keys
        ]

    def summary(self) -> Table:
        """Give a table: the last and the best value of each run, set and name, and the iteration of the best."""
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
    """Call a function with each entry of every history, inside a `with` block and in its thread.

    What trains there may make its history itself, and keep it until its training ends.
    """
    token = _FOLLOWERS_OF_ALL.set((*_FOLLOWERS_OF_ALL.get(), follower))
    try:
        yield
    finally:
        _FOLLOWERS_OF_ALL.reset(token)
