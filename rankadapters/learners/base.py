"""What all learners share: parameters that are checked, rounds that are judged, prediction, and what they refuse."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.presets.texts import as_convention
from rankadapters.learners.judging import Judge
from rankadapters.sklearn.estimator import QueryEstimator
from rankadapters.sklearn.rows import LabelledRows
from rankadapters.sklearn.tasks import FitTasks, TrainingRows, with_callbacks

Array = NDArray[Any]
READING = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}  # what scikit-learn converts features to


class QueryLearner(QueryEstimator):
    """An estimator whose `fit` and `score` take one `qid` per row; what it learns is in `_learn` and `_predict`."""

    max_iter: int
    n_iter_no_change: int | None
    n_threads: int | None

    @with_callbacks
    def fit(self, X: Any, y: Any, *, qid: Any = None, eval_set: Any = None, sample_weight: Any = None) -> Self:
        """Learn from whole queries.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_docs, n_features)
            Finite numbers.
        y : array-like, shape (n_docs,)
            Relevance labels.
        qid : array-like, shape (n_docs,)
            Query of each row, in any order: integers, strings or other hashables.
        eval_set : tuple or list of tuples, optional
            Validation queries: (X, y, qid) or (X, y, qid, sample_weight). The best round by the first of them is kept.
        sample_weight : array-like, shape (n_docs,), optional
            Weight of each row's query, constant within it.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        InputError
            There is no qid, no query has rows of different labels, or the columns contradict each other; the message
            names what is wrong and the way out.
        ConventionError
            The convention is none, or one under which this cannot learn.
        """
        self._check()
        self._check_shared(eval_set)
        judged_by = {"eval_set": eval_set, "validation_fraction": self.validation_fraction}
        if self.convention is None and any(value is not None for value in judged_by.values()):
            [name] = [name for name, value in judged_by.items() if value is not None]
            msg = f"{name} has no convention to judge by.\nHint: convention=ra.presets.textbook(10)."
            raise ConventionError(msg)
        train, *sets = self._sets(X, y, qid, sample_weight, eval_set)
        _refuse_nothing_to_learn(train)
        convention = None if self.convention is None else as_convention(self.convention)
        rows = TrainingRows(X, y, qid, sample_weight)
        tasks = FitTasks(self, rows, train.row_numbers, self._max_rounds, lambda model: model)
        judge = Judge(convention, train, sets, tasks, patience=self.n_iter_no_change, n_threads=self.n_threads)
        self._learn(train, judge)
        self.history_ = judge.history
        tasks.end()
        return self

    def predict(self, X: Any) -> Array:
        """Score the rows of X, in their order; no query ids are needed.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_docs, n_features)
            Finite numbers.

        Returns
        -------
        float64 array, shape (n_docs,)
            Higher is better.
        """
        check_is_fitted(self)
        return self._predict(validate_data(self, X, reset=False, **READING))

    @property
    def _max_rounds(self) -> int | None:
        """Rounds at most; None where that is not known."""
        return self.max_iter

    @abstractmethod
    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        """Learn from rows by query."""

    @abstractmethod
    def _predict(self, X: Any) -> Array:
        """Score rows that were checked."""

    def _check(self) -> None:
        """Check the parameters that learners share."""
        as_n_threads(self.n_threads)
        arguments.flag("warm_start", getattr(self, "warm_start", False))
        arguments.whole("max_iter", self.max_iter)
        arguments.whole_or_none("n_iter_no_change", self.n_iter_no_change, "goes on to the last round")

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        if not training:
            return validate_data(self, X, reset=False, **READING), y
        before = getattr(self, "n_features_in_", None)
        features, labels = validate_data(self, X, y, **READING, y_numeric=True)
        now = int(features.shape[1])
        if getattr(self, "warm_start", False) and before not in {None, now}:
            self.n_features_in_ = before
            msg = f"warm_start=True, but the last fit had {before} features and X has {now}."
            raise InputError(f"{msg}\nHint: warm_start=False, or features as they were.")
        return features, labels

    def __sklearn_tags__(self) -> Any:
        """Sparse features are taken, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def maximised(learner: str, convention: Convention | str | None) -> Convention:
    """Return the convention that a learner maximises, and refuse losses, which go by the scale of the scores."""
    if convention is None:
        raise ConventionError(f"{learner} has no convention to maximise.\nHint: {learner}('textbook@10').")
    declared = as_convention(convention)
    if not declared.higher_is_better:
        msg = (
            f"{learner} maximises its convention, but of {declared.name} lower is better: it compares scores with "
            "labels, and no ranking.\nHint: ra.presets.textbook(10); losses are for NeuralRanker."
        )
        raise UnsupportedConventionError(msg)
    return declared


def _refuse_nothing_to_learn(train: LabelledRows) -> None:
    if train.row_weight is not None and not np.any(train.row_weight):
        raise InputError("sample_weight: all weights are zero.\nHint: some query needs a weight above 0.")
    sizes, labels = np.asarray(train.sizes), np.asarray(train.y)
    starts = np.cumsum(sizes) - sizes
    mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
    weighed = "" if train.row_weight is None else "of a weight above 0 "
    if not mixed[slice(None) if train.query_weight is None else train.query_weight > 0].any():
        msg = (
            f"no query {weighed}has rows of different labels (n_samples = {labels.size}), so there is nothing to "
            "learn.\n"
            "Hint: check that y and qid belong together, and that qid is one id per query."
        )
        raise InputError(msg)
