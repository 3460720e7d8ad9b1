"""AdaRank: boosting that uses single features as weak rankers and reweights the queries that are ranked badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.learners.adarank_rounds import AdaRankRounds, RankLibAdaRankRounds
from rankadapters.learners.base import QueryLearner, as_maximizable
from rankadapters.learners.columns import FeatureColumns, product, round_to_float32, shares
from rankadapters.learners.judging import Judge
from rankadapters.learners.selection import selection_ranks
from rankadapters.sklearn.rows import LabeledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

VARIANTS = {"xu-li": AdaRankRounds, "ranklib": RankLibAdaRankRounds}


class AdaRank(QueryLearner):
    """Boosting with single features, for any measure whose per-query values are in [-1, 1].

    A weak ranker sorts the rows by one feature, descending. Its per-query values E never change, so they are computed
    once. Each round picks the feature with the highest weighted mean value, gives it the weight
    alpha = 1/2 ln(sum w (1 + E) / sum w (1 - E)), and then raises the weights w of the queries that the model ranks
    badly. The model is linear.

    Parameters
    ----------
    convention : Convention or str
        The measure to maximize, validate and score by. Higher must be better, and each query must have a value.
    max_iter : int
        Maximum number of rounds (RankLib: `-round`).
    tol : float
        If a round lowers the mean value of the training queries by at least this much, training undoes the round and
        stops (RankLib: `-tolerance`).
    max_consecutive : int or None
        How many rounds in a row may pick the same feature without changing the mean value. After that, the feature is
        excluded until another feature has been picked (RankLib: `-max`). None excludes no feature.
    variant : {"xu-li", "ranklib"}
        `xu-li` weights queries as in the paper: w is proportional to exp(-M), where M is the model's value of the
        query. `ranklib` replays RankLib 2.10.1: its weights, which shrink until they underflow; its queue of features
        picked twice in a row; its order of ties in weak rankers; and features and labels as float32.
    n_iter_no_change : int or None
        With validation queries: stop after this many rounds without an improvement.
    validation_fraction : float in (0, 1), optional
        Share of the queries held out for validation: the queries whose ids have the smallest hashes.
    warm_start : bool
        Continue from the weights of the last fit; only with `xu-li`.
    n_threads : int, optional
        None uses all CPUs. The result does not depend on the number.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weight of each feature: the sum of its alphas.
    features_, alphas_ : arrays, shape (n_rounds,)
        The feature and the alpha of each round in the model.
    n_iter_ : int
        Number of rounds in the model: up to the best round by the first validation set, or all rounds.
    history_ : History
        (set, convention, value) for each round: first the training queries, then each validation set.

    References
    ----------
    Xu & Li, AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007, figure 1.
    RankLib 2.10.1, ciir/umass/edu/learning/boosting/AdaRank.java.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0)
    >>> model = ra.learners.AdaRank("ranklib@10", max_iter=50).fit(train.X, train.labels, qid=train.qid)
    >>> value = model.score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    features_: Array
    alphas_: Array
    coef_: Floats
    n_iter_: int

    def __init__(
        self,
        convention: Convention | str,
        *,
        max_iter: int = 500,
        tol: float = 0.002,
        max_consecutive: int | None = 5,
        variant: str = "xu-li",
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.convention = convention
        self.max_iter = max_iter
        self.tol = tol
        self.max_consecutive = max_consecutive
        self.variant = variant
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_threads = n_threads

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature's weight in the sum of the weights' magnitudes."""
        return shares(self.coef_)

    def _check(self) -> None:
        super()._check()
        convention = as_maximizable("AdaRank", self.convention)
        if convention.over != "queries":
            msg = f"AdaRank weights queries by their values, but {convention.name} has none: pool={convention.over!r}."
            raise UnsupportedConventionError(f"{msg}\nHint: pool='queries'.")
        arguments.number("tol", self.tol, least=0)
        arguments.whole_or_none("max_consecutive", self.max_consecutive, "excludes no feature")
        arguments.choice("variant", self.variant, VARIANTS)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        is_ranklib = self.variant == "ranklib"
        columns = FeatureColumns(train.X, float32=is_ranklib)
        feature_values = self._feature_values(columns, judge)
        valid_columns = [FeatureColumns(rows.X, float32=is_ranklib) for rows in judge.valid_rows]
        rounds = VARIANTS[self.variant](
            np.nan_to_num(feature_values), columns, valid_columns, judge, self._weight(feature_values, train, judge),
            tol=self.tol, max_consecutive=self.max_consecutive,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "alphas_") and not is_ranklib:
            rounds.resume(self.features_, self.alphas_)
        rounds.run(self.max_iter)
        self.__dict__.update(rounds.attributes())

    def _weight(self, feature_values: Floats, train: LabeledRows, judge: Judge) -> Floats:
        """Return the initial weight of each query: 0 for queries that the convention skips, except under `ranklib`."""
        weight = np.ones(len(feature_values)) if train.query_weight is None else train.query_weight
        if self.variant != "ranklib":
            weight = np.where(np.isnan(feature_values[:, 0]), 0.0, weight)
        if not weight.any():
            msg = f"sample_weight: all queries that {judge.train.convention.name} does not skip have weight 0."
            raise InputError(f"{msg}\nHint: give some of them a weight above 0, or choose a policy other than 'skip'.")
        return weight

    def _feature_values(self, columns: FeatureColumns, judge: Judge) -> Floats:
        """Return each query's value when a feature ranks its rows, shape (n_queries, n_features); NaN if skipped."""
        values = np.empty((judge.train.queries.n_queries, len(columns)))
        for feature in range(len(columns)):
            scores = columns[feature]
            if self.variant == "ranklib":
                scores = selection_ranks(scores, judge.train.queries.indptr, getattr(judge.convention, "k", None))
            values[:, feature] = judge.train.per_query([scores])[0]
        largest = float(np.nanmax(np.abs(values)))
        if largest > 1 + 1e-9:
            msg = (
                f"AdaRank needs per-query values in [-1, 1], but {judge.train.convention.name} gives magnitudes up to "
                f"{largest:g}.\nHint: use a normalized measure, such as NDCG instead of DCG."
            )
            raise UnsupportedConventionError(msg)
        return values

    def _predict(self, X: Any) -> Array:
        if self.variant == "ranklib":
            X = round_to_float32(X)
        return product(X, self.coef_)
