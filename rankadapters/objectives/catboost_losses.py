"""CatBoost's loss strings: what each means as an objective, and how an objective is written as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import number
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.core.presets.catboost_words import BOOLS, DENOMINATORS, TYPES
from rankadapters.core.presets.metric_strings import Reader, number_of, read_options, same_word_of, top_of, word_of
from rankadapters.core.presets.tool import no_others, spec_of
from rankadapters.objectives import catboost as own
from rankadapters.objectives.base import Objective, as_objective
from rankadapters.objectives.built_in import no_native, require_native
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.listwise import QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.objectives.pairwise import RankNet
from rankadapters.objectives.position_bias import PositionBias
from rankadapters.objectives.stochastic_filter import StochasticFilter
from rankadapters.objectives.stochastic_rank import StochasticRank
from rankadapters.objectives.yetirank import YetiRank

DIGITS = 20  # of the longest whole number of 64 bits with its sign
TRAIN = "ra.catboost.train takes any objective"

# Row order, in which LambdaMart ranks ties, and the one setting under which it does not train backwards.
NEWTON: dict[str, Any] = {"leaf_estimation_method": "Newton", "l2_leaf_reg": 0, "has_time": True}
BESIDE = (*NEWTON, "task_type")  # what `native_objective` gives beside the loss


def read_objective(objective: str | Mapping[str, Any], **params: Any) -> Objective:
    """Read what a loss string of CatBoost means, with CatBoost's defaults; the inverse of `native_objective`.

    Parameters
    ----------
    objective : str or mapping
        A loss with any of its parameters, in CatBoost's spelling, as given to `loss_function=`, or what
        `native_objective` returned.
    **params
        What `native_objective` gives beside the loss, which says nothing about it.

    Returns
    -------
    Objective
        What `ra.catboost.train`, `ra.lightgbm.objective` and `ra.xgboost.objective` train under. CatBoost's LambdaMart
        and StochasticRank ignore group weights, so that their conventions say `average="uniform"`. What draws at random
        has `seed=0`, in place of CatBoost's draws for each tree.

    Raises
    ------
    ConventionError
        Not a ranking loss that gradients row by row can express, a parameter that it does not have, or a value that
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
    text, beside = spec_of(objective, "loss_function", params)
    no_others(text, beside, BESIDE)
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

    LambdaMart always comes with Newton's leaves and `l2_leaf_reg=0`: CatBoost has the signs of both of its derivatives
    turned round, which cancel out in a Newton step without a ridge only. Under any other setting it trains backwards.

    Parameters
    ----------
    objective : Objective or str
        What CatBoost shall train under.
    position_bias : PositionBias or str, optional
        CatBoost has none.

    Returns
    -------
    dict
        `loss_function`, and what it needs beside it.

    Raises
    ------
    ConventionError
        The objective is none.
    UnsupportedConventionError
        CatBoost has no built-in objective that is the same; the message names the fields. Or there is a position bias.

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
    text, beside = WRITTEN[type(value)](value)
    try:
        nearest = read_objective(text)
    except ConventionError as error:
        msg = f"CatBoost has no built-in {value.kind} like this; {error}".partition("\nHint: ")[0]
        raise UnsupportedConventionError(f"{msg}\nHint: {TRAIN}.") from None
    ties = {each.to_dict()["convention"].to_dict().get("ties") for each in (value, nearest) if _has_ranks(each)}
    same = {"ties"} if ties == {"average", "input"} else set()  # which no gradient tells apart
    require_native("CatBoost", value, nearest, ignored={"seed", *same}, hint=TRAIN)  # CatBoost draws its own seeds
    return {"loss_function": text, **beside}


def _has_ranks(value: Objective) -> bool:
    return isinstance(value.to_dict().get("convention"), Convention)


def _metric(convention: Convention, prefix: str = "") -> tuple[str, list[str]]:
    """Name CatBoost's metric that is nearest to a convention, and its options that a loss takes."""
    name, _, options = presets.catboost.spell(presets.catboost.nearest(convention)).partition(":")
    taken = [option for option in options.split(";") if not option.startswith(("use_weights", "border", "top=-1"))]
    return name, [f"{prefix if option.startswith(('type', 'denominator')) else ''}{option}" for option in taken]


def _lambdamart(value: LambdaRank) -> tuple[str, dict[str, Any]]:
    name, options = _metric(value.convention)
    taken = options if isinstance(value.convention, NDCG) else []
    norm = "false" if value.normalization == "none" else "true"
    return f"LambdaMart:{';'.join([f'metric={name}', *taken, f'sigma={number(value.sigma)}', f'norm={norm}'])}", NEWTON


def _yetirank(value: YetiRank) -> tuple[str, dict[str, Any]]:
    name, options = ("Classic", [f"decay={number(value.decay)}"])
    if value.convention is not None:
        name, options = _metric(value.convention, "dcg_")
        options.append(f"num_neighbors={-1 if value.neighbors is None else value.neighbors}")
    [noise] = [word for word, noise in own.NOISES.items() if noise == value.noise]
    power = [f"noise_power={number(value.noise_power)}"] if noise == "Gauss" else []
    parts = [f"mode={name}", f"permutations={value.permutations}", *options, f"noise={noise}", *power]
    return f"YetiRank:{';'.join(parts)}", {"has_time": True} if noise == "No" else {}


def _stochastic_rank(value: StochasticRank) -> tuple[str, dict[str, Any]]:
    name, options = _metric(value.convention)
    numbers = {"sigma": value.sigma, "mu": value.mu, "nu": value.nu, "lambda": value.lambda_}
    parts = [f"metric={name}", *options, *(f"{word}={number(it)}" for word, it in numbers.items())]
    return f"StochasticRank:{';'.join(parts)};num_estimations={value.estimations}", {}


def _stochastic_filter(value: StochasticFilter) -> tuple[str, dict[str, Any]]:
    return f"StochasticFilter:sigma={number(value.sigma)};num_estimations={value.estimations}", {}


def _soft_max(value: QuerySoftMax) -> tuple[str, dict[str, Any]]:
    return f"QuerySoftMax:beta={number(value.beta)};lambda={number(value.ridge)}", {}


def _cross_entropy(value: QueryCrossEntropy) -> tuple[str, dict[str, Any]]:
    return f"QueryCrossEntropy:alpha={number(value.alpha)}", {"task_type": "GPU"}  # where alone CatBoost trains it


# How the nearest built-in objective is written: the loss string, and what it needs beside it.
WRITTEN: dict[type[Objective], Callable[[Any], tuple[str, dict[str, Any]]]] = {
    QueryRMSE: lambda _: ("QueryRMSE", {}),
    QuerySoftMax: _soft_max,
    QueryCrossEntropy: _cross_entropy,
    RankNet: lambda _: ("PairLogit", {}),
    LambdaRank: _lambdamart,
    YetiRank: _yetirank,
    StochasticRank: _stochastic_rank,
    StochasticFilter: _stochastic_filter,
}


def _count(text: str, name: str, value: str) -> int:
    """Read a whole number; what it may be the preset says."""
    if not (value.isascii() and value.removeprefix("-").isdigit()) or len(value) > DIGITS:
        msg = f"{text!r:.120} has {name}={value!r}; allowed are whole numbers.\nHint: {name}=10."
        raise ConventionError(msg)
    return int(value)


def _word(_: str, __: str, value: str) -> str:
    """Leave a word to the preset, which lists its choices."""
    return value


def _refused(why: str) -> Reader:
    """Make a reader of a parameter that is known, and has no declared meaning."""

    def reader(text: str, name: str, value: str) -> Any:
        raise ConventionError(f"{text!r:.120} has {name}={value}, {why}.\nHint: leave it out.")

    return reader


_TYPE, _DENOMINATOR = same_word_of(TYPES), same_word_of(DENOMINATORS)
_GAINS: dict[str, Reader] = {"metric": _word, "top": top_of, "type": _TYPE, "denominator": _DENOMINATOR}

# CatBoost's losses: the objective, and what reads each parameter into one of its arguments.
LOSSES: dict[str, tuple[Callable[..., Objective], dict[str, Reader]]] = {
    "QueryRMSE": (own.query_rmse, {}),
    "QuerySoftMax": (own.query_soft_max, {"beta": number_of, "lambda": number_of}),
    "PairLogit": (own.pair_logit, {"max_pairs": _refused("by which it draws pairs at random")}),
    "QueryCrossEntropy": (own.query_cross_entropy, {"alpha": number_of}),
    "LambdaMart": (own.lambdamart, {**_GAINS, "sigma": number_of, "norm": word_of(BOOLS)}),
    "YetiRank": (
        own.yetirank,
        {
            **dict.fromkeys(("mode", "noise"), _word),
            **dict.fromkeys(("permutations", "num_neighbors"), _count),
            **dict.fromkeys(("decay", "noise_power"), number_of),
            "top": top_of,
            "dcg_type": _TYPE,
            "dcg_denominator": _DENOMINATOR,
        },
    ),
    "StochasticRank": (
        own.stochastic_rank,
        {
            **_GAINS,
            **dict.fromkeys(("decay", "sigma", "mu", "nu", "lambda"), number_of),
            "num_estimations": _count,
        },
    ),
    "StochasticFilter": (own.stochastic_filter, {"sigma": number_of, "num_estimations": _count}),
}
