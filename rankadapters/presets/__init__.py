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
from rankadapters.presets.texts import NEWEST, tool_name

# `import a as a` marks a as public.
# isort: off
from rankadapters.presets.inexpressible import inexpressible as inexpressible
from rankadapters.presets.texts import TOOLS as TOOLS, make as make, names as names
from rankadapters.presets.tool import Tool as Tool

# An import registers a tool; lists of tools have the order of these imports.
from rankadapters.presets.ndcg_only import textbook as textbook
from rankadapters.presets.sklearn import sklearn as sklearn
from rankadapters.presets.lightgbm import lightgbm as lightgbm
from rankadapters.presets.xgboost import xgboost as xgboost
from rankadapters.presets.catboost import catboost as catboost
from rankadapters.presets.letor import letor3 as letor3, letor4 as letor4, mslr as mslr, yahoo as yahoo
from rankadapters.presets.ranklib import ranklib as ranklib, ranklib_busafekete as ranklib_busafekete
from rankadapters.presets.trec_eval import trec_eval_8 as trec_eval_8, trec_eval_9 as trec_eval_9
from rankadapters.presets.trec_eval import trec_eval_10 as trec_eval_10, pytrec_eval as pytrec_eval
from rankadapters.presets.ir_measures import ir_measures as ir_measures
from rankadapters.presets.ranx import ranx as ranx
from rankadapters.presets.torchmetrics import torchmetrics as torchmetrics
from rankadapters.presets.ndcg_only import rankeval as rankeval, allrank_1_4_0 as allrank_1_4_0
from rankadapters.presets.ndcg_only import allrank_1_4_1 as allrank_1_4_1
from rankadapters.presets.elasticsearch import elasticsearch as elasticsearch
from rankadapters.presets.ndcg_only import spark as spark
from rankadapters.presets.recommendations import recommenders as recommenders, recbole as recbole
from rankadapters.presets.ndcg_only import replay as replay, cornac as cornac, mlflow as mlflow, implicit as implicit
from rankadapters.presets.ndcg_only import lenskit_2025 as lenskit_2025, lenskit_2026 as lenskit_2026
from rankadapters.presets.recommendations import pyg as pyg, ml_metrics as ml_metrics, evidently as evidently
from rankadapters.presets.rectools import rectools as rectools
from rankadapters.presets.retrieval_evaluators import sentence_transformers as sentence_transformers
from rankadapters.presets.retrieval_evaluators import haystack as haystack, autogluon as autogluon
from rankadapters.presets.rag_evaluators import llama_index_0_10 as llama_index_0_10
from rankadapters.presets.rag_evaluators import llama_index_0_12_3 as llama_index_0_12_3
from rankadapters.presets.rag_evaluators import llama_index_0_12_6 as llama_index_0_12_6, deepeval as deepeval
from rankadapters.presets.rag_evaluators import ragas as ragas, azure_ai_evaluation as azure_ai_evaluation
from rankadapters.presets.rag_evaluators import trulens as trulens
from rankadapters.presets.retrieval_benchmarks import mteb as mteb, beir as beir
from rankadapters.presets.trec_eval import trectools as trectools
from rankadapters.presets.column_metrics import ignite as ignite, torchrec as torchrec
from rankadapters.presets.column_metrics import pytorch_metric_learning as pytorch_metric_learning, metrax as metrax
from rankadapters.presets.column_metrics import polars_ds as polars_ds
from rankadapters.presets.correlations import scipy as scipy, pandas as pandas, polars as polars

# isort: on

# The newest releases; trec_eval 10.0 is only a candidate.
letor, trec_eval = letor4, trec_eval_9
allrank, lenskit, llama_index = allrank_1_4_1, lenskit_2026, llama_index_0_12_6

_TOOLS = {name: tool for name, tool in globals().items() if isinstance(tool, Tool)}
__all__ = ["TOOLS", "Tool", "inexpressible", "make", "names", *_TOOLS]  # noqa: PLE0604 - _TOOLS is a dict by name

for _name, _tool in _TOOLS.items():
    (TOOLS if _name == _tool.name else NEWEST)[_name] = _tool

list_public(__name__)


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> NoReturn:
        near = [tool_name(name)] if tool_name(name) in TOOLS else get_close_matches(name.lower(), __all__, 1)
        hint = f"did you mean presets.{near[0]}?" if near else "`rankadapters conventions --measure all` prints all."
        raise AttributeError(f"presets has no {name!r}.\nHint: {hint}")
