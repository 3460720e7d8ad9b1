"""Report a fit and its rounds as tasks to the callbacks of scikit-learn 1.9."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from rankadapters.sklearn.tables import take_rows

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class, because this scikit-learn has no callbacks."""

    _with_callbacks = None

__all__ = ["CallbackSupportMixin", "FitTasks", "TrainingRows", "task_qid", "with_callbacks"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def with_callbacks(fit: Fit) -> Fit:
    """Decorate `fit` to notify the estimator's callbacks when it ends, even after an error."""
    if _with_callbacks is None:
        return fit
    managed = _with_callbacks(fit)

    @wraps(fit)
    def fit_with_callbacks(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        # Without callbacks, skip scikit-learn's wrapper, which would change the line that warnings point to.
        return (managed if _callbacks(estimator) else fit)(estimator, *args, **kwargs)

    return cast("Fit", fit_with_callbacks)


def _callbacks(estimator: Any) -> list[Any]:
    """Return the estimator's callbacks, set by the caller or by an enclosing search."""
    return list(getattr(estimator, "_skl_callbacks", ()))


class TrainingRows(NamedTuple):
    """The rows that a fit trains on, as the caller passed them."""

    X: Any
    y: Any
    qid: Any
    sample_weight: Any

    def take(self, row_numbers: Any) -> TrainingRows:
        """Return the rows with these row numbers, or all rows if `row_numbers` is None."""
        if row_numbers is None:
            return self
        return TrainingRows(*(column if column is None else take_rows(column, row_numbers) for column in self))


def task_qid(estimator: Any, X: Any) -> Any:
    """Return the training rows' query ids if a callback is scoring exactly these rows; otherwise None."""
    rows = getattr(estimator, "_training_rows", None)
    return rows.qid if rows is not None and rows.X is X else None


class FitTasks:
    """Reports a fit and at most `max_rounds` rounds to the estimator's callbacks, if it has any.

    `row_numbers` selects the rows that are not held out. `attributes` returns the attributes of the fitted estimator
    for the model of a round.
    """

    def __init__(
        self, estimator: Any, rows: TrainingRows, row_numbers: Any, max_rounds: int | None,
        attributes: Callable[[Any], dict[str, Any]],
    ) -> None:  # fmt: skip
        self._callbacks, self._attributes, self._n_left = _callbacks(estimator), attributes, max_rounds
        self._fit: Any = None
        self._round: Any = None
        if self.watched:
            self._rows = rows.take(row_numbers)
            # No query ids: scikit-learn's scorers would refuse them, and its own estimators also pass only weights.
            metadata = None if rows.sample_weight is None else {"sample_weight": self._rows.sample_weight}
            self._data = {"estimator": estimator, "X": self._rows.X, "y": self._rows.y, "metadata": metadata}
            self._fit = estimator._init_callback_context(max_subtasks=max_rounds)  # noqa: SLF001 - documented by them
            self._fit.call_on_fit_task_begin(**self._data)

    @property
    def watched(self) -> bool:
        """Whether the estimator has any callbacks."""
        return bool(self._callbacks)

    @property
    def models_wanted(self) -> bool:
        """Whether any callback needs the model of each round, as ScoringMonitor does."""
        hooks = [callback.on_fit_task_end for callback in self._callbacks]
        return any("fitted_estimator" in inspect.signature(hook).parameters for hook in hooks)

    def begin_round(self) -> None:
        """Begin the task of the first round; every later task begins when the previous one ends."""
        self._round = self._next_round()

    def end_round(self, model: Callable[[], Any]) -> bool:
        """End the task of a round and begin the next; if a callback asks to stop, begin none and return True.

        `model` returns the model after the round; it is called only if a callback needs the model.
        """
        if self._round is None:
            return False
        stops = self._end(self._round, lambda: self._attributes(model()))
        self._round = None if stops else self._next_round()
        return stops

    @contextmanager
    def of_estimator(self, estimator: Any) -> Iterator[None]:
        """Report the fit of an inner estimator as a task, if it supports callbacks."""
        if self._fit is None or not hasattr(estimator, "set_callbacks"):
            yield
            return
        task = self._fit.subcontext(task_name="fit-estimator")
        with task.propagate_callback_context(estimator):
            task.call_on_fit_task_begin(**self._data)
            yield
            self._end(task)

    def end(self) -> None:
        """End the task of an unfinished round, and then the task of the fit."""
        if self._round is not None:
            self._end(self._round)
        if self._fit is not None:
            self._end(self._fit, dict)

    def _next_round(self) -> Any:
        if not self.watched or self._n_left == 0:
            return None
        self._n_left = None if self._n_left is None else self._n_left - 1
        return self._fit.subcontext(task_name="round").call_on_fit_task_begin(**self._data)

    def _end(self, task: Any, attributes: Callable[[], dict[str, Any]] | None = None) -> bool:
        fitted = None if attributes is None else lambda: {**attributes(), "_training_rows": self._rows}
        return bool(task.call_on_fit_task_end(**self._data, reconstruction_attributes=fitted))
