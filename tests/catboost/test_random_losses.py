"""CatBoost's own trees under its random losses, which the golden file has not, from our gradients."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.random_loss_records import drawing, leaf_values, read, unrounded
from tests.helpers.shared_data import kept

catboost = pytest.importorskip("catboost", minversion="1.2.10", exc_type=ImportError)

LOSSES = [
    "StochasticRank:metric=ERR",
    "StochasticRank:metric=ERR;top=2",
    "StochasticRank:metric=ERR;sigma=0.5;num_estimations=2",
    "StochasticRank:metric=PFound;top=2",
    "StochasticRank:metric=PFound;top=3;decay=0.5",
]
SETTINGS = {
    "iterations": 1, "learning_rate": 1, "bootstrap_type": "No", "boosting_type": "Plain", "has_time": True,
    "leaf_estimation_iterations": 1, "leaf_estimation_method": "Gradient", "l2_leaf_reg": 0, "random_strength": 0,
    "random_seed": 0, "thread_count": 1, "allow_writing_files": False, "logging_level": "Silent",
}  # fmt: skip
[DATA] = [record for record in drawing(kept("random_losses")) if record["loss"] == "StochasticRank:metric=PFound"]


@pytest.mark.parametrize("certain", [False, True], ids=["probabilities", "some of them 1"])
@pytest.mark.parametrize("loss", LOSSES)
def test_catboosts_mistakes_are_replayed(loss, certain):
    """A tree draws as often before its derivatives as the kept record's, whose features and seed it has."""
    labels = np.array(DATA["labels"])
    labels = np.where(certain & (labels > 0.5), 1.0, labels)
    pool = catboost.Pool(np.array(DATA["features"]), labels, group_id=DATA["qid"], baseline=DATA["scores"])
    model = catboost.CatBoost({**SETTINGS, "loss_function": loss, "depth": len(DATA["features"][0])}).fit(pool)
    record = {"leaf": model.calc_leaf_indexes(pool)[:, 0], "leaf_values": model.get_leaf_values()}
    value, queries = read(loss, int(DATA["call_seed"])), ra.Queries(labels, qid=DATA["qid"])
    found = leaf_values(value, record, *unrounded(value, queries, DATA["scores"]))
    np.testing.assert_allclose(found, record["leaf_values"], rtol=1e-12, atol=1e-14)
    mended = value.replace(arithmetic="exact")
    exact = leaf_values(mended, record, *unrounded(mended, queries, DATA["scores"]))
    departs = "ERR" in loss or certain
    assert bool(np.abs(exact - record["leaf_values"]).max() > 1e-5) is departs
