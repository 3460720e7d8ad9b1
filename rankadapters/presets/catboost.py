"""CatBoost's ranking metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import number
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, AUC, DCG, NDCG, RR
from rankadapters.core.measures.losses import Loss
from rankadapters.presets.catboost_losses import Losses
from rankadapters.presets.catboost_ranks import CatBoostRanks, Denominator, Type
from rankadapters.presets.catboost_words import BOOLS, BORDER, OPTIONS, largest_or_all
from rankadapters.presets.metric_strings import Reader, map_reader, read_float, read_options, read_top, word_reader
from rankadapters.presets.options import Options, choice, flag, one_of
from rankadapters.presets.preset import Preset, preset
from rankadapters.presets.texts import as_convention
from rankadapters.presets.tool import refuse_unknown
from rankadapters.presets.vocabulary import PresetCall, Vocabulary

AucType = Literal["Classic", "Ranking"]
AucWeights = Literal["row", "query"]
AUC_TYPE = {"type": choice({"Classic": {"pairs": "unit"}, "Ranking": {"pairs": "label"}})}


class CatBoost(
    Losses, CatBoostRanks, Vocabulary[str], name="catboost", package="catboost", versions=("1.2.7", "1.2.10"),
    evidence="run", discount="log2", ideal="cutoff", relevant="above_0.5", ties="worst", precision="float64",
    retrieve="all", short="pad", empty=0, missing="error", unjudged="error", average="query",
):  # fmt: skip
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run against 1.2.7 and 1.2.10: equal within 1e-9.

    Tied documents are ranked in the worst order, and a query without relevant rows counts 1. Labels are stored as
    float32. The weight of a query is its group weight.
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
        """Return `NDCG`.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        type : {'Base', 'Exp'}
            Gain: the label, or 2^label - 1.
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
        """`DCG:top=k`, dcg.cpp. Run against 1.2.10: equal within 1e-9; parameters as in `NDCG`."""

    @preset(AP, "MAP", divisor="cutoff", pool="queries", average="uniform")
    def map(self, k: int | None, *, border: float = BORDER) -> AP:
        """`MAP:top=k`, precision_recall_at_k.cpp, which ignores weights. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        k : int or None
            CatBoost's `top`; None is -1, all.
        border : float
            Labels above it are relevant; held as float32.
        """

    @preset(RR, "MRR")
    def mrr(self, k: int | None, *, border: float = BORDER, use_weights: bool = True) -> RR:
        """`MRR:top=k`, metric.cpp. Run against 1.2.10: equal within 1e-12.

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
        AUC, "AUC", options=AUC_TYPE, pairs="unit", ties="average", pool="rows", average="uniform"
    )  # fmt: skip
    def auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`AUC`, auc.cpp, over all rows. Run against 1.2.10: equal within 6e-8, since it rounds 1 - label to float32.

        Parameters
        ----------
        type : {'Classic', 'Ranking'}
            'Classic' treats labels as probabilities of being relevant; 'Ranking' pairs rows of different labels.
        weights : {'row', 'query', None}
            The weights of the data, with `use_weights=true`; None is CatBoost's default, false.
        """

    @preset(
        AUC, "QueryAUC", options=AUC_TYPE, pairs="unit", ties="average", pool="queries",
        average="uniform",
    )  # fmt: skip
    def query_auc(self, *, type: AucType = "Classic", weights: AucWeights | None = None) -> AUC:  # noqa: A002 - as above
        """`QueryAUC`, auc.cpp, the mean over queries. Run against 1.2.10: equal within 6e-8; options as in `auc`."""

    @preset(AUC, "PairAccuracy", pairs="given", pool="pairs", average="pair")
    def pair_accuracy(self, *, pairs: Literal["given", "label"] = "given", use_weights: bool = True) -> AUC:
        """`PairAccuracy`, metric.cpp. Run against 1.2.10: equal within 1e-12.

        Parameters
        ----------
        pairs : {'given', 'label'}
            The Pool's pairs, or the pairs that CatBoost derives from labels if the Pool has none.
        use_weights : bool
            Whether the weights of the Pool's pairs count; for derived pairs, whether the weights of queries count.
        """

    def read(self, text: str, *, weights: str | None = "query", **params: Any) -> Convention:
        """Return the convention that CatBoost computes for one of its metric strings.

        Parameters
        ----------
        text : str
            A metric with any of its parameters in CatBoost's spelling, as an argument or as a key of its results.
            Parameters that are left out have CatBoost's defaults.
        weights : {'query', 'row', 'pair', None}
            The weights of the data, for metrics that can use different kinds under `use_weights`.
        pairs : {'given', 'label'}
            For PairAccuracy and PairLogit: whether the Pool has pairs.

        Raises
        ------
        ConventionError
            The metric is unknown, a parameter does not belong to it, or CatBoost refuses or misinterprets a value:
            `top=0` scores every query 1, `top=-5` means all, `use_weights=0` means false.

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
        metrics = {declared.reads: (method, declared) for method, declared in self.presets.items()}
        name, _, options = text.partition(":")
        if name not in metrics:
            main_first = sorted(metrics, key=lambda metric: metrics[metric][0] not in vars(CatBoost))
            msg = f"{text!r:.80} is none of CatBoost's {', '.join(main_first)}."
            raise ConventionError(msg, hint="'NDCG:top=5;type=Exp', in this spelling")
        method, declared = metrics[name]
        refuse_unknown(text, params, ("pairs",) if "pairs" in declared.options else ())
        one_of("weights", weights, _WEIGHTS)
        arguments = read_options(text, options, self._readers(declared))
        if "weights" in declared.options:
            # By default only losses use weights. An AUC uses row weights if queries have none.
            is_auc = declared.measure is AUC
            used = (weights or "row") if is_auc else weights
            arguments["weights"] = used if arguments.pop("use_weights", not is_auc) else None
        convention: Convention = getattr(self, method)(**arguments, **params)
        return convention

    def _readers(self, declared: Preset) -> dict[str, Reader]:
        """Return, for each parameter of a metric string, the function that parses its value."""
        readers: dict[str, Reader] = {"top": read_top} if declared.takes_k else {}
        for name in declared.options:
            option = declared.option(self, name)
            if name in {"use_weights", "weights"}:
                readers["use_weights"] = map_reader(BOOLS)
            elif name != "pairs":  # not a parameter in strings
                readers[name] = word_reader(option.words) if option.words else read_float
        return readers

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Yield calls of the measure's presets, one for each choice of options that could give the convention."""
        graded = getattr(convention, "relevant", "") == "label"
        skipped = {"PrecisionAt", "RecallAt"} if graded else {"AverageGain"}
        if getattr(convention, "discount", "").startswith("power"):
            skipped.add("ERR")  # only PFound has a power discount
        return (call for call in super().calls(convention) if call.metric not in skipped)

    def nearest(self, convention: Convention) -> Convention:
        """Return the nearest convention that CatBoost can compute: an NDCG if CatBoost lacks the measure."""
        convention = as_convention(convention)
        nearest = super().nearest(convention)
        if not isinstance(convention, (NDCG, DCG, Loss)):
            return nearest
        fields = {name: value for name, value in nearest.to_dict().items() if name not in {"missing", "unjudged"}}
        return convention.replace(**fields)

    def _cutoff(self, convention: Any) -> int | None:
        return largest_or_all(convention.k)

    def write(self, convention: Convention | str, *, group_weights: bool = True) -> str:
        """Return CatBoost's metric string for a convention or for its text; `read` is the inverse.

        The string works in `catboost.utils.eval_metric`, in `model.eval_metrics`, and as `eval_metric=` or
        `custom_metric=` of `CatBoostRanker`. There is one exception: in training, CatBoost refuses `use_weights`, which
        expresses `average="uniform"`, unless the Pool has object weights. CatBoost uses a rewritten form of the string
        as the key of its results.

        Parameters
        ----------
        convention : Convention or str
            The convention that CatBoost should compute.
        group_weights : bool
            Whether the data may have group weights. False leaves `use_weights` out, as training requires; all queries
            then count the same only if the data really have no group weights.

        Raises
        ------
        UnsupportedConventionError
            CatBoost cannot express a field; the message names all such fields and the nearest possible convention.

        Examples
        --------
        >>> catboost.write(catboost(None, use_weights=False))
        'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
        >>> catboost.write("catboost@10", group_weights=False)
        'NDCG:top=10;type=Base;denominator=LogPosition'
        """
        convention = as_convention(convention)
        flag("group_weights", group_weights)
        super().write(convention)  # raises an error if CatBoost cannot express the convention
        return self.spell(self.nearest(convention), group_weights=group_weights)

    def spell(self, convention: Any, *, group_weights: bool = True) -> str:
        """Return the metric string, with every parameter that matters.

        The string does not contain everything. To read it back, pass `weights="row"` to `read` for a loss, or for an
        AUC under `use_weights=true`, that uses row weights, and `pairs="label"` for a PairAccuracy or PairLogit whose
        Pool has no pairs. `group_weights=False` leaves `use_weights` out, as training without group weights requires.
        """
        # The string contains defaults too, in case a later version changes them. top=-1 means all; top=0 would give 1.
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
