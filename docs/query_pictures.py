"""Small pictures of the fields that act on whole queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ranking_pictures import AUC, PLAIN, falling
from strips import Box, Panel, Strip

import rankadapters as ra


def draw_queries(
    labels: Sequence[Sequence[float]], conv: ra.Convention, title: str, *, weights: Sequence[float] = (), **columns: Any
) -> Panel:
    """Draw queries below value other with their values and the mean."""
    flat, sizes = [label for query in labels for label in query], [len(query) for query in labels]
    scores = np.concatenate([falling(size) for size in sizes])
    weighted = {"query_weight": weights} if len(weights) and conv.average != "uniform" else {}
    evaluator = ra.Evaluator(flat, conv, group_sizes=sizes, **weighted, **columns)
    retrieved = np.split(np.asarray(columns.get("retrieved", [True] * len(flat))), np.cumsum(sizes)[:-1])
    strips = []
    for index, (query, ndcg) in enumerate(zip(labels, evaluator.per_query(scores), strict=True)):
        boxes = [
            Box(label, absent=not is_retrieved) for label, is_retrieved in zip(query, retrieved[index], strict=True)
        ]
        alone = conv.average == "query-except-empty" and not any(query)
        weight = f"{weights[index]:g} x " if len(weights) and not alone else ""
        strips.append(Strip(boxes, text="left out" if np.isnan(ndcg) else f"{weight}{ndcg:.2f}"))
    return Panel(title, strips, f"mean {evaluator.evaluate(scores).value:.3f}")


def short() -> list[Panel]:
    """The field short."""
    labels = [[0, 1, 1], [1], [2, 0]]
    return [draw_queries(labels, PLAIN.replace(k=3, short=value), value) for value in ("pad", "zero", "skip")]


def empty() -> list[Panel]:
    """The field empty."""
    labels = [[0, 1, 1], [0, 0], [2, 0]]
    values = (0, 0.5, 1, "skip")
    return [draw_queries(labels, PLAIN.replace(empty=value), f"empty={value}") for value in values]


def missing() -> list[Panel]:
    """The field missing."""
    labels, retrieved = [[0, 1, 1], [1, 0]], [True, True, True, False, False]
    return [
        draw_queries(labels, PLAIN.replace(missing=value), value, retrieved=retrieved) for value in ("zero", "skip")
    ]


def pool() -> list[Panel]:
    """The field pool."""
    labels = [[0, 1], [1, 0, 0, 0]]
    panels = []
    for value in ("queries", "pairs", "rows"):
        conv = AUC.replace(pool=value)
        flat, sizes, scores = [0, 1, 1, 0, 0, 0], [2, 4], [6, 5, 4, 3, 2, 1]
        if value == "rows":
            strips = [Strip([Box(label) for label in flat])]
        else:
            right = ra.Evaluator(flat, AUC, group_sizes=sizes).per_query(scores)
            counts = [sum(query) * (len(query) - sum(query)) for query in labels]
            texts = [
                f"{ndcg * count:.0f} of {count}" if value == "pairs" else f"{ndcg:.2f}"
                for ndcg, count in zip(right, counts, strict=True)
            ]
            strips = [
                Strip([Box(label) for label in query], text=text) for query, text in zip(labels, texts, strict=True)
            ]
        result = ra.evaluate(flat, scores, conv, group_sizes=sizes)
        panels.append(Panel(value, strips, f"AUC {result.value:.3f}"))
    return panels


def count() -> list[Panel]:
    """The field count."""
    labels, panels = [0, 1, 1, 0, 1], []
    for value, text in {"first": "1/2", "all": "(1/2 + 1/3) / 3", "found": "(1/2 + 1/3) / 2"}.items():
        conv = ra.parse("ranx.mrr@4").replace(count=value)
        strip = Strip([Box(label, out=rank >= 4) for rank, label in enumerate(labels)], text=text)  # noqa: PLR2004 - k
        result = ra.evaluate(labels, falling(len(labels)), conv, group_sizes=[len(labels)])
        panels.append(Panel(value, [strip], f"RR {result.value:.3f}"))
    return panels


def average() -> list[Panel]:
    """The field average."""
    labels, weights = [[0, 1, 1], [0, 0], [2, 0]], [3, 2, 1]
    panels = []
    for value in ("uniform", "query", "query-except-empty", "geometric_0.01"):
        query_weights = weights if value.startswith("query") else []
        panels.append(draw_queries(labels, PLAIN.replace(average=value, empty=1), value, weights=query_weights))
    return panels
