"""CatBoost's LambdaMart as a declared value: its parameters, and what its weights of pairs are beside true changes."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.tables import for_each


def test_the_presets_are_these_values():
    """CatBoost 1.2.10's defaults."""
    head = (
        "lambdarank/truncation={}/samples=all/sigma={}/normalization={}/hessian=plain/sigmoid=exact/beyond_k=keep{}/v1/"
    )
    ndcg = head.format("all", 1, "xgboost", "")
    found = {str(objectives.catboost.lambdamart(metric=metric)) for metric in ("NDCG", "DCG")}
    [text] = found
    assert text.startswith(f"{ndcg}ndcg@all/gain=linear/discount=log2/ideal=cutoff/ties=input/")
    options = {"top": 3, "type": "Exp", "denominator": "Position", "sigma": 2, "norm": False}
    changed = str(objectives.catboost.lambdamart(**options))
    assert changed.startswith(head.format(3, 2, "none", "") + "ndcg@3/gain=exp2/discount=reciprocal/")
    for metric, measure in (
        ("MRR", "rr@all/relevant=above_0"),
        ("ERR", "err@all/"),
        ("MAP", "ap@all/relevant=above_0"),
    ):
        value = objectives.catboost.lambdamart(metric=metric)
        assert str(value).startswith(head.format("all", 1, "xgboost", "/delta=catboost") + measure)
        assert not value.uses_weights


@for_each(
    ("options", "message"),
    [
        ({"metric": "PFound"}, "metric='PFound'; allowed are 'NDCG', 'DCG', 'MRR', 'ERR', 'MAP'"),
        ({"metric": None}, "metric=None; allowed"),
        *(
            ({"top": top}, f"top={top}; allowed are whole numbers from 1 on, and -1 for all")
            for top in (0, -2, 2.5, None)
        ),
        ({"type": "Linear"}, "type='Linear'; allowed are 'Base', 'Exp'"),
        ({"denominator": "Log"}, "denominator='Log'; allowed"),
        ({"sigma": 0}, "sigma=0; allowed are finite numbers above 0"),
        ({"norm": 1}, "norm=1; allowed are True, False"),
        ({"metric": "MAP", "top": 5},
         r"top belongs to metric 'DCG', 'NDCG', not to metric='MAP'.*\nHint: leave top out"),
        ({"metric": "ERR", "type": "Exp", "denominator": "Position"}, "type belongs to metric 'DCG', 'NDCG'"),
    ],
)  # fmt: skip
def test_what_a_parameter_does_not_take_is_refused(options, message):
    with pytest.raises(ra.ConventionError, match=message):
        objectives.catboost.lambdamart(**options)


@pytest.mark.parametrize(
    ("metric", "exact", "catboost"),
    [
        ("MAP", [(1 - 1 / 2) / 2, (1 + 2 / 2 - (1 / 2 + 2 / 3)) / 2], [1, 1 + 1 / 2]),
        ("MRR", [1 - 1 / 2, 1 - 1 / 2], [1 - 1 / 2, 1 - 1 / 3]),
    ],
)
def test_what_weighs_the_pairs_of_an_irrelevant_first_row(metric, exact, catboost):
    """Two relevant rows follow it. All scores are equal: each push is half of the pair's weight."""
    value = objectives.catboost.lambdamart(metric=metric, norm=False)
    for delta, weights in (("exact", exact), ("catboost", catboost)):
        grad, _ = objectives.gradients([0, 1, 1], np.zeros(3), value.replace(delta=delta), group_sizes=[3])
        np.testing.assert_allclose(grad, [sum(weights) / 2, *(-weight / 2 for weight in weights)], rtol=1e-6)


def test_errs_weights_leave_out_rows_of_the_same_label_in_between():
    """Rows of 1/2, 1/2 and 0: trading the first with the last, CatBoost sees nothing between them."""
    value = objectives.catboost.lambdamart(metric="ERR", norm=False).replace(truncation=1)
    labels = [0.5, 0.5, 0]
    true, catboost = (
        objectives.gradients(labels, [0.0, 0, 0], value.replace(delta=delta), group_sizes=[3])[0][2]
        for delta in ("exact", "catboost")
    )
    np.testing.assert_allclose(true, ((1 / 2 + 1 / 8) - (1 / 4 + 1 / 12)) / 2, rtol=1e-6)
    np.testing.assert_allclose(catboost, (1 / 2) * (1 - 1 / 3) / 2, rtol=1e-6)


def test_of_ndcg_catboosts_change_is_the_true_one():
    value = objectives.lightgbm.lambdarank().replace(sigmoid="exact")
    assert value.replace(delta="catboost") == value
    assert "delta" not in str(value)


def test_a_change_that_is_exact_need_not_be_said():
    fields = objectives.catboost.lambdamart(metric="MAP").to_dict()
    del fields["delta"]
    without = objectives.LambdaRank(**fields)
    assert without.delta == "exact"
    assert without == objectives.catboost.lambdamart(metric="MAP").replace(delta="exact")
    assert objectives.parse(str(without)) == without


@pytest.mark.parametrize(
    ("convention", "message"),
    [
        ("catboost.map@5", "which has only k=None, divisor='relevant', not k=5, divisor='cutoff'"),
        ("catboost.mrr@5", "which has only k=None, not k=5"),
        ("yahoo.err", "discount='reciprocal', complement='float32', not complement='float64'"),
        ("catboost.pfound@all", ", not discount='power_0.85', complement='float64'"),
    ],
)
def test_what_catboosts_changes_do_not_know_is_refused(convention, message):
    value = objectives.catboost.lambdamart(metric="MAP")
    with pytest.raises(ra.ConventionError, match=rf"delta='catboost' replays CatBoost, .*{message}\.\nHint: delta='ex"):
        value.replace(convention=convention)
