"""Report the value of every round to an Optuna trial, which may prune the training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankadapters.callbacks.history import Evaluation, History, all_followed
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, MissingToolkitError, choices
from rankadapters.core.presets.texts import as_convention


@contextmanager
def pruning(
    trial: Any,
    *,
    history: History | None = None,
    dataset: str | None = None,
    convention: Convention | str | None = None,
) -> Iterator[None]:
    """Report each value to a trial immediately, and end the training if Optuna prunes the trial.

    Use it as a `with` block around one training. By default it reports every history that is recorded in this thread,
    including those of `catboost.train`, `QueryRanker` and every learner. To report only one callback, pass its
    `.history`: of `eval_metric` (LightGBM, CatBoost), `custom_metric` or `EvalCallback` (XGBoost), or of `global_eval`
    in a single process.

    Parameters
    ----------
    trial : optuna.Trial
        The argument of the objective function. Its attribute `convention` is set to the signature.
    history : History, optional
        The `.history` of a callback; by default every history that is recorded in the block.
    dataset : str, optional
        The set that decides, by its name in the history; required if more than one set is evaluated.
    convention : Convention or str, optional
        The convention that decides; required if there is more than one.

    Raises
    ------
    optuna.TrialPruned
        The trial is pruned; Optuna expects this exception.
    InputError
        A round has more than one value, or none of the set and convention that decide; there is a second training; the
        study's direction contradicts the convention; or `history` is not a History.
    MissingToolkitError
        Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise MissingToolkitError.of("optuna", "trackers") from None
    if not isinstance(history, History | None):
        raise refusal("history", history, "histories", hint="metric.history, or pruning(trial) alone")
    report = _Report(trial, dataset, None if convention is None else as_convention(convention), optuna.TrialPruned)
    try:
        with all_followed(report) if history is None else history.followed(report):
            yield
    except optuna.TrialPruned:
        raise
    except Exception:
        if report.stop is None:
            raise
        raise report.stop from None  # CatBoost replaces an exception of a metric with another one


class _Report:
    """Reports the history entries of one set under one convention."""

    def __init__(self, trial: Any, dataset: str | None, convention: Convention | None, pruned: type[Exception]) -> None:
        self.stop: Exception | None = None
        self._trial, self._dataset, self._convention, self._pruned = trial, dataset, convention, pruned
        self._last: Evaluation | None = None
        self._undecided: list[Evaluation] = []  # first-round entries of other sets and conventions

    def __call__(self, entry: Evaluation) -> None:
        """Report an entry of the chosen set and convention; raise an exception if the trial is pruned."""
        decides = self._dataset in {None, entry.dataset} and self._convention in {None, entry.convention}
        try:
            if decides:
                self._report(entry)
            elif self._last is None:
                self._refuse_round_without_report(entry)
        except Exception as error:
            self.stop = error
            raise

    def _report(self, entry: Evaluation) -> None:
        self._check(entry)
        self._last = entry
        self._trial.report(entry.value, entry.iteration)
        if self._trial.should_prune():
            raise self._pruned(f"{entry.name} of {entry.value:.6f} in iteration {entry.iteration}")

    def _check(self, entry: Evaluation) -> None:
        if self._last is None:
            self._refuse_direction(entry.convention)
            self._trial.set_user_attr("convention", str(entry.convention))
        elif entry.run != self._last.run or entry.iteration < self._last.iteration:
            msg = f"a second training reports to the trial, after iteration {self._last.iteration} of the first."
            raise InputError(f"{msg}\nHint: one training in each `with pruning(...)`; for folds, use lgb.cv or xgb.cv.")
        elif self._last.iteration == entry.iteration:
            raise self._two_values(self._last, entry)

    def _two_values(self, last: Evaluation, entry: Evaluation) -> InputError:
        first, second = (last.dataset, last.name), (entry.dataset, entry.name)
        if first == second:
            msg = f"iteration {entry.iteration} has two values of {first}."
            return InputError(f"{msg}\nHint: evaluate each set once per round, and give each set a different name.")
        msg = f"iteration {entry.iteration} has a value of {first} and one of {second}, and one must decide."
        return InputError(f"{msg}\nHint: pruning(trial, dataset=..., convention=...).")

    def _refuse_round_without_report(self, entry: Evaluation) -> None:
        """Raise an error if a whole round had no value of the chosen set and convention."""
        first = self._undecided[0] if self._undecided else entry
        if (entry.run, entry.iteration) == (first.run, first.iteration):
            self._undecided.append(entry)
            return
        sets, names = ({getattr(e, field): None for e in self._undecided} for field in ("dataset", "name"))
        convention = "" if self._convention is None else f", convention={self._convention.name!r}"
        hint = f"the sets are {choices(sets)}, the conventions {choices(names)}"
        raise InputError(f"there is no value of dataset={self._dataset!r}{convention}.\nHint: {hint}.")

    def _refuse_direction(self, convention: Convention) -> None:
        right = "maximize" if convention.higher_is_better else "minimize"
        study = getattr(self._trial, "study", None)
        if study is not None and study.direction.name.lower() != right:
            better = "higher" if convention.higher_is_better else "lower"
            msg = f"the study is set to {study.direction.name.lower()}, but for {convention.name} {better} is better."
            raise InputError(f"{msg}\nHint: optuna.create_study(direction={right!r}).")
