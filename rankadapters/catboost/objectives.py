"""Translate conventions into CatBoost's own losses that optimize a metric."""

from __future__ import annotations

from typing import Any, Literal

from rankadapters import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import UnsupportedConventionError
from rankadapters.core.measures import DCG, NDCG
from rankadapters.objectives import Objective, catboost
from rankadapters.objectives.catboost import TRAIN, native_objective
from rankadapters.presets.catboost import DENOMINATORS, TYPES, largest_or_all, nearest_gain
from rankadapters.presets.texts import as_convention
from rankadapters.presets.tool import as_bool, one_of
from rankadapters.presets.vocabulary import differing, spelled

Loss = Literal["LambdaMart", "YetiRank", "StochasticRank"]
LOSSES: tuple[Loss, ...] = ("LambdaMart", "YetiRank", "StochasticRank")  # the preferred loss first


def native_loss(
    convention: Convention | str, *, loss: Loss | None = None, group_weights: bool = True
) -> dict[str, Any]:
    """Translate a convention into the parameters of a CatBoost loss that optimizes it.

    LambdaMart, YetiRank and StochasticRank support gains `linear` and `exp2`, discounts `log2` and `reciprocal`, and an
    ideal list cut at k. Queries without a gradient have no effect, so `empty` does not matter. Beyond k, LambdaMart
    keeps the discounts; the others cut them.

    Parameters
    ----------
    convention : Convention or str
        An NDCG or DCG.
    loss : {'LambdaMart', 'YetiRank', 'StochasticRank'}, optional
        The loss; by default the first that supports every field.
    group_weights : bool
        Whether the data may have group weights, which YetiRank uses and the others ignore.

    Returns
    -------
    dict
        As returned by `native_objective`.

    Raises
    ------
    ConventionError
        `loss` is unknown.
    UnsupportedConventionError
        CatBoost has no loss that supports the fields that the message names.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`,
    `TStochasticRankError`; catboost/private/libs/algo/yetirank_helpers.cpp.

    Examples
    --------
    >>> native_loss(presets.textbook(10))["loss_function"]
    'LambdaMart:metric=NDCG;top=10;type=Exp;denominator=LogPosition;sigma=1;norm=true'
    """
    convention = as_convention(convention)
    if not isinstance(convention, NDCG | DCG):
        msg = f"CatBoost's losses that optimize a metric are verified only for NDCG and DCG, not for {convention}."
        raise UnsupportedConventionError(msg, hint=TRAIN)
    as_bool("group_weights", group_weights)
    if loss is not None:
        one_of("loss", loss, dict.fromkeys(LOSSES))
    unmet: dict[str, NDCG | DCG] = {}
    for name in LOSSES if loss is None else (loss,):
        nearest = _nearest(name, convention, group_weights=group_weights)
        if not differing(convention, nearest):
            return native_objective(_objective(name, nearest))
        unmet[name] = nearest
    best = min(unmet, key=lambda name: len(differing(convention, unmet[name])))
    msg = f"CatBoost's {best} cannot express {spelled(differing(convention, unmet[best]))}."
    raise UnsupportedConventionError(msg, hint=f"the nearest is {unmet[best]}; {TRAIN}", nearest=unmet[best])


def _nearest(name: Loss, convention: NDCG | DCG, *, group_weights: bool) -> NDCG | DCG:
    """Return the nearest convention that the loss `name` can optimize."""
    ties, average = convention.ties, convention.average
    if name == "StochasticRank" or (name == "YetiRank" and ties != "input"):
        ties = "average"
    elif ties != "average":
        ties = "input"
    if name != "YetiRank" and group_weights:
        average = "uniform"
    elif name == "YetiRank" and group_weights and convention.weighting is None:
        average = "query"
    if name == "LambdaMart" and isinstance(convention, DCG):  # LambdaMart accepts DCG but trains NDCG
        convention = presets.catboost(convention.k)
    fields: dict[str, Any] = {
        "k": largest_or_all(convention.k),
        "gain": convention.gain if convention.gain in TYPES.values() else nearest_gain(convention.gain),
        "discount": convention.discount if convention.discount in DENOMINATORS.values() else "log2",
        "ideal": "cutoff", "precision": "float64", "short": "pad", "ties": ties, "average": average,
    }  # fmt: skip
    return convention.replace(**{field: value for field, value in fields.items() if field in convention.fields()})


def _objective(name: Loss, convention: NDCG | DCG) -> Objective:
    """Return the objective with which the loss `name` optimizes a convention that it supports."""
    [type_] = [word for word, gain in TYPES.items() if gain == convention.gain]
    [denominator] = [word for word, discount in DENOMINATORS.items() if discount == convention.discount]
    top, metric = -1 if convention.k is None else convention.k, convention.measure.upper()
    words: dict[str, Any] = {"type": type_, "denominator": denominator}
    if name == "YetiRank":
        of_dcg = {f"dcg_{word}": value for word, value in words.items()}
        return catboost.yetirank(mode=metric, top=top, noise="No" if convention.ties == "input" else "Gumbel", **of_dcg)
    if name == "LambdaMart":
        return catboost.lambdamart(top=top, **words)
    return catboost.stochastic_rank(metric, top=top, **words)
