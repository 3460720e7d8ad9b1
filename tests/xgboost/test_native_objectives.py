"""Objectives as XGBoost's own parameters."""

from __future__ import annotations

import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_data import graded
from tests.tables import for_each

xgb = pytest.importorskip("xgboost")
from tests.helpers.xgboost_objective_data import (  # noqa: E402 - after the skip
    BUILT_IN,
    MEAN,
    OTHERS,
    PRESETS,
    assert_same,
    fitting,
    margins,
    ours,
)

NDCG = objectives.xgboost.ndcg()
EXACT = NDCG.replace(sigmoid="exact")


@for_each(("name", "options"), BUILT_IN)
def test_a_native_objective_trains_the_same_model(name, options):
    data, value = fitting(graded(18), name), PRESETS[name](**options)
    native = ra.xgboost.native_objective(value)
    assert native["objective"] == name
    assert native.items() >= options.items()
    assert_same(margins(data, obj=ours(value)), margins(data, **native))


def test_gains_that_agree_on_whole_labels_and_no_cutoff_are_native():
    data, value = graded(18, 10, 200), objectives.xgboost.ndcg()
    value = value.replace(truncation=None, convention=value.convention.replace(gain="exp2", k=None))
    native = ra.xgboost.native_objective(value)
    assert native["lambdarank_num_pair_per_sample"] == 2**31 - 1
    assert_same(margins(data, obj=ours(value)), margins(data, **native))


@for_each(
    ("value", "field"),
    [
        (EXACT, "sigmoid=exact"),
        (EXACT.replace(convention="lightgbm.map@30"), "LambdaRank for ap, only for ndcg"),
        (NDCG.replace(truncation=10), "k=32"),
        (NDCG.replace(beyond_k="cut"), "beyond_k=cut"),
        (NDCG.replace(hessian="plain"), "hessian=plain"),
        (NDCG.replace(sigma=2.0), "sigma=2"),
        (NDCG.replace(normalization="lightgbm"), "normalization=lightgbm"),
        (NDCG.replace(convention=ra.presets.letor4(32)), "discount=jk2"),
        (NDCG.replace(convention=NDCG.convention.replace(gain="linear-positive")), "gain=linear-positive"),
        (NDCG.replace(convention=NDCG.convention.replace(average="uniform")), "average=uniform"),
        (NDCG.replace(convention=NDCG.convention.replace(ties="average")), "ties=average"),
        (objectives.xgboost.ndcg(**MEAN).replace(convention=NDCG.convention), "k=32"),
        (objectives.xgboost.map().replace(hessian="plain"), "hessian=plain"),
        *((value, value.kind) for value in OTHERS if value.kind not in {"ranknet", "lambdarank"}),
        (objectives.catboost.pair_logit(), "hessian=plain"),
        (objectives.lightgbm.lambdarank(), "sigmoid=table"),
    ],
    ids=lambda part: part if isinstance(part, str) else part.kind,
)
def test_what_xgboost_has_not_is_refused_by_name(value, field):
    with pytest.raises(
        ra.UnsupportedConventionError, match=rf"XGBoost has no built-in .*{field}(.|\n)*Hint: objective"
    ):
        ra.xgboost.native_objective(value)


def test_any_number_of_top_ranks_has_native_parameters():
    value = ra.objectives.xgboost.ndcg(lambdarank_num_pair_per_sample=2**40)
    assert ra.xgboost.native_objective(value)["lambdarank_num_pair_per_sample"] == 2**31 - 1


BY_ROUND = objectives.xgboost.ndcg(lambdarank_pair_method="mean")
SEEDED = objectives.xgboost.ndcg(lambdarank_pair_method="mean", seed=7)


@pytest.mark.parametrize(
    ("version", "value", "hint"),
    [
        ("3.4.0", BY_ROUND, r"value\.replace\(seed=0\)"),
        ("4.0.1", BY_ROUND, r"value\.replace\(seed=0\)"),
        ("3.1.2", SEEDED, r"value\.replace\(seed='round'\)"),
        ("3.3.0", SEEDED, r"value\.replace\(seed='round'\)"),
    ],
)
def test_draws_that_this_xgboost_does_not_make_have_no_native_parameters(version, value, hint, monkeypatch):
    monkeypatch.setattr(xgb, "__version__", version)
    message = rf"XGBoost {version} draws the pairs of `mean` differently(.|\n)*Hint: {hint}"
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        ra.xgboost.native_objective(value)


@pytest.mark.parametrize(("version", "value", "seed"), [("3.3.0", BY_ROUND, {}), ("3.4.0", SEEDED, {"seed": 7})])
def test_the_seed_is_a_native_parameter_where_it_seeds_the_pairs(version, value, seed, monkeypatch):
    monkeypatch.setattr(xgb, "__version__", version)
    native = ra.xgboost.native_objective(value)
    assert {name: native[name] for name in native.keys() & {"seed"}} == seed
