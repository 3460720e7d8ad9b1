"""Presets: the conventions of real tools, with the evidence for each.

Calling a tool with a cutoff returns its NDCG, if it has one; its methods return its other measures. A released preset
never changes: when a tool changes its behavior, the new behavior gets a new preset, whose name ends with the release; a
name without a release, such as `lenskit`, means the newest one. "Run against 1.2: equal within
1e-9" in a docstring means that version 1.2 of the tool was run, and that its numbers, stored in tests/golden, differ
from ours by at most 1e-9. "Read only" means that we only read its source. A query has n rows, R of them relevant.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES
from rankadapters.presets.catboost import catboost
from rankadapters.presets.column_metrics import ignite, metrax, polars_ds
from rankadapters.presets.correlations import pandas, polars, scipy
from rankadapters.presets.elasticsearch import elasticsearch
from rankadapters.presets.inexpressible import inexpressible
from rankadapters.presets.ir_measures import ir_measures
from rankadapters.presets.letor import letor3, letor4, mslr
from rankadapters.presets.lightgbm import lightgbm
from rankadapters.presets.ndcg_only import (
    allrank_1_4_0,
    allrank_1_4_1,
    cornac,
    implicit,
    lenskit_2025,
    lenskit_2026,
    mlflow,
    rankeval,
    recbole,
    recommenders,
    replay,
    spark,
    textbook,
)
from rankadapters.presets.preset import presets_of
from rankadapters.presets.ranklib import ranklib, ranklib_busafekete
from rankadapters.presets.ranx import ranx
from rankadapters.presets.rectools import rectools
from rankadapters.presets.retrieval_evaluators import autogluon, haystack, sentence_transformers
from rankadapters.presets.sklearn import sklearn
from rankadapters.presets.tool import Make, Tool, takes_k
from rankadapters.presets.torchmetrics import torchmetrics
from rankadapters.presets.trec_eval import pytrec_eval, trec_eval_8, trec_eval_9, trec_eval_10
from rankadapters.presets.xgboost import xgboost
from rankadapters.presets.yahoo import yahoo

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        textbook, sklearn, lightgbm, xgboost, catboost, letor3, letor4, mslr, yahoo, ranklib, ranklib_busafekete,
        trec_eval_8, trec_eval_9, trec_eval_10, pytrec_eval, ir_measures, ranx, torchmetrics, rankeval, allrank_1_4_0,
        allrank_1_4_1, elasticsearch, spark, recommenders, recbole, replay, cornac, mlflow, implicit, lenskit_2025,
        lenskit_2026, rectools, sentence_transformers, haystack, autogluon, ignite, metrax, polars_ds, scipy, pandas,
        polars,
    )
}  # fmt: skip
# A name without a version means the newest release, and moves with it; the name with the version stays.
NEWEST: dict[str, Tool] = {"allrank": allrank_1_4_1, "lenskit": lenskit_2026}
allrank, lenskit = allrank_1_4_1, lenskit_2026

__all__ = [
    "TOOLS", "Tool", "allrank", "allrank_1_4_0", "allrank_1_4_1", "autogluon", "catboost", "cornac", "elasticsearch",
    "haystack", "ignite", "implicit", "inexpressible", "ir_measures", "lenskit", "lenskit_2025", "lenskit_2026",
    "letor3", "letor4", "lightgbm", "make", "metrax", "mlflow", "mslr", "names", "pandas", "polars", "polars_ds",
    "pytrec_eval", "rankeval", "ranklib", "ranklib_busafekete", "ranx", "recbole", "recommenders", "rectools",
    "replay", "scipy", "sentence_transformers", "sklearn", "spark", "textbook", "torchmetrics", "trec_eval_8",
    "trec_eval_9", "trec_eval_10", "xgboost", "yahoo",
]  # fmt: skip


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> NoReturn:
        near = get_close_matches(name.lower(), __all__, 1)
        hint = f"did you mean presets.{near[0]}?" if near else "`rankadapters conventions --measure all` prints all."
        raise AttributeError(f"presets has no {name!r}.\nHint: {hint}")


def names(measure: str | None = "ndcg") -> tuple[str, ...]:
    """Return the names of presets, which `ra.parse` can read. A tool's name alone means its NDCG.

    Parameters
    ----------
    measure : str or None
        Return only the presets of this measure, named as in signatures; None returns all.

    Examples
    --------
    >>> "letor4" in names(), "catboost.dcg" in names("dcg")
    (True, True)
    """
    if measure is not None and measure not in MEASURES:
        raise ConventionError(f"measure={measure!r:.80}; allowed are {choices(MEASURES)}, or None for all.")
    return tuple(name for name in _all() if measure is None or _measure_of(name) == measure)


def make(name: str, k: int | None) -> Convention:
    """Return the convention of a preset at a cutoff; presets without a cutoff ignore `k`.

    >>> make("catboost.dcg", 5).name
    'dcg@5/catboost.dcg'
    """
    preset = maker(name)
    if preset is None:
        raise ConventionError(f"{name!r:.80} is not a preset; there are {choices(names(None))}.", hint="names()")
    return preset(k) if takes_k(preset) else preset()


def maker(name: str) -> Make | None:
    """Return the tool or method that makes a preset's convention; None if there is no such preset."""
    tool_name, _, method = name.partition(".")
    tool = TOOLS.get(tool_name) or NEWEST.get(tool_name)
    if tool is None or (method or "__call__") not in presets_of(type(tool)):
        return None
    return getattr(tool, method) if method else tool


def called(word: str) -> list[str]:
    """Return the presets of a tool's own word for a measure, in lower case, such as 'map' or 'rprec'."""
    return [name for name in _all() if "." in name and name.partition(".")[2].lower() == word]


def measure_called(word: str) -> str | None:
    """Return the measure of a word: its name, or a tool's word that no tool uses for a different measure.

    >>> measure_called("ap"), measure_called("map"), measure_called("letor4")
    ('ap', 'ap', None)
    """
    measures = {word} & set(MEASURES) or set(map(_measure_of, called(word)))
    return measures.pop() if len(measures) == 1 else None


@cache
def _measure_of(name: str) -> str:
    return make(name, 10).measure


def _all() -> Iterator[str]:
    for name, tool in TOOLS.items():
        if "__call__" in presets_of(type(tool)):
            yield name
        yield from (f"{name}.{method}" for method in tool.measures())
