"""Bpref: how few of the rows judged irrelevant rank above the relevant ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import Convention, Mean
from rankadapters.core.measures.ranked import TIES, Empty, Missing, Precision, Relevant, Unjudged, irrelevance
from rankadapters.core.ranking.offsets import sums
from rankadapters.core.ranking.ranks import Ranks


@dataclass(frozen=True, kw_only=True, slots=True)
class Bpref(Convention):
    """Binary preference, which looks at judged rows only.

    bpref = 1/R x sum over the relevant rows that are retrieved of 1 - min(i, R) / min(N, R), where i irrelevant rows
    rank above the row, and R relevant and N irrelevant rows are judged; 1 for a row with i = 0. It lies in [0, 1]. As
    in trec_eval, a row that is not relevant and has a label below 0 counts as unjudged.

    References
    ----------
    Buckley & Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004. trec_eval 9.0.8, m_bpref.c.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Bpref(relevant="from_1", ties="input", precision="float64", empty=0, missing="error",
    ...                 unjudged="error", average="uniform")
    >>> ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], conv, group_sizes=[4]).value  # (1 + 1/2) / 2
    0.75
    """

    measure: ClassVar[str] = "bpref"

    relevant: Relevant
    ties: Annotated[Literal["input", "reverse", "worst", "best", "docid-descending", "docid-ascending"], TIES]
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    average: Mean

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with relevance and irrelevance by rank, and counts of both kinds of rows by query."""
        relevance, negative = binding.relevance(self.relevant), irrelevance(binding, self.relevant, 0.0)
        relevant, irrelevant = binding.judged_sums(relevance), binding.judged_sums(negative)
        return binding.plan(
            self, bpref, k=binding.longest, empty=relevant <= 0, relevance=relevance, irrelevance=negative,
            by_query={"relevant": relevant.clip(min=1), "irrelevant": irrelevant},
        )  # fmt: skip


def bpref(ranks: Ranks, relevance: Floats, irrelevance: Floats, relevant: Floats, irrelevant: Floats) -> Floats:
    """Return the mean over the R relevant rows of 1 - min(irrelevant rows above, R) / min(N, R), N irrelevant rows."""
    hits = np.flatnonzero(ranks.take(relevance) > 0)
    query, above = ranks.query[hits], ranks.running(np.add, ranks.take(irrelevance))[hits]  # a hit itself adds 0
    least = np.minimum(relevant, irrelevant)[query]
    terms = np.where(above > 0, 1.0 - np.minimum(above, relevant[query]) / least, 1.0)
    return sums(terms, query, relevant.size) / relevant
