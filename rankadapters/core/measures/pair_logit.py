"""PairLogit: the logistic loss of pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.auc import PAIRS
from rankadapters.core.measures.loss import Loss, OfPairs

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.binding.plans import WholePlan

LEAST = 1e-38  # CatBoost adds it to exp(s - largest s of the query)


@dataclass(frozen=True, kw_only=True, slots=True)
class PairLogit(Loss):
    """Logistic loss of pairs in which one row should rank above the other.

    PairLogit = sum w log(1 + e_j / e_i) / sum w over the pairs (i above j) of all queries, with
    e = exp(s - largest s of the query) + 1e-38: log(1 + exp(s_j - s_i)), but no pair costs more than 87.5. Lower is
    better.

    References
    ----------
    Burges et al., Learning to rank using gradient descent, ICML 2005.
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `PairLogit`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.PairLogit(pairs="label", missing="error", unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 0], [5, 5, 5], conv, group_sizes=[3]).value  # log(2)
    0.6931471805599453
    """

    measure: ClassVar[str] = "pair-logit"

    pairs: Annotated[Literal["label", "given"], replace(PAIRS, numbered={}, tried=("label",))]
    average: OfPairs

    def unify(self) -> None:
        """Refuse pair weights unless pairs are given."""
        Loss.unify(self)
        if self.average == "pair" and self.pairs != "given":
            raise ConventionError("average='pair' needs pairs='given'.", hint="average='query', or pairs='given'")

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with given pairs, or rows by ascending label with counts of rows of lower label."""
        from rankadapters.core.binding.whole_queries import by_label, given_pairs, loss_plan, sums_by
        from rankadapters.core.kernels.losses import logistic_of_given_pairs, logistic_of_labels

        rows = binding.retrieved(self.unjudged)
        if self.pairs == "given":
            winners, losers, weights, pairptr = given_pairs(binding, rows, weighed=self.average == "pair")
            return loss_plan(
                logistic_of_given_pairs, rows, sums_by(pairptr, weights), options={"least": LEAST},
                offsets={"pairptr": pairptr}, winners=winners, losers=losers, weights=weights,
            )  # fmt: skip
        rows, lower = by_label(binding, rows)
        mass = sums_by(rows.indptr, lower)
        return loss_plan(logistic_of_labels, rows, mass, options={"least": LEAST}, lower=lower)
