"""Functions of real toolkits are probed: they give their presets, by recorded answers where they are not installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra

FILE = Path(__file__).parent.parent / "golden" / "probed_functions.json"


def as_dicts(labels, scores, qid):
    """Return judgments and runs as trec_eval's relatives take them; docids in the order of the rows."""
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
        asked = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [k], "verbose": -1}
        return lightgbm.Booster(asked, data).eval_train()[0][2]

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


# The toolkit, how it is called, the preset, and another preset of which it is not.
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


def question(columns):
    return json.dumps([np.asarray(column).tolist() for column in columns])


def recorded(name):
    """Return a function that gives the recorded answers of a toolkit."""
    answers = json.loads(FILE.read_text(encoding="utf-8"))[name]

    def metric(*columns):
        asked = question(columns)
        if asked not in answers:  # no Exception, which a probe would take for an answer
            pytest.fail(f"no answer of {name} to {asked} is recorded: RECORD_PROBED=1 pytest {__file__}")
        answer = answers[asked]
        refused = isinstance(answer, str)
        if refused:
            raise RuntimeError(answer)
        return answer

    return metric


def recording(function, answers):
    """Return a function that remembers what it answers."""

    def metric(*columns):
        asked = question(columns)
        try:
            answers[asked] = float(function(*columns))
        except Exception as error:
            answers[asked] = str(error).splitlines()[0]
            raise
        return answers[asked]

    return metric


def judge(name, function):
    _, takes, preset, other = TOOLKITS[name]
    found = ra.audit.probe(function, takes=takes, k=3)
    assert preset in found.presets, str(found)
    assert other not in found.presets


@pytest.fixture(autouse=True)
def _small_examples(monkeypatch):
    """Shrink no example, which depends on how fast a function is."""
    monkeypatch.setattr("rankadapters.audit.probing.probing.QUESTIONS", 1)


@pytest.mark.parametrize("name", TOOLKITS)
def test_the_recorded_answers_of_a_toolkit_are_those_of_its_preset(name):
    judge(name, recorded(name))


@pytest.mark.parametrize("name", TOOLKITS)
def test_the_function_of_an_installed_toolkit_gives_its_preset(name):
    pytest.importorskip({"sklearn": "sklearn.metrics", "catboost": "catboost.utils"}.get(name, name))
    answers = {}
    judge(name, recording(TOOLKITS[name][0](3), answers))
    if os.environ.get("RECORD_PROBED"):
        kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        FILE.write_text(json.dumps({**kept, name: answers}, indent=0, sort_keys=True) + "\n")


def test_a_replay_of_something_that_was_not_recorded_fails():
    with pytest.raises(pytest.fail.Exception, match="no answer of sklearn"):
        recorded("sklearn")([1, 2], [0.5, 0.25])
