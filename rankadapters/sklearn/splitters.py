"""Splitters that keep queries whole, for `cv=` in every search and cross-validation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import as_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration import arguments
from rankadapters.core.errors import InputError
from rankadapters.sklearn.estimator import generator
from rankadapters.sklearn.rows import n_rows, queries_of, refuse_other_rows

Folds = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]


class _QuerySplitter:
    """Base of the splitters: `groups` takes the query ids, which metadata routing passes as `qid`."""

    # scikit-learn reads a consumer's requests from this attribute (user guide, "Metadata Routing").
    __metadata_request__split = {"groups": "qid"}  # noqa: RUF012

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Folds:
        """Return the row numbers to train on and to test on, fold by fold.

        Parameters
        ----------
        X : array-like, shape (n_docs, ...)
            Only its length is read; None means the length of `groups`.
        y : array-like, shape (n_docs,), optional
            Relevance labels; read by StratifiedQueryKFold only.
        groups : array-like, shape (n_docs,)
            Query of each row: integers, strings or other hashables, in any order. Routed as `qid`.

        Returns
        -------
        iterator of (int64 array, int64 array)
            Rows to train on and rows to test on, both ascending, so the rows of a query keep their order.

        Raises
        ------
        InputError
            `groups` is missing, differs from X in length, has a NaN or floats, or has too few queries.
        """
        queries = self._queries(X, y, groups)
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        if isinstance(params["random_state"], np.random.RandomState) and not params.get("shuffle", True):
            params["random_state"] = None  # scikit-learn's stacking sets it in a copy, whatever `shuffle` says
        checked = type(self)(**params)  # check again, because set_params does not
        checked.random_state = generator(params["random_state"])  # type: ignore[attr-defined]
        return checked._folds(queries)  # noqa: SLF001 - the same class

    def _queries(self, X: Any, y: Any, groups: Any) -> Queries:
        name = type(self).__name__
        if groups is None:
            raise InputError(
                f"{name} got no qid, so it cannot keep queries whole.",
                hint="sklearn.set_config(enable_metadata_routing=True) and fit(X, y, qid=qid) or params={'qid': qid}; "
                "with metadata routing off, groups=qid; by hand, split(X, y, qid)",
            )
        ids = as_column("qid", groups).size
        rows = ids if X is None else n_rows(X)
        if rows != ids:
            raise InputError(f"qid has {ids} rows but X has {rows}.", hint="one query id per row of X")
        refuse_other_rows("qid", X=X, y=y, qid=groups)
        return queries_of(self._labels(y, rows), groups)

    def _labels(self, y: Any, rows: int) -> Any:  # noqa: ARG002 - StratifiedQueryKFold uses y
        return np.zeros(rows)

    def _folds(self, queries: Queries) -> Folds:
        self._refuse_too_few(queries.n_queries)
        of_row = queries.query_of_row
        return super().split(of_row, queries.labels, of_row)  # type: ignore[misc, no-any-return]

    def _refuse_too_few(self, n_queries: int) -> None:
        n_splits: int = self.n_splits  # type: ignore[attr-defined]
        if n_queries < n_splits:
            hint = f"n_splits from 2 to {n_queries}" if n_queries > 1 else "one query cannot be split; pass more"
            msg = f"{type(self).__name__}(n_splits={n_splits}) needs a query for every fold, but there are {n_queries}."
            raise InputError(msg, hint=hint)


class _KFold(_QuerySplitter, GroupKFold, BaseEstimator):
    """K folds that check their parameters in the constructor."""

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        arguments.whole("n_splits", n_splits, least=2, hint="n_splits=5")
        if not arguments.flag("shuffle", shuffle) and random_state is not None:
            raise InputError("random_state has no effect if shuffle=False.", hint="shuffle=True, or random_state=None")
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)


class QueryKFold(_KFold):
    """K folds of whole queries with about the same number of rows.

    It works like scikit-learn's GroupKFold, but takes query ids of any kind: with metadata routing on, the `qid` passed
    to a search or cross-validation reaches it without a `set_split_request`. Queries are numbered by first appearance,
    not sorted by id, so the folds do not depend on the ids' values.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        If False, the largest remaining query goes to the fold with the fewest rows; two folds then differ in rows by at
        most the largest query. If True, queries are assigned at random; two folds then differ by at most one query.
    random_state : int, Generator, RandomState or None
        Seed of the shuffle.

    References
    ----------
    scikit-learn 1.9.1, sklearn/model_selection/_split.py, `GroupKFold`.

    Examples
    --------
    >>> for train, test in QueryKFold(2).split(np.zeros(6), groups=["a", "b", "a", "c", "c", "a"]):
    ...     print(train, test)
    [1 3 4] [0 2 5]
    [0 2 5] [1 3 4]
    """


class QueryShuffleSplit(_QuerySplitter, GroupShuffleSplit, BaseEstimator):
    """Random splits into training and test queries; `train_size` and `test_size` count queries, not rows.

    With an integer seed, a larger `train_size` only adds training queries and keeps the test queries: use it for
    learning curves that cut no query.

    Parameters
    ----------
    n_splits : int
        Number of splits.
    test_size, train_size : float, int or None
        Share (between 0 and 1) or number of queries. None means all remaining queries; if both are None, test on 0.2.
    random_state : int, Generator, RandomState or None
        Seed.

    References
    ----------
    scikit-learn 1.9.1, sklearn/model_selection/_split.py, `GroupShuffleSplit`.

    Examples
    --------
    >>> splitter = QueryShuffleSplit(1, test_size=1, random_state=0)
    >>> [(train, test)] = splitter.split(np.zeros(6), groups=["a", "b", "a", "c", "c", "a"])
    >>> train, test
    (array([0, 1, 2, 5]), array([3, 4]))
    """

    def _folds(self, queries: Queries) -> Folds:
        try:
            return iter(list(super()._folds(queries)))
        except (ValueError, TypeError) as error:
            if isinstance(error, InputError):
                raise
            msg = f"{error}"
            raise InputError(
                msg, hint=f"scikit-learn's samples are queries here; their number is {queries.n_queries}"
            ) from None

    def _refuse_too_few(self, n_queries: int) -> None:
        if n_queries < 2:  # noqa: PLR2004 - one to train on, one to test on
            msg = "QueryShuffleSplit needs two queries or more, but there is 1."
            raise InputError(msg, hint="one query cannot be split")


class StratifiedQueryKFold(_KFold):
    """K folds of whole queries, balanced by each query's best grade and by the number of rows.

    The queries are sorted by best grade, then by size, both descending. The queries of one grade are dealt in hands of
    one query per fold. The largest query of a hand goes to the fold with the fewest rows so far. The last hand of a
    grade may be too small for all folds; it goes to the folds with the fewest queries, and among them the fewest rows.

    For any data, two folds then differ

    - by at most one in the number of queries with a given best grade, and so of queries without a relevant row,
    - by at most one in the number of queries whose best grade is at least a given grade, and so in the number of
      queries,
    - in rows by at most the size of the largest query of each best grade, summed over grades; usually by far less.

    If the labels are continuous values rather than grades, only the second property matters: the k queries with the
    highest labels go to k different folds, and so do the next k.

    Parameters
    ----------
    n_splits, random_state
        As in QueryKFold.
    shuffle : bool
        If False, the folds depend on the data alone. If True, every hand is dealt at random, and queries of equal grade
        and size are in random order; the guarantees above still hold.

    Examples
    --------
    >>> y, qid = np.array([0, 2, 0, 1, 0, 0, 2, 0]), np.array(list("aabbccdd"))
    >>> [sorted(set(qid[test].tolist())) for _, test in StratifiedQueryKFold(2).split(y, y, qid)]
    [['a', 'b'], ['c', 'd']]
    """

    def _labels(self, y: Any, rows: int) -> Any:  # noqa: ARG002 - the base class has both
        if y is None:
            msg = "StratifiedQueryKFold got no y, so it does not know the best grades."
            raise InputError(msg, hint="split(X, y, qid)")
        return y

    def _iter_test_indices(self, X: Any, y: Array, groups: Array) -> Iterator[NDArray[np.int64]]:  # noqa: ARG002 - scikit-learn's signature
        sizes = np.bincount(groups)
        best = np.full(sizes.size, -np.inf)
        np.maximum.at(best, groups, y)
        rng = self.random_state if self.shuffle else None
        fold_of_row = _deal(best, sizes, self.n_splits, rng)[groups]
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of_row == fold)


def _deal(best: Array, sizes: Array, n_folds: int, rng: np.random.RandomState | None) -> Array:
    """Assign queries to folds; return the fold of each query, shape (n_queries,)."""
    queries = np.arange(sizes.size) if rng is None else rng.permutation(sizes.size)
    queries = queries[np.lexsort((-sizes[queries], -best[queries]))]  # stable
    fold = np.empty_like(queries)
    n_rows, n_queries = np.zeros((2, n_folds), dtype=np.int64)
    for hand in _hands(best[queries], n_folds):
        dealt = queries[hand]
        preference = n_rows if rng is None else rng.permutation(n_folds)
        takers = np.lexsort((preference, n_queries))[: dealt.size]
        takers = takers[np.argsort(preference[takers], kind="stable")]
        fold[dealt] = takers
        n_rows[takers] += sizes[dealt]
        n_queries[takers] += 1
    return fold


def _hands(grades: Array, n_folds: int) -> Iterator[slice]:
    """Split sorted queries by grade, and the queries of each grade into hands of at most `n_folds` queries."""
    edges = [0, *(np.flatnonzero(np.diff(grades)) + 1).tolist(), grades.size]
    for start, stop in itertools.pairwise(edges):
        for first in range(start, stop, n_folds):
            yield slice(first, min(first + n_folds, stop))
