"""A feed-forward network with one output, its gradient, and the Adam optimizer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Activation(NamedTuple):
    """An activation function, and its derivative as a function of the activation function's output."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]


ACTIVATIONS = {
    "tanh": Activation(np.tanh, lambda output: 1.0 - output * output),
    "relu": Activation(lambda inputs: np.maximum(inputs, 0.0), lambda output: (output > 0).astype(np.float64)),
    "logistic": Activation(lambda inputs: 0.5 + 0.5 * np.tanh(0.5 * inputs), lambda output: output * (1.0 - output)),
}


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
