"""Objectives of every class, hypothesis strategies of objectives, rows that each accepts, and kernels in Python."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import reject
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.core.ranking.jit import Jitted
from rankadapters.objectives.kernels.replicas import sigmoid_table
from tests.helpers.conventions import conventions
from tests.helpers.oracle_rows import columns_and_scores
from tests.oracles.rows import Row

BIASES = [
    objectives.lightgbm.position_bias(),
    objectives.lightgbm.position_bias(lambdarank_position_bias_regularization=0.3, learning_rate=1),
    objectives.AdditiveBias(positions="rows", regularization=0, learning_rate=1e-5),
    objectives.xgboost.unbiased(),
    objectives.xgboost.unbiased(lambdarank_bias_norm=0, lambdarank_num_pair_per_sample=7),
    objectives.unbiased_lambdamart(limit=None, norm=0.5),
]
MEASURES = (ra.NDCG, ra.DCG, ra.ERR, ra.RR, ra.AP)
SWAPPABLE = (ra.AP, ra.RR, ra.ERR)  # measures of LambdaRank besides NDCG
CATBOOST_ERR = ra.presets.catboost.err(None, use_weights=False)


@st.composite
def swappable_conventions(draw: st.DrawFn) -> ra.Convention:
    """Draw a convention of which every objective with a swap knows the change."""
    convention = draw(conventions(lenient=True, measures=MEASURES))
    required = {"unjudged": "zero", "average": "uniform", "retrieve": "all", "pool": "queries",
                "count": "first"}  # fmt: skip
    changes = {name: word for name, word in required.items() if name in convention.fields()}
    if "1e30" in getattr(convention, "gain", ""):  # its gradients overflow float32
        changes["gain"] = "exp2"
    if isinstance(convention, ra.AP) and (convention.ties, convention.divisor) == ("average", "found"):
        changes["ties"] = "input"
    if getattr(convention, "ideal", "") == "top-only":  # no objective accepts such an ideal
        changes["ideal"] = "retrieved-only"
    try:
        return convention.replace(**changes)
    except ra.ConventionError:
        reject()


@st.composite
def stochastic_ranks(draw: st.DrawFn) -> objectives.StochasticRank:
    return objectives.StochasticRank(
        convention=draw(swappable_conventions()),
        sigma=draw(st.sampled_from([0.5, 1, 3])),
        mu=draw(st.sampled_from([0, 0.1])),
        nu=draw(st.sampled_from([0.01, 1])),
        lambda_=draw(st.sampled_from([0, 0.5, 1])),
        estimations=draw(st.sampled_from([1, 3])),
        arithmetic="exact",  # tests/catboost/test_random_losses.py compares CatBoost's with CatBoost
        seed=draw(st.sampled_from([0, 12, 2**64 - 1])),
    )


@st.composite
def yetiranks(draw: st.DrawFn) -> objectives.YetiRank:
    delta = draw(st.sampled_from(["classic", "exact", "catboost"]))
    noise = draw(st.sampled_from(["logistic", "gauss", "none"]))
    return objectives.YetiRank(
        delta=delta,
        convention=None if delta == "classic" else draw(swappable_conventions()),
        permutations=draw(st.sampled_from([1, 4])),
        neighbors=1 if delta == "classic" else draw(st.sampled_from([1, 2, None])),
        decay=draw(st.sampled_from([0.85, 1.0])),
        noise=noise,
        noise_power=draw(st.sampled_from([0.5, 2])),
        seed=draw(st.sampled_from([0, 12, 2**64 - 1])),
    )


def simple_stochastic_rank(convention: ra.Convention, **fields: object) -> objectives.StochasticRank:
    """Return a StochasticRank that is only the derivative of the measure."""
    defaults = {"sigma": 1, "mu": 0, "nu": 0.01, "lambda_": 0, "estimations": 1, "arithmetic": "exact", "seed": 0}
    return objectives.StochasticRank(convention=convention, **{**defaults, **fields})


def simple_yetirank(convention: ra.Convention, **fields: object) -> objectives.YetiRank:
    """Return a YetiRank that weighs a pair by the change of the measure when its rows are swapped."""
    defaults = {"delta": "exact", "permutations": 10, "neighbors": 1, "decay": 1, "noise": "logistic", "noise_power": 1}
    return objectives.YetiRank(convention=convention, **{**defaults, "seed": 0, **fields})


@st.composite
def fields_of_pairs(draw: st.DrawFn) -> dict[str, object]:
    return {
        "truncation": draw(st.sampled_from([None, 1, 3, 10])),
        "samples": None,
        "sigma": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "normalization": draw(st.sampled_from(["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"])),
        "hessian": draw(st.sampled_from(["plain", "doubled"])),
        "sigmoid": "exact",
    }


@st.composite
def pairwise_objectives(draw: st.DrawFn) -> objectives.LambdaRank | objectives.RankNet:
    """Draw a LambdaRank of NDCG, or a RankNet."""
    if draw(st.integers(0, 3)) == 0:
        return objectives.RankNet(**draw(fields_of_pairs()))
    convention = draw(conventions(lenient=True).filter(lambda c: isinstance(c, ra.NDCG)))
    if "1e30" in convention.gain:  # its gradients overflow float32
        convention = convention.replace(gain="exp2")
    if convention.get("ideal") == "top-only":  # no objective accepts such an ideal
        convention = convention.replace(ideal="retrieved-only")
    beyond_k = draw(st.sampled_from(["keep", "cut"]))
    return objectives.LambdaRank(**draw(fields_of_pairs()), convention=convention, beyond_k=beyond_k)


def lambdarank_takes(convention: ra.Convention) -> bool:
    """Tell whether LambdaRank accepts a convention."""
    by_row = convention.weighting == "row_weight" or getattr(convention, "pool", "") == "rows"
    first = getattr(convention, "count", "first") == "first"
    return first and not by_row and getattr(convention, "retrieve", "all") == "all"


@st.composite
def lambdaranks(draw: st.DrawFn) -> objectives.LambdaRank:
    """Draw a LambdaRank of AP, RR or ERR."""
    convention = draw(conventions(lenient=True, measures=SWAPPABLE).filter(lambdarank_takes))
    beyond_k = draw(st.sampled_from(["keep", "cut"]))
    return objectives.LambdaRank(**draw(fields_of_pairs()), convention=convention, beyond_k=beyond_k)


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
OBJECTIVES = [  # with further values of fields
    objectives.lightgbm.lambdarank(lambdarank_norm=False, label_gain=[0, 1, 3.5], sigmoid=0.5),
    objectives.lightgbm.xendcg(objective_seed=11),
    objectives.LambdaLoss(convention="sklearn@all", scheme="arp1", truncation=None, sigma=0.5),
    objectives.catboost.lambdamart(top=5, type="Exp"),
    objectives.catboost.stochastic_rank("NDCG", top=10, sigma=0.5, lambda_=0),
    objectives.catboost.stochastic_rank("PFound", seed=2**64 - 1),
    objectives.catboost.yetirank(mode="ERR", num_neighbors=-1, noise="Gauss"),
    *ALL,
]
VALUE_BY_CLASS = {type(value): value for value in reversed([*BIASES, *OBJECTIVES])}  # one value of every class


def objective_id(value: objectives.Objective) -> str:
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


def run_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the machine code of every imported kernel, but for a table of a million numbers."""
    modules = [module for name, module in sys.modules.items() if name.startswith("rankadapters.")]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Jitted)}
    for kernel in kernels - {sigmoid_table}:
        monkeypatch.setattr(kernel, "_compiled", kernel.py_func)
