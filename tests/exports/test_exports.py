"""Exports of conventions and scores are read by the programs they are made for, where these are installed."""

from __future__ import annotations

import json
import math

import pytest

import rankadapters as ra
from rankadapters import exports, presets

LABELS, SCORES, SIZES = [2, 0, 1, 0, 0, 0], [0.4, 0.5, 0.2, 0.9, 0.3, 0.1], [3, 2, 1]
CONVENTIONS = [
    "lightgbm@10", "sklearn@all", "letor4@3+gain=table_0_1_3", "catboost.filtered_dcg", "torchmetrics.fall_out@5",
    "yahoo.err@all", "ranx.hits@5", "sklearn.roc_auc_score", "catboost.query_rmse", "ir_measures.rbp@1000",
]  # fmt: skip
QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n2 0 d 3\n3 0 e 0\n"
RUN = "1 Q0 a 1 0.5 t\n1 Q0 b 2 0.5 t\n1 Q0 x 3 0.75 t\n2 Q0 d 1 0.25 t\n2 Q0 a 2 0.125 t\n3 Q0 e 1 1 t\n"


def evaluate_rows(convention):
    return ra.evaluate(LABELS, SCORES, convention, group_sizes=SIZES)


@pytest.mark.parametrize("text", CONVENTIONS)
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


@pytest.mark.parametrize("value", [0.5, None, "letor4@2", presets.letor4(2), {"a": 1}])
def test_exports_refuse_objects_other_than_scores(value):
    with pytest.raises(ra.InputError, match=r"is not a Score\.\nHint: pass what ra.evaluate returned"):
        exports.to_model_card(value)


IR_MEASURES = [
    presets.ir_measures(5), presets.ir_measures(None), presets.ir_measures.ap(5, rel=2), presets.ir_measures.rr(),
    presets.ir_measures.p(5), presets.ir_measures.p(5, judged_only=True), presets.ir_measures.r(2),
    presets.ir_measures.set_p(relative=True), presets.ir_measures.set_f(beta=0.5), presets.ir_measures.bpref(),
    presets.ir_measures.rprec(rel=2), presets.ir_measures.success(1), presets.ir_measures.judged(5),
]  # fmt: skip


# ir_measures 0.4.3 parses numbers with classes that Python 3.12 deprecates.
@pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning", "ignore:Attribute [ns] is:DeprecationWarning")
@pytest.mark.parametrize("convention", IR_MEASURES, ids=presets.ir_measures.write)
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
