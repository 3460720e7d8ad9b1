"""Ranking data as an object, and generated data shaped like MQ2008 for use without files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Floats
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import shared_index
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import InputError

FEATURES = 46
_MAX_QUERIES = 1_000_000
INFORMATIVE = 0.8  # share of the features that depend on relevance
EMPTY = 0.28  # share of the queries with nothing relevant
SHORT = 0.5  # share of the queries with fewer than 10 documents
TWINS = 0.15  # share of the documents that share another document's features, so that every model ties them

__all__ = ["Grouped", "RankingData", "mq2008_like"]

list_public(__name__)


@frozen_class
@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RankingData:
    """Documents with features, each judged for a query.

    Attributes
    ----------
    X : float array, shape (n_docs, n_features)
        Features; NaN for missing values.
    labels : float array, shape (n_docs,)
        Relevance labels.
    qid : int array, shape (n_docs,)
        Query of each row; rows of one query need not be contiguous.
    """

    X: Floats
    labels: Floats
    qid: NDArray[Any]

    def __post_init__(self) -> None:
        """Raise an error unless X, labels and qid have the same number of rows."""
        X, labels, qid = (getattr(part, "shape", None) for part in (self.X, self.labels, self.qid))
        if X is None or len(X) != 2 or not labels == qid == X[:1]:  # noqa: PLR2004 - X has two dimensions
            raise InputError(
                f"X has shape {X}, labels {labels}, qid {qid}.",
                hint="a table of one row per document, and one label and one qid for each",
            )
        shared_index({"X": self.X, "labels": self.labels, "qid": self.qid})

    @property
    def group_sizes(self) -> NDArray[np.int64]:
        """Rows of each query in the order of the rows, as LightGBM and XGBoost take them; shape (n_queries,).

        Raises
        ------
        InputError
            The rows of a query are not contiguous; `Grouped.of` sorts them by query.
        """
        return Queries(np.zeros(len(self.qid)), qid=self.qid).group_sizes

    def __repr__(self) -> str:
        """Return the size, not the data."""
        return f"RankingData({np.unique(self.qid).size} queries, {self.X.shape[0]} rows, {self.X.shape[1]} features)"


@frozen_class
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouped:
    """Rows ordered by query, with the query sizes and ids that toolkits take; made by `of`.

    Attributes
    ----------
    X, labels
        As in `RankingData`.
    queries : Queries
        The same rows for evaluation.
    sizes : int array, shape (n_queries,)
        Rows per query.
    qid : int32 array, shape (n_docs,)
        Queries numbered 0, 1, 2, ..., since XGBoost takes qid modulo 2^32.
    """

    X: Floats
    labels: Floats
    queries: Queries
    sizes: NDArray[Any]
    qid: NDArray[np.int32]

    @classmethod
    def of(cls, data: RankingData) -> Grouped:
        """Group the rows by query; queries are in order of first appearance, and each query's rows keep their order.

        >>> data = RankingData(X=np.array([[1.0], [2.0], [3.0]]), labels=np.zeros(3), qid=np.array([7, 5, 7]))
        >>> grouped = Grouped.of(data)
        >>> grouped.X.ravel().tolist(), grouped.sizes.tolist(), grouped.qid.tolist()
        ([1.0, 3.0, 2.0], [2, 1], [0, 0, 1])
        """
        if not isinstance(data, RankingData):
            raise arguments.refusal("data", data, "RankingData", "RankingData(X=X, labels=labels, qid=qid)")
        queries = Queries(data.labels, qid=data.qid)
        sizes = np.diff(queries.indptr)
        qid = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes)
        labels = queries.take(data.labels)
        return cls(queries.take(data.X), labels, Queries(labels, qid=qid), sizes, qid)


def mq2008_like(
    *, random_state: object = 0, n_train_queries: int = 240, n_test_queries: int = 120
) -> tuple[RankingData, RankingData]:
    """Generate queries with the properties that make the toolkits' NDCGs differ on MQ2008.

    Grades are 0, 1 and 2. Of the queries, 28 % have nothing relevant and half have fewer than 10 documents, some only
    one. Features take few values and are scaled to [0, 1] within each query, as in LETOR. Some documents share all
    their features, but not the judgment, with another document of their query, so that every model ties their scores.

    Parameters
    ----------
    random_state : int, Generator or RandomState
        A seed, or a generator that draws one; the same seed gives the same data.
    n_train_queries, n_test_queries : int
        Number of queries of the two parts, which share no query.

    Returns
    -------
    (RankingData, RankingData)
        The training data and the test data, with 46 features.

    Raises
    ------
    InputError
        `random_state` is neither a seed nor a generator, or a number of queries is out of range.

    References
    ----------
    Qin, Liu (2013), Introducing LETOR 4.0 Datasets, for the shape of MQ2008.

    Examples
    --------
    >>> train, test = mq2008_like(random_state=0)
    >>> test
    RankingData(120 queries, 2049 rows, 46 features)
    >>> largest = np.maximum.reduceat(test.labels, np.flatnonzero(np.diff(test.qid, prepend=0)))
    >>> float((largest == 0).mean().round(2))
    0.28
    """
    arguments.whole("n_train_queries", n_train_queries, most=_MAX_QUERIES)
    arguments.whole("n_test_queries", n_test_queries, most=_MAX_QUERIES)
    rng = np.random.default_rng(arguments.seed(random_state))
    # Sampled once, so that each feature has the same meaning in the training and the test data.
    strength = rng.uniform(0, 0.6, FEATURES) * (rng.random(FEATURES) < INFORMATIVE)
    levels = rng.choice([2, 4, 8, 20], FEATURES)
    train = _queries(rng, n_train_queries, 1, strength, levels)
    return train, _queries(rng, n_test_queries, 1 + n_train_queries, strength, levels)


def _queries(
    rng: np.random.Generator, n_queries: int, first_qid: int, strength: Floats, levels: NDArray[Any]
) -> RankingData:
    sizes = _sizes(rng, n_queries)
    are_relevant = rng.permutation(n_queries) >= round(EMPTY * n_queries)
    parts = [
        _query(rng, int(size), strength, levels, has_relevant=bool(has_relevant))
        for size, has_relevant in zip(sizes, are_relevant, strict=True)
    ]
    return RankingData(
        X=np.vstack([X for X, _ in parts]),
        labels=np.concatenate([labels for _, labels in parts]),
        qid=np.repeat(np.arange(first_qid, first_qid + n_queries), sizes),
    )


def _sizes(rng: np.random.Generator, n_queries: int) -> NDArray[Any]:
    n_short = round(SHORT * n_queries)
    short = np.resize(np.arange(1, 10), n_short)
    long = 10 + rng.geometric(0.06, n_queries - n_short)
    return rng.permutation(np.concatenate([short, np.minimum(long, 120)]))


def _query(
    rng: np.random.Generator, size: int, strength: Floats, levels: NDArray[Any], *, has_relevant: bool
) -> tuple[Floats, Floats]:
    quality = rng.normal(size=size)
    raw = quality[:, None] * strength + rng.normal(size=(size, strength.size))
    low = raw.min(axis=0)
    scaled = (raw - low) / np.maximum(raw.max(axis=0) - low, 1e-9)
    X = np.round(scaled * levels) / levels
    twins = np.flatnonzero(rng.random(size) < TWINS)
    X[twins] = X[rng.integers(0, size, twins.size)]
    if not has_relevant:
        return X, np.zeros(size)
    labels = np.digitize(quality + rng.normal(scale=0.8, size=size), [1.0, 1.8]).astype(float)
    labels[np.argmax(quality)] = max(labels[np.argmax(quality)], 1.0)
    return X, labels
