"""scikit-learn: a scorer that knows which rows form a query, in every search and cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, MissingToolkitError
from rankadapters.core.evaluator import evaluate
from rankadapters.core.queries import Queries

try:
    from sklearn.utils.metadata_routing import MetadataRequest
except ImportError as error:
    raise MissingToolkitError.of("scikit-learn", "sklearn") from error

Array = NDArray[Any]


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
            queries = Queries(y, qid=qid, query_weight=one_per_query(_values(sample_weight), queries))
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


def find_qid(name: str, X: Any, y: Any) -> Any:
    """Find query ids in a column of X, else an index level of X, else an index level of y.

    Raises
    ------
    InputError
        None of them has that name.
    """
    columns = getattr(X, "column_names", getattr(X, "columns", ()))  # pyarrow's `columns` are the data
    if name in list(columns):
        return X[name]
    for table in (X, y):
        index = getattr(table, "index", None)
        if name in list(getattr(index, "names", ())):
            return np.asarray(index.get_level_values(name))  # type: ignore[union-attr]
    msg = (
        f"the scorer got no {name!r}, so it cannot tell the queries apart.\n"
        f"Hint: sklearn.set_config(enable_metadata_routing=True) and fit(X, y, {name}=...), or a column or index level "
        f"named {name!r} in X or y."
    )
    raise InputError(msg)


def one_per_query(row_weights: Array, queries: Queries) -> Array:
    """Reduce weights per row, constant within a query, to one per query.

    Raises
    ------
    InputError
        They vary within a query, or there is not one per row.
    """
    if row_weights.shape != (queries.n_docs,):
        msg = f"sample_weight has shape {row_weights.shape} but there are {queries.n_docs} rows.\nHint: one per row."
        raise InputError(msg)
    ordered = row_weights if queries.order is None else row_weights[queries.order]
    first = ordered[queries.indptr[:-1]]
    varies = np.flatnonzero(ordered != np.repeat(first, np.diff(queries.indptr)))
    if varies.size:
        query = queries.query_ids[np.searchsorted(queries.indptr, varies[0], side="right") - 1]
        msg = f"sample_weight varies within query {query}.\nHint: give every row of a query the query's weight."
        raise InputError(msg)
    return first


def _values(column: Any) -> Array:
    return column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
