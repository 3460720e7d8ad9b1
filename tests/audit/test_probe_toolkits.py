"""`ra.audit.probe` identifies the presets of real toolkits, from recorded results if a toolkit is not installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra

RECORDS = Path(__file__).parent.parent / "golden" / "probed_functions.json"


def as_dicts(labels, scores, qid):
    """Return judgments and a run as trec_eval's relatives take them; docids ascend with the rows."""
    qrels, run = {}, {}
    for row, (label, score, query) in enumerate(zip(labels, scores, qid, strict=True)):
        qrels.setdefault(str(query), {})[f"d{row:03}"] = int(label)
        run.setdefault(str(query), {})[f"d{row:03}"] = float(score)
    return qrels, run


def sklearn(k):
    from sklearn.metrics import ndcg_score

    return lambda labels, scores: ndcg_score([labels], [scores], k=k)


def torchmetrics(k):
    import torch
    from torchmetrics.functional.retrieval import retrieval_normalized_dcg

    return lambda labels, scores: float(retrieval_normalized_dcg(torch.tensor(scores), torch.tensor(labels), top_k=k))


def ranx(k):
    from ranx import Qrels, Run, evaluate

    def metric(labels, scores, qid):
        qrels, run = as_dicts(labels, scores, qid)
        return float(evaluate(Qrels(qrels), Run(run), f"ndcg@{k}"))

    return metric


def ir_measures(k):
    import ir_measures

    measure = ir_measures.nDCG @ k
    return lambda labels, scores, qid: ir_measures.calc_aggregate([measure], *as_dicts(labels, scores, qid))[measure]


def pytrec_eval(k):
    import pytrec_eval

    def metric(labels, scores, qid):
        qrels, run = as_dicts(labels, scores, qid)
        by_query = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{k}"}).evaluate(run)
        return float(np.mean([values[f"ndcg_cut_{k}"] for values in by_query.values()]))

    return metric


def lightgbm(k):
    import lightgbm

    def metric(labels, scores, sizes):
        params = {"verbose": -1, "min_data_in_bin": 1, "min_data_in_leaf": 1, "feature_pre_filter": False}
        rows = np.zeros((len(labels), 1))
        data = lightgbm.Dataset(rows, labels, group=sizes, params=params, init_score=scores, free_raw_data=False)
        booster_params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [k], "verbose": -1}
        return lightgbm.Booster(booster_params, data).eval_train()[0][2]

    return metric


def xgboost(k):
    import xgboost

    def metric(labels, scores, sizes):
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), labels)
        data.set_group(sizes)
        data.set_base_margin(scores)
        params = {"objective": "rank:ndcg", "eval_metric": f"ndcg@{k}", "max_depth": 1, "eta": 0}
        return float(xgboost.train(params, data, 0).eval(data).split(":")[-1])

    return metric


def catboost(k):
    from catboost.utils import eval_metric

    return lambda labels, scores, qid: eval_metric(labels, scores, f"NDCG:top={k}", group_id=qid)[0]


# Toolkit: its function, the kind of call, its preset, and a preset that differs.
TOOLKITS = {
    "sklearn": (sklearn, "query", "sklearn@3", "lightgbm@3"),
    "torchmetrics": (torchmetrics, "query", "torchmetrics@3", "lightgbm@3"),
    "ranx": (ranx, "queries", "ranx@3", "sklearn@3"),
    "ir_measures": (ir_measures, "queries", "trec_eval_9@3", "sklearn@3"),
    "pytrec_eval": (pytrec_eval, "queries", "pytrec_eval@3", "sklearn@3"),
    "lightgbm": (lightgbm, "groups", "lightgbm@3", "xgboost@3"),
    "xgboost": (xgboost, "groups", "xgboost@3", "lightgbm@3"),
    "catboost": (catboost, "queries", "catboost@3", "lightgbm@3"),
}


def as_key(columns):
    return json.dumps([np.asarray(column).tolist() for column in columns])


def replay(name):
    """Return a function that replays the recorded results of a toolkit."""
    answers = json.loads(RECORDS.read_text(encoding="utf-8"))[name]

    def metric(*columns):
        key = as_key(columns)
        if key not in answers:  # pytest's failure is no Exception, which the probe would catch
            pytest.fail(f"no answer of {name} to {key} is recorded: RECORD_PROBED=1 pytest {__file__}")
        answer = answers[key]
        refused = isinstance(answer, str)
        if refused:
            raise RuntimeError(answer)
        return answer

    return metric


def record(function, answers):
    """Return the function, which also records its results in `answers`."""

    def metric(*columns):
        key = as_key(columns)
        try:
            answers[key] = float(function(*columns))
        except Exception as error:
            answers[key] = str(error).splitlines()[0]
            raise
        return answers[key]

    return metric


def check_preset(name, function):
    _, takes, preset, wrong_preset = TOOLKITS[name]
    report = ra.audit.probe(function, takes=takes, k=3)
    assert preset in report.presets, str(report)
    assert wrong_preset not in report.presets


@pytest.mark.parametrize("name", TOOLKITS)
def test_the_recorded_results_of_a_toolkit_identify_its_preset(name):
    check_preset(name, replay(name))


@pytest.mark.parametrize("name", TOOLKITS)
def test_the_function_of_an_installed_toolkit_identifies_its_preset(name):
    pytest.importorskip({"sklearn": "sklearn.metrics", "catboost": "catboost.utils"}.get(name, name))
    answers = {}
    check_preset(name, record(TOOLKITS[name][0](3), answers))
    if os.environ.get("RECORD_PROBED"):
        records = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}
        RECORDS.write_text(json.dumps({**records, name: answers}, indent=0, sort_keys=True) + "\n")


def test_replaying_an_unrecorded_call_fails():
    with pytest.raises(pytest.fail.Exception, match="no answer of sklearn"):
        replay("sklearn")([1, 2], [0.5, 0.25])
