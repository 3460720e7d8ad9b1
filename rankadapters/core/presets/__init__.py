"""Presets: the convention that each real tool computes under, with the evidence for it.

A released preset never changes; when a tool changes its behaviour, the new one gets a name of its own. "Run" says that
the program's own numbers are held in tests/golden, "read" that only its source was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.presets.libraries import (
    allrank,
    catboost,
    elasticsearch,
    ir_measures,
    lightgbm,
    pytrec_eval,
    rankeval,
    ranx,
    sklearn,
    torchmetrics,
    xgboost,
)
from rankadapters.core.presets.programs import (
    letor3,
    letor4,
    mslr,
    ranklib,
    ranklib_busafekete,
    trec_eval_8,
    trec_eval_9,
    trec_eval_10,
    yahoo,
)
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


_PRESETS: tuple[Callable[[int | None], NDCG], ...] = (
    textbook,
    sklearn,
    lightgbm,
    xgboost,
    catboost,
    letor3,
    letor4,
    mslr,
    yahoo,
    ranklib,
    ranklib_busafekete,
    trec_eval_8,
    trec_eval_9,
    trec_eval_10,
    pytrec_eval,
    ir_measures,
    ranx,
    torchmetrics,
    rankeval,
    allrank,
    elasticsearch,
)

__all__ = [
    "allrank",
    "catboost",
    "elasticsearch",
    "inexpressible",
    "ir_measures",
    "letor3",
    "letor4",
    "lightgbm",
    "mslr",
    "names",
    "pytrec_eval",
    "rankeval",
    "ranklib",
    "ranklib_busafekete",
    "ranx",
    "resolve",
    "sklearn",
    "textbook",
    "torchmetrics",
    "trec_eval_8",
    "trec_eval_9",
    "trec_eval_10",
    "xgboost",
    "yahoo",
]


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
    if not isinstance(spec, str):
        msg = f"{spec!r:.80} is no preset@k or signature.\nHint: a string such as 'letor4@10'."
        raise ConventionError(msg)
    name, at, cutoff = spec.partition("@")
    for preset in _PRESETS:
        if preset.__name__ == name and at and (cutoff == "all" or re.fullmatch("[0-9]{1,19}", cutoff)):
            return preset(None if cutoff == "all" else int(cutoff))
    if "/" in spec:
        return parse(spec)
    msg = f"{spec!r:.80} is neither a preset@k such as 'letor4@10' nor a signature; the presets are {choices(names())}."
    raise ConventionError(msg)


def inexpressible() -> dict[str, str]:
    """Name what no convention reproduces, with the reason: nothing is approximated in silence.

    >>> inexpressible()["spark"]
    'RankingMetrics.ndcgAt takes the ideal list in the order given, not by gain (read: its source).'
    """
    return {
        "spark": ("RankingMetrics.ndcgAt takes the ideal list in the order given, not by gain (read: its source)."),
        "tensorflow_ranking": (
            "Ties are shuffled at random, document weights multiply gains inside the DCG, and a list weighs "
            "sum(w g) / sum(g) (read: its source)."
        ),
        "ranklib_2011": (
            "Its selection sort moves tied documents in an order that depends on the documents between them "
            "(run: equal to ranklib without ties)."
        ),
        "torchmetrics_negative_labels": (
            "A query whose ideal DCG is negative is divided by it all the same (run: 1.9.0, RetrievalNormalizedDCG)."
        ),
        "sklearn_ignore_ties": "ndcg_score(ignore_ties=True) reverses an unstable argsort (run: 1.9.1).",
        "catboost_nan_scores": "CatBoost gives a query with a NaN score 1.0, where we raise (run: 1.2.10).",
        "labels_mended_in_silence": (
            "The Perl scripts give labels above their table gain 0 and RankLib casts labels to int: we raise (run)."
        ),
    }
