"""Models of LightGBM and XGBoost under position bias: what they are trained on, and the recorded ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.rankings import Ranking
from tests.helpers.shared_data import kept, shared_losses

Record = dict[str, Any]
NO_OPTIONS = ("lambdarank_position_bias_regularization", "lambdarank_unbiased", "lambdarank_bias_norm")


def golden(toolkit: str) -> list[Any]:
    """Recorded models of a toolkit as test parameters: those kept here, and all in a thorough run."""
    found = []
    for prefix, file in (("", kept("position_bias")), ("full-", shared_losses())):
        for place, part in enumerate(file.get("boosting", [])):
            for record in part[toolkit]:
                options = " ".join(f"{name}={value}" for name, value in record["params"].items() if "rank" in name)
                found.append(pytest.param({"data": part["data"], **record}, id=f"{prefix}{place} {options}"))
    return found


def data_of(record: Record) -> Ranking:
    """The rows of a record."""
    sizes = np.array(record["data"]["sizes"])
    qid = np.repeat(np.arange(sizes.size), sizes)
    return Ranking(np.array(record["data"]["features"]), np.array(record["data"]["labels"]), qid, sizes)


def apart(record: Record) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A record's parameters: the training's, the objective's preset's, and the position bias's."""
    params = dict(record["params"])
    params.pop("objective", None)
    bias = {name: params.pop(name) for name in NO_OPTIONS if name in params}
    preset = {name: params.pop(name) for name in list(params) if name.startswith(("lambdarank", "ndcg"))}
    return params, preset, bias


def last_rounds(record: Record) -> list[int]:
    """Which rounds are recorded."""
    return [3 - len(record["scores"]) + place + 1 for place in range(len(record["scores"]))]
