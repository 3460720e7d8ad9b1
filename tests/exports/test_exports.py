"""Conventions and scores as other programs read them, by those programs where they are installed."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import pytest

import rankadapters as ra
from rankadapters import exports, presets
from tests.helpers.tables import for_each

LABELS, SCORES, SIZES = [2, 0, 1, 0, 0, 0], [0.4, 0.5, 0.2, 0.9, 0.3, 0.1], [3, 2, 1]
CONVENTIONS = [
    "lightgbm@10", "sklearn@all", "letor4@3+gain=table_0_1_3", "catboost.filtered_dcg", "torchmetrics.fall_out@5",
    "yahoo.err@all", "ranx.hits@5", "sklearn.roc_auc_score", "catboost.query_rmse", "ir_measures.rbp@1000",
]  # fmt: skip
UNLIMITED = ("-Infinity", "Infinity")
QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n2 0 d 3\n3 0 e 0\n"
RUN = "1 Q0 a 1 0.5 t\n1 Q0 b 2 0.5 t\n1 Q0 x 3 0.75 t\n2 Q0 d 1 0.25 t\n2 Q0 a 2 0.125 t\n3 Q0 e 1 1 t\n"


def score(convention):
    return ra.evaluate(LABELS, SCORES, convention, group_sizes=SIZES)


@for_each("text", CONVENTIONS)
def test_an_entry_of_a_model_card_reads_back_as_the_score_s_convention(text):
    ours = score(text)
    entry = json.loads(json.dumps(exports.to_model_card(ours)))
    args = entry.pop("args")
    assert ra.parse(args["convention"]) == ours.convention
    assert {name: args.get(name) for name in ours.convention.fields()} == ours.convention.to_dict()
    assert (args["n_queries"], args["digest"]) == (ours.n_queries, hex(ours.digest))
    k = getattr(ours.convention, "k", None)
    kind = ours.convention.measure + (f"_at_{k}" if k else "")
    assert entry == {"type": kind, "value": ours.value, "name": ours.convention.name}
    hub = pytest.importorskip("huggingface_hub")
    result = hub.EvalResult(
        task_type="text-ranking", dataset_type="mine", dataset_name="Mine", metric_type=kind,
        metric_value=ours.value, metric_name=ours.convention.name, metric_args=args,
    )  # fmt: skip
    card = hub.ModelCard(f"---\n{hub.ModelCardData(model_name='ranker', eval_results=[result])}\n---\n")
    assert card.data.to_dict()["model-index"][0]["results"][0]["metrics"] == [{**entry, "args": args}]
    assert card.data.eval_results == [result]


@for_each("text", CONVENTIONS)
def test_a_metric_config_reads_back_as_the_convention(text):
    convention = ra.parse(text)
    result = exports.to_every_eval_ever(convention)
    config = json.loads(json.dumps(result["metric_config"], allow_nan=False))
    assert list(result) == ["metric_config"]
    assert ra.parse(config["metric_id"]) == convention
    assert config["metric_parameters"] == convention.to_dict()
    assert config["lower_is_better"] is (text in {"torchmetrics.fall_out@5", "catboost.query_rmse"})
    assert exports.to_every_eval_ever(text) == result


@for_each(
    ("labels", "convention", "bounds"),
    [
        *(([1, best], "letor4@2", (0.0, 1.0)) for best in (0, 1)), ([0, 0], "letor4@2", (0.0, 1.0)),
        ([1, 0], "ranx.hits@5", UNLIMITED),
        ([2, -2], str(presets.sklearn(2)), UNLIMITED),  # a negative label takes NDCG below 0
    ],
)  # fmt: skip
def test_bounds_are_given_only_where_they_hold(labels, convention, bounds):
    ours = ra.evaluate(labels, [0.1, 0.9], convention, group_sizes=[2])
    config = exports.to_every_eval_ever(ours)["metric_config"]
    assert (config["min_score"], config["max_score"]) == bounds
    assert ("metric_unit" in config) is (bounds != UNLIMITED)
    assert float(bounds[0]) <= ours.value <= float(bounds[1])


@for_each("text", CONVENTIONS)
def test_every_eval_ever_s_schema_and_classes_take_the_parts(text):
    pytest.importorskip("every_eval_ever")
    from every_eval_ever import eval_types

    parts = exports.to_every_eval_ever(score(text))
    config = eval_types.MetricConfig.model_validate(parts["metric_config"])
    details = eval_types.ScoreDetails.model_validate(parts["score_details"])
    assert (config.metric_id, details.score) == (str(ra.parse(text)), parts["score_details"]["score"])
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((files("every_eval_ever") / "schemas" / "eval.schema.json").read_text(encoding="utf-8"))
    result = {"evaluation_name": "mine", "source_data": {"dataset_name": "mine", "source_type": "other"}, **parts}
    entry = {**schema["properties"]["evaluation_results"]["items"], "$defs": schema["$defs"]}
    jsonschema.Draft7Validator(entry).validate(result)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(entry).validate({**result, "metric_config": {}})


@for_each("wrong", [0.5, None, "letor4@2", presets.letor4(2), {"a": 1}])
def test_only_a_score_has_an_entry_of_a_model_card_and_what_is_no_convention_has_no_metric_config(wrong):
    with pytest.raises(ra.InputError, match=r"is not a Score\.\nHint: pass what ra.evaluate returned"):
        exports.to_model_card(wrong)
    with pytest.raises(ra.ConventionError, match=r"0\.5 is not a convention"):
        exports.to_every_eval_ever(0.5)


TEXTS = [
    presets.ir_measures(5), presets.ir_measures(None), presets.ir_measures.ap(5, rel=2), presets.ir_measures.rr(),
    presets.ir_measures.p(5), presets.ir_measures.p(5, judged_only=True), presets.ir_measures.r(2),
    presets.ir_measures.set_p(relative=True), presets.ir_measures.set_f(beta=0.5), presets.ir_measures.bpref(),
    presets.ir_measures.rprec(rel=2), presets.ir_measures.success(1), presets.ir_measures.judged(5),
]  # fmt: skip


# ir_measures 0.4.3 reads numbers by classes that Python 3.12 calls deprecated.
@pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning", "ignore:Attribute [ns] is:DeprecationWarning")
@for_each("convention", TEXTS, ids=presets.ir_measures.write)
def test_ir_measures_computes_what_its_text_is_written_for(convention, write):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = write(QRELS, "qrels"), write(RUN, "run")
    text = presets.ir_measures.write(convention)
    measure = ir_measures.parse_measure(text)
    assert str(measure) == text
    theirs = ir_measures.calc_aggregate(
        [measure], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    judged = ra.io.read_trec(qrels, run)
    ours = ra.evaluate(judged.queries, judged.scores, convention).value
    assert math.isclose(theirs[measure], ours, rel_tol=1e-9)
