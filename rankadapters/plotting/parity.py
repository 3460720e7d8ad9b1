"""What each query contributes to the difference of two numbers, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankadapters.core.errors import InputError, MissingToolkitError

INCHES_PER_BAR = 0.3


def contributions(bars: Sequence[tuple[str, float]], *, title: str, ax: Any = None) -> Any:
    """Draw contributions to a difference, the first on top.

    Parameters
    ----------
    bars : sequence of (str, float)
        Name and contribution of each query.
    title : str
        What differs.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        There is no bar to draw.
    MissingToolkitError
        matplotlib is not installed.
    """
    if not bars:
        msg = "no query contributes to the difference, so there is nothing to draw.\nHint: report.ok says so too."
        raise InputError(msg)
    if ax is None:
        ax = _new_axes(len(bars))
    names, parts = zip(*bars, strict=True)
    places = range(len(bars))
    ax.barh(places, parts, color=["tab:blue" if part > 0 else "tab:orange" for part in parts])
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(xlabel="contribution to the difference of the means", ylabel="query", title=title)
    return ax


def _new_axes(n_bars: int) -> Any:
    try:
        from matplotlib.figure import Figure  # not pyplot, which would keep the figure and pick a window system
    except ImportError as error:
        raise MissingToolkitError.of("matplotlib", "plot") from error
    return Figure(figsize=(7, 1.5 + INCHES_PER_BAR * n_bars), layout="constrained").subplots()
