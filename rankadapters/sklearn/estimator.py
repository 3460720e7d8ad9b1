"""Base class of QueryRanker and the learners: parameters, rows by query, validation sets and `score`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRequest

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.presets.texts import as_convention
from rankadapters.sklearn.metrics import QueryScorer
from rankadapters.sklearn.rows import (
    LabeledRows,
    ids_of,
    one_per_query,
    refuse_other_rows,
    whole_queries,
    without_column,
)


class QueryEstimator(BaseEstimator):
    """An estimator whose `fit` and `score` take one `qid` per row."""

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012 - scikit-learn reads it
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012 - as above

    convention: Convention | str | None
    validation_fraction: float | None
    qid: str | None = None  # column or index level of X with the query ids, if they are read from X
    whole: Any = None
    _needs_queries = True  # whether the estimator needs the rows of a query together
    _other_ids = ""  # a second way to pass the ids, for the hint of an error message

    def score(self, X: Any, y: Any, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Score predictions under `convention`.

        Parameters
        ----------
        X, y, qid
            As in `fit`; qid is always required.
        sample_weight : array-like, shape (n_docs,), optional
            Weights, constant within a query.

        Returns
        -------
        float
            The value; greater is better, because a measure that is better when smaller is negated.

        Raises
        ------
        ConventionError
            `convention` is None.
        InputError
            The qid is missing, the labels do not fit the convention, or it would ignore `sample_weight`
            (`average="uniform"`).
        """
        if self.convention is None:
            name = type(self).__name__
            hint = f"{name}(..., convention=ra.presets.textbook(10)), or scoring=ra.sklearn.query_scorer(...)"
            raise ConventionError(f"{name} has no convention to score with, and there is no default.", hint=hint)
        ids = ids_of(X, qid, self.qid)
        if ids is None:
            raise self._no_qid("score")
        name = self.qid or "qid"
        scorer = QueryScorer(self.convention, name, name, self.whole)
        return scorer(self, X, y, sample_weight=sample_weight, **{name: ids})

    def get_metadata_routing(self) -> MetadataRequest:
        """Request qid and weights; scikit-learn refuses weights for the score if the convention would ignore them.

        `set_score_request(sample_weight=False)` keeps the weights of a search for `fit` alone.
        """
        request: MetadataRequest = super().get_metadata_routing()
        ignores_weights = self.convention is not None and as_convention(self.convention).weighting is None
        if ignores_weights and request.score.requests["sample_weight"] is True:
            request.score.add_request(param="sample_weight", alias=None)
        return request

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        """Check the features and labels of one set, and return them in the form that `fit` needs."""
        raise NotImplementedError

    def _check_shared(self, eval_set: Any, *conventions: str) -> None:
        """Check the parameters that all these estimators share."""
        for name in ("convention", *conventions):
            if getattr(self, name) is not None:
                try:
                    as_convention(getattr(self, name))
                except ConventionError as error:
                    raise error.about(name) from None
        if self.validation_fraction is None:
            return
        arguments.number(
            "validation_fraction", self.validation_fraction,
            least=0, most=1, above=True, below=True, hint="validation_fraction=0.1",
        )  # fmt: skip
        if eval_set is not None:
            raise InputError("validation queries were given twice.", hint="either eval_set or validation_fraction")

    def _sets(self, X: Any, y: Any, qid: Any, sample_weight: Any, eval_set: Any) -> list[LabeledRows]:
        """Return the training rows, followed by the validation sets."""
        sets = self._labelled("fit", X, y, qid, sample_weight)
        for validation_set in sets_of(eval_set):
            sets += self._labelled("eval_set", *validation_set)
        return sets

    def _labelled(self, method: str, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> list[LabeledRows]:
        """Return one data set; if `validation_fraction` is set, split training data into training and held-out rows."""
        refuse_other_rows(self.qid, X=X, y=y, qid=qid, sample_weight=sample_weight)
        ids, training = ids_of(X, qid, self.qid), method == "fit"
        if ids is None and self._needs_queries:
            raise self._no_qid(method)
        table = without_column(X, self.qid)
        features, labels = self._read(table, y, training=training)
        if ids is not None:
            queries = whole_queries(table if hasattr(table, "shape") else features, labels, ids, self.whole)
            if self._needs_queries:
                fraction = self.validation_fraction if training else None
                return LabeledRows.divided(features, queries, labels, sample_weight, fraction)
            if sample_weight is not None:
                one_per_query(sample_weight, queries)  # refuses weights that vary within a query
        return [LabeledRows(features, labels, sample_weight)]

    def _no_qid(self, method: str) -> InputError:
        """Return an error that lists every way to pass the missing ids."""
        call = "eval_set=[(X, y, qid)]" if method == "eval_set" else f"{method}(X, y, qid=ids)"
        return InputError(
            f"{type(self).__name__}: {method} got no qid, so it cannot tell the queries apart.",
            hint=f"{call}{self._other_ids}; in a search, cross-validation or pipeline "
            "sklearn.set_config(enable_metadata_routing=True), then pass qid=ids to its fit",
        )


def sets_of(eval_set: Any) -> list[tuple[Any, ...]]:
    """Return `eval_set` as a list of tuples (X, y[, qid[, sample_weight]]); it may be a single tuple."""
    if eval_set is None:
        return []
    sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
    if not isinstance(sets, list) or not all(isinstance(entry, tuple) and len(entry) in {2, 3, 4} for entry in sets):
        hint = "eval_set=[(X, y, qid)] or [(X, y, qid, sample_weight)]"
        raise arguments.refusal("eval_set", eval_set, "lists of tuples (X, y[, qid[, sample_weight]])", hint)
    if not sets:
        raise InputError("eval_set lists no validation queries.", hint="eval_set=[(X, y, qid)], or leave it out")
    return sets


def generator(random_state: Any) -> np.random.RandomState:
    """Return numpy's RandomState for `random_state`: a seed, a generator, or None for numpy's global generator."""
    if isinstance(random_state, np.random.Generator):
        random_state = arguments.seed(random_state)
    try:
        state: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        allowed = "whole numbers from 0 to 2^32 - 1, a numpy Generator or RandomState, or None"
        raise arguments.refusal("random_state", random_state, allowed, "random_state=0") from None
    return state
