"""CatBoost: a convention as its metric string, and its own numbers held against ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import refuse_non_finite
from rankadapters.core.convention import Convention, Discounted
from rankadapters.core.errors import InputError, MissingToolkitError, UnsupportedConventionError
from rankadapters.core.evaluator import evaluate
from rankadapters.core.fields import table
from rankadapters.core.queries import Queries, as_queries
from rankadapters.parity import (
    FULL_DOUBLE,
    ParityReport,
    ParityRow,
    differing,
    relative,
    require_expressible,
    spelled,
)

try:
    import catboost as cb
    from catboost.utils import eval_metric
except ImportError as error:
    raise MissingToolkitError.of("catboost", "catboost") from error

Floats = NDArray[np.float64]

TYPES = {"linear": "Base", "exp2": "Exp"}
DENOMINATORS = {"log2": "LogPosition", "reciprocal": "Position"}
LARGEST_TOP = 2**31 - 1


def native_metric(convention: Convention, *, group_weights: bool = True) -> str:
    """Translate a convention into CatBoost's metric string.

    The string serves `catboost.utils.eval_metric`, `model.eval_metrics`, and `eval_metric=` or `custom_metric=` of
    `CatBoostRanker`, with one exception: in a training CatBoost refuses `use_weights` (how `average="uniform"` is
    said) unless the Pool has object weights, which no NDCG uses. CatBoost rewrites the string where it makes it a
    key of its results.

    Parameters
    ----------
    convention : Convention
        What CatBoost shall compute.
    group_weights : bool
        Whether the data may have group weights. False leaves `use_weights` out, which a training needs; CatBoost then
        weights no query as long as there are indeed no group weights.

    Returns
    -------
    str
        An `NDCG` or `DCG` with every parameter that matters spelled out.

    Raises
    ------
    UnsupportedConventionError
        CatBoost cannot express a field; the message names all such fields and the nearest convention that it can.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, dcg.cpp.

    Examples
    --------
    >>> from rankadapters import presets
    >>> native_metric(presets.catboost(10, type="Exp"))
    'NDCG:top=10;type=Exp;denominator=LogPosition'
    >>> native_metric(presets.catboost(None, use_weights=False))
    'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
    """
    nearest = _nearest(convention)
    require_expressible("CatBoost", convention, nearest)
    return _spell(nearest, group_weights=group_weights)


def check_parity(
    labels: object,
    scores: object,
    convention: Convention,
    *,
    qid: object = None,
    group_sizes: object = None,
    query_weight: object = None,
) -> ParityReport:
    """Hold CatBoost's own value for these scores against ours.

    Where CatBoost cannot express the convention, the two are compared under the nearest that it can, and a second row
    states our value under the declared one and which fields differ.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better; finite (CatBoost itself counts a query with a NaN as 1).
    convention : Convention
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`.

    Returns
    -------
    ParityReport
        One row of CatBoost's value against ours, which must agree to 1e-9, or two rows.

    Raises
    ------
    InputError
        The data has no value under one of the conventions, or is nothing that CatBoost could be given.

    Notes
    -----
    CatBoost holds labels and group weights as float32. The comparison rounds ours likewise, and says so where it
    changes a value; the value under a convention that CatBoost cannot express is of the labels as given.

    Examples
    --------
    >>> from rankadapters import presets
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'not-comparable'])
    >>> [round(row.our_value, 4) for row in report.rows]
    [0.1738, 0.2246]
    """
    queries = as_queries(labels, qid=qid, group_sizes=group_sizes, query_weight=query_weight)
    nearest = _nearest(convention)
    _refuse_unlike_catboost(queries, nearest)
    values = queries.check_scores(scores)
    refuse_non_finite("scores", values)
    different = differing(convention, nearest)
    rows = [_compare(queries, values, nearest if different else convention, _spell(nearest))]
    if different:
        ours = evaluate(queries, scores, convention).value
        reason = f"CatBoost cannot express {spelled(different)}; the row above compares under the latter."
        rows.append(ParityRow.not_comparable("catboost", cb.__version__, convention, our_value=ours, reason=reason))
    return ParityReport(tuple(rows))


def _nearest(convention: Convention) -> Discounted:
    """Nearest convention that CatBoost can express."""
    if not isinstance(convention, Discounted):
        msg = f"CatBoost's metrics here are NDCG and DCG, not {convention!s:.80}.\nHint: ra.presets.catboost(10)."
        raise UnsupportedConventionError(msg)
    fields: dict[str, Any] = {
        "k": convention.k if convention.k is None or convention.k <= LARGEST_TOP else None,
        "gain": _nearest_gain(convention.gain),
        "discount": convention.discount if convention.discount in DENOMINATORS else "log2",
        "ties": "worst",
        "precision": "float64",
        "short": "pad",
        "average": "uniform" if convention.average == "uniform" else "query",
        "ideal": "cutoff",
        "empty": 1,
    }
    return convention.replace(**{name: value for name, value in fields.items() if name in convention.fields()})


def _nearest_gain(gain: str) -> str:
    gains = table(gain)
    linear = gain.startswith("linear") or gains == tuple(range(len(gains or ())))
    return "linear" if linear else "exp2"


def _spell(convention: Discounted, *, group_weights: bool = True) -> str:
    # Every parameter is spelled out: a later default cannot change the meaning. top=0 would give 1.0, top=-1 is all.
    top = -1 if convention.k is None else convention.k
    parts = [f"top={top}", f"type={TYPES[convention.gain]}", f"denominator={DENOMINATORS[convention.discount]}"]
    if convention.average == "uniform" and group_weights:
        parts.append("use_weights=false")
    return f"{convention.measure.upper()}:{';'.join(parts)}"


def _refuse_unlike_catboost(queries: Queries, nearest: Discounted) -> None:
    """Refuse what CatBoost would take as something else, or take where our definition does not."""
    for name in ("retrieved", "judged"):
        if getattr(queries, name) is not None:
            msg = (
                f"these queries have {name}=, but to CatBoost every row is retrieved and judged.\n"
                "Hint: Queries of the rows that are both."
            )
            raise InputError(msg)
    negative = queries.labels < 0
    if nearest.gain == "exp2" and negative.any():
        row = int(np.argmax(negative))
        msg = (
            f"labels[{row}] is {queries.labels[row]:g}, negative: CatBoost's type=Exp counts 2^label - 1 < 0 for it, "
            "our exp2 refuses it.\nHint: gain='linear' (type=Base) takes negative labels as they are."
        )
        raise InputError(msg)


def _compare(queries: Queries, scores: NDArray[Any], convention: Convention, metric: str) -> ParityRow:
    held, rounded = _as_held(queries)
    ours = evaluate(held, scores, convention).value
    reason = f"{' and '.join(rounded)} rounded to float32, as CatBoost holds them." if rounded else ""
    return ParityRow.compare(
        f"catboost.utils.eval_metric {metric}", cb.__version__, convention,
        value=_ask(held, scores, metric), our_value=ours, tolerance=relative(FULL_DOUBLE, ours), reason=reason,
    )  # fmt: skip


def _as_held(queries: Queries) -> tuple[Queries, list[str]]:
    """The queries as CatBoost holds them, and which columns that changed."""
    labels, weights = _as_float32("labels", queries.labels), queries.query_weight
    rounded = [] if (labels == queries.labels).all() else ["labels"]
    if weights is not None:
        weights = _as_float32("query_weight", weights)
        rounded += [] if (weights == queries.query_weight).all() else ["query_weight"]
    query_of_row = np.repeat(np.arange(queries.n_queries), np.diff(queries.indptr))
    if queries.order is not None:
        query_of_row[queries.order] = query_of_row.copy()
    return Queries(labels, qid=query_of_row, query_weight=weights), rounded


def _as_float32(name: str, values: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        place = int(np.argmin(np.isfinite(rounded)))
        what = f"{name}[{place}] is {values[place]:g}"
        msg = f"{what}, beyond float32, in which CatBoost holds it.\nHint: rescale {name}."
        raise InputError(msg)
    return rounded


def _ask(queries: Queries, scores: NDArray[Any], metric: str) -> float:
    """CatBoost's own value; it wants the rows of a query together, and group weights by row."""
    rows = slice(None) if queries.order is None else queries.order
    by_row = np.repeat(np.arange(queries.n_queries), np.diff(queries.indptr))
    weights = None if queries.query_weight is None else queries.query_weight[by_row]
    approx = scores[rows].astype(np.float64)
    [value] = eval_metric(queries.labels[rows], approx, metric, group_id=by_row, group_weight=weights)
    return float(value)
