"""The estimator inside a meta-estimator: clone it, fit it (also as a pipeline's last step), route metadata to it."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing

from rankadapters.callbacks.history import History
from rankadapters.sklearn.estimator import QueryEstimator
from rankadapters.sklearn.fit_arguments import FitOptions, fit_on_queries, toolkit_of
from rankadapters.sklearn.rows import LabeledRows


class QueryMetaEstimator(MetaEstimatorMixin, QueryEstimator):
    """A meta-estimator that gets query ids as an argument, or from the column or index level `qid` of X."""

    estimator: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Request qid and sample weights for this meta-estimator, and route metadata to the inner estimator."""
        request = super().get_metadata_routing()
        if self.qid is not None:  # the ids are read from X, not passed
            for method in (request.fit, request.score):
                method.add_request(param="qid", alias=False)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self).add_self_request(request).add(estimator=self.estimator, method_mapping=mapping)
        )

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters; unlike scikit-learn's clone, also copy an XGBRanker with a callable objective."""
        shell = copy.copy(self)
        shell.estimator = None
        cloned: Self = super(QueryMetaEstimator, shell).__sklearn_clone__()
        cloned.estimator = copy_of(self.estimator)
        return cloned

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn tags, most of them copied from the inner estimator."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
            tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
            tags.estimator_type, tags.regressor_tags = inner.estimator_type, inner.regressor_tags
        return tags


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, which may be nested; return any other estimator unchanged."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def copy_of(estimator: Any) -> Any:
    """Clone an estimator or pipeline, even if scikit-learn's `clone` cannot copy its ranker."""
    if not isinstance(estimator, Pipeline):
        return _copy_of_ranker(estimator)
    cloned = clone(ending_with(estimator, BaseEstimator()))
    return ending_with(cloned, _copy_of_ranker(last_step(estimator)))


def fit_inner(estimator: Any, train: LabeledRows, options: FitOptions, params: dict[str, Any]) -> History | None:
    """Fit an estimator in place; in a pipeline, transformers see only features and the last step gets the queries."""
    if not isinstance(estimator, Pipeline):
        return fit_on_queries(estimator, train, options, params)
    name, last = estimator.steps[-1]
    head = estimator[:-1]
    head_params, params = _split(estimator, head, train.row_weight, params)
    if head.steps:
        train = train.with_features(head.fit_transform(train.X, train.y, **head_params))
        options = options.transformed(head.transform)
        estimator.steps = [*head.steps, (name, last)]  # with memory=, `head` has fitted copies of its steps
    return fit_inner(last, train, options, params)


def _copy_of_ranker(ranker: Any) -> Any:
    toolkit = toolkit_of(ranker)
    if toolkit == "catboost":  # get_params copies lists such as cat_features, so clone's check fails
        return type(ranker)(**ranker.get_params())
    if toolkit != "xgboost" or not callable(ranker.objective):
        return clone(ranker)
    stand_in = copy.copy(ranker)
    stand_in.objective = "rank:ndcg"  # the constructor of XGBRanker refuses a callable
    cloned = clone(stand_in)
    cloned.objective = clone(ranker.objective, safe=False)
    return cloned


def ending_with(estimator: Any, last: Any) -> Any:
    """Return a pipeline with its (innermost) last step replaced by `last`; for any other estimator return `last`."""
    if not isinstance(estimator, Pipeline):
        return last
    changed = copy.copy(estimator)
    name, step = estimator.steps[-1]
    changed.steps = [*estimator.steps[:-1], (name, ending_with(step, last))]
    return changed


def _split(
    estimator: Pipeline, head: Pipeline, row_weight: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split fit parameters into those of the transformers and of the last step, by metadata routing or name prefix."""
    name = estimator.steps[-1][0]
    if not get_config()["enable_metadata_routing"]:
        last_keys = {key for key in params if key.startswith(f"{name}__") or not head.steps}
        rest = {key: value for key, value in params.items() if key not in last_keys}
        return rest, {key.removeprefix(f"{name}__"): params[key] for key in last_keys}
    last_params = dict(process_routing(estimator, "fit", **params)[name]["fit"])
    available = dict(params) if row_weight is None else {**params, "sample_weight": row_weight}
    head_keys = get_routing_for_object(head).consumes("fit_transform", available) if head.steps else ()
    return {key: available[key] for key in head_keys}, last_params
