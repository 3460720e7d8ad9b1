"""AdaRank: boosting of single features, each round on the queries that the model so far ranks worst."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.learners.adarank_rounds import AdaRankRounds, RankLibAdaRankRounds
from rankadapters.learners.base import QueryLearner, maximised
from rankadapters.learners.columns import FeatureColumns, in_float32, product, shares
from rankadapters.learners.judging import Judge
from rankadapters.learners.selection import selection_ranks
from rankadapters.sklearn.rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]

VARIANTS = {"xu-li": AdaRankRounds, "ranklib": RankLibAdaRankRounds}


class AdaRank(QueryLearner):
    """Boosting of single features under any measure with values of queries in [-1, 1].

    A weak ranker is one feature, descending. Its value on every query never changes, so that it is computed once for
    each feature. A round then takes the feature with the highest weighted mean value, gives it the weight
    alpha = 1/2 ln(sum w (1 + E) / sum w (1 - E)), and weighs the queries anew by how badly the model now ranks them.
    The model is linear.

    Parameters
    ----------
    convention : Convention or str
        What is maximised, validated and scored: higher is better, with a value of each query.
    max_iter : int
        Rounds at most (RankLib: `-round`).
    tol : float
        A round after which the mean value of the training queries is lower than before by this much or more is taken
        back, and is the last (RankLib: `-tolerance`).
    max_consecutive : int or None
        With `ranklib`: rounds in a row that may choose one feature and change no value (RankLib: `-max`).
        With `xu-li` the feature is left out as well until another was chosen; None never leaves any out.
    variant : {"xu-li", "ranklib"}
        `xu-li` weighs queries as the paper does, w proportional to exp(-M) with M the model's value of the query.
        `ranklib` replays RankLib 2.10.1: its weights, which shrink until they underflow, its queue of features chosen
        twice in a row, the ties of its weak rankers, and features and labels as float32.
    n_iter_no_change : int or None
        With validation queries: rounds without a better one, after which it stops.
    validation_fraction : float in (0, 1), optional
        Share of the queries that is held out for validation, those whose ids have the smallest hashes.
    warm_start : bool
        Go on from the weights of the last fit, with `xu-li`.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Attributes
    ----------
    coef_ : float64 array, shape (n_features,)
        Weight of each feature: the sum of its alphas.
    features_, alphas_ : arrays, shape (n_rounds,)
        The feature of each round that was kept, and its alpha.
    n_iter_ : int
        Rounds in the model: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value) of each round: the training queries, then each validation set.

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
        """Share of each feature in the sum of the alphas."""
        return shares(self.coef_)

    def _check(self) -> None:
        super()._check()
        convention = maximised("AdaRank", self.convention)
        if convention.over != "queries":
            msg = f"AdaRank weighs queries by their values, but {convention.name} has none: pool={convention.over!r}."
            raise UnsupportedConventionError(f"{msg}\nHint: pool='queries'.")
        arguments.number("tol", self.tol, least=0)
        arguments.whole_or_none("max_consecutive", self.max_consecutive, "leaves no feature out")
        arguments.choice("variant", self.variant, VARIANTS)

    @property
    def _max_rounds(self) -> int | None:
        """Rounds at most, and the model that a warm start begins from; RankLib may take rounds back and go on."""
        return None if self.variant == "ranklib" else self.max_iter + self.warm_start

    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        narrow = self.variant == "ranklib"
        columns = FeatureColumns(train.X, narrow=narrow)
        weak = self._values_of_features(columns, judge)
        valid = [FeatureColumns(each.X, narrow=narrow) for each in judge.sets]
        rounds = VARIANTS[self.variant](
            np.nan_to_num(weak), columns, valid, judge, self._weight(weak, train, judge),
            tol=self.tol, max_consecutive=self.max_consecutive,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "alphas_") and not narrow:
            rounds.resume(self.features_, self.alphas_)
        rounds.run(self.max_iter)
        self.__dict__.update(rounds.attributes())

    def _weight(self, weak: Floats, train: LabelledRows, judge: Judge) -> Floats:
        """Weight of each query; 0 of one that the convention skips, which RankLib does not."""
        weight = np.ones(len(weak)) if train.query_weight is None else train.query_weight
        if self.variant != "ranklib":
            weight = np.where(np.isnan(weak[:, 0]), 0.0, weight)
        if not weight.any():
            msg = f"sample_weight: all queries that {judge.train.convention.name} does not skip have weight 0."
            raise InputError(f"{msg}\nHint: weights above 0 for some of them, or another policy than 'skip'.")
        return weight

    def _values_of_features(self, columns: FeatureColumns, judge: Judge) -> Floats:
        """Value of each query under each feature, shape (n_queries, n_features); NaN where the query is skipped."""
        found = np.empty((judge.train.queries.n_queries, len(columns)))
        for feature in range(len(columns)):
            scores = columns[feature]
            if self.variant == "ranklib":
                scores = selection_ranks(scores, judge.train.queries.indptr, getattr(judge.convention, "k", None))
            found[:, feature] = judge.train.per_query([scores])[0]
        largest = float(np.nanmax(np.abs(found)))
        if largest > 1 + 1e-9:
            msg = (
                f"AdaRank needs values of queries in [-1, 1], but {judge.train.convention.name} gives up to "
                f"{largest:g}.\nHint: a measure by its ideal, such as NDCG in place of DCG."
            )
            raise UnsupportedConventionError(msg)
        return found

    def _predict(self, X: Any) -> Array:
        if self.variant == "ranklib":
            X = in_float32(X)
        return product(X, self.coef_)
