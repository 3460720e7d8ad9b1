"""The toolkits' own objectives, with their parameter names and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.core import presets
from rankadapters.objectives.base import as_choice, as_count, as_share
from rankadapters.objectives.lambdarank import LambdaRank
from rankadapters.objectives.listwise import XENDCG, QueryCrossEntropy, QuerySoftMax
from rankadapters.objectives.pairwise import LambdaMAP, RankNet
from rankadapters.objectives.pairwise_fields import BY_ROUND, NormalizationWord

TOP_PAIRS = 32  # XGBoost's default number of pairs under `topk`


def lightgbm_lambdarank(
    *,
    lambdarank_truncation_level: int = 30,
    lambdarank_norm: bool = True,
    sigmoid: float = 1.0,
    label_gain: Sequence[float] | None = None,
) -> LambdaRank:
    """LightGBM's `lambdarank`, bit for bit.

    For a Dataset with positions its position bias is `lightgbm_position_bias`.

    Parameters
    ----------
    lambdarank_truncation_level : int
        Bounds the first rank of a pair and cuts the ideal DCG.
    lambdarank_norm : bool
        Whether pairs are divided by their score distance and queries scaled by their sum of lambdas.
    sigmoid : float
        Steepness, `sigma`.
    label_gain : sequence of float, optional
        Gain by label; 2^label - 1 by default.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `LambdarankNDCG`. Run: predictions equal after 50 rounds.

    Examples
    --------
    >>> lightgbm_lambdarank().convention.k, lightgbm_lambdarank().normalization
    (30, 'lightgbm')
    """
    as_count("lambdarank_truncation_level", lambdarank_truncation_level)
    return LambdaRank(
        convention=presets.lightgbm(lambdarank_truncation_level, label_gain=label_gain),
        truncation=lambdarank_truncation_level,
        samples=None,
        beyond_k="keep",
        sigma=sigmoid,
        normalization="lightgbm" if lambdarank_norm else "none",
        hessian="plain",
        sigmoid="table",
    )


def lightgbm_xendcg(*, objective_seed: int = 5) -> XENDCG:
    """LightGBM's `rank_xendcg`, bit for bit while no probability rounds to 1, beyond which LightGBM divides by 0.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `RankXENDCG`. Run: predictions equal after 50 rounds.

    Examples
    --------
    >>> lightgbm_xendcg()
    XENDCG(seed=5)
    """
    return XENDCG(seed=objective_seed)


def xgboost_ndcg(
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    ndcg_exp_gain: bool = True,
    seed: int | None = None,
) -> LambdaRank:
    """XGBoost's `rank:ndcg`, bit for bit; its `lambdarank_unbiased` is `xgboost_unbiased`.

    Under `ndcg_exp_gain` XGBoost refuses labels above 31 and fractional ones, which this one takes.

    Parameters
    ----------
    lambdarank_pair_method : str
        `topk`: pairs of one of the first ranks with a later one; `mean`: sampled pairs.
    lambdarank_num_pair_per_sample : int, optional
        Ranks under `topk` (32 by default, which also cuts the ideal DCG), draws per row under `mean` (1 by default).
    lambdarank_normalization : bool
        Whether a query is scaled: by its sum of lambdas under `topk`, by the number of draws under `mean`.
    lambdarank_score_normalization : bool
        Whether pairs are divided by their score distance.
    ndcg_exp_gain : bool
        Whether a label's gain is 2^label - 1, or the label.
    seed : int, optional
        What seeds the pairs of `mean` from XGBoost 3.4 on: its parameter of this name, 0 by default there. None draws
        them as XGBoost up to 3.3 does, which seeds them by the number of the round.

    References
    ----------
    XGBoost 3.2.0 and 3.4.1, src/objective/lambdarank_obj.cc, `LambdaRankNDCG`; lambdarank_obj.h, `MakePairs`.

    Examples
    --------
    >>> xgboost_ndcg().truncation, xgboost_ndcg(lambdarank_pair_method="mean").samples
    (32, 1)
    """
    fields = _xgboost_fields(lambdarank_pair_method, lambdarank_num_pair_per_sample, seed)
    fields["normalization"] = _normalization(lambdarank_normalization, lambdarank_score_normalization)
    convention = presets.xgboost(fields["truncation"], exp_gain=ndcg_exp_gain)
    return LambdaRank(convention=convention, beyond_k="keep", **fields)


def xgboost_pairwise(
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    seed: int | None = None,
) -> RankNet:
    """XGBoost's `rank:pairwise`; parameters as in `xgboost_ndcg`.

    References
    ----------
    XGBoost 3.2.0, src/objective/lambdarank_obj.cc, `LambdaRankPairwise`.

    Examples
    --------
    >>> xgboost_pairwise().normalization
    'xgboost'
    """
    fields = _xgboost_fields(lambdarank_pair_method, lambdarank_num_pair_per_sample, seed)
    return RankNet(normalization=_normalization(lambdarank_normalization, lambdarank_score_normalization), **fields)


def xgboost_map(
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    seed: int | None = None,
) -> LambdaMAP:
    """XGBoost's `rank:map`, for labels 0 and 1; parameters as in `xgboost_ndcg`.

    References
    ----------
    XGBoost 3.2.0, src/objective/lambdarank_obj.cc, `LambdaRankMAP`.

    Examples
    --------
    >>> xgboost_map(lambdarank_num_pair_per_sample=5).truncation
    5
    """
    fields = _xgboost_fields(lambdarank_pair_method, lambdarank_num_pair_per_sample, seed)
    return LambdaMAP(normalization=_normalization(lambdarank_normalization, lambdarank_score_normalization), **fields)


def pair_logit() -> RankNet:
    """RankNet over all pairs with nothing normalised: CatBoost's PairLogit on the pairs of its groups.

    Examples
    --------
    >>> pair_logit().truncation is None
    True
    """
    return RankNet(truncation=None, samples=None, sigma=1.0, normalization="none", hessian="plain", sigmoid="exact")


def query_softmax(*, beta: float = 1.0, lambda_: float = 0.01) -> QuerySoftMax:
    """CatBoost's QuerySoftMax with its defaults.

    Examples
    --------
    >>> query_softmax()
    QuerySoftMax(beta=1.0, ridge=0.01)
    """
    return QuerySoftMax(beta=beta, ridge=as_share("lambda_", lambda_))


def query_cross_entropy(*, alpha: float = 0.95) -> QueryCrossEntropy:
    """CatBoost's QueryCrossEntropy with its default.

    Examples
    --------
    >>> query_cross_entropy()
    QueryCrossEntropy(alpha=0.95)
    """
    return QueryCrossEntropy(alpha=alpha)


def pair_numbers(method: str, number: int | None) -> tuple[int | None, int | None]:
    """Truncation and samples of XGBoost's two ways to make pairs."""
    as_choice("lambdarank_pair_method", method, ("topk", "mean"))
    as_count("lambdarank_num_pair_per_sample", number, none="the default")
    return (
        (TOP_PAIRS if number is None else number, None) if method == "topk" else (None, 1 if number is None else number)
    )


def _xgboost_fields(method: str, number: int | None, seed: int | None) -> dict[str, Any]:
    """Name the fields that XGBoost's three objectives share."""
    truncation, samples = pair_numbers(method, number)
    drawn = BY_ROUND if seed is None else seed
    return {
        "truncation": truncation, "samples": samples, "sigma": 1.0, "hessian": "doubled", "sigmoid": "float32",
        "seed": drawn,
    }  # fmt: skip


def _normalization(by_sum: bool, by_distance: bool) -> NormalizationWord:  # noqa: FBT001 - its two callers' own flags
    names: dict[tuple[bool, bool], NormalizationWord] = {
        (True, True): "xgboost",
        (True, False): "xgboost-sum",
        (False, True): "xgboost-distance",
    }
    return names.get((bool(by_sum), bool(by_distance)), "none")
