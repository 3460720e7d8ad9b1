"""What scikit-learn asks of an estimator around another one: metadata routing, clones and tags."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from rankadapters.sklearn.inner import copy_of


class QueryMetaEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator around `estimator`, which takes query ids, unless `qid` names the column of X that holds them."""

    estimator: Any
    qid: str | None

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
