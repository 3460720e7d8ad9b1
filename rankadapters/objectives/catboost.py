"""CatBoost's own losses, with its parameter names and defaults."""

from __future__ import annotations

from typing import Any, Literal

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.presets.options import flag, one_of
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.objectives.noise_fields import NoiseWord
from rankadapters.objectives.pairwise import RankNet
from rankadapters.objectives.stochastic_filter import StochasticFilter
from rankadapters.objectives.stochastic_rank import StochasticRank
from rankadapters.objectives.yetirank import YetiRank

Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]

DECAY = 0.85
UNCUT = -1  # CatBoost's `top` and `num_neighbors` for all
NOISES: dict[str, NoiseWord] = {"Gumbel": "logistic", "Gauss": "gauss", "No": "none"}
DCGS = ("DCG", "NDCG")


def pair_logit() -> RankNet:
    """RankNet over all pairs with nothing normalised: CatBoost's PairLogit on the pairs of its groups.

    Examples
    --------
    >>> pair_logit().truncation is None
    True
    """
    return RankNet(truncation=None, samples=None, sigma=1.0, normalization="none", hessian="plain", sigmoid="exact")


def query_rmse() -> QueryRMSE:
    """CatBoost's QueryRMSE, which has no parameters.

    Examples
    --------
    >>> query_rmse()
    QueryRMSE()
    """
    return QueryRMSE()


def query_soft_max(*, beta: float = 1.0, lambda_: float = 0.01) -> QuerySoftMax:
    """CatBoost's QuerySoftMax with its defaults.

    Examples
    --------
    >>> query_soft_max()
    QuerySoftMax(beta=1.0, ridge=0.01)
    """
    return QuerySoftMax(beta=beta, ridge=QuerySoftMax.declared()["ridge"].check("lambda_", lambda_))


def query_cross_entropy(*, alpha: float = 0.95) -> QueryCrossEntropy:
    """CatBoost's QueryCrossEntropy with its default.

    Examples
    --------
    >>> query_cross_entropy()
    QueryCrossEntropy(alpha=0.95)
    """
    return QueryCrossEntropy(alpha=alpha)


def lambdamart(
    *,
    metric: str = "NDCG",
    top: int = UNCUT,
    type: Type = "Base",  # noqa: A002 - CatBoost's own parameter name
    denominator: Denominator = "LogPosition",
    sigma: float = 1.0,
    norm: bool = True,
) -> LambdaRank:
    """CatBoost's `LambdaMart`, which ignores weights.

    Its gradients are descent's, as everywhere here. CatBoost itself has both derivatives with the wrong sign, which
    only Newton's leaf values without regularisation cancel: its defaults, `leaf_estimation_method="Newton"` and
    `l2_leaf_reg=0`.

    Parameters
    ----------
    metric : {'NDCG', 'DCG', 'MRR', 'ERR', 'MAP'}
        What weighs a pair; DCG is the same as NDCG. Of MAP and MRR a label above 0 is relevant, of ERR a label is the
        probability to stop. The weights of MRR, ERR and MAP are not the changes of these measures.
    top : int
        Of NDCG and DCG: the first row of a pair is among so many, and the ideal DCG is cut there; -1 is all.
    type, denominator : {'Base', 'Exp'}, {'LogPosition', 'Position'}
        Of NDCG and DCG: gain l or 2^l - 1, discount 1/log2(i + 1) or 1/i.
    sigma : float
        Steepness of the sigmoid.
    norm : bool
        Whether pairs are divided by their score distance and queries scaled by their sum of lambdas.

    Raises
    ------
    ConventionError
        Another metric, a value that a parameter does not take, or a parameter that the metric ignores.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: sums of gradients
    over leaves equal to 1e-12.

    Examples
    --------
    >>> lambdamart(metric="MAP").delta, lambdamart(top=10).truncation
    ('catboost', 10)
    """
    _word("metric", metric, ("NDCG", "DCG", "MRR", "ERR", "MAP"))
    k = _all_or("top", top)
    given = {"top": k is not None, "type": type != "Base", "denominator": denominator != "LogPosition"}
    _refuse_idle(metric, given, DCGS)
    convention: Any = _convention("NDCG" if metric in DCGS else metric, k, type, denominator, use_weights=False)
    return LambdaRank(
        convention=convention.replace(ties="input"), truncation=k, samples=None, sigma=sigma,
        normalization="xgboost" if flag("norm", norm) else "none", hessian="plain", sigmoid="exact", beyond_k="keep",
        delta="catboost",
    )  # fmt: skip


def stochastic_rank(
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
        What is optimised. CatBoost also has FilteredDCG, for which take `stochastic_filter`.
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
    >>> value = stochastic_rank("NDCG", top=10)
    >>> value.convention.name, value.lambda_
    ('ndcg@10/catboost+average=uniform', 1.0)
    """
    _word("metric", metric, ("DCG", "NDCG", "PFound", "ERR", "MRR"))
    k = _all_or("top", top)
    _refuse_idle(metric, {"type": type != "Base", "denominator": denominator != "LogPosition"}, DCGS)
    _refuse_idle(metric, {"decay": decay != DECAY}, ("PFound",))
    _refuse_idle(metric, {"top": k is not None}, (*DCGS, "PFound", "ERR"))
    return StochasticRank(
        convention=_convention(metric, k, type, denominator, decay, use_weights=False), sigma=sigma, mu=mu, nu=nu,
        lambda_=lambda_, estimations=num_estimations, arithmetic="catboost", seed=seed,
    )  # fmt: skip


def yetirank(
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
    >>> yetirank(mode="NDCG", top=10).convention.name
    'ndcg@10/catboost'
    >>> yetirank().decay
    0.85
    """
    _word("mode", mode, ("Classic", *DCGS, "MRR", "ERR", "MAP"))
    k, neighbors = _all_or("top", top), _all_or("num_neighbors", num_neighbors)
    given = {"dcg_type": dcg_type != "Base", "dcg_denominator": dcg_denominator != "LogPosition"}
    _refuse_idle(mode, given, DCGS, "mode")
    given = {"top": k is not None, "num_neighbors": neighbors != 1}
    _refuse_idle(mode, given, (*DCGS, "MRR", "ERR", "MAP"), "mode")
    _refuse_idle(mode, {"decay": decay != DECAY}, ("Classic",), "mode")
    kind: NoiseWord = one_of("noise", noise, NOISES)
    _refuse_idle(noise, {"noise_power": noise_power != 1}, ("Gauss",), "noise")
    classic = mode == "Classic"
    return YetiRank(
        delta="classic" if classic else "catboost",
        convention=None if classic else _convention(mode, k, dcg_type, dcg_denominator, use_weights=True),
        permutations=permutations, neighbors=neighbors, decay=decay, noise=kind, noise_power=noise_power, seed=seed,
    )  # fmt: skip


def stochastic_filter(*, sigma: float = 1.0, num_estimations: int = 1, seed: int = 0) -> StochasticFilter:
    """CatBoost's StochasticFilter, with the random numbers of one of its calls; group weights are ignored, as there.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.h, `TStochasticFilterError`. Run: leaf values
    equal to 1e-12.

    Examples
    --------
    >>> stochastic_filter().convention.name
    'filtered-dcg@all/catboost.filtered_dcg'
    """
    convention = presets.catboost.filtered_dcg()
    return StochasticFilter(convention=convention, sigma=sigma, estimations=num_estimations, seed=seed)


def _convention(
    metric: str, k: int | None, type_: Type, denominator: Denominator, decay: float = DECAY, *, use_weights: bool
) -> Convention:
    """Return the convention of one of CatBoost's metrics; any label above 0 is relevant."""
    tool: Any = presets.catboost
    of_dcg = {"type": type_, "denominator": denominator, "use_weights": use_weights}
    makers: dict[str, Any] = {
        "NDCG": lambda: tool(k, **of_dcg),
        "DCG": lambda: tool.dcg(k, **of_dcg),
        "PFound": lambda: tool.pfound(k, decay=decay, use_weights=use_weights),
        "ERR": lambda: tool.err(k, use_weights=use_weights),
        "MRR": lambda: tool.mrr(k, border=0, use_weights=use_weights),
        "MAP": lambda: tool.map(k, border=0).replace(average="query" if use_weights else "uniform"),
    }
    convention: Convention = makers[metric]()
    return convention


def _word(name: str, value: str, words: tuple[str, ...]) -> None:
    """Refuse what is not one of CatBoost's words."""
    one_of(name, value, dict.fromkeys(words))


def _all_or(name: str, number: object) -> int | None:
    """Return CatBoost's number, of which -1 means all."""
    if not is_whole(number) or not (int(number) >= 1 or int(number) == UNCUT):
        msg = f"{name}={number!r}; allowed are whole numbers from 1 on, and {UNCUT} for all."
        raise ConventionError(msg)
    return None if int(number) == UNCUT else int(number)


def _refuse_idle(choice: str, given: dict[str, bool], known: tuple[str, ...], of: str = "metric") -> None:
    """Refuse a parameter that CatBoost would ignore."""
    for name, is_given in given.items():
        if is_given and choice not in known:
            msg = f"{name} belongs to {of} {choices(known)}, not to {of}={choice!r}, where CatBoost ignores it."
            raise ConventionError(f"{msg}\nHint: leave {name} out.")
