"""The experiment of six learners: the example on generated data, and what docs/paper.md says of MQ2008."""

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
TRAINED = ("letor4", "yahoo", "ranklib")
EMPTY = 220 / 784  # the share of MQ2008's queries without anything relevant


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), *map(str, arguments)])
    return runpy.run_path(str(EXAMPLE), run_name="__main__")


def folds(learner, trained, judge):
    """(folds, cutoffs)."""
    return np.array(RESULTS["table"][learner][trained]["folds"][judge])


def mean(learner, trained, judge):
    return folds(learner, trained, judge).mean(axis=0)


def test_the_whole_experiment_on_generated_data(capsys, monkeypatch, tmp_path):
    for package in ("lightgbm", "matplotlib"):
        pytest.importorskip(package)
    run(monkeypatch, "--jobs", 1, "--results", tmp_path / "results.json", "--figures", tmp_path)
    printed, progress = capsys.readouterr()
    assert progress.splitlines()[-1].startswith("90 of 90")
    rows = [line.split() for line in printed.splitlines() if line.split()[1:2] and line.split()[1] in TRAINED]
    assert len(rows) == 4 * 6 * 3
    assert all(0 <= float(cell) <= 1 for row in rows for cell in row[2::2])
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    for learner, trained in product(results["table"], TRAINED):
        found = results["table"][learner][trained]
        lifted = np.mean(found["folds"]["yahoo"], axis=0) - np.mean(found["folds"]["ranklib"], axis=0)
        np.testing.assert_allclose(lifted, lifted[0], atol=2e-6)  # by the queries without anything relevant
        assert np.shape(found["folds"]["letor4"]) == (5, 10)
    first, second = ((tmp_path / f"apple_to_apple_{n}.svg").read_text(encoding="utf-8") for n in (1, 2))
    assert all(f">{name}</text>" in first for name in (*LEARNERS, *TRAINED, "trec_eval"))
    assert all(f">{name}</text>" in second for name in (*LEARNERS, "LETOR 4.0"))


def test_results_are_drawn_again_without_training(capsys, monkeypatch, tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("matplotlib")
    run(monkeypatch, "--redraw", ROOT / "docs" / "apple_to_apple.json", "--figures", tmp_path)
    assert "AdaRank          letor4           0.3371 ±0.0161" in capsys.readouterr().out
    assert {file.name for file in tmp_path.iterdir()} == {"apple_to_apple_1.svg", "apple_to_apple_2.svg"}


# What the page says of the numbers that it shows.


@for_each(("learner", "trained"), list(product(LEARNERS, TRAINED)))
def test_yahoo_lifts_all_alike_and_cannot_change_the_order(learner, trained):
    lift = mean(learner, trained, "yahoo") - mean(learner, trained, "ranklib")
    np.testing.assert_allclose(lift, EMPTY, atol=2e-4)  # the mean of the folds' shares


@for_each(("learner", "trained"), list(product(LEARNERS, TRAINED)))
def test_letor_falls_from_the_eighth_rank_on(learner, trained):
    beside = mean(learner, trained, "letor4") - mean(learner, trained, "ranklib")
    assert beside[0] == pytest.approx(0, abs=1e-6)
    assert (beside[1:7] > 0.004).all()
    assert (beside[1:7] < 0.019).all()
    assert -0.039 < beside[7] < -0.032
    assert (abs(beside[8:] + 0.274) < 0.004).all()


@pytest.mark.parametrize(
    ("learner", "change", "worse"),
    [("AdaRank", -0.0166, 5), ("CoordinateAscent", 0.0043, 0), ("LambdaMART", -0.0041, 3), ("RankBoost", 0.0, 2),
     ("RankNet", -0.0009, 4), ("RankSVM", -0.0010, 2)],
)  # fmt: skip
def test_what_training_under_letor_changes(learner, change, worse):
    changes = (folds(learner, "letor4", "ranklib") - folds(learner, "ranklib", "ranklib"))[:, -1]
    assert changes.mean() == pytest.approx(change, abs=6e-5)
    assert (changes < 0).sum() == worse


@pytest.mark.parametrize("learner", [each for each in LEARNERS if each not in {"AdaRank", "LambdaMART"}])
def test_the_first_five_are_not_separated(learner):
    gap = (mean(learner, "ranklib", "ranklib") - mean("LambdaMART", "ranklib", "ranklib"))[-1]
    error = RESULTS["table"][learner]["ranklib"]["error_beside_best"]["ranklib"][-1]
    assert 0.003 < error < 0.005
    assert abs(gap) < error


@pytest.mark.parametrize("learner", [each for each in LEARNERS if each != "AdaRank"])
def test_yahoo_and_ranklib_train_one_model_but_of_adarank(learner):
    assert folds(learner, "yahoo", "letor4").tolist() == folds(learner, "ranklib", "letor4").tolist()


def figure(name):
    file = SHARED / "golden" / "learners" / f"{name}.json"
    if not file.is_file():
        pytest.skip("the numbers of RankLib's learners are not there")
    return json.loads(file.read_text(encoding="utf-8"))["table"]


@pytest.mark.parametrize(("theirs", "trained"), [("letor", "letor4"), ("yahoo", "yahoo"), ("ranklib", "ranklib")])
def test_adarank_gives_figure_1_of_ranklibs_replay(theirs, trained):
    for judge, expected in figure("figure1")["adarank"][theirs].items():
        np.testing.assert_allclose(mean("AdaRank", trained, judge), expected, atol=1.1e-5)


@for_each(
    ("learner", "theirs", "apart"),
    [("AdaRank", "adarank", 1e-5), ("RankBoost", "rankboost", 1e-5), ("RankSVM", "ranksvm", 2e-4),
     ("CoordinateAscent", "ca_r30", 0.0077), ("LambdaMART", "lambdamart", 0.0114), ("RankNet", "ranknet", 0.0387)],
)  # fmt: skip
@pytest.mark.parametrize("judge", ["letor4", "yahoo", "ranklib", "trec"])
def test_how_far_figure_2_is_from_ranklibs_learners(learner, theirs, apart, judge):
    expected = figure("figure2")[theirs][judge]
    assert abs(mean(learner, "ranklib", judge) - expected).max() <= apart
