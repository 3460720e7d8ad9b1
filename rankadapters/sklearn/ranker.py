"""A meta-estimator that passes queries to any ranker in every search, pipeline and cross-validation."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted, validate_data

from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.core.presets.texts import as_convention
from rankadapters.objectives import Objective
from rankadapters.objectives.base import as_objective
from rankadapters.sklearn.fit_arguments import RANKERS, FitOptions, toolkit_of
from rankadapters.sklearn.inner import QueryMetaEstimator, copy_of, ending_with, fit_inner, last_step
from rankadapters.sklearn.responses import Response, require_response, scores_of
from rankadapters.sklearn.round_reports import max_rounds
from rankadapters.sklearn.rows import ids_of
from rankadapters.sklearn.tables import without_column
from rankadapters.sklearn.tasks import FitTasks, TrainingRows, with_callbacks

Array = NDArray[Any]


class QueryRanker(QueryMetaEstimator):
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

    With scikit-learn 1.9 or later, `set_callbacks` takes scikit-learn's callbacks, such as ProgressBar and
    ScoringMonitor. They see each round of a ranker as a task.

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

    @with_callbacks
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
            More parameters for the estimator's `fit`.

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
        params = self._routed(fit_params)
        inner = copy_of(self.estimator)
        train, *sets = self._sets(X, y, qid, sample_weight, eval_set)
        convention = None if self.eval_metric is None else as_convention(self.eval_metric)
        objective = None if self.objective is None else as_objective(self.objective)
        last = last_step(inner)
        rows = TrainingRows(X, y, ids_of(X, qid, self.qid), sample_weight)
        tasks = FitTasks(
            self, rows, train.row_numbers, max_rounds(toolkit_of(last), last),
            lambda model: {"estimator_": ending_with(inner, model)},
        )  # fmt: skip
        history = fit_inner(inner, train, FitOptions(sets, convention, objective, tasks), params)
        self.__dict__.pop("history_", None)  # left by an earlier fit
        if history is not None:
            self.history_ = history
        validate_data(self, self._features(X), skip_check_array=True)  # sets n_features_in_, also for lists
        self.estimator_ = inner
        tasks.end()
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
        features = self._features(X)
        self._check_features(features)
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

    @property
    def _needs_queries(self) -> bool:
        return toolkit_of(last_step(self.estimator)) is not None

    def _read(self, X: Any, y: Any, *, training: bool) -> tuple[Any, Any]:
        self._check_features(X, reset=training)
        return X, y

    def _check_features(self, features: Any, *, reset: bool = False) -> None:
        """Check that a table has the number and names of features of `fit`; the estimator checks any other X."""
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

    def _check(self, eval_set: Any) -> None:
        """Check the parameters, and that they fit together."""
        _check_estimator(self.estimator)
        if not isinstance(self.qid, str | None):
            hint = "to pass the ids themselves, QueryRanker(estimator).fit(X, y, qid=ids)"
            raise refusal("qid", self.qid, "names of a column or index level of X", hint)
        self._check_shared(eval_set, "eval_metric")
        require_response(self.response)
        name = type(last_step(self.estimator)).__name__
        if self.objective is not None:
            as_objective(self.objective)
            if not self._needs_queries:
                msg = f"{name} cannot train an objective.\nHint: objective= is for {', '.join(RANKERS)}."
                raise InputError(msg)
        options = {
            "eval_set": eval_set,
            "eval_metric": self.eval_metric,
            "validation_fraction": self.validation_fraction,
        }
        used = [option for option, value in options.items() if value is not None]
        if used and not self._needs_queries:
            msg = (
                f"{name} takes no validation queries, so {used[0]} has no effect.\n"
                f"Hint: it is for {', '.join(RANKERS)}; leave it out, and use the estimator's own early stopping."
            )
            raise InputError(msg)
        if used == ["eval_metric"]:
            msg = (
                "eval_metric has no validation queries.\nHint: fit(eval_set=[(X, y, qid)]) or validation_fraction=0.1."
            )
            raise InputError(msg)


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        msg = f"estimator is the class {estimator.__name__}.\nHint: QueryRanker({estimator.__name__}())."
        raise InputError(msg)
    for name in ("fit", "predict"):
        if not hasattr(estimator, name):
            hint = "Hint: an estimator, or a Pipeline whose last step has fit and predict."
            raise InputError(f"estimator={brief(estimator)} has no {name}.\n{hint}")
