"""Evaluation: bind a convention to queries once, then score as often as needed."""

from __future__ import annotations

from typing import Unpack

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.keywords import Columns, by_name
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.label_warnings import warn_of_labels
from rankadapters.core.evaluation.panel import Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.tally import Tally
from rankadapters.core.presets.texts import as_convention


class Evaluator:
    """One convention bound to queries: everything that does not depend on scores is done once.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention or str
        What to compute; a text is read by `ra.parse`.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.
    n_threads : int, optional
        None takes all CPUs; the result is the same for any number.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit the convention.

    Warns
    -----
    LabelsWarning
        The preset's own tool refuses or changes such labels, or ERR and PFound take a label for a chance above 1.

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
        """The queries bound to."""
        return self._panel.queries

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of `per_query`."""
        return self.queries.query_ids

    def evaluate(self, scores: object) -> Score:
        """Score predictions.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            Another length, a NaN or an infinity, or nothing left to average.

        Warns
        -----
        AboveValuesWarning
            Under `average="query-except-empty"` small weights lift the mean above every query's value.
        """
        measured = self._panel.measure(scores)
        measured.warn_above_values()
        return measured.scores[self.convention]

    def per_query(self, scores: object) -> Floats:
        """Value of each query, shape (n_queries,); NaN where it is skipped.

        Raises
        ------
        UnsupportedConventionError
            The convention is over all rows, so that no query has a value of its own.
        """
        return self._panel.per_query(scores)[self.convention]

    def standard_error(self, scores: object) -> float:
        """Standard error of the value, the queries taken as a random sample; as `Measured.standard_errors`.

        Raises
        ------
        UnsupportedConventionError
            The convention is over all rows, so that no query has a value of its own.

        Examples
        --------
        >>> import rankadapters as ra
        >>> evaluator = ra.Evaluator([1, 0, 1, 0], "textbook@1", group_sizes=[2, 2])  # the queries' values: 1 and 0
        >>> evaluator.standard_error([2, 1, 1, 2])
        0.5
        """
        return self._panel.measure(scores).standard_errors[self.convention]

    def tally(self, scores: object) -> Tally:
        """Sum exactly, to be merged with tallies of other queries.

        Raises
        ------
        UnsupportedConventionError
            The convention is over all rows, whose parts do not add up.
        """
        return self._panel.tally(scores)[self.convention]
