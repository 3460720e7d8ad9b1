"""The presets of each tool, and how the tool's vocabulary reads and writes metric names."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import re
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pkgutil import iter_modules

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import presets
from rankadapters.presets.texts import maker
from rankadapters.presets.tool import Tool, preset
from tests.helpers.conventions import conventions
from tests.helpers.parameters import examples

# Values to try for each option of a preset, and the values of presets that allow fewer.
VALUES = {
    "k": (1, 5, 10, None), "type": ("Base", "Exp"), "denominator": ("LogPosition", "Position"),
    "border": (0.5, 0.1, -1, 2), "alpha": (None, 0, 0.3, 0.95), "beta": (1, 0.1, 1e-5), "decay": (0.85, 0.5, 1),
    "sort": ("None", "ByPrediction", "ByTarget"), "weights": (None, "row", "query"), "pairs": ("given", "label"),
    "pool": ("queries", "rows"), "variant": ("b", "c"), "label_gain": (None, [0, 1, 3], [0.5, 0.5]),
    "rel": (1, 3, 12), "p": (0.8, 0.95),
}  # fmt: skip
NARROWER = {
    **{(name, "type"): ("Classic", "Ranking") for name in ("catboost.auc", "catboost.query_auc")},
    **{(f"ir_measures.{name}", "k"): (1, 5, 10) for name in ("rr_cut", "success", "err")},
    ("ir_measures.rbp", "k"): (1000,),
    ("ir_measures.set_f", "beta"): (0, 1, 2, 0.5, 1e-5),
    ("ir_measures.r", "k"): (1, 5, 10),  # without a cutoff it is SetR, which has no judged_only
    ("sklearn.dcg", "log_base"): (2,),
}


def conventions_of(name):
    options = signature(maker(name)).parameters
    values = [NARROWER.get((name, option)) or VALUES.get(option, (True, False)) for option in options]
    return [maker(name)(**dict(zip(options, row, strict=True))) for row in itertools.product(*values)]


TOOLS = ("lightgbm", "xgboost", "catboost", "sklearn", "ir_measures", "scipy", "pandas", "polars")
WRITABLE = [
    (name.partition(".")[0], convention)
    for name in presets.names(None)
    if name.partition(".")[0] in TOOLS
    for convention in conventions_of(name)
]
WRITABLE += [("sklearn", preset(5).replace(average="uniform")) for preset in (presets.sklearn, presets.sklearn.dcg)]


def read_options(tool, convention):
    """Return the options that `read` needs, since the tool's text omits the weights and the source of the pairs."""
    if tool == "sklearn":
        return {} if convention.weighting else {"weights": None}
    if not (convention.measure == "auc" or convention.pooled) or tool != "catboost":
        return {}
    pairs = {"pairs": convention.pairs} if convention.pooled and "pairs" in convention.fields() else {}
    return {"weights": "row" if convention.average == "row" else "query", **pairs}


@pytest.mark.parametrize(("tool", "convention"), WRITABLE)
def test_a_tool_reads_back_what_it_writes_also_from_json(tool, convention):
    vocabulary = presets.TOOLS[tool]
    written = vocabulary.write(convention)
    for text in (written, json.loads(json.dumps(written))):
        assert vocabulary.read(text, **read_options(tool, convention)) == convention


@pytest.mark.parametrize(
    ("convention", "text"),
    [
        ("ir_measures@10", "nDCG@10"), ("trec_eval_9@all+missing=zero", "nDCG"), ("ir_measures.ap@all", "AP"),
        (presets.ir_measures(5, exp=True), "nDCG(dcg='exp-log2')@5"), ("ir_measures.p@5", "P@5"),
        (presets.ir_measures.ap(5, rel=2, judged_only=True), "AP(rel=2,judged_only=True)@5"),
        (presets.ir_measures.rbp(1000, p=0.95), "RBP(rel=1,p=0.95)"), ("ir_measures.p@all", "SetP"),
        (presets.ir_measures.rbp(1000), "RBP(rel=1)"), (presets.ir_measures.set_f(), "SetF"),
        (presets.ir_measures.set_f(beta=1e-5), "SetF(beta=0.00001)"),
        (presets.ir_measures.set_f(beta=2), "SetF(beta=2.0)"),  # ir_measures 0.4.3 refuses beta=2
    ],
)  # fmt: skip
def test_ir_measures_writes_the_text_that_it_prints(convention, text):
    assert presets.ir_measures.write(convention) == text


@given(conventions(), st.sampled_from(TOOLS))
@settings(max_examples=examples(300), deadline=None)
def test_a_tool_refuses_a_convention_or_reads_back_an_equal_text(convention, tool):
    vocabulary = presets.TOOLS[tool]
    try:
        written = vocabulary.write(convention)
    except ra.UnsupportedConventionError:
        return
    # Two conventions may be the same to the tool, so that reading back gives another one with the same text.
    assert vocabulary.write(vocabulary.read(written, **read_options(tool, convention))) == written


@pytest.mark.parametrize("digits", ["1\u0663", "\u0663", "\uff15", "1" * 5000], ids=["mixed", "arabic", "wide", "5000"])
@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("trec_eval_9", "P_{}"), ("ranx", "map@5-l{}"), ("ranx", "map@{}"), ("ir_measures", "AP(rel={})@5"),
        ("ir_measures", "SetF(beta={})"), ("letor4", "NDCG@1{}"), ("lightgbm", "ndcg@{}"), ("xgboost", "map@{}-"),
        ("catboost", "NDCG:top={}"), ("ranklib", "ERR@1{}"),
    ],
)  # fmt: skip
def test_digits_of_other_scripts_and_endless_digits_are_refused(tool, text, digits):
    with pytest.raises(ra.ConventionError):
        presets.TOOLS[tool].read(text.format(digits))


def test_every_tool_of_a_file_is_registered():
    modules = [import_module(f"{presets.__name__}.{module.name}") for module in iter_modules(presets.__path__)]
    tools = {
        (module.__name__, name): tool
        for module in modules
        for name, tool in vars(module).items()
        if isinstance(tool, Tool) and type(tool).__module__ == module.__name__
    }
    line = "rankadapters/presets/__init__.py lacks `from {0} import {1} as {1}`"
    assert [line.format(*where) for where, tool in tools.items() if tool not in presets.TOOLS.values()] == []
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    kinds = {kind for kind in kinds if issubclass(kind, Tool) and vars(kind).get("name")}
    without_instance = kinds - set(map(type, tools.values()))
    assert [f"{kind.__module__} lacks `{kind.name} = {kind.__name__}()`" for kind in without_instance] == []


@pytest.mark.parametrize("tool", presets.TOOLS.values(), ids=presets.TOOLS)
def test_every_field_that_a_tool_declares_is_one_of_its_measures(tool):
    fields = {name for declared in tool.presets.values() for name in declared.measure.fields()}
    assert set(tool.defaults) <= fields


@pytest.mark.parametrize(("convention", "params"), [
    ("lightgbm@all", {"metric": "ndcg", "eval_at": [10_000]}), ("lightgbm@9999", {"metric": "ndcg", "eval_at": [9999]}),
    ("lightgbm.map@all", {"metric": "map", "eval_at": [10_000]}),
    ("lightgbm@3+gain=linear", {"metric": "ndcg", "eval_at": [3], "label_gain": [*range(31)]}),
    ("xgboost@all", {"eval_metric": "ndcg@2147483647", "ndcg_exp_gain": True}),
    ("xgboost@2147483646", {"eval_metric": "ndcg@2147483646", "ndcg_exp_gain": True}),
    ("xgboost.pre@all", {"eval_metric": "pre@2147483647"}),
])  # fmt: skip
def test_no_cutoff_is_written_as_the_largest_and_linear_gains_as_a_table(convention, params):
    vocabulary = presets.TOOLS[convention.partition("@")[0].partition(".")[0]]
    assert vocabulary.write(convention) == params
    if "linear" not in convention:
        assert vocabulary.read(params) == ra.parse(convention)


def test_the_largest_cutoff_is_read_back():
    convention = ra.presets.textbook(2**63 - 1)
    assert ra.parse(str(convention)) == ra.parse(convention.name) == ra.parse(convention.short_name) == convention


CUTOFF_METRICS = ("dcg", "map", "mrr", "pfound", "err", "precision_at", "recall_at", "average_gain")


@pytest.mark.parametrize("make", [getattr(presets.catboost, name) for name in ("__call__", *CUTOFF_METRICS)])
def test_a_cutoff_above_catboosts_largest_is_refused(make):
    assert presets.catboost.read(presets.catboost.write(make(2**31 - 1))) == make(2**31 - 1)
    with pytest.raises(ra.UnsupportedConventionError, match="cannot express k=2147483648"):
        presets.catboost.write(make(2**31))


@pytest.mark.parametrize(
    ("convention", "text"),
    [
        (presets.catboost.auc(), "AUC:type=Classic"),
        (presets.catboost.query_auc(type="Ranking"), "QueryAUC:type=Ranking"),
        (presets.catboost.pair_accuracy(use_weights=False), "PairAccuracy"),
        (presets.catboost.mrr(5, use_weights=False), "MRR:top=5;border=0.5"),
    ],
)
def test_use_weights_is_left_out_for_trainings_without_weights(convention, text):
    assert presets.catboost.spell(convention, group_weights=False) == text


@pytest.mark.parametrize("name", presets.names(None))
def test_options_of_presets_are_keyword_only_and_have_no_effect_at_their_defaults(name):
    make = maker(name)
    options = {**signature(make).parameters}
    k = {"k": 5} if options.pop("k", None) else {}
    plain = make(**k)
    assert plain.name.partition("/")[2] == name
    for option, parameter in options.items():
        assert parameter.kind is Parameter.KEYWORD_ONLY
        explicit = make(**k, **{option: parameter.default})
        assert (explicit, explicit.name) == (plain, plain.name)


@pytest.mark.parametrize("tool", presets.TOOLS.values(), ids=presets.TOOLS)
def test_the_docstring_of_a_preset_describes_its_parameters(tool):
    for make in (getattr(tool, name) for name in tool.presets):
        described = getdoc(make).partition("\nParameters\n----------\n")[2]
        assert re.findall(r"^(\w+) : .+\n    .+", described, re.MULTILINE) == list(signature(make).parameters)


def test_a_preset_cannot_declare_a_field_that_its_measure_lacks():
    class Misspelled(Tool, name="misspelled"):
        @preset(ra.RPrecision, divisor="k")
        def r_precision(self): ...

    with pytest.raises(ra.ConventionError, match="RPrecision has no field 'divisor'"):
        Misspelled().r_precision()


def test_a_name_without_a_release_means_the_newest_release():
    assert ra.parse("lenskit@5") == ra.presets.lenskit(5) == ra.presets.lenskit_2026(5)
    assert ra.parse("allrank@5").name == "ndcg@5/allrank_1_4_1"
    for name, tool in ra.presets.NEWEST.items():
        releases = [
            other
            for other in ra.presets.TOOLS.values()
            if re.fullmatch(rf"{name}(_[0-9_]+|[0-9])", other.name) and "rc" not in other.versions[-1]
        ]
        newest = max(releases, key=lambda other: [int(part) for part in re.findall(r"\d+", other.versions[-1])])
        assert tool is newest is getattr(ra.presets, name)
    with_release = {re.sub(r"_?[0-9][0-9_]*\Z", "", name) for name in ra.presets.TOOLS} - set(ra.presets.TOOLS)
    assert set(ra.presets.NEWEST) == with_release
    packages = {name: tool.package or name for name, tool in ra.presets.TOOLS.items()}
    assert not [
        (name, other)
        for name, other in itertools.permutations(packages, 2)
        if packages[name] == packages[other] and other.startswith(f"{name}_")
    ]


def test_tools_are_copied_and_pickled_as_before():
    for copied in (copy.deepcopy(presets.lightgbm), pickle.loads(pickle.dumps(presets.lightgbm))):
        assert copied(5) == presets.lightgbm(5)


@pytest.mark.parametrize("gain", ["from_1", "from_2"])
def test_lightgbm_gets_a_binary_gain_as_label_gain(gain):
    convention = presets.lightgbm(3).replace(gain=gain)
    read = presets.lightgbm.read(presets.lightgbm.write(convention))
    labels, scores = [0, 1, 2, 3, 1, 0], [1, 6, 2, 3, 4, 5]
    values = ra.evaluate(labels, scores, [convention, read], group_sizes=[6])
    assert len({score.value for score in values.values()}) == 1
    objective = ra.objectives.lightgbm.lambdarank()
    objective = objective.replace(convention=objective.convention.replace(gain=gain))
    gains = [float(label >= int(gain[-1])) for label in range(31)]
    assert ra.objectives.lightgbm.native_objective(objective)["label_gain"] == gains


@pytest.mark.parametrize(
    ("convention", "tool", "field", "nearest"),
    [
        (presets.ir_measures.ap(5).replace(relevant="above_0"), "ir_measures", "relevant", "from_1"),
        (presets.sklearn.dcg(5).replace(discount="reciprocal"), "sklearn", "discount", "log2"),
        (presets.catboost.mrr(5).replace(relevant="from_2"), "catboost", "relevant", "above_0.5"),
        (presets.catboost(5).replace(gain="table_0_1_2"), "catboost", "gain", "linear"),
        (presets.catboost(5).replace(gain="table_0_1_3"), "catboost", "gain", "exp2"),
        (presets.trec_eval_9.P(5), "lightgbm", "k", 5),
        (presets.trec_eval_9.recall(5), "xgboost", "empty", 0),
        (presets.catboost.recall_at(5), "xgboost", "empty", 1),
    ],
)
def test_a_tool_that_lacks_a_word_has_the_nearest_one(convention, tool, field, nearest):
    assert getattr(presets.TOOLS[tool].nearest(convention), field) == nearest


@pytest.mark.parametrize("tool", presets.TOOLS.values(), ids=presets.TOOLS)
@pytest.mark.parametrize("text", ["", None])
def test_a_metric_without_a_name_is_refused(tool, text):
    with pytest.raises(ra.ConventionError) as caught:
        tool.read(text)
    assert "has no preset" not in str(caught.value)


@pytest.mark.parametrize(
    ("cutoffs", "options"), [((10,), {"empty": 0}), ((10, 20), {}), ((10,), {"k": 5}), ((), {"k": 5, "empty": 0})]
)
def test_arguments_that_a_preset_lacks_are_refused(cutoffs, options):
    with pytest.raises(TypeError, match=r"Letor4\.__call__\(\) (got|takes)"):
        presets.letor4(*cutoffs, **options)


def test_an_unhashable_value_of_an_option_is_refused():
    with pytest.raises(ra.ConventionError, match=r"ignore_ties=\[1\]; allowed are True, False"):
        presets.polars_ds(5, ignore_ties=[1])


@pytest.mark.parametrize(("tool", "call"), [("ml_metrics", "mapk(10)"), ("scipy", "spearmanr()")])
def test_the_error_of_a_tool_without_ndcg_names_its_first_measure(tool, call):
    with pytest.raises(ra.ConventionError, match=re.escape(f"{tool} has no NDCG.\nHint: presets.{tool}.{call}.")):
        presets.TOOLS[tool](10)


@pytest.mark.parametrize(
    ("text", "params", "k"),
    [
        ("ndcg", {"eval_at": [1]}, 1), ("ndcg@9999", {}, 9999), ("ndcg@10000", {}, None), ("map@10001", {}, None),
        ("map", {"eval_at": 10_000}, None),
    ],
)  # fmt: skip
def test_lightgbms_cutoff_of_its_longest_query_is_none(text, params, k):
    assert presets.lightgbm.read(text, **params).k == k


@pytest.mark.parametrize("cutoffs", [[], [0], [-1], [1, 2], [1.5], None])
def test_a_list_of_other_than_one_cutoff_of_lightgbm_is_refused(cutoffs):
    with pytest.raises(ra.ConventionError, match="'ndcg' has no cutoff"):
        presets.lightgbm.read("ndcg", eval_at=cutoffs)


@pytest.mark.parametrize(
    ("top", "why"),
    [
        ("0", ", at which CatBoost gives every query 1 as NDCG and 0 as DCG"),
        ("-5", ", which CatBoost takes as all rows"),
        *[(top, "") for top in ("x5", "5x", "-", "2147483648")],
    ],
)
def test_a_top_that_catboost_misreads_is_refused_with_its_meaning(top, why):
    with pytest.raises(ra.ConventionError, match=f"has top='{top}'{why}; allowed are whole numbers from 1 on, or -1"):
        presets.catboost.read(f"NDCG:top={top}")
    assert presets.catboost.read("NDCG:top=1").k == 1
