"""`ra.audit.probe` identifies the presets of real toolkits, from recorded results if a toolkit is not installed."""

from __future__ import annotations

import hashlib
import json
import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import ToolkitData
from tests.helpers.parameters import long_except

LONGEST_KEY = 300
RECORDS = Path(__file__).parent.parent / "golden" / "probed_functions.json"


def as_dicts(labels, scores, qid):
    """Return judgments and a run as trec_eval's relatives take them; docids ascend with the rows."""
    qrels, run = {}, {}
    for row, (label, score, query) in enumerate(zip(labels, scores, qid, strict=True)):
        qrels.setdefault(str(query), {})[f"d{row:03}"] = int(label)
        run.setdefault(str(query), {})[f"d{row:03}"] = float(score)
    return qrels, run


def toolkit(name):
    """Return a function that asks one of our four toolkits for its NDCG@3, as `check_parity` does."""
    adapter = import_module(f"rankadapters.{name}.parity").TOOLKIT
    words = getattr(ra, name).native_metric(f"{name}@3")

    def metric(labels, scores, queries=None):
        column = "qid" if TOOLKITS[name][1] == "queries" else "group_sizes"
        data = ra.Queries(labels, **{column: [len(labels)] if queries is None else queries})
        return adapter.ask(ToolkitData(queries=data, scores=np.asarray(scores, float)), words)

    return metric


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


# Toolkit: its function, the kind of call, its preset, and a preset that differs.
TOOLKITS = {
    "sklearn": (lambda _: toolkit("sklearn"), "query", "sklearn@3", "lightgbm@3"),
    "torchmetrics": (torchmetrics, "query", "torchmetrics@3", "lightgbm@3"),
    "ranx": (ranx, "queries", "ranx@3", "sklearn@3"),
    "ir_measures": (ir_measures, "queries", "trec_eval_9@3", "sklearn@3"),
    "pytrec_eval": (pytrec_eval, "queries", "pytrec_eval@3", "sklearn@3"),
    "lightgbm": (lambda _: toolkit("lightgbm"), "groups", "lightgbm@3", "xgboost@3"),
    "xgboost": (lambda _: toolkit("xgboost"), "groups", "xgboost@3", "lightgbm@3"),
    "catboost": (lambda _: toolkit("catboost"), "queries", "catboost@3", "lightgbm@3"),
}


def as_key(columns):
    """Return the columns as text, or a digest of a long one."""
    text = json.dumps([np.asarray(column).tolist() for column in columns])
    return text if len(text) <= LONGEST_KEY else hashlib.sha256(text.encode()).hexdigest()


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


@pytest.mark.parametrize("name", long_except(TOOLKITS, "sklearn"))
def test_the_recorded_results_of_a_toolkit_identify_its_preset(name):
    check_preset(name, replay(name))


@pytest.mark.long
@pytest.mark.parametrize("name", TOOLKITS)
def test_the_function_of_an_installed_toolkit_identifies_its_preset(name):
    pytest.importorskip(name)
    answers = {}
    check_preset(name, record(TOOLKITS[name][0](3), answers))
    if os.environ.get("RECORD_PROBED"):
        records = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}
        RECORDS.write_text(json.dumps({**records, name: answers}, indent=0, sort_keys=True) + "\n")


def test_replaying_an_unrecorded_call_fails():
    with pytest.raises(pytest.fail.Exception, match="no answer of sklearn"):
        replay("sklearn")([1, 2], [0.5, 0.25])
