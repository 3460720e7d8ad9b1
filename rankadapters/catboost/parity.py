"""CatBoost's own number for given scores, held against ours."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from rankadapters.catboost.data import CATBOOST, as_held, ask, refuse_negative, refuse_pairs, weights_of_rows
from rankadapters.catboost.metrics import read_metric
from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.inert import counted
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import Held, ParityReport, ParityRow, Route, differing, spelled
from rankadapters.parity.checking import compare, compare_value
from rankadapters.parity.data import bind, refuse_retrieval, value_of

ROUTE = "catboost.utils.eval_metric"


def check_parity(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    qid: object = None,
    group_sizes: object = None,
    query_weight: object = None,
    group_weight: object = None,
    weight: object = None,
    metrics: Iterable[str] | None = None,
    **other: Never,
) -> ParityReport:
    """Hold CatBoost's own value for these scores against ours.

    Where CatBoost cannot express the convention, the two are compared under the nearest that it can, and a second row
    states our value under the declared one: equal where nothing in the data depends on the fields that CatBoost cannot
    express, else with these fields.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better. A NaN, which CatBoost takes, is no error here but a row that says what
        CatBoost makes of it.
    convention : Convention or str
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`.
    group_weight : float array, shape (n_docs,), optional
        CatBoost's own form of `query_weight`, one per row.
    weight : float array, shape (n_docs,), optional
        CatBoost's object weights, which its NDCG and DCG ignore; the report says so.
    metrics : iterable of str, optional
        CatBoost's metric strings to check in place of the nearest to `convention`.

    Returns
    -------
    ParityReport
        A row of CatBoost's value against ours, which must agree to 1e-9, for every metric asked for; then, unless that
        was the declared convention, a row that states it.

    Raises
    ------
    InputError
        The data has no value under one of the conventions, or is nothing that CatBoost could be given.

    Notes
    -----
    CatBoost holds labels and group weights as float32. All comparisons round ours likewise, and say so where that
    changes a value; a value that is only stated, under a convention that CatBoost cannot express, is of such labels
    too.

    Examples
    --------
    >>> from rankadapters import presets
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'not-comparable'])
    >>> [round(row.our_value, 4) for row in report.rows]
    [0.1738, 0.2246]
    """
    convention = as_convention(convention)
    refuse_other_names(other, GROUPS)
    queries, extra, notes = _queries(
        labels, {"qid": qid, "group_sizes": group_sizes, "query_weight": query_weight}, group_weight, weight
    )
    refuse_retrieval(queries, "CatBoost")
    nearest = presets.catboost.nearest(convention)
    refuse_pairs(nearest)
    array = queries.check_scores(scores)
    if np.isnan(array).any():
        return _nan_report(as_held(queries, array, *notes), array, nearest)
    refuse_negative(queries, nearest)
    queries, array = bind(queries, array, convention, {})
    held = as_held(queries, array, *notes)
    if metrics is not None:
        return _check_metrics(held, convention, metrics, extra)
    route = Route(
        source=f"{ROUTE} {presets.catboost.spell(nearest)}", ask=partial(_ask, presets.catboost.spell(nearest), extra)
    )
    return compare(CATBOOST, [route], held, declared=convention, nearest=nearest)


def _queries(
    labels: object, columns: dict[str, object], group_weight: object, weight: object
) -> tuple[Queries, dict[str, Any], list[str]]:
    """Bind the queries with CatBoost's own weights: what it is given besides, and what is to be said of them."""
    queries = as_queries(labels, **columns)
    extra: dict[str, Any] = {}
    notes = []
    if group_weight is not None:
        if queries.query_weight is not None:
            msg = "query_weight and group_weight say the same, by query and by row.\nHint: give one of them."
            raise InputError(msg)
        weights, varies = weights_of_rows(group_weight, queries)
        if varies is not None:
            notes.append(
                f"group_weight varies within query {queries.query_ids[varies]}: catboost.utils.eval_metric silently "
                "takes each query's first row's, and so does our value here; a Pool refuses such weights."
            )
            extra["group_weight"] = queries.by_query(np.asarray(group_weight, np.float64))
        queries = queries.with_weights(weights)
    if weight is not None:
        extra["weight"] = queries.by_query(np.asarray(weight, np.float64))
        notes.append("weight= holds object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts.")
    return queries, extra, notes


def _ask(metric: str, extra: dict[str, Any], queries: Queries, scores: NDArray[Any]) -> float:
    whole = extra if all(len(column) == queries.n_docs for column in extra.values()) else {}
    return ask(queries, scores, metric, **whole)


def _check_metrics(held: Held, declared: Convention, metrics: Iterable[str], extra: dict[str, Any]) -> ParityReport:
    if isinstance(metrics, str):
        msg = f"metrics={metrics!r:.80} is one string.\nHint: metrics=[{metrics!r:.80}]."
        raise InputError(msg)
    rows = [_metric_row(held, declared, metric, extra) for metric in metrics]
    unmet = [row.source for row in rows if row.verdict == "not-comparable"]
    if declared not in [row.convention for row in rows if row.verdict == "equal"]:
        different = differing(declared, presets.catboost.nearest(declared))
        why = f"CatBoost cannot express {spelled(different)}." if different else "CatBoost can express it."
        nearest = presets.catboost.spell(presets.catboost.nearest(declared))
        reason = f"None of the metrics above is the declared convention. {why}\nThe nearest: {nearest}"
        ours = value_of(held.queries, held.scores, declared)
        rows.append(ParityRow.not_comparable("catboost", CATBOOST.version, declared, our_value=ours, reason=reason))
    return ParityReport(tuple(rows), f"not compared: {', '.join(unmet)}" if unmet else "")


def _metric_row(held: Held, declared: Convention, metric: str, extra: dict[str, Any]) -> ParityRow:
    """Compare under what one metric string means; what CatBoost would misread or ours refuses is said, not compared."""
    source = f"{ROUTE} {metric}"
    stated = partial(ParityRow.not_comparable, source, CATBOOST.version)
    try:
        convention = read_metric(metric)
    except ConventionError as error:
        ours = value_of(held.queries, held.scores, declared)
        return stated(declared, our_value=ours, reason=f"CatBoost was not asked: {error}")
    value = _ask(metric, extra, held.queries, held.scores)
    try:
        refuse_negative(held.queries, convention)
    except InputError as error:
        return stated(convention, value=value, our_value=None, reason=str(error))
    queries = counted(held.queries, convention)
    other = declared.diff(convention)
    notes = (*held.notes, f"Declared is {spelled(other)}.") if other else held.notes
    whole = Held(queries=queries, scores=held.scores, notes=notes)
    return compare_value(source, CATBOOST.version, whole, convention, value=value)


def _nan_report(held: Held, scores: NDArray[Any], nearest: Convention) -> ParityReport:
    metric = presets.catboost.spell(nearest)
    reason = (
        f"scores[{np.argmax(np.isnan(scores))}] is NaN, which has no place in an order, so we refuse it. To CatBoost "
        "it is neither above nor below any score, so they stay where its sort happens to leave them: a query of NaN "
        "counts 1 when its labels descend in the data, and another number for the same rows in another order."
    )
    stated = ParityRow.not_comparable(
        f"{ROUTE} {metric}", CATBOOST.version, nearest,
        value=ask(held.queries, held.scores, metric), our_value=None, reason=reason,
    )  # fmt: skip
    return ParityReport((stated,), "the scores hold NaN")
