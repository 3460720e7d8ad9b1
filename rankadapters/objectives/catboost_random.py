"""CatBoost's losses that draw at random, with its parameter names and defaults."""

from __future__ import annotations

from typing import Any, Literal

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError, choices
from rankadapters.objectives.base import as_choice
from rankadapters.objectives.noise_fields import NoiseWord, PairWeightWord
from rankadapters.objectives.stochastic_filter import StochasticFilter
from rankadapters.objectives.stochastic_rank import StochasticRank
from rankadapters.objectives.yetirank import YetiRank

Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]

DECAY = 0.85
UNCUT = -1  # CatBoost's `top` and `num_neighbors` for all
NOISES: dict[str, NoiseWord] = {"Gumbel": "logistic", "Gauss": "gauss", "No": "none"}
RELEVANT = {"border": 0}  # any label above 0


def catboost_stochastic_rank(
    metric: str,
    *,
    top: int = UNCUT,
    type: Type = "Base",  # noqa: A002 - CatBoost's own parameter name
    denominator: Denominator = "LogPosition",
    decay: float = DECAY,
    sigma: float = 1.0,
    mu: float = 0.0,
    nu: float = 0.01,
    lambda_: float = 1.0,
    num_estimations: int = 1,
    seed: int = 0,
) -> StochasticRank:
    """CatBoost's StochasticRank, with the random numbers of one of its calls; group weights are ignored, as there.

    Under ERR CatBoost does not estimate the metric's gradient, nor under PFound with `top`, nor with another sigma than
    1: `arithmetic="catboost"` says so, and `.replace(arithmetic="exact")` mends it.

    Parameters
    ----------
    metric : {'DCG', 'NDCG', 'PFound', 'ERR', 'MRR'}
        What is optimised. CatBoost also has FilteredDCG, for which take `catboost_stochastic_filter`.
    top : int
        Cutoff; -1 is none. Under MRR CatBoost's `top` cuts the moves and not the metric, which is not replayed.
    type, denominator
        Of DCG and NDCG: gain l or 2^l - 1, discount 1/log2(i + 1) or 1/i.
    decay : float
        Of PFound.
    sigma, mu, nu, lambda_
        As in `StochasticRank`.
    num_estimations : int
        How many draws are averaged.
    seed : int
        Seed of the first call. CatBoost draws one for each tree.

    Raises
    ------
    ConventionError
        The metric is not one of these, or does not know a parameter that was given.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TStochasticRankError`. Run: leaf values
    equal to 1e-12.

    Examples
    --------
    >>> value = catboost_stochastic_rank("NDCG", top=10)
    >>> value.convention.name, value.lambda_
    ('ndcg@10/catboost+average=uniform', 1.0)
    """
    as_choice("metric", metric, ("DCG", "NDCG", "PFound", "ERR", "MRR"))
    k, of_dcg = _top(top), {"type": type, "denominator": denominator}
    _refuse_idle(metric, {"type": type != "Base", "denominator": denominator != "LogPosition"}, ("DCG", "NDCG"))
    _refuse_idle(metric, {"decay": decay != DECAY}, ("PFound",))
    _refuse_idle(metric, {"top": k is not None}, ("DCG", "NDCG", "PFound", "ERR"))
    convention = _convention(metric, k, of_dcg, decay, use_weights=False)
    return StochasticRank(
        convention=convention, sigma=sigma, mu=mu, nu=nu, lambda_=lambda_, estimations=num_estimations,
        arithmetic="catboost", seed=seed,
    )  # fmt: skip


def catboost_yetirank(
    *,
    mode: str = "Classic",
    permutations: int = 10,
    decay: float = DECAY,
    top: int = UNCUT,
    dcg_type: Type = "Base",
    dcg_denominator: Denominator = "LogPosition",
    num_neighbors: int = 1,
    noise: str = "Gumbel",
    noise_power: float = 1.0,
    seed: int = 0,
) -> YetiRank:
    """CatBoost's YetiRank, with the random numbers of one of its calls.

    Parameters
    ----------
    mode : {'Classic', 'DCG', 'NDCG', 'MRR', 'ERR', 'MAP'}
        What a pair weighs.
    permutations : int
        How many rankings there are.
    decay : float
        Of `Classic`.
    top : int
        Cutoff, of the other modes; -1 is none.
    dcg_type, dcg_denominator
        Of DCG and NDCG: gain l or 2^l - 1, discount 1/log2(i + 1) or 1/i.
    num_neighbors : int
        With how many of the next ranks a row is paired, in the other modes; -1 is all.
    noise : {'Gumbel', 'Gauss', 'No'}
        What is added to the scores; what CatBoost calls Gumbel has the logistic distribution.
    noise_power : float
        Standard deviation of `Gauss`.
    seed : int
        Seed of the first call. CatBoost draws several for each tree.

    Raises
    ------
    ConventionError
        The mode or noise is not one of these, or does not know a parameter that was given.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo/yetirank_helpers.cpp. Run: leaf values equal to 1e-12.

    Examples
    --------
    >>> catboost_yetirank(mode="NDCG", top=10).convention.name
    'ndcg@10/catboost'
    >>> catboost_yetirank().decay
    0.85
    """
    as_choice("mode", mode, ("Classic", "DCG", "NDCG", "MRR", "ERR", "MAP"))
    as_choice("noise", noise, tuple(NOISES))
    k, of_dcg = _top(top), {"type": dcg_type, "denominator": dcg_denominator}
    neighbors = _all_or("num_neighbors", num_neighbors)
    given = {"dcg_type": dcg_type != "Base", "dcg_denominator": dcg_denominator != "LogPosition"}
    _refuse_idle(mode, given, ("DCG", "NDCG"), "mode")
    given = {"top": k is not None, "num_neighbors": neighbors != 1}
    _refuse_idle(mode, given, ("DCG", "NDCG", "MRR", "ERR", "MAP"), "mode")
    _refuse_idle(mode, {"decay": decay != DECAY}, ("Classic",), "mode")
    _refuse_idle(noise, {"noise_power": noise_power != 1}, ("Gauss",), "noise")
    delta: PairWeightWord = "classic" if mode == "Classic" else "catboost"
    convention = None if mode == "Classic" else _convention(mode, k, of_dcg, decay, use_weights=True)
    return YetiRank(
        delta=delta, convention=convention, permutations=permutations, neighbors=neighbors, decay=decay,
        noise=NOISES[noise], noise_power=noise_power, seed=seed,
    )  # fmt: skip


def catboost_stochastic_filter(*, sigma: float = 1.0, num_estimations: int = 1, seed: int = 0) -> StochasticFilter:
    """CatBoost's StochasticFilter, with the random numbers of one of its calls; group weights are ignored, as there.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.h, `TStochasticFilterError`. Run: leaf values
    equal to 1e-12.

    Examples
    --------
    >>> catboost_stochastic_filter().convention.name
    'filtered-dcg@all/catboost.filtered_dcg'
    """
    return StochasticFilter(
        convention=presets.catboost.filtered_dcg(), sigma=sigma, estimations=num_estimations, seed=seed
    )


def _convention(metric: str, k: int | None, of_dcg: dict[str, Any], decay: float, *, use_weights: bool) -> Convention:
    tool: Any = presets.catboost
    counted = {"use_weights": use_weights}
    makers: dict[str, Any] = {
        "NDCG": lambda: tool(k, **of_dcg, **counted),
        "DCG": lambda: tool.dcg(k, **of_dcg, **counted),
        "PFound": lambda: tool.pfound(k, decay=decay, **counted),
        "ERR": lambda: tool.err(k, **counted),
        "MRR": lambda: tool.mrr(k, **RELEVANT, **counted),
        "MAP": lambda: tool.map(k, **RELEVANT).replace(average="query" if use_weights else "uniform"),
    }
    found: Convention = makers[metric]()
    return found


def _top(top: object) -> int | None:
    return _all_or("top", top)


def _all_or(name: str, number: object) -> int | None:
    """Read CatBoost's number, of which -1 means all."""
    if not is_whole(number) or not (int(number) >= 1 or int(number) == UNCUT):
        msg = f"{name}={number!r}; allowed are whole numbers from 1 on, or {UNCUT} for all."
        raise ConventionError(msg)
    return None if int(number) == UNCUT else int(number)


def _refuse_idle(choice: str, given: dict[str, bool], known: tuple[str, ...], of: str = "metric") -> None:
    """Refuse a parameter that CatBoost would ignore."""
    for name, is_given in given.items():
        if is_given and choice not in known:
            msg = f"{name} belongs to {of} {choices(known)}, not to {of}={choice!r}, where CatBoost ignores it."
            raise ConventionError(f"{msg}\nHint: leave {name} out.")
