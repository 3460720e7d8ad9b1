"""What CatBoost's losses that draw at random gave: leaf values of trees of one round, with the seed of that call."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.shared_data import kept, shared_losses

MAKERS = {
    "StochasticRank": objectives.catboost.stochastic_rank,
    "YetiRank": objectives.catboost.yetirank,
    "StochasticFilter": objectives.catboost.stochastic_filter,
}


def drawing(file: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of losses that draw, each with its data."""
    records = [record for record in file.get("catboost", []) if record["loss"].partition(":")[0] in MAKERS]
    return [{**record, **file["data"][record["data"]], "name": record["data"]} for record in records]


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """The records kept here, and all in a thorough run, with a name for each."""
    own = [(f"{record['loss']} {record['name']}", record) for record in drawing(kept("random_losses"))]
    return own + [(f"full-{record['loss']} {record['name']}", record) for record in drawing(shared_losses())]


def read(loss: str, seed: int) -> objectives.Objective:
    """The preset that CatBoost's own text of a loss means."""
    name, _, rest = loss.partition(":")
    options = dict(part.split("=") for part in rest.split(";") if part)
    options = {"lambda_" if key == "lambda" else key: _value(text) for key, text in options.items()}
    return MAKERS[name](**options, seed=seed)


def _value(text: str) -> Any:
    if text[0].isalpha():
        return text
    return int(text) if text.lstrip("-").isdigit() else float(text)


def unrounded(value: objectives.Objective, queries: ra.Queries, scores: Any) -> tuple[Any, Any]:
    """Gradients and hessians before they are rounded to float32."""
    grad, hess = np.zeros(queries.n_docs), np.zeros(queries.n_docs)
    list(value.bind(queries, n_threads=1).kernel(np.asarray(scores, float), 0, queries.n_queries, grad, hess))
    return grad, hess


def leaf_values(value: objectives.Objective, record: dict[str, Any], grad: Any, hess: Any) -> Any:
    """What CatBoost makes of derivatives: Newton's steps of the leaves, of pairs centered over the rows."""
    leaf, n = np.array(record["leaf"]), len(record["leaf_values"])
    rows = np.bincount(leaf, minlength=n)
    sums, bends = (np.bincount(leaf, part, n) for part in (grad, hess))
    found = -sums / np.where(bends > 0, bends, 1e-20)
    mean = (found * rows).sum() / rows.sum() if isinstance(value, objectives.YetiRank) else 0.0
    return np.where(rows > 0, found - mean, 0.0)
