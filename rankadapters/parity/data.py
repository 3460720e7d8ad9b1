"""The data of a check: validated, brought into a toolkit's order and precision, read from what it takes and logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankadapters.core.binding.gains import gains_of
from rankadapters.core.data.columns import refuse_non_finite, shared_index
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.measures.ranked import Discounted

Array = NDArray[Any]


def bind(queries: Queries, scores: object, convention: Convention) -> Array:
    """Validate what every check is given; return the scores.

    Raises
    ------
    InputError
        The data does not fit the convention.
    """
    array = queries.check_scores(scores)
    refuse_non_finite("scores", array)
    Panel(queries, [convention])
    return array


def as_judged(data: Any) -> tuple[Any, Queries]:
    """Read `(X, labels, qid)` or `(X, labels, qid, query_weight)`: the features, and the queries."""
    if not isinstance(data, tuple) or len(data) not in {3, 4}:
        msg = f"data is {data!r:.60}; allowed are (X, labels, qid) and (X, labels, qid, query_weight)."
        raise InputError(msg)
    features, labels, qid, *weight = data
    shared_index({"X": features, "labels": labels, "qid": qid})
    queries = Queries(labels, qid=qid, query_weight=weight[0] if weight else None)
    shape = getattr(features, "shape", None) or np.shape(features)  # of a sparse matrix too
    n_rows = shape[0] if shape else 0
    if n_rows != queries.n_docs:
        msg = f"X has {n_rows} rows but labels has {queries.n_docs}.\nHint: one label and one qid per row of X."
        raise InputError(msg)
    return features, queries


def ranker(model: Any, kind: type, title: str, hint: str, fit: str) -> Any:
    """Give back a toolkit's trained ranker, and refuse everything else."""
    if not isinstance(model, kind):
        msg = f"{type(model).__name__} is not a model of {title}.\nHint: an {hint} or a Booster."
        raise InputError(msg)
    if not model.__sklearn_is_fitted__():  # type: ignore[attr-defined]
        msg = f"the model is not trained, so it has no scores.\nHint: model.fit(X, y, {fit}) first."
        raise InputError(msg)
    return model


def as_float32(name: str, values: Array, toolkit: str) -> Array:
    """Round to float32 and back, as most toolkits hold labels and weights."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        place = int(np.argmin(np.isfinite(rounded)))
        what = f"{name}[{place}] is {values[place]:g}"
        msg = f"{what}, beyond float32, in which {toolkit} holds it.\nHint: rescale {name}."
        raise InputError(msg, row=place if name == "labels" else None)  # weights may be of queries
    return rounded


def rounds_until(iteration: object, trained: int, best: int, default: str = "best") -> int:
    """How many rounds of a model are asked for: those up to an iteration, or up to its best, or all."""
    if iteration is None:
        return best if best > 0 else trained
    if not is_whole(iteration) or not 0 <= int(iteration) < trained:
        has = f"the model has the iterations 0 to {trained - 1}"
        msg = f"iteration={iteration!r}, but {has}.\nHint: None is its {default}."
        raise InputError(msg)
    return int(iteration) + 1


def rescaled(rounds: int, trained: int, booster: str) -> tuple[str, ...]:
    """Say why the log of a DART model's earlier iteration is of other scores than its first trees give."""
    if booster != "dart" or rounds >= trained:
        return ()
    return (f"DART has rescaled the first {rounds} iterations' trees since, so a log of those is of other scores.",)


def logged_at(log: Any, dataset: str, metric: str) -> tuple[str, Any]:
    """Find what a training logged for a set: the metric's name there, and its values by round."""
    if log is not None and not isinstance(log, Mapping):
        msg = f"log={log!r:.60} is not what a training fills.\nHint: a dict of sets, of metrics, of values by round."
        raise InputError(msg)
    if not log or not isinstance(dataset, str) or dataset not in log:
        msg = f"the training logged no {dataset!r}, but {sorted(log or ())}.\nHint: log=, or the name it was given."
        raise InputError(msg)
    if metric not in log[dataset]:
        msg = (
            f"the log of {dataset!r} has {sorted(log[dataset])}, but not {metric!r}.\nHint: ra.<toolkit>.native_metric."
        )
        raise InputError(msg)
    return metric, log[dataset][metric]


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


def refuse_labels(queries: Queries, bad: Array, why: str, hint: str) -> None:
    """Refuse the labels of some rows, naming the caller's first such row."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"labels[{row}] is {queries.labels[row]:g}, {why}.\nHint: {hint}.", row=row)


def refuse_grades(queries: Queries, most: int, toolkit: str, where: str = "", hint: str = "") -> None:
    """Refuse labels that are not whole numbers from 0 to a largest one."""
    why = f"but {toolkit} takes whole labels from 0 to {most}{where}"
    hint = f"map the labels, {hint}or leave {toolkit} out"
    refuse_labels(queries, ~np.isin(queries.labels, np.arange(most + 1)), why, hint)


@contextmanager
def refusing(toolkit: str, kind: type[Exception], how: str = "refuses") -> Iterator[None]:
    """Say in one sentence what a toolkit says of data that it refuses, as an error of ours."""
    try:
        yield
    except RankAdaptersError:
        raise
    except kind as error:
        msg = f"{toolkit} {how}: {sentence(error)}.\nHint: mend the data, or leave {toolkit} out."
        raise InputError(msg) from error


def sentence(error: Exception) -> str:
    """What a toolkit says, without XGBoost's time of day or CatBoost's place in its source before it."""
    text = " ".join(str(error).partition("Stack trace")[0].split())  # XGBoost's goes on for pages
    return re.sub(r"^(\[\d\d:\d\d:\d\d\] |\S+:\d+: )", "", text)[:300].rstrip(".")
