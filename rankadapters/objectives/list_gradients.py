"""Gradients of LambdaLoss and ApproxNDCG, under the gains and discounts of a convention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.declaration.spelling import border
from rankadapters.core.errors import InputError
from rankadapters.objectives.bound_gradients import Floats32, Kernel
from rankadapters.objectives.kernels import approx_ndcg, lambda_loss, lambdas
from rankadapters.objectives.kernels.lambdas import Pairing
from rankadapters.objectives.pair_gradients import PairTerms, portions, ranked


class Weights(NamedTuple):
    """What LambdaLoss weighs a pair of ranks by, beside gains."""

    steps: Floats  # by the distance of the ranks
    discounts: Floats  # by rank, of which a pair counts the difference, or each row its own
    both: bool  # whether a pair counts each way


def weights_of(terms: PairTerms, scheme: str) -> tuple[PairTerms, Weights]:
    """Lower a scheme of LambdaLoss.

    Raises
    ------
    InputError
        A gain is negative, and weighs a row by itself.
    """
    mu = (border(scheme) or ("", 0.0))[1]
    ones, discounts = np.ones_like(terms.discounts), terms.discounts
    steps = np.concatenate([[0.0], discounts[:-1] - discounts[1:]])  # at distance m from rank m to the next one
    if scheme in {"arp1", "ndcg1"} and terms.gains.size and terms.gains.min() < 0:
        place = int(np.argmin(terms.gains))
        row = int(terms.rows.order[place]) if terms.rows.order.size else place
        msg = f"labels[{row}] has the gain {terms.gains[place]:g}, but scheme={scheme!r} weighs a row by its gain."
        raise InputError(f"{msg}\nHint: gains from 0 on, or scheme='arp2'.", row=row)
    if scheme.startswith("arp"):  # which is not divided by an ideal
        terms = terms._replace(inverse_ideal=np.sign(terms.inverse_ideal))
    found = {
        "arp1": Weights(ones, ones, both=True),
        "arp2": Weights(ones, 0 * ones, both=False),
        "ndcg1": Weights(ones, discounts, both=True),
        "ndcg2": Weights(steps, 0 * ones, both=False),
    }
    return terms, found.get(scheme, Weights(mu * steps, discounts, both=False))


def lambda_loss_kernel(terms: PairTerms, pairs: Pairing, weights: Weights) -> Kernel:
    """Every pair of one of the first ranks with a later one, in logarithms of base 2."""
    inverse = terms.inverse_ideal / np.log(2.0)

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        indptr, by_rank = ranked(terms, scores, first, last)
        given = (*by_rank, inverse[first:last], *weights, pairs)
        memory = lambdas.make_memory(int(np.diff(indptr).max(initial=0)))
        for ranks in portions(indptr, pairs.limit):
            bad = int(lambda_loss.lambda_loss_gradients(*given, *ranks, memory, grad, hess))
            yield bad
            if bad >= 0:
                return

    return run


def approx_ndcg_kernel(terms: PairTerms, discount: str, temperature: float, hessian: float) -> Kernel:
    """All pairs, twice: once for the ranks, once for what moves them."""
    kind, parameter = _discount(discount)

    def run(scores: Array, first: int, last: int, grad: Floats32, hess: Floats32) -> Iterator[int]:
        indptr, by_rank = ranked(terms, scores, first, last)
        width = int(np.diff(indptr).max(initial=0))
        given = (*by_rank, terms.inverse_ideal[first:last], kind, parameter, 1.0 / temperature, hessian)
        memory = approx_ndcg.make_memory(width)
        for steps in portions(indptr, width, passes=2):
            bad = int(approx_ndcg.approx_ndcg_gradients(*given, *steps, memory, grad, hess))
            yield bad
            if bad >= 0:
                return

    return run


def _discount(name: str) -> tuple[int, float]:
    """Which formula a discount has between whole ranks."""
    if name == "reciprocal":
        return approx_ndcg.RECIPROCAL, 1.0
    word, parameter = border(name) or (name, 2.0)
    kinds = {"power": approx_ndcg.POWER, "jk2": approx_ndcg.LOGARITHM_FROM_TWO}
    return kinds.get(word, approx_ndcg.LOGARITHM), parameter
