"""Small pictures of rankings as SVG: boxes in the order of rank, bars of the amounts they add, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLUMNS, PANEL = 3, 152  # panels in a row, and their width; three fit a phone at a legible size
BOX, STEP, LINE, BAR = 22, 25, 17, 44
MARGIN = 8
SHADES = ("#ffffff", "#cfe3f1", "#86b9da", "#3d8fc4")  # of the labels 0, 1, 2, and 3 or more


@dataclass(frozen=True)
class Box:
    """A document: its label, and whether it counts."""

    label: float | str
    out: bool = False  # it does not count
    absent: bool = False  # it is not in the ranking
    under: str = ""


@dataclass(frozen=True)
class Strip:
    """Documents in the order of rank, with bars of the amounts they add, and a text on the right."""

    boxes: Sequence[Box]
    bars: Sequence[float] = ()
    text: str = ""
    ties: Sequence[tuple[int, int]] = ()  # first and last position of rows with equal scores
    arcs: Sequence[tuple[int, int]] = ()

    def height(self) -> int:
        """Return the height in pixels."""
        above = (BAR + LINE if self.bars else 0) + (BAR // 2 if self.arcs else 0)
        below = (LINE if any(box.under for box in self.boxes) else 0) + (6 if self.ties else 0)
        return above + BOX + below + 8


@dataclass(frozen=True)
class Panel:
    """One value of a field: its strips and the resulting number."""

    title: str
    strips: Sequence[Strip]
    result: str
    notes: Sequence[str] = ()

    def height(self) -> int:
        """Return the height in pixels."""
        return LINE * (2 + len(self.notes)) + 10 + sum(strip.height() for strip in self.strips)


def draw(panels: Sequence[Panel]) -> str:
    """Draw panels side by side, black on white; `site.css` inverts them on a dark page."""
    rows = [panels[first : first + COLUMNS] for first in range(0, len(panels), COLUMNS)]
    top, parts = MARGIN, []
    most = max((bar for panel in panels for strip in panel.strips for bar in strip.bars), default=1)
    for row in rows:
        parts += [_panel(panel, MARGIN + PANEL * index, top, most) for index, panel in enumerate(row)]
        top += max(panel.height() for panel in row) + MARGIN
    width = 2 * MARGIN + PANEL * COLUMNS
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}">'
    ground = f'<rect width="{width}" height="{top}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(describe(panels))}</title>", ground, *parts, "</svg>"]) + "\n"


def describe(panels: Sequence[Panel]) -> str:
    """Describe panels, for readers who cannot see them."""
    return "; ".join(
        f"{panel.title}: {', '.join(map(_describe_strip, panel.strips))}, {panel.result}" for panel in panels
    )


def _describe_strip(strip: Strip) -> str:
    words = [f"{box.label}{' (out)' if box.out else ' (not retrieved)' if box.absent else ''}" for box in strip.boxes]
    return f"labels {' '.join(words)} {strip.text}".rstrip()


def _panel(panel: Panel, left: int, top: int, most: float) -> str:
    parts = [_text(left, top + 13, panel.title, bold=True)]
    top += LINE + 6
    for strip in panel.strips:
        parts.append(_strip(strip, left, top, most))
        top += strip.height()
    parts += [_text(left, top + 12 + LINE * line, note) for line, note in enumerate([panel.result, *panel.notes])]
    return "\n".join(parts)


def _strip(strip: Strip, left: int, top: int, most: float) -> str:
    parts = []
    if strip.bars:
        top += BAR + LINE
        parts += [_bar(bar, left + STEP * index, top - 3, most) for index, bar in enumerate(strip.bars)]
    if strip.arcs:
        top += BAR // 2
        parts += [_arc(left, top - 2, *ends) for ends in strip.arcs]
    parts += [_box(box, left + STEP * index, top) for index, box in enumerate(strip.boxes)]
    if strip.text:
        parts.append(_text(left + STEP * len(strip.boxes) + 4, top + 16, strip.text))
    for first, last in strip.ties:
        points = (left + STEP * first, top + BOX + 4, left + STEP * last + BOX)
        parts.append(f'<path d="M{points[0]} {points[1]}H{points[2]}" stroke="#D55E00" stroke-width="3"/>')
    return "\n".join(parts)


def _box(box: Box, left: int, top: int) -> str:
    shade = SHADES[min(max(int(box.label), 0), 3)] if not isinstance(box.label, str) else SHADES[0]
    dashes = ' stroke-dasharray="3 2"' if box.absent else ""
    square = f'<rect x="{left}" y="{top}" width="{BOX}" height="{BOX}" fill="{shade}" stroke="#444444"{dashes}/>'
    under = _text(left + BOX / 2, top + BOX + 14, box.under, middle=True) if box.under else ""
    inside = _text(left + BOX / 2, top + 16, _short(box.label), middle=True)
    return f'<g opacity="{0.3 if box.out else 1}">{square}{inside}{under}</g>'


def _bar(height: float, left: int, bottom: int, most: float) -> str:
    pixels = round(BAR * height / most, 1)
    bar = f'<rect x="{left}" y="{bottom - pixels}" width="{BOX}" height="{pixels}" fill="#0072B2"/>'
    return bar + _text(
        left + BOX / 2, bottom - pixels - 4, f"{height:.2f}".rstrip("0").rstrip("."), middle=True, size=10
    )


def _arc(left: int, top: int, first: int, second: int) -> str:
    begin, end = (left + STEP * index + BOX / 2 for index in (first, second))
    curve = f"M{begin} {top}Q{(begin + end) / 2} {top - 12 * abs(second - first)} {end} {top}"
    return f'<path d="{curve}" fill="none" stroke="#D55E00"/>'


def _text(x: float, y: float, text: str, *, bold: bool = False, middle: bool = False, size: int = 13) -> str:
    style = f"{'bold ' if bold else ''}{size}px {'monospace' if bold else 'sans-serif'}"
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text x="{x}" y="{y}" style="font: {style}"{anchor}>{escape(text)}</text>'


def _short(label: float | str) -> str:
    return label if isinstance(label, str) else f"{label:g}"
