"""Labels that a tool refuses or changes, where a value under its preset is a number that the tool never prints."""

from __future__ import annotations

from typing import NamedTuple


class LabelRule(NamedTuple):
    """Labels of a kind, and what a tool does with them.

    Attributes
    ----------
    kind : str
        `fractional`, or `above` or `below` the threshold.
    tool : str
        What the tool does, with its own words in quotation marks.
    threshold : float
        A label.
    """

    kind: str
    tool: str
    threshold: float = 0.0


_BINARY = LabelRule("fractional", "XGBoost 3.2.0 refuses: 'can only be used with binary labels'")
_CONTINUOUS = LabelRule("fractional", "scikit-learn 1.9.1 refuses: 'continuous format is not supported'")
_CUT = LabelRule("fractional", "RankLib 2.10.1 cuts to a whole number")

# By preset. A preset that is not here takes every label that its convention takes, or nobody has run it with others.
# Run: LightGBM's ndcg and map, XGBoost's ndcg, map, pre and auc, all ranking metrics of CatBoost 1.2.10 (which takes
# every label), scikit-learn's functions. Read: RankLib.
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
