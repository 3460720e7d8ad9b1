"""Warnings about scores: columns that look swapped, and ties that the preset's tool orders in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries, rows_of
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import LabelsWarning, warn_caller
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.presets.label_rules import UNSTABLE_SORTS, label_doubts

MANY_LABELS = 20  # data sets have fewer grades
FEW_SCORES = 10  # a model predicts more numbers
FIRST_ROWS = 1000


def warn_of_scores(evaluator: Evaluator, models: Mapping[Any, object]) -> None:
    """Warn once per message about the scores of the models, which have been evaluated."""
    messages: dict[str, None] = {}
    for name, scores in models.items():
        doubts = score_doubts(evaluator.queries, evaluator.conventions, evaluator.queries.check_scores(scores))
        messages |= dict.fromkeys(doubts.values() if name is None else (f"{name}: {text}" for text in doubts.values()))
    for message in messages:
        warn_caller(message, LabelsWarning)


def score_doubts(queries: Queries, conventions: Iterable[Convention], scores: Array) -> dict[Convention, str]:
    """Return the messages of `warn_of_scores` about the scores of a model, by convention."""
    doubts = {convention: text for convention in conventions if (text := _tie_doubt(queries, convention, scores))}
    graded = [convention for convention in conventions if _is_graded(convention)]
    if graded and look_swapped(queries, scores):
        n_labels = np.unique(queries.labels).size
        swapped = (
            f"labels has {n_labels} different values, most of them fractions, and scores are a few whole numbers: they "
            "look swapped.\nHint: labels come before scores; where these are meant, filter ra.LabelsWarning"
        )
        refused = label_doubts(queries, graded)  # a warning that already says so
        doubts |= {convention: f"{swapped}." for convention in graded if convention not in refused}
    return doubts


def look_swapped(queries: Queries, scores: Array) -> bool:
    """Return whether the labels look like predicted scores, and the scores like grades.

    Most of the labels are fractions, and they have many values. The scores are a few whole numbers, and within the
    queries more of them are equal than of the labels; ranks as scores are whole numbers too, but all different.
    Judgments and runs are files of different formats, which nobody swaps.
    """
    # In ordinary data, all other checks are saved: labels are whole numbers, and one of the first scores is a fraction.
    if queries.grades is not None or queries.judged is not None or queries.retrieved is not None:
        return False
    if (scores[:FIRST_ROWS] != np.floor(scores[:FIRST_ROWS])).any():
        return False
    labels = queries.labels
    if 2 * np.count_nonzero(labels != np.floor(labels)) <= labels.size or (scores != np.floor(scores)).any():
        return False
    if not 1 < np.unique(scores).size <= FEW_SCORES or np.unique(labels).size < MANY_LABELS:
        return False
    return _n_distinct(queries.query_of_row, scores) < _n_distinct(queries.query_of_row, labels)


def _n_distinct(query_of_row: Array, values: Array) -> int:
    """Return the number of different values within the queries, added up."""
    order = np.lexsort((values, query_of_row))
    values, query_of_row = values[order], query_of_row[order]
    return 1 + int(np.count_nonzero((np.diff(values) != 0) | (np.diff(query_of_row) != 0)))


def _is_graded(convention: Convention) -> bool:
    """Return whether labels count by their size, and not only as relevant or not."""
    return not (convention.get("gain") or "from_").startswith("from_")


def _tie_doubt(queries: Queries, convention: Convention, scores: Array) -> str | None:
    """Return a message if ties change the value of a query that the preset's tool sorts by an unstable sort."""
    name, preset = convention.preset or ("", convention)
    tool, least = UNSTABLE_SORTS.get(name.partition(".")[0], ("", 0))
    if not tool or convention.get("ties") != preset.get("ties"):
        return None
    is_long = rows_of(queries, queries.retrieved).sizes >= least
    if not is_long.any():
        return None
    subset, rows = queries.subset(np.flatnonzero(is_long))
    orders = [convention.replace(ties=ties) for ties in ("best", "worst")]
    best, worst = Evaluator.of(subset, orders).measure(scores[rows]).per_query.values()
    changed = np.flatnonzero(best > worst)
    if not changed.size:
        return None
    return (
        f"the order of tied scores changes the value of query {subset.query_ids[changed[0]]}, and {tool} sorts "
        f"{least} or more rows by an unstable sort. {convention.name} gives a number that {tool} may not print.\n"
        "Hint: break the ties, or convention.replace(ties='average') for the expectation over their orders."
    )
