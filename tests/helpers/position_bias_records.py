"""Recorded models of LightGBM and XGBoost under position bias, and the rankings that they were trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.rankings import Ranking
from tests.helpers.shared_data import golden_file, shared_losses

Record = dict[str, Any]
BIAS_PARAMS = ("lambdarank_position_bias_regularization", "lambdarank_unbiased", "lambdarank_bias_norm")


def recorded_models(toolkit: str) -> list[Record]:
    """Return the recorded models of a toolkit: those of the checkout, and all in a thorough run."""
    return [
        {"data": part["data"], **record}
        for file in (golden_file("position_bias"), shared_losses())
        for part in file.get("boosting", [])
        for record in part[toolkit]
    ]


def ranking_of(record: Record) -> Ranking:
    """Return the ranking that a model was trained on."""
    sizes = np.array(record["data"]["sizes"])
    qid = np.repeat(np.arange(sizes.size), sizes)
    return Ranking(np.array(record["data"]["features"]), np.array(record["data"]["labels"]), qid, sizes)


def split_params(record: Record) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the parameters of the training, of the objective's preset, and of the position bias."""
    params = dict(record["params"])
    params.pop("objective", None)
    bias = {name: params.pop(name) for name in BIAS_PARAMS if name in params}
    preset = {name: params.pop(name) for name in list(params) if name.startswith(("lambdarank", "ndcg"))}
    return params, preset, bias


def recorded_rounds(record: Record) -> list[int]:
    """Return the numbers of the recorded rounds, which are the last of three."""
    return list(range(4 - len(record["scores"]), 4))
