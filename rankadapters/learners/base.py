"""The base classes of all learners: they check parameters and data, judge the rounds, and predict."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.arrays import Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.core.ranking import compiled
from rankadapters.evaluation.threads import as_n_threads
from rankadapters.learners.trials import Trials
from rankadapters.presets.texts import as_convention
from rankadapters.sklearn.estimator import QueryEstimator
from rankadapters.sklearn.rows import LabeledRows

FEATURE_TYPES = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}  # arguments of `validate_data`
MAX_COPIED_BYTES = 2**28  # up to this size, a copy in column order makes reading columns three times as fast


class QueryLearner(QueryEstimator):
    """An estimator whose `fit` and `score` take one `qid` per row; subclasses define `_learn` and `_predict`."""

    max_iter: int
    n_iter_no_change: int | None
    n_threads: int | None
    n_iter_: int

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
        if self.convention is None and (eval_set is not None or self.validation_fraction is not None):
            name = "validation_fraction" if eval_set is None else "eval_set"
            msg = f"{name} needs a convention to validate by."
            raise ConventionError(msg, hint="convention=ra.presets.textbook(10)")
        sets = self._sets(X, y, qid, sample_weight, eval_set)
        _refuse_nothing_to_learn(sets[0])
        convention = None if self.convention is None else as_convention(self.convention)
        judge = Judge(convention, sets, patience=self.n_iter_no_change, n_threads=self.n_threads)
        self._learn(sets[0], judge)
        self.history_ = judge.history
        return self

    def predict(self, X: Any) -> Floats:
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
    def _predict(self, X: Any) -> Floats:
        """Score rows that `predict` has checked."""

    def _check(self) -> None:
        """Check the parameters that learners share."""
        as_n_threads(self.n_threads)
        arguments.flag("warm_start", getattr(self, "warm_start", False))
        arguments.whole("max_iter", self.max_iter)
        arguments.whole_or_none("n_iter_no_change", self.n_iter_no_change, "continues to the last round")

    def _check_maximizable(self) -> Convention:
        """Return the convention to maximize; refuse losses, which depend on the scale of the scores."""
        name = type(self).__name__
        if self.convention is None:
            raise ConventionError(f"{name} has no convention to maximize.", hint=f"{name}('textbook@10')")
        convention = as_convention(self.convention)
        if not convention.higher_is_better:
            raise UnsupportedConventionError(
                f"{name} maximizes its convention, but lower is better under {convention.name}: it compares scores "
                "with labels, not rankings.",
                hint="ra.presets.textbook(10); to train by a loss, use NeuralRanker",
            )
        return convention

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        if not training:
            return validate_data(self, X, reset=False, **FEATURE_TYPES), y
        last_n_features = getattr(self, "n_features_in_", None)
        features, labels = validate_data(self, X, y, **FEATURE_TYPES, y_numeric=True)
        n_features = int(features.shape[1])
        if getattr(self, "warm_start", False) and last_n_features not in {None, n_features}:
            self.n_features_in_ = last_n_features
            msg = f"warm_start=True, but the last fit had {last_n_features} features and X has {n_features}."
            raise InputError(msg, hint="warm_start=False, or X with the features of the last fit")
        return features, labels

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow sparse features and require labels."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class LinearLearner(QueryLearner):
    """A learner of one weight per feature, `coef_`."""

    coef_: Floats

    @property
    def feature_importances_(self) -> Floats:
        """Share of each weight's magnitude in the sum of all; comparable only for features of the same scale."""
        return shares(self.coef_)

    def _predict(self, X: Any) -> Floats:
        return product(X, self.coef_)


class Judge:
    """Computes each round's value under a convention; `best_round` is the best round by the first validation set.

    Without a convention, no values are computed and every round counts as the best so far. `stops` is True after
    `patience` rounds without an improvement. `rounds` and `best_round` count from the first fit, through warm starts.
    """

    def __init__(
        self, convention: Convention | None, sets: list[LabeledRows], *, patience: int | None, n_threads: int | None
    ) -> None:
        self.convention, self.valid_rows, self.patience = convention, sets[1:], patience
        self._name = "" if convention is None else convention.name  # cached: building a name takes longer than a round
        self.train_decides_best = False  # has an effect only without validation sets
        self.history = History()
        self.best_round, self.best_worth = -1, -np.inf
        self.rounds = 0
        if convention is not None:
            queries = [queries_of_rows(rows, convention.weighting) for rows in sets]
            self.train, *self.valid = (Trials(of_set, convention, n_threads=n_threads) for of_set in queries)

    def expect(self, n_candidates: int) -> None:
        """Announce how often scores of all rows will be evaluated, so that machine code is loaded early if it pays."""
        if self.convention is not None:
            n_rows = sum(trials.queries.n_docs for trials in (self.train, *self.valid))
            rounded = getattr(self.convention, "precision", "float64") == "float32"  # Pearson's correlation has none
            compiled.pays(n_candidates * n_rows, np.dtype(np.float32 if rounded else np.float64))

    def train_value(self, scores: Floats) -> float:
        """Return the value of the training queries; NaN without a convention."""
        return math.nan if self.convention is None else self.train.value(scores)

    def record_start(self, n_rounds: int, valid_scores: list[Floats], train_value: float) -> None:
        """Evaluate and record the model of `n_rounds` rounds that a warm start continues from, as the best so far."""
        self.rounds = n_rounds - 1
        self.record_round(valid_scores, train_value)
        self.best_round = n_rounds - 1  # also if its value is NaN

    def record_round(self, valid_scores: list[Floats], train_value: float) -> bool:
        """Evaluate and record a round; return whether it is the best so far.

        `train_value` has no effect without a convention.
        """
        self.rounds += 1
        if self.convention is None:
            self.best_round = self.rounds - 1
            return True
        values = [trials.value(scores) for trials, scores in zip(self.valid, valid_scores, strict=True)]
        names = ["train", *(f"valid_{index}" for index in range(len(values)))]
        for dataset, value in zip(names, [train_value, *values], strict=True):
            self.history.append(Evaluation(dataset, self.convention, value, name=self._name, iteration=self.rounds - 1))
        worth = float(self.rounds)
        if values or self.train_decides_best:
            worth = self.convention.worth(values[0] if values else train_value)
        if not worth > self.best_worth:
            return False
        self.best_round, self.best_worth = self.rounds - 1, worth
        return True

    def forget_best(self) -> None:
        """Forget the best round: any later round with a value above 0 becomes the best so far."""
        self.best_worth = 0.0

    @property
    def stops(self) -> bool:
        """Whether `patience` rounds have passed since the best round, if there are validation sets."""
        if self.patience is None or not self.valid_rows:
            return False
        return self.rounds - 1 - self.best_round >= self.patience


class FeatureColumns:
    """Feature columns as dense float64 arrays; with `float32`, first rounded to float32 as in RankLib."""

    def __init__(self, X: Any, *, float32: bool = False) -> None:
        self._X: Any = X
        if hasattr(X, "tocsc"):
            self._X = X.tocsc()
        elif 8 * X.size <= MAX_COPIED_BYTES:
            # Converted once, because every column is read many times.
            self._X = np.asfortranarray(round_to_float32(X) if float32 else X, np.float64)
            float32 = False
        self._rounds_columns = float32
        self.n_rows, self.n_features = int(X.shape[0]), int(X.shape[1])

    def __getitem__(self, feature: int) -> Floats:
        """Return the column of a feature."""
        column = self._X[:, [feature]].toarray()[:, 0] if hasattr(self._X, "tocsc") else self._X[:, feature]
        rounded = round_to_float32(column) if self._rounds_columns else column
        numbers: Floats = rounded.astype(np.float64, copy=False)
        return numbers

    def __len__(self) -> int:
        """Return the number of columns."""
        return self.n_features


def round_to_float32(X: Any) -> Any:
    """Round dense or sparse features to float32, as RankLib does; refuse numbers that are too large for float32."""
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32)
    numbers, results = (features.data if hasattr(features, "tocsr") else features for features in (X, rounded))
    too_large = numbers[~np.isfinite(results)]
    if too_large.size:
        raise InputError(
            f"X has {too_large[0]:g}, too large for float32, which variant='ranklib' uses for features; allowed are "
            "numbers up to 3.4e+38.",
            hint="rescale them, or use another variant",
        )
    return rounded


def product(X: Any, weights: Floats) -> Floats:
    """Return X @ weights as a dense float64 array; for dense X, the bits do not depend on the machine's BLAS."""
    if hasattr(X, "tocsr"):
        return np.asarray(X @ weights, np.float64)
    scores = np.zeros(X.shape[0])
    for feature in np.flatnonzero(weights):
        scores += weights[feature] * X[:, feature].astype(np.float64)
    return scores


def shares(weights: Any) -> Floats:
    """Return the share of each weight's magnitude in the sum of all magnitudes."""
    magnitudes: Floats = np.abs(weights)
    total = float(magnitudes.sum())
    return magnitudes / total if total else magnitudes


def queries_of_rows(rows: LabeledRows, weighting: str | None) -> Queries:
    """Return `Queries` of rows that are grouped by query; with weights only if `weighting` uses them."""
    weight = rows.query_weight if weighting == "query_weight" else None
    return Queries(rows.y, group_sizes=rows.sizes, query_weight=weight)


def _refuse_nothing_to_learn(train: LabeledRows) -> None:
    if train.row_weight is not None and not np.any(train.row_weight):
        raise InputError("sample_weight: all weights are zero.", hint="some query needs a weight above 0")
    sizes, labels = np.asarray(train.sizes), np.asarray(train.y)
    starts = np.cumsum(sizes) - sizes
    mixed = np.maximum.reduceat(labels, starts) > np.minimum.reduceat(labels, starts)
    weighted = "" if train.row_weight is None else "of a weight above 0 "
    if not mixed[slice(None) if train.query_weight is None else train.query_weight > 0].any():
        raise InputError(
            f"no query {weighted}has rows of different labels (n_samples = {labels.size}), so there is nothing to "
            "learn.",
            hint="check that y and qid describe the same rows, and that all rows of a query have the same qid",
        )
