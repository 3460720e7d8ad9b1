"""The convention and the inputs of every metric in the records of `golden/measures`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters import presets
from tests.helpers.shared_data import golden_file, shared_records

NDCG_FILES = {"trec": "pytrec_eval_terrier", **{name: name for name in ("lightgbm", "xgboost", "catboost", "ranx")}}

LOSSES = {"QueryRMSE", "QuerySoftMax", "QueryCrossEntropy"}

Record = dict[str, Any]
ReadMetric = Callable[[str, dict[str, Any], Record], ra.Convention | None]


class Toolkit(NamedTuple):
    """How to read the records of one program.

    Attributes
    ----------
    read : callable
        Returns the convention of a metric from its name, its parameters and the record; None if it has none.
    tolerance : float
        Accuracy of the program's numbers.
    float32 : bool
        Whether the program converts labels and weights to float32.
    score_dtype : dtype
        Type of the scores that the program got.
    """

    read: ReadMetric
    tolerance: float = 1e-12
    float32: bool = False
    score_dtype: type = np.float64


def lightgbm(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    return presets.lightgbm.read(name)


def xgboost(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if name == "auc" and "zeros" in record["case"]:
        return None  # a weight of 0: see inexpressible
    if name == "auc":
        return presets.xgboost.read(name, groups=params.get("groups", True))
    convention = presets.xgboost.read(name)
    if params.get("groups", True):
        return convention
    return convention.replace(average="uniform", **({"pool": "rows"} if isinstance(convention, ra.AP) else {}))


def catboost(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if _has_no_loss(name, record["labels"]):
        return None
    weights = "row" if "row_weight" in record else "query" if "query_weight" in record else None
    if "pairs" in params:
        pairs = {"generated": "label"}.get(params["pairs"], "given")
        options = {"pairs": pairs} if name.startswith(("PairAccuracy", "PairLogit")) else {}
        convention = presets.catboost.read(name, weights=weights or "query", **options)
        return convention.replace(average="uniform") if params["pairs"] == "given, weight 1" else convention
    return _of_eval_metric(name, weights)


def _of_eval_metric(name: str, weights: str | None) -> ra.Convention:
    """Return the convention of a metric of `catboost.utils.eval_metric`."""
    metric = name.partition(":")[0]
    if metric in {"PairAccuracy", "PairLogit"}:
        return presets.catboost.read(f"{metric}:use_weights=false", pairs="label")
    if metric in LOSSES:  # they always count object weights
        unweighted_name = re.sub("[:;]use_weights=false", "", name)
        return presets.catboost.read(unweighted_name, weights="row" if weights == "row" else None)
    if metric == "QueryAUC" and weights == "query" and "use_weights" in name:
        return presets.catboost.read(name, weights="query")
    # utils.eval_metric ignores group weights in AUC, and always counts object weights in AUC and QueryAUC.
    if metric in {"AUC", "QueryAUC"}:
        unweighted_name = re.sub(";?use_weights=true", "", name).rstrip(":")
        if weights != "row":
            return presets.catboost.read(unweighted_name)
        separator = ";" if ":" in unweighted_name else ":"
        return presets.catboost.read(f"{unweighted_name}{separator}use_weights=true", weights="row")
    return presets.catboost.read(name)


def _has_no_loss(name: str, labels: list[float]) -> bool:
    """Tell whether CatBoost returns 0 because there is nothing to average, or accepts labels outside [0, 1]."""
    if name.startswith("QueryCrossEntropy"):
        return min(labels) < 0 or max(labels) > 1
    return name.startswith("QuerySoftMax") and max(labels) <= 0


def scikit_learn(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if "rows" not in params:  # a call for some of the queries
        cutoff = {"k": params["k"]} if "k" in params else {}
        return presets.sklearn.read(name, weights=None, **cutoff)
    pool = {"all": "rows", "query": "queries"}[params["rows"]]
    if name in {"label_ranking_average_precision_score", "coverage_error"}:
        return presets.sklearn.read(name, weights=None)
    convention = presets.sklearn.read(name, pool=pool)
    return convention.replace(empty="skip") if name == "roc_auc_score" and pool == "queries" else convention


def trec_eval(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    tool = {"10.0": presets.trec_eval_10, "9.0.8": presets.trec_eval_9}.get(params.get("version"), presets.pytrec_eval)
    return tool.read(name, level=params.get("relevance_level", 1))


def ir_measures(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    return presets.ir_measures.read(name)


def has_ties(record: Record, shift: float = 0, dtype: type = np.float64) -> bool:
    """Tell whether two rows of a query have the same score."""
    scores = (np.asarray(record["scores"]) + shift).astype(dtype)
    parts = np.split(scores, np.cumsum(record["group"])[:-1])
    return any(np.unique(part).size < part.size for part in parts)


def ranx(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    # ranx sorts unstably in queries of 16 rows or more.
    return None if has_ties(record) and max(record["group"]) >= 16 else presets.ranx.read(name)


def torchmetrics(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if has_ties(record, params.get("shift", 0), np.float32):
        return None  # torch.topk promises no order of ties
    options = {option: params[option] for option in ("top_k", "empty_target_action", "adaptive_k") if option in params}
    return presets.torchmetrics.read(name, **options)


def ranklib(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    convention = presets.ranklib.read(name)
    ignores_cutoff = isinstance(convention, ra.RR) and params["version"] == "2.1"
    return convention.at(None) if ignores_cutoff else convention


TOOLKITS = {
    "lightgbm": Toolkit(lightgbm, float32=True),
    "xgboost": Toolkit(xgboost, tolerance=1e-8, float32=True, score_dtype=np.float32),  # its AUC partly sums in float32
    "catboost": Toolkit(catboost, float32=True),
    "catboost_pool": Toolkit(catboost, float32=True),
    "scikit_learn": Toolkit(scikit_learn),
    "trec": Toolkit(trec_eval),
    "trec_eval": Toolkit(trec_eval, tolerance=5.1e-5),
    "ir_measures": Toolkit(ir_measures),
    "ranx": Toolkit(ranx),
    "torchmetrics": Toolkit(torchmetrics, tolerance=1e-6, score_dtype=np.float32),
    "ranklib": Toolkit(ranklib, tolerance=1e-7),
}


def golden_records(toolkit: str) -> list[Record]:
    """Return the records of a program that this checkout has."""
    records: list[Record] = golden_file("measures")["records"][toolkit]
    return records


def named_records(toolkit: str) -> Iterator[tuple[str, Record]]:
    """Yield name and record: those of this checkout, and all in a thorough run."""
    yield from ((f"{record['case']}-{record['seed']}", record) for record in golden_records(toolkit))
    for file in (f"measures/{toolkit}_measures", f"toolkits/{NDCG_FILES.get(toolkit)}_metrics"):
        folder = file.partition("/")[0]
        yield from ((f"{folder}-{record['case']}-{record['seed']}", record) for record in shared_records(file))


def convention_of(toolkit: str, metric: Record, record: Record) -> ra.Convention | None:
    """Return the convention of a metric; None if no preset expresses it."""
    try:
        convention = TOOLKITS[toolkit].read(metric["metric"], metric.get("params", {}), record)
    except ra.ConventionError:
        return None
    if isinstance(convention, ra.FilteredDCG) and convention.gain == "exp2" and min(record["labels"]) < 0:
        return None  # a negative label has no such gain
    if isinstance(convention, ra.NDCG) or (isinstance(convention, ra.DCG) and toolkit != "ranklib"):
        return None  # test_golden_toolkits.py compares these
    return convention


def tolerance_of(toolkit: str, convention: ra.Convention) -> float:
    """Return the accuracy of a number.

    gdeval.pl, which ir_measures runs for ERR, prints five decimals; CatBoost rounds 1 - label to float32.
    """
    if toolkit == "ir_measures" and isinstance(convention, ra.ERR):
        return 5.1e-6
    rounds = isinstance(convention, ra.ERR) or getattr(convention, "pairs", "") == "unit"
    return 2e-7 if toolkit.startswith("catboost") and rounds else TOOLKITS[toolkit].tolerance


def is_compared(toolkit: str, metric: Record, record: Record) -> bool:
    """Tell whether a metric has a number and a convention."""
    return has_number(metric) and convention_of(toolkit, metric, record) is not None


def has_number(metric: Record) -> bool:
    """Tell whether the program gave a number, and not an error or nothing."""
    return any(isinstance(value, Real) for value in (metric.get("value"), *(metric.get("per_query") or [])))


def inputs_of(
    toolkit: str, convention: ra.Convention, metric: Record, record: Record
) -> tuple[Any, Any, dict[str, Any]]:
    """Return labels, scores and columns as the program got them."""
    record = _of_queries(record, metric.get("params", {}).get("queries"))
    program = TOOLKITS[toolkit]
    convert = (lambda values: np.asarray(values, np.float32)) if program.float32 else np.asarray
    scores = (np.asarray(record["scores"]) + metric.get("params", {}).get("shift", 0)).astype(program.score_dtype)
    grouped = metric.get("params", {}).get("groups", True) or isinstance(convention, ra.AP | ra.AUC)
    sizes = record["group"] if grouped else [len(record["labels"])]
    columns: dict[str, Any] = {"group_sizes": sizes, **_weights(toolkit, convention, record)}
    if convention.to_dict().get("ties", "").startswith("docid"):
        columns["docid"] = record.get("docid") or [f"d{number:03d}" for n in record["group"] for number in range(n)]
    columns |= {name: np.asarray(record[name], bool) for name in ("judged", "retrieved") if name in record}
    columns = {name: convert(c) if name.endswith("weight") else c for name, c in columns.items()}
    if getattr(convention, "pairs", "") == "given":
        winner, loser = np.asarray(record["pairs"]).T
        weighed = convention.average == "pair" and "pairs_weight" in record
        columns["pairs"] = (winner, loser, convert(record["pairs_weight"])) if weighed else (winner, loser)
    return convert(record["labels"]), scores, columns


def _of_queries(record: Record, numbers: list[int] | None) -> Record:
    """Return the record of some queries, which has no weights."""
    if numbers is None:
        return record
    starts = np.cumsum([0, *record["group"]])
    rows = [row for number in numbers for row in range(starts[number], starts[number + 1])]
    columns = {name: [record[name][row] for row in rows] for name in ("labels", "scores")}
    return {**record, **columns, "group": [record["group"][number] for number in numbers]}


def _weights(toolkit: str, convention: ra.Convention, record: Record) -> dict[str, Any]:
    by_query, by_row, sizes = record.get("query_weight"), record.get("row_weight"), np.asarray(record["group"])
    if convention.weighting == "row_weight" and toolkit == "lightgbm" and by_query is not None:
        by_row = np.repeat(by_query, sizes)
    if convention.weighting == "row_weight" and by_row is not None:
        return {"row_weight": by_row}
    if convention.weighting != "query_weight":
        return {}
    if toolkit == "lightgbm" and (by_query is not None or by_row is not None):
        from rankadapters.lightgbm.metrics import query_weights

        return {"query_weight": query_weights(np.repeat(by_query, sizes) if by_row is None else by_row, sizes)}
    if by_query is None and by_row is not None and isinstance(convention, ra.AUC | ra.PairLogit):
        # Generated pairs have the weight of the query's first row.
        by_query = np.asarray(by_row)[np.cumsum(sizes) - sizes]
    return {} if by_query is None else {"query_weight": by_query}
