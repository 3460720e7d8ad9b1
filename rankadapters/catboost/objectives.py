"""Objectives and conventions as CatBoost's own losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from rankadapters.catboost.losses import LOSSES, read_objective
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import number
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import DCG, NDCG
from rankadapters.core.presets.catboost_words import DENOMINATORS, TYPES, largest_or_all, nearest_gain
from rankadapters.core.presets.options import one_of
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import differing, spelled
from rankadapters.objectives import (
    LambdaRank,
    Objective,
    QueryCrossEntropy,
    QueryRMSE,
    QuerySoftMax,
    RankNet,
    StochasticFilter,
    StochasticRank,
    YetiRank,
)
from rankadapters.objectives.catboost_random import NOISES

Loss = Literal["LambdaMart", "YetiRank", "StochasticRank"]
HINT = "\nHint: "
TRAIN = "ra.catboost.train takes any objective"


def native_objective(
    value: Objective | Convention | str, *, loss: Loss | None = None, group_weights: bool = True
) -> dict[str, Any]:
    """Translate an objective, or a convention that is to be trained under, into CatBoost's own parameters.

    Of a convention the nearest of CatBoost's losses that move its metric: LambdaMart, YetiRank, StochasticRank. All
    three take gains `linear` and `exp2`, discounts `log2` and `reciprocal`, and an ideal list cut at k; queries without
    a gradient count nothing, whatever `empty` says. Beyond k, LambdaMart keeps the discounts, the others cut them.

    LambdaMart always comes with Newton's leaves and `l2_leaf_reg=0`: CatBoost has the signs of both of its derivatives
    turned round, which cancel out in a Newton step without a ridge only. Under any other setting it trains backwards.

    Parameters
    ----------
    value : Objective or Convention or str
        What CatBoost shall train under: an objective that it has built in, or an NDCG or DCG.
    loss : {'LambdaMart', 'YetiRank', 'StochasticRank'}, optional
        Of a convention: which loss; by default the first that honours every field.
    group_weights : bool
        Of a convention: whether the data may have group weights, which YetiRank counts and the others ignore.

    Returns
    -------
    dict
        `loss_function`, and what it needs beside it.

    Raises
    ------
    ConventionError
        The value is neither an objective nor a convention, or `loss` is unknown or comes with an objective.
    UnsupportedConventionError
        CatBoost has no built-in objective that is the same, or no loss that honours the fields that the message names.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`,
    `TStochasticRankError`; catboost/private/libs/algo/yetirank_helpers.cpp.

    Examples
    --------
    >>> native_objective(presets.textbook(10))["loss_function"]
    'LambdaMart:metric=NDCG;top=10;type=Exp;denominator=LogPosition;sigma=1;norm=true'
    >>> native_objective(QueryRMSE())
    {'loss_function': 'QueryRMSE'}
    """
    if isinstance(value, Objective):
        if loss is not None:
            msg = f"loss={loss!r} is for a convention, but {value.kind} says itself which loss it is."
            raise ConventionError(f"{msg}\nHint: leave loss out.")
        return _of_objective(value)
    convention = as_convention(value)
    if not isinstance(convention, NDCG | DCG):
        msg = f"CatBoost's losses that move a metric were compared with NDCG and DCG only, not with {convention}."
        raise UnsupportedConventionError(f"{msg}\nHint: {TRAIN}.")
    if loss is not None:
        one_of("loss", loss, NATIVE)
    unmet: dict[str, NDCG | DCG] = {}
    for name in NATIVE if loss is None else (loss,):
        nearest_of, written = NATIVE[name]
        nearest = nearest_of(convention, group_weights=group_weights)
        if not differing(convention, nearest):
            return written(nearest)
        unmet[name] = nearest
    name = min(unmet, key=lambda each: len(differing(convention, unmet[each])))
    msg = f"CatBoost's {name} cannot honour {spelled(differing(convention, unmet[name]))}."
    hint = f"the nearest is {unmet[name]}; {TRAIN}"
    raise UnsupportedConventionError(f"{msg}\nHint: {hint}.", nearest=unmet[name])


def _of_objective(value: Objective) -> dict[str, Any]:
    """Write an objective that CatBoost has built in."""
    if type(value) not in WRITTEN:
        msg = f"CatBoost has no built-in {value.kind}; its own are {choices(LOSSES)}."
        raise UnsupportedConventionError(f"{msg}\nHint: {TRAIN}.")
    text, beside = WRITTEN[type(value)](value)
    try:
        nearest = read_objective(text)
    except ConventionError as error:
        msg = f"CatBoost has no built-in {value.kind} like this; {error}"
        raise UnsupportedConventionError(f"{msg.partition(HINT)[0]}\nHint: {TRAIN}.") from None
    _require_same(value, nearest)
    return {"loss_function": text, **beside}


def _require_same(wanted: Objective, nearest: Objective) -> None:
    """Refuse an objective that differs from the nearest built-in one in anything a gradient depends on."""
    different = dict(wanted.diff(nearest))
    mine, theirs = (each.to_dict().get("convention") for each in (wanted, nearest))
    if isinstance(mine, Convention) and isinstance(theirs, Convention):
        different |= mine.diff(theirs)
        if {mine.to_dict().get("ties"), theirs.to_dict().get("ties")} == {"average", "input"}:
            different.pop("ties")  # which no gradient tells apart
    ignored = {"convention", "seed", *wanted.idle}  # CatBoost draws seeds of its own
    found = {name: pair for name, pair in different.items() if name not in ignored}
    if found:
        wants, has = (", ".join(f"{name}={pair[side]}" for name, pair in found.items()) for side in (0, 1))
        msg = f"CatBoost has no built-in objective with {wants}; the nearest has {has}."
        raise UnsupportedConventionError(f"{msg}\nHint: {TRAIN}.", nearest=nearest)


# Row order, in which LambdaMart ranks ties, and the one setting under which it does not train backwards.
NEWTON: dict[str, Any] = {"leaf_estimation_method": "Newton", "l2_leaf_reg": 0, "has_time": True}


def _nearest(convention: NDCG | DCG, **fields: Any) -> NDCG | DCG:
    """Give the nearest of what the three losses have in common, with some fields of one of them."""
    common: dict[str, Any] = {
        "k": largest_or_all(convention.k),
        "gain": convention.gain if convention.gain in TYPES.values() else nearest_gain(convention.gain),
        "discount": convention.discount if convention.discount in DENOMINATORS.values() else "log2",
        "ideal": "cutoff",
        "precision": "float64",
        "short": "pad",
    }
    return convention.replace(**{name: each for name, each in common.items() if name in convention.fields()}, **fields)


def _nearest_lambdamart(convention: NDCG | DCG, *, group_weights: bool) -> NDCG | DCG:
    ties = convention.ties if convention.ties in {"input", "average"} else "input"
    average = "uniform" if group_weights else convention.average
    if isinstance(convention, DCG):  # which LambdaMart calls one of its metrics, and trains as NDCG
        return _nearest(presets.catboost(convention.k).replace(ties=ties, average=average))
    return _nearest(convention, ties=ties, average=average)


def _nearest_yetirank(convention: NDCG | DCG, *, group_weights: bool) -> NDCG | DCG:
    ties = convention.ties if convention.ties in {"input", "average"} else "average"
    weighted = convention.weighting is not None or not group_weights
    return _nearest(convention, ties=ties, average=convention.average if weighted else "query")


def _nearest_stochastic_rank(convention: NDCG | DCG, *, group_weights: bool) -> NDCG | DCG:
    return _nearest(convention, ties="average", average="uniform" if group_weights else convention.average)


def _options(convention: NDCG | DCG, prefix: str = "") -> str:
    """Write what the three losses say in the same words."""
    [type_] = [word for word, gain in TYPES.items() if gain == convention.gain]
    [denominator] = [word for word, discount in DENOMINATORS.items() if discount == convention.discount]
    k = -1 if convention.k is None else convention.k
    return f"top={k};{prefix}type={type_};{prefix}denominator={denominator}"


def _lambdamart_loss(convention: NDCG | DCG, sigma: float = 1.0, *, norm: bool = True) -> str:
    return f"LambdaMart:metric=NDCG;{_options(convention)};sigma={number(sigma)};norm={'true' if norm else 'false'}"


def _metric(convention: Convention, prefix: str = "") -> tuple[str, list[str]]:
    """Name CatBoost's metric that is nearest to a convention, and its options that a loss takes."""
    name, _, options = presets.catboost.spell(presets.catboost.nearest(convention)).partition(":")
    taken = [option for option in options.split(";") if not option.startswith(("use_weights", "border", "top=-1"))]
    return name, [f"{prefix if option.startswith(('type', 'denominator')) else ''}{option}" for option in taken]


def _lambdamart(value: LambdaRank) -> tuple[str, dict[str, Any]]:
    norm = value.normalization != "none"
    if isinstance(value.convention, NDCG):
        nearest = _nearest_lambdamart(value.convention, group_weights=True)
        return _lambdamart_loss(nearest, value.sigma, norm=norm), NEWTON
    name, _ = _metric(value.convention)
    return f"LambdaMart:metric={name};sigma={number(value.sigma)};norm={'true' if norm else 'false'}", NEWTON


def _yetirank(value: YetiRank) -> tuple[str, dict[str, Any]]:
    name, options = ("Classic", [f"decay={number(value.decay)}"])
    if value.convention is not None:
        name, options = _metric(value.convention, "dcg_")
        options.append(f"num_neighbors={-1 if value.neighbors is None else value.neighbors}")
    [noise] = [word for word, noise in NOISES.items() if noise == value.noise]
    power = [f"noise_power={number(value.noise_power)}"] if noise == "Gauss" else []
    parts = [f"mode={name}", f"permutations={value.permutations}", *options, f"noise={noise}", *power]
    return f"YetiRank:{';'.join(parts)}", {"has_time": True} if noise == "No" else {}


def _stochastic_rank(value: StochasticRank) -> tuple[str, dict[str, Any]]:
    name, options = _metric(value.convention)
    numbers = {"sigma": value.sigma, "mu": value.mu, "nu": value.nu, "lambda": value.lambda_}
    parts = [f"metric={name}", *options, *(f"{each}={number(it)}" for each, it in numbers.items())]
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


def _lambdamart_params(convention: NDCG | DCG) -> dict[str, Any]:
    return {"loss_function": _lambdamart_loss(convention), **NEWTON}


def _yetirank_params(convention: NDCG | DCG) -> dict[str, Any]:
    text = f"YetiRank:mode={convention.measure.upper()};{_options(convention, 'dcg_')}"
    if convention.ties == "input":
        return {"loss_function": f"{text};noise=No", "has_time": True}
    return {"loss_function": text}


def _stochastic_rank_params(convention: NDCG | DCG) -> dict[str, Any]:
    return {"loss_function": f"StochasticRank:metric={convention.measure.upper()};{_options(convention)}"}


# What each loss honours of a convention, and how it is written; by preference.
NATIVE: dict[str, tuple[Callable[..., NDCG | DCG], Callable[[NDCG | DCG], dict[str, Any]]]] = {
    "LambdaMart": (_nearest_lambdamart, _lambdamart_params),
    "YetiRank": (_nearest_yetirank, _yetirank_params),
    "StochasticRank": (_nearest_stochastic_rank, _stochastic_rank_params),
}
