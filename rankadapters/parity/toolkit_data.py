"""Data prepared for a toolkit, and the ways to ask the toolkit for its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.parity.data import find_log
from rankadapters.parity.rows import FULL_DOUBLE, QueryDifferences
from rankadapters.statistics.mistakes import OurNumber

# A function of a data set's name and a metric's name; returns the metric's name in the log and its values by round.
LogReader = Callable[[str, str], tuple[str, Any]]
NO_LOG = partial(find_log, None)
MAX_SINGLE_QUERIES = 500  # with more queries, a toolkit is not asked about single queries


class Route(NamedTuple):
    """One way to obtain a toolkit's own number."""

    source: str
    ask: Callable[[ToolkitData], float]
    by_query: bool = False  # whether the toolkit can be asked about single queries

    def ask_each(self, data: ToolkitData, our_number: OurNumber) -> QueryDifferences | None:
        """Ask about each query alone; None if that is impossible, fails or would take too long."""
        queries, terms = data.queries, our_number.terms
        if not self.by_query or queries.n_queries > MAX_SINGLE_QUERIES or not our_number.convention.is_sum:
            return None
        values = np.full(queries.n_queries, np.nan)
        for index, (start, end) in enumerate(zip(queries.indptr, queries.indptr[1:], strict=False)):
            query = Queries(queries.labels[start:end], group_sizes=[end - start])
            try:
                values[index] = self.ask(replace(data, queries=query, scores=data.scores[start:end], inputs={}))
            except RankAdaptersError:
                return None
        differences = values - terms.values
        equal = np.abs(differences) <= FULL_DOUBLE * np.maximum(1, np.abs(terms.values))
        parts = np.where(equal | (terms.weights == 0), 0.0, differences) * terms.weights / terms.divisors.sum()
        return QueryDifferences(
            query_ids=queries.query_ids, values=values, our_values=terms.values, contributions=parts
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolkitData:
    """Labels and scores to check, raw or prepared for a toolkit, and facts about the model that made the scores.

    Attributes
    ----------
    queries, scores
        The data. Prepared data has contiguous queries, with the scores in their order.
    notes, inputs
        Notes on the data for the reader of the report, one sentence each; and columns that the toolkit takes in a form
        that differs from ours, such as weights by row.
    own_convention, routes, rounds, n_trained
        For a trained model: the convention of its metric; the routes to its numbers, if there are more than the metric
        of its scores; the number of rounds to check, 0 for all that were logged; the number of rounds it has.
    """

    queries: Queries
    scores: Any
    notes: tuple[str, ...] = ()
    inputs: dict[str, Any] = field(default_factory=dict)
    own_convention: Convention | None = None
    routes: tuple[Route, ...] = ()
    rounds: int = 0
    n_trained: int = 0

    def logged_value(self, values: Sequence[float]) -> tuple[int, float]:
        """Return the iteration to check and its logged value. A continued training logs only its own iterations.

        Raises
        ------
        InputError
            The iteration was not logged.
        """
        first = max(0, self.n_trained - len(values))
        iteration = (self.rounds or first + len(values)) - 1
        if not first <= iteration < first + len(values):
            logged = f"the log has the iterations {first} to {first + len(values) - 1}"
            msg = f"iteration {iteration} was not logged: {logged}.\nHint: iteration= one of these."
            raise InputError(msg)
        return iteration, float(values[iteration - first])
