"""XGBoost's built-in objectives and position bias, with its parameter names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rankadapters import presets
from rankadapters.core.declaration.guesses import list_public
from rankadapters.objectives.base import PRESETS, Objective
from rankadapters.objectives.built_in import BuiltIns
from rankadapters.objectives.lambda_rank import LambdaRank
from rankadapters.objectives.pairwise import BY_ROUND, LambdaMAP, RankNet
from rankadapters.objectives.position_bias import TRACKED, BiasRatios, PositionBias
from rankadapters.presets.tool import as_bool, one_of
from rankadapters.presets.xgboost import NO_CUTOFF

__all__ = ["map", "native_objective", "ndcg", "pairwise", "read_objective", "unbiased"]

TOP_PAIRS = 32  # XGBoost's default number of top ranks under `topk`
NORMALIZATIONS = {
    (True, True): "xgboost", (True, False): "xgboost-sum", (False, True): "xgboost-distance", (False, False): "none",
}  # fmt: skip

list_public(__name__)


def ndcg(
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    ndcg_exp_gain: bool = True,
    seed: int | None = None,
) -> LambdaRank:
    """Return XGBoost's `rank:ndcg`, bit for bit; for its `lambdarank_unbiased`, see `unbiased`.

    Under `ndcg_exp_gain`, XGBoost refuses fractional labels and labels above 31; this objective accepts them.

    Parameters
    ----------
    lambdarank_pair_method : str
        `topk`: pairs with a row in the top ranks; `mean`: random pairs.
    lambdarank_num_pair_per_sample : int, optional
        Under `topk`, the number of top ranks (default 32), which also cut the ideal DCG; under `mean`, the number of
        random pairs of each row (default 1).
    lambdarank_normalization : bool
        Whether a query is scaled: by its sum of lambdas under `topk`, by the number of draws under `mean`.
    lambdarank_score_normalization : bool
        Whether pairs are divided by their score distance.
    ndcg_exp_gain : bool
        Whether a label's gain is 2^label - 1 or the label itself.
    seed : int, optional
        Seed of the pairs of `mean`: XGBoost's parameter from 3.4 on, where it is 0 by default. None uses the number of
        the round, as in XGBoost up to 3.3.

    References
    ----------
    XGBoost 3.2.0 and 3.4.1, src/objective/lambdarank_obj.cc, `LambdaRankNDCG`; lambdarank_obj.h, `MakePairs`.

    Examples
    --------
    >>> ndcg().truncation, ndcg(lambdarank_pair_method="mean").samples
    (32, 1)
    """
    fields = _fields(
        lambdarank_pair_method, lambdarank_num_pair_per_sample, seed,
        (lambdarank_normalization, lambdarank_score_normalization),
    )  # fmt: skip
    convention = presets.xgboost(fields["truncation"], ndcg_exp_gain=ndcg_exp_gain)
    return LambdaRank(convention=convention, beyond_k="keep", **fields)


def pairwise(
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    seed: int | None = None,
) -> RankNet:
    """Return XGBoost's `rank:pairwise`, `LambdaRankPairwise` in lambdarank_obj.cc; parameters as in `ndcg`.

    Examples
    --------
    >>> pairwise().normalization
    'xgboost'
    """
    normalized = (lambdarank_normalization, lambdarank_score_normalization)
    return RankNet(**_fields(lambdarank_pair_method, lambdarank_num_pair_per_sample, seed, normalized))


def map(  # noqa: A001 - as in rank:map
    *,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
    lambdarank_normalization: bool = True,
    lambdarank_score_normalization: bool = True,
    seed: int | None = None,
) -> LambdaMAP:
    """Return XGBoost's `rank:map` for labels 0 and 1, `LambdaRankMAP` in lambdarank_obj.cc; parameters as in `ndcg`.

    Examples
    --------
    >>> map(lambdarank_num_pair_per_sample=5).truncation
    5
    """
    normalized = (lambdarank_normalization, lambdarank_score_normalization)
    return LambdaMAP(**_fields(lambdarank_pair_method, lambdarank_num_pair_per_sample, seed, normalized))


def unbiased(
    *,
    lambdarank_bias_norm: float = 1.0,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
) -> BiasRatios:
    """Return XGBoost's `lambdarank_unbiased`, bit for bit, as a position bias.

    Parameters
    ----------
    lambdarank_bias_norm : float
        The `norm` of `BiasRatios`, at least 0.
    lambdarank_pair_method, lambdarank_num_pair_per_sample
        Those of the objective. The number of positions with ratios is that of top ranks under `topk`, and otherwise 32.

    References
    ----------
    XGBoost 3.2.0, src/objective/lambdarank_obj.cc; src/common/ranking_utils.h, `MaxPositionSize`. Run: predictions
    equal after 20 rounds.

    Examples
    --------
    >>> unbiased()
    BiasRatios(limit=32, norm=1.0, cost='mirrored')
    """
    truncation, _ = _pair_numbers(lambdarank_pair_method, lambdarank_num_pair_per_sample)
    return BiasRatios(limit=truncation or TRACKED, norm=lambdarank_bias_norm, cost="mirrored")


def _pair_numbers(method: str, number: int | None) -> tuple[int | None, int | None]:
    """Return the truncation and the samples of a pair method; one of them is None."""
    truncates = one_of("lambdarank_pair_method", method, {"topk": True, "mean": False})
    LambdaRank.declared()["samples"].check("lambdarank_num_pair_per_sample", number)
    return (TOP_PAIRS if number is None else number, None) if truncates else (None, 1 if number is None else number)


def _fields(method: str, number: int | None, seed: int | None, normalized: tuple[bool, bool]) -> dict[str, Any]:
    """Return the fields that XGBoost's three objectives share."""
    truncation, samples = _pair_numbers(method, number)
    return {
        "truncation": truncation, "samples": samples, "sigma": 1.0, "hessian": "doubled", "sigmoid": "float32",
        "seed": BY_ROUND if seed is None else seed,
        "normalization": NORMALIZATIONS[as_bool(NORMALIZED[0], normalized[0]), as_bool(NORMALIZED[1], normalized[1])],
    }  # fmt: skip


NORMALIZED = ("lambdarank_normalization", "lambdarank_score_normalization")
NAMES = {LambdaRank: "rank:ndcg", RankNet: "rank:pairwise", LambdaMAP: "rank:map"}


class XGBoostObjectives(BuiltIns):
    """XGBoost's `rank:ndcg`, `rank:pairwise` and `rank:map`."""

    toolkit = "XGBoost"
    presets: ClassVar[Mapping[str, Any]] = {"rank:ndcg": ndcg, "rank:pairwise": pairwise, "rank:map": map}

    def _write(self, value: Objective) -> dict[str, Any]:
        if type(value) not in NAMES:
            raise self._no_native(value)
        fields = value.to_dict()
        topk, normalization = fields["samples"] is None, fields["normalization"]
        built_in = value.replace(truncation=min(fields["truncation"] or NO_CUTOFF, NO_CUTOFF)) if topk else value
        params: dict[str, Any] = {
            "lambdarank_pair_method": "topk" if topk else "mean",
            "lambdarank_num_pair_per_sample": built_in.to_dict()["truncation"] if topk else fields["samples"],
            "lambdarank_normalization": normalization in {"xgboost", "xgboost-sum"},
            "lambdarank_score_normalization": normalization in {"xgboost", "xgboost-distance"},
        }
        if isinstance(built_in, LambdaRank):
            built_in, params = self._gains(built_in, params)
        if fields["seed"] != BY_ROUND:
            params["seed"] = fields["seed"]
        name = NAMES[type(value)]
        self._require_native(built_in, self.presets[name](**params))
        return {"objective": name, **params}

    def _write_bias(self, bias: PositionBias, params: Mapping[str, Any]) -> dict[str, Any]:
        norm = bias.to_dict().get("norm", 1.0)
        pairs = {name: params[name] for name in ("lambdarank_pair_method", "lambdarank_num_pair_per_sample")}
        self._require_native_bias(bias, unbiased(lambdarank_bias_norm=norm, **pairs))
        return {"lambdarank_unbiased": True, "lambdarank_bias_norm": norm}

    def _gains(self, value: LambdaRank, params: dict[str, Any]) -> tuple[LambdaRank, dict[str, Any]]:
        """Write the gain as one that is equal on XGBoost's labels, and no cutoff as XGBoost's largest cutoff."""
        convention = self._require_ndcg(value)
        params = {**params, "ndcg_exp_gain": not convention.gain.startswith("linear")}
        if convention.gain == "exp2":
            convention = convention.replace(gain="exp2-floor")
        if value.samples is None:
            convention = convention.at(min(convention.k or NO_CUTOFF, NO_CUTOFF))
        return value.replace(convention=convention), params


_built_ins = XGBoostObjectives()
native_objective, read_objective = _built_ins.native_objective, _built_ins.read_objective
PRESETS["xgboost"] = {"ndcg": ndcg, "pairwise": pairwise, "map": map}
