"""CatBoost's built-in losses, with its parameter names and defaults, and its loss strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from rankadapters import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import is_whole, spell_number
from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.objectives.base import PRESETS, Objective
from rankadapters.objectives.built_in import BuiltIns
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.objectives.noisy import NoiseWord, StochasticFilter, StochasticRank, YetiRank
from rankadapters.objectives.pairwise import RankNet
from rankadapters.objectives.position_bias import PositionBias
from rankadapters.presets.catboost import (
    BOOLS,
    DENOMINATORS,
    TYPES,
    Reader,
    map_reader,
    read_float,
    read_options,
    read_top,
    word_reader,
)
from rankadapters.presets.tool import as_bool, one_of, refuse_unknown

__all__ = [
    "lambdamart",
    "native_objective",
    "pair_logit",
    "query_cross_entropy",
    "query_rmse",
    "query_soft_max",
    "read_objective",
    "stochastic_filter",
    "stochastic_rank",
    "yetirank",
]

Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]

DECAY = 0.85
UNCUT = -1  # CatBoost's value of `top` and `num_neighbors` for "all"
NOISES: dict[str, NoiseWord] = {"Gumbel": "logistic", "Gauss": "gauss", "No": "none"}
DCGS = ("DCG", "NDCG")
DIGITS = 20  # length of the longest 64-bit integer, with its sign
TRAIN = "ra.catboost.train takes any objective"

# LambdaMart breaks ties by row order, which `has_time` preserves. With any other leaf settings it trains backwards.
NEWTON: dict[str, Any] = {"leaf_estimation_method": "Newton", "l2_leaf_reg": 0, "has_time": True}
OTHER_PARAMS = (*NEWTON, "task_type")  # parameters that `native_objective` returns with the loss

list_public(__name__)


def pair_logit() -> RankNet:
    """Return CatBoost's PairLogit on all pairs of each group: RankNet without normalization.

    Examples
    --------
    >>> pair_logit().truncation is None
    True
    """
    return RankNet(truncation=None, samples=None, sigma=1.0, normalization="none", hessian="plain", sigmoid="exact")


def query_rmse() -> QueryRMSE:
    """Return CatBoost's QueryRMSE, which has no parameters.

    Examples
    --------
    >>> query_rmse()
    QueryRMSE()
    """
    return QueryRMSE()


def query_soft_max(*, beta: float = 1.0, lambda_: float = 0.01) -> QuerySoftMax:
    """Return CatBoost's QuerySoftMax with its defaults.

    Examples
    --------
    >>> query_soft_max()
    QuerySoftMax(beta=1.0, ridge=0.01)
    """
    return QuerySoftMax(beta=beta, ridge=QuerySoftMax.declared()["ridge"].check("lambda_", lambda_))


def query_cross_entropy(*, alpha: float = 0.95) -> QueryCrossEntropy:
    """Return CatBoost's QueryCrossEntropy with its default.

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
    type: Type = "Base",  # noqa: A002 - CatBoost's parameter name
    denominator: Denominator = "LogPosition",
    sigma: float = 1.0,
    norm: bool = True,
) -> LambdaRank:
    """Return CatBoost's `LambdaMart`, which ignores weights.

    As everywhere in this package, a step against the gradient improves the measure. CatBoost itself has both
    derivatives with the wrong sign. They cancel only in Newton's leaf values without regularization, CatBoost's
    defaults for this loss: `leaf_estimation_method="Newton"` and `l2_leaf_reg=0`.

    Parameters
    ----------
    metric : {'NDCG', 'DCG', 'MRR', 'ERR', 'MAP'}
        The measure that weighs a pair; DCG gives the same gradients as NDCG. For MAP and MRR, labels above 0 are
        relevant; for ERR, a label is the probability to stop. Under MRR, ERR and MAP a pair's weight is not the change
        of the measure.
    top : int
        For NDCG and DCG: a pair needs a row among this many top ranks, which also cut the ideal DCG; -1 for all.
    type, denominator : {'Base', 'Exp'}, {'LogPosition', 'Position'}
        For NDCG and DCG: gain label or 2^label - 1, discount 1/log2(i + 1) or 1/i at rank i.
    sigma : float
        Steepness of the sigmoid.
    norm : bool
        Whether each pair is divided by its score distance and each query scaled by its sum of lambdas.

    Raises
    ------
    ConventionError
        The metric is not one of these, a parameter has an invalid value, or the metric ignores the parameter.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: sums of gradients
    over leaves equal to 1e-12.

    Examples
    --------
    >>> lambdamart(metric="MAP").delta, lambdamart(top=10).truncation
    ('catboost', 10)
    """
    one_of("metric", metric, dict.fromkeys(("NDCG", "DCG", "MRR", "ERR", "MAP")))
    k = _none_if_all("top", top)
    _refuse_idle(metric, DCGS, top=(k, None), type=(type, "Base"), denominator=(denominator, "LogPosition"))
    convention: Any = _convention("NDCG" if metric in DCGS else metric, k, type, denominator, use_weights=False)
    return LambdaRank(
        convention=convention.replace(ties="input"), truncation=k, samples=None, sigma=sigma,
        normalization="xgboost" if as_bool("norm", norm) else "none", hessian="plain", sigmoid="exact", beyond_k="keep",
        delta="catboost",
    )  # fmt: skip


def stochastic_rank(
    metric: str,
    *,
    top: int = UNCUT,
    type: Type = "Base",  # noqa: A002 - CatBoost's parameter name
    denominator: Denominator = "LogPosition",
    decay: float = DECAY,
    sigma: float = 1.0,
    mu: float = 0.0,
    nu: float = 0.01,
    lambda_: float = 1.0,
    num_estimations: int = 1,
    seed: int = 0,
) -> StochasticRank:
    """Return CatBoost's StochasticRank, which ignores group weights; a call draws CatBoost's random numbers.

    CatBoost's estimate is not the metric's gradient under ERR, under PFound with `top`, or if sigma is not 1. The
    result has `arithmetic="catboost"` then; `.replace(arithmetic="exact")` corrects it.

    Parameters
    ----------
    metric : {'DCG', 'NDCG', 'PFound', 'ERR', 'MRR'}
        The metric to optimize. For CatBoost's FilteredDCG, use `stochastic_filter`.
    top : int
        Cutoff; -1 for none. Not allowed under MRR, where CatBoost's `top` cuts the moves but not the metric.
    type, denominator
        For DCG and NDCG: gain label or 2^label - 1, discount 1/log2(i + 1) or 1/i at rank i.
    decay : float
        For PFound: weight of a rank relative to the rank above.
    sigma, mu, nu, lambda_
        As in `StochasticRank`.
    num_estimations : int
        Number of draws to average.
    seed : int
        Seed of the first call. CatBoost draws a new seed for each tree.

    Raises
    ------
    ConventionError
        The metric is not one of these, or ignores a parameter that you gave.

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
    one_of("metric", metric, dict.fromkeys(("DCG", "NDCG", "PFound", "ERR", "MRR")))
    k = _none_if_all("top", top)
    _refuse_idle(metric, DCGS, type=(type, "Base"), denominator=(denominator, "LogPosition"))
    _refuse_idle(metric, ("PFound",), decay=(decay, DECAY))
    _refuse_idle(metric, (*DCGS, "PFound", "ERR"), top=(k, None))
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
    """Return CatBoost's YetiRank; a call draws CatBoost's random numbers.

    Parameters
    ----------
    mode : {'Classic', 'DCG', 'NDCG', 'MRR', 'ERR', 'MAP'}
        How pairs are weighted.
    permutations : int
        Number of noisy rankings.
    decay : float
        For `Classic`: weight of a pair relative to the pair above.
    top : int
        For the other modes: cutoff; -1 for none.
    dcg_type, dcg_denominator
        For DCG and NDCG: gain label or 2^label - 1, discount 1/log2(i + 1) or 1/i at rank i.
    num_neighbors : int
        For the other modes: number of next ranks that each row is paired with; -1 for all.
    noise : {'Gumbel', 'Gauss', 'No'}
        Distribution of the noise on the scores. The noise that CatBoost calls Gumbel is logistic.
    noise_power : float
        For `Gauss`: standard deviation.
    seed : int
        Seed of the first call. CatBoost draws new seeds for each tree.

    Raises
    ------
    ConventionError
        The mode or noise is not one of these, or ignores a parameter that you gave.

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
    one_of("mode", mode, dict.fromkeys(("Classic", *DCGS, "MRR", "ERR", "MAP")))
    k, neighbors = _none_if_all("top", top), _none_if_all("num_neighbors", num_neighbors)
    of_dcg = {"dcg_type": (dcg_type, "Base"), "dcg_denominator": (dcg_denominator, "LogPosition")}
    _refuse_idle(mode, DCGS, "mode", **of_dcg)
    _refuse_idle(mode, (*DCGS, "MRR", "ERR", "MAP"), "mode", top=(k, None), num_neighbors=(neighbors, 1))
    _refuse_idle(mode, ("Classic",), "mode", decay=(decay, DECAY))
    kind: NoiseWord = one_of("noise", noise, NOISES)
    _refuse_idle(noise, ("Gauss",), "noise", noise_power=(noise_power, 1))
    classic = mode == "Classic"
    return YetiRank(
        delta="classic" if classic else "catboost",
        convention=None if classic else _convention(mode, k, dcg_type, dcg_denominator, use_weights=True),
        permutations=permutations, neighbors=neighbors, decay=decay, noise=kind, noise_power=noise_power, seed=seed,
    )  # fmt: skip


def stochastic_filter(*, sigma: float = 1.0, num_estimations: int = 1, seed: int = 0) -> StochasticFilter:
    """Return CatBoost's StochasticFilter, which ignores group weights; a call draws CatBoost's random numbers.

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
    """Return the convention of a CatBoost metric; labels above 0 are relevant."""
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


def _none_if_all(name: str, number: object) -> int | None:
    """Return a positive whole number unchanged, but None for -1, by which CatBoost means all."""
    if not is_whole(number) or not (int(number) >= 1 or int(number) == UNCUT):
        msg = f"{name}={number!r}; allowed are whole numbers from 1 on, and {UNCUT} for all."
        raise ConventionError(msg)
    return None if int(number) == UNCUT else int(number)


def _refuse_idle(choice: str, users: tuple[str, ...], of: str = "metric", **parameters: tuple[Any, object]) -> None:
    """Refuse a parameter that CatBoost would ignore, if its value differs from its default; an array always does."""
    for name, (value, default) in parameters.items():
        if choice not in users and bool(getattr(value, "shape", ()) or value != default):
            msg = f"{name} belongs to {of} {choices(users)}, not to {of}={choice!r}, where CatBoost ignores it."
            raise ConventionError(msg, hint=f"leave {name} out")


def _has_ranks(value: Objective) -> bool:
    return isinstance(value.to_dict().get("convention"), Convention)


def _spell(loss: str, options: Mapping[str, str | float]) -> str:
    """Return a loss string, with numbers in their shortest exact form."""
    return f"{loss}:{';'.join(f'{name}={v if isinstance(v, str) else spell_number(v)}' for name, v in options.items())}"


def _metric(convention: Convention, prefix: str = "") -> tuple[str, dict[str, str]]:
    """Return the CatBoost metric nearest to a convention, and the metric options that a loss accepts."""
    metric, _, options = presets.catboost.spell(presets.catboost.nearest(convention)).partition(":")
    pairs = dict(option.split("=") for option in options.split(";") if option not in {"", "top=-1"})
    prefixes = {"top": "", "decay": "", "type": prefix, "denominator": prefix}
    return metric, {f"{prefixes[name]}{name}": value for name, value in pairs.items() if name in prefixes}


def _lambdamart(value: LambdaRank) -> str:
    metric, options = _metric(value.convention)
    used = options if isinstance(value.convention, NDCG) else {}
    norm = "false" if value.normalization == "none" else "true"
    return _spell("LambdaMart", {"metric": metric, **used, "sigma": value.sigma, "norm": norm})


def _yetirank(value: YetiRank) -> str:
    mode, options = "Classic", {"decay": spell_number(value.decay)}
    if value.convention is not None:
        mode, options = _metric(value.convention, "dcg_")
        options["num_neighbors"] = str(UNCUT if value.neighbors is None else value.neighbors)
    [noise] = [word for word, noise in NOISES.items() if noise == value.noise]
    power = {"noise_power": value.noise_power} if noise == "Gauss" else {}
    return _spell("YetiRank", {"mode": mode, "permutations": value.permutations, **options, "noise": noise, **power})


def _stochastic_rank(value: StochasticRank) -> str:
    metric, options = _metric(value.convention)
    numbers = {"sigma": value.sigma, "mu": value.mu, "nu": value.nu, "lambda": value.lambda_}
    return _spell("StochasticRank", {"metric": metric, **options, **numbers, "num_estimations": value.estimations})


# For each objective, a function that returns the nearest loss string.
WRITTEN: dict[type[Objective], Callable[[Any], str]] = {
    QueryRMSE: lambda _: "QueryRMSE",
    QuerySoftMax: lambda value: _spell("QuerySoftMax", {"beta": value.beta, "lambda": value.ridge}),
    QueryCrossEntropy: lambda value: _spell("QueryCrossEntropy", {"alpha": value.alpha}),
    RankNet: lambda _: "PairLogit",
    LambdaRank: _lambdamart,
    YetiRank: _yetirank,
    StochasticRank: _stochastic_rank,
    StochasticFilter: lambda value: _spell(
        "StochasticFilter", {"sigma": value.sigma, "num_estimations": value.estimations}
    ),
}


def _other_params(value: Objective) -> dict[str, Any]:
    """Return the parameters that a loss needs besides `loss_function`."""
    if isinstance(value, LambdaRank):
        return NEWTON
    if isinstance(value, QueryCrossEntropy):
        return {"task_type": "GPU"}  # CatBoost has no CPU version
    return {"has_time": True} if isinstance(value, YetiRank) and value.noise == "none" else {}


def _count(text: str, name: str, value: str) -> int:
    """Read a whole number; the preset checks its range."""
    if not (value.isascii() and value.removeprefix("-").isdigit()) or len(value) > DIGITS:
        msg = f"{text!r:.120} has {name}={value!r}; allowed are whole numbers."
        raise ConventionError(msg, hint=f"{name}=10")
    return int(value)


def _word(_: str, __: str, value: str) -> str:
    """Return a word unchanged; the preset checks it."""
    return value


def _refused(why: str) -> Reader:
    """Return a reader that refuses a parameter which CatBoost has but no objective here can express."""

    def reader(text: str, name: str, value: str) -> Any:
        raise ConventionError(f"{text!r:.120} has {name}={value}, {why}.", hint="leave it out")

    return reader


_TYPE, _DENOMINATOR = word_reader(TYPES), word_reader(DENOMINATORS)
_GAINS: dict[str, Reader] = {"metric": _word, "top": read_top, "type": _TYPE, "denominator": _DENOMINATOR}

# For each CatBoost loss, a function that makes the objective, and a reader for each parameter of the loss.
LOSSES: dict[str, tuple[Callable[..., Objective], dict[str, Reader]]] = {
    "QueryRMSE": (query_rmse, {}),
    "QuerySoftMax": (query_soft_max, {"beta": read_float, "lambda": read_float}),
    "PairLogit": (pair_logit, {"max_pairs": _refused("by which it draws pairs at random")}),
    "QueryCrossEntropy": (query_cross_entropy, {"alpha": read_float}),
    "LambdaMart": (lambdamart, {**_GAINS, "sigma": read_float, "norm": map_reader(BOOLS)}),
    "YetiRank": (
        yetirank,
        {
            **dict.fromkeys(("mode", "noise"), _word),
            **dict.fromkeys(("permutations", "num_neighbors"), _count),
            **dict.fromkeys(("decay", "noise_power"), read_float),
            "top": read_top,
            "dcg_type": _TYPE,
            "dcg_denominator": _DENOMINATOR,
        },
    ),
    "StochasticRank": (
        stochastic_rank,
        {
            **_GAINS,
            **dict.fromkeys(("decay", "sigma", "mu", "nu", "lambda"), read_float),
            "num_estimations": _count,
        },
    ),
    "StochasticFilter": (stochastic_filter, {"sigma": read_float, "num_estimations": _count}),
}


class CatBoostObjectives(BuiltIns):
    """CatBoost's ranking losses, as loss strings."""

    toolkit = "CatBoost"
    presets = LOSSES
    key = "loss_function"
    hint = TRAIN

    def _read(self, text: Any, params: Mapping[str, Any]) -> Objective:
        """Read a loss string, catboost/private/libs/options/loss_description.cpp."""
        refuse_unknown(text, params, OTHER_PARAMS)
        name, _, options = text.partition(":") if isinstance(text, str) else ("", "", "")
        if name.endswith("Pairwise"):
            msg = f"{text!r:.80} solves a system over the leaves of a tree, which no gradient row by row can express."
            raise ConventionError(msg, hint=f"{name.removesuffix('Pairwise')}, or train natively")
        if name not in LOSSES:
            msg = f"{text!r:.80} is none of CatBoost's ranking losses {choices(LOSSES)}."
            raise ConventionError(msg, hint="'QueryRMSE'")
        make, readers = LOSSES[name]
        arguments = read_options(text, options, readers)
        cutoff = arguments.pop("k", None)
        if cutoff is not None:
            arguments["top"] = cutoff
        if name == "StochasticRank" and "metric" not in arguments:
            msg = "StochasticRank has no metric, which has no default."
            raise ConventionError(msg, hint="'StochasticRank:metric=NDCG'")
        return make(**{"lambda_" if word == "lambda" else word: value for word, value in arguments.items()})

    def _write(self, value: Objective) -> dict[str, Any]:
        if type(value) not in WRITTEN:
            raise self._no_native(value)
        text = WRITTEN[type(value)](value)
        try:
            nearest = self._read(text, {})
        except ConventionError as error:
            msg = f"CatBoost has no built-in {value.kind} like this; {error}".partition("\nHint: ")[0]
            raise UnsupportedConventionError(msg, hint=TRAIN) from None
        ties = {side.to_dict()["convention"].to_dict().get("ties") for side in (value, nearest) if _has_ranks(side)}
        same = {"ties"} if ties == {"average", "input"} else set()  # gradients rank ties in row order under both
        self._require_native(value, nearest, ignored={"seed", *same})  # CatBoost makes its own seeds
        return {"loss_function": text, **_other_params(value)}

    def _write_bias(self, bias: PositionBias, _: Mapping[str, Any]) -> dict[str, Any]:
        msg = f"CatBoost has no built-in position bias, so not {bias}."
        raise UnsupportedConventionError(msg, hint="LightGBM and XGBoost have one")


_built_ins = CatBoostObjectives()
native_objective, read_objective = _built_ins.native_objective, _built_ins.read_objective
PRESETS["catboost"] = {
    "pair_logit": pair_logit, "query_rmse": query_rmse, "query_soft_max": query_soft_max,
    "query_cross_entropy": query_cross_entropy, "lambdamart": lambdamart, "yetirank": yetirank,
    "stochastic_filter": stochastic_filter,
}  # fmt: skip
