"""Neural networks that score rows, trained by the gradients of any declared objective with the Adam optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.declaration import arguments
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import InputError
from rankadapters.learners.base import Judge, QueryLearner, queries_of_rows
from rankadapters.objectives import Objective
from rankadapters.objectives.base import as_objective
from rankadapters.sklearn.estimator import generator
from rankadapters.sklearn.rows import LabeledRows


class Activation(NamedTuple):
    """An activation function, and its derivative as a function of the activation function's output."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


ACTIVATIONS = {
    "tanh": Activation(np.tanh, lambda output: 1.0 - output * output),
    "relu": Activation(lambda inputs: np.maximum(inputs, 0.0), lambda output: (output > 0).astype(np.float64)),
    "logistic": Activation(lambda inputs: 0.5 + 0.5 * np.tanh(0.5 * inputs), lambda output: output * (1.0 - output)),
}


class NeuralRanker(QueryLearner):
    """A feed-forward network that scores rows, trained by the gradients of a declared objective.

    Any of `ra.objectives` works: LambdaRank under any NDCG, the listwise objectives, and RankNet's pairwise logistic
    loss, `ra.objectives.catboost.pair_logit()`, which gives the network of Burges et al. A batch is a set of whole
    queries. The batches are drawn once, and each epoch visits them in a new random order. The optimizer is Adam. The
    network is computed in numpy in float64, with the same gradients that the toolkits get from the objective.

    Parameters
    ----------
    objective : Objective or str
        The objective to minimize.
    hidden_layer_sizes : tuple of int
        Units of each hidden layer (RankLib: `-layer`, `-node`); empty for a linear model.
    convention : Convention or str, optional
        The measure for validation, `history_` and `score`; any measure.
    activation : {"tanh", "relu", "logistic"}
        Activation function of the hidden units; the output is linear.
    alpha : float
        Strength of the L2 penalty on the weights, relative to the loss of a query.
    batch_size : int
        Number of queries per step.
    learning_rate_init : float
        Adam's learning rate (RankLib: `-lr`).
    max_iter : int
        Maximum number of epochs in a fit (RankLib: `-epoch`).
    n_iter_no_change : int or None
        With validation queries: stop after this many epochs without an improvement.
    validation_fraction : float in (0, 1), optional
        Share of the queries held out for validation: the queries whose ids have the smallest hashes.
    random_state : int, Generator, RandomState or None
        Seed for the initial weights and the batches.
    warm_start : bool
        Continue from the model of the last fit, which stays the model unless one of the new epochs is better.
    n_threads : int, optional
        None uses all CPUs. They compute only the values of `history_`.

    Attributes
    ----------
    coefs_, intercepts_ : lists of float64 arrays
        Weights and biases of each layer.
    n_iter_ : int
        Number of epochs in the model since the first fit: up to the best by the first validation set, or all.
    history_ : History
        (set, convention, value), training queries first, for each of the epochs; a warm start's model comes first.

    Notes
    -----
    The same seed gives the same model only with the same numpy, BLAS library and processor: matrix products of others
    differ in the last digits.

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
        arguments.word("activation", self.activation, ACTIVATIONS)
        arguments.number("alpha", self.alpha, least=0)
        arguments.whole("batch_size", self.batch_size)
        arguments.number("learning_rate_init", self.learning_rate_init, least=0, above=True)

    def _learn(self, train: LabeledRows, judge: Judge) -> None:
        rng = generator(self.random_state)
        judge.expect(self.max_iter)
        is_warm = self.warm_start and hasattr(self, "coefs_")
        sizes = [int(train.X.shape[1]), *self.hidden_layer_sizes, 1]
        network = self._last_network() if is_warm else Network.random(sizes, self.activation, rng)
        descent = _Descent(self, network, train, rng)
        if is_warm:
            judge.record_start(self.n_iter_, *_judged(network, train, judge))
        best = network.copy()
        for _ in range(self.max_iter):
            descent.epoch()
            if judge.record_round(*_judged(network, train, judge)):
                best = network.copy()
            if judge.stops:
                break
        self.coefs_, self.intercepts_, self.n_iter_ = best.coefs, best.intercepts, judge.best_round + 1

    def _last_network(self) -> Network:
        last_sizes = tuple(weights.shape[1] for weights in self.coefs_[:-1])
        if last_sizes != tuple(self.hidden_layer_sizes):
            raise InputError(
                f"warm_start=True, but the last fit had hidden_layer_sizes={last_sizes}, and now they are "
                f"{self.hidden_layer_sizes!r}.",
                hint="warm_start=False, or the sizes of the last fit",
            )
        return Network(self.coefs_, self.intercepts_, self.activation).copy()

    def _predict(self, X: Any) -> Floats:
        return Network(self.coefs_, self.intercepts_, self.activation).scores(X)


class Network:
    """Weights and biases of each layer; the hidden layers have an activation, the output layer is linear."""

    def __init__(self, coefs: list[Floats], intercepts: list[Floats], activation: str) -> None:
        self.coefs, self.intercepts, self.activation = coefs, intercepts, activation

    @classmethod
    def random(cls, sizes: list[int], activation: str, rng: np.random.RandomState) -> Network:
        """Draw uniform weights, scaled by the sizes of the layers they connect (Glorot & Bengio 2010, equation 16)."""
        limits = [(np.sqrt(6.0 / (n + m)), (n, m)) for n, m in pairwise(sizes)]
        coefs = [rng.uniform(-limit, limit, shape) for limit, shape in limits]
        return cls(coefs, [np.zeros(m) for m in sizes[1:]], activation)

    def copy(self) -> Network:
        """Copy the network with its weights and biases."""
        return Network([w.copy() for w in self.coefs], [b.copy() for b in self.intercepts], self.activation)

    @property
    def parameters(self) -> list[Floats]:
        """The weights of all layers, then the biases of all layers."""
        return [*self.coefs, *self.intercepts]

    def layers(self, X: Any) -> list[Any]:
        """Return the input, followed by the output of each layer."""
        outputs = [X]
        for index, (weights, biases) in enumerate(zip(self.coefs, self.intercepts, strict=True)):
            inputs = np.asarray(outputs[-1] @ weights, np.float64) + biases
            is_last = index == len(self.coefs) - 1
            outputs.append(inputs if is_last else ACTIVATIONS[self.activation].value(inputs))
        return outputs

    def scores(self, X: Any) -> Floats:
        """Score rows."""
        scores: Floats = self.layers(X)[-1][:, 0]
        return scores

    def gradient(self, layers: list[Any], slopes: Floats) -> list[Floats]:
        """Backpropagate a loss to `parameters`; `slopes` are its derivatives by the scores, shape (n_rows, 1)."""
        coefs, intercepts = [], []
        for index in reversed(range(len(self.coefs))):
            coefs.append(np.asarray(layers[index].T @ slopes, np.float64))
            intercepts.append(slopes.sum(axis=0))
            if index:
                slopes = (slopes @ self.coefs[index].T) * ACTIVATIONS[self.activation].slope(layers[index])
        return [*coefs[::-1], *intercepts[::-1]]


class Adam:
    """Adam steps, from running means of the gradient and of its square (Kingma & Ba 2015, algorithm 1)."""

    BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, parameters: list[Floats], rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.means = [np.zeros_like(array) for array in parameters]
        self.squares = [np.zeros_like(array) for array in parameters]

    def step(self, gradient: list[Floats]) -> None:
        """Change the parameters in place by one step."""
        self.steps += 1
        for index, slope in enumerate(gradient):
            self.means[index] += (1 - self.BETA_1) * (slope - self.means[index])
            self.squares[index] += (1 - self.BETA_2) * (slope * slope - self.squares[index])
            mean = self.means[index] / (1 - self.BETA_1**self.steps)
            root = np.sqrt(self.squares[index] / (1 - self.BETA_2**self.steps))
            self.parameters[index] -= self.rate * mean / (root + self.EPSILON)


class _Descent:
    """Gradient descent over batches of whole queries."""

    def __init__(
        self, settings: NeuralRanker, network: Network, train: LabeledRows, rng: np.random.RandomState
    ) -> None:
        train_queries = queries_of_rows(train, "query_weight")
        queries, rows = train_queries.subset(rng.permutation(train_queries.n_queries))
        self.settings, self.network, self.rng = settings, network, rng
        self.X = train.X[rows]
        objective: Any = as_objective(settings.objective)
        self.gradients = objective.bind(queries if objective.uses_weights else queries.with_weights(), n_threads=1)
        self.indptr = queries.indptr
        cuts = [*range(0, queries.n_queries, int(settings.batch_size)), queries.n_queries]
        self.batches = np.array(list(pairwise(cuts)))
        self.adam = Adam(network.parameters, settings.learning_rate_init)
        self.scores = np.zeros(queries.n_docs)

    def epoch(self) -> None:
        """Take one step per batch, in random order."""
        for first, last in self.batches[self.rng.permutation(len(self.batches))].tolist():
            rows = slice(int(self.indptr[first]), int(self.indptr[last]))
            layers = self.network.layers(self.X[rows])
            self.scores[rows] = layers[-1][:, 0]
            slopes = self.gradients.of_queries(self.scores, first, last).astype(np.float64) / (last - first)
            gradient = self.network.gradient(layers, slopes[:, None])
            for index, weights in enumerate(self.network.coefs):
                gradient[index] += self.settings.alpha * weights
            self.adam.step(gradient)


def _judged(network: Network, train: LabeledRows, judge: Judge) -> tuple[list[Floats], float]:
    """Return the scores of each validation set, and the value of the training queries, which needs a convention."""
    valid_scores = [network.scores(rows.X) for rows in judge.valid_rows]
    return valid_scores, judge.train.value(network.scores(train.X)) if judge.convention else math.nan
