"""Small pictures of the fields that act on whole queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ranking_pictures import AUC, PLAIN, falling
from strips import Box, Panel, Strip

import rankadapters as ra


def several(
    labels: Sequence[Sequence[float]], conv: ra.Convention, title: str, *, weights: Sequence[float] = (), **columns: Any
) -> Panel:
    """Draw queries below each other with their values and the mean."""
    flat, sizes = [each for query in labels for each in query], [len(query) for query in labels]
    scores = np.concatenate([falling(size) for size in sizes])
    weighted = {"query_weight": weights} if len(weights) and conv.average != "uniform" else {}
    evaluator = ra.Evaluator(flat, conv, group_sizes=sizes, **weighted, **columns)
    held = np.split(np.asarray(columns.get("retrieved", [True] * len(flat))), np.cumsum(sizes)[:-1])
    strips = []
    for place, (query, one) in enumerate(zip(labels, evaluator.per_query(scores), strict=True)):
        boxes = [Box(label, absent=not there) for label, there in zip(query, held[place], strict=True)]
        alone = conv.average == "query-except-empty" and not any(query)
        weight = f"{weights[place]:g} x " if len(weights) and not alone else ""
        strips.append(Strip(boxes, text="left out" if np.isnan(one) else f"{weight}{one:.2f}"))
    return Panel(title, strips, f"mean {evaluator.evaluate(scores).value:.3f}")


def short() -> list[Panel]:
    """The field short."""
    labels = [[0, 1, 1], [1], [2, 0]]
    return [several(labels, PLAIN.replace(k=3, short=each), each) for each in ("pad", "zero", "skip")]


def empty() -> list[Panel]:
    """The field empty."""
    labels = [[0, 1, 1], [0, 0], [2, 0]]
    values = (0, 0.5, 1, "skip")
    return [several(labels, PLAIN.replace(empty=each), f"empty={each}") for each in values]


def missing() -> list[Panel]:
    """The field missing."""
    labels, retrieved = [[0, 1, 1], [1, 0]], [True, True, True, False, False]
    return [several(labels, PLAIN.replace(missing=each), each, retrieved=retrieved) for each in ("zero", "skip")]


def pool() -> list[Panel]:
    """The field pool."""
    labels = [[0, 1], [1, 0, 0, 0]]
    panels = []
    for each in ("queries", "pairs", "rows"):
        conv = AUC.replace(pool=each)
        flat, sizes, scores = [0, 1, 1, 0, 0, 0], [2, 4], [6, 5, 4, 3, 2, 1]
        if each == "rows":
            strips = [Strip([Box(label) for label in flat])]
        else:
            right = ra.Evaluator(flat, AUC, group_sizes=sizes).per_query(scores)
            counts = [sum(query) * (len(query) - sum(query)) for query in labels]
            texts = [
                f"{one * count:.0f} of {count}" if each == "pairs" else f"{one:.2f}"
                for one, count in zip(right, counts, strict=True)
            ]
            strips = [
                Strip([Box(label) for label in query], text=text) for query, text in zip(labels, texts, strict=True)
            ]
        result = ra.evaluate(flat, scores, conv, group_sizes=sizes)
        panels.append(Panel(each, strips, f"AUC {result.value:.3f}"))
    return panels


def average() -> list[Panel]:
    """The field average."""
    labels, weights = [[0, 1, 1], [0, 0], [2, 0]], [3, 2, 1]
    panels = []
    for each in ("uniform", "query", "query-except-empty", "geometric_0.01"):
        kept = weights if each.startswith("query") else []
        panels.append(several(labels, PLAIN.replace(average=each, empty=1), each, weights=kept))
    return panels
