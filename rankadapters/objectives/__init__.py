"""Training objectives as declared values: LambdaRank for a given convention, RankNet, listwise objectives, presets.

The path of a gradient: `LambdaRank.bind` takes gains, discounts and divisors from `moves.py` and a kernel from
`pair_gradients.py`, which ranks the rows and calls machine code for a limited number of ranks at a time. There,
`kernels/pairs.py` adds up the pairs, weighted by `kernels/changes.py`; `kernels/replicas.py` takes its place for
LightGBM's and XGBoost's arithmetic, random pairs and position biases. `bound_gradients.py` runs the kernel on chunks of
queries in threads, and multiplies the gradients by weights.
"""

from __future__ import annotations

from typing import Any, Unpack

from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import as_queries
from rankadapters.core.declaration.declared import with_fields
from rankadapters.core.declaration.guesses import list_public
from rankadapters.objectives import catboost, lightgbm, xgboost
from rankadapters.objectives.base import OBJECTIVES, Objective, as_objective, parse
from rankadapters.objectives.lambda_rank import LambdaRank, lambdarank
from rankadapters.objectives.listwise import XENDCG, ListMLE, ListNet, QueryCrossEntropy, QueryRMSE, QuerySoftMax
from rankadapters.objectives.ndcg_losses import ApproxNDCG, LambdaLoss
from rankadapters.objectives.noisy import StochasticFilter, StochasticRank, YetiRank
from rankadapters.objectives.pairwise import LambdaMAP, RankNet
from rankadapters.objectives.position_bias import (
    POSITION_BIASES,
    AddedBiases,
    AdditiveBias,
    BiasRatios,
    PairRatios,
    PositionBias,
    parse_position_bias,
    unbiased_lambdamart,
)

__all__ = [
    "XENDCG",
    "AddedBiases",
    "AdditiveBias",
    "ApproxNDCG",
    "BiasRatios",
    "LambdaLoss",
    "LambdaMAP",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "Objective",
    "PairRatios",
    "PositionBias",
    "QueryCrossEntropy",
    "QueryRMSE",
    "QuerySoftMax",
    "RankNet",
    "StochasticFilter",
    "StochasticRank",
    "YetiRank",
    "catboost",
    "gradients",
    "lambdarank",
    "lightgbm",
    "parse",
    "parse_position_bias",
    "unbiased_lambdamart",
    "xgboost",
]


for declared in (*OBJECTIVES.values(), *POSITION_BIASES.values()):
    declared.__doc__ = with_fields(declared.__doc__ or "", declared.declared())

list_public(__name__)


def gradients(
    labels: object,
    scores: object,
    objective: Objective | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> tuple[Any, Any]:
    """Return the gradients of an objective in its first round.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better.
    objective : Objective or str
        The objective, its signature, or the name of a preset.
    n_threads : int, optional
        None uses all CPUs. The result is the same for any number.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`. Query weights multiply the gradients. Under `hessian="doubled"`, as in XGBoost's presets, they
        are first divided by their mean. (`ra.xgboost.objective` divides them under every objective.)

    Returns
    -------
    grad, hess : float32 arrays, shape (n_docs,)
        First and second derivatives of the loss by each score.

    Raises
    ------
    InputError
        A score is not finite, or the labels do not fit the objective.

    Examples
    --------
    >>> grad, hess = gradients([2, 0, 1], [0.1, 0.2, 0.3], "catboost.pair_logit", group_sizes=[3])
    >>> [f"{g:.3f}" for g in grad]
    ['-1.075', '1.000', '0.075']
    """
    return as_objective(objective).bind(as_queries(labels, **columns), n_threads=n_threads).gradients(scores)
