"""CatBoost's ranking metrics."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.spelling import border
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, DCG, ERR, NDCG, RR, FilteredDCG, Precision, Recall
from rankadapters.core.measures.loss import Loss
from rankadapters.core.measures.ranked import Discounted
from rankadapters.core.presets import catboost_ranks
from rankadapters.core.presets.catboost_losses import Losses, nearest_loss, spelled_loss
from rankadapters.core.presets.catboost_ranks import CatBoostRanks, rank_metric, spelled_filtered
from rankadapters.core.presets.catboost_words import (
    BOOLS,
    DENOMINATORS,
    NAMES,
    TYPES,
    above,
    auc_changes,
    gain_changes,
    largest_or_all,
    nearest_gain,
    spelled_auc,
    spelled_options,
)
from rankadapters.core.presets.metric_strings import (
    Reader,
    number_of,
    read_options,
    same_word_of,
    top_of,
    word_of,
)
from rankadapters.core.presets.tool import flag, measure, no_others, one_of

AucType = Literal["Classic", "Ranking"]
AucWeights = Literal["row", "query"]
Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]


class CatBoost(Losses, CatBoostRanks):
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run with 1.2.7 and 1.2.10: equal to 1e-9.

    Tied documents stand in the worst order, and a query with nothing relevant counts 1. Labels are held as float32;
    a query weighs its group weight.
    """

    name: ClassVar[str] = "catboost"
    title: ClassVar[str] = "CatBoost"

    def __call__(
        self,
        k: int | None,
        *,
        type: Type = "Base",  # noqa: A002 - CatBoost's own parameter name
        denominator: Denominator = "LogPosition",
        use_weights: bool = True,
    ) -> NDCG:
        """Give `NDCG`.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        type : {'Base', 'Exp'}
            Gain l or 2^l - 1.
        denominator : {'LogPosition', 'Position'}
            Discount 1/log2(i + 1) or 1/i.
        use_weights : bool
            Whether group weights count.
        """
        found = NDCG(
            k=k, gain="linear", discount="log2", ideal="cutoff", ties="worst", precision="float64",
            short="pad", empty=1, missing="error", unjudged="error", average="query",
        ).named(self.name)  # fmt: skip
        return found.replace(**gain_changes(type, denominator, use_weights))

    @measure
    def dcg(
        self,
        k: int | None,
        *,
        type: Type = "Base",  # noqa: A002 - as above
        denominator: Denominator = "LogPosition",
        use_weights: bool = True,
    ) -> DCG:
        """`DCG:top=k`, dcg.cpp. Run with 1.2.10: equal to 1e-9; parameters as of `NDCG`."""
        found = DCG(
            k=k, gain="linear", discount="log2", ties="worst", precision="float64",
            short="pad", missing="error", unjudged="error", average="query",
        ).named("catboost.dcg")  # fmt: skip
        return found.replace(**gain_changes(type, denominator, use_weights))

    @measure
    def map(self, k: int | None, *, border: float = 0.5) -> AP:
        """`MAP:top=k`, precision_recall_at_k.cpp, which ignores weights. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; held as float32.
        """
        found = AP(
            k=k, relevant="above_0.5", divisor="cutoff", ties="worst", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
        ).named("catboost.map")  # fmt: skip
        return found.replace(relevant=above(border))

    @measure
    def mrr(self, k: int | None, *, border: float = 0.5, use_weights: bool = True) -> RR:
        """`MRR:top=k`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; held as float32.
        use_weights : bool
            Whether group weights count.
        """
        found = RR(
            k=k, relevant="above_0.5", ties="worst", precision="float64", retrieve="all",
            short="pad", empty=0, missing="error", unjudged="error", average="query",
        ).named("catboost.mrr")  # fmt: skip
        changed = found.replace(relevant=above(border))
        return changed if flag("use_weights", use_weights) else changed.replace(average="uniform")

    @measure
    def auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`AUC`, auc.cpp, over all rows. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        type : {'Classic', 'Ranking'}
            Labels as probabilities of being relevant, or any two rows of different labels.
        weights : {'row', 'query', None}
            Which weights the data have under `use_weights=true`; None is CatBoost's default, false.
        """
        found = AUC(
            pairs="unit", complement="float32", ties="average", precision="float64", empty=0,
            missing="error", unjudged="error", pool="rows", average="uniform",
        ).named("catboost.auc")  # fmt: skip
        return found.replace(**auc_changes(type, weights))

    @measure
    def query_auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`QueryAUC`, auc.cpp: the mean over queries. Run with 1.2.10: equal to 1e-12; parameters as of `auc`."""
        found = AUC(
            pairs="unit", complement="float32", ties="average", precision="float64", empty=0,
            missing="error", unjudged="error", pool="queries", average="uniform",
        ).named("catboost.query_auc")  # fmt: skip
        return found.replace(**auc_changes(type, weights))

    @measure
    def pair_accuracy(self, *, pairs: Literal["given", "label"] = "given", use_weights: bool = True) -> AUC:
        """`PairAccuracy`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        pairs : {'given', 'label'}
            The Pool's pairs, or those that CatBoost makes of labels where a Pool has none.
        use_weights : bool
            Whether the weights of the pairs count, or of the queries where pairs are made of labels.
        """
        found = AUC(
            pairs="given", complement="float64", ties="worst", precision="float64", empty=0,
            missing="error", unjudged="error", pool="pairs", average="pair",
        ).named("catboost.pair_accuracy")  # fmt: skip
        average = {"given": "pair", "label": "query"}
        changed = found.replace(pairs=pairs, average=one_of("pairs", pairs, average))
        return changed if flag("use_weights", use_weights) else changed.replace(average="uniform")

    def read(self, text: str, *, weights: str | None = "query", **params: Any) -> Convention:
        """Read what CatBoost computes for one of its metric strings.

        Parameters
        ----------
        text : str
            A metric with any of its parameters, in CatBoost's spelling, as given to it or as a key of its results. What
            is left out has CatBoost's default.
        weights : {'query', 'row', 'pair', None}
            Which weights the data have, where `use_weights` makes them count and the metric takes several kinds.
        pairs : {'given', 'label'}
            Of PairAccuracy and PairLogit: whether the Pool has pairs.

        Raises
        ------
        ConventionError
            Another metric, a parameter that says nothing there, or a value that CatBoost refuses or reads as something
            else than it says: `top=0` scores every query 1, `top=-5` is all, `use_weights=0` is false.

        References
        ----------
        CatBoost 1.2.10, catboost/libs/metrics/metric.cpp.

        Examples
        --------
        >>> catboost.read("NDCG:top=5;type=Base") == catboost(5)
        True
        """
        if not isinstance(text, str):
            hint = "'NDCG:top=5;type=Exp', or ra.catboost.native_metric(conv)"
            msg = f"{text!r:.80} is not a metric string.\nHint: {hint}."
            raise ConventionError(msg)
        name, _, options = text.partition(":")
        if name not in READERS:
            msg = f"{text!r:.80} is none of CatBoost's {', '.join(READERS)}."
            raise ConventionError(f"{msg}\nHint: 'NDCG:top=5;type=Exp', in this spelling.")
        no_others(text, params, ("pairs",) if name in {"PairAccuracy", "PairLogit"} else ())
        one_of("weights", weights, _WEIGHTS)
        make, readers = READERS[name]
        given = {**read_options(text, options, readers), **params}
        if make in {CatBoost.auc, CatBoost.query_auc}:
            given["weights"] = (weights or "row") if given.pop("use_weights", False) else None
        if make in _WEIGHED:
            given["weights"] = weights if given.pop("use_weights", True) else None
        found: Convention = make(self, **given)
        return found

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that CatBoost computes, an NDCG for a measure that it has not."""
        convention = as_convention(convention)
        if isinstance(convention, Loss):
            return nearest_loss(convention)
        if isinstance(convention, (ERR, FilteredDCG, Precision, Recall)):
            return self._nearest_rank(convention)
        if isinstance(convention, (AP, AUC, RR)):
            return self._nearest_other(convention)
        if not isinstance(convention, Discounted) or convention.measure not in {"ndcg", "dcg"}:
            return self(getattr(convention, "k", None))
        fields: dict[str, Any] = {
            "k": largest_or_all(convention.k),
            "gain": nearest_gain(convention.gain),
            "discount": convention.discount if convention.discount in DENOMINATORS.values() else "log2",
            "ties": "worst",
            "precision": "float64",
            "short": "pad",
            "average": "query" if convention.weighting else "uniform",
            "ideal": "cutoff",
            "empty": 1,
        }
        return convention.replace(**{name: value for name, value in fields.items() if name in convention.fields()})

    def spell(self, convention: Any, *, group_weights: bool = True) -> str:
        """Write the metric string, with every parameter that matters.

        What a string cannot say `read` must be told: `weights="row"` of a loss, or of an AUC under `use_weights=true`,
        and `pairs="label"` of a PairAccuracy or PairLogit, which the pairs of the Pool decide. `group_weights=False`
        leaves `use_weights` out, as a training without them needs.
        """
        if isinstance(convention, AUC):
            return spelled_auc(convention, group_weights=group_weights)
        if isinstance(convention, Loss):
            return spelled_loss(convention, group_weights=group_weights)
        if isinstance(convention, FilteredDCG):
            return spelled_filtered(convention)
        # Every parameter is spelled out: a later default cannot change it. top=0 would give 1.0, top=-1 is all.
        if isinstance(convention, (ERR, Precision, Recall)):
            name, options = rank_metric(convention)
        else:
            name, options = NAMES[convention.measure], spelled_options(convention)
        parts = [f"top={-1 if convention.k is None else convention.k}", *options]
        if convention.weighting is None and group_weights and name not in UNWEIGHTED:
            parts.append("use_weights=false")
        return f"{name}:{';'.join(parts)}"

    def _nearest_other(self, convention: Convention) -> Convention:
        if isinstance(convention, (AP, RR)):
            word, value = border(convention.relevant) or ("", 0.5)
            above_it = value if word == "above" else 0.5
            if isinstance(convention, AP):
                return self.map(largest_or_all(convention.k), border=above_it)
            return self.mrr(largest_or_all(convention.k), border=above_it, use_weights=convention.weighting is not None)
        weights: list[AucWeights | None] = [None, "row", "query"]
        types: list[AucType] = ["Classic", "Ranking"]
        makers = (self.auc, self.query_auc)
        several = [make(type=each, weights=weight) for make in makers for each in types for weight in weights]
        pairs: Literal["given", "label"] = "given" if getattr(convention, "pairs", "") == "given" else "label"
        several += [self.pair_accuracy(pairs=pairs, use_weights=use) for use in (True, False)]
        return min(several, key=lambda each: len(each.diff(convention)))


_WEIGHTS = dict.fromkeys(("query", "row", "pair", None))
_WEIGHED = (CatBoost.query_rmse, CatBoost.query_soft_max, CatBoost.query_cross_entropy)
_AUC = {"type": same_word_of({"Classic": "", "Ranking": ""}), "use_weights": word_of(BOOLS)}
UNWEIGHTED = {"MAP", "PrecisionAt", "RecallAt"}  # metrics that ignore weights
_GAINS = {
    "top": top_of, "type": same_word_of(TYPES), "denominator": same_word_of(DENOMINATORS), "use_weights": word_of(BOOLS)
}  # fmt: skip

# CatBoost's names: the preset, and what reads each parameter into one of its arguments.
READERS: dict[str, tuple[Any, dict[str, Reader]]] = {
    "NDCG": (CatBoost.__call__, _GAINS),
    "DCG": (CatBoost.dcg, _GAINS),
    "MAP": (CatBoost.map, {"top": top_of, "border": number_of}),
    "MRR": (CatBoost.mrr, {"top": top_of, "border": number_of, "use_weights": word_of(BOOLS)}),
    "AUC": (CatBoost.auc, _AUC),
    "QueryAUC": (CatBoost.query_auc, _AUC),
    "PairAccuracy": (CatBoost.pair_accuracy, {"use_weights": word_of(BOOLS)}),
    "PairLogit": (CatBoost.pair_logit, {"use_weights": word_of(BOOLS)}),
    "QueryRMSE": (CatBoost.query_rmse, {"use_weights": word_of(BOOLS)}),
    "QuerySoftMax": (CatBoost.query_soft_max, {"beta": number_of, "use_weights": word_of(BOOLS)}),
    "QueryCrossEntropy": (CatBoost.query_cross_entropy, {"alpha": number_of, "use_weights": word_of(BOOLS)}),
    **catboost_ranks.READERS,
}

catboost = CatBoost()
