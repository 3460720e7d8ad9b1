"""One page that shows what the audits find: models under conventions, gaps and their parts, curves, signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

import numpy as np

from rankadapters.audit.explanation.gap import explained
from rankadapters.audit.models import ModelScores, as_models, score_models
from rankadapters.audit.ordering.ordering import Progress, compared
from rankadapters.audit.ordering.report import OrderReport
from rankadapters.audit.profiling.profiling import described
from rankadapters.audit.web_page.charts import cutoff_curves, query_scatter, waterfalls
from rankadapters.core.data.keywords import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.table import Table
from rankadapters.progress import shows
from rankadapters.statistics.cells import signed
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.page import Page, Section
from rankadapters.statistics.paired_tests import checked_resampling

CONFIDENCE = 0.95  # of the intervals


@shows("making the page")
def page(
    labels: object,
    models: Mapping[str, object] | object,
    conventions: Iterable[Convention | str] | str,
    *,
    title: str = "Ranking report",
    n_resamples: int = 9999,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> str:
    """Write a page that needs nothing else: no network, no script, no file beside it.

    It shows the models under the conventions and, with two models or more, what `order` says of them; for each model
    the gap between the first convention and each other one, as `explain` splits it, and the value of every query under
    the two; the value at the cutoffs 1 to 20; what `profile` says of the data; and the signatures.

    Parameters
    ----------
    labels, models, conventions, n_resamples, random_state, progress
        As in `order`; a single model will do.
    title : str
        What the page is called.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    str
        HTML. The same input gives the same page.

    Raises
    ------
    InputError
        As in `order`.
    MissingToolkitError
        jinja2, matplotlib or scipy is not installed.

    References
    ----------
    Busa-Fekete, Szarvas, Élteto, Kégl (2012), An apple-to-apple comparison of learning-to-rank algorithms in terms of
    normalized discounted cumulative gain, Figure 1, for NDCG against the cutoff.
    """
    template = Page()
    n_resamples, _, seed = checked_resampling(n_resamples, CONFIDENCE, random_state)
    several = as_models(models)
    queries = labels if isinstance(labels, Mapping) else as_queries(labels, **columns)
    found = score_models(queries, several, conventions, None, {}, least=1)
    report = None
    if len(several) > 1:
        report = compared(found, n_resamples=n_resamples, confidence=CONFIDENCE, seed=seed, progress=progress)
    each = {name: queries[name] if isinstance(queries, Mapping) else queries for name in several}
    sections = _sections(each, several, found, report)
    summary = (
        f"{len(several)} model{'s' * (len(several) > 1)} under {len(found.conventions)} "
        f"convention{'s' * (len(found.conventions) > 1)}, over {found.n_queries} queries."
    )
    return template.write(title, summary, sections)


def _sections(
    each: Mapping[str, Queries], models: Mapping[str, object], found: ModelScores, report: OrderReport | None
) -> Iterable[Section]:
    yield _values(found, report)
    if report is not None:
        yield _order(report)
    if len(found.conventions) > 1:
        yield _gaps(each, models, found)
    yield _curves(each, models, found)
    yield _data(each, models, found)
    yield Section(
        name="signatures", heading="Signatures",
        paragraphs=("A signature says everything that decides the value; ra.parse reads it back.",),
        signatures={convention.name: str(convention) for convention in found.conventions},
    )  # fmt: skip


def _values(found: ModelScores, report: OrderReport | None) -> Section:
    if report is not None:
        table = report.values_table()
    else:
        [(name, scores)] = found.scores.items()
        line = (name, *(f"{scores[c].value:.6f}" for c in found.conventions))
        table = Table.of("Values", ("model", *(c.name for c in found.conventions)), [line])
    return Section(name="values", heading="Models and conventions", tables=(table,))


def _order(report: OrderReport) -> Section:
    tables = [report.correlation_table()] if len(report.conventions) > 1 else []
    if report.changes:
        tables.append(report.change_table())
    return Section(
        name="order", heading="Does the convention change who wins?", paragraphs=(report.outcome(), *report.notes),
        tables=tuple(tables),
    )  # fmt: skip


def _gaps(each: Mapping[str, Queries], models: Mapping[str, object], found: ModelScores) -> Section:
    first, *others = found.conventions
    others = [other for other in others if other.measure == first.measure]  # the others have no gap to explain
    tables, charts, paragraphs = [], [], []
    for number, (name, scores) in enumerate(models.items()):
        for place, other in enumerate(others):
            gap = explained(each[name], scores, (first, other), known=found.measured[name])
            x, y = (found.values[name].get(convention) for convention in (first, other))
            same = x is not None and y is not None and np.array_equal(x, y, equal_nan=True)
            every = ", and every query has the same value" if same else ""
            paragraphs.append(f"{name}: {signed(gap.gap)} from {first.name} to {other.name}{every}.")
            if same:
                continue
            tables.append(gap.parts_table(f"{name}, {first.name} to {other.name}: parts of the gap"))
            charts.append(waterfalls(gap, name, f"gap-{number}-{place}"))
            if x is not None and y is not None:
                charts.append(query_scatter(x, y, (first.name, other.name), name, f"queries-{number}-{place}"))
    return Section(
        name="gaps", heading="Why the conventions differ", paragraphs=tuple(paragraphs), tables=tuple(tables),
        charts=tuple(charts),
    )  # fmt: skip


def _curves(each: Mapping[str, Queries], models: Mapping[str, object], found: ModelScores) -> Section:
    cut = any(has_cutoff(type(convention)) for convention in found.conventions)
    charts = [
        cutoff_curves(each[name], scores, found.scores[name], name, f"curve-{number}")
        for number, (name, scores) in enumerate(models.items())
        if cut
    ]
    return Section(
        name="cutoffs", heading="Value against the cutoff", charts=tuple(charts),
        paragraphs=("Each point is a measure of its own: compare models at one cutoff, not one model at several.",),
    )  # fmt: skip


def _data(each: Mapping[str, Queries], models: Mapping[str, object], found: ModelScores) -> Section:
    name, scores = next(iter(models.items()))
    cutoffs = [getattr(convention, "k", None) for convention in found.conventions]
    seen = described(each[name], scores, type(found.conventions[0]), cutoffs)
    return Section(
        name="data", heading="The data", paragraphs=(seen.size, f"Ties and effects are those of {name}."),
        warnings=seen.warnings, tables=seen.tables(),
    )  # fmt: skip
