"""The worked examples of `docs/spec.md`: small queries, and their values under conventions that use every word."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import rankadapters as ra

Query = dict[str, Any]

TIED: Query = {"labels": [2, 0, 1, 0, 1], "scores": [0.5, 0.5, 0.1, 0.4, 0.1]}
EMPTY: Query = {"labels": [0, 0], "scores": [1, 2]}
LEVEL: Query = {"labels": [0, 1, 2], "scores": [1, 1, 1]}
SHORT: Query = {"labels": [0, 1], "scores": [1, 2]}
QUERIES = [TIED, EMPTY, SHORT]
CLOSE: Query = {"labels": [0, 1, 2], "scores": [0.200000001, 0.2, 0.1]}  # a tie in single precision
CHANCES: Query = {"labels": [0.1, 0.5, 1, 0.25], "scores": [0.2, 0.3, 0.3, 0.1]}
NEGATIVE: Query = {"labels": [-1, 2.5, 1], "scores": [3, 2, 1]}
NAMED: Query = {"labels": [1, 0, 2], "scores": [0.5, 0.5, 0.5], "docid": ["b", "a", "é"]}
FOUND: Query = {
    "labels": [0, 1, 2, 1, 1], "scores": [3, 2, 0, 0, 0], "judged": [False, True, True, True, True],
    "retrieved": [True, True, False, False, False],
}  # fmt: skip
BELOW_0: Query = {"labels": [-1, 1, 0], "scores": [2, 1, 0.5], "judged": [True] * 3, "retrieved": [True] * 3}
UNKNOWN: Query = {"labels": [0, 1], "scores": [1, 0], "judged": [False, True], "retrieved": [True, False]}
VOID: Query = {"labels": [0, 0], "scores": [0, 0], "judged": [True, True], "retrieved": [False, False]}
LOST: Query = {"labels": [1, 0], "scores": [0, 0], "judged": [True, True], "retrieved": [False, False]}
KNOWN: Query = {"labels": [0, 1], "scores": [1, 2], "judged": [True, True], "retrieved": [True, True]}
HEAVY = [
    {"labels": [1, 0], "scores": [1, 2], "query_weight": 3},
    {"labels": [0, 0], "scores": [1, 2], "query_weight": 0.5},
    {"labels": [0, 1], "scores": [1, 2], "query_weight": 1},
]
ROWS = [
    {"labels": [1, 0, 1], "scores": [1, 2, 2], "row_weight": [2, 1, 0.5]},
    {"labels": [0, 1], "scores": [1, 2], "row_weight": [1, 1]},
]
PAIRS = [{"labels": [2, 1, 0], "scores": [0.3, 0.9, 0.3], "pairs": [[0, 2, 2], [1, 2, 1], [0, 1, 0.5]]}]

NDCG, AP, RR, PRECISION = "textbook@3", "lightgbm.map@3", "catboost.mrr@3", "xgboost.pre@3"
AUC = ra.parse("sklearn.roc_auc_score").replace(empty=0, pool="queries", average="uniform")

EXAMPLES: list[tuple[str | ra.Convention, list[Query]]] = [
    (NDCG, QUERIES),
    *((f"{NDCG}+ties={ties}", [TIED]) for ties in ("input", "reverse", "worst", "best")),
    *((f"{NDCG}+ties=docid-{order}", [NAMED]) for order in ("ascending", "descending")),
    *((f"{NDCG}+gain={gain}", [TIED]) for gain in ("linear", "table_0_0.5_10")),
    *((f"{NDCG}+gain={gain}", [NEGATIVE]) for gain in ("linear", "linear-positive")),
    (f"{NDCG}+gain=from_2", [TIED]),
    (f"{NDCG}+gain=exp2-floor", [{"labels": [0.5, 2.5, 1], "scores": [3, 2, 1]}]),
    *((f"{NDCG}+discount={discount}", [TIED]) for discount in ("jk2", "reciprocal", "power_0.5", "log_3")),
    *((f"{NDCG}+missing=skip+unjudged=1+ideal={ideal}", [FOUND, LOST]) for ideal in ("cutoff", "retrieved", "all")),
    (f"{NDCG}+missing=skip+unjudged=1+ideal=retrieved-only", [FOUND, LOST]),
    (f"{NDCG}+missing=zero+unjudged=zero", [FOUND, LOST, KNOWN]),
    (f"{NDCG}+missing=zero+unjudged=drop+ties=input+ideal=top-only", [FOUND, LOST, KNOWN]),
    # The unjudged row of UNKNOWN is dropped, so that it counts 0; it is not missing.
    *(
        (f"trec_eval_9.map+precision=float64+ties=input+unjudged={word}", [BELOW_0, UNKNOWN, LOST])
        for word in ("drop", "drop-negative")
    ),
    (f"{NDCG}+missing=zero+empty=skip", [VOID, LOST, KNOWN]),  # VOID is empty before it is missing
    (f"{NDCG}+gain=linear+ideal=ones", [SHORT]),
    (f"{NDCG}+precision=float32+ties=input", [CLOSE]),
    *((f"{NDCG}+short={short}", QUERIES) for short in ("zero", "skip")),
    *((f"{NDCG}+empty={empty}", QUERIES) for empty in ("0.5", "skip", "error")),
    *((f"{NDCG}+empty=1+average={average}", HEAVY) for average in ("query", "query-except-empty")),
    (f"{NDCG}+average=geometric_1e-05", QUERIES),
    ("sklearn.dcg@3", QUERIES),
    (AP, QUERIES),
    *((f"{AP}+divisor={divisor}+ties=input", [TIED]) for divisor in ("relevant", "found")),
    *((f"{AP}+divisor=relevant+ties={ties}", [TIED]) for ties in ("average", "together")),
    (f"{AP}+divisor=relevant+average=row", ROWS),
    (f"{AP}+divisor=relevant+ties=input+pool=rows+average=query+empty=0", HEAVY),
    (AUC.replace(pairs="label"), QUERIES),
    *((AUC.replace(pairs="label", ties=ties), [TIED]) for ties in ("worst", "best")),
    (AUC.replace(pairs="from_1", average="row"), ROWS),
    (AUC.replace(pairs="every-two", pool="pairs"), QUERIES),
    (
        AUC.replace(
            pairs="unit",
        ),
        [CHANCES],
    ),
    (AUC.replace(pairs="given", pool="pairs", average="pair"), PAIRS),
    (AUC.replace(pairs="above_0", pool="rows", average="query"), HEAVY),
    (f"{RR}+count=all+ties=average+relevant=from_1", [TIED]),
    (f"{RR}+count=found", [TIED, EMPTY]),
    (RR, QUERIES),
    (f"{RR}+ties=average+relevant=from_1", [TIED]),
    (f"{RR}+retrieve=above_0.4+relevant=from_1", [TIED]),
    (f"{PRECISION}+pool=sums", QUERIES),
    (PRECISION, QUERIES),
    *((f"{PRECISION}+divisor={divisor}", [SHORT]) for divisor in ("k", "relevant", "one")),
    (f"{PRECISION}+relevant=label", [TIED]),
    (f"{PRECISION}+relevant=judged+unjudged=zero+missing=zero", [FOUND, LOST]),
    ("trec_eval_9.recall@3+ties=input+pool=sums", QUERIES),
    ("trec_eval_9.recall@3+ties=input", QUERIES),
    ("sklearn.top_k_accuracy_score@2", QUERIES),
    ("sklearn.top_k_accuracy_score@2+ties=average", [TIED]),
    ("catboost.pfound@3", [CHANCES]),
    ("catboost.err@3+ties=average", [CHANCES]),
    ("ir_measures.rbp@3", QUERIES),
    ("ir_measures.rbp@3+gain=linear-from_2", QUERIES),
    ("trec_eval_9.Rprec+ties=input", QUERIES),
    ("trec_eval_9.set_F+ties=input+pool=sums", QUERIES),
    ("trec_eval_9.set_F+ties=input", QUERIES),
    ("torchmetrics.fall_out@2", QUERIES),
    ("catboost.filtered_dcg", [NEGATIVE, TIED]),
    ("sklearn.coverage_error", QUERIES),
    ("trec_eval_9.bpref+ties=input", QUERIES),
    ("scipy.spearmanr+empty=0", QUERIES),
    *((f"scipy.spearmanr+ties={ties}", [TIED]) for ties in ("input", "reverse")),
    ("scipy.spearmanr+constant=0.5+empty=skip", [LEVEL, EMPTY]),
    ("scipy.spearmanr+pool=rows+empty=0", QUERIES),
    ("scipy.kendalltau+empty=0", QUERIES),
    ("scipy.kendalltau+variant=c", [TIED]),
    ("scipy.pearsonr+empty=0", QUERIES),
    ("scipy.pearsonr+empty=1+average=query", HEAVY),
    ("scipy.pearsonr+empty=1+average=query-except-empty", HEAVY),
    ("catboost.pair_logit+pairs=label+average=uniform", QUERIES),
    ("catboost.pair_logit", PAIRS),
    ("catboost.query_rmse", HEAVY),
    ("catboost.query_rmse+average=row", ROWS),
    ("catboost.query_soft_max", QUERIES),
    ("catboost.query_cross_entropy", [CHANCES]),
]


def examples() -> Iterator[dict[str, Any]]:
    """Yield each example as the page shows it; the value of a query that is refused is None."""
    for which, queries in EXAMPLES:
        convention = which if isinstance(which, ra.Convention) else ra.parse(which)
        yield {"convention": str(convention), "queries": queries, "value": value_of(convention, queries)}


def value_of(convention: ra.Convention, queries: list[Query]) -> float | None:
    """Evaluate a convention on the queries of an example."""
    sizes = [len(query["labels"]) for query in queries]
    names = {name for query in queries for name in query} - {"pairs", "query_weight"}
    columns = {name: [entry for query in queries for entry in query[name]] for name in sorted(names)}
    if "query_weight" in queries[0]:
        columns["query_weight"] = [query["query_weight"] for query in queries]
    if "pairs" in queries[0]:
        starts = accumulate(sizes, initial=0)
        rows = [(s + i, s + j, w) for s, query in zip(starts, queries, strict=False) for i, j, w in query["pairs"]]
        columns["pairs"] = tuple(map(list, zip(*rows, strict=True)))
    try:
        value = ra.evaluate(
            columns.pop("labels"), columns.pop("scores"), convention, group_sizes=sizes, **columns
        ).value
    except ra.InputError:
        return None
    return value if math.isfinite(value) else None
