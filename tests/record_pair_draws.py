"""Record trainings of XGBoost 3.4 under `mean`: `python -m tests.record_pair_draws` writes golden/pair_draws.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import xgboost as xgb

from tests.helpers.objective_rankings import graded_ranking

FILE = Path(__file__).parent / "golden" / "pair_draws.json"
PARAMS = {"nthread": 1, "max_depth": 3, "tree_method": "exact", "lambdarank_pair_method": "mean"}
ROUNDS = (1, 2, 5)


def main() -> None:
    """Train each built-in objective under two seeds, from a base_score and from XGBoost's estimate."""
    data = graded_ranking(4, 12, 12)
    X, labels = data.X[:, :3].round(2), (data.y > 0).astype(int)
    trainings: list[dict[str, Any]] = []
    for name in ("rank:ndcg", "rank:pairwise", "rank:map"):
        for params in ({"seed": 0, "base_score": 0.0}, {"seed": 2**32 - 1, "base_score": 0.25}, {"seed": 7}):
            train = xgb.DMatrix(X, label=labels, group=data.sizes, nthread=1)
            boosters = [xgb.train({**PARAMS, "objective": name, **params}, train, rounds) for rounds in ROUNDS]
            margins = [[float(x) for x in b.predict(train, output_margin=True)] for b in boosters]
            trainings.append({"objective": name, "params": params, "rounds": ROUNDS, "margins": margins})
    record = {
        "xgboost": xgb.__version__,
        "params": PARAMS,
        "X": X.tolist(),
        "labels": labels.tolist(),
        "group": np.asarray(data.sizes).tolist(),
        "trainings": trainings,
    }
    FILE.write_text(json.dumps(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
