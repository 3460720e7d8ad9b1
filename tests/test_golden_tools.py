"""NDCG of the evaluation tools, as the real programs printed it, per query and in the mean.

`golden/tools.json` keeps one small data set of each kind; the full files are read where they lie beside the checkout.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets

HERE = Path(__file__).parent
FULL = HERE.parent.parent / "shared" / "golden" / "tools"
TOOLS = {"letor4": presets.letor4, "yahoo": presets.yahoo}
PRECISE = 1e-11  # LETOR's script prints 12 decimals here


def data_sets() -> list[Any]:
    kept = json.loads((HERE / "golden" / "tools.json").read_text())["sets"]
    sets = [pytest.param(one, id=one["name"]) for one in kept]
    if FULL.is_dir():
        full = [json.loads(path.read_text()) for path in sorted(FULL.glob("*.json"))]
        return sets + [pytest.param(one, id=f"full-{one['name']}") for one in full]
    reason = "the full golden files are not beside this checkout"
    return [*sets, pytest.param({}, id="full", marks=pytest.mark.skip(reason=reason))]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("data", data_sets())
def test_the_preset_gives_what_the_tool_prints(data, tool):
    inputs, printed = data["inputs"], data["tools"].get(tool)
    if printed is None:
        pytest.skip(f"{tool} was not run on {data['name']}")
    compared = 0
    for metric, mean in printed["mean"].items():
        if not metric.startswith("ndcg@"):
            continue
        convention = TOOLS[tool](int(metric.partition("@")[2]))
        if tool == "letor4" and max(inputs["label"]) > 2:
            # The script knows gains for labels 0, 1 and 2 and gives the others 0 in silence.
            with pytest.raises(ra.InputError, match="outside the gain table"):
                ra.evaluate(inputs["label"], inputs["score"], convention, qid=inputs["qid"])
            continue
        evaluator = ra.Evaluator(inputs["label"], convention, qid=inputs["qid"])
        theirs = [printed["per_query"][metric][str(qid)] for qid in evaluator.query_ids]
        np.testing.assert_allclose(evaluator.per_query(inputs["score"]), theirs, atol=PRECISE)
        assert evaluator.evaluate(inputs["score"]).value == pytest.approx(mean, abs=PRECISE)
        compared += 1
    assert compared or max(inputs["label"]) > 2
