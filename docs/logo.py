"""The logo, the icon of the site's pages, and the card that shows the site in a message or a post.

`python docs/logo.py` draws `docs/_static/logo.svg`, `logo-dark.svg`, `icon.svg` and `card.png`.
"""

from __future__ import annotations

from math import log2
from pathlib import Path

import matplotlib.pyplot as plt  # noqa: TID253 - nothing imports this program

STATIC = Path(__file__).parent / "_static"
BARS = [1 / log2(1 + rank) for rank in range(1, 6)]  # the discounts of NDCG
COLORS = ["#009e73", "#808080", "#009e73", "#808080", "#d55e00"]
INK, PAPER = {"logo": "#1f2328", "logo-dark": "#e6edf3"}, "#ffffff"


def draw_bars(axes: plt.Axes) -> None:
    """Draw the discounts as bars, from the first rank down."""
    axes.barh(range(len(BARS)), BARS, color=COLORS, height=0.7)
    axes.invert_yaxis()
    axes.axis("off")


def draw_logo(name: str) -> None:
    """Write the bars beside the name of the package."""
    figure = plt.figure(figsize=(3.6, 0.8))
    draw_bars(figure.add_axes((0.0, 0.08, 0.2, 0.84)))
    figure.text(0.24, 0.47, "rankadapters", color=INK[name], size=25, weight="bold", va="center")
    figure.savefig(STATIC / f"{name}.svg", transparent=True, metadata={"Date": None})


def draw_icon() -> None:
    """Write the bars alone."""
    figure = plt.figure(figsize=(0.8, 0.8))
    draw_bars(figure.add_axes((0.05, 0.05, 0.9, 0.9)))
    figure.savefig(STATIC / "icon.svg", transparent=True, metadata={"Date": None})


def draw_card() -> None:
    """Write the name and the purpose of the package, 1200 by 630 pixels."""
    figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
    draw_bars(figure.add_axes((0.06, 0.2, 0.2, 0.6)))
    figure.text(0.32, 0.62, "rankadapters", color=INK["logo"], size=64, weight="bold", va="center")
    figure.text(0.32, 0.44, "One NDCG, under a convention that you declare,", color=INK["logo"], size=21, va="center")
    figure.text(0.32, 0.35, "in scikit-learn, LightGBM, XGBoost and CatBoost", color=INK["logo"], size=21, va="center")
    figure.savefig(STATIC / "card.png", metadata={"Software": None})


if __name__ == "__main__":
    plt.rcParams |= {"svg.fonttype": "path", "svg.hashsalt": "rankadapters"}
    for logo in INK:
        draw_logo(logo)
    draw_icon()
    draw_card()
