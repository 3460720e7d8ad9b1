"""An estimator inside another: copied, fitted through a pipeline whose last step is handed the queries, and routed."""

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
from rankadapters.sklearn.fit_arguments import Watched, hand, toolkit_of
from rankadapters.sklearn.rows import LabelledRows


class QueryMetaEstimator(MetaEstimatorMixin, QueryEstimator):
    """An estimator around `estimator`, which takes query ids, unless `qid` names the column of X that holds them."""

    estimator: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Request qid and weights for itself, and route what else the estimator requests."""
        request = super().get_metadata_routing()
        if self.qid is not None:  # found in X
            for method in (request.fit, request.score):
                method.add_request(param="qid", alias=False)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return (
            MetadataRouter(owner=self).add_self_request(request).add(estimator=self.estimator, method_mapping=mapping)
        )

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters, by a way that also copies an XGBRanker with a callable objective."""
        shell = copy.copy(self)
        shell.estimator = None
        found: Self = super(QueryMetaEstimator, shell).__sklearn_clone__()
        found.estimator = copy_of(self.estimator)
        return found

    def __sklearn_tags__(self) -> Any:
        """Take what the estimator takes."""
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
            tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
            tags.estimator_type, tags.regressor_tags = inner.estimator_type, inner.regressor_tags
        return tags


def last_step(estimator: Any) -> Any:
    """Last step of a pipeline, at any depth; any other estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def copy_of(estimator: Any) -> Any:
    """Clone an estimator, and a ranker in it whose constructor scikit-learn's own way of cloning fails at."""
    if not isinstance(estimator, Pipeline):
        return _copy_of_ranker(estimator)
    found = clone(ending_with(estimator, BaseEstimator()))
    return ending_with(found, _copy_of_ranker(last_step(estimator)))


def fit_inner(estimator: Any, train: LabelledRows, watched: Watched, params: dict[str, Any]) -> History | None:
    """Fit an estimator in place: transformers on features alone, the last step with its queries."""
    if not isinstance(estimator, Pipeline):
        return hand(estimator, train, watched, params)
    name, last = estimator.steps[-1]
    head = estimator[:-1]
    head_params, params = _split(estimator, head, train.row_weight, params)
    if head.steps:
        train = train.with_features(head.fit_transform(train.X, train.y, **head_params))
        watched = watched.transformed(head.transform)
        estimator.steps = [*head.steps, (name, last)]  # with a memory, transformers are fitted as copies
    return fit_inner(last, train, watched, params)


def _copy_of_ranker(ranker: Any) -> Any:
    toolkit = toolkit_of(ranker)
    if toolkit == "catboost":  # hands out copies of its lists, such as cat_features, so that no clone looks alike
        return type(ranker)(**ranker.get_params())
    if toolkit != "xgboost" or not callable(ranker.objective):
        return clone(ranker)
    stand_in = copy.copy(ranker)
    stand_in.objective = "rank:ndcg"  # its constructor refuses a callable
    found = clone(stand_in)
    found.objective = clone(ranker.objective, safe=False)
    return found


def ending_with(estimator: Any, last: Any) -> Any:
    """Return a pipeline with another last step, at any depth; in place of any other estimator, that step."""
    if not isinstance(estimator, Pipeline):
        return last
    other = copy.copy(estimator)
    name, step = estimator.steps[-1]
    other.steps = [*estimator.steps[:-1], (name, ending_with(step, last))]
    return other


def _split(
    estimator: Pipeline, head: Pipeline, row_weight: Any, params: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divide what fit was given between transformers and last step: by their requests, or else by their prefixes."""
    name = estimator.steps[-1][0]
    if not get_config()["enable_metadata_routing"]:
        own = {key for key in params if key.startswith(f"{name}__") or not head.steps}
        rest = {key: value for key, value in params.items() if key not in own}
        return rest, {key.removeprefix(f"{name}__"): params[key] for key in own}
    last_params = dict(process_routing(estimator, "fit", **params)[name]["fit"])
    asked = dict(params) if row_weight is None else {**params, "sample_weight": row_weight}
    wanted = get_routing_for_object(head).consumes("fit_transform", asked) if head.steps else ()
    return {key: asked[key] for key in wanted}, last_params
