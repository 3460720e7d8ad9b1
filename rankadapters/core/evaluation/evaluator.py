"""Evaluator: a convention bound to queries once, which then evaluates any number of predictions."""

from __future__ import annotations

from typing import Unpack

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.keywords import Columns, by_name
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.tally import Tally
from rankadapters.presets.label_rules import warn_of_labels
from rankadapters.presets.texts import as_convention


class Evaluator:
    """One convention bound to queries; everything that does not depend on scores is computed once.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention or str
        What to compute; `ra.parse` reads a text.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.
    n_threads : int, optional
        None means all CPUs; the result is the same for any number.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit the convention.

    Warns
    -----
    LabelsWarning
        The preset's tool refuses or changes such labels, or a label gives ERR or PFound a chance outside [0, 1].

    Examples
    --------
    >>> import rankadapters as ra
    >>> evaluator = ra.Evaluator([2, 0, 1, 0], ra.presets.yahoo(2), qid=["a", "a", "b", "b"])
    >>> evaluator.per_query([0.9, 0.1, 0.2, 0.8]).round(3).tolist()
    [1.0, 0.631]
    """

    @by_name
    def __init__(
        self, labels: object, convention: Convention | str, *, n_threads: int | None = None, **columns: Unpack[Columns]
    ) -> None:
        self._panel = Panel(labels, [as_convention(convention)], n_threads=n_threads, **columns)
        self.convention = self._panel.conventions[0]
        warn_of_labels(self.queries, [self.convention])

    def __repr__(self) -> str:
        """Show the convention by its shortest text, and the size of the data."""
        return f"Evaluator({self.convention.short_name!r}, {self.queries!r})"

    @property
    def queries(self) -> Queries:
        """The queries that the convention is bound to."""
        return self._panel.queries

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of `per_query`."""
        return self.queries.query_ids

    def evaluate(self, scores: object) -> Score:
        """Return the score of predictions.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            The length is wrong, a score is NaN or infinite, or every query is skipped.

        Warns
        -----
        AboveValuesWarning
            Under `average="query-except-empty"`, small weights lift the mean above every query's value.
        """
        measured = self._panel.measure(scores)
        measured.warn_above_values()
        return measured.scores[self.convention]

    def per_query(self, scores: object) -> Floats:
        """Return the value of each query, shape (n_queries,); NaN for skipped queries.

        Raises
        ------
        UnsupportedConventionError
            The convention takes all rows as one query, so queries have no values.
        """
        return self._panel.per_query(scores)[self.convention]

    def standard_error(self, scores: object) -> float:
        """Return the standard error of the value, as `Measured.standard_errors` defines it.

        Raises
        ------
        UnsupportedConventionError
            The convention takes all rows as one query, so queries have no values.

        Examples
        --------
        >>> import rankadapters as ra
        >>> evaluator = ra.Evaluator([1, 0, 1, 0], "textbook@1", group_sizes=[2, 2])  # the queries' values: 1 and 0
        >>> evaluator.standard_error([2, 1, 1, 2])
        0.5
        """
        return self._panel.measure(scores).standard_errors[self.convention]

    def tally(self, scores: object) -> Tally:
        """Return exact sums, which merge with tallies of other queries.

        Raises
        ------
        UnsupportedConventionError
            The convention takes all rows as one query, so parts of the data do not add up.
        """
        return self._panel.tally(scores)[self.convention]
