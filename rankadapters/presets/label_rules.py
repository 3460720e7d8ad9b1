"""Labels that a tool refuses or changes, and warnings about them: our value then differs from the tool's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import LabelsWarning, warn_caller
from rankadapters.presets.ir_measures import ir_measures
from rankadapters.presets.ranklib import ranklib
from rankadapters.presets.retrieval_benchmarks import beir, mteb
from rankadapters.presets.tool import Tool
from rankadapters.presets.trec_eval import pytrec_eval


class LabelRule(NamedTuple):
    """A kind of labels that a tool refuses or changes.

    Attributes
    ----------
    presets : sequence of str
        The presets of the tool to which the rule applies.
    kind : str
        `fractional`; `above` or `below` the threshold; `between` 0 and the threshold.
    tool : str
        The tool's reaction to such labels, with its own message in quotation marks.
    threshold : float
        The label above or below which the rule applies.
    fields : dict or None
        The fields of the conventions to which the rule applies; None means all fields of the preset's formula.
    """

    presets: Sequence[str]
    kind: str
    tool: str
    threshold: float = 0.0
    fields: Mapping[str, Any] | None = None

    def matches(self, labels: Floats) -> Flags:
        """Return which labels the rule applies to."""
        if self.kind == "fractional":
            return np.asarray(labels != np.floor(labels))
        if self.kind == "between":
            return (labels > 0) & (labels < self.threshold)
        return labels > self.threshold if self.kind == "above" else labels < self.threshold


def _presets_of(tool: Tool, *excluded: str) -> list[str]:
    """Return the names of a tool's presets, without the excluded methods."""
    return [tool.name, *(f"{tool.name}.{method}" for method in tool.measures() if method not in excluded)]


# The tools of all other presets accept every label that the convention accepts, or were never run with unusual labels.
# We ran LightGBM's ndcg and map, XGBoost's ndcg, map, pre and auc, all ranking metrics of CatBoost 1.2.10 (it accepts
# every label), scikit-learn's functions, trec_eval, pytrec_eval, ir_measures, ranx and ignite with them; of RankLib we
# only read the source. Cutting labels changes no measure that compares them with a whole threshold.
_CONTINUOUS = "average_precision_score", "label_ranking_average_precision_score", "roc_auc_score", "coverage_error"
_OF_IR_MEASURES = _presets_of(ir_measures, "rr_cut", "judged", "rbp")
_WHOLE = "Expected relevance to be integer"
_RULES = (
    LabelRule(["lightgbm"], "fractional", "LightGBM 4.7.0 refuses: 'label should be int type'"),
    LabelRule(["lightgbm"], "above", "LightGBM 4.7.0 refuses unless label_gain has a gain for it", 30),
    LabelRule(["xgboost"], "fractional", "XGBoost 3.2.0 refuses: 'label must be either 0 or positive integer'"),
    LabelRule(["xgboost"], "above", "XGBoost 3.2.0 refuses unless ndcg_exp_gain=False", 31),
    LabelRule(
        ["xgboost.map", "xgboost.pre"], "fractional", "XGBoost 3.2.0 refuses: 'can only be used with binary labels'"
    ),
    LabelRule(
        ["sklearn"], "below", "scikit-learn 1.9.1 refuses: 'ndcg_score should not be used on negative y_true values'"
    ),
    LabelRule(
        [f"sklearn.{method}" for method in _CONTINUOUS], "fractional",
        "scikit-learn 1.9.1 refuses: 'continuous format is not supported'",
    ),
    LabelRule(
        ["trec_eval_9", "trec_eval_10"], "fractional", "trec_eval cuts to a whole number (run: 9.0.8, 10.0)", fields={}
    ),
    LabelRule(["ranx", "ranx.dcg", "ranx.rbp"], "fractional", "ranx 0.3.21 cuts to a whole number", fields={}),
    LabelRule(_presets_of(pytrec_eval), "fractional", f"pytrec_eval 0.5.11 refuses: '{_WHOLE}'", fields={}),
    LabelRule(
        [*_presets_of(mteb, "mrr", "recall_cap"), *_presets_of(beir, "mrr", "recall_cap", "top_k_accuracy")],
        "fractional", f"pytrec_eval of MTEB 2.26.24 and BEIR 2.2.0 refuses: '{_WHOLE}'", fields={},
    ),
    LabelRule(
        ["azure_ai_evaluation"], "fractional",
        "Azure AI Evaluation 1.18.10 refuses: 'Query relevance labels must be integer values'",
    ),
    LabelRule(["azure_ai_evaluation"], "above", "Azure AI Evaluation 1.18.10 refuses unless the maximum is set", 4),
    LabelRule(_OF_IR_MEASURES, "fractional", f"ir_measures 0.4.3 refuses: '{_WHOLE}'", fields={}),
    LabelRule(_OF_IR_MEASURES, "above", "gdeval.pl of ir_measures 0.4.3 refuses", 4, fields={"gain": "exp2"}),
    LabelRule(["ignite"], "between", "ignite 0.5.5 counts as 0 (its relevance_threshold is 1)", 1, fields={}),
    LabelRule(_presets_of(ranklib), "fractional", "RankLib 2.10.1 cuts to a whole number"),
)  # fmt: skip
LABEL_RULES = {name: [rule for rule in _RULES if name in rule.presets] for kind in _RULES for name in kind.presets}
# By tool, its release, and from how many rows of a query on its sort is unstable, so that ties may have any order.
UNSTABLE_SORTS = {"ranx": ("ranx 0.3.21", 16), "rankeval": ("RankEval 0.8.2", 17)}
ORDINARY = 4  # no rule applies to whole labels from 0 to this one


def warn_of_labels(queries: Queries, conventions: Iterable[Convention]) -> None:
    """Warn about judged labels that a preset's tool refuses or changes, or that the measure is not defined for."""
    for message in label_doubts(queries, conventions).values():
        warn_caller(message, LabelsWarning)


def label_doubts(
    queries: Queries, conventions: Iterable[Convention], *, in_parts: bool = False
) -> dict[Convention, str]:
    """Return the messages of `warn_of_labels`, by convention.

    Parameters
    ----------
    queries : Queries
        The data, or a part of it.
    conventions : iterable of Convention
        Conventions to check the labels against.
    in_parts : bool
        Whether `queries` is only a part of the data, so that row numbers would mislead.
    """
    labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0.0)
    largest = None if queries.grades is None else int(queries.grades.max(initial=0))
    is_ordinary = largest is not None and largest <= ORDINARY
    # Mostly no grade up to the largest has a doubt, so that the labels of the rows need not be read.
    possible = labels if largest is None else np.arange(largest + 1.0)
    doubts = {}
    for convention in conventions:
        if (is_ordinary or _refused(possible, convention) is None) and convention.doubt(possible) is None:
            continue
        doubt = _refused(labels, convention) or convention.doubt(labels)
        if doubt is not None:
            row = int(np.argmax(doubt[0]))
            label = f"{'a label' if in_parts else f'labels[{row}]'} is {labels[row]:g}"
            doubts[convention] = f"{label}, {doubt[1]}"
    return doubts


def _refused(labels: Floats, convention: Convention) -> tuple[Flags, str] | None:
    """Return which labels the convention's tool refuses or changes, and a message; None if there is no such label."""
    name, preset = convention.preset or ("", convention)
    kinds = convention.declared()
    formula = {name: getattr(preset, name) for name, kind in kinds.items() if kind.group == "value"}
    for rule in LABEL_RULES.get(name, ()):
        fields = formula if rule.fields is None else rule.fields
        has_fields = all(getattr(convention, name, None) == value for name, value in fields.items())
        if has_fields and (refused := rule.matches(labels)).any():
            hint = (
                "labels come before scores; where these labels are meant, ra.parse(str(convention)) is the convention "
                "without the program's name, which warns of nothing"
            )
            reason = f"which {rule.tool}. {convention.name} gives a number that this program never prints"
            return refused, f"{reason}.\nHint: {hint}."
    return None
