"""Write one page about methods over data sets: winning numbers, leave-one-out winning numbers, and Pareto fronts."""

from __future__ import annotations

from collections.abc import Iterable

from rankadapters.compare.results import Results, counted
from rankadapters.compare.winning import AGAINST, AXES, Front, LeaveOneOut, front, leave_one_out, winning_numbers
from rankadapters.core.declaration.arguments import text
from rankadapters.statistics.page import Part, Picture, write_page


def page(results: Results, *, title: str = "Methods over data sets", strict: bool = False) -> str:
    """Return a self-contained HTML page: it needs no network, no script and no other file.

    Parameters
    ----------
    results : Results
        The results to show.
    title : str
        The title of the page.
    strict : bool
        As in `front`.

    Returns
    -------
    str
        HTML. The same results give the same page.

    Raises
    ------
    MissingToolkitError
        matplotlib or adjustText is not installed.
    """
    text("title", title)
    numbers = winning_numbers(results)
    size = (
        f"{counted(len(results.methods), 'method')} on {counted(len(results.datasets), 'data set')} by "
        f"{counted(len(results.measures), 'measure')}: {counted(len(results), 'value')}."
    )
    fronts = [front(numbers, against=against, strict=strict) for against in AGAINST]
    sections: dict[str, Iterable[Part]] = {
        "": [size],
        "Winning numbers": [numbers],
        "Fronts": [part for result in fronts for part in (result, _front_picture(result))],
    }
    named = list(dict.fromkeys(name for result in fronts for name in (*result.first, *result.second)))
    for over, noun in zip(AXES, ("measure", "data set"), strict=True):
        if named and len(getattr(results, f"{over}s")) > 1:
            sections[f"One {noun} left out"] = _left_out(leave_one_out(results, over=over), noun, named)
    signatures = [f"{c.name}: {c}" for c in results.conventions if c is not None]
    if signatures:
        about = "A signature says everything that decides the value; ra.parse reads it back."
        sections["Signatures"] = [about, "\n".join(signatures)]
    return write_page(title, sections)


def _front_picture(result: Front) -> Picture:
    description = f"Rank 1: {', '.join(result.first)}. Rank 2: {', '.join(result.second) or 'none'}."
    return Picture(result.plot(), f"Normalized winning number and {AGAINST[result.against]}", description)


def _left_out(result: LeaveOneOut, noun: str, methods: list[str]) -> list[Part]:
    medians = {method: result.bagplot(method).median for method in methods}
    listed = ", ".join(f"{method} {y:.4f} at {x:g}" for method, (x, y) in medians.items())
    title = f"One {noun} left out: the methods of the fronts"
    return [result, Picture(result.plot(methods), title, f"A panel per method; medians: {listed}.")]
