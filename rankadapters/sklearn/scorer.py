"""A scorer under one convention, for `scoring=` in every search and cross-validation."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.evaluator import evaluate
from rankadapters.core.queries import Queries
from rankadapters.sklearn.qid import find_qid, one_per_query


class QueryScorer:
    """A scikit-learn scorer under one convention; made by `query_scorer`."""

    def __init__(self, convention: Convention, qid: str) -> None:
        self.convention = convention
        self.qid = qid

    def __repr__(self) -> str:
        """Show what is scored and by which queries."""
        return f"query_scorer({self.convention.name}, qid={self.qid!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, **metadata: Any) -> float:
        """Score the estimator's predictions for X against y; greater is better, as the convention says."""
        unknown = set(metadata) - {self.qid}
        if unknown:
            raise InputError(
                f"the scorer takes {self.qid!r} but was handed {min(unknown)!r}.\nHint: query_scorer(qid=)."
            )
        qid = metadata.get(self.qid)
        qid = find_qid(self.qid, X, y) if qid is None else qid
        queries = Queries(y, qid=qid)
        if sample_weight is not None:
            queries = Queries(y, qid=qid, query_weight=one_per_query(sample_weight, queries))
        value = evaluate(queries, estimator.predict(X), self.convention).value
        return value if self.convention.higher_is_better else -value

    def get_metadata_routing(self) -> MetadataRequest:
        """Request qid, and weights where the convention uses them, so that no `set_score_request` is needed."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param=self.qid, alias=True)
        request.score.add_request(param="sample_weight", alias=self.convention.average != "uniform")
        return request


def query_scorer(convention: Convention, *, qid: str = "qid") -> QueryScorer:
    """Make a scorer for `scoring=` in GridSearchCV, cross_validate and the like.

    It learns the queries from, in this order: routed metadata (`sklearn.set_config(enable_metadata_routing=True)`, then
    `search.fit(X, y, qid=qid)`), a column of X, an index level of X, an index level of y of the name `qid`. When it
    finds none it raises: an unnamed index is never taken for one.

    Parameters
    ----------
    convention : Convention
        What to compute. A measure that is better when smaller is negated, as scikit-learn's scorers are.
    qid : str
        Name of the metadata, column or index level that holds one query id per row.

    Returns
    -------
    QueryScorer
        Callable as `scorer(estimator, X, y, qid=...)`; returns a float. Row weights (`sample_weight`), constant within
        a query, count as query weights unless the convention says `average="uniform"`.

    Raises
    ------
    ConventionError
        `convention` is none.
    InputError
        When called: no qid is found, or weights vary within a query.

    References
    ----------
    scikit-learn 1.9.1, sklearn/utils/_metadata_requests.py.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankadapters as ra
    >>> from sklearn.linear_model import LinearRegression
    >>> X = pd.DataFrame({"feature": [0.1, 0.9, 0.4, 0.2], "qid": ["a", "a", "b", "b"]})
    >>> model = LinearRegression().fit(X[["feature"]], [0, 1, 0, 1])
    >>> scorer = ra.sklearn.query_scorer(ra.presets.yahoo(2))
    >>> round(scorer(model, X[["feature"]], [0, 1, 0, 1], qid=X["qid"]), 3)
    0.815
    """
    if not isinstance(convention, Convention):
        msg = f"{convention!r:.80} is no convention.\nHint: query_scorer(ra.presets.textbook(10))."
        raise ConventionError(msg)
    if not isinstance(qid, str) or not qid.isidentifier():
        msg = f"qid={qid!r} must name a parameter, column or index level.\nHint: pass the ids themselves to fit(qid=)."
        raise ConventionError(msg)
    return QueryScorer(convention, qid)
