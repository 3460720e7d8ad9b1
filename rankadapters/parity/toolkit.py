"""The interface that each toolkit's adapter implements, and the parity checks built on it."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Never, Self

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.classes import frozen_class
from rankadapters.core.data.columns import GROUPS, refuse_other_names
from rankadapters.core.data.queries import Queries, as_queries, describes_columns
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.datasets import Grouped
from rankadapters.parity import report
from rankadapters.parity.causes import judge
from rankadapters.parity.data import as_float32, bind, find_log, refuse_different_gains, refuse_retrieval
from rankadapters.parity.report import ParityReport, ParityRow
from rankadapters.presets.texts import as_convention
from rankadapters.presets.vocabulary import Vocabulary, differing, spelled
from rankadapters.statistics.inert import inert_of
from rankadapters.statistics.rivals import OurNumber

# Of trained models: their trees, and the share of features that a tree or split uses, so that the seed matters.
ROUNDS, COLUMNS = 50, 0.8


class Route(NamedTuple):
    """One way to obtain a toolkit's own number."""

    source: str
    ask: Callable[[ToolkitData], float]
    of_scores: bool = False  # whether the toolkit evaluates the scores of the data, not the model


class Task(NamedTuple):
    """The data and the seed with which every toolkit trains a small ranker."""

    train: Grouped
    test: Grouped
    seed: int


@frozen_class
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

    def with_log(self, dataset: str, name: str, values: Sequence[float], score_route: Route) -> Self:
        """Add the route to a logged value, besides those of the model or else the route of its scores.

        A continued training logs only its own iterations.

        Raises
        ------
        InputError
            The iteration to check was not logged.
        """
        first = max(0, self.n_trained - len(values))
        iteration = (self.rounds or first + len(values)) - 1
        if not first <= iteration < first + len(values):
            logged = f"the log has the iterations {first} to {first + len(values) - 1}"
            raise InputError(f"iteration {iteration} was not logged: {logged}.", hint="iteration= one of these")
        value = float(values[iteration - first])
        route = Route(f"log of {dataset}, iteration {iteration}, {name}", lambda _: value)
        return replace(self, routes=(*(self.routes or [score_route]), route))


def _counts_by_row(declared: Convention, nearest: Convention) -> bool:
    """Return whether the toolkit counts the declared query weights as row weights."""
    weights = (declared.weighting, nearest.weighting)
    return declared.over == "rows" and weights == ("query_weight", "row_weight")


class Toolkit(ABC):
    """A training toolkit, as `check_parity` and `crosscheck` use it; each adapter's `parity.py` makes one instance.

    Attributes
    ----------
    vocabulary : Vocabulary
        The conventions that it can express, and its metric and parameters for each.
    float32 : dict of str to str
        Columns that it stores as float32, with the note to add where rounding changes a value.
    """

    vocabulary: ClassVar[Vocabulary[Any]]
    float32: ClassVar[dict[str, str]] = {}

    @property
    def version(self) -> str:
        """The installed version."""
        return str(sys.modules[self.vocabulary.name].__version__)

    def nearest(self, convention: Convention) -> tuple[Convention, Any]:
        """Return the nearest convention that the toolkit computes, and the metric and parameters for it.

        The nearest is the convention itself where the toolkit can express it. `native_metric` returns the same words.
        """
        nearest = self.vocabulary.nearest(convention)
        # Replacing one inexpressible field may make a field that depends on it inexpressible too, so search again.
        return self.nearest(nearest) if differing(convention, nearest) else (convention, self.vocabulary.spell(nearest))

    @abstractmethod
    def names(self, words: Any) -> tuple[str, str]:
        """Return the metric's name in the toolkit's log, and a description of how it is computed."""

    def refuse(self, queries: Queries, words: Any) -> None:  # noqa: B027 - some toolkits refuse no data
        """Refuse, with our own clearer error, data that the toolkit would refuse."""

    def prepare(self, data: ToolkitData, words: Any) -> ToolkitData:
        """Make the rows of each query contiguous, and round each column to the toolkit's precision."""
        del words
        queries, changed = data.queries, dict[str, list[str]]()
        columns = {name: getattr(queries, name) for name in ("labels", "query_weight", "row_weight")}
        for name, note in self.float32.items():
            if (column := columns[name]) is not None:
                columns[name] = as_float32(name, column, self.vocabulary.title)
                if (columns[name] != column).any():
                    changed.setdefault(note, []).append(name)
        if changed:
            queries = queries.with_labels(columns.pop("labels"))
            queries = queries.with_weights(**columns)
        queries, rows = queries.subset(np.arange(queries.n_queries))
        notes = [note.format(" and ".join(names)) for note, names in changed.items()]
        return replace(data, queries=queries, scores=data.scores[rows], notes=(*notes, *data.notes))

    @abstractmethod
    def ask(self, data: ToolkitData, words: Any) -> float:
        """Return the toolkit's own value."""

    @abstractmethod
    def train(self, task: Task, words: Any) -> tuple[Array, float | None]:
        """Train a small ranker; return its scores of the test rows, and the metric that it last logged, if any."""

    def precision(self, convention: Convention) -> float:
        """Return the largest difference from our value that counts as equal; it is relative to values above 1."""
        del convention
        return report.FULL_DOUBLE

    @describes_columns
    def check_parity(
        self,
        labels: object,
        scores: object,
        convention: Convention | str,
        *,
        qid: object = None,
        group_sizes: object = None,
        query_weight: object = None,
        **unknown: Never,
    ) -> ParityReport:
        """Compare the toolkit's own value of these scores with ours; nothing is trained.

        Where the toolkit cannot express the convention, the two are compared under the nearest that it can, and a
        second row states our value under the declared one: equal where nothing in the data depends on the fields that
        it cannot express. Where something does, the declared convention was not compared and the report is not `ok`:
        declare the nearest, which it names.

        Parameters
        ----------
        labels : array-like, shape (n_docs,), or Queries
            Relevance labels; with a Queries, no other column is taken.
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better.
        convention : Convention or str
            The declared convention.
        qid, group_sizes, query_weight
            As in `Queries`.

        Returns
        -------
        ParityReport
            The toolkit's value against ours, which must agree to 1e-9; then our value under the declared convention,
            if the toolkit computes a different one. Both sides use the rows and the precision that the toolkit uses;
            the reason names what it rounds or leaves out.

        Raises
        ------
        InputError
            The data has no value under the convention, or the toolkit refuses it.
        """
        convention = as_convention(convention)
        refuse_other_names(unknown, GROUPS)
        queries = as_queries(labels, qid=qid, group_sizes=group_sizes, query_weight=query_weight)
        return self.check(ToolkitData(queries=queries, scores=scores), convention)

    def check_model(
        self,
        model: Any,
        data: Any,
        convention: Convention | str,
        *,
        dataset: str | None = None,
        log: Mapping[str, Any] | None = None,
        iteration: int | None = None,
    ) -> ParityReport:
        """Compare a trained model's metric values on a data set with ours, for each way to get them from the toolkit.

        Parameters
        ----------
        model : ranker or Booster
            Trained.
        data : tuple, or the toolkit's own kind of data
            `(X, labels, qid)` or `(X, labels, qid, query_weight)`, with the rows in the order that the toolkit got; a
            DMatrix; or a Dataset that still has its features.
        convention : Convention or str
            The declared convention.
        dataset : str, optional
            The data's name in the training, such as `valid_0`, to compare the values logged for it too.
        log : dict, optional
            The dict that the training function filled; a ranker has its own.
        iteration : int, optional
            The iteration to check, from 0 on; the model's best, or last, by default.

        Returns
        -------
        ParityReport
            A row per route under the nearest convention that the toolkit can express, then the declared one. As in
            `check_parity`, it is `ok` only if the declared convention was compared.

        Raises
        ------
        InputError
            The model is not trained, the parts do not fit each other, the toolkit refuses the data, or the model was
            trained under other gains, so that its own metric of this data differs from the one requested.
        """
        convention = as_convention(convention)
        data = self.read_model(model, data, convention, iteration)
        if dataset is not None:
            words, logged = self.nearest(convention)[1], getattr(model, "evals_result_", None) if log is None else log
            name, values = find_log(logged, dataset, self.names(words)[0])
            data = data.with_log(dataset, name, values, self.score_route(words))
        return self.check(data, convention)

    def read_model(self, model: Any, data: Any, convention: Convention, iteration: int | None) -> ToolkitData:
        """Read the model and data passed to `check_model`, with the weights that the convention counts."""
        del model, data, convention, iteration
        message = f"{self.vocabulary.title} has no models that know their metric."
        raise InputError(message, hint="check_parity of the model's scores")

    def score_route(self, words: Any, prefix: str = "") -> Route:
        """Return the route that asks the toolkit to evaluate given scores; its description begins with `prefix`."""
        return Route(prefix + self.names(words)[1], partial(self.ask, words=words), of_scores=True)

    def prepare_check(self, data: ToolkitData, convention: Convention) -> tuple[Convention, Any, ToolkitData]:
        """Return the nearest convention, the toolkit's words for it, and the prepared data; refuse unsuitable data."""
        refuse_retrieval(data.queries, self.vocabulary.title)
        nearest, words = self.nearest(convention)
        data = self._without_idle_weights(data, convention, words)
        scores = bind(data.queries, data.scores, convention)
        refuse_different_gains(data.queries.labels, nearest, data.own_convention or nearest)
        self.refuse(data.queries, words)
        data, queries = replace(data, scores=scores), data.queries
        if not _counts_by_row(convention, nearest) or queries.query_weight is None:
            return nearest, words, self.prepare(data, words)
        # The declared convention reads these weights by query, the toolkit reads them by row: store both.
        by_row = queries.with_weights(row_weight=queries.query_weight[queries.query_of_row])
        prepared = self.prepare(replace(data, queries=by_row), words)
        weights, starts = prepared.queries.row_weight, prepared.queries.indptr[:-1]
        queries = prepared.queries.with_weights(None if weights is None else weights[starts], row_weight=weights)
        return nearest, words, replace(prepared, queries=queries)

    def _without_idle_weights(self, data: ToolkitData, convention: Convention, words: Any) -> ToolkitData:
        """Drop query weights that neither our value nor the toolkit's uses, but still pass them to the toolkit."""
        query_weight = data.queries.query_weight
        if query_weight is None or convention.weighting is not None:
            return data
        try:
            weighted = convention.replace(average="query")
        except ConventionError:  # a correlation of all rows has no weights
            weighted = convention
        if self.nearest(weighted)[0].weighting == "query_weight":
            return data
        name = f"{self.vocabulary.title}'s {self.names(words)[0]}"
        note = f"query_weight does not count: neither under average={convention.average!r} nor in {name}."
        inputs = {"query_weight": query_weight, **data.inputs}
        return replace(data, queries=data.queries.with_weights(), notes=(note, *data.notes), inputs=inputs)

    def check(self, data: ToolkitData, declared: Convention) -> ParityReport:
        """Compare by every route under the toolkit's nearest convention; if it is not the declared one, add a row."""
        nearest, words, prepared = self.prepare_check(data, declared)
        # Evaluate ours first, so that an error about the data is our own and not the toolkit's.
        of_declared = OurNumber.of(prepared.queries, prepared.scores, declared, ignore_weights=True)
        different = {} if nearest == declared else differing(declared, nearest)
        of_nearest = of_declared
        if different:  # weights that only the declared convention counts are ignored on both sides
            of_nearest = OurNumber.of(prepared.queries, prepared.scores, nearest, ignore_weights=True)
        asked_data = replace(prepared, queries=of_nearest.queries)
        tolerance = report.relative(self.precision(of_nearest.convention), of_nearest.value)
        rows = [
            judge(
                of_nearest, route.ask(asked_data), route.source, self.version, notes=prepared.notes,
                tolerance=tolerance,
            )
            for route in prepared.routes or [self.score_route(words)]
        ]  # fmt: skip
        if different:
            rows.append(self._declared_row(rows[0], prepared, of_declared, of_nearest, different))
        return report.report_of_toolkits({self.vocabulary.name: rows}, {self.vocabulary.name: declared})

    def _declared_row(
        self, row: ParityRow, data: ToolkitData, of_declared: OurNumber, of_nearest: OurNumber,
        different: Mapping[str, tuple[Any, Any]],
    ) -> ParityRow:  # fmt: skip
        """Return a row that says whether the fields that the toolkit cannot express matter on this data."""
        source, title = (self.vocabulary.name, self.version, of_declared.convention), self.vocabulary.title
        terms = {number.convention: number.terms for number in (of_declared, of_nearest)}
        inert = inert_of(data.queries, of_declared.convention, of_nearest.convention, data.scores, terms)
        relevant = {name: values for name, values in different.items() if name not in inert.fields}
        harmless = {name: values for name, values in different.items() if name in inert.fields}
        if not relevant and row.value is not None and row.tolerance is not None:
            reason = f"{title} cannot express {spelled(harmless)}; on this data that makes no difference."
            return ParityRow.compare(
                *source, value=row.value, our_value=of_declared.value, tolerance=row.tolerance,
                inert=inert.fields,
                reason="\n".join([reason, *data.notes]),
            )  # fmt: skip
        aside = f" Of no consequence here: {spelled(harmless)}." if harmless else ""
        reason = f"{title} cannot express {spelled(relevant)}, which matters here.{aside}\nThe nearest it can: "
        return ParityRow.not_comparable(
            *source, our_value=of_declared.value, reason=f"{reason}{of_nearest.convention}",
            per_query=report.QueryDifferences.between(of_nearest, of_declared),
        )  # fmt: skip
