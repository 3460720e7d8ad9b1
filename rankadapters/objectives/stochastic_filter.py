"""StochasticFilter: learn which rows to keep, by keeping random samples of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.measures import FilteredDCG
from rankadapters.objectives.base import ConventionField, Objective
from rankadapters.objectives.bound_gradients import Gradients
from rankadapters.objectives.moves import filtered_rows, require_filter
from rankadapters.objectives.noise_fields import Estimations, Seed
from rankadapters.objectives.noisy_gradients import Draws, stochastic_filter


@dataclass(frozen=True, kw_only=True)
class StochasticFilter(Objective):
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

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries; the state is the number of calls."""
        filtered, draws = filtered_rows(queries, self.convention), Draws(self.seed, state)
        settings: dict[str, Any] = {"sigma": self.sigma, "estimations": self.estimations}
        return stochastic_filter(self, queries, filtered, draws, **settings, n_threads=n_threads)
