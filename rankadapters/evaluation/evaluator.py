"""Evaluators: conventions bound to queries, which evaluate scores together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, Unpack

from rankadapters.core.arrays import Array
from rankadapters.core.binding.policies import refuse_ignored
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.evaluation import passes, threads
from rankadapters.evaluation.measured import Measured
from rankadapters.evaluation.score import Shape
from rankadapters.presets.label_rules import warn_of_labels


@describes_columns
class Evaluator:
    """One or more conventions bound to queries; everything that does not depend on scores is computed once.

    Conventions that rank alike share one ranking of the scores.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    convention : Convention or str, or sequence of these, or mapping of str to these
        What to compute; `ra.parse` reads a text. For one convention, the methods return one result. For a sequence,
        they return a mapping of Convention to result with every entry, even if two conventions are equal.
    n_threads : int, optional
        None means all CPUs; the result is the same for any number.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`.

    Attributes
    ----------
    queries : Queries
        The queries that the conventions are bound to.
    conventions : list of Convention
        The conventions in the order given.

    Raises
    ------
    InputError
        The columns contradict each other or do not fit a convention, which the message names; or one convention uses
        the given weights and a different one would ignore them.

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
    >>> both = ra.Evaluator(evaluator.queries, ["yahoo@2", "letor4@2"])
    >>> [round(score.value, 3) for score in both.evaluate([0.9, 0.1, 0.2, 0.8]).values()]
    [0.815, 1.0]
    """

    def __init__(
        self,
        labels: object,
        convention: Convention | str | Iterable[Convention | str],
        *,
        n_threads: int | None = None,
        **columns: Unpack[Columns],
    ) -> None:
        shape = Shape.of(convention)  # first, since ids in its place are easier to see there than missing
        self._bind(as_queries(labels, **columns), shape, n_threads)
        self.queries.digest  # noqa: B018 - is computed here, so that no call of a training loop takes longer for it
        warn_of_labels(self.queries, self.conventions)

    @classmethod
    def of(cls, queries: Queries, conventions: Sequence[Convention], n_threads: int | None = None) -> Self:
        """Bind a list of conventions without warnings about labels, for callers that report these in their own way."""
        evaluator = cls.__new__(cls)
        evaluator._bind(queries, Shape(list(conventions), one_convention=False), n_threads)  # noqa: SLF001 - of this class
        return evaluator

    def _bind(self, queries: Queries, shape: Shape, n_threads: int | None) -> None:
        self.queries, self.shape, self.conventions = queries, shape, shape.conventions
        self.n_threads = None if n_threads is None else threads.as_n_threads(n_threads)
        refuse_ignored(self.conventions, queries)
        self._members = passes.bind(queries, self.conventions)

    def __repr__(self) -> str:
        """Show the conventions by their shortest texts, and the size of the data."""
        texts = [convention.short_name for convention in self.conventions]
        return f"Evaluator({texts[0] if self.shape.one_convention else texts!r}, {self.queries!r})"

    @property
    def convention(self) -> Convention | None:
        """The convention if one was given, None for a sequence."""
        return self.conventions[0] if self.shape.one_convention else None

    @property
    def query_ids(self) -> Array:
        """Query identifiers in the order of `per_query`."""
        return self.queries.query_ids

    def measure(self, scores: object) -> Measured:
        """Rank once, and return values, tallies, scores and standard errors, always by convention.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Raises
        ------
        InputError
            The length is wrong, or a score is NaN or infinite.
        """
        array = self.queries.check_scores(scores)
        return Measured(self.queries, self._members, passes.numerators(self._members, array, self.n_threads))

    def evaluate(self, scores: object) -> Any:
        """Return the score of predictions.

        Parameters
        ----------
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better. Float32 stays float32.

        Returns
        -------
        Score, or mapping of Convention to Score

        Raises
        ------
        InputError
            The length is wrong, a score is NaN or infinite, or every query is skipped.
        """
        return self.shape.results({None: self.measure(scores).scores})

    def per_query(self, scores: object) -> Any:
        """Return the value of each query, shape (n_queries,); NaN for skipped queries.

        Returns
        -------
        float64 array, or mapping of Convention to arrays

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.
        """
        return self.shape.results({None: self.measure(scores).per_query})

    def standard_error(self, scores: object) -> Any:
        """Return the standard error of the value, as `Measured.standard_errors` defines it.

        Returns
        -------
        float, or mapping of Convention to float

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so queries have no values.

        Examples
        --------
        >>> import rankadapters as ra
        >>> evaluator = ra.Evaluator([1, 0, 1, 0], "textbook@1", group_sizes=[2, 2])  # the queries' values: 1 and 0
        >>> evaluator.standard_error([2, 1, 1, 2])
        0.5
        """
        return self.shape.results({None: self.measure(scores).standard_errors})

    def tally(self, scores: object) -> Any:
        """Return exact sums, which merge with tallies of other queries.

        Returns
        -------
        Tally, or mapping of Convention to Tally

        Raises
        ------
        UnsupportedConventionError
            A convention takes all rows as one query, so parts of the data do not add up.
        """
        return self.shape.results({None: self.measure(scores).tallies})
