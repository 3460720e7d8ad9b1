"""The data as CatBoost holds it, and its own value for them."""

from __future__ import annotations

from typing import Any

import catboost as cb
import numpy as np
from catboost.utils import eval_metric
from numpy.typing import NDArray

from rankadapters.core.columns import as_numbers, same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.queries import Queries
from rankadapters.parity import Held, Toolkit
from rankadapters.parity.data import as_float32, in_order

Array = NDArray[Any]
Floats = NDArray[np.float64]

CATBOOST = Toolkit(name="CatBoost", package="catboost", version=cb.__version__)


def as_held(queries: Queries, scores: Array, *notes: str) -> Held:
    """Bring the queries together, with labels and weights rounded as CatBoost rounds them."""
    labels, weights = as_float32("labels", queries.labels, "CatBoost"), queries.query_weight
    rounded = [] if (labels == queries.labels).all() else ["labels"]
    if weights is not None:
        weights = as_float32("query_weight", weights, "CatBoost")
        rounded += [] if (weights == queries.query_weight).all() else ["query_weight"]
    if rounded:
        notes = (f"{' and '.join(rounded)} rounded to float32, as CatBoost holds them.", *notes)
    held, rows = in_order(queries, labels=labels, query_weight=weights)
    return Held(queries=held, scores=scores[rows], notes=notes)


def refuse_negative(queries: Queries, convention: Convention) -> None:
    """Refuse labels that CatBoost's exponential gain takes and ours does not."""
    negative = queries.labels < 0
    if getattr(convention, "gain", "") == "exp2" and negative.any():
        row = int(np.argmax(negative))
        msg = (
            f"labels[{row}] is {queries.labels[row]:g}, negative: CatBoost's type=Exp counts 2^label - 1 < 0 for it, "
            "our exp2 refuses it.\nHint: gain='linear' (type=Base) takes negative labels as they are."
        )
        raise InputError(msg)


def refuse_pairs(convention: Convention) -> None:
    """Refuse what a check cannot ask: CatBoost makes and weighs pairs in a Pool only.

    Raises
    ------
    UnsupportedConventionError
        The convention is over pairs.
    """
    if convention.over == "pairs":
        msg = (
            "catboost.utils.eval_metric makes no pairs of labels and takes no weights of pairs, so that PairAccuracy "
            "is not asked for.\nHint: model.eval_metrics(pool, ['PairAccuracy']) beside ra.evaluate(..., pairs=...)."
        )
        raise UnsupportedConventionError(msg)


def weights_of_rows(group_weight: object, queries: Queries) -> tuple[Floats, int | None]:
    """Take CatBoost's `group_weight`, one per row, as it does: each query's first row; and the first that varies."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    first, varies = queries.per_query(weights)
    return first, None if varies < 0 else varies


def ask(queries: Queries, scores: Array, metric: str, **weights: Any) -> float:
    """CatBoost's own value of contiguous queries; it wants group weights by row."""
    sizes = np.diff(queries.indptr)
    by_row = np.repeat(np.arange(sizes.size), sizes)
    if "group_weight" not in weights and queries.query_weight is not None:
        # Group weights do not reach AUC, object weights do.
        weights["weight" if metric.startswith("AUC") else "group_weight"] = queries.query_weight[by_row]
    if queries.row_weight is not None:
        weights["weight"] = queries.row_weight
    approx = scores.astype(np.float64)
    try:
        [value] = eval_metric(queries.labels, approx, metric, group_id=by_row, thread_count=1, **weights)
    except cb.CatBoostError as error:
        msg = f"catboost refuses: {sentence(error)}.\nHint: mend the data, or leave catboost out."
        raise InputError(msg) from error
    return float(value)


def sentence(error: BaseException) -> str:
    """What CatBoost says, without the place in its source."""
    text = " ".join(str(error).split())
    return (text.partition(": ")[2] if text.partition(": ")[0].rpartition(":")[2].isdigit() else text)[:300].rstrip(".")
