"""CatBoost's own ranking losses as declared objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.presets.catboost_words import BOOLS, DENOMINATORS, TYPES
from rankadapters.core.presets.metric_strings import Reader, number_of, read_options, same_word_of, top_of, word_of
from rankadapters.objectives import (
    LambdaRank,
    Objective,
    QueryRMSE,
    QuerySoftMax,
    pair_logit,
    query_cross_entropy,
    query_softmax,
)
from rankadapters.objectives.catboost_lambdamart import METRICS, catboost_lambdamart


def read_objective(text: str) -> Objective:
    """Read what a loss string of CatBoost means, with CatBoost's defaults.

    Parameters
    ----------
    text : str
        A loss with any of its parameters, in CatBoost's spelling, as given to `loss_function=`.

    Returns
    -------
    Objective
        What `ra.catboost.train`, `ra.lightgbm.objective` and `ra.xgboost.objective` train under. CatBoost's LambdaMart
        ignores group weights, so that its convention says `average="uniform"`.

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
    >>> read_objective("LambdaMart:metric=NDCG;top=10;type=Exp").convention.gain
    'exp2'
    """
    name, _, options = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name.endswith("Pairwise"):
        msg = f"{text!r:.80} solves a system over the leaves of a tree, which no gradient row by row can express."
        raise ConventionError(f"{msg}\nHint: {name.removesuffix('Pairwise')}, or train natively.")
    if name not in LOSSES:
        msg = f"{text!r:.80} is none of CatBoost's ranking losses {choices(LOSSES)}.\nHint: 'QueryRMSE'."
        raise ConventionError(msg)
    make, readers = LOSSES[name]
    return make(**read_options(text, options, readers))


def _lambdamart(*, k: int | None = None, **options: Any) -> LambdaRank:
    return catboost_lambdamart(top=-1 if k is None else k, **options)


def _refused(why: str) -> Reader:
    """Make a reader of a parameter that is known, and has no declared meaning."""

    def reader(text: str, name: str, value: str) -> Any:
        raise ConventionError(f"{text!r:.120} has {name}={value}, {why}.\nHint: leave it out.")

    return reader


def _softmax(*, beta: float = 1.0, **ridge: float) -> QuerySoftMax:
    return query_softmax(beta=beta, lambda_=ridge.get("lambda", 0.01))


# CatBoost's losses: the objective, and what reads each parameter into one of its arguments.
LOSSES: dict[str, tuple[Callable[..., Objective], dict[str, Reader]]] = {
    "QueryRMSE": (QueryRMSE, {}),
    "QuerySoftMax": (_softmax, {"beta": number_of, "lambda": number_of}),
    "PairLogit": (pair_logit, {"max_pairs": _refused("by which it draws pairs at random")}),
    "QueryCrossEntropy": (query_cross_entropy, {"alpha": number_of}),
    "LambdaMart": (
        _lambdamart,
        {
            "metric": same_word_of(dict.fromkeys(METRICS, "")),
            "top": top_of,
            "type": same_word_of(TYPES),
            "denominator": same_word_of(DENOMINATORS),
            "sigma": number_of,
            "norm": word_of(BOOLS),
        },
    ),
}
