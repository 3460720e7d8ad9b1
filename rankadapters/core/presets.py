"""Presets: the convention that each real tool computes under, with the evidence for it.

A released preset never changes; when a tool changes its behaviour, the new one gets a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.fields import number
from rankadapters.core.signature import parse


def textbook(k: int | None) -> NDCG:
    """The definition in Busa-Fekete et al. (2012), Section 2, tied to no program.

    Exponential gain, logarithmic discount, ideal list cut at k, 0 for a query with nothing relevant. The paper fixes
    no order of ties, so they are averaged.

    >>> textbook(10).name
    'ndcg@10/textbook'
    """
    return NDCG(
        k=k, gain="exp2", discount="log2", ideal="cutoff", ties="average", precision="float64",
        short="pad", empty=0, missing="error", unjudged="error", average="uniform",
    ).named("textbook")  # fmt: skip


def letor4(k: int | None) -> NDCG:
    """LETOR 4.0, Eval-Score-4.0.pl (2009). Run: equal to 1e-11, per query and in the mean.

    Gains 0, 1, 3 by table, no discount at rank 2, and a query with fewer than k documents counts 0. The script gives
    a label above 2 gain 0 in silence; here it is an error.
    """
    return NDCG(
        k=k, gain="table_0_1_3", discount="jk2", ideal="cutoff", ties="input", precision="float64",
        short="zero", empty=0, missing="error", unjudged="error", average="uniform",
    ).named("letor4")  # fmt: skip


def yahoo(k: int | None) -> NDCG:
    """Yahoo! Learning to Rank Challenge, evaluate.py (2010). Run: equal to 1e-11, per query and in the mean.

    A query with nothing relevant counts 1, which lifts MQ2008's mean by its share of such queries, 0.281. The script
    takes ranks and never sorts; giving it the stable order of the scores is `ties="input"`.
    """
    return NDCG(
        k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="uniform",
    ).named("yahoo")  # fmt: skip


def sklearn(k: int | None) -> NDCG:
    """scikit-learn 1.0 to 1.9 `ndcg_score`, sklearn/metrics/_ranking.py. Run with 1.9.1: equal to 1e-12 per query.

    The function itself refuses one-document queries and negative labels; here the former count as defined and the
    latter are taken as they are. Its `sample_weight` is our query weight.
    """
    return NDCG(
        k=k, gain="linear", discount="log2", ideal="cutoff", ties="average", precision="float64",
        short="pad", empty=0, missing="error", unjudged="error", average="query",
    ).named("sklearn")  # fmt: skip


def lightgbm(k: int | None, label_gain: Sequence[float] | None = None) -> NDCG:
    """LightGBM 4.x `ndcg`, src/metric/rank_metric.hpp and dcg_calculator.cpp. Run with 4.7.0: equal to 1e-12.

    LightGBM adds 1 for a query with nothing relevant whatever its weight, but divides by all weights. A query weighs
    the float32 mean of its row weights. Its labels end at 30, or where `label_gain` ends.

    Parameters
    ----------
    k : int or None
        One of LightGBM's `eval_at`.
    label_gain : sequence of float, optional
        LightGBM's parameter of that name; it must not decrease. None is its default, 2^l - 1.
    """
    gain = "exp2" if label_gain is None else "_".join(["table", *map(number, label_gain)])
    return NDCG(
        k=k, gain=gain, discount="log2", ideal="cutoff", ties="input", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="query-except-empty",
    ).named("lightgbm" if label_gain is None else "lightgbm+label_gain")  # fmt: skip


def xgboost(k: int | None, exp_gain: bool = True, minus: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - the toolkit's own flags
    """XGBoost 2.0 to 3.2 `ndcg@k` and `ndcg@k-`, src/metric/rank_metric.cc. Run with 3.2.0: equal to 1e-12.

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
    """CatBoost 1.2 `NDCG:top=k`, catboost/libs/metrics/dcg.cpp. Run with 1.2.10: equal to 1e-9.

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
    if type not in gains or denominator not in discounts:
        msg = f"type={type!r}, denominator={denominator!r}; allowed are {choices(gains)} and {choices(discounts)}."
        raise ConventionError(msg)
    variants = [t for t in (type, denominator) if t not in {"Base", "LogPosition"}] + ["unweighted"] * (not use_weights)
    return NDCG(
        k=k, gain=gains[type], discount=discounts[denominator], ideal="cutoff", ties="worst", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="query" if use_weights else "uniform",
    ).named("+".join(["catboost", *variants]))  # fmt: skip


_PRESETS: tuple[Callable[[int | None], NDCG], ...] = (textbook, letor4, yahoo, sklearn, lightgbm, xgboost, catboost)


def names() -> tuple[str, ...]:
    """Name the presets, each a function of this module that takes a cutoff.

    >>> "letor4" in names()
    True
    """
    return tuple(preset.__name__ for preset in _PRESETS)


def resolve(spec: str) -> Convention:
    """Read `preset@k`, `preset@all` or a signature, as the command line takes them.

    Parameters
    ----------
    spec : str
        A preset's name and cutoff, or what `str(convention)` prints.

    Raises
    ------
    ConventionError
        Neither; the message lists the presets.

    Examples
    --------
    >>> resolve("letor4@10") == letor4(10)
    True
    """
    name, at, cutoff = spec.partition("@")
    for preset in _PRESETS:
        if preset.__name__ == name and at and (cutoff == "all" or (cutoff.isascii() and cutoff.isdigit())):
            return preset(None if cutoff == "all" else int(cutoff))
    if "/" in spec:
        return parse(spec)
    msg = f"{spec!r} is neither a preset@k such as 'letor4@10' nor a signature; the presets are {choices(names())}."
    raise ConventionError(msg)
