"""The data as CatBoost holds it, and what it says of those that it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import as_numbers, same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError, UnsupportedConventionError
from rankadapters.core.queries import Queries
from rankadapters.parity import Held
from rankadapters.parity.data import as_float32, in_order

Array = NDArray[Any]
Floats = NDArray[np.float64]

ROUTE = "catboost.utils.eval_metric"


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


def with_weights(queries: Queries, group_weight: object, weight: object) -> tuple[Queries, dict[str, Any], list[str]]:
    """Add CatBoost's own weights: to the queries, to what it is given besides, and what is to be said of them."""
    given: dict[str, Any] = {}
    notes = []
    if group_weight is not None:
        if queries.query_weight is not None:
            msg = "query_weight and group_weight say the same, by query and by row.\nHint: give one of them."
            raise InputError(msg)
        weights, varies = weights_of_rows(group_weight, queries)
        if varies is not None:
            notes.append(
                f"group_weight varies within query {queries.query_ids[varies]}: {ROUTE} silently "
                "takes each query's first row's, and so does our value here; a Pool refuses such weights."
            )
            given["group_weight"] = queries.by_query(np.asarray(group_weight, np.float64))
        queries = queries.with_weights(weights)
    if weight is not None:
        given["weight"] = queries.by_query(np.asarray(weight, np.float64))
        notes.append("weight= holds object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts.")
    return queries, given, notes


def sentence(error: BaseException) -> str:
    """What CatBoost says, without the place in its source."""
    text = " ".join(str(error).split())
    return (text.partition(": ")[2] if text.partition(": ")[0].rpartition(":")[2].isdigit() else text)[:300].rstrip(".")
