"""Data as a toolkit holds them, and the ways to ask it for its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.parity.data import logged_at
from rankadapters.parity.rows import FULL_DOUBLE, OurNumber, QueryDifferences

Logged = Callable[[str, str], tuple[str, Any]]  # what a training logged of a set and a metric: its key, and by round
NO_LOG = partial(logged_at, None)
MOST_ASKED = 500  # queries, above which a toolkit is not asked for each


class Route(NamedTuple):
    """One way to a toolkit's own number."""

    source: str
    ask: Callable[[Held], float]
    apart: bool = False  # whether it can be asked for some of the queries alone

    def ask_each(self, held: Held, ours: OurNumber) -> QueryDifferences | None:
        """Ask for every query alone; None where that cannot be, fails or would take too long."""
        queries, terms = held.queries, ours.terms
        if not self.apart or queries.n_queries > MOST_ASKED or not ours.convention.is_sum:
            return None
        values = np.full(queries.n_queries, np.nan)
        for place, (start, end) in enumerate(zip(queries.indptr, queries.indptr[1:], strict=False)):
            one = Queries(queries.labels[start:end], group_sizes=[end - start])
            try:
                values[place] = self.ask(replace(held, queries=one, scores=held.scores[start:end], given={}))
            except RankAdaptersError:
                return None
        apart = values - terms.values
        equal = np.abs(apart) <= FULL_DOUBLE * np.maximum(1, np.abs(terms.values))
        parts = np.where(equal | (terms.weights == 0), 0.0, apart) * terms.weights / terms.divisors.sum()
        return QueryDifferences(
            query_ids=queries.query_ids, values=values, our_values=terms.values, contributions=parts
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """Scores of judged queries, as the caller gives them or a toolkit holds them, and what their model says itself.

    Attributes
    ----------
    queries, scores
        The data. A toolkit holds contiguous queries, and the scores in their order.
    notes, given
        What a reader must know of the data, a sentence each; and what the toolkit is handed in another form than ours,
        such as weights by row.
    own, routes, rounds, trained
        Of a trained model: what its metric means; the ways to its numbers, where asking for the metric of its scores is
        not the only one; the rounds looked at, 0 for as many as were logged; the rounds that it has.
    """

    queries: Queries
    scores: Any
    notes: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    own: Convention | None = None
    routes: tuple[Route, ...] = ()
    rounds: int = 0
    trained: int = 0

    def of_log(self, values: Sequence[float]) -> tuple[int, float]:
        """Find the iteration looked at in a log, with its value; a training that went on logs the later ones only.

        Raises
        ------
        InputError
            It was not logged.
        """
        before = max(0, self.trained - len(values))
        iteration = (self.rounds or before + len(values)) - 1
        if not before <= iteration < before + len(values):
            has = f"the log has the iterations {before} to {before + len(values) - 1}"
            msg = f"iteration {iteration} was not logged: {has}.\nHint: iteration= one of these."
            raise InputError(msg)
        return iteration, float(values[iteration - before])
