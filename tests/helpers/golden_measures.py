"""How the records of `golden/measures` are read: which convention each metric is, and on which data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters import presets
from tests.helpers.shared_data import kept, shared_records

EARLIER = {"trec": "pytrec_eval_terrier", **{name: name for name in ("lightgbm", "xgboost", "catboost", "ranx")}}

LOSSES = {"QueryRMSE", "QuerySoftMax", "QueryCrossEntropy"}

Record = dict[str, Any]
Read = Callable[[str, dict[str, Any], Record], ra.Convention | None]


class Toolkit(NamedTuple):
    """How one program's records are read.

    Attributes
    ----------
    read : callable
        Convention of a metric, by its name, its parameters and the record; None where there is none.
    tolerance : float
        What the program's numbers are trusted to.
    float32 : bool
        Whether it holds labels and weights as float32.
    scores : dtype
        In which it was given scores.
    """

    read: Read
    tolerance: float = 1e-12
    float32: bool = False
    scores: type = np.float64


def lightgbm(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    return presets.lightgbm.read(name)


def xgboost(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if name == "auc" and "zeros" in record["case"]:
        return None  # a weight of 0: see inexpressible
    if name == "auc":
        return presets.xgboost.read(name, groups=params.get("groups", True))
    found = presets.xgboost.read(name)
    if params.get("groups", True):
        return found
    return found.replace(average="uniform", **({"pool": "rows"} if isinstance(found, ra.AP) else {}))


def catboost(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if _has_no_loss(name, record["labels"]):
        return None
    weights = "row" if "row_weight" in record else "query" if "query_weight" in record else None
    if "pairs" in params:
        made = {"generated": "label"}.get(params["pairs"], "given")
        options = {"pairs": made} if name.startswith(("PairAccuracy", "PairLogit")) else {}
        found = presets.catboost.read(name, weights=weights or "query", **options)
        return found.replace(average="uniform") if params["pairs"] == "given, weight 1" else found
    return _of_eval_metric(name, weights)


def _of_eval_metric(name: str, weights: str | None) -> ra.Convention:
    """Convention of a metric of `catboost.utils.eval_metric`."""
    metric = name.partition(":")[0]
    if metric in {"PairAccuracy", "PairLogit"}:
        return presets.catboost.read(f"{metric}:use_weights=false", pairs="label")
    if metric in LOSSES:  # which object weights reach whatever is asked
        plain = re.sub("[:;]use_weights=false", "", name)
        return presets.catboost.read(plain, weights="row" if weights == "row" else None)
    if metric == "QueryAUC" and weights == "query" and "use_weights" in name:
        return presets.catboost.read(name, weights="query")
    # In utils.eval_metric group weights do not reach AUC, and object weights reach it and QueryAUC always.
    if metric in {"AUC", "QueryAUC"}:
        plain = re.sub(";?use_weights=true", "", name).rstrip(":")
        if weights != "row":
            return presets.catboost.read(plain)
        return presets.catboost.read(f"{plain}{';' if ':' in plain else ':'}use_weights=true", weights="row")
    return presets.catboost.read(name)


def _has_no_loss(name: str, labels: list[float]) -> bool:
    """Whether CatBoost counts 0 where there is nothing to average, or takes probabilities outside [0, 1]."""
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
    found = presets.sklearn.read(name, pool=pool)
    return found.replace(empty="skip") if name == "roc_auc_score" and pool == "queries" else found


def trec_eval(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    tool = {"10.0": presets.trec_eval_10, "9.0.8": presets.trec_eval_9}.get(params.get("version"), presets.pytrec_eval)
    return tool.read(name, level=params.get("relevance_level", 1))


def ir_measures(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    return presets.ir_measures.read(name)


def ties(record: Record, shift: float = 0, dtype: type = np.float64) -> bool:
    """Whether two rows of a query have one score."""
    scores = (np.asarray(record["scores"]) + shift).astype(dtype)
    parts = np.split(scores, np.cumsum(record["group"])[:-1])
    return any(np.unique(part).size < part.size for part in parts)


def ranx(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    # Its sort is unstable in queries of 16 rows or more.
    return None if ties(record) and max(record["group"]) >= 16 else presets.ranx.read(name)


def torchmetrics(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    if ties(record, params.get("shift", 0), np.float32):
        return None  # torch.topk promises no order of ties
    options = {option: params[option] for option in ("top_k", "empty_target_action", "adaptive_k") if option in params}
    return presets.torchmetrics.read(name, **options)


def ranklib(name: str, params: dict[str, Any], record: Record) -> ra.Convention | None:
    found = presets.ranklib.read(name)
    return found.at(None) if isinstance(found, ra.RR) and params["version"] == "2.1" else found  # which ignores it


TOOLKITS = {
    "lightgbm": Toolkit(lightgbm, float32=True),
    "xgboost": Toolkit(xgboost, tolerance=1e-8, float32=True, scores=np.float32),  # its AUC sums in float32 in part
    "catboost": Toolkit(catboost, float32=True),
    "catboost_pool": Toolkit(catboost, float32=True),
    "scikit_learn": Toolkit(scikit_learn),
    "trec": Toolkit(trec_eval),
    "trec_eval": Toolkit(trec_eval, tolerance=5.1e-5),
    "ir_measures": Toolkit(ir_measures),
    "ranx": Toolkit(ranx),
    "torchmetrics": Toolkit(torchmetrics, tolerance=1e-6, scores=np.float32),
    "ranklib": Toolkit(ranklib, tolerance=1e-7),
}


def kept_records(toolkit: str) -> list[Record]:
    """Records of the selection in this checkout."""
    found: list[Record] = kept("measures")["records"][toolkit]
    return found


def records(toolkit: str) -> Iterator[tuple[str, Record]]:
    """Records that are kept here, and all in a thorough run."""
    yield from ((f"{record['case']}-{record['seed']}", record) for record in kept_records(toolkit))
    for file in (f"measures/{toolkit}_measures", f"toolkits/{EARLIER.get(toolkit)}_metrics"):
        folder = file.partition("/")[0]
        yield from ((f"{folder}-{record['case']}-{record['seed']}", record) for record in shared_records(file))


def convention_of(toolkit: str, metric: Record, record: Record) -> ra.Convention | None:
    """Convention of a metric; None where there is none, or no preset yet."""
    try:
        found = TOOLKITS[toolkit].read(metric["metric"], metric.get("params", {}), record)
    except ra.ConventionError:
        return None
    if isinstance(found, ra.FilteredDCG) and found.gain == "exp2" and min(record["labels"]) < 0:
        return None  # a negative label has no such gain
    if isinstance(found, ra.NDCG) or (isinstance(found, ra.DCG) and toolkit != "ranklib"):
        return None  # those have a file of their own
    return found


def tolerance(toolkit: str, convention: ra.Convention) -> float:
    """What a number is trusted to: gdeval.pl, which ir_measures asks for ERR, prints five decimals."""
    return 5.1e-6 if toolkit == "ir_measures" and isinstance(convention, ra.ERR) else TOOLKITS[toolkit].tolerance


def compared(toolkit: str, metric: Record, record: Record) -> bool:
    """Whether a metric has a number to compare and a convention to compare it with."""
    return has_number(metric) and convention_of(toolkit, metric, record) is not None


def has_number(metric: Record) -> bool:
    """Whether the program gave a number, and not an error or nothing."""
    return any(isinstance(each, Real) for each in (metric.get("value"), *(metric.get("per_query") or [])))


def data_of(toolkit: str, convention: ra.Convention, metric: Record, record: Record) -> tuple[Any, Any, dict[str, Any]]:
    """Labels, scores and columns as the program was given them."""
    record = _of_queries(record, metric.get("params", {}).get("queries"))
    kit = TOOLKITS[toolkit]
    held = (lambda values: np.asarray(values, np.float32)) if kit.float32 else np.asarray
    scores = (np.asarray(record["scores"]) + metric.get("params", {}).get("shift", 0)).astype(kit.scores)
    grouped = metric.get("params", {}).get("groups", True) or hasattr(convention, "pool")
    sizes = record["group"] if grouped else [len(record["labels"])]
    columns: dict[str, Any] = {"group_sizes": sizes, **_weights(toolkit, convention, record)}
    if convention.to_dict().get("ties", "").startswith("docid"):
        columns["docid"] = record.get("docid") or [f"d{place:03d}" for n in record["group"] for place in range(n)]
    columns |= {name: np.asarray(record[name], bool) for name in ("judged", "retrieved") if name in record}
    columns = {name: held(c) if name.endswith("weight") else c for name, c in columns.items()}
    if getattr(convention, "pairs", "") == "given":
        winner, loser = np.asarray(record["pairs"]).T
        weighed = convention.average == "pair" and "pairs_weight" in record
        columns["pairs"] = (winner, loser, held(record["pairs_weight"])) if weighed else (winner, loser)
    return held(record["labels"]), scores, columns


def _of_queries(record: Record, numbers: list[int] | None) -> Record:
    """The record of some queries, which has no weights."""
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
        by_query = np.asarray(by_row)[np.cumsum(sizes) - sizes]  # generated pairs take that of the query's first row
    return {} if by_query is None else {"query_weight": by_query}
