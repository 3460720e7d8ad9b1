"""Labels that a tool refuses or changes; for such data our value under the tool's preset differs from the tool's."""

from __future__ import annotations

from typing import NamedTuple


class LabelRule(NamedTuple):
    """A kind of labels that a tool refuses or changes.

    Attributes
    ----------
    kind : str
        `fractional`, or `above` or `below` the threshold.
    tool : str
        The tool's reaction to such labels, with its own message in quotation marks.
    threshold : float
        The label above or below which the rule applies.
    """

    kind: str
    tool: str
    threshold: float = 0.0


_BINARY = LabelRule("fractional", "XGBoost 3.2.0 refuses: 'can only be used with binary labels'")
_CONTINUOUS = LabelRule("fractional", "scikit-learn 1.9.1 refuses: 'continuous format is not supported'")
_CUT = LabelRule("fractional", "RankLib 2.10.1 cuts to a whole number")

# Rules by preset. The tools of all other presets accept every label that the convention accepts, or were never run with
# unusual labels. We ran LightGBM's ndcg and map, XGBoost's ndcg, map, pre and auc, all ranking metrics of CatBoost
# 1.2.10 (which accepts every label) and scikit-learn's functions with them; of RankLib we only read the source.
LABEL_RULES: dict[str, tuple[LabelRule, ...]] = {
    "lightgbm": (
        LabelRule("fractional", "LightGBM 4.7.0 refuses: 'label should be int type'"),
        LabelRule("above", "LightGBM 4.7.0 refuses unless label_gain has a gain for it", 30),
    ),
    "xgboost": (
        LabelRule("fractional", "XGBoost 3.2.0 refuses: 'label must be either 0 or positive integer'"),
        LabelRule("above", "XGBoost 3.2.0 refuses unless ndcg_exp_gain=False", 31),
    ),
    "xgboost.map": (_BINARY,),
    "xgboost.pre": (_BINARY,),
    "sklearn": (
        LabelRule("below", "scikit-learn 1.9.1 refuses: 'ndcg_score should not be used on negative y_true values'"),
    ),
    "sklearn.average_precision_score": (_CONTINUOUS,),
    "sklearn.label_ranking_average_precision_score": (_CONTINUOUS,),
    "sklearn.roc_auc_score": (_CONTINUOUS,),
    "sklearn.coverage_error": (_CONTINUOUS,),
    **dict.fromkeys(("ranklib", "ranklib.map", "ranklib.p", "ranklib.rr", "ranklib.err", "ranklib.dcg"), (_CUT,)),
}
