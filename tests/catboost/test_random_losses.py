"""Our gradients reproduce CatBoost's trees under random losses that the golden file lacks."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import golden_file
from tests.helpers.random_loss_records import float64_gradients, leaf_values, random_loss_trees, read_loss

catboost = pytest.importorskip("catboost", minversion="1.2.10", exc_type=ImportError)

pytestmark = pytest.mark.long

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
[DATA] = [
    record
    for record in random_loss_trees(golden_file("random_losses"))
    if record["loss"] == "StochasticRank:metric=PFound"
]


@pytest.mark.parametrize("certain", [False, True], ids=["probabilities", "some of them 1"])
@pytest.mark.parametrize("loss", LOSSES)
def test_catboosts_mistakes_are_replayed_and_exact_arithmetic_avoids_them(loss, certain):
    """The tree has the features and seed of the record, so that CatBoost draws as often before the derivatives."""
    labels = np.array(DATA["labels"])
    labels = np.where(certain & (labels > 0.5), 1.0, labels)
    pool = catboost.Pool(np.array(DATA["features"]), labels, group_id=DATA["qid"], baseline=DATA["scores"])
    model = catboost.CatBoost({**SETTINGS, "loss_function": loss, "depth": len(DATA["features"][0])}).fit(pool)
    record = {"leaf": model.calc_leaf_indexes(pool)[:, 0], "leaf_values": model.get_leaf_values()}
    objective, queries = read_loss(loss, int(DATA["call_seed"])), ra.Queries(labels, qid=DATA["qid"])
    replayed = leaf_values(objective, record, *float64_gradients(objective, queries, DATA["scores"]))
    np.testing.assert_allclose(replayed, record["leaf_values"], rtol=1e-12, atol=1e-14)
    exact_objective = objective.replace(arithmetic="exact")
    exact_values = leaf_values(exact_objective, record, *float64_gradients(exact_objective, queries, DATA["scores"]))
    has_mistake = "ERR" in loss or certain
    assert bool(np.abs(exact_values - record["leaf_values"]).max() > 1e-5) is has_mistake
