"""Recorded trees of CatBoost's random losses: the leaf values of the first round, and the seed of the call."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.checkout import golden_file, shared_losses

MAKERS = {
    "StochasticRank": objectives.catboost.stochastic_rank,
    "YetiRank": objectives.catboost.yetirank,
    "StochasticFilter": objectives.catboost.stochastic_filter,
}


def random_loss_trees(file: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the trees of random losses in a golden file, each with its data."""
    records = [record for record in file.get("catboost", []) if record["loss"].partition(":")[0] in MAKERS]
    return [{**record, **file["data"][record["data"]], "name": record["data"]} for record in records]


def named_trees() -> dict[str, dict[str, Any]]:
    """Return trees of random losses by name: those of the checkout, and all in a thorough run."""
    return {
        f"{prefix}{record['loss']} {record['name']}": record
        for prefix, file in (("", golden_file("random_losses")), ("full-", shared_losses()))
        for record in random_loss_trees(file)
    }


def read_loss(loss: str, seed: int) -> objectives.Objective:
    """Return the objective that CatBoost's text of a loss means."""
    name, _, rest = loss.partition(":")
    options = dict(part.split("=") for part in rest.split(";") if part)
    options = {"lambda_" if key == "lambda" else key: _value(text) for key, text in options.items()}
    return MAKERS[name](**options, seed=seed)


def _value(text: str) -> Any:
    if text[0].isalpha():
        return text
    return int(text) if text.lstrip("-").isdigit() else float(text)


def float64_gradients(value: objectives.Objective, queries: ra.Queries, scores: Any) -> tuple[Any, Any]:
    """Return gradients and hessians before they are rounded to float32."""
    grad, hess = np.zeros(queries.n_docs), np.zeros(queries.n_docs)
    list(value.bind(queries, n_threads=1).kernel(np.asarray(scores, float), grad, hess, 0, queries.n_queries))
    return grad, hess


def leaf_values(value: objectives.Objective, record: dict[str, Any], grad: Any, hess: Any) -> Any:
    """Return the Newton steps of the leaves, which CatBoost centers over the rows for losses of pairs."""
    leaf, n = np.array(record["leaf"]), len(record["leaf_values"])
    rows = np.bincount(leaf, minlength=n)
    sums, bends = (np.bincount(leaf, part, n) for part in (grad, hess))
    steps = -sums / np.where(bends > 0, bends, 1e-20)
    mean = (steps * rows).sum() / rows.sum() if isinstance(value, objectives.YetiRank) else 0.0
    return np.where(rows > 0, steps - mean, 0.0)
