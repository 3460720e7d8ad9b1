"""The experiment with six learners: the example script runs, and draws the recorded MQ2008 results of docs/paper.md."""

from __future__ import annotations

import json
import runpy
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.long
pytest.importorskip("sklearn")

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "apple_to_apple.py"
RESULTS = json.loads((ROOT / "docs" / "apple_to_apple.json").read_text(encoding="utf-8"))
LEARNERS = sorted(RESULTS["table"])
CONVENTIONS = ("letor4", "yahoo", "ranklib")


def run_example(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *map(str, arguments)])
    return runpy.run_path(str(EXAMPLE), run_name="__main__")


def test_the_experiment_runs_on_generated_data(capsys, monkeypatch, tmp_path):
    for package in ("lightgbm", "matplotlib"):
        pytest.importorskip(package)
    run_example(monkeypatch, "--jobs", 1, "--results", tmp_path / "results.json", "--figures", tmp_path)
    printed, progress = capsys.readouterr()
    assert progress.splitlines()[-1].startswith("90 of 90")
    rows = [line.split() for line in printed.splitlines() if line.split()[1:2] and line.split()[1] in CONVENTIONS]
    assert len(rows) == 4 * 6 * 3
    assert all(0 <= float(cell) <= 1 for row in rows for cell in row[2::2])
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    for learner, convention in product(results["table"], CONVENTIONS):
        values = results["table"][learner][convention]["folds"]
        lift = np.mean(values["yahoo"], axis=0) - np.mean(values["ranklib"], axis=0)
        np.testing.assert_allclose(lift, lift[0], atol=2e-6)  # the share of queries without a relevant document
        assert np.shape(values["letor4"]) == (5, 10)
    first_figure, second_figure = ((tmp_path / f"apple_to_apple_{n}.svg").read_text(encoding="utf-8") for n in (1, 2))
    assert all(f">{name}</text>" in first_figure for name in (*LEARNERS, *CONVENTIONS, "trec_eval"))
    assert all(f">{name}</text>" in second_figure for name in (*LEARNERS, "LETOR 4.0"))


def test_recorded_results_are_drawn_without_training(capsys, monkeypatch, tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("matplotlib")
    run_example(monkeypatch, "--redraw", ROOT / "docs" / "apple_to_apple.json", "--figures", tmp_path)
    assert "AdaRank          letor4           0.3371 ±0.0161" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {"apple_to_apple_1.svg", "apple_to_apple_2.svg"}
