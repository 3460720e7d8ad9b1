"""Runs and judgments with awkward queries and rows, what retrieval tools print for them, and the presets of the tools.

Each case isolates a situation: queries without results, rows that are not retrieved or not judged, labels below 0,
queries outside the judgments, and so on; the cases named `mixed` have several. `golden/retrieval.json` is a selection,
of which a thorough run reads the whole files.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters import presets
from tests.helpers.depth import WHOLE
from tests.helpers.shared_data import SHARED, golden_file

FOLDER = SHARED / "golden" / "retrieval"
TIES = "the tool fixes no order of ties"
CALLED = "the tool was called with other data"
REFUSED = "we refuse such scores or labels"  # the error says so

Listed = Mapping[str, str]  # why values differ, by situation: a key of `inexpressible()`, or one of the above


class RetrievalTool(NamedTuple):
    """How to read the results of a tool.

    Attributes
    ----------
    convention : callable
        Returns the convention of a measure's name.
    truth : callable
        Returns which rows of the judgments the tool got, given a measure's name; see `columns_of`.
    listed : dict of str to str
        Situations in which values may differ, with the reason.
    tolerance : float
        Accuracy of the tool's numbers.
    queries : str
        Which queries the tool counts: those of the judgments ("qrels"), those with a judged row ("judged", since a file
        cannot hold others), or those of the judgments and of the run ("both").
    catalog : bool
        Whether every item of a case was ranked for every query, those outside the run last.
    """

    convention: Callable[[str], ra.Convention]
    truth: Callable[[str], str] = lambda _: "graded"
    listed: Listed = MappingProxyType({})
    tolerance: float = 1e-9
    queries: str = "qrels"
    catalog: bool = False


def cutoff(name: str) -> int:
    """Return the cutoff in a measure's name."""
    return int(name.partition("@")[2])


def trec(tool: Any, **options: Any) -> Callable[[str], ra.Convention]:
    """Return a function that reads trec_eval's names of measures."""

    def convention(name: str) -> ra.Convention:
        accepted = {key: value for key, value in options.items() if key != "level" or not name.startswith("ndcg")}
        read: ra.Convention = tool.read(name, **accepted)
        return read

    return convention


def rectools(name: str) -> ra.Convention:
    """Return the convention of a metric of RecTools, given its name with options."""
    metric, option = re.match(r"(\w+)(?:\((\w+))?", name).groups()  # type: ignore[union-attr]
    options = {"beta": 2} if option == "beta" else {option: True} if option else {}
    read: ra.Convention = presets.rectools.read(metric, k=cutoff(name), **options)
    return read


def haystack(name: str) -> ra.Convention:
    """Return the convention of an evaluator of Haystack."""
    method = name.partition("@")[0]
    tool = presets.haystack
    made: ra.Convention = tool(cutoff(name)) if method.startswith("ndcg") else getattr(tool, method)(cutoff(name))
    return made


def constant(truth: str) -> Callable[[str], str]:
    """Return a function that gives every measure the same judgments."""
    return lambda _: truth


FLOAT32: Listed = {"huge": REFUSED, "mixed": REFUSED}  # scores beyond float32
NO_ROWS: Listed = {"empty_both": "queries_without_rows"}
TREC: Listed = {"float_labels": "labels_mended_in_silence"}
TREC_9: Listed = {**TREC, **FLOAT32}
TREC_9_C: Listed = {"all_missing": "refused_runs"}
PYTREC: Listed = {
    **TREC, **FLOAT32,
    **dict.fromkeys(("empty_query", "no_relevant_empty", "mixed_plain"), "empty_runs"),  # some of them crash it
}  # fmt: skip
NEGATIVE: Listed = dict.fromkeys(("negative", "only_negative", "mixed"), REFUSED)  # labels below 0 under exp2
NO_JUDGMENTS: Listed = {"empty_qrels": "queries_without_judgments"}
IR: Listed = {
    **NO_ROWS, **NO_JUDGMENTS, **TREC, **FLOAT32,
    **dict.fromkeys(("empty_query", "no_relevant_empty", "mixed_plain"), "refused_runs"),  # Judged@k
}  # fmt: skip
GDEVAL: Listed = {**NO_JUDGMENTS, **TREC, **NEGATIVE, "high_grades": "labels_mended_in_silence"}
RANX: Listed = {**NO_ROWS, **TREC, **NEGATIVE}
RANX_REFUSES: Listed = dict.fromkeys(
    ("all_missing", "extra_query", "missing_query", "no_relevant_missing", "mixed", "mixed_plain"), "refused_runs"
)
CATALOG: Listed = dict.fromkeys(  # items outside the run tie
    ("all_equal", "ties", "ties_text_ids", "int_ids", "zero_scores", "one_retrieved", "mixed", "mixed_plain"), TIES
)

TOOLS: dict[str, RetrievalTool] = {
    **{
        f"trec_eval_{release}{name}": RetrievalTool(
            trec(tool, **options), listed={**listed, **(TREC_9_C if (release, name[:2]) == (9, "_c") else {})},
            tolerance=1e-8, queries="judged",
        )
        for release, tool, listed in ((9, presets.trec_eval_9, TREC_9), (10, presets.trec_eval_10, TREC))
        for name, options in {
            "": {}, "_c": {"complete": True}, "_l2": {"level": 2}, "_J": {"judged_only": True},
            "_c_J": {"complete": True, "judged_only": True},
        }.items()
    },
    "pytrec_eval": RetrievalTool(trec(presets.pytrec_eval), listed=PYTREC, queries="judged"),
    "pytrec_eval_level2": RetrievalTool(trec(presets.pytrec_eval, level=2), listed=PYTREC, queries="judged"),
    "pytrec_eval_judged": RetrievalTool(trec(presets.pytrec_eval, judged_only=True), listed=PYTREC, queries="judged"),
    "ir_measures": RetrievalTool(presets.ir_measures.read, listed=IR),
    "ir_measures_gdeval": RetrievalTool(presets.ir_measures.read, listed=GDEVAL, tolerance=6e-6),
    "ir_measures_rbp": RetrievalTool(presets.ir_measures.read, listed=NO_JUDGMENTS),
    "ranx": RetrievalTool(presets.ranx.read, listed={**RANX, **RANX_REFUSES}),
    "ranx_comparable": RetrievalTool(presets.ranx.read, listed=RANX),
    "recommenders": RetrievalTool(
        lambda name: presets.recommenders(cutoff(name), score_type=re.split("[:@]", name)[1]),
        lambda name: {"positive:binary": "one", "positive:raw": "positive", "all:binary": "every-one"}.get(
            name.partition("@")[0], "graded"
        ),
        {**NEGATIVE, "only_negative": "negative_ideal_dcg"},
        queries="both",
    ),
    "replay": RetrievalTool(
        lambda name: presets.replay(cutoff(name), container=name.partition("@")[0]),
        lambda name: "one" if name.startswith("frame") else "binary", NO_ROWS,
    ),
    "rectools": RetrievalTool(rectools, constant("one"), queries="both"),
    "lenskit": RetrievalTool(
        lambda name: presets.lenskit_2025(cutoff(name)),
        lambda name: "one" if name.startswith("positive@") else "positive" if name.startswith("positive") else "graded",
        {**NO_ROWS, "only_negative": "negative_ideal_dcg",
         **dict.fromkeys(("empty_query", "no_relevant_empty", "mixed_plain"), "empty_runs")},
        queries="both",
    ),
    "cornac": RetrievalTool(
        lambda name: presets.cornac(cutoff(name)), constant("one"), {**CATALOG, "float_labels": CALLED, "huge": CALLED},
        queries="both", catalog=True,
    ),
    "implicit": RetrievalTool(
        lambda name: presets.implicit(cutoff(name)), constant("one"), {
            **CATALOG, "huge": REFUSED, **dict.fromkeys(("all_missing", "missing_query", "unjudged_only"), TIES),
        }, 1e-7, "both",
        catalog=True,
    ),
    "mlflow": RetrievalTool(
        lambda name: presets.mlflow(cutoff(name)), constant("binary"),
        dict.fromkeys(("empty_both", "no_relevant_empty", "no_relevant_missing", "mixed", "mixed_plain"),
                      "queries_without_rows"),
        queries="both",
    ),
    "haystack": RetrievalTool(
        haystack, lambda name: "not-negative" if "graded" in name else "binary", NO_ROWS, queries="both"
    ),
    "sentence_transformers": RetrievalTool(
        presets.sentence_transformers.read, constant("one"), {**FLOAT32, "mixed": CALLED}, queries="both"
    ),
    "spark": RetrievalTool(lambda name: presets.spark(cutoff(name)), constant("binary"), NO_ROWS, queries="both"),
    "autogluon": RetrievalTool(
        presets.autogluon.read, constant("one"),
        {"empty_query": "empty_runs",
         **dict.fromkeys(("empty_both", "no_relevant_empty", "no_relevant_missing", "mixed"), "queries_without_rows")},
        queries="both",
    ),
}  # fmt: skip


def judgments_of(labels: Mapping[str, float], truth: str) -> dict[str, float]:
    """Return the judgments of a query that a tool got.

    `graded` keeps every label; `positive` only those above 0, `one` these as 1, `every-one` every row as 1; `binary`
    has 1 above 0 and else 0; `not-negative` has 0 for labels below 0.
    """
    if truth in {"positive", "one"}:
        labels = {docid: label for docid, label in labels.items() if label > 0}
    change: Callable[[float], float] = {
        "one": lambda _: 1.0, "every-one": lambda _: 1.0, "binary": lambda label: float(label > 0),
        "not-negative": lambda label: max(label, 0.0),
    }.get(truth, float)  # fmt: skip
    return {docid: change(label) for docid, label in labels.items()}


def columns_of(case: Mapping[str, Any], tool: RetrievalTool, truth: str) -> tuple[list[float], list[float], Any]:
    """Return labels, scores and columns: the rows of the run in its order, then the judged rows outside the run."""
    qrels, run = case["qrels"], case["run"]
    queries = dict.fromkeys([*qrels, *run]) if tool.queries == "both" else list(qrels)
    if tool.queries == "judged":
        queries = [query for query in queries if qrels[query]]
    items = sorted({docid for table in (qrels, run) for rows in table.values() for docid in rows})
    rows = []
    for query in queries:
        labels, scores = judgments_of(qrels.get(query, {}), truth), run.get(query, {})
        docids = items if tool.catalog else dict.fromkeys([*scores, *labels])
        for docid in docids:
            score = float(scores.get(docid, -1e30 if tool.catalog else math.nan))
            retrieved = docid in scores or tool.catalog
            rows.append((labels.get(docid, 0.0), score, query, docid, docid in labels, retrieved))
    if not rows:
        return [], [], {}
    labels, scores, qid, docid, judged, retrieved = map(list, zip(*rows, strict=True))
    columns = {"qid": qid, "docid": docid, "judged": np.array(judged), "retrieved": np.array(retrieved)}
    return labels, scores, columns


def retrieval_cases() -> dict[str, dict[str, Any]]:
    """Return the cases by name."""
    whole = WHOLE and FOLDER.is_dir()
    cases = json.loads((FOLDER / "cases.json").read_text("utf-8")) if whole else golden_file("retrieval")["cases"]
    return {case["name"]: case for case in cases}


def retrieval_results(tool: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield case, measure and result of a tool; a result has the mean as `overall`, or is empty if there is none."""
    if not (WHOLE and FOLDER.is_dir()):
        for case, measure, value in golden_file("retrieval")["results"][tool]:
            yield case, measure, {} if value is None else {"overall": value}
        return
    yield from whole_results(tool)


def whole_results(tool: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield case, measure and result of a tool from the whole files."""
    results = json.loads((FOLDER / "results" / f"{tool}.json").read_text("utf-8"))["results"]
    results = {case: {} if "error" in result or "empty" in result else result for case, result in results.items()}
    measures = list(dict.fromkeys(name for result in results.values() for name in result))
    for case, result in results.items():
        for measure in measures:
            printed = result.get(measure, {})
            yield case, measure, printed if "overall" in printed else {}
