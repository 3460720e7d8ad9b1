"""Neural networks that score rows, trained by the gradients of any declared objective."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError
from rankadapters.learners.base import QueryLearner
from rankadapters.learners.judging import Judge, queries_of_rows
from rankadapters.learners.network import ACTIVATIONS, Adam, Network
from rankadapters.objectives import Objective
from rankadapters.objectives.base import as_objective
from rankadapters.sklearn.estimator import generator
from rankadapters.sklearn.rows import LabelledRows

Array = NDArray[Any]
Floats = NDArray[np.float64]


class NeuralRanker(QueryLearner):
    """A network of one output that scores a row, trained by the gradients of a declared objective.

    Any of `ra.objectives` serves: LambdaRank under any NDCG, the listwise ones, and RankNet's logistic loss of every
    pair, `ra.objectives.catboost.pair_logit()`, which makes this the network of Burges et al. Batches are whole
    queries: these
    are shuffled once and cut, and the batches come in another order each epoch. Adam takes the steps. numpy does the
    arithmetic, in float64, and the objective its own gradients, as it does for the toolkits.

    Parameters
    ----------
    objective : Objective or str
        What is minimised.
    hidden_layer_sizes : tuple of int
        Units of each hidden layer (RankLib: `-layer`, `-node`); empty for a linear model.
    convention : Convention or str, optional
        What validation, `history_` and `score` go by; any measure.
    activation : {"tanh", "relu", "logistic"}
        Of the hidden units; the output has none.
    alpha : float
        Weight of the squared weights in the loss of a query.
    batch_size : int
        Queries of a step.
    learning_rate_init : float
        Adam's step (RankLib: `-lr`).
    max_iter : int
        Epochs at most (RankLib: `-epoch`).
    n_iter_no_change : int or None
        With validation queries: epochs without a better one, after which it stops.
    validation_fraction : float in (0, 1), optional
        Share of the queries that is held out for validation, those whose ids have the smallest hashes.
    random_state : int, Generator, RandomState or None
        Seed of the first weights and of the batches.
    warm_start : bool
        Go on from the weights of the last fit.
    n_threads : int, optional
        Of the metric; None takes all CPUs; the result is the same for any number.

    Attributes
    ----------
    coefs_, intercepts_ : lists of float64 arrays
        Weights and biases of each layer.
    n_iter_ : int
        Epochs in the model: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value) of each epoch, where there is a convention.

    Notes
    -----
    A seed gives the same model wherever numpy is the same and multiplies matrices alike, which BLAS libraries and
    processors do to the last digits only.

    References
    ----------
    Burges et al., Learning to Rank using Gradient Descent, ICML 2005, equation 3.
    Kingma & Ba, Adam: A Method for Stochastic Optimization, ICLR 2015, algorithm 1.

    Examples
    --------
    >>> import rankadapters as ra
    >>> train, test = ra.datasets.mq2008_like(random_state=0, n_train_queries=60)
    >>> objective = ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact")
    >>> model = ra.learners.NeuralRanker(objective, convention="ranklib@10", max_iter=5, random_state=0)
    >>> value = model.fit(train.X, train.labels, qid=train.qid).score(test.X, test.labels, qid=test.qid)
    >>> value == ra.evaluate(test.labels, model.predict(test.X), "ranklib@10", qid=test.qid).value
    True
    """

    def __init__(
        self,
        objective: Objective | str,
        *,
        hidden_layer_sizes: tuple[int, ...] = (10,),
        convention: Convention | str | None = None,
        activation: str = "tanh",
        alpha: float = 0.0,
        batch_size: int = 16,
        learning_rate_init: float = 0.001,
        max_iter: int = 100,
        n_iter_no_change: int | None = None,
        validation_fraction: float | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self.objective = objective
        self.hidden_layer_sizes = hidden_layer_sizes
        self.convention = convention
        self.activation = activation
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_threads = n_threads

    def _check(self) -> None:
        super()._check()
        as_objective(self.objective)
        sizes = self.hidden_layer_sizes
        if not isinstance(sizes, tuple | list) or not all(is_whole(size) and size >= 1 for size in sizes):
            raise arguments.refusal(
                "hidden_layer_sizes", sizes, "tuples of whole numbers from 1 on", "hidden_layer_sizes=(10,)"
            )
        arguments.choice("activation", self.activation, ACTIVATIONS)
        arguments.number("alpha", self.alpha, least=0)
        arguments.whole("batch_size", self.batch_size)
        arguments.number("learning_rate_init", self.learning_rate_init, least=0, above=True)

    def _learn(self, train: LabelledRows, judge: Judge) -> None:
        rng = generator(self.random_state)
        network = self._start(int(train.X.shape[1]), rng)
        descent = _Descent(self, network, train, rng)
        kept, self.n_iter_ = network.copy(), 0
        for epoch in range(self.max_iter):
            descent.epoch()
            scores = [network.scores(each.X) for each in judge.sets]
            if judge.see(scores, judge.train.value(network.scores(train.X)) if judge.convention else None):
                kept, self.n_iter_ = network.copy(), epoch + 1
            judge.end_round(partial(dict, coefs_=kept.coefs, intercepts_=kept.intercepts, n_iter_=self.n_iter_))
            if judge.stops:
                break
        self.coefs_, self.intercepts_ = kept.coefs, kept.intercepts

    def _start(self, n_features: int, rng: np.random.RandomState) -> Network:
        if self.warm_start and hasattr(self, "coefs_"):
            before = tuple(each.shape[1] for each in self.coefs_[:-1])
            if before != tuple(self.hidden_layer_sizes):
                msg = (
                    f"warm_start=True, but the last fit had hidden_layer_sizes={before}, and now they are "
                    f"{self.hidden_layer_sizes!r}.\nHint: warm_start=False, or layers as they were."
                )
                raise InputError(msg)
            return Network(self.coefs_, self.intercepts_, self.activation).copy()
        return Network.random([n_features, *self.hidden_layer_sizes, 1], self.activation, rng)

    def _predict(self, X: Any) -> Array:
        return Network(self.coefs_, self.intercepts_, self.activation).scores(X)


class _Descent:
    """Epochs over batches of whole queries."""

    def __init__(
        self, settings: NeuralRanker, network: Network, train: LabelledRows, rng: np.random.RandomState
    ) -> None:
        given = queries_of_rows(train, "query_weight")
        queries, rows = given.take(rng.permutation(given.n_queries))
        self.settings, self.network, self.rng = settings, network, rng
        self.X = train.X[rows]
        self.gradients = _bound(as_objective(settings.objective), queries)
        self.indptr = queries.indptr
        cuts = [*range(0, queries.n_queries, int(settings.batch_size)), queries.n_queries]
        self.batches = np.array(list(pairwise(cuts)))
        self.adam = Adam(network.parameters, settings.learning_rate_init)
        self.scores = np.zeros(queries.n_docs)

    def epoch(self) -> None:
        """Take a step for each batch, in random order."""
        for first, last in self.batches[self.rng.permutation(len(self.batches))].tolist():
            rows = slice(int(self.indptr[first]), int(self.indptr[last]))
            layers = self.network.layers(self.X[rows])
            self.scores[rows] = layers[-1][:, 0]
            slopes = self.gradients.of_queries(self.scores, first, last).astype(np.float64) / (last - first)
            gradient = self.network.gradient(layers, slopes[:, None])
            for place, weights in enumerate(self.network.coefs):
                gradient[place] += self.settings.alpha * weights
            self.adam.step(gradient)


def _bound(objective: Objective, queries: Queries) -> Any:
    """Bind an objective; weights that it ignores by declaration are left out."""
    return objective.bind(queries if objective.uses_weights else queries.with_weights(), n_threads=1)
