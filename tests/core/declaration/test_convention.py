"""Conventions: their signatures, their fields and allowed values, their names, and the presets."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given

import rankadapters as ra
from rankadapters import presets
from tests.helpers.convention_strategies import conventions
from tests.helpers.tables import for_each

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
NOT_GAINS = r"^gain=(.|\n)*; allowed are .*, or a list of gains by label"


@for_each(
    ("changes", "problem"),
    [
        *(({field: "nonsense"}, rf"{field}='nonsense'; allowed are .+'")
          for field in FIELDS if field != "k"),
        *(({"k": k}, "is not a cutoff; allowed are whole numbers from 1 on, or None")
          for k in (0, -1, 10.0, True, "10", np.float64(3), math.nan)),
        *(({"empty": empty}, r"numbers from 0 to 1, 'skip'") for empty in (-0.1, 1.1, math.nan, True, None, "1")),
        *(({"gain": gain}, "not a table") for gain in ("table_", "table_0_x", "table_0_inf")),
        ({"gain": "table_0_3_1"}, "decreases"),
        ({"gain": [3, 1]}, "gain='table_3_1' decreases"),
        *(({"gain": gains}, NOT_GAINS) for gains in (
            [], [0, "1"], [0, True], [0, math.nan], [0, 10**400], np.array([[0, 1]]), np.array(3), {0: 1})),
        ({"tie": "average"}, "no field 'tie'; its fields are 'k', 'gain'"),
    ],
)  # fmt: skip
def test_a_bad_value_of_a_field_is_refused_with_the_choices(changes, problem):
    for make in (lambda: ra.NDCG(**{**FIELDS, **changes}), lambda: ra.NDCG(**FIELDS).replace(**changes)):
        with pytest.raises(ra.ConventionError, match=problem):
            make()


@for_each(
    ("preset", "field", "allowed", "refused"),
    [
        ("textbook@5", "k", [1], [0]),
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
        with pytest.raises(ra.ConventionError, match=rf"{field}={value}[a-z ]*; allowed"):
            convention.replace(**{field: value})


@for_each(
    ("call", "problem"),
    [
        *((lambda left_out=left_out: ra.NDCG(**{n: v for n, v in FIELDS.items() if n != left_out}),
           rf"left out:\n  {left_out}: .+") for left_out in FIELDS),
        (lambda: ra.DCG(**DCG_FIELDS, ideal="all"), "no field 'ideal'"),
        (lambda: ra.DCG(**{**DCG_FIELDS, "average": "query-except-empty"}),
         "'query-except-empty'; allowed are 'uniform'"),
        (lambda: ra.NDCG([1, 0], [0.3, 0.2]), r"Hint: ra\.evaluate\(labels, scores, ra\.NDCG"),
        (lambda: ra.Convention(**{n: v for n, v in FIELDS.items() if n in ra.Convention.fields()}), "abstract"),
        (lambda: presets.lightgbm(10).diff(5), r"a convention's text is a string, not int\.\nHint: "),
        (lambda: presets.torchmetrics(5, empty_target_action="zero"), "allowed are 'neg', 'pos', 'skip', 'error'"),
        (lambda: presets.catboost(5, type="base"), "allowed are 'Base', 'Exp'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_incomplete_and_wrong_declarations_are_refused(call, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        call()


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


@for_each(
    ("signature", "problem"),
    [
        *((text, "the presets are 'textbook', 'sklearn'") for text in ("nothing@10", "")),
        ("ndcg@10/gain=exp2", "truncated"),
        ("ndcg@10/gain=exp2/v1", "left out:\n  discount"),
        ("", "is neither a preset@k"),
        ("nope/x=1/v1", "does not start with a measure and its cutoff, such as 'ndcg@10'"),
        ("map@10/v1", "the measures are 'ndcg', 'dcg'"),
        ("ndcg@0/v1", "does not start with"),
        (str(presets.yahoo(1)).replace("/v1", "/v2"), "knows 'v1'"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain=exp2/gain=exp2"), "occurs once"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain"), "occurs once"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gains=exp2"), "no field 'gains'"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain=exp"), "allowed are 'exp2'"),
        (str(presets.yahoo(1)).replace("empty=1", "empty=one"), "allowed are numbers from 0 to 1"),
        (7, "a convention's text is a string, not int"),
    ],
)
def test_a_damaged_signature_is_refused(signature, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        ra.parse(signature)


@for_each(
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


@for_each("gains", [[0, 1, 10], (0, 1.0, 10), np.array([0, 1, 10]), np.float32([0, 1, 10])])
def test_a_list_of_gains_becomes_a_gain_table(gains):
    replaced = ra.presets.lightgbm(10).replace(gain=gains)
    declared = ra.NDCG(**{**ra.presets.lightgbm(10).to_dict(), "gain": gains})

    assert replaced == declared == ra.parse("lightgbm@10+gain=table_0_1_10")
    assert ra.evaluate([2, 1, 0], [1, 2, 3], replaced, group_sizes=[3]).value == pytest.approx(
        (10 / 2 + 1 / math.log2(3)) / (10 + 1 / math.log2(3))
    )
