"""Warnings about labels that have a value under a convention, but not the one that its name promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from rankadapters.core.data.columns import Flags, Floats
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.spelling import border
from rankadapters.core.errors import LabelsWarning, warn_caller
from rankadapters.core.presets.label_rules import LABEL_RULES


def warn_of_labels(queries: Queries, conventions: Iterable[Convention]) -> None:
    """Warn of judged labels that a preset's own tool refuses or changes, or that make no measure of this kind."""
    for message in label_doubts(queries, conventions).values():
        warn_caller(message, LabelsWarning)


def label_doubts(
    queries: Queries, conventions: Iterable[Convention], *, in_parts: bool = False
) -> dict[Convention, str]:
    """Say, by convention, what `warn_of_labels` warns of.

    Parameters
    ----------
    queries : Queries
        The data, or a part of it.
    conventions : iterable of Convention
        Those that the labels are for.
    in_parts : bool
        Whether the queries are a part of the data, so that a row's number says nothing.
    """
    labels = queries.labels if queries.judged is None else np.where(queries.judged, queries.labels, 0.0)
    found = {convention: next(_doubts(labels, convention), None) for convention in conventions}
    return {
        convention: f"{_first(labels, doubt[0], in_parts=in_parts)}, {doubt[1]}"
        for convention, doubt in found.items()
        if doubt is not None
    }


def _doubts(labels: Floats, convention: Convention) -> Iterator[tuple[Flags, str]]:
    """Yield which labels are meant, and why."""
    for kind, tool in _rules(convention):
        bad = _of_kind(labels, kind)
        if bad.any():
            hint = (
                "labels come before scores; where these labels are meant, ra.parse(str(convention)) is the convention "
                "without the program's name, which warns of nothing"
            )
            yield bad, f"which {tool}. {convention.name} gives a number that this program never prints.\nHint: {hint}."
    doubt = convention.doubt(labels)
    if doubt is not None:
        yield doubt


def _rules(convention: Convention) -> tuple[tuple[str, str], ...]:
    """Rules of the preset that the convention was made of, while its formula is the preset's."""
    if convention.preset is None:
        return ()
    name, preset = convention.preset
    formula = [field for field, kind in convention.declared().items() if kind.group == "value"]
    same = all(getattr(convention, field) == getattr(preset, field) for field in formula)
    return LABEL_RULES.get(name, ()) if same else ()


def _of_kind(labels: Floats, kind: str) -> Flags:
    word, bound = border(kind) or (kind, 0.0)
    found: Flags = {"fractional": labels != np.floor(labels), "above": labels > bound, "below": labels < bound}[word]
    return found


def _first(labels: Floats, bad: Flags, *, in_parts: bool) -> str:
    row = int(np.argmax(bad))
    return f"{'a label' if in_parts else f'labels[{row}]'} is {labels[row]:g}"
