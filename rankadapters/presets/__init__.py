"""Presets: the conventions of real tools, with the evidence for each.

Calling a tool with a cutoff returns its NDCG, if it has one; its methods return its other measures. A released preset
never changes: when a tool changes its behavior, the new behavior gets a new preset, whose name ends with the release; a
name without a release, such as `lenskit`, means the newest one. `evidence` says for each tool whether a release was run
("run 1.2": its numbers, stored in tests/golden, confirm the presets) or whether we only read its source ("read").
"Run: equal within 1e-9" in a docstring says how far those numbers differ from ours at most. A query has n rows, R of
them relevant.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

from rankadapters.core.declaration.guesses import list_public
from rankadapters.presets.catboost import catboost
from rankadapters.presets.column_metrics import ignite, metrax, polars_ds, pytorch_metric_learning, torchrec
from rankadapters.presets.correlations import pandas, polars, scipy
from rankadapters.presets.elasticsearch import elasticsearch
from rankadapters.presets.inexpressible import inexpressible
from rankadapters.presets.ir_measures import ir_measures
from rankadapters.presets.letor import letor3, letor4, mslr, yahoo
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
from rankadapters.presets.rag_evaluators import (
    azure_ai_evaluation,
    deepeval,
    llama_index_0_10,
    llama_index_0_12_3,
    llama_index_0_12_6,
    ragas,
    trulens,
)
from rankadapters.presets.ranklib import ranklib, ranklib_busafekete
from rankadapters.presets.ranx import ranx
from rankadapters.presets.rectools import rectools
from rankadapters.presets.retrieval_benchmarks import beir, mteb
from rankadapters.presets.retrieval_evaluators import autogluon, haystack, sentence_transformers
from rankadapters.presets.sklearn import sklearn
from rankadapters.presets.texts import NEWEST, TOOLS, make, names, tool_name
from rankadapters.presets.tool import Tool
from rankadapters.presets.torchmetrics import torchmetrics
from rankadapters.presets.trec_eval import pytrec_eval, trec_eval_8, trec_eval_9, trec_eval_10
from rankadapters.presets.xgboost import xgboost

# The newest releases; trec_eval 10.0 is only a candidate.
allrank, lenskit, llama_index = allrank_1_4_1, lenskit_2026, llama_index_0_12_6
letor, trec_eval = letor4, trec_eval_9

__all__ = [  # noqa: RUF022 - `names` lists the tools in this order
    "TOOLS", "Tool", "inexpressible", "make", "names",
    "textbook", "sklearn", "lightgbm", "xgboost", "catboost", "letor3", "letor4", "letor", "mslr", "yahoo", "ranklib",
    "ranklib_busafekete", "trec_eval_8", "trec_eval_9", "trec_eval_10", "trec_eval", "pytrec_eval", "ir_measures",
    "ranx", "torchmetrics", "rankeval", "allrank_1_4_0", "allrank_1_4_1", "allrank", "elasticsearch", "spark",
    "recommenders", "recbole", "replay", "cornac", "mlflow", "implicit", "lenskit_2025", "lenskit_2026", "lenskit",
    "rectools", "sentence_transformers", "haystack", "autogluon", "llama_index_0_10", "llama_index_0_12_3",
    "llama_index_0_12_6", "llama_index", "deepeval", "ragas", "azure_ai_evaluation", "trulens", "mteb", "beir",
    "ignite", "torchrec", "pytorch_metric_learning", "metrax", "polars_ds", "scipy", "pandas", "polars",
]  # fmt: skip

for _name in __all__:
    if isinstance(_tool := globals()[_name], Tool):
        (TOOLS if _name == _tool.name else NEWEST)[_name] = _tool

list_public(__name__)


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> NoReturn:
        near = [tool_name(name)] if tool_name(name) in TOOLS else get_close_matches(name.lower(), __all__, 1)
        hint = f"did you mean presets.{near[0]}?" if near else "`rankadapters conventions --measure all` prints all."
        raise AttributeError(f"presets has no {name!r}.\nHint: {hint}")
