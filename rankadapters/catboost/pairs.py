"""CatBoost's metrics of pairs, which it computes of a Pool only: scores reach it as the Pool's baseline."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import catboost as cb
import numpy as np

from rankadapters.core.columns import frozen
from rankadapters.core.queries import Queries
from rankadapters.parity import Held
from rankadapters.parity.data import as_float32

METRICS = ("PairAccuracy", "PairLogit")
ASKED = "catboost eval_metrics of a Pool with baseline, by a model that says 0:"
SCORES = "scores rounded to float32, as CatBoost holds a baseline."
WEIGHTS = "weights of pairs rounded to float32, as CatBoost holds them."


def is_of_pairs(words: str) -> bool:
    """Tell whether a metric string is one of pairs."""
    return words.partition(":")[0] in METRICS


def held_in_a_pool(held: Held) -> Held:
    """Bring weights of pairs into the precision of a Pool, and scores into a baseline's, unless a model has them."""
    queries, scores, notes = held.queries, held.scores, list(held.notes)
    if queries.pairs is not None and queries.pairs.weight is not None:
        weights = as_float32("pairs weight", queries.pairs.weight, "CatBoost")
        notes += [WEIGHTS] if (weights != queries.pairs.weight).any() else []
        queries = queries.with_pairs(queries.pairs._replace(weight=frozen(weights)))
    if not held.own_only:
        rounded = as_float32("scores", np.asarray(scores, np.float64), "CatBoost")
        notes += [SCORES] if (rounded != scores).any() else []
        scores = rounded
    return replace(held, queries=queries, scores=scores, notes=tuple(notes))


def ask(queries: Queries, scores: Any, words: str) -> float:
    """Ask for the value of contiguous queries, of given pairs or those that CatBoost makes of labels."""
    by_row, columns = queries.query_of_row, dict[str, Any]()
    if queries.pairs is not None:
        columns["pairs"] = np.column_stack([queries.pairs.winner, queries.pairs.loser])
        columns["pairs_weight"] = queries.pairs.weight
    if queries.query_weight is not None:
        columns["group_weight"] = queries.query_weight[by_row]
    features = np.zeros((queries.n_docs, 1))
    pool = cb.Pool(features, queries.labels, group_id=by_row, baseline=scores, **columns)
    [values] = _saying_nothing().eval_metrics(pool, [words], thread_count=1).values()
    return float(values[-1])


@cache
def _saying_nothing() -> Any:
    """Train a model, of which nothing is left."""
    model = cb.CatBoost(
        {"iterations": 1, "depth": 1, "loss_function": "RMSE", "thread_count": 1, "verbose": False,
         "allow_writing_files": False}
    ).fit([[0.0], [1.0]], [0, 1])  # fmt: skip
    model.set_scale_and_bias(0.0, 0.0)
    return model
