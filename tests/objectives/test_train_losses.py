"""The example that trains every objective in three toolkits."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "train_losses.py"


def test_the_example_trains_every_objective_in_every_toolkit(capsys, monkeypatch, tmp_path):
    for package in ("lightgbm", "xgboost", "catboost", "matplotlib"):
        pytest.importorskip(package)
    picture = tmp_path / "losses.svg"
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--rounds", "1", "--picture", str(picture)])
    module = runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[1:]
    toolkits = (module["LightGBM"], module["XGBoost"], module["CatBoost"])
    assert len(lines) == 3 * len(module["OBJECTIVES"]) + sum(len(toolkit.built_in) for toolkit in toolkits)
    for line in lines:
        assert all(0 < float(value) <= 1 for value in line.split()[-3:])
    assert "YetiRank (built in)" in picture.read_text(encoding="utf-8")
