"""Compare the presets of evaluators, benchmarks and libraries of tensors with what the tools computed.

`golden/evaluators.json` has their values; `tests/helpers/golden_retrieval.py` explains the cases of runs and judgments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.golden_retrieval import CALLED, FLOAT32, NO_ROWS, REFUSED, Listed, RetrievalTool, constant
from tests.helpers.shared_data import golden_file
from tests.helpers.tables import for_each
from tests.presets.test_golden_retrieval import CASES, NOT_FINITE, agrees

GOLDEN = golden_file("evaluators")


def llama_index(tool: Any) -> Callable[[str], ra.Convention]:
    """Return a function that reads the name of a metric of LlamaIndex, its option before it and the cutoff after it."""

    def convention(name: str) -> ra.Convention:
        metric, _, cutoff = name.partition("@")
        k = None if cutoff == "all" else int(cutoff)
        if metric.startswith("ndcg"):
            return tool(k)
        if metric == "granular_hit_rate":
            return tool.recall(k)
        return tool.mrr(k, use_granular_mrr=True) if metric == "granular_mrr" else getattr(tool, metric)(k)

    return convention


def trulens(name: str) -> ra.Convention:
    """Return the convention of a metric of TruLens."""
    metric, _, k = name.removeprefix("graded_").partition("@")
    return presets.trulens.mrr() if k == "all" else presets.trulens.read(metric, k=int(k))


UNJUDGED: Listed = dict.fromkeys(("extra_query", "mixed", "mixed_plain"), "refused_runs")
PYTREC: Listed = {
    **FLOAT32, **UNJUDGED, **dict.fromkeys(("empty_query", "no_relevant_empty"), "empty_runs"),
    "float_labels": "labels_mended_in_silence",
}  # fmt: skip
NOTHING: Listed = dict.fromkeys(
    ("empty_both", "no_relevant_empty", "no_relevant_missing", "mixed"), "queries_without_rows"
)
TOOLS = {
    **{
        name: RetrievalTool(llama_index(presets.TOOLS[tool]), constant("one"), NOTHING, 1e-11, "both")
        for name, tool in {
            "llama_index": "llama_index_0_12_6", "llama_index_0_12_3": "llama_index_0_12_3",
            "llama_index_0_10": "llama_index_0_10",
        }.items()
    },
    "deepeval": RetrievalTool(
        lambda name: presets.deepeval.contextual_precision(int(name.partition("@")[2])), constant("binary"), NO_ROWS,
        1e-11,
    ),
    "ragas": RetrievalTool(
        lambda name: presets.ragas.context_precision(int(name.partition("@")[2])), constant("binary"), NO_ROWS, 2e-10,
    ),
    "azure_ai_evaluation": RetrievalTool(
        presets.azure_ai_evaluation.read,
        listed={
            **dict.fromkeys(("empty_qrels", "empty_both"), "refused_runs"),
            **dict.fromkeys(("high_grades", "float_labels"), REFUSED),
        },
        tolerance=1e-11,
    ),
    "trulens": RetrievalTool(
        trulens, lambda name: "positive" if name.startswith("graded") else "one", tolerance=1e-11, queries="both"
    ),
    "mteb": RetrievalTool(
        presets.mteb.read, listed={**PYTREC, **dict.fromkeys(("empty_qrels", "empty_both"), "refused_runs")}
    ),
    "beir": RetrievalTool(
        presets.beir.read,
        listed={**PYTREC, "empty_qrels": "queries_without_judgments", "empty_both": "queries_without_rows",
                "int_ids": CALLED,  # `evaluate` drops documents that have the query's id
                "all_missing": "refused_runs"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_the_preset_gives_what_the_tool_computes_for_runs_and_judgments(name, monkeypatch):
    """Values may differ only in the listed situations."""
    monkeypatch.setitem(agrees.__globals__["TOOLS"], name, TOOLS[name])
    different = {}
    for case, measure, value in GOLDEN["retrieval"][name]["results"]:
        situation = re.sub(r"\d+$", "", CASES[case]["situation"])
        result = {} if value is None else {"overall": value}
        if situation not in NOT_FINITE and not agrees(case, name, measure, result):
            different.setdefault(situation, []).append((case, measure, value))
    assert not {situation: rows[:3] for situation, rows in different.items() if situation not in TOOLS[name].listed}


def test_every_reason_is_one_of_inexpressible():
    reasons = {reason for tool in TOOLS.values() for reason in tool.listed.values()}
    assert reasons - {CALLED, REFUSED} <= set(presets.inexpressible())


@for_each("record", GOLDEN["torchrec"], ids=lambda record: record["case"])
def test_torchrec_gives_ndcg_or_one_minus_ndcg(record):
    sizes = [size for size in record["group_sizes"] if size]
    for name, printed in record["values"].items():
        metric, options, k = re.fullmatch(r"(1-)?NDCG\((\w*)\)@(.*)", name).groups()
        convention = presets.torchrec(None if k == "-1" else int(k), **({options: True} if options else {}))
        value = ra.evaluate(record["labels"], record["scores"], convention, group_sizes=sizes).value
        assert printed == pytest.approx(1 - value if metric else value, abs=1e-7), name


def value_of(record: dict[str, Any], convention: ra.Convention) -> float | None:
    """Return our value of a record of PyTorch Metric Learning; None if no query has a reference of its class."""
    labels = np.equal.outer(record["query_labels"], record["reference_labels"])
    try:
        return ra.evaluate(
            labels.ravel(), np.ravel(record["scores"]), convention, group_sizes=[labels.shape[1]] * len(labels)
        ).value
    except ra.InputError:
        return None


@pytest.mark.parametrize("record", GOLDEN["pytorch_metric_learning"])
def test_pytorch_metric_learning_gives_the_values_of_its_presets(record):
    tool = presets.pytorch_metric_learning
    largest = np.equal.outer(record["query_labels"], record["reference_labels"]).sum(axis=1).max()
    for name, printed in record["values"].items():
        metric, _, cutoff = name.partition("@")
        k = int(cutoff) if cutoff.isdigit() else None
        if cutoff == "max_bin_count" or metric.endswith("at_r") or (metric == "r_precision" and k and k < largest):
            continue
        value = value_of(record, tool.read(metric, **({"k": k} if metric.startswith("mean") else {})))
        assert printed == (None if value is None else pytest.approx(value, abs=1e-6)), name


@pytest.mark.parametrize("record", GOLDEN["pytorch_metric_learning"])
def test_the_workaround_for_average_precision_at_r_gives_its_value(record):
    labels = np.equal.outer(record["query_labels"], record["reference_labels"])
    values = [
        ra.evaluate(of_query, scores, presets.pytorch_metric_learning.mean_average_precision(int(of_query.sum())),
                    group_sizes=[of_query.size]).value
        for of_query, scores in zip(labels, record["scores"], strict=True) if of_query.any()
    ]  # fmt: skip
    printed = record["values"]["mean_average_precision_at_r@max_bin_count"]
    assert printed == (pytest.approx(np.mean(values), abs=1e-12) if values else None)


def test_tools_without_ndcg_say_so():
    with pytest.raises(ra.ConventionError, match=r"(?s)ragas has no NDCG.*presets.ragas.context_precision\(10\)"):
        presets.ragas(10)
    with pytest.raises(ra.ConventionError, match=r"(?s)presets.pytorch_metric_learning.r_precision\(\)"):
        presets.pytorch_metric_learning()
