"""CatBoost's metrics of the ranks 1..k other than NDCG, DCG, MAP and MRR."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import FloatField
from rankadapters.core.declaration.spelling import border, number
from rankadapters.core.measures import ERR, FilteredDCG, Precision, Recall
from rankadapters.core.presets.catboost_words import (
    BOOLS,
    DENOMINATORS,
    TYPES,
    above,
    gain_changes,
    largest_or_all,
    spelled_options,
)
from rankadapters.core.presets.metric_strings import Reader, number_of, same_word_of, top_of, word_of
from rankadapters.core.presets.tool import Vocabulary, flag, measure, one_of

DECAY, BORDER = 0.85, 0.5  # CatBoost's defaults
SORTS = {
    "None": {"precision": "none", "ties": "input"},
    "ByPrediction": {"precision": "float64", "ties": "worst"},
    "ByTarget": {"precision": "none", "ties": "best"},
}
Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]
Sort = Literal["None", "ByPrediction", "ByTarget"]
_DECAY = FloatField(group="value", about="", least=0, strict=True, most=1)
C = TypeVar("C", bound=Convention)

_RANKED: dict[str, Any] = {
    "ties": "worst", "precision": "float64", "short": "pad", "missing": "error", "unjudged": "error",
}  # fmt: skip


class CatBoostRanks(Vocabulary[str]):
    """What CatBoost computes of the ranks 1..k; `k` is its `top`, None is -1, all."""

    @measure
    def pfound(self, k: int | None, *, decay: float = DECAY, use_weights: bool = True) -> ERR:
        """`PFound:top=k`, pfound.h: a label is the probability that it satisfies. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        decay : float
            The probability that a reader who is not satisfied goes on.
        use_weights : bool
            Whether group weights count.
        """
        found = ERR(
            k=k, gain="linear", scale=1, discount="power_0.85", complement="float64", average="query", **_RANKED
        ).named("catboost.pfound")  # fmt: skip
        return _weighed(found.replace(discount=f"power_{number(_DECAY.check('decay', decay))}"), use_weights)

    @measure
    def err(self, k: int | None, *, use_weights: bool = True) -> ERR:
        """`ERR:top=k`, metric.cpp, which rounds 1 - label to float32. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        use_weights : bool
            Whether group weights count.
        """
        found = ERR(
            k=k, gain="linear", scale=1, discount="reciprocal", complement="float32", average="query", **_RANKED
        ).named("catboost.err")  # fmt: skip
        return _weighed(found, use_weights)

    @measure
    def precision_at(self, k: int | None, *, border: float = BORDER) -> Precision:
        """`PrecisionAt:top=k`, precision_recall_at_k.cpp, which ignores weights. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; held as float32.
        """
        found = Precision(
            k=k, relevant="above_0.5", divisor="retrieved", retrieve="all", empty=0, average="uniform", **_RANKED
        ).named("catboost.precision_at")  # fmt: skip
        return found.replace(relevant=above(border))

    @measure
    def recall_at(self, k: int | None, *, border: float = BORDER) -> Recall:
        """`RecallAt:top=k`, precision_recall_at_k.cpp: without relevant rows 1. Run with 1.2.10: equal to 1e-12.

        Parameters as of `precision_at`.
        """
        found = Recall(
            k=k, relevant="above_0.5", retrieve="all", empty=1, average="uniform", **_RANKED
        ).named("catboost.recall_at")  # fmt: skip
        return found.replace(relevant=above(border))

    @measure
    def average_gain(self, k: int | None, *, use_weights: bool = True) -> Precision:
        """`AverageGain:top=k`, metric.cpp: the mean label. Run with 1.2.10: equal to 1e-12; parameters as of `err`."""
        found = Precision(
            k=k, relevant="label", divisor="retrieved", retrieve="all", empty=0, average="query", **_RANKED
        ).named("catboost.average_gain")  # fmt: skip
        return _weighed(found, use_weights)

    @measure
    def filtered_dcg(
        self,
        *,
        type: Type = "Base",  # noqa: A002 - CatBoost's own parameter name
        denominator: Denominator = "Position",
        sort: Sort = "None",
    ) -> FilteredDCG:
        """`FilteredDCG`, metric.cpp: rows with a score from 0 on, as they stand. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        type, denominator
            As of `NDCG`.
        sort : {'None', 'ByPrediction', 'ByTarget'}
            Whether these rows stand as they are, by score, or by label.
        """
        found = FilteredDCG(
            k=None, gain="linear", discount="reciprocal", retrieve="from_0", average="uniform",
            **{**_RANKED, "ties": "input", "precision": "none"},
        ).named("catboost.filtered_dcg")  # fmt: skip
        changes = {**gain_changes(type, denominator, True), **one_of("sort", sort, SORTS)}  # noqa: FBT003 - use_weights
        return found.replace(**changes)

    def _nearest_rank(self, convention: ERR | FilteredDCG | Precision | Recall) -> Convention:
        """Nearest of these to one of their measures."""
        if isinstance(convention, FilteredDCG):
            return self._nearest_filtered(convention)
        k, weighted = largest_or_all(convention.k), convention.weighting is not None
        if isinstance(convention, ERR):
            word, decay = border(convention.discount) or ("", DECAY)
            if word == "power":
                return self.pfound(k, decay=decay, use_weights=weighted)
            return self.err(k, use_weights=weighted)
        if convention.relevant == "label":
            return self.average_gain(k, use_weights=weighted)
        word, found = border(convention.relevant) or ("", BORDER)
        at = found if word == "above" else BORDER
        return self.precision_at(k, border=at) if isinstance(convention, Precision) else self.recall_at(k, border=at)

    def _nearest_filtered(self, convention: FilteredDCG) -> FilteredDCG:
        types: tuple[Type, ...] = ("Base", "Exp")
        denominators: tuple[Denominator, ...] = ("LogPosition", "Position")
        sorts: tuple[Sort, ...] = ("None", "ByPrediction", "ByTarget")
        options = product(types, denominators, sorts)
        several = [self.filtered_dcg(type=each, denominator=by, sort=sort) for each, by, sort in options]
        return min(several, key=lambda each: len(each.diff(convention)))


def _weighed(found: C, use_weights: object) -> C:
    return found if flag("use_weights", use_weights) else found.replace(average="uniform")


def spelled_filtered(convention: FilteredDCG) -> str:
    """Write `FilteredDCG`, which has neither a cutoff nor weights."""
    sort = next(word for word, fields in SORTS.items() if fields == {n: getattr(convention, n) for n in fields})
    return f"FilteredDCG:{';'.join(spelled_options(convention))};sort={sort}"


def rank_metric(convention: ERR | Precision | Recall) -> tuple[str, list[str]]:
    """Name the metric of a convention that CatBoost computes, and its options beside `top` and `use_weights`."""
    if isinstance(convention, ERR):
        decay = convention.discount.removeprefix("power_")
        return ("ERR", []) if convention.discount == "reciprocal" else ("PFound", [f"decay={decay}"])
    if convention.relevant == "label":
        return "AverageGain", []
    return f"{type(convention).__name__}At", [f"border={convention.relevant.partition('_')[2]}"]


_WEIGHTS: dict[str, Reader] = {"use_weights": word_of(BOOLS)}

READERS: dict[str, tuple[Any, dict[str, Reader]]] = {
    "PFound": (CatBoostRanks.pfound, {"top": top_of, "decay": number_of, **_WEIGHTS}),
    "ERR": (CatBoostRanks.err, {"top": top_of, **_WEIGHTS}),
    "PrecisionAt": (CatBoostRanks.precision_at, {"top": top_of, "border": number_of}),
    "RecallAt": (CatBoostRanks.recall_at, {"top": top_of, "border": number_of}),
    "FilteredDCG": (
        CatBoostRanks.filtered_dcg,
        {
            "type": same_word_of(TYPES),
            "denominator": same_word_of(DENOMINATORS),
            "sort": same_word_of(SORTS),
        },
    ),
    "AverageGain": (CatBoostRanks.average_gain, {"top": top_of, **_WEIGHTS}),
}
