"""AP: the precision at the relevant ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Array, Floats
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Formula, Plan
from rankadapters.core.declaration.convention import POOL, average_of
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import TIES, Empty, Ranked, Relevant, Retrieve
from rankadapters.core.ranking.offsets import offsets, positions_within, running, sums
from rankadapters.core.ranking.ranks import Ranks

DIVISOR = Field(
    group="value",
    about="What the sum of the precisions is divided by.",
    words={
        "relevant": "R, the number of relevant rows",
        "cutoff": "min(k, R)",
        "found": "the relevant rows at ranks 1..k",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class AP(Ranked):
    """Average precision; its mean is MAP.

    AP@k = sum over the relevant ranks i <= k of precision(i) / divisor, precision(i) = relevant rows at ranks 1..i / i.
    The value lies in [0, 1]. Where row weights count, a row counts by its weight in place of 1.

    Parameters
    ----------
    ties
        `average` needs the divisor `relevant` or `cutoff`, and no row weights. scikit-learn computes `together`.
    pool
        Under `rows` there are neither tallies nor values of queries, and no order of ties by document ids.
    average
        With `pool="rows"` only `uniform`, `query` (every row has its query's weight) and `row` are allowed.

    References
    ----------
    McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied
    scores, ECIR 2008 (for `ties="average"`).
    LightGBM 4.7.0, src/metric/map_metric.hpp (`cutoff`). trec_eval 9.0.8, m_map_cut.c (`relevant`). scikit-learn 1.9.1,
    metrics/_ranking.py, `average_precision_score` (`together`). torchmetrics 1.9.0, `RetrievalMAP` (`found`).

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.AP(k=None, relevant="from_1", divisor="relevant", ties="input", precision="float64", retrieve="all",
    ...              short="pad", empty=0, missing="error", unjudged="error", pool="queries", average="uniform")
    >>> ra.evaluate([1, 0, 1], [3, 2, 1], conv, group_sizes=[3]).value == (1 + 2 / 3) / 2
    True
    """

    measure: ClassVar[str] = "ap"

    relevant: Relevant
    divisor: Annotated[Literal["relevant", "cutoff", "found"], DIVISOR]
    ties: Annotated[
        Literal["input", "reverse", "average", "worst", "best", "docid-descending", "docid-ascending", "together"], TIES
    ]
    retrieve: Retrieve
    empty: Empty
    pool: Annotated[Literal["queries", "rows"], POOL]
    average: Annotated[str, average_of("uniform", "query", "query-except-empty", "row", geometric=True)]

    def unify(self) -> None:
        """Without a cutoff, change divisor="cutoff" to "relevant"; refuse fields that contradict each other."""
        if self.k is None and self.divisor == "cutoff":
            self._set("divisor", "relevant")
        Ranked.unify(self)
        if self.pool == "rows" and self.ties.startswith("docid"):
            msg = f"ties={self.ties!r} orders documents of one query, but pool='rows' takes all rows as one."
            raise ConventionError(msg, hint="another order of ties, or pool='queries'")
        weighted = self._weighs_rows
        if self.ties == "average" and (self.divisor == "found" or weighted):
            reason = f"average={self.average!r} with pool={self.pool!r}" if weighted else "divisor='found'"
            raise ConventionError(
                f"ties='average' has no closed form under {reason}.", hint="another order of ties, or 'together'"
            )
        if self.divisor == "cutoff" and weighted:
            raise ConventionError(
                f"divisor='cutoff' counts rows, but average={self.average!r} weighs them.", hint="divisor='relevant'"
            )

    @property
    def _weighs_rows(self) -> bool:
        return self.average == "row" or (self.pool == "rows" and self.average == "query")

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance by rank, and the divisor by query."""
        relevance, weights = binding.relevance(self.relevant), binding.row_weights(self.average)
        relevant = relevance if weights is None else binding.product(relevance, weights)
        total = binding.judged_sums(relevant)
        formula, columns = self._formula(binding, relevant, weights)
        options = {} if self.ties == "average" else {"by_found": self.divisor == "found"}
        return binding.plan(
            self, formula, empty=total <= 0, by_query={"divisor": self._divisor(total)}, options=options,
            **columns,
        )  # fmt: skip

    def _formula(self, binding: Binding, relevant: Floats, weights: Floats | None) -> tuple[Formula, dict[str, Any]]:
        if self.ties == "average":
            return expected_average_precision, {"relevance": relevant}
        if self.ties == "together":
            weights = binding.row_ones if weights is None else weights
            return average_precision_of_ties, {"relevance": relevant, "weights": weights}
        if weights is not None:
            return weighted_average_precision, {"relevance": relevant, "weights": weights}
        return average_precision, {"relevance": relevant}

    def _divisor(self, relevant: Floats) -> Floats:
        divisor = relevant if self.divisor != "cutoff" or self.k is None else relevant.clip(max=self.k)
        return divisor + (relevant <= 0)  # 1 for empty queries, whose value a policy sets


def average_precision(ranks: Ranks, relevance: Floats, divisor: Floats, *, by_found: bool) -> Floats:
    """Return the sum of the precisions at relevant ranks, divided by `divisor`, or by their number if `by_found`."""
    hits = np.flatnonzero(ranks.take(relevance) > 0)
    query = ranks.query[hits]
    hitptr = np.searchsorted(query, np.arange(divisor.size + 1))
    precisions = (positions_within(hitptr) + 1.0) / (ranks.rank[hits] + 1)
    return _divided(sums(precisions, query, divisor.size), np.diff(hitptr) if by_found else divisor)


def weighted_average_precision(
    ranks: Ranks, relevance: Floats, weights: Floats, divisor: Floats, *, by_found: bool
) -> Floats:
    """Return `average_precision` with row weights; `relevance` is a relevant row's weight, 0 for an irrelevant row."""
    found = ranks.take(relevance)
    hits, weight_above = ranks.running(np.add, found), ranks.running(np.add, ranks.take(weights))
    precisions = np.divide(hits, weight_above, out=np.zeros(hits.size), where=found > 0)
    return _divided(ranks.sums(found * precisions), ranks.sums(found) if by_found else divisor)


def expected_average_precision(ranks: Ranks, relevance: Floats, divisor: Floats) -> Floats:
    """Return the expectation of `average_precision` over all orders of tied rows (McSherry & Najork 2008).

    A tie of n rows with r relevant ones, after a rows with t relevant ones, adds
    sum over j = 1..n with a + j <= k of r/n (t + 1 + (j - 1) (r - 1)/(n - 1)) / (a + j).
    """
    ties, by_tie = ranks.ties, ranks.tie_sums(relevance)
    totals = np.append(0.0, np.cumsum(by_tie))  # whole numbers, so that their differences are exact
    before = totals[:-1] - totals[np.searchsorted(ties.query, ties.query)]
    slopes = np.divide(by_tie - 1.0, ties.sizes - 1, out=np.zeros(by_tie.size), where=ties.sizes > 1)
    tie = ranks.tie
    r, j = by_tie[tie], ranks.rank - ties.first[tie]
    terms = r / ties.sizes[tie] * (before[tie] + 1.0 + j * slopes[tie]) / (ranks.rank + 1)
    return ranks.sums(np.where(r > 0, terms, 0.0)) / divisor


def average_precision_of_ties(
    ranks: Ranks, relevance: Floats, weights: Floats, divisor: Floats, *, by_found: bool
) -> Floats:
    """Return the weighted average precision if all rows of a tie are retrieved together, at the tie's last rank."""
    ties, n = ranks.ties, divisor.size
    counted = np.flatnonzero(ties.first + ties.sizes <= ranks.counts[ties.query])
    query, found = ties.query[counted], ranks.tie_sums(relevance)[counted]
    tieptr = offsets(np.bincount(query, minlength=n))
    hits, above = running(np.add, found, tieptr), running(np.add, ranks.tie_sums(weights)[counted], tieptr)
    precisions = np.divide(hits, above, out=np.zeros(hits.size), where=found > 0)
    return _divided(sums(found * precisions, query, n), sums(found, query, n) if by_found else divisor)


def _divided(totals: Floats, divisor: Array) -> Floats:
    return np.divide(totals, divisor, out=np.zeros(totals.size), where=divisor > 0)
