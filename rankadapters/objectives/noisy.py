"""Objectives that draw random numbers: YetiRank, StochasticRank and StochasticFilter.

Each call has a random seed, from which a seed for each query derives. YetiRank and StochasticRank rank noisy copies of
each query.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.arrays import Array, Floats, Ints
from rankadapters.core.binding.gains import discounts_of
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, ERR, RR, FilteredDCG
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.offsets import offsets
from rankadapters.core.ranking.sorting import ALL_FINITE, ranked_rows
from rankadapters.evaluation import threads
from rankadapters.objectives.base import IDLE, ConventionField, Objective
from rankadapters.objectives.bound_gradients import ROW_ORDER, Floats32, Gradients, Kernel, kernel_order
from rankadapters.objectives.kernels import changes, generators, stochastic_rank, yetirank
from rankadapters.objectives.kernels.queries import CopiedQueries
from rankadapters.objectives.kernels.stochastic_filter import stochastic_filter_gradients
from rankadapters.objectives.moves import (
    Moves,
    filtered_rows,
    kernel_kinds,
    labels_alone,
    moves_of,
    require_filter,
    require_moves,
)

SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, so that the seeds of different calls stay far apart
NOISE = 4  # cost of drawing noise for a row and ranking it, in units of `threads.ROW`
IDLE_WITHOUT_TIES = IDLE | {"ties", "precision"}  # noisy scores have no ties
MOST_DRAWS = 2**31 - 1  # so that draws x rows fit in 64-bit integers


Seed = Annotated[
    int, Field(group="value", about="Seed of the first call, as in CatBoost.", numbers=Range(0, 2**64 - 1, whole=True))
]
Estimations = Annotated[
    int, Field(group="value", about="Number of draws to average.", numbers=Range(1, MOST_DRAWS, whole=True))
]
NoiseScale = Annotated[
    float, Field(group="value", about="Standard deviation of the noise.", numbers=Range(0, above=True))
]
Arithmetic = Annotated[
    Literal["exact", "catboost"],
    Field(
        group="value",
        about="Whether the expected gradient is the true derivative.",
        words={
            "exact": "the true derivative",
            "catboost": "CatBoost's: the noise of the other rows is not multiplied by sigma, and under ERR, or "
            "PFound with a cutoff, the change when a row moves is too large",
        },
    ),
]
Neighbors = Annotated[
    int | None,
    Field(group="value", about="Number of next ranks paired with each row.", numbers=Range(1, whole=True), none="all"),
]
NoiseWord = Literal["logistic", "gauss", "none"]
Noise = Annotated[
    NoiseWord,
    Field(
        group="value",
        about="Noise that is added to the scores before ranking.",
        words={
            "logistic": "log(u / (1.000001 - u)), u uniform, rounded to float32; CatBoost calls it Gumbel",
            "gauss": "standard normal noise, times `noise_power`",
            "none": "no noise: every permutation is the ranking",
        },
    ),
]
PairWeightWord = Literal["classic", "exact", "catboost"]
PairWeight = Annotated[
    PairWeightWord,
    Field(
        group="value",
        about="The weight of a pair in one ranking.",
        words={
            "classic": "0.15 decay^(i - 1) abs(difference of the labels) for the ranks i and i + 1",
            "exact": "the change of the convention's measure when the two rows swap ranks",
            "catboost": "CatBoost's weight: RR 1/i - 1/j for ranks i < j, i up to the first relevant row; AP "
            "1/i plus the reciprocal ranks of the relevant rows in between; ERR@k the change without the cutoff",
        },
    ),
]


class OptionalConvention(ConventionField):
    """A convention, or None for an objective without a measure."""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return "a convention, or None where the pairs have no measure"

    def check(self, name: str, value: Any) -> Convention | None:  # type: ignore[override]
        """Return None, or the value as a convention, parsed if it is a text."""
        return None if value is None else super().check(name, value)

    def spell(self, value: Any) -> str:
        """Return the text of a value, `none` for None."""
        return "none" if value is None else super().spell(value)

    def read(self, text: str) -> Any:
        """Return None for `none`, and other texts unchanged."""
        return None if text == "none" else text


class Drawing(Objective):
    """Base class of objectives that draw random numbers. The state of their gradients is the number of calls."""

    seed: int

    @abstractmethod
    def _kernel(self, queries: Queries, seed_of_call: Callable[[], np.uint64]) -> tuple[Kernel, Floats]:
        """Return the kernel, which asks for the seed of each call, and the cumulative work of the queries."""

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries; the state is the number of calls."""
        calls = np.zeros(1, np.int64) if state is None else state
        kernel, work = self._kernel(queries, lambda: np.uint64((self.seed + int(calls[0]) * SEED_STEP) % 2**64))
        return Gradients(self, queries, kernel, n_threads=n_threads, work=work, state=calls, advance=1)


@dataclass(frozen=True, kw_only=True)
class YetiRank(Drawing):
    """YetiRank: rows are ranked under noise several times, and each ranking adds to the weights of its pairs.

    A pair with gain(i) > gain(j) has a weight w, the mean of `delta` over the rankings. Its loss is w log(1 + exp(-(s_i
    - s_j))). With p = 1 / (1 + exp(s_i - s_j)), row i's gradient gets -w p, row j's gets w p, and both hessians get w p
    (1 - p). Weights are float32, as in CatBoost.

    Parameters
    ----------
    delta
        For NDCG, DCG and PFound, `catboost` becomes `exact`.
    convention
        NDCG, DCG, ERR, RR or AP, where a pair needs a row in the top `k` ranks; None under `classic`. `ties` and
        `precision` do not matter; without noise, ties are ranked in row order. Under `average="uniform"` weights are
        ignored.
    neighbors
        Must be 1 under `classic`.
    decay
        For `classic`; otherwise it becomes 1.
    noise_power
        For `gauss`; otherwise it becomes 1.
    seed
        Each of 128 blocks of queries has its generator, which seeds one for each query. Later calls draw new numbers.

    Raises
    ------
    InputError
        On binding: under ERR, a label is not a probability.

    References
    ----------
    Gulin, Kuralenok & Pavlov, Winning The Transfer Learning Track of Yahoo!'s Learning To Rank Challenge with YetiRank,
    JMLR W&CP 14, 2011. CatBoost 1.2.10, catboost/private/libs/algo/yetirank_helpers.cpp.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.catboost.yetirank()
    >>> grad, _ = ra.objectives.gradients([2, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.3f}" for g in grad]  # half of 0.15 x 2, whichever row ranks first
    ['-0.150', '0.150']
    """

    kind: ClassVar[str] = "yetirank"
    idle: ClassVar[frozenset[str]] = IDLE_WITHOUT_TIES

    delta: PairWeight
    convention: Annotated[Convention | None, OptionalConvention(group="tail", about="The measure.")]
    permutations: Annotated[
        int, Field(group="value", about="Number of noisy rankings.", numbers=Range(1, MOST_DRAWS, whole=True))
    ]
    neighbors: Neighbors
    decay: Annotated[float, Field(group="value", about="Decay of weights by rank.", numbers=Range(0, 1, above=True))]
    noise: Noise
    noise_power: Annotated[float, Field(group="value", about="Scale of the noise.", numbers=Range(0, above=True))]
    seed: Seed

    def unify(self) -> None:
        """Check that the fields fit together; normalize fields that have no effect."""
        if self.noise != "gauss":
            self._set("noise_power", 1.0)
        if (self.delta == "classic") != (self.convention is None):
            msg = f"delta={self.delta!r} goes with {'no' if self.delta == 'classic' else 'a'} convention."
            raise ConventionError(msg, hint="delta='classic', convention=None; or delta='exact' and a convention")
        if self.delta == "classic":
            if self.neighbors != 1:
                msg = f"delta='classic' pairs rows of adjacent ranks, but neighbors={self.neighbors}."
                raise ConventionError(msg, hint="neighbors=1, or delta='exact' and a convention")
            return
        require_moves("YetiRank", self.convention)
        self._set("decay", 1.0)
        is_err = isinstance(self.convention, ERR) and self.convention.discount == "reciprocal"
        if not (isinstance(self.convention, RR | AP) or is_err):
            self._set("delta", "exact")

    def _kernel(self, queries: Queries, seed_of_call: Callable[[], np.uint64]) -> tuple[Kernel, Floats]:
        if self.convention is None:
            moves = labels_alone(queries, changes.CLASSIC)
        else:
            moves, kinds = moves_of(queries, self.convention), kernel_kinds(self.convention)
            moves = moves._replace(kind=kinds.swap)
            if self.delta == "catboost":  # without the measure's divisor and cutoff
                discounts = discounts_of("reciprocal", moves.discounts.size)
                moves = moves._replace(kind=kinds.yetirank, inverse=np.sign(moves.inverse), discounts=discounts)
        longest = int(moves.rows.sizes.max(initial=1))
        neighbors = longest if self.neighbors is None else min(self.neighbors, longest)
        permuting = yetirank.Permuting(moves.kind, self.permutations, moves.k, neighbors, self.decay)

        def run(scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
            part, seeds = copied(moves, scores, first, last, self.permutations), np.empty(last - first, np.uint64)
            generators.query_seeds(seed_of_call(), queries.n_queries, first, seeds)
            settings = self.noise, self.noise_power
            _, ranked, _ = noisy_rankings(part, part.scores, *settings, seeds=seeds, k=queries.n_docs)
            swaps = changes.make_swaps(longest, moves.kind)
            yetirank.yetirank_gradients(part, permuting, moves.discounts, ranked, *swaps, grad, hess)
            yield ALL_FINITE

        return run, work_of(moves, self.permutations, np.minimum(moves.rows.sizes, neighbors))


@dataclass(frozen=True, kw_only=True)
class StochasticRank(Drawing):
    """StochasticRank: the expectation of a measure under normal noise. Unlike the measure, it has a derivative.

    Let x = m + sigma z, with m_i = s_i - sigma mu label_i (centered) and z standard normal. One draw estimates the
    derivative of E M(x) by m_d. Given the differences of the other rows' x, x_d is normal with mean m_d + sigma (mean z
    of the others) and variance sigma^2 n / (n - 1), so

        der_d = sum over the other rows j of (M with d just above j - M with d just below j) density of x_d at x_j.

    Draws are averaged, and der is centered. For more than two rows, der becomes `der - lambda_ (der . c) c / (abs(c) +
    nu)^2` with the centered scores c, so that scores do not grow without limit. The gradient is -der. Every hessian is
    1, so a leaf's value is a mean of der, as in CatBoost's `Gradient` leaves.

    Parameters
    ----------
    convention
        NDCG, DCG, ERR, RR or AP; PFound is an ERR. `ties`, `precision`, `empty`, `missing` and `unjudged` do not
        matter. Queries that `short` excludes have no gradient. Under `average="uniform"` weights are ignored.
    mu
        Scores are lowered before noise is added, so that among tied rows the worst rank first.
    arithmetic
        Both are equal if sigma is 1 and the measure is neither ERR nor PFound.
    seed
        In the first call, query i draws from CatBoost's generator with seed + i. Later calls draw new numbers.

    Raises
    ------
    InputError
        On binding: under ERR, a label is not a probability.

    References
    ----------
    Ustimenko & Prokhorenkova, StochasticRank: Global Optimization of Scale-Free Discrete Functions, ICML 2020.
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TStochasticRankError`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.StochasticRank(convention=ra.presets.textbook(1), sigma=1, mu=0, nu=0.01, lambda_=0,
    ...                                      estimations=1, arithmetic="exact", seed=0)
    >>> grad, _ = ra.objectives.gradients([1, 0], [0.0, 0.0], value, group_sizes=[2])
    >>> [f"{g:.4f}" for g in grad]  # the density at 0 of a difference, of variance 2: 1 / sqrt(4 pi)
    ['-0.2821', '0.2821']
    """

    kind: ClassVar[str] = "stochastic-rank"
    idle: ClassVar[frozenset[str]] = IDLE_WITHOUT_TIES

    convention: Annotated[Convention, ConventionField(group="tail", about="The measure.")]
    sigma: NoiseScale
    mu: Annotated[float, Field(group="value", about="Sigmas subtracted per unit of label.", numbers=Range(0))]
    nu: Annotated[float, Field(group="value", about="Added to the norm of the scores.", numbers=Range(0, above=True))]
    lambda_: Annotated[float, Field(group="value", about="Removed share of der along the scores.", numbers=Range(0))]
    estimations: Estimations
    arithmetic: Arithmetic
    seed: Seed

    def unify(self) -> None:
        """Require a supported measure; replace CatBoost's arithmetic by `exact` if they are equal."""
        require_moves("StochasticRank", self.convention)
        if self.sigma == 1 and not isinstance(self.convention, ERR):
            self._set("arithmetic", "exact")

    def _kernel(self, queries: Queries, seed_of_call: Callable[[], np.uint64]) -> tuple[Kernel, Floats]:
        moves, sigma, estimations = moves_of(queries, self.convention), self.sigma, self.estimations
        labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0)
        labels = moves.rows.take(labels)
        measure = stochastic_rank.Measure(moves.discounts, moves.k, moves.kind)
        exploring = stochastic_rank.Exploring(sigma, self.nu, self.lambda_, estimations, self._departure)

        def run(scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
            part, seeds = copied(moves, scores, first, last, estimations), np.arange(first, last, dtype=np.uint64)
            own_labels = writable(labels[part.indptr[0] : part.indptr[-1]])
            means = np.empty(own_labels.size)
            bad = int(stochastic_rank.centered_scores(part, own_labels, sigma, self.mu, means))
            if bad >= 0:
                yield bad
                return
            hess[caller_rows(moves, first, last)] = 1.0
            rankings = noisy_rankings(part, means, "gauss", sigma, seeds=seeds + seed_of_call(), k=moves.k + 1)
            noise = stochastic_rank.Noise(means, *rankings, np.zeros(own_labels.size))
            for rows in row_portions(part.indptr, estimations * min(moves.k, own_labels.size)):
                stochastic_rank.stochastic_rank_gradients(part, measure, exploring, noise, *rows, grad)
                yield ALL_FINITE

        return run, work_of(moves, estimations, np.minimum(moves.rows.sizes, moves.k))

    @property
    def _departure(self) -> int:
        if self.arithmetic == "exact":
            return stochastic_rank.FAITHFUL
        if not isinstance(self.convention, ERR):
            return stochastic_rank.AS_CATBOOST
        is_err = self.convention.discount == "reciprocal"
        return stochastic_rank.CATBOOST_ERR if is_err else stochastic_rank.CATBOOST_PFOUND


@dataclass(frozen=True, kw_only=True)
class StochasticFilter(Drawing):
    """StochasticFilter: expected FilteredDCG if each row is kept with probability 1 / (1 + exp(-sigma (s - B))).

    One draw keeps row i (kept_i = 1) with probability p_i, or drops it (kept_i = 0). With M the measure of the kept
    rows and M_0 that of the rows above the border, der_i = (kept_i - p_i) (M - M_0). Its expectation is the derivative
    by sigma s_i. Draws are averaged. The gradient is -der, and every hessian is 1.

    Parameters
    ----------
    convention
        Its `ties` are the order of the rows, and `retrieve` is the border B. Its `precision` must be `none`: rows are
        not ranked by score. Under `average="uniform"` weights are ignored.
    seed
        Each of 128 blocks of queries has its generator. Later calls draw new numbers.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.h, `TStochasticFilterError`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.catboost.stochastic_filter(num_estimations=100_000)
    >>> grad, _ = ra.objectives.gradients([1], [0.0], value, group_sizes=[1])
    >>> abs(float(grad[0]) + 0.25) < 0.001  # the derivative p (1 - p) at p = 1/2
    True
    """

    kind: ClassVar[str] = "stochastic-filter"

    convention: Annotated[FilteredDCG, ConventionField(group="tail", about="Gains, discounts and the border.")]
    sigma: Annotated[float, Field(group="value", about="Steepness of the probability.", numbers=Range(0, above=True))]
    estimations: Estimations
    seed: Seed

    def unify(self) -> None:
        """Require a FilteredDCG that drops rows by score, but does not rank by score."""
        require_filter(self.convention)

    def _kernel(self, queries: Queries, seed_of_call: Callable[[], np.uint64]) -> tuple[Kernel, Floats]:
        filtered, settings = filtered_rows(queries, self.convention), (self.sigma, self.estimations)

        def run(scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
            stochastic_filter_gradients(scores, filtered, *settings, seed_of_call(), first, last, grad, hess)
            yield ALL_FINITE

        return run, filtered.indptr * float(self.estimations * threads.ROW)


def copied(moves: Moves, scores: Array, first: int, last: int, copies: int) -> CopiedQueries:
    """Return queries `first` to `last - 1`, with offsets for noisy copies of those that have a gradient."""
    indptr, inverse = moves.rows.indptr[first : last + 1], moves.inverse[first:last]
    rows, sizes = slice(indptr[0], indptr[-1]), np.diff(indptr)
    copyptr = offsets(np.repeat(np.where((sizes > 1) & (inverse > 0), sizes, 0), copies))
    local = writable(np.ascontiguousarray(scores[caller_rows(moves, first, last)]))
    by_row = writable(moves.gains[rows]), writable(moves.rest[rows])
    order = kernel_order(moves.rows)
    return CopiedQueries(local, *by_row, writable(inverse), order, writable(indptr), copyptr, copies)


def caller_rows(moves: Moves, first: int, last: int) -> Any:
    """Return the rows of queries `first` to `last - 1`, as indices or a slice in the caller's order."""
    rows = slice(moves.rows.indptr[first], moves.rows.indptr[last])
    order = kernel_order(moves.rows)
    return order[rows] if order.size else rows


def row_portions(indptr: Ints, moves: int) -> Iterator[tuple[int, int]]:
    """Yield the row range of each kernel call: all rows, or parts of a single query that is too long for one call."""
    n, alone = int(indptr[-1] - indptr[0]), indptr.size == 2  # noqa: PLR2004 - the two offsets of one query
    step = max(threads.WORK_PER_CALL // max(moves, 1), 1) if alone else max(n, 1)
    for first in range(0, max(n, 1) if alone else 1, step):
        yield first, first + step


def noisy_rankings(
    queries: CopiedQueries, scores: Floats, noise: NoiseWord, scale: float, *, seeds: NDArray[np.uint64], k: int
) -> tuple[Floats, NDArray[np.int32], Ints]:
    """Return noisy copies of the scores, the first k rows of each copy, best first, and the offsets of these rows."""
    noisy = np.empty(int(queries.copyptr[-1]))
    kind = {"logistic": generators.LOGISTIC, "gauss": generators.GAUSS, "none": generators.NO_NOISE}[noise]
    generators.noisy_copies(queries, scores, kind, scale, seeds, noisy)
    rankedptr = offsets(np.minimum(np.diff(queries.copyptr), k))
    ranked = np.empty(int(rankedptr[-1]), np.int32)
    ties = False
    ranked_rows(noisy, ROW_ORDER, queries.copyptr, k, ties, rankedptr, ranked)
    return noisy, ranked, rankedptr


def work_of(moves: Moves, copies: int, by_row: Ints) -> Floats:
    """Return the cumulative work of the queries, given the work of one copy of a row after it was ranked."""
    costs = moves.rows.sizes * (copies * (by_row + NOISE * threads.ROW)).astype(np.float64)
    return np.concatenate([[0.0], np.cumsum(costs)])
