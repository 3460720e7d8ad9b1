"""CatBoost's LambdaMart as an objective: its parameters, and its pair weights against the exact metric changes."""

import numpy as np
import pytest

from rankadapters import objectives


def test_the_presets_have_these_fields():
    """The defaults are those of CatBoost 1.2.10."""
    start = (
        "lambdarank/truncation={}/samples=all/sigma={}/normalization={}/hessian=plain/sigmoid=exact/beyond_k=keep{}/v1/"
    )
    ndcg = start.format("all", 1, "xgboost", "")
    texts = {str(objectives.catboost.lambdamart(metric=metric)) for metric in ("NDCG", "DCG")}
    [text] = texts
    assert text.startswith(f"{ndcg}ndcg@all/gain=linear/discount=log2/ideal=cutoff/ties=input/")
    options = {"top": 3, "type": "Exp", "denominator": "Position", "sigma": 2, "norm": False}
    changed = str(objectives.catboost.lambdamart(**options))
    assert changed.startswith(start.format(3, 2, "none", "") + "ndcg@3/gain=exp2/discount=reciprocal/")
    for metric, measure in (
        ("MRR", "rr@all/relevant=above_0"),
        ("ERR", "err@all/"),
        ("MAP", "ap@all/relevant=above_0"),
    ):
        objective = objectives.catboost.lambdamart(metric=metric)
        assert str(objective).startswith(start.format("all", 1, "xgboost", "/delta=catboost") + measure)
        assert not objective.uses_weights


@pytest.mark.long
@pytest.mark.parametrize(
    ("metric", "exact_weights", "catboost_weights"),
    [
        ("MAP", [(1 - 1 / 2) / 2, (1 + 2 / 2 - (1 / 2 + 2 / 3)) / 2], [1, 1 + 1 / 2]),
        ("MRR", [1 - 1 / 2, 1 - 1 / 2], [1 - 1 / 2, 1 - 1 / 3]),
    ],
)
def test_pairs_of_an_irrelevant_first_row_have_these_weights(metric, exact_weights, catboost_weights):
    """Two relevant rows follow. All scores are equal, so each pair pushes by half of its weight."""
    objective = objectives.catboost.lambdamart(metric=metric, norm=False)
    for delta, weights in (("exact", exact_weights), ("catboost", catboost_weights)):
        grad, _ = objectives.gradients([0, 1, 1], np.zeros(3), objective.replace(delta=delta), group_sizes=[3])
        np.testing.assert_allclose(grad, [sum(weights) / 2, *(-weight / 2 for weight in weights)], rtol=1e-6)


@pytest.mark.long
def test_catboosts_err_weights_ignore_rows_of_an_equal_label_in_between():
    """Labels are 1/2, 1/2 and 0. Swapping the first row and the last, CatBoost ignores the row between them."""
    objective = objectives.catboost.lambdamart(metric="ERR", norm=False).replace(truncation=1)
    labels = [0.5, 0.5, 0]
    exact_gradient, catboost_gradient = (
        objectives.gradients(labels, [0.0, 0, 0], objective.replace(delta=delta), group_sizes=[3])[0][2]
        for delta in ("exact", "catboost")
    )
    np.testing.assert_allclose(exact_gradient, ((1 / 2 + 1 / 8) - (1 / 4 + 1 / 12)) / 2, rtol=1e-6)
    np.testing.assert_allclose(catboost_gradient, (1 / 2) * (1 - 1 / 3) / 2, rtol=1e-6)


def test_catboosts_change_of_ndcg_is_the_exact_one():
    objective = objectives.lightgbm.lambdarank().replace(sigmoid="exact")
    assert objective.replace(delta="catboost") == objective
    assert "delta" not in str(objective)


def test_delta_is_exact_by_default():
    fields = objectives.catboost.lambdamart(metric="MAP").to_dict()
    del fields["delta"]
    objective = objectives.LambdaRank(**fields)
    assert objective.delta == "exact"
    assert objective == objectives.catboost.lambdamart(metric="MAP").replace(delta="exact")
    assert objectives.parse(str(objective)) == objective
