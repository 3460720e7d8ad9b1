"""A feed-forward network with one output, its gradient, and Adam."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Activation(NamedTuple):
    """What a hidden unit makes of its input, and its derivative from what it made."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


ACTIVATIONS = {
    "tanh": Activation(np.tanh, lambda made: 1.0 - made * made),
    "relu": Activation(lambda given: np.maximum(given, 0.0), lambda made: (made > 0).astype(np.float64)),
    "logistic": Activation(lambda given: 0.5 + 0.5 * np.tanh(0.5 * given), lambda made: made * (1.0 - made)),
}


class Network:
    """Weights and biases of each layer; hidden layers have an activation, the output has none."""

    def __init__(self, coefs: list[Floats], intercepts: list[Floats], activation: str) -> None:
        self.coefs, self.intercepts, self.activation = coefs, intercepts, activation

    @classmethod
    def random(cls, sizes: list[int], activation: str, rng: np.random.RandomState) -> Network:
        """Draw weights uniformly, by the number of units on both sides (Glorot & Bengio 2010, equation 16)."""
        bounds = [(np.sqrt(6.0 / (n + m)), (n, m)) for n, m in pairwise(sizes)]
        coefs = [rng.uniform(-bound, bound, shape) for bound, shape in bounds]
        return cls(coefs, [np.zeros(m) for m in sizes[1:]], activation)

    def copy(self) -> Network:
        """Copy weights and biases."""
        return Network([each.copy() for each in self.coefs], [each.copy() for each in self.intercepts], self.activation)

    @property
    def parameters(self) -> list[Floats]:
        """All arrays, weights first."""
        return [*self.coefs, *self.intercepts]

    def layers(self, X: Any) -> list[Any]:
        """Give the input and what each layer makes of it."""
        found = [X]
        for place, (weights, biases) in enumerate(zip(self.coefs, self.intercepts, strict=True)):
            given = np.asarray(found[-1] @ weights, np.float64) + biases
            last = place == len(self.coefs) - 1
            found.append(given if last else ACTIVATIONS[self.activation].value(given))
        return found

    def scores(self, X: Any) -> Floats:
        """Score rows."""
        found: Floats = self.layers(X)[-1][:, 0]
        return found

    def gradient(self, layers: list[Any], slopes: Floats) -> list[Floats]:
        """Derivatives by `parameters`, of a loss with these slopes by the scores, shape (n_rows, 1)."""
        coefs, intercepts = [], []
        for place in reversed(range(len(self.coefs))):
            coefs.append(np.asarray(layers[place].T @ slopes, np.float64))
            intercepts.append(slopes.sum(axis=0))
            if place:
                slopes = (slopes @ self.coefs[place].T) * ACTIVATIONS[self.activation].slope(layers[place])
        return [*coefs[::-1], *intercepts[::-1]]


class Adam:
    """Steps by running means of the gradient and of its square (Kingma & Ba 2015, algorithm 1)."""

    FORGET, FORGET_SQUARES, SMALL = 0.9, 0.999, 1e-8

    def __init__(self, parameters: list[Floats], rate: float) -> None:
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.means = [np.zeros_like(each) for each in parameters]
        self.squares = [np.zeros_like(each) for each in parameters]

    def step(self, gradient: list[Floats]) -> None:
        """Change the parameters in place."""
        self.steps += 1
        for place, slope in enumerate(gradient):
            self.means[place] += (1 - self.FORGET) * (slope - self.means[place])
            self.squares[place] += (1 - self.FORGET_SQUARES) * (slope * slope - self.squares[place])
            mean = self.means[place] / (1 - self.FORGET**self.steps)
            spread = np.sqrt(self.squares[place] / (1 - self.FORGET_SQUARES**self.steps))
            self.parameters[place] -= self.rate * mean / (spread + self.SMALL)
