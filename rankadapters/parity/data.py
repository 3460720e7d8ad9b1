"""Validate the data of a parity check, convert it to a toolkit's precision, and read a toolkit's models and logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.binding.gains import gains_of
from rankadapters.core.data.columns import refuse_non_finite, refused_label, shared_index
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.arguments import refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.core.measures.ranked import Discounted
from rankadapters.evaluation.evaluator import Evaluator


def bind(queries: Queries, scores: object, convention: Convention) -> Array:
    """Return the scores as an array, after checking that they and the queries fit the convention."""
    array = queries.check_scores(scores)
    refuse_non_finite("scores", array, queries.retrieved)
    Evaluator.of(queries, [convention])
    return array


def read_data(data: Any) -> tuple[Any, Queries]:
    """Read `(X, labels, qid)` or `(X, labels, qid, query_weight)`; return the features and the queries."""
    if not isinstance(data, tuple) or len(data) not in {3, 4}:
        raise refusal("data", data, "(X, labels, qid) and (X, labels, qid, query_weight)")
    features, labels, qid, *weight = data
    shared_index({"X": features, "labels": labels, "qid": qid})
    queries = Queries(labels, qid=qid, query_weight=weight[0] if weight else None)
    shape = getattr(features, "shape", None) or np.shape(features)  # sparse matrices have a shape too
    n_rows = shape[0] if shape else 0
    if n_rows != queries.n_docs:
        message = f"X has {n_rows} rows but labels has {queries.n_docs}."
        raise InputError(message, hint="one label and one qid per row of X")
    return features, queries


def ranker(model: Any, model_class: type, title: str, class_name: str, fit_arguments: str) -> Any:
    """Return the model if it is a trained ranker of the toolkit; otherwise raise InputError."""
    if not isinstance(model, model_class):
        raise InputError(f"{type(model).__name__} is not a model of {title}.", hint=f"an {class_name} or a Booster")
    if not model.__sklearn_is_fitted__():  # type: ignore[attr-defined]
        hint = f"model.fit(X, y, {fit_arguments}) first"
        raise InputError("the model is not trained, so it has no scores.", hint=hint)
    return model


def as_float32(name: str, values: Array, toolkit: str) -> Array:
    """Round values to float32, as most toolkits store labels and weights, and convert them back to float64."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        row = int(np.argmin(np.isfinite(rounded)))
        message = f"{name}[{row}] is {values[row]:g}, beyond float32, in which {toolkit} holds it."
        of_labels = row if name == "labels" else None  # for weights, it may be a query's index
        raise InputError(message, hint=f"rescale {name}", row=of_labels)
    return rounded


def rounds_until(iteration: object, n_trained: int, n_best: int, default: str = "best") -> int:
    """Return the number of rounds to use: up to the iteration, else up to the model's best, else all."""
    if iteration is None:
        return n_best if n_best > 0 else n_trained
    return whole("iteration", iteration, least=0, most=n_trained - 1, hint=f"None is the model's {default}") + 1


def dart_note(rounds: int, n_trained: int, booster: str) -> tuple[str, ...]:
    """Return a note if the log of an iteration no longer fits the trees, because DART has rescaled them since."""
    if booster != "dart" or rounds >= n_trained:
        return ()
    return (f"DART has rescaled the first {rounds} iterations' trees since, so their log is of other scores.",)


def find_log(log: Any, dataset: str, metric: str) -> tuple[str, Any]:
    """Return a metric's name and values by round from a training's log of a data set."""
    if log is not None and not isinstance(log, Mapping):
        raise refusal("log", log, "dicts of sets, of metrics, of values by round", "the dict that the training filled")
    if not log or not isinstance(dataset, str) or dataset not in log:
        message = f"the training logged no {dataset!r}, but {sorted(log or ())}."
        raise InputError(message, hint="pass log=, or one of these names")
    if metric not in log[dataset]:
        message = f"the log of {dataset!r} has {sorted(log[dataset])}, but not {metric!r}."
        raise InputError(message, hint="ra.<toolkit>.native_metric")
    return metric, log[dataset][metric]


def refuse_different_gains(labels: Array, declared: Convention, trained: Convention) -> None:
    """Refuse a model that was trained with a different gain for some label: it never had the toolkit's number."""
    if not isinstance(declared, Discounted) or not isinstance(trained, Discounted) or declared.gain == trained.gain:
        return
    grades = np.unique(labels)
    trained_gains, declared_gains = (gains_of(grades, None, convention.gain) for convention in (trained, declared))
    if not np.array_equal(trained_gains, declared_gains):
        label = int(np.argmax(trained_gains != declared_gains))
        raise InputError(
            f"the model was trained under gain={trained.gain!r:.80}, where label {grades[label]:g} has "
            f"{trained_gains[label]:g}, not gain={declared.gain!r:.80}, where it has {declared_gains[label]:g}: "
            "the model's own NDCG differs.",
            hint=f"declare {trained}, or check_parity of the model's scores",
        )


def refuse_retrieval(queries: Queries, toolkit: str) -> None:
    """Refuse the columns `retrieved` and `judged`, which training toolkits do not have."""
    for name in ("retrieved", "judged"):
        if getattr(queries, name) is not None:
            message = f"these queries have {name}=, but to {toolkit} every row is retrieved and judged."
            raise InputError(message, hint="Queries of the rows that are both")


def require_grades(queries: Queries, largest: int, toolkit: str, where: str = "", hint: str = "") -> None:
    """Refuse labels that are not whole numbers from 0 to `largest`."""
    reason = f"but {toolkit} takes whole labels from 0 to {largest}{where}"
    hint = f"map the labels, {hint}or leave {toolkit} out"
    bad = ~np.isin(queries.labels, np.arange(largest + 1))
    if bad.any():
        raise refused_label(queries.labels, bad, reason, hint)


@contextmanager
def refusing(toolkit: str, error_class: type[Exception], verb: str = "refuses") -> Iterator[None]:
    """Turn a toolkit's error about the data into an InputError of one sentence."""
    try:
        yield
    except RankAdaptersError:
        raise
    except error_class as error:
        raise InputError(
            f"{toolkit} {verb}: {sentence(error)}.", hint=f"fix the data, or leave {toolkit} out"
        ) from error


def sentence(error: Exception) -> str:
    """Return a toolkit's message without XGBoost's time stamp or CatBoost's source position in front."""
    text = " ".join(str(error).partition("Stack trace")[0].split())  # XGBoost appends a long stack trace
    return re.sub(r"^(\[\d\d:\d\d:\d\d\] |\S+:\d+: )", "", text)[:300].rstrip(".")
