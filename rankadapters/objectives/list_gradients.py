"""Gradients of LambdaLoss, under the gains and discounts of a convention."""

from __future__ import annotations

import numpy as np

from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import InputError
from rankadapters.objectives.bound_gradients import Kernel, row_number
from rankadapters.objectives.kernels import lambdas
from rankadapters.objectives.kernels.lambda_loss import PairWeights, lambda_loss_gradients
from rankadapters.objectives.kernels.lambdas import Pairing
from rankadapters.objectives.pair_gradients import PairTerms, by_portions


def weights_of(terms: PairTerms, scheme: str) -> tuple[PairTerms, PairWeights]:
    """Return the terms and the pair weights of a LambdaLoss scheme."""
    mu = (border(scheme) or ("", 0.0))[1]
    ones, discounts = np.ones_like(terms.discounts), terms.discounts
    steps = np.concatenate([[0.0], discounts[:-1] - discounts[1:]])  # steps[m] = d(m) - d(m + 1) for the distance m
    if scheme in {"arp1", "ndcg1"} and terms.gains.size and terms.gains.min() < 0:
        index = int(np.argmin(terms.gains))
        row = row_number(terms.rows, index)
        msg = f"labels[{row}] has the gain {terms.gains[index]:g}, but scheme={scheme!r} weighs a row by its gain."
        raise InputError(f"{msg}\nHint: gains from 0 on, or scheme='arp2'.", row=row)
    if scheme.startswith("arp"):  # ARP is not divided by an ideal value
        terms = terms._replace(inverse_ideal=np.sign(terms.inverse_ideal))
    weights = {
        "arp1": PairWeights(ones, ones, both=True),
        "arp2": PairWeights(ones, 0 * ones, both=False),
        "ndcg1": PairWeights(ones, discounts, both=True),
        "ndcg2": PairWeights(steps, 0 * ones, both=False),
    }
    return terms, weights.get(scheme, PairWeights(mu * steps, discounts, both=False))


def lambda_loss_kernel(terms: PairTerms, pairs: Pairing, weights: PairWeights) -> Kernel:
    """Return the kernel of LambdaLoss, with logarithms of base 2."""
    terms = terms._replace(inverse_ideal=terms.inverse_ideal / np.log(2.0))
    return by_portions(lambda_loss_gradients, terms, pairs.limit, weights, pairs, memory=lambdas.make_memory)
