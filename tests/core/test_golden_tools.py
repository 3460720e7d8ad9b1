"""NDCG of the evaluation tools, as the real programs printed it, per query and in the mean.

`golden/tools.json` keeps one small data set of each kind; a thorough run reads the whole files too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.shared_data import tools_data_sets
from tests.tables import for_each


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


SETS = tools_data_sets()


def expected_failure(data: dict[str, Any], tool: str) -> str | None:
    """Return why no preset gives what a tool printed for a data set; None where one does."""
    kind = data["name"].removeprefix("full-").partition("_")[2]
    if tool in UNSTABLE and kind in {"ties", "large"}:
        return presets.inexpressible()["ranklib_2011"]
    return "RankLib was given its scores as float32 features" if tool in FLOAT32_FEATURE and kind == "float32" else None


def within_the_table(data: dict[str, Any], tool: str) -> bool:
    """Whether the script has a gain for every label; those above its table are irrelevant there: see inexpressible."""
    return max(data["inputs"]["label"]) <= SILENTLY_MENDED.get(tool, 9)


def each_set(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test for every data set, as one case for each tool."""
    return for_each("data", SETS, ids=lambda data: data["name"])(test)


def expected_failures() -> list[Any]:
    """Return the cases in which no preset gives what the tool printed, strictly."""
    pairs = [(data, tool, expected_failure(data, tool)) for data in SETS for tool in data["tools"]]
    return [
        pytest.param(data, tool, id=f"{data['name']}-{tool}",
                     marks=pytest.mark.xfail(strict=True, reason=reason))
        for data, tool, reason in pairs if reason
    ]  # fmt: skip


def columns_of(data: dict[str, Any], printed: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    inputs, absent = data["inputs"], {str(qid) for qid in printed.get("dropped_from_run") or ()}
    return {
        "retrieved": [str(qid) not in absent for qid in inputs["qid"]],
        **{name: inputs[name] for name in names},
    }


def compare_ndcg(data: dict[str, Any], tool: str) -> None:
    inputs, printed = data["inputs"], data["tools"][tool]
    columns = columns_of(data, printed, ("qid", "docid"))
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


def compare(data: dict[str, Any], tool: str, metric: str, convention: ra.Convention) -> None:
    """Compare another measure than NDCG, where the tool printed it."""
    inputs, printed = data["inputs"], data["tools"][tool]
    columns = columns_of(data, printed, ("qid", "docid") if convention.ties.startswith("docid") else ("qid",))
    evaluator = ra.Evaluator(inputs["label"], convention, **columns)
    tolerance = max(1.1 * printed["precision"], 1e-11)
    assert evaluator.evaluate(inputs["score"]).value == pytest.approx(printed["mean"][metric], abs=tolerance)
    for qid, ours in zip(evaluator.query_ids, evaluator.per_query(inputs["score"]), strict=True):
        value = printed["per_query"].get(metric, {}).get(str(qid))
        if value is not None:
            assert ours == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("tool", TOOLS)
@each_set
def test_the_preset_gives_the_ndcg_that_the_tool_prints(data, tool):
    if tool in data["tools"] and not expected_failure(data, tool):
        compare_ndcg(data, tool)


@pytest.mark.parametrize(("data", "tool"), expected_failures())
def test_no_preset_gives_this_ndcg(data, tool):
    compare_ndcg(data, tool)


@pytest.mark.parametrize("tool", MAPS)
@each_set
def test_the_preset_gives_the_average_precision_that_the_tool_prints(data, tool):
    printed = data["tools"].get(tool, {"mean": {}})["mean"]
    if "map" in printed and within_the_table(data, tool) and not expected_failure(data, tool):
        compare(data, tool, "map", MAPS[tool])


@pytest.mark.parametrize(("data", "tool"), expected_failures())
def test_no_preset_gives_this_average_precision(data, tool):
    compare(data, tool, "map", MAPS[tool])


OTHERS = {
    **{name: ("p@{k}", getattr(presets, name).p) for name in ("letor3", "letor4", "mslr")},
    **{name: ("p@{k}", presets.ranklib.p) for name in TOOLS if name.startswith("ranklib_2.")},
    **{f"{name} err": ("err@{k}", presets.ranklib.err) for name in TOOLS if name.startswith("ranklib_2.")},
    **{name: ("p@{k}", presets.trec_eval_9.P) for name in TOOLS if name.startswith("trec_9")},
    **{name: ("p@{k}", presets.trec_eval_10.P) for name in TOOLS if name.startswith("trec_10")},
    **{name: ("p@{k}", presets.pytrec_eval.P) for name in TOOLS if name.startswith("pytrec")},
    "yahoo": ("err", lambda k: presets.yahoo.err()),
}
CUTOFFS = (1, 3, 5, 10)


def compare_other(data: dict[str, Any], name: str, k: int) -> None:
    """Compare precision or ERR at a cutoff, where the tool printed it."""
    (metric, make), tool = OTHERS[name], name.partition(" ")[0]
    convention = make(k).replace(missing="zero") if tool.endswith("_missing_c") else make(k)
    printed = data["tools"].get(tool, {"mean": {}})["mean"]
    if metric.format(k=k) in printed and within_the_table(data, tool):
        compare(data, tool, metric.format(k=k), convention)


# The programs print values of labels above their scale without a word.
@pytest.mark.filterwarnings("ignore:.*a chance to stop:rankadapters.LabelsWarning")
@pytest.mark.parametrize("name", OTHERS)
@for_each("k", CUTOFFS)
@each_set
def test_the_preset_gives_the_precision_and_err_that_the_tool_prints(data, name, k):
    if not expected_failure(data, name.partition(" ")[0]):
        compare_other(data, name, k)


@pytest.mark.filterwarnings("ignore:.*a chance to stop:rankadapters.LabelsWarning")
@pytest.mark.parametrize(
    ("data", "tool", "measure", "k"),
    [
        pytest.param(*case.values, measure, k, marks=case.marks, id=f"{case.id}{measure}-{k}")
        for case in expected_failures()
        if f"{case.values[1]} err" in OTHERS
        for measure in ("", " err")
        for k in CUTOFFS
    ],
)
def test_no_preset_gives_this_precision_and_err(data, tool, measure, k):
    compare_other(data, tool + measure, k)


@for_each(("data", "tool"), [(data, tool) for data in SETS for tool in ("letor4", "mslr") if tool in data["tools"]],
          ids=lambda part: part if isinstance(part, str) else part["name"])  # fmt: skip
def test_mean_ndcg_is_what_the_perl_scripts_print(data, tool):
    inputs, printed = data["inputs"], data["tools"][tool]["mean"]
    if within_the_table(data, tool):
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
