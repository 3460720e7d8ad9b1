"""Texts of conventions: the convention of each text, the refused texts, and names that read back."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import ALIASES, as_convention, tool_name
from tests.helpers.conventions import field_values
from tests.helpers.parameters import examples


@pytest.mark.parametrize(
    ("text", "convention"),
    [
        ("rr@5/catboost.mrr+average=uniform", presets.catboost.mrr(5, use_weights=False)),
        ("catboost.query_soft_max+beta=0.5", presets.catboost.query_soft_max(beta=0.5)),
        ("catboost.pfound@5+discount=power_0.9", presets.catboost.pfound(5, decay=0.9)),
        ("yahoo@10+empty=0", presets.yahoo(10).replace(empty=0)),
        ("ndcg@10/xgboost+empty=0", presets.xgboost(10, minus=True)),
        ("lightgbm@10+gain=table_0_1_3", presets.lightgbm(10, label_gain=[0, 1, 3])),
        ("lightgbm@10+gain=table_0_1e+30", presets.lightgbm(10, label_gain=[0, 1e30])),
        ("lightgbm@10+gain=table_0_1e30+empty=0", presets.lightgbm(10, label_gain=[0, 1e30]).replace(empty=0)),
        ("trec_eval_9.map+average=geometric_1e-05", presets.trec_eval_9.gm_map()),
        # A tool and its own name of a metric
        ("trec_eval_9.ndcg_cut_10", presets.trec_eval_9(10)),
        ("trec_eval_9.ndcg_cut.10", presets.trec_eval_9(10)),
        ("trec_eval_9.ndcg", presets.trec_eval_9(None)),
        ("pytrec_eval.P_5+empty=skip", presets.pytrec_eval.P(5).replace(empty="skip")),
        ("ir_measures.AP(rel=2)@10", presets.ir_measures.ap(10, rel=2)),
        ("lightgbm.ndcg@5", presets.lightgbm(5)),
        ("xgboost.ndcg@5-", presets.xgboost(5, minus=True)),
        ("catboost.NDCG:top=5;type=Exp", presets.catboost(5, type="Exp")),
    ],
)
def test_a_text_is_read_as_its_convention(text, convention):
    assert ra.parse(text) == convention
    assert as_convention(text) == convention


OTHER_NAMES = {
    "sklearn@10": ["scikit-learn@10", "scikit_learn@10", "Sklearn@10", "Scikit-Learn@10", "skl@10", "SKLEARN@10"],
    "sklearn@10+empty=1": ["sklearn.ndcg@10+empty=1", "sklearn.ndcg_score@10+empty=1", "scikit-learn.NDCG@10+empty=1"],
    "sklearn.average_precision_score": ["scikit-learn.average_precision_score"],
    "lightgbm@10": ["lgbm@10", "lgb@10", "LightGBM@10", "LGBM@10", "ndcg@10/lgbm", "lgb.ndcg@10"],
    "lightgbm.map@5": ["lgbm.map@5", "lgb.map@5", "LightGBM.map@5", "ap@5/lgb.map"],
    "lightgbm@10+empty=0": ["lgbm@10+empty=0", "ndcg@10/lgb+empty=0"],
    "xgboost@10": ["xgb@10", "XGBoost@10", "XGB@10", "xgb.ndcg@10"],
    "catboost@10": ["cat@10", "cb@10", "CatBoost@10", "cat.NDCG:top=10"],
    "pytrec_eval@10": ["pytrec-eval@10", "pytrec_eval.ndcg_cut_10", "pytrec-eval.ndcg_cut.10"],
    "trec_eval_9@10": ["trec_eval@10", "trec-eval@10", "trec_eval.ndcg_cut.10", "treceval@10", "trec_eval.ndcg@10"],
    "trec_eval_9@all": ["trec_eval.ndcg", "trec-eval-9@all"],
    "trec_eval_9.map": ["trec_eval.map", "trec-eval.map", "ap@all/trec_eval.map"],
    "ir_measures@10": ["ir-measures@10", "ir_measures.nDCG@10", "ir-measures.nDCG@10"],
    "letor4@10": ["letor@10", "LETOR@10", "LETOR4@10"],
    "spark@10": ["pyspark@10"],
    "sentence_transformers@10": ["sentence-transformers@10", "sbert@10"],
    "polars_ds@10": ["polars-ds@10"],
    "lenskit_2026@10": ["lenskit@10", "LensKit@10"],
}


@pytest.mark.parametrize(("text", "others"), OTHER_NAMES.items())
def test_other_names_of_a_tool_mean_the_same_convention_with_the_same_name(text, others):
    convention = ra.parse(text)
    assert [ra.parse(other) for other in others] == [convention] * len(others)
    assert {ra.parse(other).name for other in others} == {convention.name}
    assert as_convention(others[0]) == convention


def test_every_other_name_of_a_tool_means_one_tool_and_is_no_name_itself():
    assert {tool_name(other) for other in ALIASES} <= set(presets.TOOLS)
    assert not set(ALIASES) & {*presets.TOOLS, *presets.NEWEST, *MEASURES}
    assert [tool_name(name) for name in presets.TOOLS] == list(presets.TOOLS)
    assert [tool_name(name.upper().replace("_", "-")) for name in presets.TOOLS] == list(presets.TOOLS)
    assert tool_name("nothing") == "nothing"


def test_make_takes_the_other_names_of_a_tool():
    assert presets.make("scikit-learn", 10) == presets.sklearn(10)
    assert presets.make("lgbm.map", 5) == presets.lightgbm.map(5)
    assert ra.objectives.parse("lgb.lambdarank") == ra.objectives.lightgbm.lambdarank()


@pytest.mark.parametrize("name", presets.names(None))
@pytest.mark.parametrize("k", [1, 10, None])
def test_every_preset_is_read_back_from_all_its_texts(name, k):
    convention = presets.make(name, k)
    for text in (str(convention), convention.name, convention.short_name):
        assert ra.parse(text) == convention
    assert ra.parse(convention.name).name == convention.name
    assert "+" not in convention.name or name in convention.name


@given(st.data(), st.sampled_from(presets.names(None)), st.sampled_from([1, 5, None]))
@settings(max_examples=examples(300), deadline=None)
def test_the_name_of_a_changed_preset_reads_back(data, name, k):
    preset = presets.make(name, k)
    fields = data.draw(st.lists(st.sampled_from(preset.fields()), max_size=3, unique=True))
    changes = {field: data.draw(field_values(preset.declared()[field])) for field in fields}
    try:
        convention = preset.replace(**changes)
    except ra.ConventionError:
        return
    for copied in (pickle.loads(pickle.dumps(convention)), copy.deepcopy(convention), ra.parse(convention.short_name)):
        assert copied == convention
        assert hash(copied) == hash(convention)
    if not re.fullmatch(".*/[0-9a-f]{7}", convention.name):
        assert ra.parse(convention.name) == convention
    assert pickle.loads(pickle.dumps(convention)).name == convention.name


def test_a_name_has_only_the_fields_that_differ_from_its_preset():
    # With empty=0, average='query-except-empty' means 'query', so that the name omits it.
    assert presets.xgboost(10, minus=True).name == "ndcg@10/xgboost+empty=0"
    assert presets.lightgbm(10).replace(empty=0, average="query").name == "ndcg@10/lightgbm+empty=0"
    changed = presets.yahoo(10).replace(empty=0)
    assert changed.replace(empty=1).name == "ndcg@10/yahoo"
    assert changed.at(5).name == "ndcg@5/yahoo+empty=0"


def test_numbers_are_written_without_a_plus():
    assert str(presets.lightgbm(1, label_gain=[0, 1e22])).split("/")[1] == "gain=table_0_1e22"
    assert ra.parse(str(presets.lightgbm(1, label_gain=[0, 1e-7]))).gain == "table_0_1e-07"


@pytest.mark.long
def test_a_new_process_can_read_a_text_after_making_or_unpickling_a_convention():
    convention = presets.yahoo(10).replace(empty=0)
    fields = ", ".join(f"{name}={value!r}" for name, value in convention.to_dict().items())
    for expression in (f"ra.NDCG({fields})", f"pickle.loads({pickle.dumps(convention)!r})"):
        code = f"import pickle\nimport rankadapters as ra\nprint({expression}.diff('yahoo@10'))"
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        assert printed == "{'empty': (0.0, 1.0)}\n"


def test_reading_a_short_text_takes_few_calls():
    ra.parse("lightgbm@10")
    calls = []

    def count(frame, event, _):
        if event == "call" and "/rankadapters/" in frame.f_code.co_filename.replace("\\", "/"):
            calls.append(frame.f_code.co_name)

    sys.setprofile(count)
    try:
        ra.parse("lightgbm@10")
    finally:
        sys.setprofile(None)
    assert len([name for name in calls if not name.startswith("<")]) <= 30


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("textbook@10 + gain=linear", "textbook@10+gain=linear"), ("textbook@5 +empty=1", "textbook@5+empty=1"),
        (" yahoo@10", "yahoo@10"), ("ndcg@10 / lightgbm", "ndcg@10/lightgbm"), ("lightgbm.map @ 5\n", "lightgbm.map@5"),
        (str(presets.letor4(5)).replace("/", " / "), str(presets.letor4(5))),
    ],
)  # fmt: skip
def test_spaces_are_named_with_the_text_without_them(text, corrected):
    with pytest.raises(ra.ConventionError, match="has spaces") as caught:
        ra.parse(text)
    assert str(caught.value).partition("Hint: ")[2] == f"{corrected!r}."
    assert ra.parse(corrected)


def test_spaces_between_the_options_of_ir_measures_are_read():
    assert ra.parse("ir_measures.RBP(rel=1, p=0.5)") == presets.ir_measures.rbp(1000, rel=1, p=0.5)


@pytest.mark.parametrize(
    ("text", "convention"),
    [
        ("RBP(p=0.5,rel=2)", presets.ir_measures.rbp(1000, rel=2, p=0.5)),
        ("RBP(p=0.5, rel=2)", presets.ir_measures.rbp(1000, rel=2, p=0.5)),
        ("AP(judged_only=True,rel=2)@5", presets.ir_measures.ap(5, rel=2, judged_only=True)),
        ("SetF(judged_only=True,beta=2.0,rel=3)", presets.ir_measures.set_f(rel=3, beta=2, judged_only=True)),
    ],
)
def test_the_options_of_ir_measures_may_have_any_order(text, convention):
    assert presets.ir_measures.read(text) == convention


@pytest.mark.parametrize("text", ["AP(rel=1,rel=2)", "AP(beta=2)", "RBP(p=0.5)", "nDCG(rel=1)@10"])
def test_options_that_the_metric_lacks_are_still_refused(text):
    with pytest.raises(ra.ConventionError, match=re.escape(f"{text!r} is not a known metric of ir_measures")):
        presets.ir_measures.read(text)


@pytest.mark.parametrize(
    ("tool", "metric", "hint"),
    [
        ("ranx", "bpref", "presets.pytrec_eval.bpref()"), ("ranx", "bpref-l2", "presets.pytrec_eval.bpref()"),
        ("trec_eval_10", "rbp", "RBP"), ("trec_eval_9", "infAP", "ra.presets.inexpressible()"),
        ("pytrec_eval", "num_rel_ret", None), ("xgboost", "aucpr", "ra.presets.inexpressible()"),
        ("catboost", "PRAUC", "AP with pool='rows'"), ("torchmetrics", "RetrievalAUROC", "ra.presets.inexp"),
        ("sklearn", "label_ranking_loss", "1 - the value of presets.sklearn.roc_auc_score"),
        ("ir_measures", "NumQ", "ra.presets.inexpressible()"), ("lightgbm", "unknown", None), ("ranx", "ndcg@x", None),
    ],
)  # fmt: skip
def test_a_metric_that_a_tool_has_and_no_preset_expresses_says_why(tool, metric, hint):
    with pytest.raises(ra.ConventionError) as caught:
        presets.TOOLS[tool].read(metric)
    assert (f"{metric!r} of {tool} has no preset: " in str(caught.value)) == (hint is not None)
    assert f"Hint: {hint or ''}" in str(caught.value)
    if hint is not None and "-" not in metric:
        with pytest.raises(ra.ConventionError, match=f"{metric}.* of {tool} has no preset: "):
            ra.parse(f"{tool}.{metric}")


@pytest.mark.parametrize(("text", "near"), [("precision@5", "precision_at@5"), ("recall@1", "recall_at@1")])
def test_the_name_of_a_measure_is_no_name_of_a_metric_whose_description_has_the_word(text, near):
    with pytest.raises(ra.ConventionError, match=rf"did you mean 'catboost\.{near}'"):
        ra.parse(f"catboost.{text}")


AS_PRINTED = "or a signature, which str(convention) prints"
BY_AP = "`rankadapters conventions --measure ap` prints them; or a whole signature, up to '/v1'."


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("letor5@10", "did you mean 'letor4@10'? "), ("trec_eval_9.recal@5", "did you mean 'trec_eval_9.recall@5'? "),
        ("ndcg@10/lightgbn+empty=0", "did you mean 'ndcg@10/lightgbm+empty=0'? "),
        ("lightgbm.recall@5",
         "did you mean 'catboost.recall_at@5' or 'trec_eval_9.recall@5' or 'trec_eval_10.recall@5'? "),
        ("ap@10", f"'lightgbm.map@10', 'xgboost.map@10', 'catboost.map@10', ...; {BY_AP}"),
        ("ap", "'sklearn.average_precision_score', 'sklearn.label_ranking_average_precision_score', 'lightgbm.ave"),
        ("P_10", "'trec_eval_9.P_10', 'trec_eval_10.P_10', 'pytrec_eval.P_10', ...; "),
        ("trec_eval_9.pre@5", "did you mean 'trec_eval_9.P@5' or 'trec_eval_9.relative_P@5' or 'trec_eval_9.set_P'? "),
        ("P@0", "'letor3.p@10', "), ("recall@all", "'catboost.recall_at@all', "),
        ("trec_eval_9.map@5", "'trec_eval_9.map', or 'trec_eval_9.map_cut@5'."),
        ("foo", f"'letor4@10', 'lightgbm.map@5', 'lightgbm@10+empty=0', {AS_PRINTED}; or {{'foo': 'textbook@10'}}, if"),
        ("foo!", f"'letor4@10', 'lightgbm.map@5', 'lightgbm@10+empty=0', {AS_PRINTED}."),
    ],
)  # fmt: skip
def test_the_hint_for_an_unknown_text_names_the_likeliest_texts(text, hint):
    with pytest.raises(ra.ConventionError) as caught:
        ra.parse(text)
    assert str(caught.value).partition("Hint: ")[2].startswith(hint)


@pytest.mark.parametrize("name", ["", " ", "a\nb", 3])
def test_a_name_of_a_mapping_is_a_text_in_one_line(name):
    with pytest.raises(ra.ConventionError, match="is not a name for a convention"):
        as_convention({name: "letor4@5"})


def test_a_name_of_a_mapping_may_end_like_a_hash_unless_it_begins_with_a_measure():
    assert as_convention({"mine@5/abcdef1": "letor4@5"}).name == "mine@5/abcdef1"
    with pytest.raises(ra.ConventionError, match="digits of a hash"):
        as_convention({"ndcg@5/abcdef1": "letor4@5"})


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("lightgbm.zzz@5", ("lightgbm", "lightgbm.map", "lightgbm.auc", "lightgbm.average_precision")),
        ("zzz!", presets.names()),
    ],
)
def test_the_error_for_an_unknown_text_lists_the_presets_of_its_tool_or_all_of_ndcg(text, listed):
    presets_are = f"nor a signature; the presets are {', '.join(map(repr, listed))}."
    with pytest.raises(ra.ConventionError, match=re.escape(presets_are)):
        ra.parse(text)
