"""Objectives, and rows that each of them accepts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.oracle_rows import columns_and_scores
from tests.helpers.random_objectives import CATBOOST_ERR, simple_stochastic_rank, simple_yetirank
from tests.oracles.rows import Row

EXACT = objectives.lightgbm.lambdarank().replace(sigmoid="exact")
TABULATED = objectives.lightgbm.lambdarank()
CROSS_ENTROPY = objectives.catboost.query_cross_entropy()  # needs labels in [0, 1]
STATELESS = [
    EXACT,
    TABULATED,
    EXACT.replace(normalization="none"),
    EXACT.replace(convention="lightgbm.map@10"),
    EXACT.replace(convention="catboost.mrr@10", normalization="none"),
    EXACT.replace(convention=ra.parse("yahoo.err").at(10), beyond_k="cut"),
    *(objectives.catboost.lambdamart(metric=metric) for metric in ("MRR", "ERR", "MAP")),
    objectives.xgboost.ndcg(),
    objectives.xgboost.ndcg().replace(sigmoid="exact"),
    objectives.xgboost.pairwise(),
    objectives.catboost.pair_logit(),
    objectives.xgboost.map(),
    objectives.ListNet(),
    objectives.ListMLE(),
    objectives.ApproxNDCG(convention="lightgbm@10", temperature=0.5, hessian=1),
    *(
        objectives.LambdaLoss(convention="lightgbm@10", scheme=scheme, truncation=30, sigma=1)
        for scheme in ("arp1", "arp2", "ndcg1", "ndcg2", "ndcg2++_10")
    ),
    objectives.catboost.query_soft_max(),
    objectives.QueryRMSE(),
    CROSS_ENTROPY,
]
RANDOMIZED = [
    objectives.lightgbm.xendcg(),
    objectives.xgboost.ndcg(lambdarank_pair_method="mean"),
    objectives.xgboost.pairwise(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=3),
    objectives.xgboost.map(lambdarank_pair_method="mean"),
    objectives.xgboost.ndcg(lambdarank_pair_method="mean", seed=0),
]
NOISY = [  # they draw from CatBoost's generator
    simple_stochastic_rank(ra.presets.textbook(3), lambda_=1),
    simple_stochastic_rank(CATBOOST_ERR.replace(scale=4), estimations=2),
    simple_stochastic_rank(ra.presets.catboost.map(4, border=0)),
    objectives.catboost.yetirank(),
    objectives.catboost.yetirank(mode="MRR", num_neighbors=-1),
    simple_yetirank(ra.presets.catboost.map(5, border=0)),
    objectives.catboost.stochastic_filter(num_estimations=3),
]
ALL = [*STATELESS, *RANDOMIZED, *NOISY]


def objective_id(value: objectives.Objective) -> str:
    """Return the id of an objective in the name of a test."""
    return str(value).partition("/v")[0].replace("/", " ")


def labels_scores_sizes(value: objectives.Objective, seed: int = 0, sizes: tuple[int, ...] = (1, 2, 7, 40, 120)):
    """Return labels that the objective accepts, distinct scores, and the sizes of the queries."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    if value.kind == "listmle":  # it orders rows of equal labels by row, so labels are distinct
        return rng.permutation(n).astype(float), rng.standard_normal(n), list(sizes)
    top = 1 if value.kind in {"lambdamap", "query-cross-entropy"} or "/scale=1/" in str(value) else 4
    return rng.integers(0, top + 1, n).astype(float), rng.standard_normal(n), list(sizes)


def accepted_rows(queries: list[list[Row]], value: objectives.Objective) -> list[list[Row]]:
    """Return rows that the objective accepts: without a convention every row is retrieved and judged."""
    if "convention" in value.fields():
        return queries
    return [[replace(row, retrieved=True, judged=True) for row in query] for query in queries]


def queries_of(rows: list[list[Row]], value: objectives.Objective) -> tuple[ra.Queries, np.ndarray]:
    """Return the Queries of accepted rows, and their scores."""
    table, scores = columns_and_scores(rows)
    if "convention" not in value.fields():
        del table["retrieved"], table["judged"]
    return ra.Queries(table.pop("labels"), **table), np.array(scores)
