"""Gradients of LambdaLoss and ApproxNDCG, under the gains and discounts of a convention."""

from __future__ import annotations

import numpy as np

from rankadapters.core.declaration.fields import border
from rankadapters.core.errors import InputError
from rankadapters.objectives.bound_gradients import Kernel, row_number
from rankadapters.objectives.kernels import approx_ndcg
from rankadapters.objectives.kernels.changes import DCG
from rankadapters.objectives.kernels.pairs import Loss, Pairing
from rankadapters.objectives.pair_gradients import PairTerms, by_portions, exact_kernel


def weights_of(terms: PairTerms, scheme: str) -> tuple[PairTerms, Loss]:
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
        "arp1": Loss(ones, ones, both=True),
        "arp2": Loss(ones, 0 * ones, both=False),
        "ndcg1": Loss(ones, discounts, both=True),
        "ndcg2": Loss(steps, 0 * ones, both=False),
    }
    return terms, weights.get(scheme, Loss(mu * steps, discounts, both=False))


def lambda_loss_kernel(terms: PairTerms, pairs: Pairing, weights: Loss) -> Kernel:
    """Return the kernel of LambdaLoss, with logarithms of base 2."""
    terms = terms._replace(inverse_ideal=terms.inverse_ideal / np.log(2.0))
    return exact_kernel(terms, pairs, DCG, weights)


def approx_ndcg_kernel(terms: PairTerms, discount: str, temperature: float, hessian: float) -> Kernel:
    """Return the kernel of ApproxNDCG, which passes over all pairs twice: for soft ranks, then for gradients."""
    soft_ranks = approx_ndcg.SoftRanks(*_discount(discount), 1.0 / temperature, hessian)
    kernel = approx_ndcg.approx_ndcg_gradients
    return by_portions(kernel, terms, terms.reach, soft_ranks, memory=approx_ndcg.make_memory, passes=2)


def _discount(name: str) -> tuple[int, float]:
    """Return the code of the formula that computes a discount at fractional ranks, and the formula's parameter."""
    if name == "reciprocal":
        return approx_ndcg.RECIPROCAL, 1.0
    word, parameter = border(name) or (name, 2.0)
    kinds = {"power": approx_ndcg.POWER, "jk2": approx_ndcg.LOGARITHM_FROM_TWO}
    return kinds.get(word, approx_ndcg.LOGARITHM), parameter
