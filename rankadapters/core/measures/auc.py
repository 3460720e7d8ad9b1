"""AUC: the share of pairs that are ranked in the right order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from rankadapters.core.binding.plans import NO_ARGUMENTS, WholePlan
from rankadapters.core.declaration.convention import POOL, Convention, average_of, require_average
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures.ranked import TIES, Empty, Missing, Precision, Unjudged

if TYPE_CHECKING:
    from rankadapters.core.binding.lowering import Binding
    from rankadapters.core.data.rows import Rows
    from rankadapters.core.kernels import Kernel, Steps

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
COMPLEMENT = Field(
    group="value",
    about="In which precision 1 - label is rounded under `pairs=unit`.",
    words={"float64": "double", "float32": "single"},
    tried=("float64",),
)
AVERAGES = {  # by pool
    "queries": ("uniform", "query", "query-except-empty", "row", "geometric"),
    "pairs": ("uniform", "query", "pair"),
    "rows": ("uniform", "query", "row"),
}
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
    >>> conv = ra.AUC(pairs="label", complement="float64", ties="average", precision="float64", empty="skip",
    ...               missing="error", unjudged="error", pool="queries", average="uniform")
    >>> ra.evaluate([2, 1, 0], [0.9, 0.2, 0.2], conv, group_sizes=[3]).value == 2.5 / 3
    True
    """

    measure: ClassVar[str] = "auc"

    pairs: Annotated[str, PAIRS]
    complement: Annotated[Literal["float64", "float32"], COMPLEMENT]
    ties: Annotated[Literal["average", "worst", "best"], TIES]
    precision: Precision
    empty: Empty
    missing: Missing
    unjudged: Unjudged
    pool: Annotated[Literal["queries", "pairs", "rows"], POOL]
    average: Annotated[str, average_of("uniform", "query", "query-except-empty", "row", "pair", geometric=True)]

    def unify(self) -> None:
        """Bring equivalent conventions to one form; refuse fields that contradict each other."""
        if self.pairs != "unit":
            self._set("complement", "float64")
        Convention.unify(self)
        require_average(self, AVERAGES)
        if self.average == "pair" and self.pairs != "given":
            raise ConventionError("average='pair' needs pairs='given'.", hint="average='query', or pairs='given'")
        if self.average == "query" and self.pairs == "given" and self.pool == "rows":
            raise ConventionError(
                "average='query' weighs rows over all rows, but pairs are given.", hint="pool='pairs'"
            )
        if self.average == "row" and self.pairs == "given":
            raise ConventionError("average='row' weighs rows, but pairs='given' has weights of pairs.", hint="'pair'")
        if self.pool != "queries" and self.empty == "skip":
            self._set("empty", "error")  # if the only query is skipped, nothing is left to average
        if self.pool == "pairs" and self.missing == "zero":
            self._set("missing", "skip")  # a missing query has no pairs, so it adds nothing

    def lower(self, binding: Binding) -> WholePlan:
        """Return the plan with grades or relevance by row, or with pairs; the mass is the weight of all pairs."""
        rows = binding.retrieved(self.unjudged)
        builders = {"label": self._by_label, "every-two": self._by_label, "given": self._given}
        plan = builders.get(self.pairs, self._by_relevance)(binding, rows)
        mass = binding.numerators_of_equal_scores(replace(plan, options={"tied": TIED["best"]}))
        return replace(plan, mass=mass, empty=mass <= 0)

    def _plan(
        self,
        binding: Binding,
        rows: Rows,
        kernel: Kernel | Steps,
        *,
        offsets: Mapping[str, Any] = NO_ARGUMENTS,
        **columns: Any,
    ) -> WholePlan:
        from rankadapters.core.binding.whole_queries import as_arguments

        return WholePlan(
            kernel=kernel, rows=rows, precision=self.precision, columns=as_arguments(columns),
            offsets=as_arguments(offsets), options={"tied": TIED[self.ties]}, mass=binding.query_ones,
            pooled=self.pooled, share=True, empty=binding.no_queries,
        )  # fmt: skip

    def _by_label(self, binding: Binding, rows: Rows) -> WholePlan:
        """Return the plan with grades 1, 2, ... per query; equal labels share a grade unless every two rows pair."""
        import numpy as np

        from rankadapters.core.binding.whole_queries import weights_of
        from rankadapters.core.kernels.auc import pairs_by_label

        labels, sizes, weights = rows.take(binding.labels), rows.sizes, weights_of(binding, rows, self.average)
        query, order = np.repeat(np.arange(sizes.size), sizes), binding.ascending(labels, rows)
        new = np.ones(query.size, np.bool_)
        if self.pairs == "label":
            new[1:] = (np.diff(labels[order]) != 0) | (np.diff(query[order]) != 0)
        else:
            weights = np.where(sizes[query] < LEAST_ROWS, 0.0, weights)
        counts = np.cumsum(new)
        grades = np.empty(query.size, np.int64)
        starts = rows.indptr[:-1][query]  # where each row's query begins, the same after sorting
        grades[order] = counts - counts[starts] + 1 if query.size else counts
        return self._plan(binding, rows, pairs_by_label, grades=grades, weights=weights)

    def _by_relevance(self, binding: Binding, rows: Rows) -> WholePlan:
        """Return the plan with the relevance and irrelevance of each row."""
        from rankadapters.core.binding.whole_queries import probabilities, weights_of
        from rankadapters.core.kernels.auc import pairs_by_relevance

        if self.pairs == "unit":
            positive = probabilities(binding, "pairs='unit'")
            negative = (1.0 - positive).astype(self.complement).astype("float64")
        else:
            positive = binding.relevance(self.pairs).values
            negative = 1.0 - positive
        weights = weights_of(binding, rows, self.average)
        positive, negative = rows.take(positive) * weights, rows.take(negative) * weights
        return self._plan(binding, rows, pairs_by_relevance, positive=positive, negative=negative)

    def _given(self, binding: Binding, rows: Rows) -> WholePlan:
        """Return the plan with the given pairs whose rows are both retrieved."""
        from rankadapters.core.binding.whole_queries import given_pairs
        from rankadapters.core.kernels import auc

        winners, losers, weights, pairptr = given_pairs(binding, rows, weighed=self.average == "pair")
        offsets = {"pairptr": pairptr}
        return self._plan(
            binding, rows, auc.given_pairs, winners=winners, losers=losers, weights=weights, offsets=offsets
        )
