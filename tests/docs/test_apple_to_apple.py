"""The experiment with six learners: the example script runs, and the MQ2008 results in docs/paper.md hold."""

from __future__ import annotations

import json
import runpy
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.shared_data import SHARED
from tests.helpers.tables import for_each

pytest.importorskip("sklearn")

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "apple_to_apple.py"
RESULTS = json.loads((ROOT / "docs" / "apple_to_apple.json").read_text(encoding="utf-8"))
LEARNERS = sorted(RESULTS["table"])
CONVENTIONS = ("letor4", "yahoo", "ranklib")
EMPTY_SHARE = 220 / 784  # the share of MQ2008's queries without a relevant document


def run_example(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *map(str, arguments)])
    return runpy.run_path(str(EXAMPLE), run_name="__main__")


def fold_values(learner, convention, judge):
    """Return the values of a learner trained under a convention, in the shape (folds, cutoffs)."""
    return np.array(RESULTS["table"][learner][convention]["folds"][judge])


def mean_values(learner, convention, judge):
    return fold_values(learner, convention, judge).mean(axis=0)


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


# Statements of the page about its numbers


@for_each(("learner", "convention"), list(product(LEARNERS, CONVENTIONS)))
def test_yahoo_adds_the_same_constant_to_every_learner(learner, convention):
    lift = mean_values(learner, convention, "yahoo") - mean_values(learner, convention, "ranklib")
    np.testing.assert_allclose(lift, EMPTY_SHARE, atol=2e-4)  # folds differ in size


@for_each(("learner", "convention"), list(product(LEARNERS, CONVENTIONS)))
def test_letor4_is_close_to_ranklib_up_to_rank_7_and_lower_from_rank_8_on(learner, convention):
    difference = mean_values(learner, convention, "letor4") - mean_values(learner, convention, "ranklib")
    assert difference[0] == pytest.approx(0, abs=1e-6)
    assert (difference[1:7] > 0.004).all()
    assert (difference[1:7] < 0.019).all()
    assert -0.039 < difference[7] < -0.032
    assert (abs(difference[8:] + 0.274) < 0.004).all()


@pytest.mark.parametrize(
    ("learner", "mean_change", "n_worse_folds"),
    [("AdaRank", -0.0166, 5), ("CoordinateAscent", 0.0043, 0), ("LambdaMART", -0.0041, 3), ("RankBoost", 0.0, 2),
     ("RankNet", -0.0009, 4), ("RankSVM", -0.0010, 2)],
)  # fmt: skip
def test_training_under_letor4_changes_the_mean_and_worsens_some_folds(learner, mean_change, n_worse_folds):
    changes = (fold_values(learner, "letor4", "ranklib") - fold_values(learner, "ranklib", "ranklib"))[:, -1]
    assert changes.mean() == pytest.approx(mean_change, abs=6e-5)
    assert (changes < 0).sum() == n_worse_folds


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name not in {"AdaRank", "LambdaMART"}])
def test_the_best_five_learners_differ_by_less_than_a_standard_error(learner):
    gap = (mean_values(learner, "ranklib", "ranklib") - mean_values("LambdaMART", "ranklib", "ranklib"))[-1]
    standard_error = RESULTS["table"][learner]["ranklib"]["error_beside_best"]["ranklib"][-1]
    assert 0.003 < standard_error < 0.005
    assert abs(gap) < standard_error


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "AdaRank"])
def test_yahoo_and_ranklib_train_the_same_model_except_for_adarank(learner):
    assert fold_values(learner, "yahoo", "letor4").tolist() == fold_values(learner, "ranklib", "letor4").tolist()


def ranklib_figure(name):
    file = SHARED / "golden" / "learners" / f"{name}.json"
    if not file.is_file():
        pytest.skip("the shared numbers of RankLib's learners are missing")
    return json.loads(file.read_text(encoding="utf-8"))["table"]


@for_each(("ranklib_name", "convention"), [("letor", "letor4"), ("yahoo", "yahoo"), ("ranklib", "ranklib")])
def test_adarank_equals_figure_1_of_the_ranklib_replay(ranklib_name, convention):
    for judge, expected in ranklib_figure("figure1")["adarank"][ranklib_name].items():
        np.testing.assert_allclose(mean_values("AdaRank", convention, judge), expected, atol=1.1e-5)


@for_each(
    ("learner", "ranklib_name", "tolerance"),
    [("AdaRank", "adarank", 1e-5), ("RankBoost", "rankboost", 1e-5), ("RankSVM", "ranksvm", 2e-4),
     ("CoordinateAscent", "ca_r30", 0.0077), ("LambdaMART", "lambdamart", 0.0114), ("RankNet", "ranknet", 0.0387)],
)  # fmt: skip
@pytest.mark.parametrize("judge", ["letor4", "yahoo", "ranklib", "trec"])
def test_learners_are_close_to_figure_2_of_the_ranklib_replay(learner, ranklib_name, tolerance, judge):
    expected = ranklib_figure("figure2")[ranklib_name][judge]
    assert abs(mean_values(learner, "ranklib", judge) - expected).max() <= tolerance
