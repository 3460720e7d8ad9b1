"""`examples/compare_learners.py`, which compares toolkits and baselines on two generated data sets."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "compare_learners.py"


def test_the_example_prints_the_front_under_every_convention_and_all_methods(capsys, monkeypatch):
    for toolkit in ("lightgbm", "xgboost", "catboost", "sklearn"):
        pytest.importorskip(toolkit)
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    for measure in ("ndcg@10/letor4", "ndcg@10/yahoo", "ap@10"):
        assert f"front under {measure}: " in printed
    for method in ("LightGBM", "XGBoost", "CatBoost", "regression", "best feature", "chance"):
        assert method in printed
