"""Distributions of scores that are difficult to sort."""

from __future__ import annotations

import numpy as np

SPREADS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "dense at the top": lambda rng, n: -rng.lognormal(0, 3, n),
    "one value": lambda rng, n: np.zeros(n),
    "few values": lambda rng, n: rng.integers(0, 5, n) * 0.5,
    "few positives": lambda rng, n: (rng.random(n) < 0.02) * 1.0,
    "all in one lane": lambda rng, n: np.where(np.arange(n) % 16 == 3, rng.random(n) + 10, rng.random(n)),
    "two clusters": lambda rng, n: rng.integers(0, 2, n) + rng.standard_normal(n) * 1e-9,
    "an outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e200, rng.standard_normal(n)),
    "clusters at every scale": lambda rng, n: 10.0 ** rng.integers(-300, 300, n) * rng.standard_normal(n),
    "both ends of float64": lambda rng, n: rng.choice([-1.7e308, 1.7e308, 0.0, 1.0], n),
    "neighbors": lambda rng, n: 1 + rng.integers(0, 3 * n, n) * 2.0**-52,
    "denormals": lambda rng, n: rng.integers(-n, n + 1, n) * 5e-324,
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
    "signed zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
}
