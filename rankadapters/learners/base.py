"""What all learners share: rows by query, validation queries, prediction, and a score under a declared convention."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluation.threads import as_n_threads
from rankadapters.core.presets.texts import as_convention
from rankadapters.learners.declared import check_count, check_flag, check_share
from rankadapters.learners.judging import Judge
from rankadapters.sklearn.declared import sets_of
from rankadapters.sklearn.rows import LabelledRows, held_out, whole_queries
from rankadapters.sklearn.scorer import QueryScorer

Array = NDArray[Any]


class QueryLearner(BaseEstimator):
    """An estimator whose `fit` and `score` take one `qid` per row; what it learns is in `_learn` and `_predict`."""

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012 - scikit-learn reads it
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012 - as above

    convention: Convention | str | None
    max_iter: int
    n_iter_no_change: int | None
    validation_fraction: float | None
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
        if qid is None:
            raise self._no_qid("fit")
        self._check()
        if eval_set is not None and self.validation_fraction is not None:
            raise InputError("validation queries were given twice.\nHint: either eval_set or validation_fraction.")
        before = getattr(self, "n_features_in_", None)
        features, labels = validate_data(self, X, y, **self._reading, y_numeric=True)
        self._refuse_another_width(before, int(features.shape[1]))
        queries = whole_queries(X if hasattr(X, "shape") else features, labels, qid, None)
        train, held = self._divide(features, labels, queries, sample_weight)
        sets = [*held, *(self._validation(*given) for given in sets_of(eval_set))]
        _refuse_nothing_to_learn(train)
        judge = Judge(
            None if self.convention is None else as_convention(self.convention), train, sets,
            patience=self.n_iter_no_change, n_threads=self.n_threads,
        )  # fmt: skip
        self._learn(train, judge)
        self.history_ = judge.history
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
        return self._predict(validate_data(self, X, reset=False, **self._reading))

    def score(self, X: Any, y: Any, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Score predictions under `convention`.

        Parameters
        ----------
        X, y, qid
            As in `fit`.
        sample_weight : array-like, shape (n_docs,), optional
            Constant within a query; under `average="uniform"` ignored, by declaration.

        Returns
        -------
        float
            Greater is better: a measure that is better when smaller is negated.

        Raises
        ------
        ConventionError
            No `convention` was given.
        InputError
            There is no qid, or the labels do not fit the convention.
        """
        if self.convention is None:
            name = type(self).__name__
            msg = (
                f"{name} has no convention to score under, and takes none for granted.\n"
                f"Hint: {name}(convention=ra.presets.textbook(10)), or scoring=ra.sklearn.query_scorer(...)."
            )
            raise ConventionError(msg)
        if qid is None:
            raise self._no_qid("score")
        weights = sample_weight if as_convention(self.convention).weighting else None
        return QueryScorer(self.convention, "qid", "qid", None)(self, X, y, sample_weight=weights, qid=qid)

    @abstractmethod
    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        """Learn from rows by query."""

    @abstractmethod
    def _predict(self, X: Any) -> Array:
        """Score rows that were checked."""

    def _check(self) -> None:
        """Check the parameters."""
        if self.convention is not None:
            try:
                as_convention(self.convention)
            except ConventionError as error:
                raise error.about("convention") from None
        as_n_threads(self.n_threads)
        check_flag("warm_start", getattr(self, "warm_start", False))
        check_count("max_iter", self.max_iter)
        check_count("n_iter_no_change", self.n_iter_no_change, none="goes on to the last round")
        check_share("validation_fraction", self.validation_fraction)
        if self.validation_fraction is not None and self.convention is None:
            msg = "validation_fraction has no convention to judge by.\nHint: convention=ra.presets.textbook(10)."
            raise ConventionError(msg)

    @property
    def _reading(self) -> dict[str, Any]:
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    def _divide(
        self, features: Any, labels: Array, queries: Queries, sample_weight: Any
    ) -> tuple[LabelledRows, list[LabelledRows]]:
        if self.validation_fraction is None:
            return LabelledRows.of(features, queries, labels, sample_weight), []
        held = held_out(queries, self.validation_fraction)
        train, valid = (LabelledRows.of(features, queries, labels, sample_weight, part) for part in (~held, held))
        return train, [valid]

    def _validation(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> LabelledRows:
        if self.convention is None:
            msg = "eval_set has no convention to judge by.\nHint: convention=ra.presets.textbook(10)."
            raise ConventionError(msg)
        if qid is None:
            raise self._no_qid("eval_set")
        features = validate_data(self, X, reset=False, **self._reading)
        return LabelledRows.of(features, whole_queries(features, y, qid, None), y, sample_weight)

    def _refuse_another_width(self, before: int | None, now: int) -> None:
        if getattr(self, "warm_start", False) and before not in {None, now}:
            self.n_features_in_ = before
            msg = (
                f"warm_start=True, but the last fit had {before} features and X has {now}.\n"
                "Hint: warm_start=False, or features as they were."
            )
            raise InputError(msg)

    def _no_qid(self, method: str) -> InputError:
        call = "eval_set=[(X, y, qid)]" if method == "eval_set" else f"{method}(X, y, qid=ids)"
        return InputError(
            f"{type(self).__name__}: {method} got no qid, so it cannot tell the queries apart.\n"
            f"Hint: {call}; in a search, cross-validation or pipeline "
            "sklearn.set_config(enable_metadata_routing=True), then fit(X, y, qid=ids) of that."
        )

    def __sklearn_tags__(self) -> Any:
        """Sparse features are taken, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


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
