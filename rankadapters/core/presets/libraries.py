"""The toolkits and libraries that compute NDCG today."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

from rankadapters.core.convention import NDCG
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.fields import number
from rankadapters.core.presets.programs import ranklib, trec_eval_9, yahoo


def sklearn(k: int | None) -> NDCG:
    """scikit-learn 1.6 to 1.9 `ndcg_score`, sklearn/metrics/_ranking.py. Run with 1.6.0 and 1.9.1: equal to 1e-12.

    The function itself refuses one-document queries and negative labels; here the former count as defined and the
    latter are taken as they are. Its `sample_weight` is our query weight.
    """
    return NDCG(
        k=k, gain="linear", discount="log2", ideal="cutoff", ties="average", precision="float64",
        short="pad", empty=0, missing="error", unjudged="error", average="query",
    ).named("sklearn")  # fmt: skip


def lightgbm(k: int | None, label_gain: Sequence[float] | None = None) -> NDCG:
    """LightGBM 4.6 and 4.7 `ndcg`, src/metric/rank_metric.hpp. Run with 4.6.0 and 4.7.0: equal to 1e-12.

    LightGBM adds 1 for a query with nothing relevant whatever its weight, but divides by all weights. A query weighs
    the float32 mean of its row weights. Its labels end at 30, or where `label_gain` ends.

    Parameters
    ----------
    k : int or None
        One of LightGBM's `eval_at`.
    label_gain : sequence of float, optional
        LightGBM's parameter of that name; it must not decrease. None is its default, 2^l - 1.
    """
    gain = "exp2" if label_gain is None else _table_of(label_gain)
    return NDCG(
        k=k, gain=gain, discount="log2", ideal="cutoff", ties="input", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="query-except-empty",
    ).named("lightgbm" if label_gain is None else "lightgbm+label_gain")  # fmt: skip


def _table_of(label_gain: Sequence[float]) -> str:
    if isinstance(label_gain, str) or not all(isinstance(gain, Real) for gain in label_gain):
        msg = f"label_gain={label_gain!r:.80} is no list of numbers.\nHint: label_gain=[0, 1, 3]."
        raise ConventionError(msg)
    return "_".join(["table", *map(number, label_gain)])


def xgboost(k: int | None, exp_gain: bool = True, minus: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - the toolkit's own flags
    """XGBoost 3.1 to 3.4 `ndcg@k` and `ndcg@k-`, rank_metric.cc. Run with 3.1.2, 3.2.0 and 3.4.1: equal to 1e-12.

    Scores and labels are held as float32. A query with nothing relevant adds 1 (0 with the trailing minus) whatever
    its weight. A bare `ndcg` means @32.

    Parameters
    ----------
    k : int or None
        The cutoff in the metric's name.
    exp_gain : bool
        XGBoost's `ndcg_exp_gain`: gain 2^floor(l) - 1; False takes the label itself.
    minus : bool
        Whether the metric's name ends with `-`.
    """
    if not isinstance(exp_gain, bool) or not isinstance(minus, bool):
        msg = f"exp_gain={exp_gain!r}, minus={minus!r}; allowed are True, False."
        raise ConventionError(msg)
    label = "xgboost" + ("" if exp_gain else "+linear") + ("+minus" if minus else "")
    return NDCG(
        k=k, gain="exp2-floor" if exp_gain else "linear", discount="log2", ideal="cutoff", ties="input",
        precision="float32", short="pad", empty=0 if minus else 1, missing="error", unjudged="error",
        average="query-except-empty",
    ).named(label)  # fmt: skip


def catboost(
    k: int | None,
    type: str = "Base",  # noqa: A002 - CatBoost's own parameter name
    denominator: str = "LogPosition",
    use_weights: bool = True,  # noqa: FBT001, FBT002 - as above
) -> NDCG:
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run with 1.2.7 and 1.2.10: equal to 1e-9.

    Tied documents stand in the worst order, and a query with nothing relevant counts 1. Labels are held as float32;
    a query weighs its group weight.

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
    gains, discounts = {"Base": "linear", "Exp": "exp2"}, {"LogPosition": "log2", "Position": "reciprocal"}
    if str(type) not in gains or str(denominator) not in discounts:
        msg = f"type={type!r}, denominator={denominator!r}; allowed are {choices(gains)} and {choices(discounts)}."
        raise ConventionError(msg)
    variants = [t for t in (type, denominator) if t not in {"Base", "LogPosition"}] + ["unweighted"] * (not use_weights)
    return NDCG(
        k=k, gain=gains[type], discount=discounts[denominator], ideal="cutoff", ties="worst", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="query" if use_weights else "uniform",
    ).named("+".join(["catboost", *variants]))  # fmt: skip


def pytrec_eval(k: int | None) -> NDCG:
    """pytrec_eval 0.5 `ndcg_cut` and `ndcg`: trec_eval 9. Run with pytrec_eval-terrier 0.5.11: equal to 1e-9.

    Queries of which nothing was retrieved are left out; negative labels crash it.
    """
    return trec_eval_9(k).named("pytrec_eval")


def ir_measures(k: int | None) -> NDCG:
    """ir_measures 0.4 `nDCG@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9.

    Its `dcg="exp-log2"` gives linear gains through pytrec_eval all the same.
    """
    return trec_eval_9(k).named("ir_measures")


def ranx(k: int | None, burges: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - two metrics of one name there
    """The library ranx 0.3: `ndcg@k` and `ndcg_burges@k`, metrics/ndcg.py. Run with 0.3.21: equal to 1e-9.

    Ties stand in the order of the run.

    Parameters
    ----------
    k : int or None
        The cutoff; None is the metric without one.
    burges : bool
        `ndcg_burges`: gain 2^l - 1.
    """
    return NDCG(
        k=k, gain="exp2" if burges else "linear-positive", discount="log2", ideal="cutoff", ties="input",
        precision="float64", short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
    ).named("ranx+burges" if burges else "ranx")  # fmt: skip


def torchmetrics(k: int | None, empty_target_action: str = "neg") -> NDCG:
    """The library torchmetrics 1.9: `RetrievalNormalizedDCG`. Run with 1.9.0: equal to 2e-6, since it sums in float32.

    Parameters
    ----------
    k : int or None
        Its `top_k`.
    empty_target_action : {'neg', 'pos', 'skip', 'error'}
        What a query with nothing relevant counts: 0, 1, nothing, or an error.
    """
    actions: dict[str, float | str] = {"neg": 0, "pos": 1, "skip": "skip", "error": "error"}
    if empty_target_action not in actions:
        msg = f"empty_target_action={empty_target_action!r}; allowed are {choices(actions)}."
        raise ConventionError(msg)
    return NDCG(
        k=k, gain="linear", discount="log2", ideal="cutoff", ties="average", precision="float32", short="pad",
        empty=actions[empty_target_action], missing="error", unjudged="error", average="uniform",
    ).named("torchmetrics" if empty_target_action == "neg" else f"torchmetrics+{empty_target_action}")  # fmt: skip


def rankeval(k: int | None) -> NDCG:
    """RankEval `NDCG(cutoff=k)`, metrics/ndcg.py and dcg.py. Read only, at commit 6aa6d36.

    Scores are ranked by a reversed argsort, which turns ties round where the sort happens to be stable. Ideal DCGs are
    float32. `no_relevant_results` is 1 by default; `implementation="flat"` is `replace(gain="linear")`.
    """
    return yahoo(k).replace(ties="reverse").named("rankeval")


def allrank(k: int | None) -> NDCG:
    """The library allRank: `ndcg`, models/metrics.py. Read only, at commit 2d2982a.

    Scores are float32, and torch's sort promises no order of ties, so they are averaged here. Rows with label -1 are
    padding there: leave them out.
    """
    return ranklib(k).replace(ties="average", precision="float32").named("allrank")


def elasticsearch(k: int | None) -> NDCG:
    """Elasticsearch rank_eval `dcg` with `normalize`, DiscountedCumulativeGain.java. Read only, at commit 02f2048.

    The ideal list holds all rated documents and is cut at the number of hits. Unrated hits have gain 0, unless
    `unknown_doc_rating` is set; a query without hits counts 0. The hits are taken in their order: their scores decide
    here, and ties stand as given.
    """
    return ranklib(k).replace(ideal="retrieved", missing="zero", unjudged="zero").named("elasticsearch")
