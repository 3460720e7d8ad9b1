"""LambdaLoss: pairwise losses that bound ARP or NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.objectives import list_gradients, pair_gradients
from rankadapters.objectives.base import UnderNDCG
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.pairwise_fields import Sigma, Truncation

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

        terms = pair_gradients.convention_terms(queries, self.convention, cut=False)
        terms, weights = list_gradients.weights_of(terms, self.scheme)
        pairs = pair_gradients.pairing(terms, self.truncation, self.sigma, "none", "plain")
        kernel = list_gradients.lambda_loss_kernel(terms, pairs, weights)
        return Gradients(self, queries, kernel, n_threads=n_threads, work=pair_gradients.work_of(terms, pairs.limit))
