"""CatBoost's ranking metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.spelling import number
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, DCG, NDCG, RR
from rankadapters.core.measures.loss import Loss
from rankadapters.core.presets.catboost_losses import Losses
from rankadapters.core.presets.catboost_ranks import CatBoostRanks, Denominator, Type
from rankadapters.core.presets.catboost_words import BOOLS, BORDER, OPTIONS, largest_or_all
from rankadapters.core.presets.metric_strings import Reader, number_of, read_options, same_word_of, top_of, word_of
from rankadapters.core.presets.options import Choice, Options, flag, one_of
from rankadapters.core.presets.preset import Preset, preset, presets_of
from rankadapters.core.presets.tool import PresetCall, Vocabulary, no_others

AucType = Literal["Classic", "Ranking"]
AucWeights = Literal["row", "query"]
AUC_TYPE = {"type": Choice({"Classic": {"pairs": "unit"}, "Ranking": {"pairs": "label"}})}


class CatBoost(
    Losses, CatBoostRanks, Vocabulary[str], name="catboost", package="catboost", versions=("1.2.7", "1.2.10"),
    evidence="run", discount="log2", ideal="cutoff", relevant="above_0.5", ties="worst", precision="float64",
    retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="query",
):  # fmt: skip
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run with 1.2.7 and 1.2.10: equal to 1e-9.

    Tied documents stand in the worst order, and a query with nothing relevant counts 1. Labels are held as float32;
    a query weighs its group weight.
    """

    title: ClassVar[str] = "CatBoost"
    options: ClassVar[Options] = OPTIONS

    @preset(NDCG, "NDCG", gain="linear", empty=1)
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

    @preset(DCG, "DCG", gain="linear")
    def dcg(
        self,
        k: int | None,
        *,
        type: Type = "Base",  # noqa: A002 - as above
        denominator: Denominator = "LogPosition",
        use_weights: bool = True,
    ) -> DCG:
        """`DCG:top=k`, dcg.cpp. Run with 1.2.10: equal to 1e-9; parameters as of `NDCG`."""

    @preset(AP, "MAP", divisor="cutoff", pool="queries", average="uniform")
    def map(self, k: int | None, *, border: float = BORDER) -> AP:
        """`MAP:top=k`, precision_recall_at_k.cpp, which ignores weights. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; held as float32.
        """

    @preset(RR, "MRR")
    def mrr(self, k: int | None, *, border: float = BORDER, use_weights: bool = True) -> RR:
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

    @preset(
        AUC, "AUC", options=AUC_TYPE, pairs="unit", complement="float32", ties="average", pool="rows", average="uniform"
    )  # fmt: skip
    def auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`AUC`, auc.cpp, over all rows. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        type : {'Classic', 'Ranking'}
            Labels as probabilities of being relevant, or any two rows of different labels.
        weights : {'row', 'query', None}
            Which weights the data have under `use_weights=true`; None is CatBoost's default, false.
        """

    @preset(
        AUC, "QueryAUC", options=AUC_TYPE, pairs="unit", complement="float32", ties="average", pool="queries",
        average="uniform",
    )  # fmt: skip
    def query_auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`QueryAUC`, auc.cpp: the mean over queries. Run with 1.2.10: equal to 1e-12; parameters as of `auc`."""

    @preset(AUC, "PairAccuracy", pairs="given", complement="float64", pool="pairs", average="pair")
    def pair_accuracy(self, *, pairs: Literal["given", "label"] = "given", use_weights: bool = True) -> AUC:
        """`PairAccuracy`, metric.cpp. Run with 1.2.10: equal to 1e-12.

        Parameters
        ----------
        pairs : {'given', 'label'}
            The Pool's pairs, or those that CatBoost makes of labels where a Pool has none.
        use_weights : bool
            Whether the weights of the pairs count, or of the queries where pairs are made of labels.
        """

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
            raise ConventionError(f"{text!r:.80} is not a metric string.", hint=hint)
        metrics = {declared.reads: (method, declared) for method, declared in presets_of(CatBoost).items()}
        name, _, options = text.partition(":")
        if name not in metrics:
            main_first = sorted(metrics, key=lambda metric: metrics[metric][0] not in vars(CatBoost))
            msg = f"{text!r:.80} is none of CatBoost's {', '.join(main_first)}."
            raise ConventionError(msg, hint="'NDCG:top=5;type=Exp', in this spelling")
        method, declared = metrics[name]
        no_others(text, params, ("pairs",) if "pairs" in declared.options else ())
        one_of("weights", weights, _WEIGHTS)
        arguments = read_options(text, options, self._readers(declared))
        if "weights" in declared.options:
            # Weights count by default in losses alone, and an AUC counts those of rows where queries have none.
            is_auc = declared.measure is AUC
            counted = (weights or "row") if is_auc else weights
            arguments["weights"] = counted if arguments.pop("use_weights", not is_auc) else None
        convention: Convention = getattr(self, method)(**arguments, **params)
        return convention

    def _readers(self, declared: Preset) -> dict[str, Reader]:
        """Give what reads each parameter of a metric string."""
        readers: dict[str, Reader] = {"top": top_of} if declared.takes_k else {}
        for name in declared.options:
            option = declared.option(self, name)
            if name in {"use_weights", "weights"}:
                readers["use_weights"] = word_of(BOOLS)
            elif name != "pairs":  # which no string says
                readers[name] = same_word_of(option.words) if isinstance(option, Choice) else number_of
        return readers

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Call every preset of a convention's measure with the options that come near the convention."""
        wanted = {"AverageGain"} if getattr(convention, "relevant", "") == "label" else {"PrecisionAt", "RecallAt"}
        others = {"AverageGain", "PrecisionAt", "RecallAt"} - wanted
        pfound = getattr(convention, "discount", "").startswith("power")
        return (c for c in super().calls(convention) if c.metric not in others and not (c.metric == "ERR" and pfound))

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that CatBoost computes, an NDCG for a measure that it has not."""
        convention = as_convention(convention)
        nearest = super().nearest(convention)
        if not isinstance(convention, (NDCG, DCG, Loss)):
            return nearest
        fields = {name: value for name, value in nearest.to_dict().items() if name not in {"missing", "unjudged"}}
        return convention.replace(**fields)

    def _cutoff(self, convention: Any) -> int | None:
        return largest_or_all(convention.k)

    def write(self, convention: Convention | str, *, group_weights: bool = True) -> str:
        """Write a convention, or the text of one, as CatBoost's metric string; `read` reads it back.

        The string serves `catboost.utils.eval_metric`, `model.eval_metrics`, and `eval_metric=` or `custom_metric=` of
        `CatBoostRanker`, with one exception: in a training CatBoost refuses `use_weights` (how `average="uniform"` is
        said) unless the Pool has object weights, which no NDCG uses. CatBoost rewrites the string where it makes it a
        key of its results.

        Parameters
        ----------
        convention : Convention or str
            What CatBoost shall compute.
        group_weights : bool
            Whether the data may have group weights. False leaves `use_weights` out, which a training needs; CatBoost
            then weights no query as long as there are indeed no group weights.

        Raises
        ------
        UnsupportedConventionError
            CatBoost cannot express a field; the message names all such fields and the nearest that it can express.

        Examples
        --------
        >>> catboost.write(catboost(None, use_weights=False))
        'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
        >>> catboost.write("catboost@10", group_weights=False)
        'NDCG:top=10;type=Base;denominator=LogPosition'
        """
        wanted = as_convention(convention)
        flag("group_weights", group_weights)
        super().write(wanted)  # which refuses what CatBoost cannot express
        return self.spell(self.nearest(wanted), group_weights=group_weights)

    def spell(self, convention: Any, *, group_weights: bool = True) -> str:
        """Write the metric string, with every parameter that matters.

        What a string cannot say `read` must be told: `weights="row"` of a loss, or of an AUC under `use_weights=true`,
        and `pairs="label"` of a PairAccuracy or PairLogit, which the pairs of the Pool decide. `group_weights=False`
        leaves `use_weights` out, as a training without them needs.
        """
        # Every parameter is spelled out: a later default cannot change it. top=0 would give 1.0, top=-1 is all.
        call, parts = self._call(convention), list[str]()
        for name, value in call.arguments.items():
            if name == "k":
                parts.append(f"top={-1 if value is None else value}")
            elif name in {"use_weights", "weights"}:
                if group_weights and (not value or isinstance(convention, AUC)):
                    parts.append(f"use_weights={'true' if value else 'false'}")
            elif name != "pairs" and value is not None:
                parts.append(f"{name}={value if isinstance(value, str) else number(value)}")
        return ":".join(filter(None, [call.metric, ";".join(parts)]))


_WEIGHTS = dict.fromkeys(("query", "row", "pair", None))

catboost = CatBoost()
