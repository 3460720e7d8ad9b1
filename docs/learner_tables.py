"""Tables of the six learners on MQ2008, from what `examples/apple_to_apple.py --results` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "apple_to_apple.json"
CUTOFFS = (1, 3, 5, 10)
TRAINED = ("letor4", "yahoo", "ranklib")

Table = list[list[str]]


def tables() -> dict[str, Table]:
    """Make every table of the experiment, by name."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {
        "learners-ranklib": under(results, "ranklib"),
        "learners-training": training(results),
        "learners-apart": apart(results),
    }


def under(results: dict[str, Any], judge: str) -> Table:
    """NDCG of the learners trained under RankLib's, by one judge."""
    rows = [["learner", *(f"NDCG@{k}" for k in CUTOFFS)]]
    for learner in sorted(results["table"]):
        by_judge = results["table"][learner]["ranklib"]
        rows.append([learner, *(number(np.mean(by_judge["folds"][judge], axis=0)[k - 1]) for k in CUTOFFS)])
    return rows


def training(results: dict[str, Any]) -> Table:
    """Return RankLib's NDCG@10 of each training, and the change under LETOR's, with its standard error."""
    rows = [["learner", *(f"trained under `{preset}`" for preset in TRAINED), "`letor4` - `ranklib`", "standard error"]]
    for learner in sorted(results["table"]):
        folds = {preset: last(results, learner, preset) for preset in TRAINED}
        changes = folds["letor4"] - folds["ranklib"]
        error = changes.std(ddof=1) / np.sqrt(changes.size)
        means = [number(folds[preset].mean()) for preset in TRAINED]
        rows.append([learner, *means, number(changes.mean(), "+"), number(error)])
    return rows


def apart(results: dict[str, Any], best: str = "LambdaMART") -> Table:
    """Return the differences between learners with standard errors, and the numbers of queries with ties."""
    head = ["learner", "NDCG@10", "standard error", f"difference from {best}", "its standard error"]
    rows = [[*head, "queries with ties"]]
    for learner in sorted(results["table"]):
        by_judge, folds = results["table"][learner]["ranklib"], last(results, learner, "ranklib")
        error, paired = (by_judge[statistic]["ranklib"][-1] for statistic in ("error", "error_beside_best"))
        gap = (folds - last(results, best, "ranklib")).mean()
        beside = ["", ""] if learner == best else [number(gap, "+"), number(paired)]
        rows.append([learner, number(folds.mean()), number(error), *beside, str(by_judge["tied_queries"])])
    return rows


def last(results: dict[str, Any], learner: str, trained: str) -> Any:
    """NDCG@10 of each fold, by RankLib."""
    return np.array(results["table"][learner][trained]["folds"]["ranklib"])[:, -1]


def number(value: float, sign: str = "") -> str:
    """Write a value with four decimals."""
    return f"{value:{sign}.4f}"
