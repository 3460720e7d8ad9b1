"""Write the web page of the audits: models under conventions, parts of gaps, curves, and signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

import numpy as np

from rankadapters.audit.explanation import explain_pair
from rankadapters.audit.models import ModelScores, as_models, score_models
from rankadapters.audit.ordering import OrderReport, Progress, compare_models
from rankadapters.audit.profiling import describe_queries
from rankadapters.audit.web_page.charts import cutoff_curves, query_scatter, waterfall_chart
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.table import Table
from rankadapters.progress import shows
from rankadapters.statistics.cells import signed
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.page import Page, Section
from rankadapters.statistics.significance import checked_resampling

CONFIDENCE = 0.95  # confidence level of the intervals


@shows("making the page")
def page(
    labels: object,
    scores: Mapping[str, object] | object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    title: str = "Ranking report",
    n_resamples: int = 9999,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> str:
    """Return a self-contained HTML page: it needs no network, no script and no other file.

    It shows the models under the conventions and, for two or more models, the results of `order`. For each model it
    shows the gap between the first convention and each other convention, as split by `explain`, the value of every
    query under both, and the values at the cutoffs 1 to 20. The results of `profile` and the signatures follow.

    Parameters
    ----------
    labels, scores, convention, n_resamples, random_state, progress
        As in `order`; a single model is enough.
    title : str
        The title of the page.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    str
        HTML; the same for the same input.

    Raises
    ------
    InputError
        As in `order`.
    MissingToolkitError
        jinja2 or matplotlib is not installed.

    References
    ----------
    Busa-Fekete, Szarvas, Élteto, Kégl (2012), An apple-to-apple comparison of learning-to-rank algorithms in terms of
    normalized discounted cumulative gain, Figure 1, for NDCG against the cutoff.
    """
    template = Page()
    n_resamples, _, seed = checked_resampling(n_resamples, CONFIDENCE, random_state)
    models = as_models(scores)
    queries = labels if isinstance(labels, Mapping) else as_queries(labels, **columns)
    model_scores = score_models(queries, models, convention, None, {}, least=1)
    report = None
    if len(models) > 1:
        report = compare_models(
            model_scores, n_resamples=n_resamples, confidence=CONFIDENCE, seed=seed, progress=progress
        )
    queries_by_model = {name: queries[name] if isinstance(queries, Mapping) else queries for name in models}
    sections = _sections(queries_by_model, models, model_scores, report)
    n_conventions = len(model_scores.conventions)
    summary = (
        f"{len(models)} model{'s' * (len(models) > 1)} under {n_conventions} "
        f"convention{'s' * (n_conventions > 1)}, over {model_scores.n_queries} queries."
    )
    return template.write(title, summary, sections)


def _sections(
    queries: Mapping[str, Queries], models: Mapping[str, object], model_scores: ModelScores, report: OrderReport | None
) -> Iterable[Section]:
    yield _values(model_scores, report)
    if report is not None:
        yield _order(report)
    if len(model_scores.conventions) > 1:
        yield _gaps(queries, models, model_scores)
    yield _curves(queries, models, model_scores)
    yield _data(queries, models, model_scores)
    yield Section(
        name="signatures", heading="Signatures",
        paragraphs=("A signature states everything that decides the value; ra.parse reads it back.",),
        signatures={convention.name: str(convention) for convention in model_scores.conventions},
    )  # fmt: skip


def _values(model_scores: ModelScores, report: OrderReport | None) -> Section:
    if report is not None:
        table = report.values_table()
    else:
        [(name, scores)] = model_scores.scores.items()
        line = (name, *(f"{scores[c].value:.6f}" for c in model_scores.conventions))
        table = Table.of("Values", ("model", *(c.name for c in model_scores.conventions)), [line])
    return Section(name="values", heading="Models and conventions", tables=(table,))


def _order(report: OrderReport) -> Section:
    tables = [report.correlation_table()] if len(report.conventions) > 1 else []
    tables.append(report.pair_table())
    return Section(
        name="order", heading="Does the convention change who wins?", paragraphs=(report.outcome(), *report.notes),
        tables=tuple(tables),
    )  # fmt: skip


def _gaps(queries: Mapping[str, Queries], models: Mapping[str, object], model_scores: ModelScores) -> Section:
    first, *rest = model_scores.conventions
    comparable = [second for second in rest if second.measure == first.measure]
    tables, charts, paragraphs = [], [], []
    for number, (name, scores) in enumerate(models.items()):
        for position, second in enumerate(comparable):
            gap = explain_pair(queries[name], scores, (first, second), measured=model_scores.measured[name])
            x, y = (model_scores.values[name].get(convention) for convention in (first, second))
            all_equal = x is not None and y is not None and np.array_equal(x, y, equal_nan=True)
            suffix = ", and every query has the same value" if all_equal else ""
            paragraphs.append(f"{name}: {signed(gap.gap)} from {first.name} to {second.name}{suffix}.")
            if all_equal:
                continue
            tables.append(gap.parts_table(f"{name}, {first.name} to {second.name}: parts of the gap"))
            charts.append(waterfall_chart(gap, name, f"gap-{number}-{position}"))
            if x is not None and y is not None:
                charts.append(query_scatter(x, y, (first.name, second.name), name, f"queries-{number}-{position}"))
    return Section(
        name="gaps", heading="Why the conventions differ", paragraphs=tuple(paragraphs), tables=tuple(tables),
        charts=tuple(charts),
    )  # fmt: skip


def _curves(queries: Mapping[str, Queries], models: Mapping[str, object], model_scores: ModelScores) -> Section:
    cut = any(has_cutoff(type(convention)) for convention in model_scores.conventions)
    charts = [
        cutoff_curves(queries[name], scores, model_scores.scores[name], name, f"curve-{number}")
        for number, (name, scores) in enumerate(models.items())
        if cut
    ]
    return Section(
        name="cutoffs", heading="Value against the cutoff", charts=tuple(charts),
        paragraphs=("Each point is a different measure: compare models at one cutoff, not cutoffs of a model.",),
    )  # fmt: skip


def _data(queries: Mapping[str, Queries], models: Mapping[str, object], model_scores: ModelScores) -> Section:
    name, scores = next(iter(models.items()))
    cutoffs = [getattr(convention, "k", None) for convention in model_scores.conventions]
    data_profile = describe_queries(queries[name], scores, type(model_scores.conventions[0]), cutoffs)
    return Section(
        name="data", heading="The data",
        paragraphs=(*data_profile.sentences(), f"Ties and effects are those of {name}."),
        warnings=data_profile.warnings, tables=data_profile.tables(),
    )  # fmt: skip
