"""The data of a check: validated, brought into a toolkit's order and precision, read from what it takes and logs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.columns import refuse_non_finite, shared_index
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.fields import is_whole
from rankadapters.core.gains import gains_of
from rankadapters.core.keywords import Columns
from rankadapters.core.presets.tool import require_convention
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.ranked import Discounted

Array = NDArray[Any]


def bind(labels: object, scores: object, convention: Convention, columns: Columns) -> tuple[Queries, Array]:
    """Validate what every `check_parity` is given.

    Raises
    ------
    InputError
        The data has no value under the convention.
    """
    require_convention(convention)
    queries = as_queries(labels, **columns)
    array = queries.check_scores(scores)
    refuse_non_finite("scores", array)
    value_of(queries, array, convention)
    return queries, array


def in_order(queries: Queries, **columns: Any) -> tuple[Queries, Any]:
    """Bring the rows of each query together, as toolkits want them: the queries, and which rows of the caller's.

    `labels` and `query_weight` may be given as a toolkit holds them, in the caller's order of rows and of queries.
    """
    together, rows = queries.together()
    weights = columns.get("query_weight", queries.query_weight)
    labels = columns.get("labels", queries.labels)
    return together.with_labels(labels[rows]).with_weights(weights, row_weight=together.row_weight), rows


def as_judged(data: Any) -> tuple[Any, Queries]:
    """Read `(X, labels, qid)` or `(X, labels, qid, query_weight)`: the features, and the queries."""
    if not isinstance(data, tuple) or len(data) not in {3, 4}:
        msg = f"data is {data!r:.60}; allowed are (X, labels, qid) and (X, labels, qid, query_weight)."
        raise InputError(msg)
    features, labels, qid, *weight = data
    shared_index({"X": features, "labels": labels, "qid": qid})
    queries = Queries(labels, qid=qid, query_weight=weight[0] if weight else None)
    if len(features) != queries.n_docs:
        msg = f"X has {len(features)} rows but labels has {queries.n_docs}.\nHint: one label and one qid per row of X."
        raise InputError(msg)
    return features, queries


def as_float32(name: str, values: Array, toolkit: str) -> Array:
    """Round to float32 and back, as most toolkits hold labels and weights."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        place = int(np.argmin(np.isfinite(rounded)))
        what = f"{name}[{place}] is {values[place]:g}"
        msg = f"{what}, beyond float32, in which {toolkit} holds it.\nHint: rescale {name}."
        raise InputError(msg)
    return rounded


def rounds_until(iteration: object, trained: int, best: int) -> int:
    """How many rounds of a model are asked for: those up to an iteration, or up to its best, or all."""
    if iteration is None:
        return best if best > 0 else trained
    if not is_whole(iteration) or not 0 <= int(iteration) < trained:  # type: ignore[call-overload]
        msg = f"iteration={iteration!r}, but the model has the iterations 0 to {trained - 1}.\nHint: None is its best."
        raise InputError(msg)
    return int(iteration) + 1  # type: ignore[call-overload, no-any-return]


def logged_at(log: Any, dataset: str, metric: str, iteration: int) -> float:
    """Find what a training logged for a set."""
    if not log or dataset not in log:
        msg = f"the training logged no {dataset!r}, but {sorted(log or ())}.\nHint: log=, or the name it was given."
        raise InputError(msg)
    if metric not in log[dataset]:
        msg = (
            f"the log of {dataset!r} has {sorted(log[dataset])}, but not {metric!r}.\nHint: ra.<toolkit>.native_metric."
        )
        raise InputError(msg)
    return float(log[dataset][metric][iteration])


def refuse_other_gains(labels: Array, asked: Convention, own: Convention) -> None:
    """Refuse a model whose own parameters give some label of the data another gain than the convention does.

    Raises
    ------
    InputError
        Else its toolkit would be asked for a number that the model never had.
    """
    if not isinstance(asked, Discounted) or not isinstance(own, Discounted) or asked.gain == own.gain:
        return
    found = np.unique(labels)
    theirs, wanted = (gains_of(found, None, each.gain) for each in (own, asked))
    if not np.array_equal(theirs, wanted):
        label = int(np.argmax(theirs != wanted))
        msg = (
            f"the model was trained under gain={own.gain!r:.80}, of which label {found[label]:g} has "
            f"{theirs[label]:g}, not gain={asked.gain!r:.80}, of which it has {wanted[label]:g}: the model's own NDCG "
            f"is another.\nHint: declare {own}, or check_parity of the model's scores."
        )
        raise InputError(msg)


def refuse_retrieval(queries: Queries, toolkit: str) -> None:
    """Refuse columns that no training toolkit knows."""
    for name in ("retrieved", "judged"):
        if getattr(queries, name) is not None:
            msg = (
                f"these queries have {name}=, but to {toolkit} every row is retrieved and judged.\n"
                "Hint: Queries of the rows that are both."
            )
            raise InputError(msg)


def value_of(queries: Queries, scores: object, convention: Convention) -> float:
    """Our value; one above those of its queries is no surprise beside the toolkit's."""
    from rankadapters.core.panel import Panel  # brings numba

    return Panel(queries, [convention]).evaluate(scores)[convention].value
