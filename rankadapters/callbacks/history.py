"""The history of a training, read from the toolkit's log: its values by round, with tables and plots."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol, Self, SupportsIndex, overload

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, choices
from rankadapters.evaluation.table import Table, as_frame, fixed
from rankadapters.presets.texts import as_convention

Log = Mapping[str, Mapping[str, Sequence[float]]]

_HASHED = re.compile("/[0-9a-f]{7}$")  # the end of a display name that cannot be read back
_MEAN = re.compile("(train|valid|test)[ -](.+)-mean")  # a key of a cross-validation's result: the set and the metric


class _Columns(Protocol):
    """A dict or a pandas DataFrame."""

    def __len__(self) -> int: ...
    def items(self) -> Iterable[tuple[Any, Any]]: ...


@frozen_class
@dataclass(frozen=True, slots=True)
class Evaluation:
    """One entry of a history, which unpacks as `dataset, convention, value = entry`.

    Attributes
    ----------
    dataset : str
        The set's name in the toolkit's log, such as `valid_0`, `training`, or the name that you gave.
    convention : Convention
        The convention of the value.
    value : float
        The value in the log: that of `ra.evaluate`, unless the toolkit rounded it (see `History.of`).
    name : str
        Display name of the convention; by default `convention.name`.
    iteration : int
        Position in the log, from 0: the round, unless CatBoost's `metric_period` skips rounds.
    """

    dataset: str
    convention: Convention = field(repr=False)
    value: float
    _: KW_ONLY
    name: str = ""
    iteration: int = 0

    def __post_init__(self) -> None:
        """Fill in the name."""
        if not self.name:
            object.__setattr__(self, "name", self.convention.name)

    def __iter__(self) -> Iterator[Any]:
        """Yield the set, the convention and the value."""
        return iter((self.dataset, self.convention, self.value))


class History(list[Evaluation]):
    """The values of a training in order: a list of `Evaluation` that can be filtered, tabulated and plotted.

    Examples
    --------
    >>> log = {"valid": {"ndcg@5/letor4": [0.0, 0.25, 0.5], "binary_logloss": [0.7, 0.6, 0.5]}}
    >>> history = History.of(log)
    >>> print(history.summary())
    3 iterations
    set    name           iterations      last      best  at
    valid  ndcg@5/letor4           3  0.500000  0.500000   2
    >>> history.only(dataset="valid")[-1].value
    0.5
    """

    def __init__(self, iterable: Iterable[Evaluation] = (), /) -> None:
        super().__init__(iterable)
        if not all(isinstance(entry, Evaluation) for entry in self):
            raise refusal("iterable", iterable, "iterables of Evaluation", "ra.History.of(log) reads a toolkit's log")

    def __repr__(self) -> str:
        """Show the number of iterations, and the set and the name of each series."""
        return f"<History, {self.summary().caption}: {choices(map(', '.join, self.series())) or 'no entry'}>"

    def __str__(self) -> str:
        """Return the summary as text."""
        return str(self.summary())

    @classmethod
    def of(cls, log: _Columns, conventions: Mapping[str, Convention | str] | None = None) -> Self:
        """Read the history of a training from the toolkit's log, also of a pickled ranker or a saved CatBoost model.

        Parameters
        ----------
        log : dict of str to dict of str to list of float, or the result of `lgb.cv`, `xgb.cv` or `catboost.cv`
            Values by set and display name: `evals_result_` of LGBMRanker or the dict of `lgb.record_evaluation`,
            `evals_result()` of XGBRanker or the dict of `xgb.train(evals_result=)`, `get_evals_result()` of CatBoost.
            Metrics without a convention in their name are left out. The values of a cross-validation are the means
            over the folds, without the standard deviations. XGBoost rounds to six decimals in `xgb.cv`, and also in a
            training unless the metric is in `callbacks=` too. CatBoost reads the log of a saved or copied model, and of
            a model of `ra.catboost.train`, from text, which can change the last bit; its log has -1 for a training set
            that is not declared.
        conventions : dict of str to Convention or str, optional
            The convention of each name that does not say it: a name that you gave to `eval_metric`, one that ends with
            a hash, or that of CatBoost's own metric.

        Returns
        -------
        History
            An entry for each value, by iteration, then set, then name.

        Raises
        ------
        InputError
            `log` has a different form, or no metric of a convention; a metric was logged several times in each round;
            or a name ends with a hash and is not in `conventions`.

        Notes
        -----
        With `feval=[metric, metric]`, LightGBM logs the value of each round twice, so the iterations would be wrong.
        The error comes only if the log also has a metric with one value in each round.

        Examples
        --------
        >>> [entry.value for entry in History.of({"test": {"mine": [0.5, 0.75]}}, {"mine": "letor4@10"})]
        [0.5, 0.75]
        """
        values_of = _checked(log)
        if not isinstance(conventions, Mapping | None):
            raise refusal("conventions", conventions, "dicts of a name to its convention and None")
        logged = {name for _, name in values_of}
        convention_of = _conventions_of(logged, conventions or {})
        series = {key: values for key, values in values_of.items() if key[1] in convention_of}
        if len(log) and not series:
            msg = f"the log has no metric of a convention, but {choices(sorted(logged)) or 'none at all'}."
            raise InputError(msg, hint="History.of(log, {'the name in the log': convention})")
        _refuse_repeats(series, values_of)
        return cls(
            Evaluation(dataset, convention_of[name], values[iteration], name=name, iteration=iteration)
            for iteration in range(max(map(len, series.values()), default=0))
            for (dataset, name), values in series.items()
            if iteration < len(values)
        )

    @overload
    def __getitem__(self, index: SupportsIndex) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Evaluation | History:
        """Return an entry, or a slice as a history."""
        return History(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def only(self, *, dataset: str | None = None, convention: Convention | str | None = None) -> History:
        """Return the entries of a set, of a convention, or of one convention on one set.

        Parameters
        ----------
        dataset : str, optional
            Name of the set.
        convention : Convention or str, optional
            A convention or its text, or a name in the log.

        Raises
        ------
        InputError
            No entry matches.
        """
        if not isinstance(dataset, str | None):
            raise refusal("dataset", dataset, "a text and None")
        entries = [entry for entry in self if dataset in {None, entry.dataset}]
        if isinstance(convention, str) and any(entry.name == convention for entry in self):
            entries = [entry for entry in entries if entry.name == convention]
        elif convention is not None:
            chosen = as_convention(convention)
            entries = [entry for entry in entries if entry.convention == chosen]
        if self and not entries:
            sets, names = ({getattr(entry, field): None for entry in self} for field in ("dataset", "name"))
            msg = "no entry of the history matches."
            raise InputError(msg, hint=f"its sets are {choices(sets)}, its conventions {choices(names)}")
        return History(entries)

    def best(self, *, dataset: str | None = None, convention: Convention | str | None = None) -> Evaluation:
        """Return the best entry of one convention on one set, the first of equal ones.

        Parameters
        ----------
        dataset, convention
            As in `only`; needed if there are several.

        Raises
        ------
        InputError
            The history is empty, no entry matches, or several sets or conventions do.

        Examples
        --------
        >>> History.of({"valid": {"ndcg@5/letor4": [0.25, 0.5, 0.5]}}).best().iteration
        1
        """
        series = self.only(dataset=dataset, convention=convention).series()
        if not series:
            raise _no_entry()
        if len(series) != 1:
            msg = f"best() needs one convention on one set, but these match: {choices(map(', '.join, series))}."
            raise InputError(msg, hint="best(dataset=..., convention=...)")
        [entries] = series.values()
        return _best(entries)

    def series(self) -> dict[tuple[str, str], list[Evaluation]]:
        """Group the entries by set and display name."""
        entries: dict[tuple[str, str], list[Evaluation]] = {}
        for entry in self:
            entries.setdefault((entry.dataset, entry.name), []).append(entry)
        return entries

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row per entry; `convention` is the signature.

        Raises
        ------
        MissingToolkitError
            pandas is not installed.
        """
        signatures = {convention: str(convention) for convention in {entry.convention for entry in self}}
        rows = [(e.iteration, e.dataset, e.name, signatures[e.convention], e.value) for e in self]
        return as_frame(rows, ["iteration", "dataset", "name", "convention", "value"])

    def plot(self) -> Any:
        """Return a matplotlib Figure of the values by iteration, with a line for each set and name.

        Raises
        ------
        InputError
            The history is empty.
        MissingToolkitError
            matplotlib is not installed.
        """
        from rankadapters.plotting.plots import curves

        if not self:
            raise _no_entry()
        iterations, names = sorted({entry.iteration for entry in self}), {entry.name for entry in self}
        lines = {}
        for (dataset, name), entries in self.series().items():
            values = {entry.iteration: entry.value for entry in entries}
            label = f"{dataset}, {name}" if len(names) > 1 else dataset
            lines[label] = [values.get(iteration, float("nan")) for iteration in iterations]
        return curves(
            iterations, lines, "iteration", names.pop() if len(names) == 1 else "value", "Values by iteration"
        )

    def summary(self) -> Table:
        """Return a table with the final value, the best value and its iteration, for each set and name."""
        n_iterations = len({entry.iteration for entry in self})
        lines = []
        for (dataset, name), entries in self.series().items():
            best = _best(entries)
            numbers = (fixed(entries[-1].value, 6), fixed(best.value, 6), str(best.iteration))
            lines.append((dataset, name, str(len(entries)), *numbers))
        caption = f"{n_iterations} iteration{'s' * (n_iterations != 1)}"
        return Table.of(caption, ("set", "name", "iterations", "last", "best", "at"), lines)

    def _repr_html_(self) -> str:
        return self.summary().html()

    def _repr_markdown_(self) -> str:
        return self.summary().markdown()


def _best(entries: Sequence[Evaluation]) -> Evaluation:
    def worth(entry: Evaluation) -> float:
        return -math.inf if math.isnan(entry.value) else entry.convention.worth(entry.value)

    return max(entries, key=worth)


def _no_entry() -> InputError:
    msg = "the history has no entry, as after a training without a set to evaluate, or without a convention."
    return InputError(msg, hint="train with a convention as the metric, and with valid_sets=, evals= or eval_set=")


def _checked(log: _Columns) -> dict[tuple[str, str], list[float]]:
    """Return the values of each set and metric. LightGBM also takes names that are not texts, such as 0."""
    try:
        series = [
            ((str(dataset), str(name)), _numbers(values))
            for dataset, metrics in _by_set(log).items()
            for name, values in metrics.items()
        ]
    except (AttributeError, TypeError, ValueError):
        hint = "ranker.evals_result_, or the dict given to lgb.record_evaluation or xgb.train(evals_result=)"
        allowed = "dicts of a set's name to a dict of a metric's name to its values by round"
        raise refusal("log", log, allowed, hint) from None
    values_of = dict(series)
    if len(values_of) < len(series):
        msg = f"different names in the log are equal as texts; it has {choices(', '.join(key) for key, _ in series)}."
        raise InputError(msg, hint="use texts as names, such as valid_names=['first', 'second']")
    return values_of


def _by_set(log: _Columns) -> _Columns:
    """Return a log, or the means in the result of a cross-validation, by set and metric."""
    sets: dict[str, dict[str, Any]] = {}
    for key, values in log.items():
        if not isinstance(values, Mapping) and (mean := _MEAN.fullmatch(str(key))):
            dataset, name = mean.groups()
            sets.setdefault(dataset, {})[name] = values
    return sets or log


def _refuse_repeats(series: Mapping[tuple[str, str], list[float]], values_of: Mapping[Any, list[float]]) -> None:
    """Refuse a metric with equal values in each round, if another metric of the log has one value in each round.

    CatBoost logs no metric twice; its metric_period shortens some metrics by the same factor.
    """
    if any(dataset == "learn" for dataset, _ in values_of):
        return
    lengths = set(map(len, values_of.values()))
    varying = {key: values for key, values in series.items() if len(set(values)) > 1}
    for (dataset, name), values in varying.items():
        for n_rounds in lengths - {0, len(values)}:
            times, rest = divmod(len(values), n_rounds)
            if not rest and values == [value for value in values[::times] for _ in range(times)]:
                msg = f"the log has {times} equal values of {name!r} on {dataset!r} for each of {n_rounds} rounds."
                raise InputError(msg, hint="pass the metric once: feval=[metric, metric] evaluates it twice")


def _numbers(values: Iterable[float]) -> list[float]:
    if isinstance(values, str):
        raise TypeError
    return [float(value) for value in values]


def _conventions_of(logged: Iterable[str], names: Mapping[str, Convention | str]) -> dict[str, Convention]:
    """Return the conventions of names; a name that means no convention is left out."""
    conventions = {name: as_convention(convention) for name, convention in names.items()}
    for name in logged:
        if _HASHED.search(str(name)) and name not in conventions:
            msg = f"the convention of {name!r} cannot be read from its name, which ends with a part of its hash."
            raise InputError(msg, hint=f"History.of(log, {{{name!r}: convention}})")
        with suppress(ConventionError):
            conventions.setdefault(name, as_convention(name))
    return conventions
