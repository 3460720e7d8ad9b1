from __future__ import annotations

import copy
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.presets.tool import takes_k
from tests.core.strategies import conventions
from tests.tables import for_each

FIELDS = {
    "k": 10, "gain": "exp2", "discount": "log2", "ideal": "cutoff", "ties": "average", "precision": "float64",
    "short": "pad", "empty": 0, "missing": "error", "unjudged": "error", "average": "uniform",
}  # fmt: skip


@given(conventions())
def test_parse_reads_back_what_str_writes(convention):
    again = ra.parse(str(convention))
    assert again == convention
    assert hash(again) == hash(convention)
    assert str(again) == str(convention)
    assert re.fullmatch(r"[A-Za-z0-9@=._/+-]+", str(convention))


@given(conventions())
def test_pickle_and_copies_keep_value_and_name(convention):
    convention = convention.named("mine")
    for again in (pickle.loads(pickle.dumps(convention)), copy.copy(convention), copy.deepcopy(convention)):
        assert again == convention
        assert again.name == convention.name


def test_signature_is_what_the_documentation_shows():
    assert str(presets.lightgbm(10)) == (
        "ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/"
        "missing=error/unjudged=error/average=query-except-empty/v1"
    )
    assert str(presets.yahoo(None)).startswith("ndcg@all/")


@pytest.mark.parametrize("left_out", FIELDS)
def test_a_field_left_out_is_named_with_its_choices(left_out):
    fields = {name: value for name, value in FIELDS.items() if name != left_out}
    with pytest.raises(ra.ConventionError, match=rf"left out:\n  {left_out}: .+"):
        ra.NDCG(**fields)


@pytest.mark.parametrize("field", [f for f in FIELDS if f != "k"])
def test_an_unknown_value_is_answered_with_the_choices(field):
    with pytest.raises(ra.ConventionError, match=rf"{field}='nonsense' is not a choice; allowed are '.+'"):
        ra.NDCG(**{**FIELDS, field: "nonsense"})


@pytest.mark.parametrize("k", [0, -1, 10.0, True, "10", np.float64(3), float("nan")])
def test_k_is_a_positive_whole_number(k):
    with pytest.raises(ra.ConventionError, match="is not a cutoff; allowed are whole numbers from 1 on, or None"):
        ra.NDCG(**{**FIELDS, "k": k})


@pytest.mark.parametrize("empty", [-0.1, 1.1, float("nan"), True, None, "1"])
def test_empty_is_a_number_from_0_to_1(empty):
    with pytest.raises(ra.ConventionError, match=r"a number in \[0, 1\]"):
        ra.NDCG(**{**FIELDS, "empty": empty})


@pytest.mark.parametrize(
    ("gain", "problem"),
    [
        ("table_", "not a table"),
        ("table_0_x", "not a table"),
        ("table_0_inf", "not a table"),
        ("table_0_3_1", "decreases"),
    ],
)
def test_a_gain_table_is_finite_and_does_not_decrease(gain, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        ra.NDCG(**{**FIELDS, "gain": gain})


def test_an_unknown_field_is_answered_with_the_fields():
    with pytest.raises(ra.ConventionError, match="no field 'tie'; its fields are 'k', 'gain'"):
        ra.NDCG(**FIELDS, tie="average")
    with pytest.raises(ra.ConventionError, match="no field 'tie'"):
        presets.yahoo(1).replace(tie="average")


def test_a_convention_called_with_data_points_to_evaluate():
    with pytest.raises(ra.ConventionError, match=r"Hint: ra\.evaluate\(labels, scores, ra\.NDCG"):
        ra.NDCG([1, 0], [0.3, 0.2])


def test_the_base_is_abstract():
    with pytest.raises(ra.ConventionError, match="abstract"):
        ra.Convention(**{n: v for n, v in FIELDS.items() if n in ra.Convention.fields()})


def test_fields_that_cannot_matter_have_one_spelling():
    conv = ra.NDCG(**{**FIELDS, "k": None, "short": "zero", "ideal": "all", "average": "query-except-empty"})
    assert (conv.short, conv.ideal, conv.average) == ("pad", "cutoff", "query")
    assert ra.NDCG(**{**FIELDS, "gain": "table_0_1.0_3e0"}) == ra.NDCG(**{**FIELDS, "gain": "table_0_1_3"})
    assert ra.NDCG(**{**FIELDS, "k": np.int64(10), "empty": np.float32(0)}) == ra.NDCG(**FIELDS)
    assert str(ra.NDCG(**{**FIELDS, "empty": 1.0})) == str(ra.NDCG(**{**FIELDS, "empty": 1}))


def test_dcg_has_neither_ideal_nor_empty():
    fields = {name: value for name, value in FIELDS.items() if name not in {"ideal", "empty"}}
    assert str(ra.DCG(**fields)).startswith("dcg@10/gain=exp2/discount=log2/ties=average/")
    with pytest.raises(ra.ConventionError, match="no field 'ideal'"):
        ra.DCG(**fields, ideal="all")
    with pytest.raises(ra.ConventionError, match="'query-except-empty' is not a choice; allowed are 'uniform'"):
        ra.DCG(**{**fields, "average": "query-except-empty"})
    assert ra.DCG(**fields) != ra.NDCG(**FIELDS)


def test_diff_and_write_take_a_text_as_well_as_a_value():
    assert presets.lightgbm(10).diff("sklearn@10") == presets.lightgbm(10).diff(presets.sklearn(10))
    assert presets.lightgbm.write("lightgbm@10") == presets.lightgbm.write(presets.lightgbm(10))
    assert presets.catboost.nearest("lightgbm@10") == presets.catboost.nearest(presets.lightgbm(10))
    with pytest.raises(ra.ConventionError, match=r"5 is not a convention\.\nHint: "):
        presets.lightgbm(10).diff(5)


def test_diff_names_fields_with_both_values():
    assert presets.letor4(10).diff(presets.yahoo(5)) == {
        "k": (10, 5), "gain": ("table_0_1_3", "exp2"), "discount": ("jk2", "log2"), "short": ("zero", "pad"),
        "empty": (0.0, 1.0),
    }  # fmt: skip
    fields = {name: value for name, value in FIELDS.items() if name not in {"ideal", "empty"}}
    assert ra.DCG(**fields).diff(ra.NDCG(**FIELDS)) == {
        "measure": ("dcg", "ndcg"), "ideal": (None, "cutoff"), "empty": (None, 0.0)
    }  # fmt: skip
    assert presets.yahoo(5).diff(presets.yahoo(5)) == {}


def test_names_say_the_preset_or_seven_digits():
    assert presets.letor4(10).name == "ndcg@10/letor4"
    assert presets.letor4(10).at(5).name == "ndcg@5/letor4"
    assert presets.letor4(10).at(5) == presets.letor4(5)
    assert presets.letor4(10).replace(empty=1).name == "ndcg@10/letor4+empty=1"
    assert re.fullmatch("ndcg@10/[0-9a-f]{7}", ra.parse(str(presets.letor4(10))).name)
    assert ra.parse(str(presets.letor4(10))) == presets.letor4(10)


def test_a_cutoff_after_none_does_not_claim_to_be_the_preset():
    # k=None forgot that LETOR zeroes short queries, so that the result is not letor4(10).
    later = presets.letor4(None).at(10)
    assert later != presets.letor4(10)
    assert "letor4" not in later.name


@pytest.mark.parametrize(
    ("signature", "problem"),
    [
        ("ndcg@10/gain=exp2", "truncated"),
        ("ndcg@10/gain=exp2/v1", "left out:\n  discount"),
        ("", "is neither a preset@k"),
        ("map@10/v1", "the measures are 'ndcg', 'dcg'"),
        ("ndcg@0/v1", "does not start with"),
        (str(presets.yahoo(1)).replace("/v1", "/v2"), "knows 'v1'"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain=exp2/gain=exp2"), "occurs once"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain"), "occurs once"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gains=exp2"), "no field 'gains'"),
        (str(presets.yahoo(1)).replace("gain=exp2", "gain=exp"), "allowed are 'exp2'"),
        (str(presets.yahoo(1)).replace("empty=1", "empty=one"), "allowed are 'a number"),
        (7, "a convention's text is a string, not int"),
    ],
)
def test_a_damaged_signature_is_refused(signature, problem):
    with pytest.raises(ra.ConventionError, match=problem):
        ra.parse(signature)


def test_presets_are_listed_and_resolved_by_name():
    assert presets.names()[:5] == ("textbook", "sklearn", "lightgbm", "xgboost", "catboost")
    assert set(presets.names()) < set(presets.__all__)
    for name in presets.names():
        assert ra.parse(f"{name}@10") == getattr(presets, name)(10)
        assert ra.parse(f"{name}@10").name == f"ndcg@10/{name}"
        assert ra.parse(f"{name}@all") == getattr(presets, name)(None)
    assert ra.parse(str(presets.yahoo(3))) == presets.yahoo(3)


@pytest.mark.parametrize("spec", ["nothing@10", "letor4@", "letor4@x", "letor4@-1", ""])
def test_an_unknown_spec_lists_the_presets(spec):
    with pytest.raises(ra.ConventionError, match="the presets are 'textbook', 'sklearn'"):
        ra.parse(spec)


@for_each("name", presets.names())
def test_a_preset_says_what_it_was_checked_against(name):
    text = getattr(presets, name).__doc__
    assert re.search(r"\b(Run|Run with .*|Read only)\b", text) or name == "textbook"
    assert re.search(r"\d", text)


def test_what_cannot_be_expressed_is_listed_with_the_reason():
    reasons = presets.inexpressible()
    assert {"spark_relevance", "tensorflow_ranking", "ranklib_2011"} <= set(reasons)
    assert all(re.search(r"\((run|read)", reason) for reason in reasons.values())
    assert not set(reasons) & set(presets.names())


def test_options_of_the_evaluation_programs():
    assert presets.trec_eval_9(5, complete=True).diff(presets.trec_eval_9(5)) == {"missing": ("zero", "skip")}
    assert presets.trec_eval_10(5).diff(presets.trec_eval_9(5)) == {"precision": ("float64", "float32")}
    assert presets.trec_eval_8(5).diff(presets.trec_eval_9(5)) == {"gain": ("linear", "linear-positive")}
    assert presets.letor3(5) == presets.letor4(5)
    assert presets.letor3(5).name == "ndcg@5/letor3"
    assert presets.ranx(5, burges=True).gain == "exp2"
    assert presets.torchmetrics(5, empty_target_action="skip").empty == "skip"
    with pytest.raises(ra.ConventionError, match="allowed are 'neg', 'pos', 'skip', 'error'"):
        presets.torchmetrics(5, empty_target_action="zero")


def test_preset_parameters_change_what_they_say():
    assert presets.lightgbm(5, label_gain=[0, 1, 3]).gain == "table_0_1_3"
    assert presets.xgboost(5, ndcg_exp_gain=False).gain == "linear"
    assert presets.xgboost(5, minus=True).empty == 0
    assert presets.catboost(5, type="Exp", denominator="Position", use_weights=False).diff(presets.catboost(5)) == {
        "gain": ("exp2", "linear"), "discount": ("reciprocal", "log2"), "average": ("uniform", "query"),
    }  # fmt: skip
    with pytest.raises(ra.ConventionError, match="allowed are 'Base', 'Exp'"):
        presets.catboost(5, type="base")


@pytest.mark.parametrize(
    ("measure", "field", "value", "fitting", "unfitting"),
    [
        (ra.AP, "average", "geometric_0.001", [], ["query_weight"]),
        (ra.AP, "average", "uniform", [], ["query_weight"]), (ra.AP, "average", "query", ["query_weight"], None),
        (ra.AP, "ties", "input", [], None),
        (ra.AP, "ties", "docid-ascending", ["docid"], []), (ra.NDCG, "gain", "table_0_1_3", [], None),
        (ra.AUC, "pairs", "given", ["pairs"], []), (ra.RBP, "gain", "from_2", [], None),
    ],
)  # fmt: skip
def test_a_value_fits_where_its_column_is_there_and_none_that_it_would_ignore(
    measure, field, value, fitting, unfitting
):
    kind = measure.declared()[field]
    assert kind.fits(value, fitting)
    assert unfitting is None or not kind.fits(value, unfitting)


@pytest.mark.parametrize("gains", [[0, 1, 10], (0, 1.0, 10), np.array([0, 1, 10]), np.float32([0, 1, 10])], ids=repr)
def test_a_list_of_gains_is_the_table_of_them(gains):
    replaced = ra.presets.lightgbm(10).replace(gain=gains)
    declared = ra.NDCG(**{**ra.presets.lightgbm(10).to_dict(), "gain": gains})

    assert replaced == declared == ra.parse("lightgbm@10+gain=table_0_1_10")
    assert ra.evaluate([2, 1, 0], [1, 2, 3], replaced, group_sizes=[3]).value == pytest.approx(
        (10 / 2 + 1 / math.log2(3)) / (10 + 1 / math.log2(3))
    )


@pytest.mark.parametrize(
    "gains",
    [[], [0, "1"], [0, True], [0, math.nan], [0, 10**400], np.array([[0, 1]]), np.array(3), {0: 1}],
    ids=["empty", "text", "bool", "nan", "overflow", "two dimensions", "a number", "dict"],
)
def test_a_list_of_what_is_no_gain_is_refused(gains):
    message = r"^gain=(.|\n)* is not a choice; allowed are .*, or a list of gains by label"
    with pytest.raises(ra.ConventionError, match=message):
        ra.presets.lightgbm(10).replace(gain=gains)


def test_a_list_of_gains_that_decrease_is_refused_as_a_table_is():
    with pytest.raises(ra.ConventionError, match="gain='table_3_1' decreases"):
        ra.presets.lightgbm(10).replace(gain=[3, 1])


@for_each("name", presets.names(None))
def test_a_preset_without_its_cutoff_says_what_to_write(name):
    make = presets.maker(name)
    if not takes_k(make):
        assert make() == presets.make(name, 10)
        return
    with pytest.raises(ra.ConventionError, match=r"^the preset [\w.]+ needs k, .*\nHint: presets\.[\w.]+\(10\)\.$"):
        make()
