"""Hypothesis strategies of objectives, and simple objectives that draw from CatBoost's generator."""

from __future__ import annotations

from hypothesis import reject
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.convention_strategies import conventions

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
    if "1e+30" in getattr(convention, "gain", ""):  # its gradients overflow float32
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
    """Draw a StochasticRank."""
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
    """Draw a YetiRank."""
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
def pairwise_objectives(draw: st.DrawFn) -> objectives.LambdaRank | objectives.RankNet:
    """Draw a LambdaRank of NDCG, or a RankNet."""
    common = {
        "truncation": draw(st.sampled_from([None, 1, 3, 10])),
        "samples": None,
        "sigma": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "normalization": draw(st.sampled_from(["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"])),
        "hessian": draw(st.sampled_from(["plain", "doubled"])),
        "sigmoid": "exact",
    }
    if draw(st.integers(0, 3)) == 0:
        return objectives.RankNet(**common)
    convention = draw(conventions(lenient=True).filter(lambda c: isinstance(c, ra.NDCG)))
    if "1e+30" in convention.gain:  # its gradients overflow float32
        convention = convention.replace(gain="exp2")
    if convention.get("ideal") == "top-only":  # no objective accepts such an ideal
        convention = convention.replace(ideal="retrieved-only")
    return objectives.LambdaRank(**common, convention=convention, beyond_k=draw(st.sampled_from(["keep", "cut"])))


def lambdarank_takes(convention: ra.Convention) -> bool:
    """Tell whether LambdaRank accepts a convention; `test_trade_gradients` checks that it refuses the rest."""
    by_row = convention.weighting == "row_weight" or getattr(convention, "pool", "") == "rows"
    first = getattr(convention, "count", "first") == "first"
    return first and not by_row and getattr(convention, "retrieve", "all") == "all"


@st.composite
def lambdaranks(draw: st.DrawFn) -> objectives.LambdaRank:
    """Draw a LambdaRank of AP, RR or ERR."""
    convention = draw(conventions(lenient=True, measures=SWAPPABLE).filter(lambdarank_takes))
    return objectives.LambdaRank(
        convention=convention,
        beyond_k=draw(st.sampled_from(["keep", "cut"])),
        truncation=draw(st.sampled_from([None, 1, 3, 10])),
        samples=None,
        sigma=draw(st.sampled_from([0.5, 1.0, 2.0])),
        normalization=draw(st.sampled_from(["none", "lightgbm", "xgboost", "xgboost-distance", "xgboost-sum"])),
        hessian=draw(st.sampled_from(["plain", "doubled"])),
        sigmoid="exact",
    )
