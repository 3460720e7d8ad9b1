"""Compare measures of the evaluation tools, per query and in the mean, with what the real programs printed.

`golden/tools.json` has one small data set of each kind; a thorough run reads the whole files too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.parity import letor_mean_ndcg
from tests.helpers.shared_data import tools_data_sets
from tests.helpers.tables import for_each

TOOLS = {
    "letor3": presets.letor3,
    "letor4": presets.letor4,
    "mslr": presets.mslr,
    "yahoo": presets.yahoo,
    "ranklib_2011": presets.ranklib,
    "ranklib_2011_busafekete": presets.ranklib_busafekete,
    "ranklib_2.1": presets.ranklib,
    "ranklib_2.10.1": presets.ranklib,
    "pytrec_linear": presets.pytrec_eval,
    "pytrec_exp": presets.pytrec_eval,
    **{
        f"trec_{version}_{variant}": preset
        for version, preset in (
            ("8.1_ndcg", presets.trec_eval_8), ("9.0.8", presets.trec_eval_9), ("10.0", presets.trec_eval_10))
        for variant in ("linear", "exp", "missing_noc", "missing_c")
    },
}  # fmt: skip
# Versions that have their own NDCG, but share the remaining measures with another version.
SAME_AS = {presets.trec_eval_8: presets.trec_eval_9, presets.ranklib_busafekete: presets.ranklib}
WORDS = {"ndcg", "ndcg_full", "map", "p", "err"}


def convention_of(tool: str, metric: str) -> ra.Convention:
    """Return the preset of a metric that a tool printed."""
    word, _, digits = metric.partition("@")
    k = int(digits) if digits else None
    if word.startswith("ndcg"):
        convention = TOOLS[tool](k)
        # The tool was given qrels of 2^label - 1, so that its linear gains are exponential here.
        convention = convention.replace(gain="exp2") if tool.endswith("_exp") else convention
    else:
        vocabulary = SAME_AS.get(TOOLS[tool], TOOLS[tool])
        word = "P" if word == "p" and hasattr(vocabulary, "P") else word
        convention = getattr(vocabulary, word)(*([k] if k else []))
    return convention.replace(missing="zero") if tool.endswith("_missing_c") else convention


LARGEST_LABEL = {"letor3": 2, "letor4": 2, "mslr": 4}  # these scripts give larger labels a gain of 0
UNSTABLE = {"ranklib_2011", "ranklib_2011_busafekete"}
FLOAT32_FEATURE = {name for name in TOOLS if name.startswith("ranklib")}


SETS = tools_data_sets()


def expected_failure(data: dict[str, Any], tool: str) -> str | None:
    """Return why no preset gives the numbers that a tool printed for a data set; None if a preset does."""
    kind = data["name"].removeprefix("full-").partition("_")[2]
    if tool in UNSTABLE and kind in {"ties", "large"}:
        return presets.inexpressible()["ranklib_2011"]
    return "RankLib was given its scores as float32 features" if tool in FLOAT32_FEATURE and kind == "float32" else None


def within_the_table(data: dict[str, Any], tool: str) -> bool:
    """Return whether the script has a gain for every label; `inexpressible` explains larger ones."""
    return max(data["inputs"]["label"]) <= LARGEST_LABEL.get(tool, 9)


def metrics_of(data: dict[str, Any], tool: str) -> list[str]:
    return [metric for metric in data["tools"].get(tool, {"mean": {}})["mean"] if metric.partition("@")[0] in WORDS]


def expected_failures() -> list[Any]:
    """Return the cases in which no preset gives the numbers of the tool, marked as strict xfail."""
    pairs = [(data, tool, expected_failure(data, tool)) for data in SETS for tool in data["tools"]]
    words = {True: {"ndcg", "map"}, False: WORDS - {"ndcg_full"}}  # keyed by whether the tool is in UNSTABLE
    return [
        pytest.param(data, tool, word, id=f"{data['name']}-{tool}-{word}",
                     marks=pytest.mark.xfail(strict=True, reason=reason))
        for data, tool, reason in pairs if reason
        for word in sorted({metric.partition("@")[0] for metric in metrics_of(data, tool)} & words[tool in UNSTABLE])
    ]  # fmt: skip


def compare(data: dict[str, Any], tool: str, metric: str) -> None:
    """Compare the value of each query, and the mean."""
    inputs, printed = data["inputs"], data["tools"][tool]
    convention, tolerance = convention_of(tool, metric), max(1.1 * printed["precision"], 1e-11)
    missing = {str(qid) for qid in printed.get("dropped_from_run") or ()}
    docid = {"docid": inputs["docid"]} if convention.ties.startswith("docid") else {}
    retrieved = [str(qid) not in missing for qid in inputs["qid"]]
    evaluator = ra.Evaluator(inputs["label"], convention, qid=inputs["qid"], retrieved=retrieved, **docid)
    per_query = printed["per_query"].get(metric, {})
    for qid, our_value in zip(evaluator.query_ids, evaluator.per_query(inputs["score"]), strict=True):
        value = per_query.get(str(qid))
        if value is not None:
            assert our_value == pytest.approx(value, abs=tolerance)
        elif metric.startswith("ndcg"):  # LETOR 3.0 prints no short queries, and trec_eval no missing ones
            assert our_value == 0 or np.isnan(our_value)
    assert evaluator.evaluate(inputs["score"]).value == pytest.approx(printed["mean"][metric], abs=tolerance)


# The programs accept labels above their scale without a warning.
@pytest.mark.filterwarnings("ignore:.*a chance to stop:rankadapters.LabelsWarning")
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if any(metrics_of(data, tool) for data in SETS)])
@for_each(("data", "metric"), lambda tool: [(data, metric) for data in SETS for metric in metrics_of(data, tool)],
          ids=lambda part: part if isinstance(part, str) else part["name"])  # fmt: skip
def test_the_preset_gives_what_the_tool_prints(tool, data, metric):
    if not within_the_table(data, tool):
        if metric.startswith("ndcg"):
            with pytest.raises(ra.InputError, match="outside the gain table"):
                compare(data, tool, metric)
    elif not expected_failure(data, tool):
        compare(data, tool, metric)


@pytest.mark.filterwarnings("ignore:.*a chance to stop:rankadapters.LabelsWarning")
@pytest.mark.parametrize(("data", "tool", "word"), expected_failures())
def test_no_preset_gives_this(data, tool, word):
    """Each case is expected to fail: the tool printed a number that no preset gives."""
    for metric in metrics_of(data, tool):
        if metric.startswith(word):
            compare(data, tool, metric)


@for_each(("data", "tool"), [(data, tool) for data in SETS for tool in ("letor4", "mslr") if tool in data["tools"]],
          ids=lambda part: part if isinstance(part, str) else part["name"])  # fmt: skip
def test_mean_ndcg_equals_what_the_perl_scripts_print(data, tool):
    inputs, printed = data["inputs"], data["tools"][tool]["mean"]
    if within_the_table(data, tool):
        value = letor_mean_ndcg(inputs["label"], inputs["score"], TOOLS[tool](None), qid=inputs["qid"])
        assert value == pytest.approx(printed["meanndcg"], abs=1e-11)


def test_mean_ndcg_refuses_conventions_that_it_cannot_average():
    for convention in (presets.lightgbm(None), "catboost.dcg@all"):
        with pytest.raises(ra.ConventionError, match="averages an NDCG with average='uniform'"):
            letor_mean_ndcg([0, 1], [2, 1], convention, group_sizes=[2])
    with pytest.raises(ra.ConventionError, match="'letor4' has no cutoff"):
        letor_mean_ndcg([0, 1], [2, 1], "letor4", group_sizes=[2])
    for text in ("letor4@10", "letor4@1"):
        with pytest.raises(ra.ConventionError, match=r"(?s)ndcg@1.*/letor4 has the cutoff 1.*Hint: .*'letor4@all'"):
            letor_mean_ndcg([0, 1], [2, 1], text, group_sizes=[2])


def test_mean_ndcg_leaves_out_skipped_queries_and_stops_at_the_last_retrieved_row():
    convention = presets.letor4(None).replace(empty="skip")
    assert letor_mean_ndcg([0, 1, 0], [2, 1, 3], convention, qid=["a", "a", "b"]) == 0.5
    mean = letor_mean_ndcg([0, 1, 2], [2, 1, 9], convention, group_sizes=[3], retrieved=[True, True, False])
    assert mean == pytest.approx((0 + 1 / 4) / 2)
