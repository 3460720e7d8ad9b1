"""CatBoost's ranking metrics and losses, and strict parsing of its metric strings, `Name:option=value;...`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, Range, as_number, as_whole, gain_table, spell_number
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import (
    AP,
    AUC,
    DCG,
    ERR,
    NDCG,
    RR,
    FilteredDCG,
    PairLogit,
    Precision,
    QueryCrossEntropy,
    QueryRMSE,
    QuerySoftMax,
    Recall,
)  # fmt: skip
from rankadapters.core.measures.losses import Loss
from rankadapters.presets.texts import as_convention
from rankadapters.presets.tool import (
    Fields,
    Option,
    Options,
    Preset,
    as_bool,
    choice,
    in_word,
    one_of,
    preset,
    refuse_unknown,
    same_as,
    without_preset,
)  # fmt: skip
from rankadapters.presets.vocabulary import PresetCall, Vocabulary

TYPES = {"Base": "linear", "Exp": "exp2"}
DENOMINATORS = {"LogPosition": "log2", "Position": "reciprocal"}
GAINS: Mapping[str, Fields] = {word: {"gain": gain} for word, gain in TYPES.items()}
BOOLS = {"true": True, "false": False}
LARGEST_TOP = 2**31 - 1
BORDER = 0.5  # CatBoost's default
ALPHA = 0.95  # CatBoost's default, in double precision; it stores any other value as float32

_BORDER = Field(group="value", about="", numbers=Range())
_DECAY = Field(group="value", about="", numbers=Range(0, 1, above=True))
_WEIGHTS = dict.fromkeys(("query", "row", "pair", None))

Type = Literal["Base", "Exp"]
Denominator = Literal["LogPosition", "Position"]
AucType = Literal["Classic", "Ranking"]
AucWeights = Literal["row", "query"] | None
Pairs = Literal["given", "label"]
Weights = Literal["query", "row"] | None
Reader = Callable[[str, str, str], Any]  # takes the whole metric string, the option's name, and its text


def largest_or_all(k: int | None) -> int | None:
    """Return the cutoff if CatBoost accepts it; None (all ranks) if it is too large for CatBoost."""
    return k if k is None or k <= LARGEST_TOP else None


def nearest_gain(gain: str) -> str:
    """Return the nearest of the two gains that CatBoost has."""
    gains = gain_table(gain)
    linear = gain.startswith("linear") or gains == tuple(range(len(gains or ())))
    return "linear" if linear else "exp2"


def _float32(value: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _alpha(name: str, alpha: object) -> Fields:
    return {} if alpha is None else {"alpha": _float32(QueryCrossEntropy.declared()["alpha"].check(name, alpha))}


AUC_TYPE = {"type": choice({"Classic": {"pairs": "unit"}, "Ranking": {"pairs": "label"}})}
# Options with the same meaning in every metric, except that AUC redefines `type`.
OPTIONS: Options = {
    "type": choice(GAINS, lambda like: "Base" if nearest_gain(like.gain) == "linear" else "Exp"),
    "denominator": choice(
        {word: {"discount": discount} for word, discount in DENOMINATORS.items()},
        lambda like: "Position" if like.discount == DENOMINATORS["Position"] else "LogPosition",
    ),
    "sort": choice({
        "None": {"precision": "none", "ties": "input"},
        "ByPrediction": {"precision": "float64", "ties": "worst"},
        "ByTarget": {"precision": "none", "ties": "best"},
    }),
    "border": in_word(
        "relevant", "above_{}", lambda name, value: spell_number(_float32(_BORDER.check(name, value))), near=(BORDER,)
    ),
    "decay": in_word("discount", "power_{}", lambda name, value: spell_number(_DECAY.check(name, value))),
    "beta": same_as("beta"),
    "alpha": Option(_alpha, lambda query: (None if query.alpha == ALPHA else query.alpha,)),
    "pairs": choice(
        {"given": {"pairs": "given", "average": "pair"}, "label": {"pairs": "label", "average": "query"}},
        lambda like: "given" if like.pairs == "given" else "label",
    ),
    "use_weights": choice({True: {}, False: {"average": "uniform"}}, lambda like: like.weighting is not None),
    "weights": choice({None: {"average": "uniform"}, "row": {"average": "row"}, "query": {"average": "query"}}),
}  # fmt: skip


class CatBoost(
    Vocabulary[str], name="catboost", package="catboost", versions=("1.2.7", "1.2.10"), evidence="run 1.2.10",
    discount="log2", ideal="cutoff", relevant="above_0.5", ties="worst", precision="float64", retrieve="all",
    short="pad", empty=0, missing="error", unjudged="error", average="query",
):  # fmt: skip
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run against 1.2.7 and 1.2.10: equal within 1e-9.

    Tied documents are ranked in the worst order, and a query without relevant rows counts 1. Labels are stored as
    float32. The weight of a query is its group weight. In every metric, `k` is CatBoost's `top`; None is -1, all.

    Parameters
    ----------
    k
        CatBoost's `top`; None is -1, all.
    type
        Gain: the label, or 2^label - 1.
    denominator
        Discount 1/log2(i + 1) or 1/i.
    use_weights
        Whether group weights count.
    border
        Labels above it are relevant; stored as float32.
    weights
        The weights of the data; None is `use_weights=false`.
    pairs
        The Pool's pairs, or the pairs that CatBoost derives from labels if the Pool has none.
    decay
        The probability that a user who is not satisfied continues to the next rank.
    sort
        Order of these rows: as in the input, by score, or by label.
    beta
        The factor of the scores.
    alpha
        Share of the shifted part, stored as float32; None is CatBoost's default, 0.95 in double precision.
    """

    title: ClassVar[str] = "CatBoost"
    options: ClassVar[Options] = OPTIONS

    @preset(NDCG, "NDCG", gain="linear", empty=1)
    def __call__(
        self, k: int | None, *, type: Type = "Base", denominator: Denominator = "LogPosition",  # noqa: A002 - its name
        use_weights: bool = True,
    ) -> NDCG:  # fmt: skip
        """Return `NDCG`."""

    @preset(DCG, "DCG", gain="linear")
    def dcg(
        self, k: int | None, *, type: Type = "Base", denominator: Denominator = "LogPosition",  # noqa: A002 - its name
        use_weights: bool = True,
    ) -> DCG:  # fmt: skip
        """`DCG:top=k`, dcg.cpp. Run: equal within 1e-9."""

    @preset(AP, "MAP", divisor="cutoff", pool="queries", average="uniform")
    def map(self, k: int | None, *, border: float = BORDER) -> AP:
        """`MAP:top=k`, precision_recall_at_k.cpp, which ignores weights. Run: equal within 1e-12."""

    @preset(RR, "MRR")
    def mrr(self, k: int | None, *, border: float = BORDER, use_weights: bool = True) -> RR:
        """`MRR:top=k`, metric.cpp. Run: equal within 1e-12."""

    @preset(AUC, "AUC", options=AUC_TYPE, pairs="unit", ties="average", pool="rows", average="uniform")
    def auc(self, *, type: AucType = "Classic", weights: AucWeights = None) -> AUC:  # noqa: A002 - CatBoost's name
        """`AUC`, auc.cpp, over all rows. Run: equal within 6e-8, since it rounds 1 - label to float32.

        Parameters
        ----------
        type
            'Classic' treats labels as probabilities of being relevant; 'Ranking' pairs rows of different labels.
        weights
            The weights of the data, with `use_weights=true`; None is CatBoost's default, false.
        """

    @preset(AUC, "QueryAUC", options=AUC_TYPE, pairs="unit", ties="average", pool="queries", average="uniform")
    def query_auc(self, *, type: AucType = "Classic", weights: AucWeights = None) -> AUC:  # noqa: A002 - as above
        """`QueryAUC`, auc.cpp, the mean over queries. Run: equal within 6e-8."""

    @preset(AUC, "PairAccuracy", pairs="given", pool="pairs", average="pair")
    def pair_accuracy(self, *, pairs: Pairs = "given", use_weights: bool = True) -> AUC:
        """`PairAccuracy`, metric.cpp. Run: equal within 1e-12.

        Parameters
        ----------
        use_weights
            Whether the weights of the Pool's pairs count; for derived pairs, whether the weights of queries count.
        """

    @preset(ERR, "PFound", gain="linear", scale=1, discount="power_0.85")
    def pfound(self, k: int | None, *, decay: float = 0.85, use_weights: bool = True) -> ERR:
        """`PFound:top=k`, pfound.h; the label is the stop probability. Run: equal within 1e-12."""

    @preset(ERR, "ERR", gain="linear", scale=1, discount="reciprocal")
    def err(self, k: int | None, *, use_weights: bool = True) -> ERR:
        """`ERR:top=k`, metric.cpp. Run: equal within 2e-7, since it rounds 1 - label to float32."""

    @preset(Precision, "PrecisionAt", divisor="retrieved", average="uniform")
    def precision_at(self, k: int | None, *, border: float = BORDER) -> Precision:
        """`PrecisionAt:top=k`, precision_recall_at_k.cpp, without weights. Run: equal within 1e-12."""

    @preset(Recall, "RecallAt", empty=1, average="uniform")
    def recall_at(self, k: int | None, *, border: float = BORDER) -> Recall:
        """`RecallAt:top=k`, precision_recall_at_k.cpp; 1 if none is relevant. Run: equal within 1e-12."""

    @preset(Precision, "AverageGain", relevant="label", divisor="retrieved")
    def average_gain(self, k: int | None, *, use_weights: bool = True) -> Precision:
        """`AverageGain:top=k`, metric.cpp: mean label. Run: equal within 1e-12."""

    @preset(
        FilteredDCG, "FilteredDCG", options={"type": choice(GAINS)}, k=None, gain="linear", discount="reciprocal",
        ties="input", precision="none", retrieve="from_0", average="uniform",
    )  # fmt: skip
    def filtered_dcg(
        self, *, type: Type = "Base", denominator: Denominator = "Position",  # noqa: A002 - CatBoost's name
        sort: Literal["None", "ByPrediction", "ByTarget"] = "None",
    ) -> FilteredDCG:  # fmt: skip
        """`FilteredDCG`, metric.cpp: rows with score >= 0, in input order. Run: equal within 1e-12."""

    @preset(PairLogit, "PairLogit", pairs="given", average="pair")
    def pair_logit(self, *, pairs: Pairs = "given", use_weights: bool = True) -> PairLogit:
        """`PairLogit`, metric.cpp. Run: equal within 1e-12."""

    @preset(QueryRMSE, "QueryRMSE")
    def query_rmse(self, *, weights: Weights = "query") -> QueryRMSE:
        """`QueryRMSE`, metric.cpp. Run: equal within 1e-12."""

    @preset(QuerySoftMax, "QuerySoftMax", beta=1)
    def query_soft_max(self, *, beta: float = 1.0, weights: Weights = "query") -> QuerySoftMax:
        """`QuerySoftMax`, metric.cpp. Run: equal within 1e-12."""

    @preset(QueryCrossEntropy, "QueryCrossEntropy", alpha=ALPHA)
    def query_cross_entropy(self, *, alpha: float | None = None, weights: Weights = "query") -> QueryCrossEntropy:
        """`QueryCrossEntropy`, metric.cpp. Run: equal within 1e-12."""

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
            if error := without_preset(self, name):
                raise error
            msg = f"{text!r:.80} is none of CatBoost's {', '.join(metrics)}."
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
        graded = convention.get("relevant") == "label"
        skipped = {"PrecisionAt", "RecallAt"} if graded else {"AverageGain"}
        if convention.get("discount").startswith("power"):
            skipped.add("ERR")  # only PFound has a power discount
        return (call for call in super().calls(convention) if call.metric not in skipped)

    def _adjusted(self, convention: Any, nearest: Convention) -> Convention:
        """Keep the fields of the convention that CatBoost does not have, such as `missing`."""
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
        as_bool("group_weights", group_weights)
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
                parts.append(f"{name}={value if isinstance(value, str) else spell_number(value)}")
        return ":".join(filter(None, [call.metric, ";".join(parts)]))


def read_top(metric: str, _: str, top: str) -> int | None:
    """Return the cutoff of a `top`."""
    if top == "-1":
        return None
    k = as_whole(top)
    if k is not None and 0 < k <= LARGEST_TOP:
        return k
    why = ", at which CatBoost gives every query 1 as NDCG and 0 as DCG" if top == "0" else ""
    why = ", which CatBoost takes as all rows" if top.startswith("-") and top[1:].isdigit() else why
    raise ConventionError(
        f"{metric!r:.120} has top={top!r}{why}; allowed are whole numbers from 1 on, or -1.", hint="top=-1 is all rows"
    )


def map_reader(words: Mapping[str, Any]) -> Reader:
    """Return a reader that maps each allowed word to its value."""

    def reader(metric: str, name: str, value: str) -> Any:
        if value not in words:
            raise ConventionError(
                f"{metric!r:.120} has {name}={value!r}; allowed are {choices(words)}.",
                hint="use exactly this spelling: some versions of CatBoost refuse others, and some misread them",
            )
        return words[value]

    return reader


def read_options(metric: str, text: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Parse options `name=value;...`; without `top`, k is None; other missing options are left to the preset."""
    allowed = (*readers, "hints")
    pairs = [part.partition("=")[::2] for part in text.split(";") if text]
    names = [name for name, _ in pairs]
    for name in names:
        if name not in allowed or names.count(name) > 1:
            problem = "twice" if name in allowed else "which is not a parameter of it"
            raise ConventionError(
                f"{metric!r:.120} has {name!r}, {problem}; allowed are {choices(allowed)}.", hint="no spaces"
            )
    options: dict[str, Any] = {"k": None} if "top" in readers else {}
    for name, value in pairs:
        if name != "hints":
            options["k" if name == "top" else name] = readers[name](metric, name, value)
    return options


def word_reader(words: Mapping[str, Any]) -> Reader:
    """Return a reader that accepts these words and returns them unchanged."""
    return map_reader({word: word for word in words})


def read_float(metric: str, name: str, value: str) -> float:
    """Return a finite number."""
    parsed = as_number(value)
    if parsed is None:
        raise ConventionError(f"{metric!r:.120} has {name}={value!r}; allowed are finite numbers.", hint=f"{name}=0.5")
    return parsed


catboost = CatBoost()
