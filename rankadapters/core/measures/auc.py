"""AUC: the share of pairs that are ranked in the right order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Floats, Ints
from rankadapters.core.binding.lowering import Binding, by_label, given_pairs, grades_of, probabilities, weights_of
from rankadapters.core.binding.plans import Formula, Plan, whole_plan
from rankadapters.core.data.optional_columns import Pairs
from rankadapters.core.data.queries import Rows
from rankadapters.core.declaration.convention import POOL, Convention, average_of
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import TIES, Empty, Missing, Precision, Unjudged
from rankadapters.core.ranking.offsets import first_positions, offsets, positions_within, running_sums, shifted, sums
from rankadapters.core.ranking.ranks import Ranks, rank_queries

PAIRS = Field(
    group="value",
    about="Which pairs of rows count: a better and a worse one.",
    words={
        "label": "any two rows of different labels",
        "unit": "any two rows, a row with itself too: a label is the probability of being relevant",
        "every-two": "any two rows; of equal labels the earlier row is the better one, as in XGBoost",
        "given": "those of `pairs=`",
    },
    numbered={"above": "label > B against label <= B", "from": "label >= B against label < B"},
    tried=("label", "above_0", "from_1"),
    needs={"given": "pairs"},
)
TIED = {"average": 0.5, "worst": 0.0, "best": 1.0}  # how much a tied pair counts
LEAST_ROWS = 3  # XGBoost makes pairs only in queries with at least this many rows


@dataclass(frozen=True, kw_only=True, slots=True)
class AUC(Convention):
    """Area under the ROC curve: the share of pairs whose better row has the higher score.

    AUC = weight of the pairs in the right order / weight of all pairs; a tied pair counts 1/2 (`ties="average"`), 0
    (`worst`) or 1 (`best`). A pair weighs the product of its rows' weights, where these count. The value lies in
    [0, 1].

    Parameters
    ----------
    pairs
        Only retrieved rows make pairs, and a row without a judgment has label 0. `every-two` needs queries of at least
        three rows.
    ties
        A tied pair counts 1/2 under `average`, 0 under `worst` and 1 under `best`.
    empty
        Here a query is empty if it has no pairs. With `pool="pairs"` this is the value where no query has any pair.
    pool
        Under `rows` there are neither tallies nor values of queries.
    average
        With `pool="pairs"` only `uniform`, `query` (each pair has its query's weight) and `pair` are allowed, with
        `pool="rows"` only `uniform`, `query` and `row`. `pair` needs `pairs="given"`.

    References
    ----------
    Hanley & McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, Radiology
    143(1), 1982.
    CatBoost 1.2.10, libs/metrics/auc.cpp. XGBoost 3.2.0, src/metric/auc.cc. LightGBM 4.7.0,
    src/metric/binary_metric.hpp.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.AUC(pairs="label", ties="average", precision="float64", empty="skip",
    ...               missing="error", unjudged="error", pool="queries", average="uniform")
    >>> ra.evaluate([2, 1, 0], [0.9, 0.2, 0.2], conv, group_sizes=[3]).value == 2.5 / 3
    True
    """

    measure: ClassVar[str] = "auc"

    pairs: Annotated[str, PAIRS]
    ties: Annotated[Literal["average", "worst", "best"], TIES]
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    pool: Annotated[Literal["queries", "pairs", "rows"], POOL]
    average: Annotated[str, average_of("uniform", "query", "query-except-empty", "row", "pair", geometric=True)]

    def unify(self) -> None:
        """Bring equivalent conventions to one form; refuse fields that contradict each other."""
        Convention.unify(self)
        if self.average == "query" and self.pairs == "given" and self.pool == "rows":
            raise ConventionError(
                "average='query' weighs rows over all rows, but pairs are given.", hint="pool='pairs'"
            )
        if self.average == "row" and self.pairs == "given":
            raise ConventionError("average='row' weighs rows, but pairs='given' has weights of pairs.", hint="'pair'")
        if self.pool == "pairs" and self.missing == "zero":
            self._set("missing", "skip")  # a missing query has no pairs, so it adds nothing

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with grades or relevance by row, or with pairs; the mass is the weight of all pairs."""
        rows = binding.retrieved(self.unjudged)
        formula: Formula = concordant_pairs
        if self.pairs == "given":
            arguments: dict[str, Any] = {"pairs": given_pairs(binding, rows, weighed=self.average == "pair")}
        elif self.pairs in {"label", "every-two"}:
            formula = pairs_by_grade
            rows, arguments = self._by_label(binding, rows)
        else:
            formula, arguments = pairs_by_relevance, self._by_relevance(binding, rows)
        equal_scores = rank_queries(np.zeros(int(rows.indptr[-1])), None, rows.indptr, averaged=True)
        mass = formula(equal_scores, **arguments, tied=TIED["best"])
        return whole_plan(
            formula, rows, precision=self.precision, options={"tied": TIED[self.ties]}, mass=mass, pooled=self.pooled,
            share=True, empty=mass <= 0, **arguments,
        )  # fmt: skip

    def _by_label(self, binding: Binding, rows: Rows) -> tuple[Rows, dict[str, Any]]:
        """Return rows and grades 0, 1, ... per query; equal labels share a grade unless every two rows pair."""
        rows, lower = by_label(binding, rows)
        weights = weights_of(binding, rows, self.average)
        if self.pairs == "label":
            return rows, {"grades": grades_of(lower, rows.indptr), "weights": weights}
        sizes = np.repeat(rows.sizes, rows.sizes)
        weights = np.where(sizes < LEAST_ROWS, 0.0, weights)
        return rows, {"grades": positions_within(rows.indptr), "weights": weights}

    def _by_relevance(self, binding: Binding, rows: Rows) -> dict[str, Any]:
        """Return the relevance and irrelevance of each row."""
        unit = self.pairs == "unit"
        positive = probabilities(binding, "pairs='unit'") if unit else binding.relevance(self.pairs)
        weights = weights_of(binding, rows, self.average)
        return {"positive": rows.take(positive) * weights, "negative": rows.take(1.0 - positive) * weights}


def concordant_pairs(ranks: Ranks, pairs: Pairs, tied: float) -> Floats:
    """Return the weight of each query's pairs whose winner has the higher score; a tied pair counts `tied`."""
    winner, loser = ranks.scores[pairs.winner], ranks.scores[pairs.loser]
    counts = np.where(winner > loser, 1.0, np.where(winner == loser, tied, 0.0))
    return sums(pairs.weight * counts, pairs.query, pairs.indptr.size - 1)


def pairs_by_relevance(ranks: Ranks, positive: Floats, negative: Floats, tied: float) -> Floats:
    """Return the weight of the pairs with a relevant row above an irrelevant one; a tied pair counts `tied`.

    A partly relevant row also pairs with itself.
    """
    query, up = ranks.ties.query, ranks.ties_upwards
    relevant, irrelevant = ranks.tie_sums(positive)[up], ranks.tie_sums(negative)[up]
    tieptr = offsets(np.bincount(query, minlength=ranks.sizes.size))
    below = running_sums(shifted(irrelevant, tieptr, 0.0), tieptr)
    return sums(relevant * (below + tied * irrelevant), query, ranks.sizes.size)


def pairs_by_grade(ranks: Ranks, grades: Ints, weights: Floats, tied: float) -> Floats:
    """Return the weight of the pairs whose row of the higher grade has the higher score; a tied pair counts `tied`.

    The weight of a pair is the product of its rows' weights.
    """
    return ranks.sums(weights * weight_of_lower(ranks, grades, weights, tied))


def weight_of_lower(ranks: Ranks, grades: Ints, weights: Floats, tied: float) -> Floats:
    """Return for each row the weight of the rows of its query with a lower grade and a lower score.

    A row with a lower grade and the same score counts `tied`. For each bit of the grades, from the highest down, the
    rows are in groups whose grades agree in the bits above it: in a group, a row whose bit is 1 has a higher grade than
    the rows whose bit is 0. In each group the rows are in the order of their scores, the lowest first.
    """
    rows, lower = ranks.upwards.copy(), np.zeros(grades.size)
    groups = ranks.indptr[:-1][ranks.sizes > 0]  # where each group begins
    for level in reversed(range(int(grades.max(initial=0)).bit_length())):
        is_higher, groupptr = (grades[rows] >> level & 1).astype(np.bool_), np.append(groups, rows.size)
        scores = ranks.scores[rows]
        starts = np.append(True, scores[1:] != scores[:-1])  # of the ties
        starts[groups] = True
        firsts = np.flatnonzero(starts)
        totals = running_sums(np.where(is_higher, 0.0, weights[rows]), groupptr)
        upto = totals[np.append(firsts[1:], rows.size) - 1]
        below = np.append(0.0, upto[:-1])
        below[np.searchsorted(firsts, groups)] = 0.0
        of_ties = (1.0 - tied) * below + tied * upto
        lower[rows[is_higher]] += of_ties[(np.cumsum(starts) - 1)[is_higher]]
        group = np.repeat(np.arange(groups.size), np.diff(groupptr))
        n_lower = np.bincount(group[~is_higher], minlength=groups.size)
        # Each group becomes two: first its rows of the lower grades, then those of the higher ones, in the same order.
        places = np.zeros(rows.size, np.bool_)
        places[first_positions(groupptr, offsets(n_lower))] = True
        rows[places], rows[~places] = rows[~is_higher], rows[is_higher]
        groups = np.unique(np.concatenate([groups, (groups + n_lower)[n_lower < np.diff(groupptr)]]))
    return lower
