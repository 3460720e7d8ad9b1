"""Losses under the gains and discounts of an NDCG convention: LambdaLoss and ApproxNDCG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import Field, Range, border
from rankadapters.core.errors import InputError
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import IDLE, ConventionField, Objective
from rankadapters.objectives.bound_gradients import Floats32, Gradients, row_number
from rankadapters.objectives.kernels import approx_ndcg as kernels
from rankadapters.objectives.kernels.pairs import Loss
from rankadapters.objectives.moves import Moves, require_moves, swaps_of
from rankadapters.objectives.pair_gradients import PairKernel, in_portions, pairing, rank_queries, work_of
from rankadapters.objectives.pairwise import Sigma, Truncation

SCHEME = Field(
    group="value",
    about="The weight of a pair of rows i and j, where G_i > G_j are their gains and d the discounts of their ranks.",
    words={
        "arp1": "G_i, and G_j for the opposite order; also for rows of equal gains",
        "arp2": "G_i - G_j",
        "ndcg1": "G_i d_i / ideal DCG, and G_j d_j / ideal DCG for the opposite order; also for rows of equal gains",
        "ndcg2": "(G_i - G_j) (d(m) - d(m + 1)) / ideal DCG, where m is the distance of the ranks",
    },
    numbered={"ndcg2++": "B times ndcg2, plus LambdaRank's (G_i - G_j) abs(d_i - d_j) / ideal DCG; 10 in allRank"},
    ranges={"ndcg2++": Range(0)},
)


@dataclass(frozen=True, kw_only=True)
class UnderNDCG(Objective):
    """Base class of objectives that use the gains, discounts and ideal DCG of an NDCG convention."""

    idle: ClassVar[frozenset[str]] = IDLE

    convention: Annotated[
        NDCG, ConventionField(group="tail", about="Gains, discounts and the ideal DCG.", measures="NDCG")
    ]

    def unify(self) -> None:
        """Require an NDCG convention."""
        require_moves(type(self).__name__, self.convention, (NDCG,))

    @property
    def precision(self) -> str | None:
        """Precision in which scores are compared and subtracted; None for the precision of the input scores."""
        return "float32" if self.convention.precision == "float32" else None


@dataclass(frozen=True, kw_only=True)
class LambdaLoss(UnderNDCG):
    """LambdaLoss: a logistic loss of pairs, weighted by gains and ranks, that bounds a measure.

    Loss of a query: sum over pairs of w log2(1 + exp(-sigma D)), where D = s_i - s_j and w is the weight at the current
    ranks. With p = 1 / (1 + exp(sigma D)), row i's gradient gets -sigma w p / ln 2, row j's the opposite, and both
    hessians get sigma^2 w p (1 - p) / ln 2. Queries without a gradient and tied rows are as in `LambdaRank`.

    Parameters
    ----------
    convention
        `k` cuts only the ideal DCG. `arp1` and `arp2` use only the gains.

    Raises
    ------
    InputError
        On binding: a gain is negative under `arp1` or `ndcg1`.

    References
    ----------
    Wang, Li, Golbandi, Bendersky, Najork, The LambdaLoss framework for ranking metric optimization, CIKM 2018. Run:
    gradients of Rax 0.4.0, whose sums are n ln 2 times these (`arp2`: ln 2 times), to 1e-12.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.LambdaLoss(convention="sklearn@10", scheme="arp2", truncation=None, sigma=1)
    >>> grad, _ = ra.objectives.gradients([2, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.4f}" for g in grad]  # a gain of 2, a chance of 1/2, and ln 2
    ['-1.4427', '1.4427']
    """

    kind: ClassVar[str] = "lambdaloss"
    of_pairs: ClassVar[bool] = True

    scheme: Annotated[str, SCHEME]
    truncation: Truncation
    sigma: Sigma

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        del state
        moves, loss = self._weights(swaps_of(queries, self.convention, cut=False))
        pairs = pairing(moves, self.truncation, self.sigma, "none", "plain")
        kernel, work = PairKernel(moves, pairs, loss=loss), work_of(moves, pairs.limit)
        return Gradients(self, queries, kernel, n_threads=n_threads, work=work)

    def _weights(self, moves: Moves) -> tuple[Moves, Loss]:
        """Return the weights of pairs, for logarithms of base 2; ARP is not divided by an ideal value."""
        scheme, discounts = self.scheme, moves.discounts
        if scheme in {"arp1", "ndcg1"} and moves.gains.size and moves.gains.min() < 0:
            index = int(np.argmin(moves.gains))
            row = row_number(moves.rows, index)
            msg = f"labels[{row}] has the gain {moves.gains[index]:g}, but scheme={scheme!r} weighs a row by its gain."
            raise InputError(msg, hint="gains from 0 on, or scheme='arp2'", row=row)
        mu = (border(scheme) or ("", 0.0))[1]
        ones, steps = np.ones_like(discounts), np.concatenate([[0.0], discounts[:-1] - discounts[1:]])
        weights = {
            "arp1": Loss(ones, ones, both=True),
            "arp2": Loss(ones, 0 * ones, both=False),
            "ndcg1": Loss(ones, discounts, both=True),
            "ndcg2": Loss(steps, 0 * ones, both=False),  # steps[m] = d(m) - d(m + 1) for the distance m
        }
        inverse = np.sign(moves.inverse) if scheme.startswith("arp") else moves.inverse
        loss = weights.get(scheme, Loss(mu * steps, discounts, both=False))
        return moves._replace(inverse=inverse / np.log(2.0)), loss


@dataclass(frozen=True, kw_only=True)
class ApproxNDCG(UnderNDCG):
    """ApproxNDCG: NDCG with soft ranks, which are differentiable.

    Loss of a query: -sum gain_i discount(r_i) / ideal DCG with r_i = 1 + sum over j of 1/(1 + exp((s_i - s_j) / T)).
    The loss is not convex and its second derivative gives no step size, so you declare the hessian.

    Parameters
    ----------
    convention
        Discounts use their formula between whole ranks too. `k` cuts only the ideal DCG.
    temperature
        With a smaller temperature, soft ranks are closer to ranks.
    hessian
        Second derivative of every row in queries that have a gradient.

    References
    ----------
    Qin, Liu, Li, A general approximation framework for direct optimization of information retrieval measures,
    Information Retrieval 13, 2010, section 4. Run: gradients of Rax 0.4.0 `approx_t12n(ndcg_metric)` to 1e-12.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.ApproxNDCG(convention="textbook@10", temperature=1, hessian=1)
    >>> grad, hess = ra.objectives.gradients([1, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.4f}" for g in grad], hess.tolist()  # the slope of 1/log2(1 + r) at 1.5, by 4
    (['-0.0826', '0.0826'], [1.0, 1.0])
    """

    kind: ClassVar[str] = "approxndcg"

    temperature: Annotated[float, Field(group="value", about="Width of the sigmoids.", numbers=Range(0, above=True))]
    hessian: Annotated[
        float, Field(group="value", about="Second derivative of every row.", numbers=Range(0, above=True))
    ]

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        del state
        moves = swaps_of(queries, self.convention, cut=False)
        settings = kernels.SoftRanks(*_formula(self.convention.discount), 1.0 / self.temperature, self.hessian)
        code, memory = kernels.approx_ndcg_gradients, kernels.make_memory

        def run(scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
            ranked = rank_queries(moves, scores, first, last)
            return in_portions(code, ranked, moves.k, settings, memory=memory, outputs=(grad, hess), passes=2)

        return Gradients(self, queries, run, n_threads=n_threads, work=work_of(moves, moves.k))


def _formula(discount: str) -> tuple[int, float]:
    """Return the code of the formula that computes a discount at fractional ranks, and the formula's parameter."""
    if discount == "reciprocal":
        return kernels.RECIPROCAL, 1.0
    word, parameter = border(discount) or (discount, 2.0)
    kinds = {"power": kernels.POWER, "jk2": kernels.LOGARITHM_FROM_TWO}
    return kinds.get(word, kernels.LOGARITHM), parameter
