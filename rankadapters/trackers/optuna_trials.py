"""Values of every round in a trial of Optuna, which may end it."""

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
    """Report each value to a trial as it comes, and end the training where Optuna prunes the trial.

    For the one training inside the `with` block: with the `.history` of a callback what reports there (`eval_metric` of
    LightGBM and CatBoost, `custom_metric` and `EvalCallback` of XGBoost, `global_eval` of one process), without one
    whatever reports in this thread (`catboost.train`, `QueryRanker` and every learner too).

    Parameters
    ----------
    trial : optuna.Trial
        What the objective function was handed. Its attribute `convention` becomes the signature.
    history : History, optional
        The `.history` of a callback; by default every history that is written in the block.
    dataset : str, optional
        The set that decides, as in the entries; needed where several are evaluated.
    convention : Convention or str, optional
        The convention that decides; needed where several report.

    Raises
    ------
    optuna.TrialPruned
        The trial is pruned; Optuna expects it.
    InputError
        Several values of one round, or none of the set and the convention that decide; a second training, a study of
        another direction than the convention's, or not a history.
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
        raise report.stop from None  # CatBoost makes an error of its own of what a metric raises


class _Report:
    """Reports the entries of one set under one convention."""

    def __init__(self, trial: Any, dataset: str | None, convention: Convention | None, pruned: type[Exception]) -> None:
        self.stop: Exception | None = None
        self._trial, self._dataset, self._convention, self._pruned = trial, dataset, convention, pruned
        self._last: Evaluation | None = None
        self._undecided: list[Evaluation] = []  # entries of the first round, until one decides

    def __call__(self, entry: Evaluation) -> None:
        """Report an entry that decides, and raise what ends the trial."""
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
            msg = f"a second training reports into the trial, after iteration {self._last.iteration} of the first."
            raise InputError(
                f"{msg}\nHint: one training in each `with pruning(...)`; folds report by lgb.cv or xgb.cv."
            )
        elif self._last.iteration == entry.iteration:
            raise self._two_values(self._last, entry)

    def _two_values(self, last: Evaluation, entry: Evaluation) -> InputError:
        first, second = ((each.dataset, each.name) for each in (last, entry))
        if first == second:
            msg = f"iteration {entry.iteration} has two values of {first}."
            return InputError(f"{msg}\nHint: evaluate each set once a round, each under a name of its own.")
        msg = f"iteration {entry.iteration} has a value of {first} and one of {second}, and one must decide."
        return InputError(f"{msg}\nHint: pruning(trial, dataset=..., convention=...).")

    def _refuse_round_without_report(self, entry: Evaluation) -> None:
        """Refuse a set or a convention that nothing was reported of in a whole round."""
        first = self._undecided[0] if self._undecided else entry
        if (entry.run, entry.iteration) == (first.run, first.iteration):
            self._undecided.append(entry)
            return
        sets, names = ({getattr(each, of): None for each in self._undecided} for of in ("dataset", "name"))
        asked = f"dataset={self._dataset!r}" + (
            "" if self._convention is None else f", convention={self._convention.name!r}"
        )
        msg = f"no value came of {asked}.\nHint: the sets are {choices(sets)}, the conventions {choices(names)}."
        raise InputError(msg)

    def _refuse_direction(self, convention: Convention) -> None:
        right = "maximize" if convention.higher_is_better else "minimize"
        study = getattr(self._trial, "study", None)
        if study is not None and study.direction.name.lower() != right:
            better = "higher" if convention.higher_is_better else "lower"
            msg = f"the study is to {study.direction.name.lower()}, but of {convention.name} {better} is better."
            raise InputError(f"{msg}\nHint: optuna.create_study(direction={right!r}).")
