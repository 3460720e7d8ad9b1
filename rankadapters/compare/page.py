"""One page about methods over data sets: winning numbers, fronts, and what one left-out data set or measure changes."""

from __future__ import annotations

from collections.abc import Iterator

from rankadapters.compare.fronts import AGAINST, Front, front
from rankadapters.compare.left_out import LeaveOneOut, leave_one_out
from rankadapters.compare.results import Results
from rankadapters.compare.winning import AXES, WinningNumbers, winning_numbers
from rankadapters.plotting.svg import inline_svg
from rankadapters.statistics.page import Chart, Page, Section


def page(results: Results, *, title: str = "Methods over data sets", strict: bool = False) -> str:
    """Write a page that needs nothing else: no network, no script, no file beside it.

    Parameters
    ----------
    results : Results
        What was measured.
    title : str
        What the page is called.
    strict : bool
        As in `front`.

    Returns
    -------
    str
        HTML. The same results give the same page.

    Raises
    ------
    MissingToolkitError
        jinja2, matplotlib or adjustText is not installed.
    """
    template = Page()
    numbers = winning_numbers(results)
    n_methods, n_datasets, n_measures, n_values = (
        f"{n} {what}{'s' * (n != 1)}"
        for n, what in (
            (len(results.methods), "method"), (len(results.datasets), "data set"), (len(results.measures), "measure"),
            (len(results), "value"),
        )
    )  # fmt: skip
    summary = f"{n_methods} on {n_datasets} by {n_measures}: {n_values}."
    return template.write(title, summary, _sections(results, numbers, strict=strict))


def _sections(results: Results, numbers: WinningNumbers, *, strict: bool) -> Iterator[Section]:
    tables = [numbers.table()]
    if len(results.measures) > 1:
        tables.append(numbers.group_table())
    yield Section(
        name="winning", heading="Winning numbers", tables=tuple(tables), paragraphs=tuple(numbers.notes()),
    )  # fmt: skip
    found = [front(numbers, against=against, strict=strict) for against in AGAINST]
    yield Section(
        name="fronts", heading="Fronts", charts=tuple(map(_front_chart, found)),
        tables=tuple(block for each in found for block in each.blocks() if not isinstance(block, str)),
        paragraphs=(str(found[0].blocks()[-1]),),
    )  # fmt: skip
    named = tuple(dict.fromkeys(name for each in found for name in (*each.first, *each.second)))
    for over in AXES:
        if len(getattr(results, f"{over}s")) > 1:
            yield _left_out(leave_one_out(results, over=over), named)
    declared = {c.name: str(c) for c in results.conventions if c is not None}
    if declared:
        yield Section(
            name="signatures", heading="Signatures", signatures=declared,
            paragraphs=("A signature says everything that decides the value; ra.parse reads it back.",),
        )  # fmt: skip


def _front_chart(found: Front) -> Chart:
    what = AGAINST[found.against]
    title = f"Normalised winning number and {what}"
    description = f"Rank 1: {', '.join(found.first)}. Rank 2: {', '.join(found.second) or 'none'}."
    name = f"front-{found.against}"
    return Chart(inline_svg(found.plot(), name=name, title=title, description=description), f"{title}. {description}")


def _left_out(found: LeaveOneOut, methods: tuple[str, ...]) -> Section:
    heading = f"One {'data set' if found.over == 'dataset' else found.over} left out"
    described = []
    for method in methods:
        median = found.bagplot(method).median
        described.append(f"{method} {median[1]:.4f} at {median[0]:g}")
    title = f"{heading}: the methods of the fronts"
    description = f"A panel per method; medians: {', '.join(described)}."
    svg = inline_svg(found.plot(methods), name=f"left-out-{found.over}", title=title, description=description)
    tables = tuple(block for block in found.blocks() if not isinstance(block, str))
    return Section(name=f"without-{found.over}", heading=heading, tables=tables, charts=(Chart(svg, title),))
