"""Warnings about labels that a convention accepts but the tool named by its preset would not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import LabelsWarning, warn_caller
from rankadapters.presets.label_rules import LABEL_RULES, LabelRule

_BLOCK = 1 << 15  # labels per block, small enough for the processor's cache


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
    doubts = {}
    for convention in conventions:
        doubt = _refused(labels, convention) or convention.doubt(labels)
        if doubt is not None:
            row = int(np.argmax(doubt[0]))
            label = f"{'a label' if in_parts else f'labels[{row}]'} is {labels[row]:g}"
            doubts[convention] = f"{label}, {doubt[1]}"
    return doubts


def _refused(labels: Floats, convention: Convention) -> tuple[Flags, str] | None:
    """Return which labels the convention's tool refuses or changes, and a message; None if there is no such label."""
    preset = convention.preset
    if preset is None:
        return None
    kinds = convention.declared()
    formula = {name: getattr(preset[1], name) for name, kind in kinds.items() if kind.group == "value"}
    for rule in LABEL_RULES.get(preset[0], ()):
        fields = formula if rule.fields is None else rule.fields
        if any(getattr(convention, name, None) != value for name, value in fields.items()):
            continue
        blocks = (labels[start : start + _BLOCK] for start in range(0, labels.size, _BLOCK))
        if any(_matches(block, rule).any() for block in blocks):
            hint = (
                "labels come before scores; where these labels are meant, ra.parse(str(convention)) is the convention "
                "without the program's name, which warns of nothing"
            )
            reason = f"which {rule.tool}. {convention.name} gives a number that this program never prints"
            return _matches(labels, rule), f"{reason}.\nHint: {hint}."
    return None


def _matches(labels: Floats, rule: LabelRule) -> Flags:
    """Return which labels a rule applies to."""
    if rule.kind == "fractional":
        whole: Flags = labels == np.floor(labels)
        return ~whole
    if rule.kind == "between":
        return (labels > 0) & (labels < rule.threshold)
    return labels > rule.threshold if rule.kind == "above" else labels < rule.threshold
