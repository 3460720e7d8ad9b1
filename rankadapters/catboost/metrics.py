"""Conventions as CatBoost's metric strings, and back."""

from __future__ import annotations

from typing import Any

from rankadapters.core import presets
from rankadapters.core.convention import DCG, NDCG, Convention, Discounted
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.fields import table
from rankadapters.parity import require_expressible

TYPES = {"linear": "Base", "exp2": "Exp"}
DENOMINATORS = {"log2": "LogPosition", "reciprocal": "Position"}
LARGEST_TOP = 2**31 - 1


def native_metric(convention: Convention, *, group_weights: bool = True) -> str:
    """Translate a convention into CatBoost's metric string.

    The string serves `catboost.utils.eval_metric`, `model.eval_metrics`, and `eval_metric=` or `custom_metric=` of
    `CatBoostRanker`, with one exception: in a training CatBoost refuses `use_weights` (how `average="uniform"` is
    said) unless the Pool has object weights, which no NDCG uses. CatBoost rewrites the string where it makes it a
    key of its results.

    Parameters
    ----------
    convention : Convention
        What CatBoost shall compute.
    group_weights : bool
        Whether the data may have group weights. False leaves `use_weights` out, which a training needs; CatBoost then
        weights no query as long as there are indeed no group weights.

    Returns
    -------
    str
        An `NDCG` or `DCG` with every parameter that matters spelled out.

    Raises
    ------
    UnsupportedConventionError
        CatBoost cannot express a field; the message names all such fields and the nearest convention that it can.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, dcg.cpp.

    Examples
    --------
    >>> from rankadapters import presets
    >>> native_metric(presets.catboost(10, type="Exp"))
    'NDCG:top=10;type=Exp;denominator=LogPosition'
    >>> native_metric(presets.catboost(None, use_weights=False))
    'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
    """
    nearest = nearest_to(convention)
    require_expressible("CatBoost", convention, nearest)
    return spell(nearest, group_weights=group_weights)


def read_metric(metric: str) -> Discounted:
    """Read what CatBoost computes for one of its metric strings; the inverse of `native_metric`.

    Parameters
    ----------
    metric : str
        An `NDCG` or `DCG` with any of `top`, `type`, `denominator`, `use_weights` and `hints`, in CatBoost's spelling,
        as given to it or as a key of its results. What is left out has CatBoost's default.

    Returns
    -------
    NDCG or DCG

    Raises
    ------
    ConventionError
        Another metric, a parameter that says nothing there, or a value that CatBoost refuses or reads as something
        else than it says: `top=0` scores every query 1, `top=-5` is all, `use_weights=0` is false.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, `TDcgMetric`.

    Examples
    --------
    >>> read_metric("NDCG:top=5;type=Base") == presets.catboost(5)
    True
    >>> read_metric("NDCG:top=0")
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.ConventionError: 'NDCG:top=0' has top='0', at which CatBoost gives every query 1 ...
    Hint: top=-1 is all rows.
    """
    if not isinstance(metric, str):
        msg = f"{metric!r:.80} is no metric string.\nHint: 'NDCG:top=5;type=Exp', or ra.catboost.native_metric(conv)."
        raise ConventionError(msg)
    name, _, spelled = metric.partition(":")
    if name not in {"NDCG", "DCG"}:
        msg = f"{metric!r:.80} is no NDCG or DCG of CatBoost.\nHint: 'NDCG:top=5;type=Exp', in this spelling."
        raise ConventionError(msg)
    given = _parameters(metric, spelled)
    ndcg = presets.catboost(
        _cutoff(metric, given.get("top", "-1")),
        _one_of(metric, given, "type", ("Base", "Exp")),
        _one_of(metric, given, "denominator", ("LogPosition", "Position")),
        _one_of(metric, given, "use_weights", ("true", "false")) == "true",
    )
    return ndcg if name == "NDCG" else as_dcg(ndcg)


def as_dcg(convention: NDCG) -> DCG:
    """Give the DCG of an NDCG: the same without what only the ideal list needs."""
    return DCG(**{name: value for name, value in convention.to_dict().items() if name in DCG.fields()})


def nearest_to(convention: Convention) -> Discounted:
    """Nearest convention that CatBoost can express."""
    if not isinstance(convention, Discounted):
        msg = f"CatBoost's metrics here are NDCG and DCG, not {convention!s:.80}.\nHint: ra.presets.catboost(10)."
        raise UnsupportedConventionError(msg)
    fields: dict[str, Any] = {
        "k": convention.k if convention.k is None or convention.k <= LARGEST_TOP else None,
        "gain": _nearest_gain(convention.gain),
        "discount": convention.discount if convention.discount in DENOMINATORS else "log2",
        "ties": "worst",
        "precision": "float64",
        "short": "pad",
        "average": "uniform" if convention.average == "uniform" else "query",
        "ideal": "cutoff",
        "empty": 1,
    }
    return convention.replace(**{name: value for name, value in fields.items() if name in convention.fields()})


def spell(convention: Discounted, *, group_weights: bool = True) -> str:
    """Write a convention that CatBoost can express as its metric string."""
    # Every parameter is spelled out: a later default cannot change the meaning. top=0 would give 1.0, top=-1 is all.
    top = -1 if convention.k is None else convention.k
    parts = [f"top={top}", f"type={TYPES[convention.gain]}", f"denominator={DENOMINATORS[convention.discount]}"]
    if convention.average == "uniform" and group_weights:
        parts.append("use_weights=false")
    return f"{convention.measure.upper()}:{';'.join(parts)}"


def _nearest_gain(gain: str) -> str:
    gains = table(gain)
    linear = gain.startswith("linear") or gains == tuple(range(len(gains or ())))
    return "linear" if linear else "exp2"


def _parameters(metric: str, spelled: str) -> dict[str, str]:
    known = ("top", "type", "denominator", "use_weights", "hints")
    pairs = [part.partition("=")[::2] for part in spelled.split(";") if spelled]
    names = [name for name, _ in pairs]
    for name in names:
        if name not in known or names.count(name) > 1:
            what = "twice" if name in known else "which is no parameter of it"
            msg = f"{metric!r:.120} has {name!r}, {what}; allowed are {choices(known)}.\nHint: no spaces."
            raise ConventionError(msg)
    return dict(pairs)


def _one_of(metric: str, given: dict[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """Read a parameter; its default is the first that is allowed."""
    value = given.get(name, allowed[0])
    if value not in allowed:
        msg = (
            f"{metric!r:.120} has {name}={value!r}; allowed are {choices(allowed)}.\n"
            "Hint: in this spelling: another is refused by some versions of CatBoost and misread by others."
        )
        raise ConventionError(msg)
    return value


def _cutoff(metric: str, top: str) -> int | None:
    if top == "-1":
        return None
    if top.isascii() and top.isdigit() and 0 < int(top) <= LARGEST_TOP:
        return int(top)
    why = ", at which CatBoost gives every query 1 as NDCG and 0 as DCG" if top == "0" else ""
    why = ", which CatBoost takes as all rows" if top.startswith("-") and top[1:].isdigit() else why
    msg = (
        f"{metric!r:.120} has top={top!r}{why}; allowed are whole numbers from 1 on, or -1.\nHint: top=-1 is all rows."
    )
    raise ConventionError(msg)
