"""Objectives as LightGBM's own parameters."""

from __future__ import annotations

import pytest

import rankadapters as ra
from tests.helpers.objective_data import graded

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_objective_data import BUILT_IN, EXACT, OTHERS, assert_same, ours, predictions, preset
from tests.tables import for_each, short


@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=short)
def test_a_native_objective_trains_the_same_model(name, options):
    data, value = graded(20), preset(name, options)
    native = ra.lightgbm.native_objective(value)
    assert native["objective"] == name
    assert native.items() >= options.items()
    assert_same(predictions(ours(value), data, 20), predictions(native, data, 20, params={"seed": 3}))


def test_gains_that_agree_on_whole_labels_are_native():
    data = graded(20)
    for gain in ("exp2-floor", "linear", "linear-positive"):
        value = preset("lambdarank", {})
        value = value.replace(convention=value.convention.replace(gain=gain))
        native = ra.lightgbm.native_objective(value)
        assert_same(predictions(ours(value), data, 20), predictions(native, data, 20))


def test_no_cutoff_is_lightgbms_longest_query():
    data, value = graded(20, 8, 400), preset("lambdarank", {})
    value = value.replace(truncation=None, convention=value.convention.at(None))
    native = ra.lightgbm.native_objective(value)
    assert native["lambdarank_truncation_level"] == 10_000
    assert_same(predictions(ours(value), data, 20), predictions(native, data, 20))


@for_each(
    ("value", "field"),
    [
        (EXACT, "sigmoid=exact"),
        (EXACT.replace(convention="lightgbm.map@30"), "LambdaRank for ap, only for ndcg"),
        (preset("lambdarank", {}).replace(truncation=10), "k=30"),
        (preset("lambdarank", {}).replace(beyond_k="cut"), "beyond_k=cut"),
        (EXACT.replace(hessian="doubled"), "hessian=doubled"),
        (EXACT.replace(normalization="xgboost"), "normalization=xgboost"),
        (EXACT.replace(truncation=None, samples=2, sigmoid="float32"), "samples=2"),
        (EXACT.replace(convention=ra.presets.letor4(30)), "discount=jk2"),
        (EXACT.replace(convention=ra.presets.yahoo(30)), "average=uniform"),
        (EXACT.replace(convention=ra.presets.textbook(30)), "ties=average"),
        *((value, value.kind) for value in OTHERS if value.kind not in {"xendcg", "lambdarank"}),
    ],
    ids=lambda part: part if isinstance(part, str) else part.kind,
)
def test_what_lightgbm_has_not_is_refused_by_name(value, field):
    with pytest.raises(
        ra.UnsupportedConventionError, match=rf"LightGBM has no built-in .*{field}(.|\n)*Hint: objective"
    ):
        ra.lightgbm.native_objective(value)


def test_what_lightgbm_has_instead_is_told():
    with pytest.raises(ra.UnsupportedConventionError) as told:
        ra.lightgbm.native_objective(EXACT.replace(hessian="doubled"))
    assert str(told.value) == (
        "LightGBM has no built-in objective with hessian=doubled, sigmoid=exact; the nearest has hessian=plain, "
        "sigmoid=table.\nHint: objective(value)."
    )
