"""NDCG of the evaluation tools, as the real programs printed it, per query and in the mean.

`golden/tools.json` keeps one small data set of each kind; the whole files are read where the shared data are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from tests.shared_data import tools_data_sets


def exponential(preset):
    """The qrels were rewritten to 2^label - 1, and so are the gains here."""
    return lambda k, **options: preset(k, **options).replace(gain="exp2")


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
    "pytrec_exp": exponential(presets.pytrec_eval),
}
for _version, _preset in {
    "8.1_ndcg": presets.trec_eval_8,
    "9.0.8": presets.trec_eval_9,
    "10.0": presets.trec_eval_10,
}.items():
    TOOLS[f"trec_{_version}_linear"] = _preset
    TOOLS[f"trec_{_version}_exp"] = exponential(_preset)
    TOOLS[f"trec_{_version}_missing_noc"] = _preset
    TOOLS[f"trec_{_version}_missing_c"] = lambda k, preset=_preset: preset(k, complete=True)

MAPS = {
    **{name: getattr(presets, name).map() for name in ("letor3", "letor4", "mslr")},
    **{name: presets.ranklib.map() for name in TOOLS if name.startswith("ranklib")},
    **{name: presets.trec_eval_9.map() for name in TOOLS if name.startswith(("trec_9", "trec_8"))},
    **{name: presets.trec_eval_10.map() for name in TOOLS if name.startswith("trec_10")},
    **{name: presets.pytrec_eval.map() for name in TOOLS if name.startswith("pytrec")},
    **{name: presets.trec_eval_9.map(complete=True) for name in TOOLS if name.endswith("_missing_c")},
}
MAPS["trec_10.0_missing_c"] = presets.trec_eval_10.map(complete=True)

SILENTLY_MENDED = {"letor3": 2, "letor4": 2, "mslr": 4}  # labels above get gain 0 there
UNSTABLE = {"ranklib_2011", "ranklib_2011_busafekete"}
FLOAT32_FEATURE = {name for name in TOOLS if name.startswith("ranklib")}


def cases() -> list[Any]:
    found = []
    for data in tools_data_sets():
        kind = data["name"].removeprefix("full-").partition("_")[2]
        for tool in data["tools"]:
            marks = []
            if tool in UNSTABLE and kind in {"ties", "large"}:
                marks = [pytest.mark.xfail(strict=True, reason=presets.inexpressible()["ranklib_2011"])]
            elif tool in FLOAT32_FEATURE and kind == "float32":
                marks = [pytest.mark.xfail(strict=True, reason="RankLib was given its scores as float32 features")]
            found.append(pytest.param(data, tool, id=f"{data['name']}-{tool}", marks=marks))
    return found


@pytest.mark.parametrize(("data", "tool"), cases())
def test_the_preset_gives_what_the_tool_prints(data, tool):
    inputs, printed = data["inputs"], data["tools"][tool]
    absent = {str(qid) for qid in printed.get("dropped_from_run") or ()}
    columns = {
        "qid": inputs["qid"],
        "docid": inputs["docid"],
        "retrieved": [str(qid) not in absent for qid in inputs["qid"]],
    }
    queries, tolerance = ra.Queries(inputs["label"], **columns), max(1.1 * printed["precision"], 1e-11)
    metrics = [name for name in printed["mean"] if name.startswith("ndcg@") or name == "ndcg_full"]
    assert metrics
    for metric in metrics:
        convention = TOOLS[tool](None if metric == "ndcg_full" else int(metric.partition("@")[2]))
        if not within_the_table(data, tool):
            with pytest.raises(ra.InputError, match="outside the gain table"):
                ra.evaluate(queries, inputs["score"], convention)
            continue
        evaluator = ra.Evaluator(queries, convention)
        theirs = printed["per_query"][metric]
        for qid, ours in zip(evaluator.query_ids, evaluator.per_query(inputs["score"]), strict=True):
            # Nothing is printed for a query that LETOR 3.0 finds too short, or that trec_eval leaves out.
            value = theirs.get(str(qid))
            assert ours == pytest.approx(value, abs=tolerance) if value is not None else ours == 0 or np.isnan(ours)
        assert evaluator.evaluate(inputs["score"]).value == pytest.approx(printed["mean"][metric], abs=tolerance)


def within_the_table(data: dict[str, Any], tool: str) -> bool:
    """Whether the script has a gain for every label; those above its table are irrelevant there: see inexpressible."""
    return max(data["inputs"]["label"]) <= SILENTLY_MENDED.get(tool, 9)


def cases_with(metric: str, tools: Iterable[str]) -> list[Any]:
    """The cases in which one of the tools printed a metric under the preset's own gains."""
    given = [(case, *case.values) for case in cases()]
    return [
        case
        for case, data, tool in given
        if tool in tools and metric in data["tools"][tool]["mean"] and within_the_table(data, tool)
    ]


@pytest.mark.parametrize(("data", "tool"), cases_with("map", MAPS))
def test_the_preset_gives_the_average_precision_that_the_tool_prints(data, tool):
    printed = data["tools"][tool]
    inputs, absent = data["inputs"], {str(qid) for qid in printed.get("dropped_from_run") or ()}
    columns = {"qid": inputs["qid"], "retrieved": [str(qid) not in absent for qid in inputs["qid"]]}
    if MAPS[tool].ties.startswith("docid"):
        columns["docid"] = inputs["docid"]
    evaluator = ra.Evaluator(inputs["label"], MAPS[tool], **columns)
    tolerance = max(1.1 * printed["precision"], 1e-11)
    assert evaluator.evaluate(inputs["score"]).value == pytest.approx(printed["mean"]["map"], abs=tolerance)
    for qid, ours in zip(evaluator.query_ids, evaluator.per_query(inputs["score"]), strict=True):
        value = printed["per_query"].get("map", {}).get(str(qid))
        if value is not None:
            assert ours == pytest.approx(value, abs=tolerance)


OTHERS = {
    **{name: ("p@{k}", getattr(presets, name).p) for name in ("letor3", "letor4", "mslr")},
    **{name: ("p@{k}", presets.ranklib.p) for name in TOOLS if name.startswith("ranklib_2.")},
    **{f"{name} err": ("err@{k}", presets.ranklib.err) for name in TOOLS if name.startswith("ranklib_2.")},
    **{name: ("p@{k}", presets.trec_eval_9.P) for name in TOOLS if name.startswith("trec_9")},
    **{name: ("p@{k}", presets.trec_eval_10.P) for name in TOOLS if name.startswith("trec_10")},
    **{name: ("p@{k}", presets.pytrec_eval.P) for name in TOOLS if name.startswith("pytrec")},
    "yahoo": ("err", lambda k: presets.yahoo.err()),
}


def cases_of_others() -> list[Any]:
    """Precision and ERR that the tools printed."""
    found = []
    for name, (metric, make) in OTHERS.items():
        for k in (1, 3, 5, 10):
            several = cases_with(metric.format(k=k), {name.partition(" ")[0]})
            found += [pytest.param(*case.values, metric.format(k=k), make(k), id=f"{case.id}-{metric.format(k=k)}",
                                   marks=case.marks) for case in several]  # fmt: skip
    return found


# The programs print values of labels above their scale without a word.
@pytest.mark.filterwarnings("ignore:.*a chance to stop:rankadapters.LabelsWarning")
@pytest.mark.parametrize(("data", "tool", "metric", "convention"), cases_of_others())
def test_the_preset_gives_the_other_measures_that_the_tool_prints(data, tool, metric, convention):
    printed, inputs = data["tools"][tool], data["inputs"]
    absent = {str(qid) for qid in printed.get("dropped_from_run") or ()}
    columns = {"qid": inputs["qid"], "retrieved": [str(qid) not in absent for qid in inputs["qid"]]}
    if convention.ties.startswith("docid"):
        columns["docid"] = inputs["docid"]
    if tool.endswith("_missing_c"):
        convention = convention.replace(missing="zero")
    evaluator = ra.Evaluator(inputs["label"], convention, **columns)
    tolerance = max(1.1 * printed["precision"], 1e-11)
    assert evaluator.evaluate(inputs["score"]).value == pytest.approx(printed["mean"][metric], abs=tolerance)
    for qid, ours in zip(evaluator.query_ids, evaluator.per_query(inputs["score"]), strict=True):
        value = printed["per_query"].get(metric, {}).get(str(qid))
        if value is not None:
            assert ours == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize(("data", "tool"), cases_with("meanndcg", {"letor4", "mslr"}))
def test_mean_ndcg_is_what_the_perl_scripts_print(data, tool):
    inputs, printed = data["inputs"], data["tools"][tool]["mean"]
    value = ra.mean_ndcg(inputs["label"], inputs["score"], TOOLS[tool](10), qid=inputs["qid"])
    assert value == pytest.approx(printed["meanndcg"], abs=1e-11)


def test_mean_ndcg_refuses_what_it_cannot_average():
    for convention in (presets.lightgbm(10), "catboost.dcg@5"):
        with pytest.raises(ra.ConventionError, match="averages an NDCG with average='uniform'"):
            ra.mean_ndcg([0, 1], [2, 1], convention, group_sizes=[2])
    with pytest.raises(ra.ConventionError, match="'letor4' has no cutoff"):
        ra.mean_ndcg([0, 1], [2, 1], "letor4", group_sizes=[2])


def test_mean_ndcg_leaves_out_skipped_queries_and_cuts_at_the_rows_retrieved():
    convention = presets.letor4(10).replace(empty="skip")
    assert ra.mean_ndcg([0, 1, 0], [2, 1, 3], convention, qid=["a", "a", "b"]) == 0.5
    half = ra.mean_ndcg([0, 1, 2], [2, 1, 9], convention, group_sizes=[3], retrieved=[True, True, False])
    assert half == pytest.approx((0 + 1 / 4) / 2)
