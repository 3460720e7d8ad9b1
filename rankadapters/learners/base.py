"""The base class of all learners: it checks parameters and data, creates the `Judge` of the rounds, and predicts."""

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
from rankadapters.learners.judging import Judge
from rankadapters.presets.texts import as_convention
from rankadapters.sklearn.estimator import QueryEstimator
from rankadapters.sklearn.rows import LabeledRows

Array = NDArray[Any]
FEATURE_TYPES = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}  # arguments of `validate_data`


class QueryLearner(QueryEstimator):
    """An estimator whose `fit` and `score` take one `qid` per row; subclasses define `_learn` and `_predict`."""

    max_iter: int
    n_iter_no_change: int | None
    n_threads: int | None

    def fit(self, X: Any, y: Any, *, qid: Any = None, eval_set: Any = None, sample_weight: Any = None) -> Self:
        """Learn from whole queries.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n_docs, n_features)
            Finite numbers.
        y : array-like, shape (n_docs,)
            Relevance labels.
        qid : array-like, shape (n_docs,)
            Query id of each row, in any order: integers, strings or other hashables.
        eval_set : tuple or list of tuples, optional
            Validation queries: (X, y, qid) or (X, y, qid, sample_weight). The first set decides the best round.
        sample_weight : array-like, shape (n_docs,), optional
            Weight of each row's query, constant within it.

        Returns
        -------
        estimator
            The fitted estimator itself.

        Raises
        ------
        InputError
            There is no qid, no query has rows of different labels, or the columns contradict each other.
        ConventionError
            The convention is invalid, or this estimator cannot learn under it.
        """
        self._check_shared(eval_set)
        self._check()
        validation = {"eval_set": eval_set, "validation_fraction": self.validation_fraction}
        if self.convention is None and any(value is not None for value in validation.values()):
            [name] = [name for name, value in validation.items() if value is not None]
            msg = f"{name} needs a convention to validate by.\nHint: convention=ra.presets.textbook(10)."
            raise ConventionError(msg)
        train, *valid_rows = self._sets(X, y, qid, sample_weight, eval_set)
        _refuse_nothing_to_learn(train)
        convention = None if self.convention is None else as_convention(self.convention)
        judge = Judge(convention, train, valid_rows, patience=self.n_iter_no_change, n_threads=self.n_threads)
        self._learn(train, judge)
        self.history_ = judge.history
        return self

    def predict(self, X: Any) -> Array:
        """Score the rows of X, in their order. No query ids are needed.

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
        return self._predict(validate_data(self, X, reset=False, **FEATURE_TYPES))

    @abstractmethod
    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        """Learn from rows that are grouped by query."""

    @abstractmethod
    def _predict(self, X: Any) -> Array:
        """Score rows that `predict` has checked."""

    def _check(self) -> None:
        """Check the parameters that learners share."""
        as_n_threads(self.n_threads)
        arguments.flag("warm_start", getattr(self, "warm_start", False))
        arguments.whole("max_iter", self.max_iter)
        arguments.whole_or_none("n_iter_no_change", self.n_iter_no_change, "continues to the last round")

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        if not training:
            return validate_data(self, X, reset=False, **FEATURE_TYPES), y
        last_n_features = getattr(self, "n_features_in_", None)
        features, labels = validate_data(self, X, y, **FEATURE_TYPES, y_numeric=True)
        n_features = int(features.shape[1])
        if getattr(self, "warm_start", False) and last_n_features not in {None, n_features}:
            self.n_features_in_ = last_n_features
            msg = f"warm_start=True, but the last fit had {last_n_features} features and X has {n_features}."
            raise InputError(f"{msg}\nHint: warm_start=False, or X with the features of the last fit.")
        return features, labels

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow sparse features and require labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def as_maximizable(learner: str, convention: Convention | str | None) -> Convention:
    """Return the convention that a learner maximizes; refuse losses, which depend on the scale of the scores."""
    if convention is None:
        raise ConventionError(f"{learner} has no convention to maximize.\nHint: {learner}('textbook@10').")
    convention = as_convention(convention)
    if not convention.higher_is_better:
        msg = (
            f"{learner} maximizes its convention, but lower is better under {convention.name}: it compares scores "
            "with labels, not rankings.\nHint: ra.presets.textbook(10); to train by a loss, use NeuralRanker."
        )
        raise UnsupportedConventionError(msg)
    return convention


def _refuse_nothing_to_learn(train: LabeledRows) -> None:
    if train.row_weight is not None and not np.any(train.row_weight):
        raise InputError("sample_weight: all weights are zero.\nHint: some query needs a weight above 0.")
    sizes, labels = np.asarray(train.sizes), np.asarray(train.y)
    starts = np.cumsum(sizes) - sizes
    mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
    weighted = "" if train.row_weight is None else "of a weight above 0 "
    if not mixed[slice(None) if train.query_weight is None else train.query_weight > 0].any():
        msg = (
            f"no query {weighted}has rows of different labels (n_samples = {labels.size}), so there is nothing to "
            "learn.\n"
            "Hint: check that y and qid describe the same rows, and that all rows of a query have the same qid."
        )
        raise InputError(msg)
