"""A meta-estimator that passes queries to any ranker in every search, pipeline and cross-validation."""

from __future__ import annotations

import copy
from inspect import signature
from typing import Any, Self

from sklearn import get_config
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.core.arrays import Array
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.objectives import Objective
from rankadapters.objectives.base import as_objective
from rankadapters.presets.texts import as_convention
from rankadapters.sklearn.estimator import QueryEstimator
from rankadapters.sklearn.fit_arguments import (
    RANKERS,
    RankerFit,
    by_row,
    copy_of,
    fit_transformers,
    last_step,
    toolkit_of,
)
from rankadapters.sklearn.metrics import Response, require_response, scores_of
from rankadapters.sklearn.rows import n_entries, refuse_other_rows, without_column


class QueryRanker(MetaEstimatorMixin, QueryEstimator):
    """A meta-estimator that makes any ranker, regressor or classifier take one `qid` per row in `fit` and `score`.

    The rows of a query may be anywhere in X. QueryRanker sorts rows by query (queries in order of first appearance,
    rows in their original order) and passes LGBMRanker `group`, XGBRanker `qid` and CatBoostRanker `group_id`. Any
    other estimator gets X and y unchanged. Predictions are in the order of the caller's rows.

    Parameters
    ----------
    estimator : estimator, or Pipeline whose last step is one
        The estimator to clone and fit. In a Pipeline, only the last step gets the queries; transformers see features.
    qid : str, optional
        Column or index level of X with the ids; `fit(qid=)` is then not needed. The column is removed before the
        features reach the estimator; in `predict`, X may have it or not.
    convention : Convention or str, optional
        The convention that `score` computes.
    eval_metric : Convention or str, optional
        The convention to evaluate on the validation queries in every round, recorded in `history_`. The estimator's
        `early_stopping_rounds` then stops the training by this value alone.
    validation_fraction : float in (0, 1), optional
        Share of the queries to hold out as a validation set. These are the queries whose ids have the smallest hashes,
        so the same ids are held out for any order of rows and on any machine.
    whole : array-like, optional
        Query of each row of the full data, before anything was cut, as in `query_scorer`: `fit` and `score` then warn
        if a query comes with a different number of rows.
    objective : Objective, optional
        An objective of `ra.objectives` that replaces the ranker's own. It is passed to the toolkit through
        `ra.lightgbm.objective` or `ra.xgboost.objective`, or trained as in `ra.catboost.train`.
    response : {"auto", "predict", "predict_proba"} or callable
        The score that `predict` returns, as in `query_scorer`: by default the prediction, but of a classifier its
        `decision_function`, probability or expected grade.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    history_ : History
        With `eval_metric`: (set, convention, value) of every round, in full precision. Sets have the toolkit's names:
        `valid_0` in LightGBM, `validation_0` in XGBoost, `validation` in CatBoost (`validation_0` if there are more).
    n_features_in_ : int
        Number of features, without the qid column.
    feature_names_in_ : array of str
        Names of the features, if all are strings.

    Notes
    -----
    With `sklearn.set_config(enable_metadata_routing=True)` it requests `qid` and `sample_weight` in `fit` and `score`
    without a `set_*_request` call. Other parameters of `fit` go to the estimator: with routing, only those that it
    requests; without routing, all.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0)
    >>> shuffled = np.random.default_rng(0).permutation(train.labels.size)
    >>> ranker = ra.sklearn.QueryRanker(
    ...     lgb.LGBMRanker(n_estimators=20, verbosity=-1), convention=ra.presets.letor4(10)
    ... )
    >>> ranker = ranker.fit(train.X[shuffled], train.labels[shuffled], qid=train.qid[shuffled])
    >>> value = ranker.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, ranker.predict(test.X), ra.presets.letor4(10), qid=test.qid).value
    True
    """

    _other_ids = ", or QueryRanker(qid='column of X')"

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
        response: Response = "auto",
    ) -> None:
        self.estimator = estimator
        self.qid = qid
        self.convention = convention
        self.eval_metric = eval_metric
        self.validation_fraction = validation_fraction
        self.whole = whole
        self.objective = objective
        self.response = response

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
            numpy, scipy.sparse, pandas, polars or pyarrow, if the estimator accepts it; never converted.
        y : array-like, shape (n_docs,)
            Relevance labels.
        qid : array-like, shape (n_docs,), optional
            Query of each row: integers, strings or other hashables. Rankers need it, unless `qid` names a column.
        sample_weight : array-like, shape (n_docs,), optional
            Weight of each row; with queries, constant within a query.
        eval_set : tuple or list of tuples, optional
            Validation queries: (X, y, qid) or (X, y, qid, sample_weight); or (X, y) if `qid` names a column.
        **fit_params
            More parameters for the estimator's `fit`. Those with an entry for each row of X, such as LightGBM's
            `init_score`, XGBoost's `base_margin` and CatBoost's `baseline` and `subgroup_id`, are sorted and held out
            with the rows; `eval_init_score` and `base_margin_eval_set` have the order of `eval_set`.

        Returns
        -------
        QueryRanker
            Itself.

        Raises
        ------
        InputError
            The qid is missing or does not fit; the message says what is wrong and suggests a fix.
        ConventionError
            `convention` or `eval_metric` is not a convention, or `objective` not an objective.

        Warns
        -----
        CutQueriesWarning
            Rows of a query are missing, according to `whole`.
        """
        self._check(eval_set)
        inner, params = copy_of(self.estimator), self._routed(fit_params)
        refuse_other_rows(self.qid, X=X, **by_row(params, n_entries(X)))
        sets = self._sets(X, y, qid, sample_weight, eval_set)
        convention = None if self.eval_metric is None else as_convention(self.eval_metric)
        last, sets, params = fit_transformers(inner, sets, params)
        history = RankerFit(last, sets, convention, self.objective, params).run()
        self.__dict__.pop("history_", None)  # left by an earlier fit
        if history is not None:
            self.history_ = history
        self.estimator_ = inner
        return self

    def predict(self, X: Any) -> Array:
        """Predict scores for the rows of X, in their order, as `response` says; query ids are not needed.

        Parameters
        ----------
        X : table, shape (n_docs, n_features)
            Features, with or without the qid column.

        Returns
        -------
        array, shape (n_docs,)
            Scores; higher is better.
        """
        check_is_fitted(self)
        features = without_column(X, self.qid)
        if getattr(features, "ndim", 2) == 2:  # noqa: PLR2004 - the estimator refuses what is not a table
            validate_data(self, features, reset=False, skip_check_array=True)
        scores: Array = scores_of(self.estimator_, features, self.response)
        return scores

    @property
    def feature_importances_(self) -> Array:
        """Feature importances of the fitted estimator, or of the last step of a pipeline."""
        return self._fitted_last().feature_importances_  # type: ignore[no-any-return]

    @property
    def coef_(self) -> Array:
        """Coefficients of the fitted estimator, or of the last step of a pipeline."""
        return self._fitted_last().coef_  # type: ignore[no-any-return]

    def get_metadata_routing(self) -> MetadataRouter:
        """Request qid and sample weights for QueryRanker itself, and route other metadata to the estimator."""
        request = super().get_metadata_routing()
        if self.qid is not None:  # the ids are read from X, not passed
            for method in (request.fit, request.score):
                method.add_request(param="qid", alias=False)
        router = MetadataRouter(owner=self).add_self_request(request)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=_with_requests(self.estimator), method_mapping=mapping)

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters; unlike scikit-learn's clone, also copy an XGBRanker with a callable objective."""
        shell = copy.copy(self)
        shell.estimator = None
        cloned: Self = super(QueryRanker, shell).__sklearn_clone__()
        cloned.estimator = copy_of(self.estimator)
        return cloned

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn tags, most of them copied from the estimator."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
            tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
            tags.estimator_type, tags.regressor_tags = inner.estimator_type, inner.regressor_tags
        return tags

    @property
    def _needs_queries(self) -> bool:  # type: ignore[override]
        return toolkit_of(last_step(self.estimator)) is not None

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        validate_data(self, X, reset=training, skip_check_array=True)  # only the number and names of features
        return X, y

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        if not get_config()["enable_metadata_routing"]:
            return dict(fit_params)
        return dict(process_routing(self, "fit", **fit_params).estimator.fit)

    def _fitted_last(self) -> Any:
        check_is_fitted(self)
        return last_step(self.estimator_)

    def _check(self, eval_set: Any) -> None:
        """Check the parameters, and that they fit together."""
        _check_estimator(self.estimator)
        if not isinstance(self.qid, str | None):
            hint = "to pass the ids themselves, QueryRanker(estimator).fit(X, y, qid=ids)"
            raise refusal("qid", self.qid, "names of a column or index level of X", hint)
        self._check_shared(eval_set, "eval_metric")
        require_response(self.response)
        if self.objective is not None:
            as_objective(self.objective)
        names = ("objective", "eval_metric", "validation_fraction")
        options = {"eval_set": eval_set, **{name: getattr(self, name) for name in names}}
        used = [option for option, value in options.items() if value is not None]
        if used and not self._needs_queries:
            last = last_step(self.estimator)
            name, hint = type(last).__name__, f"it is for {', '.join(RANKERS)}; leave it out"
            if hasattr(last, "early_stopping"):
                hint += f", and set {name}(early_stopping=False), which would hold out rows instead of queries"
            msg = f"{name} takes neither an objective nor validation queries, so {used[0]} has no effect."
            raise InputError(msg, hint=hint)
        if self.eval_metric is not None and eval_set is None and self.validation_fraction is None:
            msg = "eval_metric has no validation queries."
            raise InputError(msg, hint="fit(eval_set=[(X, y, qid)]) or validation_fraction=0.1")


def _with_requests(estimator: Any) -> Any:
    """Return an estimator; of one that cannot request metadata, such as CatBoostRanker, a request of all it takes."""
    if hasattr(estimator, "get_metadata_routing"):
        return estimator
    request = MetadataRequest(owner=type(estimator).__name__)
    for name in signature(estimator.fit).parameters:
        if name not in {"X", "y", "sample_weight", "eval_set", "args", "kwargs"}:
            request.fit.add_request(param=name, alias=True)
    return request


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        raise InputError(f"estimator is the class {estimator.__name__}.", hint=f"QueryRanker({estimator.__name__}())")
    last = last_step(estimator)
    for name in ("fit", "predict"):
        if not hasattr(last, name) and not hasattr(type(last), name):  # a stack has `predict` only once it is fitted
            msg = f"estimator={brief(estimator)} has no {name}."
            raise InputError(msg, hint="an estimator, or a Pipeline whose last step has fit and predict")
