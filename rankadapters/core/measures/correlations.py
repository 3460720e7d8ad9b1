"""Correlations of labels and scores: Spearman, Kendall and Pearson."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankadapters.core.arrays import Flags, Floats, Ints
from rankadapters.core.binding.lowering import Binding, by_label, grades_of, label_ranks, sums_by
from rankadapters.core.binding.plans import Plan, whole_plan
from rankadapters.core.data.queries import backwards
from rankadapters.core.declaration.convention import POOL, Convention, average_of
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures.auc import weight_of_lower
from rankadapters.core.measures.ranked import EMPTY, TIES, Missing, Precision, Unjudged
from rankadapters.core.ranking.offsets import reduced, segment_numbers, sums
from rankadapters.core.ranking.ranks import Ranks

UNDEFINED = replace(
    EMPTY,
    about="A query that has no correlation under any scores: its labels are all equal, or it has fewer than two rows.",
    numbers=Range(-1, 1),
    tried=(0.0, "skip"),
)
CONSTANT = Field(
    group="policy",
    about="The value of a query whose labels differ while its scores are all equal.",
    numbers=Range(-1, 1),
    tried=(0.0,),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlation(Convention):
    """Base class of the correlations of labels and scores.

    Labels are used as numbers, without a gain, and may be negative.
    """

    in_unit_interval: ClassVar[bool] = False
    averages: ClassVar[Mapping[str, tuple[str, ...]]] = {"rows": ("uniform",)}

    empty: Annotated[float | Literal["skip", "error"], UNDEFINED]
    constant: Annotated[float, CONSTANT]
    missing: Missing
    unjudged: Unjudged
    pool: Annotated[Literal["queries", "rows"], POOL]
    average: Annotated[str, average_of("uniform", "query", "query-except-empty", geometric=False)]

    def limits_of_queries(self) -> tuple[float, float]:
        """Return -1 and 1."""
        return -1.0, 1.0


def cosine(product: Floats, squares: Floats, other_squares: Floats) -> Floats:
    """Return product / sqrt(squares x other_squares), limited to [-1, 1]; 0 if a sum of squares is 0."""
    norm = np.sqrt(squares * other_squares)
    return np.clip(np.divide(product, norm, out=np.zeros(norm.size), where=norm > 0), -1.0, 1.0)


RANKS = replace(TIES, words={"mean-rank": "none: each has the mean of the ranks that they share", **TIES.words})


@dataclass(frozen=True, kw_only=True, slots=True)
class Spearman(Correlation):
    """Spearman's rank correlation of labels and scores, called the information coefficient in return forecasting.

    Spearman = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) over the rows of a query: a_i is a row's rank by label and b_i
    its rank by score, each less the mean rank. Rows with equal labels share the mean of their ranks. The value lies in
    [-1, 1]. No gain is needed: a gain that grows with the label changes no rank.

    References
    ----------
    Spearman, The proof and measurement of association between two things, American Journal of Psychology 15(1), 1904.
    scipy 1.17.1, stats/_stats_py.py, `spearmanr`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Spearman(ties="mean-rank", precision="float64", empty="skip", constant=0, missing="error",
    ...                    unjudged="error", pool="queries", average="uniform")
    >>> ra.evaluate([-0.1, 0.0, 0.3], [1, 3, 2], conv, group_sizes=[3]).value  # a = -1, 0, 1 and b = -1, 1, 0
    0.5
    """

    measure: ClassVar[str] = "spearman"

    ties: Annotated[Literal["mean-rank", "input", "reverse"], RANKS]
    precision: Precision

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with rows in the order that tied rows keep, and the rank of each row by label."""
        retrieved = binding.retrieved(self.unjudged)
        rows = backwards(retrieved) if self.ties == "reverse" else retrieved
        ranks = rows.take(label_ranks(binding, retrieved))
        return whole_plan(
            spearman, rows, precision=self.precision, empty=sums_by(rows.indptr, abs(ranks)) == 0,
            options={"averaged": self.ties == "mean-rank", "constant": self.constant}, label_ranks=ranks,
        )  # fmt: skip


def spearman(ranks: Ranks, label_ranks: Floats, *, averaged: bool, constant: float) -> Floats:
    """Return the correlation of the ranks by score with the ranks by label; `constant` if all scores are equal.

    All ranks are 2 x (rank - mean rank of the query), so that mean ranks of ties are whole numbers and sum to 0, and
    the sums are exact in queries of up to 200,000 rows.
    """
    ties, n = ranks.ties, ranks.sizes[ranks.query]
    tie = ranks.tie
    ends = 2 * ties.first[tie] + ties.sizes[tie] if averaged else 2 * ranks.rank + 1
    rank, label_rank = (n - ends).astype(np.float64), label_ranks[ranks.ranked]
    values = cosine(ranks.sums(rank * label_rank), ranks.sums(rank * rank), ranks.sums(label_rank * label_rank))
    values[ties.query[ties.sizes == ranks.sizes[ties.query]]] = constant
    return values


VARIANT = Field(
    group="value",
    about="What the surplus of concordant pairs is divided by: how ties count.",
    words={
        "b": "sqrt(pairs whose labels differ x pairs whose scores differ)",
        "c": "n^2 (m - 1) / (2 m) for n rows, m being the smaller number of different labels or scores",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kendall(Correlation):
    """Kendall's tau of labels and scores.

    Kendall = (concordant - discordant pairs) / divisor. A pair of rows of a query is concordant if the row with the
    higher label has the higher score, discordant if it has the lower score, and neither if labels or scores are equal.
    The divisor, and so the effect of ties, depends on `variant`: tau-b or tau-c. The value lies in [-1, 1].

    References
    ----------
    Kendall, The treatment of ties in ranking problems, Biometrika 33(3), 1945.
    Stuart, The estimation and comparison of strengths of association in contingency tables, Biometrika 40, 1953.
    scipy 1.17.1, stats/_stats_py.py, `kendalltau`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Kendall(variant="b", precision="float64", empty="skip", constant=0, missing="error", unjudged="error",
    ...                   pool="queries", average="uniform")
    >>> ra.evaluate([2, 1, 0], [3, 1, 2], conv, group_sizes=[3]).value == (2 - 1) / 3
    True
    """

    measure: ClassVar[str] = "kendall"

    variant: Annotated[Literal["b", "c"], VARIANT]
    precision: Precision

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with rows by ascending label, and for each row the number of rows with lower labels."""
        rows, lower = by_label(binding, binding.retrieved(self.unjudged))
        return whole_plan(
            kendall, rows, precision=self.precision, empty=sums_by(rows.indptr, lower) == 0,
            options={"by_classes": self.variant == "c", "constant": self.constant}, lower=lower,
            grades=grades_of(lower, rows.indptr),
        )  # fmt: skip


def kendall(ranks: Ranks, lower: Ints, grades: Ints, *, by_classes: bool, constant: float) -> Floats:
    """Return tau-b of each query, or tau-c if `by_classes`; `constant` if all scores are equal.

    `lower` has for each row the number of its query's rows with lower labels, and the rows are in the order of their
    labels. All counts of pairs are exact.
    """
    n, ties, n_queries = ranks.sizes.astype(np.float64), ranks.ties, ranks.sizes.size
    levels, label_levels = np.bincount(ties.query, minlength=n_queries), ranks.sums(lower == ranks.rank)
    untied_labels = ranks.sums(lower)
    untied = n * (n - 1) / 2 - _pairs(ties.sizes, ties.query, n_queries)
    # Rows of equal label and score follow one another, since ties keep the order of the labels.
    grade, tie = grades[ranks.ranked], ranks.tie
    new = np.ones(grade.size, np.bool_)
    new[1:] = (grade[1:] != grade[:-1]) | (tie[1:] != tie[:-1])
    firsts = np.flatnonzero(new)
    tied_twice = _pairs(np.diff(firsts, append=grade.size), ranks.query[firsts], n_queries)
    tied_labels = n * (n - 1) / 2 - untied_labels
    concordant = ranks.sums(weight_of_lower(ranks, grades, np.ones(grade.size), 0.0))
    surplus = 2 * concordant - (untied - (tied_labels - tied_twice))
    least = np.minimum(levels, label_levels)
    values = cosine(surplus, untied, untied_labels)
    if by_classes:
        np.divide(2.0 * surplus * least, n * n * (least - 1.0), out=values, where=least > 1)
    values[levels == 1] = constant
    return values


def _pairs(sizes: Ints, query: Ints, n_queries: int) -> Floats:
    """Return the number of pairs within runs of these sizes, added up by query."""
    return sums(sizes * (sizes - 1.0) / 2, query, n_queries)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pearson(Correlation):
    """Pearson's linear correlation of labels and scores.

    Pearson = sum a_i b_i / sqrt(sum a_i^2 sum b_i^2) over the rows of a query: a_i is a row's label and b_i its score,
    each less its mean in the query. The value lies in [-1, 1]. Scores count as float64 numbers, whatever their order.
    To correlate scores with gains, pass the gains as labels.

    References
    ----------
    Pearson, Note on regression and inheritance in the case of two parents, Proceedings of the Royal Society of London
    58, 1895.
    scipy 1.17.1, stats/_stats_py.py, `pearsonr`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> conv = ra.Pearson(empty="skip", constant=0, missing="error", unjudged="error", pool="queries",
    ...                   average="uniform")
    >>> ra.evaluate([-1, 0, 1], [0, 2, 1], conv, group_sizes=[3]).value  # a = -1, 0, 1 and b = -1, 1, 0
    0.5
    """

    measure: ClassVar[str] = "pearson"

    def lower(self, binding: Binding) -> Plan:
        """Return the plan with rows by ascending label, and their standardized labels."""
        rows = binding.retrieved(self.unjudged)
        labels = rows.take(binding.labels)
        return whole_plan(
            pearson, rows, empty=are_constant(labels, rows.indptr), options={"constant": self.constant},
            labels=standardized(labels, rows.indptr),
        )  # fmt: skip


def pearson(ranks: Ranks, labels: Floats, constant: float) -> Floats:
    """Return the correlation of the scores with the standardized labels; `constant` if the scores are equal."""
    indptr, scores = ranks.indptr, standardized(ranks.scores, ranks.indptr)
    product, squares, label_squares = (
        order_free_sums(column, indptr) for column in (scores * labels, scores * scores, labels * labels)
    )
    values = cosine(product, squares, label_squares)
    # Near 1 and -1, the distance of the two columns, each divided by its length, loses no digits.
    signs, (lengths, label_lengths) = np.copysign(1.0, product), np.sqrt([squares, label_squares])
    difference = scores / lengths[ranks.query] - labels / (signs * label_lengths)[ranks.query]
    near = signs * (1.0 - order_free_sums(difference * difference, indptr) / 2.0)
    values = np.where(np.abs(values) > 1 / 2, near, values)
    values[are_constant(ranks.scores, indptr)] = constant
    return values


def standardized(values: Floats, indptr: Ints) -> Floats:
    """Subtract each query's mean, then divide by the largest absolute value; equal numbers become 0."""
    sizes = np.diff(indptr)
    _, exponents = np.frexp(reduced(np.maximum, np.abs(values), indptr))
    values = np.ldexp(values, np.repeat(-exponents, sizes))  # exact, and avoids overflow and underflow
    values = values - np.repeat(reduced(np.minimum, values, indptr), sizes)
    values = values - np.repeat(order_free_sums(values, indptr) / np.maximum(sizes, 1), sizes)
    largest = np.repeat(reduced(np.maximum, np.abs(values), indptr), sizes)
    return np.divide(values, largest, out=np.zeros(values.size), where=largest > 0)


def are_constant(values: Floats, indptr: Ints) -> Flags:
    """Return which queries have equal values only."""
    constant: Flags = reduced(np.maximum, values, indptr) == reduced(np.minimum, values, indptr)
    return constant


def order_free_sums(values: Floats, indptr: Ints) -> Floats:
    """Return the sum of each query's values, which no order of its rows can change.

    Each value is split twice into a multiple of a power of two, so coarse that such multiples add up without rounding,
    and a rest (Rump, Ogita & Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31(1), 2008).

    >>> order_free_sums(np.array([1e16, 1.0, -1e16]), np.array([0, 3])).tolist()
    [1.0]
    """
    sizes, numbers = np.diff(indptr), segment_numbers(indptr)
    totals = np.zeros(sizes.size)
    for _ in range(2):
        _, exponents = np.frexp(2.0 * sizes * reduced(np.maximum, np.abs(values), indptr))
        grid = np.ldexp(1.5, exponents)[numbers]
        multiples = (values + grid) - grid
        totals += sums(multiples, numbers, sizes.size)
        values = values - multiples
    return totals
