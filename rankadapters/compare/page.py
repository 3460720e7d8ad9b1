"""Write one page about methods over data sets: winning numbers, leave-one-out winning numbers, and Pareto fronts."""

from __future__ import annotations

from collections.abc import Iterator

from rankadapters.compare.fronts import AGAINST, Front, front
from rankadapters.compare.left_out import LeaveOneOut, leave_one_out
from rankadapters.compare.results import Results
from rankadapters.compare.winning import AXES, WinningNumbers, winning_numbers
from rankadapters.core.declaration.arguments import text
from rankadapters.plotting.svg import inline_svg
from rankadapters.statistics.page import Chart, Page, Section


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
        jinja2, matplotlib or adjustText is not installed.
    """
    text("title", title)
    template = Page()
    numbers = winning_numbers(results)
    n_methods, n_datasets, n_measures, n_values = (
        f"{n} {noun}{'s' * (n != 1)}"
        for n, noun in (
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
    all_fronts = [front(numbers, against=against, strict=strict) for against in AGAINST]
    yield Section(
        name="fronts", heading="Fronts", charts=tuple(map(_front_chart, all_fronts)),
        tables=tuple(block for result in all_fronts for block in result.blocks() if not isinstance(block, str)),
        paragraphs=(str(all_fronts[0].blocks()[-1]),),
    )  # fmt: skip
    named = tuple(dict.fromkeys(name for result in all_fronts for name in (*result.first, *result.second)))
    for over in AXES:
        if len(getattr(results, f"{over}s")) > 1:
            yield _left_out(leave_one_out(results, over=over), named)
    signatures = {c.name: str(c) for c in results.conventions if c is not None}
    if signatures:
        yield Section(
            name="signatures", heading="Signatures", signatures=signatures,
            paragraphs=("A signature says everything that decides the value; ra.parse reads it back.",),
        )  # fmt: skip


def _front_chart(result: Front) -> Chart:
    axis = AGAINST[result.against]
    title = f"Normalized winning number and {axis}"
    description = f"Rank 1: {', '.join(result.first)}. Rank 2: {', '.join(result.second) or 'none'}."
    name = f"front-{result.against}"
    return Chart(inline_svg(result.plot(), name=name, title=title, description=description), f"{title}. {description}")


def _left_out(result: LeaveOneOut, methods: tuple[str, ...]) -> Section:
    heading = f"One {'data set' if result.over == 'dataset' else result.over} left out"
    medians = []
    for method in methods:
        median = result.bagplot(method).median
        medians.append(f"{method} {median[1]:.4f} at {median[0]:g}")
    title = f"{heading}: the methods of the fronts"
    description = f"A panel per method; medians: {', '.join(medians)}."
    svg = inline_svg(result.plot(methods), name=f"left-out-{result.over}", title=title, description=description)
    tables = tuple(block for block in result.blocks() if not isinstance(block, str))
    return Section(name=f"without-{result.over}", heading=heading, tables=tables, charts=(Chart(svg, title),))
