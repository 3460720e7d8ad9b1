"""CatBoost's own weights and labels: what it takes of them, and what of that is refused or said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import as_numbers, same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.queries import Queries
from rankadapters.parity import TrainedModel

ROUTE = "catboost.utils.eval_metric"


def refuse_negative(queries: Queries, convention: Convention) -> None:
    """Refuse labels that CatBoost's exponential gain takes and ours does not."""
    negative = queries.labels < 0
    if getattr(convention, "gain", "") == "exp2" and negative.any():
        row = int(np.argmax(negative))
        msg = (
            f"labels[{row}] is {queries.labels[row]:g}, negative: CatBoost's type=Exp counts 2^label - 1 < 0 for it, "
            "our exp2 refuses it.\nHint: gain='linear' (type=Base) takes negative labels as they are."
        )
        raise InputError(msg, row=row)


def weights_of_rows(group_weight: object, queries: Queries) -> tuple[NDArray[np.float64], int | None]:
    """Take CatBoost's `group_weight`, one per row, as it does: each query's first row; and the first that varies."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    first, varies = queries.per_query(weights)
    return first, None if varies < 0 else varies


def weighted(queries: Queries, scores: object, group_weight: object, weight: object) -> TrainedModel:
    """Give scores of queries with CatBoost's own weights: what it is handed of them, and what is to be said."""
    given, notes = {}, []
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
            given["group_weight"] = group_weight
        queries = queries.with_weights(weights)
    if weight is not None:
        given["weight"] = weight
        notes.append("weight= holds object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts.")
    by_row: dict[str, Any] = {name: queries.by_query(np.asarray(each, np.float64)) for name, each in given.items()}
    return TrainedModel(queries=queries, scores=scores, notes=tuple(notes), given=by_row)
