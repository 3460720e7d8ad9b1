"""Exports of conventions and scores are read by the programs they are made for, where these are installed."""

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


def evaluate_rows(convention):
    return ra.evaluate(LABELS, SCORES, convention, group_sizes=SIZES)


@for_each("text", CONVENTIONS)
def test_a_model_card_entry_reads_back_as_the_convention_of_the_score(text):
    score = evaluate_rows(text)
    entry = json.loads(json.dumps(exports.to_model_card(score)))
    args = entry.pop("args")
    assert ra.parse(args["convention"]) == score.convention
    assert {name: args.get(name) for name in score.convention.fields()} == score.convention.to_dict()
    assert (args["n_queries"], args["digest"]) == (score.n_queries, hex(score.digest))
    k = getattr(score.convention, "k", None)
    metric_type = score.convention.measure + (f"_at_{k}" if k else "")
    assert entry == {"type": metric_type, "value": score.value, "name": score.convention.name}
    hub = pytest.importorskip("huggingface_hub")
    result = hub.EvalResult(
        task_type="text-ranking", dataset_type="mine", dataset_name="Mine", metric_type=metric_type,
        metric_value=score.value, metric_name=score.convention.name, metric_args=args,
    )  # fmt: skip
    card = hub.ModelCard(f"---\n{hub.ModelCardData(model_name='ranker', eval_results=[result])}\n---\n")
    assert card.data.to_dict()["model-index"][0]["results"][0]["metrics"] == [{**entry, "args": args}]
    assert card.data.eval_results == [result]


@for_each("text", CONVENTIONS)
def test_a_metric_config_reads_back_as_the_convention(text):
    convention = ra.parse(text)
    exported = exports.to_every_eval_ever(convention)
    config = json.loads(json.dumps(exported["metric_config"], allow_nan=False))
    assert list(exported) == ["metric_config"]
    assert ra.parse(config["metric_id"]) == convention
    assert config["metric_parameters"] == convention.to_dict()
    assert config["lower_is_better"] is (text in {"torchmetrics.fall_out@5", "catboost.query_rmse"})
    assert exports.to_every_eval_ever(text) == exported


@for_each(
    ("labels", "convention", "bounds"),
    [
        *(([1, best], "letor4@2", (0.0, 1.0)) for best in (0, 1)), ([0, 0], "letor4@2", (0.0, 1.0)),
        ([1, 0], "ranx.hits@5", UNLIMITED),
        ([2, -2], str(presets.sklearn(2)), UNLIMITED),  # a negative label takes NDCG below 0
    ],
)  # fmt: skip
def test_a_metric_config_is_bounded_only_where_the_bounds_hold(labels, convention, bounds):
    score = ra.evaluate(labels, [0.1, 0.9], convention, group_sizes=[2])
    config = exports.to_every_eval_ever(score)["metric_config"]
    assert (config["min_score"], config["max_score"]) == bounds
    assert ("metric_unit" in config) is (bounds != UNLIMITED)
    assert float(bounds[0]) <= score.value <= float(bounds[1])


@for_each("text", CONVENTIONS)
def test_every_eval_ever_accepts_the_exported_parts(text):
    pytest.importorskip("every_eval_ever")
    from every_eval_ever import eval_types

    parts = exports.to_every_eval_ever(evaluate_rows(text))
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


@for_each("value", [0.5, None, "letor4@2", presets.letor4(2), {"a": 1}])
def test_exports_refuse_objects_other_than_scores_and_conventions(value):
    with pytest.raises(ra.InputError, match=r"is not a Score\.\nHint: pass what ra.evaluate returned"):
        exports.to_model_card(value)
    with pytest.raises(ra.ConventionError, match=r"0\.5 is not a convention"):
        exports.to_every_eval_ever(0.5)


IR_MEASURES = [
    presets.ir_measures(5), presets.ir_measures(None), presets.ir_measures.ap(5, rel=2), presets.ir_measures.rr(),
    presets.ir_measures.p(5), presets.ir_measures.p(5, judged_only=True), presets.ir_measures.r(2),
    presets.ir_measures.set_p(relative=True), presets.ir_measures.set_f(beta=0.5), presets.ir_measures.bpref(),
    presets.ir_measures.rprec(rel=2), presets.ir_measures.success(1), presets.ir_measures.judged(5),
]  # fmt: skip


# ir_measures 0.4.3 parses numbers with classes that Python 3.12 deprecates.
@pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning", "ignore:Attribute [ns] is:DeprecationWarning")
@for_each("convention", IR_MEASURES, ids=presets.ir_measures.write)
def test_ir_measures_computes_our_value_for_the_text_that_we_write(convention, write):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = write(QRELS, "qrels"), write(RUN, "run")
    text = presets.ir_measures.write(convention)
    measure = ir_measures.parse_measure(text)
    assert str(measure) == text
    their_values = ir_measures.calc_aggregate(
        [measure], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    judged = ra.io.read_trec(qrels, run)
    our_value = ra.evaluate(judged.queries, judged.scores, convention).value
    assert math.isclose(their_values[measure], our_value, rel_tol=1e-9)
