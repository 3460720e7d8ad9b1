"""StochasticRank: derivatives of a measure's expectation under noise, by moving one row at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures import ERR
from rankadapters.objectives.base import ConventionField, Objective
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.kernels import stochastic_rank as kernels
from rankadapters.objectives.kernels.stochastic_rank import Exploring
from rankadapters.objectives.moves import moves_of, require_moves
from rankadapters.objectives.noise_fields import Arithmetic, Estimations, NoiseScale, Seed
from rankadapters.objectives.noisy_gradients import Draws, stochastic_rank


@dataclass(frozen=True, kw_only=True)
class StochasticRank(Objective):
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

    @property
    def idle(self) -> frozenset[str]:
        """Fields with no effect in training: they concern queries without a gradient, unjudged rows, or ties."""
        return frozenset({"empty", "missing", "unjudged", "ties", "precision"})

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries; the state is the number of calls."""
        exploring = Exploring(self.sigma, self.mu, self.nu, self.lambda_, self.estimations, self._departure)
        moves, draws = moves_of(queries, self.convention), Draws(self.seed, state)
        return stochastic_rank(self, queries, moves, exploring, draws, n_threads=n_threads)

    @property
    def _departure(self) -> int:

        if self.arithmetic == "exact":
            return kernels.FAITHFUL
        if not isinstance(self.convention, ERR):
            return kernels.AS_CATBOOST
        return kernels.CATBOOST_ERR if self.convention.discount == "reciprocal" else kernels.CATBOOST_PFOUND
