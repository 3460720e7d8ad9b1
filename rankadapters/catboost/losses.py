"""CatBoost's own ranking losses as declared objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.presets.catboost_words import BOOLS, DENOMINATORS, TYPES
from rankadapters.core.presets.metric_strings import Reader, number_of, read_options, same_word_of, top_of, word_of
from rankadapters.objectives import (
    Objective,
    QueryRMSE,
    StochasticRank,
    catboost_lambdamart,
    catboost_stochastic_filter,
    catboost_stochastic_rank,
    catboost_yetirank,
    pair_logit,
    query_cross_entropy,
    query_softmax,
)

DIGITS = 20  # of the longest whole number of 64 bits with its sign


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
    name, _, options = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name.endswith("Pairwise"):
        msg = f"{text!r:.80} solves a system over the leaves of a tree, which no gradient row by row can express."
        raise ConventionError(f"{msg}\nHint: {name.removesuffix('Pairwise')}, or train natively.")
    if name not in LOSSES:
        msg = f"{text!r:.80} is none of CatBoost's ranking losses {choices(LOSSES)}.\nHint: 'QueryRMSE'."
        raise ConventionError(msg)
    make, readers = LOSSES[name]
    return make(**read_options(text, options, readers))


def _by_top(make: Callable[..., Objective]) -> Callable[..., Objective]:
    """Make what takes a cutoff as `read_options` reads it, and the names of parameters as CatBoost spells them."""

    def made(*, k: int | None = None, **options: Any) -> Objective:
        cutoff = {} if k is None else {"top": k}
        return make(**cutoff, **{"lambda_" if name == "lambda" else name: value for name, value in options.items()})

    return made


def _stochastic_rank(*, metric: str | None = None, **options: Any) -> StochasticRank:
    if metric is None:
        msg = "StochasticRank has no metric, which has no default.\nHint: 'StochasticRank:metric=NDCG'."
        raise ConventionError(msg)
    return catboost_stochastic_rank(metric, **options)


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


_GAINS: dict[str, Reader] = {
    "top": top_of, "type": same_word_of(TYPES), "denominator": same_word_of(DENOMINATORS)
}  # fmt: skip

# CatBoost's losses: the objective, and what reads each parameter into one of its arguments.
LOSSES: dict[str, tuple[Callable[..., Objective], dict[str, Reader]]] = {
    "QueryRMSE": (QueryRMSE, {}),
    "QuerySoftMax": (_by_top(query_softmax), {"beta": number_of, "lambda": number_of}),
    "PairLogit": (pair_logit, {"max_pairs": _refused("by which it draws pairs at random")}),
    "QueryCrossEntropy": (query_cross_entropy, {"alpha": number_of}),
    "LambdaMart": (
        _by_top(catboost_lambdamart),
        {"metric": _word, **_GAINS, "sigma": number_of, "norm": word_of(BOOLS)},
    ),
    "YetiRank": (
        _by_top(catboost_yetirank),
        {
            "mode": _word,
            "permutations": _count,
            "decay": number_of,
            "top": top_of,
            "dcg_type": same_word_of(TYPES),
            "dcg_denominator": same_word_of(DENOMINATORS),
            "num_neighbors": _count,
            "noise": _word,
            "noise_power": number_of,
        },
    ),
    "StochasticRank": (
        _by_top(_stochastic_rank),
        {
            "metric": _word,
            **_GAINS,
            **dict.fromkeys(("decay", "sigma", "mu", "nu", "lambda"), number_of),
            "num_estimations": _count,
        },
    ),
    "StochasticFilter": (catboost_stochastic_filter, {"sigma": number_of, "num_estimations": _count}),
}
