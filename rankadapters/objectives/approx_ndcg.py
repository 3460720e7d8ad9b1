"""ApproxNDCG: NDCG with soft ranks in place of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import Field, Range, border
from rankadapters.objectives import pair_gradients
from rankadapters.objectives.base import UnderNDCG
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.kernels import approx_ndcg as kernels


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
        terms = pair_gradients.convention_terms(queries, self.convention, cut=False)
        settings = kernels.SoftRanks(*_discount(self.convention.discount), 1.0 / self.temperature, self.hessian)
        kernel = pair_gradients.by_portions(
            kernels.approx_ndcg_gradients, terms, terms.reach, settings, memory=kernels.make_memory, passes=2
        )
        return Gradients(self, queries, kernel, n_threads=n_threads, work=pair_gradients.work_of(terms, terms.reach))


def _discount(name: str) -> tuple[int, float]:
    """Return the code of the formula that computes a discount at fractional ranks, and the formula's parameter."""
    if name == "reciprocal":
        return kernels.RECIPROCAL, 1.0
    word, parameter = border(name) or (name, 2.0)
    kinds = {"power": kernels.POWER, "jk2": kernels.LOGARITHM_FROM_TWO}
    return kinds.get(word, kernels.LOGARITHM), parameter
