"""Small pictures of the fields that act on one ranking."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from strips import Box, Panel, Strip

import rankadapters as ra

PLAIN = ra.NDCG(
    k=None,
    gain="linear",
    discount="log2",
    ideal="cutoff",
    ties="input",
    precision="float64",
    short="pad",
    empty=0,
    missing="error",
    unjudged="error",
    average="uniform",
)
AP = ra.parse("lightgbm.map@3+empty=0+average=uniform").replace(k=None)
AUC = ra.parse("lightgbm.auc+empty=0+pool=queries+average=uniform+pairs=label")


def falling(n: int) -> np.ndarray:
    """Return scores that keep the order of n rows."""
    return np.arange(n, 0, -1.0)


def added(labels: Sequence[float], convention: ra.NDCG, scores: Any = None) -> list[float]:
    """Return the amount that each rank adds to DCG."""
    fields = {name: getattr(convention, name) for name in ra.DCG.fields() if name != "k"}
    n = len(labels)
    scores = falling(n) if scores is None else scores
    at = [ra.evaluate(labels, scores, ra.DCG(k=k, **fields), group_sizes=[n]).value for k in range(1, n + 1)]
    return [float(value) for value in np.diff([0.0, *at])]


def value(labels: Sequence[float], convention: ra.Convention, scores: Any = None, **columns: Any) -> str:
    """Write the value of one query under a convention."""
    columns = {"group_sizes": [len(labels)], **columns}
    score = ra.evaluate(labels, falling(len(labels)) if scores is None else scores, convention, **columns)
    return f"{type(convention).__name__} {score.value:.3f}"


def one_query(labels: Sequence[float], convention: ra.NDCG, title: str) -> Panel:
    """Draw a query with the amount that each rank adds."""
    bars = added(labels, convention)
    k = convention.k or len(labels)
    boxes = [Box(label, out=rank >= k) for rank, label in enumerate(labels)]
    return Panel(
        title, [Strip(boxes, [bar if rank < k else 0 for rank, bar in enumerate(bars)])], value(labels, convention)
    )


def cutoff() -> list[Panel]:
    """The field k."""
    return [one_query([1, 0, 2, 0, 1], PLAIN.replace(k=k), f"k={k}") for k in (1, 3, None)]


def gain() -> list[Panel]:
    """The field gain."""
    values = ("linear", "exp2", "table_0_1_5")
    return [one_query([1, 2, 0, 1], PLAIN.replace(gain=field_value), f"gain={field_value}") for field_value in values]


def discount() -> list[Panel]:
    """The field discount."""
    values = ("log2", "jk2", "reciprocal", "power_0.5")
    panels = []
    for field_value in values:
        conv = PLAIN.replace(discount=field_value)
        low = value([0, 0, 0, 0, 1], conv)
        panels.append(Panel(field_value, [Strip([Box(1)] * 5, added([1] * 5, conv))], f"last only: {low}"))
    return panels


def ideal() -> list[Panel]:
    """The field ideal."""
    labels, retrieved = [1, 0, 2, 1, 1], [True, True, False, False, False]
    ranking = Strip([Box(label, absent=not held) for label, held in zip(labels, retrieved, strict=True)])
    lists = {"cutoff": [2, 1, 1], "retrieved": [2, 1], "all": [2, 1, 1, 1, 0], "ones": [1, 1, 1]}
    lists |= {"retrieved-only": [1, 0], "top-only": [1, 0]}
    panels = []
    for field_value, best in lists.items():
        conv = PLAIN.replace(k=3, ideal=field_value)
        strip = Strip([Box(label) for label in best])
        panels.append(Panel(field_value, [ranking, strip], value(labels, conv, retrieved=retrieved)))
    return panels


def relevant() -> list[Panel]:
    """The field relevant."""
    conv = ra.parse("letor4.p@4")
    labels = [2, 1, 0, 1]
    panels = []
    for field_value, threshold in {"from_1": 1, "from_2": 2, "label": 0}.items():
        strip = Strip([Box(label, out=label < threshold) for label in labels])
        panels.append(Panel(field_value, [strip], value(labels, conv.replace(relevant=field_value))))
    return panels


def divisor() -> list[Panel]:
    """The field divisor."""
    labels = [1, 0, 1, 1, 1]
    panels = []
    for field_value, count in {"relevant": 4, "cutoff": 3, "found": 2}.items():
        conv = AP.replace(k=3, divisor=field_value)
        strip = Strip([Box(label, out=rank >= conv.k) for rank, label in enumerate(labels)], [1, 0, 2 / 3, 0, 0])
        panels.append(Panel(field_value, [strip], value(labels, conv), [f"sum / {count}"]))
    return panels


def pairs() -> list[Panel]:
    """The field pairs."""
    labels = [2, 0, 1, 1]
    panels = []
    for field_value in ("label", "from_2", "every-two"):
        border = float(field_value.partition("_")[2] or 0)
        counts: dict[str, Callable[[int, int], bool]] = {
            "label": lambda a, b: labels[a] != labels[b],
            "from_2": lambda a, b, border=border: (labels[a] >= border) != (labels[b] >= border),
            "every-two": lambda a, b: True,  # noqa: ARG005 - any two rows
        }
        arcs = [ends for ends in itertools.combinations(range(4), 2) if counts[field_value](*ends)]
        strip = Strip([Box(label) for label in labels], arcs=arcs)
        panels.append(
            Panel(field_value, [strip], value(labels, AUC.replace(pairs=field_value)), [f"{len(arcs)} pairs"])
        )
    return panels


def ties() -> list[Panel]:
    """The field ties."""
    labels, docids, scores = [1, 1, 0, 2], ["d", "c", "a", "b"], [9, 5, 5, 5]
    orders = {
        "input": [0, 1, 2, 3],
        "reverse": [0, 3, 2, 1],
        "best": [0, 3, 1, 2],
        "worst": [0, 2, 1, 3],
        "docid-ascending": [0, 2, 3, 1],
        "docid-descending": [0, 1, 3, 2],
    }
    panels = []
    for field_value, order in orders.items():
        boxes = [Box(labels[row], under=docids[row] if field_value.startswith("docid") else "") for row in order]
        strip = Strip(boxes, added([labels[row] for row in order], PLAIN), ties=[(1, 3)])
        panels.append(Panel(field_value, [strip], value(labels, PLAIN.replace(ties=field_value), scores, docid=docids)))
    conv = PLAIN.replace(ties="average")
    strip = Strip([Box(1), *[Box("⌀1")] * 3], added(labels, conv, scores), ties=[(1, 3)])
    panels.append(Panel("average", [strip], value(labels, conv, scores)))
    together = AP.replace(ties="together", relevant="from_1")
    strip = Strip([Box(1), Box(1), Box(0), Box(2)], ties=[(1, 3)])
    panels.append(Panel("together", [strip], value(labels, together, scores), ["the three at rank 4"]))
    return panels


def precision() -> list[Panel]:
    """The field precision."""
    labels, scores = [1, 0, 2], [0.3, 0.2, 0.2 + 1e-12]
    panels = []
    for field_value, order in {"float64": [0, 2, 1], "float32": [0, 1, 2]}.items():
        conv = PLAIN.replace(precision=field_value)
        strip = Strip([Box(labels[row]) for row in order], ties=[(1, 2)] if field_value == "float32" else [])
        panels.append(Panel(field_value, [strip], value(labels, conv, scores)))
    return panels


def retrieve() -> list[Panel]:
    """The field retrieve."""
    labels, scores = [1, 0, 1, 1], [0.9, 0.6, 0.5, 0.2]
    panels = []
    for field_value, border in {"all": -1.0, "from_0.5": 0.5, "above_0.5": 0.5000001}.items():
        boxes = [
            Box(label, out=score < border, under=f"{score}"[1:]) for label, score in zip(labels, scores, strict=True)
        ]
        panels.append(Panel(field_value, [Strip(boxes)], value(labels, AP.replace(retrieve=field_value), scores)))
    return panels


def unjudged() -> list[Panel]:
    """The field unjudged."""
    labels, judged = [2, 0, 1], [True, False, True]
    panels = []
    for field_value, boxes in {
        "zero": [Box(2), Box("?"), Box(1)],
        "drop": [Box(2), Box("?", out=True), Box(1)],
        "1": [Box(2), Box("1?"), Box(1)],
    }.items():
        conv = ra.parse(f"{PLAIN.at(3)}".replace("unjudged=error", f"unjudged={field_value}"))
        bars = {"zero": [2, 0, 1], "drop": [2, 1], "1": [2, 1, 1]}[field_value]
        adds = added(bars, PLAIN)
        shown = [adds[0], 0, adds[1]] if field_value == "drop" else adds
        panels.append(Panel(f"unjudged={field_value}", [Strip(boxes, shown)], value(labels, conv, judged=judged)))
    return panels
