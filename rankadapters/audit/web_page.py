"""Write the web page of the audits: models under conventions, parts of gaps, values by cutoff, and the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack

import numpy as np

from rankadapters.audit.evaluation import evaluate_usable
from rankadapters.audit.explanation import explain_pair
from rankadapters.audit.models import ModelScores, as_models, score_models
from rankadapters.audit.order_report import OrderReport, Progress, compare_models
from rankadapters.audit.ordering import order
from rankadapters.audit.profiling import describe_queries
from rankadapters.audit.segment_order_report import SegmentOrderReport, compare_segments
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration.arguments import text
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import PAGE, shows_call
from rankadapters.core.docstrings import describes
from rankadapters.evaluation.score import Score, signatures
from rankadapters.evaluation.table import Table, fixed
from rankadapters.plotting.plots import curves
from rankadapters.progress import shows
from rankadapters.statistics.cells import signed
from rankadapters.statistics.grid import has_cutoff
from rankadapters.statistics.page import Part, Picture, write_page
from rankadapters.statistics.significance import checked_resampling

CONFIDENCE = 0.95  # of the intervals
CUTOFFS = range(1, 21)
SPOKEN = (1, 5, 10, 20)  # cutoffs that the descriptions name

Models = Mapping[str, tuple[Queries, object]]  # the queries and the scores of each model


@describes_columns
@describes(order)
@shows_call(PAGE)
@shows("making the page")
def page(
    labels: object,
    scores: Mapping[str, object] | object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    by: object = None,
    title: str = "Ranking report",
    n_resamples: int = 9999,
    random_state: int | np.random.Generator | np.random.RandomState = 0,
    progress: Progress | None = None,
    **columns: Unpack[Columns],
) -> str:
    """Return a self-contained HTML page: it needs no network, no script and no other file.

    For two or more models it begins with a sentence: which is better, by how much, and in how many segments `by`. The
    segments, the results of `order`, the values of each model at the cutoffs 1 to 20 and the results of `profile`
    follow; then the gap between the first convention and each other one, as split by `explain`, and the conventions.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries, or mapping of str to Queries
        Relevance labels. Pass a Queries for each model if the models retrieved different rows of the same queries.
    scores : mapping of str to array-like, shape (n_docs,), or matrix or table, shape (n_docs, n_models)
        Scores of the models, by name; with `by`, of at least two.
    convention : Convention or str, or sequence of these, or mapping of str to these
        The conventions of the values; the first one decides the sentence.
    by, n_resamples, random_state, progress
        As in `order`.
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
        There is no model, or with `by` only one; the numbers of rows differ, a convention has no value on the data, or
        no query was scored for every model.
    MissingToolkitError
        matplotlib is not installed.

    References
    ----------
    Busa-Fekete, Szarvas, Élteto, Kégl (2012), An apple-to-apple comparison of learning-to-rank algorithms in terms of
    normalized discounted cumulative gain, Figure 1, for NDCG against the cutoff.
    """
    text("title", title)
    n_resamples, _, seed = checked_resampling(n_resamples, CONFIDENCE, random_state)
    scores_by_model = as_models(scores)
    queries = labels if isinstance(labels, Mapping) else as_queries(labels, **columns)
    model_scores = score_models(queries, scores_by_model, convention, None, {}, least=1 if by is None else 2)
    by_model = queries if isinstance(queries, Mapping) else dict.fromkeys(scores_by_model, queries)
    models = {name: (by_model[name], predicted) for name, predicted in scores_by_model.items()}
    n_models, n_conventions = len(models), len(model_scores.conventions)
    summary = (
        f"{n_models} model{'s' * (n_models > 1)} under {n_conventions} convention{'s' * (n_conventions > 1)}, "
        f"over {model_scores.n_queries} queries."
    )
    own_queries = any(map(model_scores.n_scored, model_scores.conventions))
    if own_queries:
        summary += " The models scored different queries: gaps and curves are over the queries that each model scored."
    options: dict[str, Any] = {"n_resamples": n_resamples, "confidence": CONFIDENCE, "seed": seed, "progress": progress}
    sections: dict[str, Iterable[Part]] = {"": [summary]}
    if n_models > 1:
        report = compare_models(model_scores, **options)
        compared = report if by is None else compare_segments(model_scores, by, **options)
        sections[""] = [compared.verdict(), summary, Picture(compared.plot(), "The difference", compared.outcome())]
        if isinstance(compared, SegmentOrderReport):
            sections["Segments of queries"] = _parts(compared)
        sections["Models"] = _parts(report)
    else:
        sections["Models"] = [_values_of_one_model(model_scores)]
    with_cutoff = [c for c in model_scores.conventions if has_cutoff(type(c))]
    if with_cutoff:
        advice = (
            "compare neither models nor cutoffs"
            if own_queries
            else "compare models at one cutoff, not cutoffs of a model"
        )
        sections["Value against the cutoff"] = [
            f"Each point is a different measure: {advice}.",
            *(_curves(name, *models[name], with_cutoff, model_scores.scores[name]) for name in models),
        ]
    sections["The data"] = _data(models, model_scores)
    if n_conventions > 1:
        sections["Why the conventions differ"] = _gaps(models, model_scores)
    sections["Conventions"] = [signatures(model_scores.conventions)]
    return write_page(title, sections)


def _values_of_one_model(model_scores: ModelScores) -> Table:
    [(name, scores)], conventions = model_scores.scores.items(), model_scores.conventions
    line = (name, *(fixed(scores[c].value, 6) for c in conventions))
    return Table.of("Values", ("model", *(c.name for c in conventions)), [line])


def _parts(report: OrderReport | SegmentOrderReport) -> list[Part]:
    """Return the blocks of a report and its notes, without the signatures."""
    *blocks, _ = report.blocks()
    return [*blocks, *(f"Note: {note}" for note in report.notes)]


def _gaps(models: Models, model_scores: ModelScores) -> Iterator[Part]:
    first, *rest = model_scores.conventions
    for name, (queries, scores) in models.items():
        for second in (c for c in rest if c.measure == first.measure):
            gap = explain_pair(queries, scores, (first, second), measured=model_scores.measured[name])
            ends, values = f"from {first.name} to {second.name}", model_scores.values[name]
            all_equal = {first, second} <= {*values} and np.array_equal(values[first], values[second], equal_nan=True)
            yield f"{name}: {signed(gap.gap)} {ends}{', and every query has the same value' if all_equal else ''}."
            if not all_equal:
                yield gap.parts_table(f"{name}, {ends}: parts of the gap")
                parts = ", ".join(f"{field} {signed(part)}" for field, part in gap.contributions.items())
                described = f"Bars from {fixed(gap.a.value, 4)} to {fixed(gap.b.value, 4)}: {parts}."
                yield Picture(gap.plot(), f"{name}: {ends}", described)


def _curves(
    name: str, queries: Queries, scores: object, conventions: list[Convention], known_scores: Mapping[Convention, Score]
) -> Picture:
    values = evaluate_usable(queries, scores, (c.at(k) for c in conventions for k in CUTOFFS), known_scores)
    # Conventions that differ only in their cutoff share a line, which is named after the first of them.
    different = {c.at(CUTOFFS[0]): c for c in reversed(conventions)}
    lines = {}
    for convention in reversed(different.values()):
        points = [values.get(convention.at(k)) for k in CUTOFFS]
        lines[convention.name.partition("/")[2]] = [math.nan if point is None else point.value for point in points]
    y_name = ", ".join(f"{measure}@k" for measure in dict.fromkeys(c.measure.upper() for c in conventions))
    texts = (f"{label} {', '.join(f'{_spoken(line[k - 1])} at {k}' for k in SPOKEN)}" for label, line in lines.items())
    figure = curves(list(CUTOFFS), lines, "cutoff k", y_name, name)
    return Picture(figure, f"{name}: value against the cutoff", f"One line per convention. {'; '.join(texts)}.")


def _spoken(value: float) -> str:
    return "no value" if math.isnan(value) else fixed(value, 4)


def _data(models: Models, model_scores: ModelScores) -> list[Part]:
    name, (queries, scores) = next(iter(models.items()))
    cutoffs = [convention.get("k") for convention in model_scores.conventions]
    profile = describe_queries(queries, scores, type(model_scores.conventions[0]), cutoffs)
    return [profile, f"Ties and effects are those of {name}."]
