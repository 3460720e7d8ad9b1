"""The toolkits' own position bias, with their parameter names and defaults, and the one of the paper."""

from __future__ import annotations

from rankadapters.objectives.position_bias import AdditiveBias, BiasRatios
from rankadapters.objectives.presets import pair_numbers

TRACKED = 32  # positions, where XGBoost's pairs are drawn


def lightgbm_position_bias(
    *, lambdarank_position_bias_regularization: float = 0.0, learning_rate: float = 0.1
) -> AdditiveBias:
    """LightGBM's position bias, bit for bit, for a Dataset with positions and one thread of LightGBM's.

    With several, LightGBM adds up in an order of its threads.

    Parameters
    ----------
    lambdarank_position_bias_regularization : float
        Of the biases.
    learning_rate : float
        The training's, as its parameters have it at the start.

    References
    ----------
    LightGBM 4.7.0, src/objective/rank_objective.hpp. Run: predictions equal after 20 rounds, also under a schedule.

    Examples
    --------
    >>> lightgbm_position_bias()
    AdditiveBias(positions='given', regularization=0.0, learning_rate=0.1)
    """
    return AdditiveBias(
        positions="given", regularization=lambdarank_position_bias_regularization, learning_rate=learning_rate
    )


def xgboost_unbiased(
    *,
    lambdarank_bias_norm: float = 1.0,
    lambdarank_pair_method: str = "topk",
    lambdarank_num_pair_per_sample: int | None = None,
) -> BiasRatios:
    """XGBoost's `lambdarank_unbiased`, bit for bit; its costs are mirrored.

    Parameters
    ----------
    lambdarank_bias_norm : float
        From 0 on.
    lambdarank_pair_method, lambdarank_num_pair_per_sample
        As the objective's; under `topk` as many positions have ratios as there are top ranks, else 32.

    References
    ----------
    XGBoost 3.2.0, src/objective/lambdarank_obj.cc; src/common/ranking_utils.h, `MaxPositionSize`. Run: predictions
    equal after 20 rounds.

    Examples
    --------
    >>> xgboost_unbiased()
    BiasRatios(limit=32, norm=1.0, cost='mirrored')
    """
    truncation, _ = pair_numbers(lambdarank_pair_method, lambdarank_num_pair_per_sample)
    return BiasRatios(limit=truncation or TRACKED, norm=lambdarank_bias_norm, cost="mirrored")


def unbiased_lambdamart(*, limit: int | None = TRACKED, norm: float = 1.0) -> BiasRatios:
    """Unbiased LambdaMART as its paper has it, with the cost of the pair's own order.

    Parameters
    ----------
    limit, norm
        As in `BiasRatios`.

    References
    ----------
    Hu, Wang, Peng, Li: Unbiased LambdaMART, WWW 2019, arXiv:1809.05818, equations 30 and 31.

    Examples
    --------
    >>> unbiased_lambdamart().cost
    'true'
    """
    return BiasRatios(limit=limit, norm=norm, cost="true")
