"""Evaluation: bind a convention to queries once, then score as often as needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack, cast, overload

import numpy as np

from rankadapters.core.data.columns import Array, Floats
from rankadapters.core.data.keywords import Columns, by_name, needs
from rankadapters.core.data.models import ScoresByModel, scores_by_model
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.evaluation.label_warnings import warn_of_labels
from rankadapters.core.evaluation.panel import Measured, Panel
from rankadapters.core.evaluation.score import Score
from rankadapters.core.evaluation.scores import Scores
from rankadapters.core.evaluation.tally import Tally
from rankadapters.core.presets.texts import as_convention, is_one


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
        return _warned(self._panel.measure(scores)).scores[self.convention]

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


@overload
def evaluate(  # type: ignore[overload-overlap]  # what is not a mapping or a table is the scores of one model
    labels: object,
    scores: ScoresByModel,
    convention: Convention | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> dict[Any, Score]: ...
@overload
def evaluate(  # type: ignore[overload-overlap]  # a text is no sequence of texts here
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Score: ...
@overload
def evaluate(  # type: ignore[overload-overlap]  # what is not a mapping or a table is the scores of one model
    labels: object,
    scores: ScoresByModel,
    convention: Iterable[Convention | str],
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Scores[dict[Any, Score]]: ...
@overload
def evaluate(
    labels: object,
    scores: object,
    convention: Iterable[Convention | str],
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Scores[Score]: ...
@needs(convention="ra.evaluate(labels, scores, 'letor4@10', qid=qid), or another convention")
@by_name
def evaluate(
    labels: object,
    scores: object,
    convention: Convention | str | Iterable[Convention | str],
    *,
    n_threads: int | None = None,
    **columns: Unpack[Columns],
) -> Score | dict[Any, Score] | Scores[Score] | Scores[dict[Any, Score]]:
    """Evaluate predictions under one declared convention, or under several.

    Several conventions that rank alike share one ranking.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    scores : array-like, shape (n_docs,) or (n_docs, n_models), table, or mapping of names to array-likes
        Predicted scores, higher is better: of one model, or of several, a column each. A matrix needs a sequence of
        conventions: under one convention it is refused, since it is mostly what `predict_proba` returned.
    convention : Convention or str, or sequence of these
        What to compute; a text such as `"letor4@10"` is read by `ra.parse`.
    qid, group_sizes, query_weight, row_weight, pairs, docid, retrieved, judged
        As in `Queries`; exactly one of `qid` and `group_sizes`.
    n_threads : int, optional
        None takes all CPUs.

    Returns
    -------
    Score, or mapping of Convention to Score
        Under one convention, the value and the convention that made it. Under a sequence, every entry in its order;
        a look-up takes a convention or any text of it. For several models, dicts of model to Score take the place of
        Scores; the models of a matrix are 0, 1, ...

    Raises
    ------
    ConventionError
        `convention` is neither a convention, nor a text of one, nor a sequence of these.
    InputError
        Something about the data has no value under this convention; the message names it and the way out. Or there is
        no model, or two models have one name.

    Warns
    -----
    AboveValuesWarning
        Under `average="query-except-empty"` small weights lift the mean above every query's value.
    LabelsWarning
        The preset's own tool refuses or changes such labels, or ERR and PFound take a label for a chance above 1.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.evaluate([0, 1, 0, 0], [3, 2, 1, 0], ra.presets.lightgbm(3), group_sizes=[2, 2]).value)
    0.8154648767857288
    >>> scores = ra.evaluate([0, 1], [2, 1], ["yahoo@1", "yahoo@2"], group_sizes=[2])
    >>> [round(score.value, 3) for score in scores.values()]
    [0.0, 0.631]
    >>> round(scores["yahoo@2"].value, 3)
    0.631
    >>> by_model = ra.evaluate([0, 1], {"up": [1, 2], "down": [2, 1]}, "yahoo@1", group_sizes=[2])
    >>> max(by_model, key=by_model.get)
    'up'
    """
    if is_one(convention):
        evaluator = Evaluator(labels, convention, n_threads=n_threads, **columns)
        models = None if isinstance(scores, (np.ndarray, list)) else scores_by_model(scores)
        if models is None:
            return evaluator.evaluate(scores)
        return {name: evaluator.evaluate(column) for name, column in models.items()}
    panel = Panel(labels, cast("Iterable[Convention | str]", convention), n_threads=n_threads, **columns)
    warn_of_labels(panel.queries, panel.conventions)
    models = scores_by_model(scores)
    if models is None:
        return _warned(panel.measure(scores)).scores
    by_model = {name: _warned(panel.measure(column)).scores for name, column in models.items()}
    return Scores((conv, {name: scores[conv] for name, scores in by_model.items()}) for conv in panel.conventions)


def _warned(found: Measured) -> Measured:
    found.warn_above_values()
    return found
