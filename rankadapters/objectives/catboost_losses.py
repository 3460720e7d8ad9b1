"""Read CatBoost's loss strings as objectives, and write objectives as loss strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankadapters import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import number
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.objectives import catboost as losses
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.built_in import no_native, require_native
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.objectives.noisy import StochasticFilter, StochasticRank, YetiRank
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
from rankadapters.presets.tool import refuse_unknown, split_spec

DIGITS = 20  # length of the longest 64-bit integer, with its sign
TRAIN = "ra.catboost.train takes any objective"

# LambdaMart breaks ties by row order, which `has_time` preserves. With any other leaf settings it trains backwards.
NEWTON: dict[str, Any] = {"leaf_estimation_method": "Newton", "l2_leaf_reg": 0, "has_time": True}
OTHER_PARAMS = (*NEWTON, "task_type")  # parameters that `native_objective` returns with the loss


def read_objective(objective: str | Mapping[str, Any], **params: Any) -> Objective:
    """Read a CatBoost loss string as an objective, with CatBoost's defaults; the inverse of `native_objective`.

    Parameters
    ----------
    objective : str or mapping
        A loss with any of its parameters, in CatBoost's spelling, as in `loss_function=`, or a result of
        `native_objective`.
    **params
        Parameters that `native_objective` returns with the loss; they do not change the objective.

    Returns
    -------
    Objective
        For `ra.catboost.train`, `ra.lightgbm.objective` and `ra.xgboost.objective`. CatBoost's LambdaMart and
        StochasticRank ignore group weights, so their conventions have `average="uniform"`. Objectives that draw at
        random have `seed=0`, where CatBoost draws a new seed for each tree.

    Raises
    ------
    ConventionError
        The string is not a ranking loss with a gradient for each row, or has an unknown parameter or a value that
        CatBoost refuses.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/options/loss_description.cpp; catboost/private/libs/algo_helpers/
    error_functions.cpp.

    Examples
    --------
    >>> read_objective("QuerySoftMax:beta=2")
    QuerySoftMax(beta=2.0, ridge=0.01)
    >>> read_objective("StochasticRank:metric=NDCG;top=2;type=Exp").convention.gain
    'exp2'
    """
    text, other_params = split_spec(objective, "loss_function", params)
    refuse_unknown(text, other_params, OTHER_PARAMS)
    name, _, options = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name.endswith("Pairwise"):
        msg = f"{text!r:.80} solves a system over the leaves of a tree, which no gradient row by row can express."
        raise ConventionError(f"{msg}\nHint: {name.removesuffix('Pairwise')}, or train natively.")
    if name not in LOSSES:
        msg = f"{text!r:.80} is none of CatBoost's ranking losses {choices(LOSSES)}.\nHint: 'QueryRMSE'."
        raise ConventionError(msg)
    make, readers = LOSSES[name]
    arguments = read_options(text, options, readers)
    cutoff = arguments.pop("k", None)
    if cutoff is not None:
        arguments["top"] = cutoff
    if name == "StochasticRank" and "metric" not in arguments:
        msg = "StochasticRank has no metric, which has no default.\nHint: 'StochasticRank:metric=NDCG'."
        raise ConventionError(msg)
    return make(**{"lambda_" if word == "lambda" else word: value for word, value in arguments.items()})


def native_objective(objective: Objective | str, *, position_bias: PositionBias | str | None = None) -> dict[str, Any]:
    """Translate an objective into CatBoost's own parameters; `read_objective` reads them back.

    LambdaMart always comes with Newton's leaves and `l2_leaf_reg=0`. CatBoost has the wrong sign in both derivatives,
    which cancels only in a Newton step without regularization. Under any other setting it trains backwards.

    Parameters
    ----------
    objective : Objective or str
        The objective to train under.
    position_bias : PositionBias or str, optional
        Must be None: CatBoost has no position bias.

    Returns
    -------
    dict
        `loss_function`, and the other parameters that it needs.

    Raises
    ------
    ConventionError
        The value is not an objective.
    UnsupportedConventionError
        CatBoost has no equal built-in objective (the message names the fields), or there is a position bias.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`.

    Examples
    --------
    >>> native_objective("catboost.query_rmse")
    {'loss_function': 'QueryRMSE'}
    """
    value = as_objective(objective)
    if position_bias is not None:
        msg = f"CatBoost has no built-in position bias, so not {position_bias}.\nHint: LightGBM and XGBoost have one."
        raise UnsupportedConventionError(msg)
    if type(value) not in WRITTEN:
        raise no_native("CatBoost", value, LOSSES, TRAIN)
    text = WRITTEN[type(value)](value)
    try:
        nearest = read_objective(text)
    except ConventionError as error:
        msg = f"CatBoost has no built-in {value.kind} like this; {error}".partition("\nHint: ")[0]
        raise UnsupportedConventionError(f"{msg}\nHint: {TRAIN}.") from None
    ties = {side.to_dict()["convention"].to_dict().get("ties") for side in (value, nearest) if _has_ranks(side)}
    same = {"ties"} if ties == {"average", "input"} else set()  # gradients rank ties in row order under both
    require_native("CatBoost", value, nearest, ignored={"seed", *same}, hint=TRAIN)  # CatBoost makes its own seeds
    return {"loss_function": text, **_other_params(value)}


def _has_ranks(value: Objective) -> bool:
    return isinstance(value.to_dict().get("convention"), Convention)


def _spell(loss: str, options: Mapping[str, str | float]) -> str:
    """Return a loss string, with numbers in their shortest exact form."""
    return f"{loss}:{';'.join(f'{name}={v if isinstance(v, str) else number(v)}' for name, v in options.items())}"


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
    mode, options = "Classic", {"decay": number(value.decay)}
    if value.convention is not None:
        mode, options = _metric(value.convention, "dcg_")
        options["num_neighbors"] = str(losses.UNCUT if value.neighbors is None else value.neighbors)
    [noise] = [word for word, noise in losses.NOISES.items() if noise == value.noise]
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
        msg = f"{text!r:.120} has {name}={value!r}; allowed are whole numbers.\nHint: {name}=10."
        raise ConventionError(msg)
    return int(value)


def _word(_: str, __: str, value: str) -> str:
    """Return a word unchanged; the preset checks it."""
    return value


def _refused(why: str) -> Reader:
    """Return a reader that refuses a parameter which CatBoost has but no objective here can express."""

    def reader(text: str, name: str, value: str) -> Any:
        raise ConventionError(f"{text!r:.120} has {name}={value}, {why}.\nHint: leave it out.")

    return reader


_TYPE, _DENOMINATOR = word_reader(TYPES), word_reader(DENOMINATORS)
_GAINS: dict[str, Reader] = {"metric": _word, "top": read_top, "type": _TYPE, "denominator": _DENOMINATOR}

# For each CatBoost loss, a function that makes the objective, and a reader for each parameter of the loss.
LOSSES: dict[str, tuple[Callable[..., Objective], dict[str, Reader]]] = {
    "QueryRMSE": (losses.query_rmse, {}),
    "QuerySoftMax": (losses.query_soft_max, {"beta": read_float, "lambda": read_float}),
    "PairLogit": (losses.pair_logit, {"max_pairs": _refused("by which it draws pairs at random")}),
    "QueryCrossEntropy": (losses.query_cross_entropy, {"alpha": read_float}),
    "LambdaMart": (losses.lambdamart, {**_GAINS, "sigma": read_float, "norm": map_reader(BOOLS)}),
    "YetiRank": (
        losses.yetirank,
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
        losses.stochastic_rank,
        {
            **_GAINS,
            **dict.fromkeys(("decay", "sigma", "mu", "nu", "lambda"), read_float),
            "num_estimations": _count,
        },
    ),
    "StochasticFilter": (losses.stochastic_filter, {"sigma": read_float, "num_estimations": _count}),
}
