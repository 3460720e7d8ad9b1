"""A meta-estimator that gives any ranker its queries, in every search, pipeline and cross-validation."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import as_convention
from rankadapters.objectives import Objective
from rankadapters.sklearn.declared import check_declared, sets_of
from rankadapters.sklearn.handing import Watched, toolkit_of
from rankadapters.sklearn.inner import copy_of, fit_inner, last_step
from rankadapters.sklearn.meta_estimator import QueryMetaEstimator
from rankadapters.sklearn.qid import one_per_query, refuse_other_rows
from rankadapters.sklearn.rows import LabelledRows, held_out, ids_of, no_qid, whole_queries
from rankadapters.sklearn.scorer import QueryScorer
from rankadapters.sklearn.tables import without_column

Array = NDArray[Any]


class QueryRanker(QueryMetaEstimator):
    """Any ranker or regressor as a scikit-learn estimator whose `fit` and `score` take one `qid` per row.

    Rows of a query need not stand together: they are brought together, in order of first appearance and each query's
    rows in their order, before LGBMRanker is handed `group`, XGBRanker `qid` and CatBoostRanker `group_id`. Any other
    estimator gets plain X and y, as given. Predictions are in the order of the rows given.

    Parameters
    ----------
    estimator : estimator, or Pipeline whose last step is one
        What is fitted, as a clone. In a Pipeline transformers see features only, and the last step gets the queries.
    qid : str, optional
        Column or index level of X that holds the ids, which then need no `fit(qid=)`. A column is taken out before the
        features reach the estimator; X may have it in `predict` or not.
    convention : Convention or str, optional
        What `score` computes.
    eval_metric : Convention or str, optional
        What is reported of the validation queries in every round, in `history_`. The estimator's own
        `early_stopping_rounds` then stops the training by it, and by nothing else.
    validation_fraction : float in (0, 1), optional
        Share of the queries, all their rows, that is held out of the training as a validation set: the queries whose
        ids have the smallest hashes, so that the same ids are held out in any order of rows and on any machine.
    whole : array-like, optional
        Query of each row of the data before anything was cut, as in `query_scorer`: `fit` and `score` then warn of
        queries that come with another number of rows.
    objective : Objective, optional
        One of `ra.objectives`, which is trained in place of the ranker's own: by `ra.lightgbm.objective`,
        `ra.xgboost.objective` or as by `ra.catboost.train`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    history_ : History
        With `eval_metric`: (set, convention, value in full precision) of every round; not where CatBoost computes the
        convention itself, whose values are in `estimator_.get_evals_result()`.
    n_features_in_ : int
        Number of features, without the qid column.
    feature_names_in_ : array of str
        Names of the features, where all are strings.

    Notes
    -----
    With `sklearn.set_config(enable_metadata_routing=True)` it requests `qid` and `sample_weight` in `fit` and `score`,
    with no `set_*_request` call. Any further parameter of `fit` is handed to the estimator: routed if the estimator
    requests it, or as it is without routing.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(seed=0)
    >>> shuffled = np.random.default_rng(0).permutation(train.labels.size)
    >>> ranker = ra.sklearn.QueryRanker(
    ...     lgb.LGBMRanker(n_estimators=20, verbosity=-1), convention=ra.presets.letor4(10)
    ... )
    >>> ranker = ranker.fit(train.X[shuffled], train.labels[shuffled], qid=train.qid[shuffled])
    >>> value = ranker.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, ranker.predict(test.X), ra.presets.letor4(10), qid=test.qid).value
    True
    """

    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012 - scikit-learn reads it
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012 - as above

    def __init__(
        self,
        estimator: Any,
        *,
        qid: str | None = None,
        convention: Convention | str | None = None,
        eval_metric: Convention | str | None = None,
        validation_fraction: float | None = None,
        whole: Any = None,
        objective: Objective | None = None,
    ) -> None:
        self.estimator = estimator
        self.qid = qid
        self.convention = convention
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.whole = whole
        self.objective = objective

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        **fit_params: Any,
    ) -> QueryRanker:
        """Fit a clone of the estimator on whole queries.

        Parameters
        ----------
        X : table, shape (n_docs, n_features)
            numpy, scipy.sparse, pandas, polars or pyarrow, as far as the estimator takes it; never converted.
        y : array-like, shape (n_docs,)
            Relevance labels.
        qid : array-like, shape (n_docs,), optional
            Query of each row: integers, strings or other hashables. Needed by a ranker, unless `qid` names a column.
        sample_weight : array-like, shape (n_docs,), optional
            Weight of each row; with queries, constant within each.
        eval_set : tuple or list of tuples, optional
            Validation queries: (X, y, qid) or (X, y, qid, sample_weight), and (X, y) where `qid` names a column.
        **fit_params
            For the estimator's `fit`.

        Returns
        -------
        QueryRanker
            Itself.

        Raises
        ------
        InputError
            There is no qid, or one that does not fit; the message names what is wrong and the way out.
        ConventionError
            `convention` or `eval_metric` is not a convention, or `objective` not an objective.

        Warns
        -----
        CutQueriesWarning
            Queries are not `whole`.
        """
        check_declared(self, eval_set)
        refuse_other_rows(self.qid, X=X, y=y, qid=qid, sample_weight=sample_weight)
        params = self._routed(fit_params)
        inner = copy_of(self.estimator)
        ids, features = ids_of(X, qid, self.qid), self._features(X)
        self._check_features(features, reset=True)
        train, held = self._divide(features, y, ids, sample_weight)
        sets = [*held, *(self._validation(*given) for given in sets_of(eval_set))]
        watched = Watched(sets, None if self.eval_metric is None else as_convention(self.eval_metric), self.objective)
        history = fit_inner(inner, train, watched, params)
        self.__dict__.pop("history_", None)  # of an earlier fit
        if history is not None:
            self.history_ = history
        validate_data(self, features, skip_check_array=True)  # counts and names the features, of lists too
        self.estimator_ = inner
        return self

    def predict(self, X: Any) -> Array:
        """Score the rows of X, in their order; no query ids are needed.

        Parameters
        ----------
        X : table, shape (n_docs, n_features)
            Features, with or without the qid column.

        Returns
        -------
        array, shape (n_docs,)
            Higher is better.
        """
        check_is_fitted(self)
        features = self._features(X)
        self._check_features(features)
        found: Array = self.estimator_.predict(features)
        return found

    def score(self, X: Any, y: Any, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Score predictions under `convention`.

        Parameters
        ----------
        X, y, qid
            As in `fit`; the qid is always needed.
        sample_weight : array-like, shape (n_docs,), optional
            Constant within a query; under `average="uniform"` ignored, by declaration.

        Returns
        -------
        float
            Greater is better: a measure that is better when smaller is negated.

        Raises
        ------
        ConventionError
            QueryRanker was given no `convention`.
        InputError
            There is no qid, or the labels do not fit the convention.
        """
        if self.convention is None:
            msg = (
                "QueryRanker has no convention to score under, and takes none for granted.\n"
                "Hint: QueryRanker(estimator, convention=ra.presets.textbook(10)), or scoring=query_scorer(...)."
            )
            raise ConventionError(msg)
        ids = ids_of(X, qid, self.qid)
        if ids is None:
            raise no_qid("score")
        weights = sample_weight if as_convention(self.convention).weighting else None
        name = self.qid or "qid"
        scorer = QueryScorer(self.convention, name, name, self.whole)
        return scorer(self, X, y, sample_weight=weights, **{name: ids})

    @property
    def feature_importances_(self) -> Array:
        """Feature importances of the fitted estimator, or of the last step of a pipeline."""
        return self._fitted_last().feature_importances_  # type: ignore[no-any-return]

    @property
    def coef_(self) -> Array:
        """Coefficients of the fitted estimator, or of the last step of a pipeline, where it has some."""
        return self._fitted_last().coef_  # type: ignore[no-any-return]

    def _divide(self, features: Any, y: Any, ids: Any, sample_weight: Any) -> tuple[LabelledRows, list[LabelledRows]]:
        """Divide the rows into those to train on and those held out, by whole queries."""
        is_ranker = toolkit_of(last_step(self.estimator)) is not None
        if ids is None:
            if is_ranker:
                raise no_qid("fit")
            return LabelledRows(features, y, sample_weight), []
        queries = whole_queries(features, y, ids, self.whole)
        if not is_ranker:
            if sample_weight is not None:
                one_per_query(sample_weight, queries)  # refuses what varies
            return LabelledRows(features, y, sample_weight), []
        if self.validation_fraction is None:
            return LabelledRows.of(features, queries, y, sample_weight), []
        held = held_out(queries, self.validation_fraction)
        train, valid = (LabelledRows.of(features, queries, y, sample_weight, part) for part in (~held, held))
        return train, [valid]

    def _validation(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> LabelledRows:
        refuse_other_rows(self.qid, X=X, y=y, qid=qid, sample_weight=sample_weight)
        ids, features = ids_of(X, qid, self.qid), self._features(X)
        if ids is None:
            raise no_qid("eval_set")
        self._check_features(features)
        return LabelledRows.of(features, whole_queries(features, y, ids, self.whole), y, sample_weight)

    def _check_features(self, features: Any, *, reset: bool = False) -> None:
        """Refuse features of other names or another number than in `fit`; the estimator refuses what is not a table."""
        shape: tuple[int, ...] = getattr(features, "shape", ())
        if len(shape) == 2 and shape[1]:  # noqa: PLR2004 - a table
            validate_data(self, features, reset=reset, skip_check_array=True)

    def _features(self, X: Any) -> Any:
        return X if self.qid is None else without_column(X, self.qid)

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not get_config()["enable_metadata_routing"]:
            return dict(fit_params)
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def _fitted_last(self) -> Any:
        check_is_fitted(self)
        return last_step(self.estimator_)
