"""Conventions: their signatures, their fields and allowed values, their names, and the presets."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given

import rankadapters as ra
from rankadapters import presets
from tests.helpers.conventions import conventions

FIELDS = {
    "k": 10, "gain": "exp2", "discount": "log2", "ideal": "cutoff", "ties": "average", "precision": "float64",
    "short": "pad", "empty": 0, "missing": "error", "unjudged": "error", "average": "uniform",
}  # fmt: skip


@given(conventions())
def test_parse_reads_back_what_str_writes(convention):
    parsed = ra.parse(str(convention))
    assert parsed == convention
    assert hash(parsed) == hash(convention)
    assert str(parsed) == str(convention)
    assert re.fullmatch(r"[A-Za-z0-9@=._/+-]+", str(convention))


def test_the_signature_is_as_documented():
    assert str(presets.lightgbm(10)) == (
        "ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/"
        "missing=error/unjudged=error/average=query-except-empty/v1"
    )
    assert str(presets.yahoo(None)).startswith("ndcg@all/")


DCG_FIELDS = {name: value for name, value in FIELDS.items() if name not in {"ideal", "empty"}}


@pytest.mark.parametrize(
    ("preset", "field", "allowed", "refused"),
    [
        ("textbook@5", "k", [1, 2**63 - 1], [0, 2**63]),
        ("textbook@5", "unjudged", [0.5, 1023], [-0.5, 1023.5]),
        ("textbook@5", "discount", ["power_1e-09", "power_1"], ["power_0", "power_1.01"]),
        ("textbook@5", "discount", ["log_1.01", "log_1000000000"], ["log_1"]),
        ("ranx.map@5", "average", ["geometric_1e-09", "geometric_1"], ["geometric_0", "geometric_1.01"]),
        ("textbook@5", "empty", [0, 1], [-0.01, 1.01]),
        ("ranx.rbp", "persistence", [0, 1], [-0.01, 1.01]),
        ("yahoo.err", "scale", [1e-9, 1e9], [0]),
        ("trec_eval_9.set_F", "beta_squared", [0, 1e9], [-0.01]),
        ("catboost.query_cross_entropy", "alpha", [0, 1], [-0.01, 1.01]),
        ("catboost.query_soft_max", "beta", [1e-9, 1e9], [0]),
        ("scipy.pearsonr", "empty", [-1, 1], [-1.01, 1.01]),
        ("scipy.pearsonr", "constant", [-1, 1], [-1.01, 1.01]),
    ],
)
def test_numbers_of_a_field_are_allowed_up_to_its_bounds(preset, field, allowed, refused):
    convention = ra.parse(preset)
    assert [getattr(convention.replace(**{field: value}), field) for value in allowed] == allowed
    for value in refused:
        with pytest.raises(ra.ConventionError, match=rf"{field}={value!r}[a-z ]*; allowed"):
            convention.replace(**{field: value})


def test_equal_conventions_have_one_spelling():
    convention = ra.NDCG(**{**FIELDS, "k": None, "short": "zero", "ideal": "all", "average": "query-except-empty"})
    assert (convention.short, convention.ideal, convention.average) == ("pad", "cutoff", "query")
    assert ra.NDCG(**{**FIELDS, "gain": "table_0_1.0_3e0"}) == ra.NDCG(**{**FIELDS, "gain": "table_0_1_3"})
    assert ra.NDCG(**{**FIELDS, "k": np.int64(10), "empty": np.float32(0)}) == ra.NDCG(**FIELDS)
    assert str(ra.NDCG(**{**FIELDS, "empty": 1.0})) == str(ra.NDCG(**{**FIELDS, "empty": 1}))


def test_diff_write_and_nearest_take_a_text_or_a_convention():
    assert presets.lightgbm(10).diff("sklearn@10") == presets.lightgbm(10).diff(presets.sklearn(10))
    assert presets.lightgbm.write("lightgbm@10") == presets.lightgbm.write(presets.lightgbm(10))
    assert presets.catboost.nearest("lightgbm@10") == presets.catboost.nearest(presets.lightgbm(10))


def test_diff_returns_the_differing_fields_with_both_values():
    assert presets.letor4(10).diff(presets.yahoo(5)) == {
        "k": (10, 5), "gain": ("table_0_1_3", "exp2"), "discount": ("jk2", "log2"), "short": ("zero", "pad"),
        "empty": (0.0, 1.0),
    }  # fmt: skip
    assert str(ra.DCG(**DCG_FIELDS)).startswith("dcg@10/gain=exp2/discount=log2/ties=average/")
    assert ra.DCG(**DCG_FIELDS) != ra.NDCG(**FIELDS)
    assert ra.DCG(**DCG_FIELDS).diff(ra.NDCG(**FIELDS)) == {
        "measure": ("dcg", "ndcg"), "ideal": (None, "cutoff"), "empty": (None, 0.0)
    }  # fmt: skip
    assert presets.yahoo(5).diff(presets.yahoo(5)) == {}


def test_a_name_has_the_preset_or_seven_hexadecimal_digits():
    assert presets.letor4(10).name == "ndcg@10/letor4"
    assert presets.letor4(10).at(5).name == "ndcg@5/letor4"
    assert presets.letor4(10).at(5) == presets.letor4(5)
    assert presets.letor4(10).replace(empty=1).name == "ndcg@10/letor4+empty=1"
    assert re.fullmatch("ndcg@10/[0-9a-f]{7}", ra.parse(str(presets.letor4(10))).name)
    assert ra.parse(str(presets.letor4(10))) == presets.letor4(10)
    # letor4(None) does not keep short='zero', so setting a cutoff later does not restore letor4(10).
    with_cutoff = presets.letor4(None).at(10)
    assert with_cutoff != presets.letor4(10)
    assert "letor4" not in with_cutoff.name


@pytest.mark.parametrize(
    ("preset", "default", "difference"),
    [
        (presets.trec_eval_9(5, complete=True), presets.trec_eval_9(5), {"missing": ("zero", "skip")}),
        (presets.trec_eval_10(5), presets.trec_eval_9(5),
         {"precision": ("float64", "float32"), "missing": ("error", "skip")}),
        (presets.trec_eval_9(5, judged_only=True), presets.trec_eval_9(5), {"unjudged": ("drop-negative", "zero")}),
        (presets.trec_eval_8(5), presets.trec_eval_9(5), {"gain": ("linear", "linear-positive")}),
        (presets.letor3(5), presets.letor4(5), {}),
        (presets.ranx(5, burges=True), presets.ranx(5), {"gain": ("exp2", "linear-positive")}),
        (presets.torchmetrics(5, empty_target_action="skip"), presets.torchmetrics(5), {"empty": ("skip", 0.0)}),
        (presets.lightgbm(5, label_gain=[0, 1, 3]), presets.lightgbm(5), {"gain": ("table_0_1_3", "exp2")}),
        (presets.xgboost(5, ndcg_exp_gain=False), presets.xgboost(5), {"gain": ("linear", "exp2-floor")}),
        (presets.xgboost(5, minus=True), presets.xgboost(5),
         {"empty": (0.0, 1.0), "average": ("query", "query-except-empty")}),
        (presets.catboost(5, type="Exp", denominator="Position", use_weights=False), presets.catboost(5),
         {"gain": ("exp2", "linear"), "discount": ("reciprocal", "log2"), "average": ("uniform", "query")}),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_of_a_preset_change_its_fields(preset, default, difference):
    assert preset.diff(default) == difference
    assert presets.letor3(5).name == "ndcg@5/letor3"


@pytest.mark.parametrize(
    ("measure", "field", "value", "fitting_columns", "unfitting_columns"),
    [
        (ra.AP, "average", "geometric_0.001", [], ["query_weight"]),
        (ra.AP, "average", "uniform", [], ["query_weight"]), (ra.AP, "average", "query", ["query_weight"], None),
        (ra.AP, "ties", "input", [], None),
        (ra.AP, "ties", "docid-ascending", ["docid"], []), (ra.NDCG, "gain", "table_0_1_3", [], None),
        (ra.AUC, "pairs", "given", ["pairs"], []), (ra.RBP, "gain", "from_2", [], None),
    ],
)  # fmt: skip
def test_a_value_fits_the_columns_that_it_needs_and_none_that_it_ignores(
    measure, field, value, fitting_columns, unfitting_columns
):
    declaration = measure.declared()[field]
    assert declaration.fits(value, fitting_columns)
    assert unfitting_columns is None or not declaration.fits(value, unfitting_columns)


@pytest.mark.parametrize("gains", [[0, 1, 10], (0, 1.0, 10), np.array([0, 1, 10]), np.float32([0, 1, 10])])
def test_a_list_of_gains_becomes_a_gain_table(gains):
    replaced = ra.presets.lightgbm(10).replace(gain=gains)
    declared = ra.NDCG(**{**ra.presets.lightgbm(10).to_dict(), "gain": gains})

    assert replaced == declared == ra.parse("lightgbm@10+gain=table_0_1_10")
    assert ra.evaluate([2, 1, 0], [1, 2, 3], replaced, group_sizes=[3]).value == pytest.approx(
        (10 / 2 + 1 / math.log2(3)) / (10 + 1 / math.log2(3))
    )
