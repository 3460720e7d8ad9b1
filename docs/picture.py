"""The picture at the top of the README and of the site: four toolkits' numbers, why two differ, and one for all.

`python docs/picture.py` draws `docs/numbers.svg` anew, and for phones `docs/numbers-narrow.svg`, whose panels are below
each other. A test fails if they differ from what the package computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

import rankadapters as ra

FILE = Path(__file__).parent / "numbers.svg"
NARROW = FILE.with_name("numbers-narrow.svg")
TOOLKITS = {"sklearn": "scikit-learn", "lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
FIRST, LAST, COMMON = "sklearn", "catboost", "textbook@10"
FEATURE = 16  # of the README's generated data; it has three values, so that many scores are tied

HEIGHT = 330  # of a panel
MARGIN, PANEL, STEP, COLUMN = 26, 295, 70, 48  # pixels; a panel has four columns
GROUND, SCALE = 272, 232  # where columns start, and the height of the value 1
# Okabe & Ito's colors, which color-blind readers can distinguish, as in every plot of the package.
COLORS = {"sklearn": "#E69F00", "lightgbm": "#0072B2", "xgboost": "#56B4E9", "catboost": "#CC79A7"}
UP, DOWN = "#009E73", "#D55E00"
# The picture has a ground of its own, so that it can be read on a page of any color.
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; text-anchor: middle }
.title { font-size: 16px; font-weight: 600; text-anchor: start }
.about { fill: #59636e; text-anchor: start }
.name { font-size: 12px }
.note { fill: #59636e; font-size: 11px }
.value { font-weight: 600 }
.ground { fill: #ffffff; stroke: #d1d9e0 }
.line { stroke: #818b98 }
.step { stroke: #818b98; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .about, .note { fill: #9198a1 }
  .ground { fill: #0d1117; stroke: #3d444d }
}
"""


class Column(NamedTuple):
    """A column from `start` to `end`, with a text above it and two lines below it."""

    name: str
    text: str
    start: float
    end: float
    color: str
    note: str = ""


Panel = tuple[str, str, list[Column]]  # a title, what the columns are, and the columns


def panels() -> list[Panel]:
    """Compute what the picture shows."""
    _, test = ra.datasets.mq2008_like(random_state=0)
    labels, scores, qid = test.labels, test.X[:, FEATURE], test.qid
    own = ra.evaluate(labels, scores, [f"{name}@10" for name in TOOLKITS], qid=qid)
    common = ra.evaluate(labels, scores, COMMON, qid=qid).value
    parts = ra.audit.explain(labels, scores, f"{FIRST}@10", f"{LAST}@10", qid=qid)
    return [
        (
            "Same scores, four toolkits",
            "NDCG@10 by the rules of each",
            list(toolkit_columns(score.value for score in own.values())),
        ),
        ("Why two of them differ", "each rule's part of the difference", list(waterfall(parts))),
        ("One declared convention", f"{COMMON} in each of them", list(toolkit_columns([common] * len(TOOLKITS)))),
    ]


def toolkit_columns(values: Iterable[float]) -> Iterator[Column]:
    """Yield a column for each toolkit."""
    for (name, shown), value in zip(TOOLKITS.items(), values, strict=True):
        yield Column(shown, f"{value:.4f}", 0, value, COLORS[name])


def waterfall(explanation: ra.audit.Explanation) -> Iterator[Column]:
    """Yield the columns from the first value to the second: the largest part first, and the zeros left out."""
    first, second = explanation.a, explanation.b
    fields, value = first.convention.declared(), first.value
    yield Column(TOOLKITS[FIRST], f"{value:.4f}", 0, value, COLORS[FIRST])
    for name, part in sorted(explanation.contributions.items(), key=lambda item: -abs(item[1])):
        if part:
            values = " → ".join(fields[name].spell(getattr(end.convention, name)) for end in (first, second))
            yield Column(name, f"{part:+.4f}", value, value + part, UP if part > 0 else DOWN, values)
            value += part
    yield Column(TOOLKITS[LAST], f"{second.value:.4f}", 0, second.value, COLORS[LAST])


def drawn(panels: list[Panel], *, narrow: bool = False) -> str:
    """Draw the panels side by side, or below each other."""
    across, down = (1, len(panels)) if narrow else (len(panels), 1)
    width, whole = 2 * MARGIN - 37 + PANEL * across, HEIGHT * down
    parts = [f'<rect class="ground" x="0.5" y="0.5" width="{width - 1}" height="{whole - 1}" rx="8"/>']
    for number, (title, about, columns) in enumerate(panels):
        left = MARGIN + PANEL * (number % across)
        if narrow:
            parts.append(f'<g transform="translate(0 {HEIGHT * number})">')
        right = left + STEP * (len(columns) - 1) + COLUMN
        parts += [text(left, 36, title, "title"), text(left, 58, about, "about")]
        parts += [part for index, column in enumerate(columns) for part in drawn_column(column, left + STEP * index)]
        if any(column.note for column in columns):  # a waterfall: join the end of a column and the start of the next
            ends = [(left + STEP * index + COLUMN, height(column.end)) for index, column in enumerate(columns[:-1])]
            parts += [f'<path class="step" d="M{x} {y}h{STEP - COLUMN}"/>' for x, y in ends]
        parts.append(f'<path class="line" d="M{left - 6} {GROUND + 0.5}H{right + 6}"/>')
        parts += ["</g>"] * narrow
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{whole}" viewBox="0 0 {width} {whole}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def drawn_column(column: Column, left: int) -> Iterator[str]:
    """Yield a column, the text above it, and the lines below the ground."""
    top, bottom = sorted((height(column.start), height(column.end)))
    middle = left + COLUMN // 2
    yield f'<rect x="{left}" y="{top}" width="{COLUMN}" height="{bottom - top:.1f}" rx="2" fill="{column.color}"/>'
    yield text(middle, top - 8, column.text, "value")
    yield text(middle, GROUND + 20, column.name, "name")
    if column.note:
        yield text(middle, GROUND + 38, column.note, "note")


def height(value: float) -> float:
    """Return where a value is, in pixels from the top."""
    return round(GROUND - SCALE * value, 1)


def text(x: float, y: float, words: str, kind: str) -> str:
    """Return a line of text."""
    return f'<text class="{kind}" x="{x}" y="{y:.1f}">{escape(words)}</text>'


if __name__ == "__main__":
    FILE.write_text(drawn(panels()), encoding="utf-8")
    NARROW.write_text(drawn(panels(), narrow=True), encoding="utf-8")
