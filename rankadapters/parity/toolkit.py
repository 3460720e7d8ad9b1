"""A toolkit as every check sees it: what it expresses, how it holds data, how it is asked, what its models say."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Never

from rankadapters.core.data.keywords import GROUPS, refuse_other_names
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import Vocabulary, differing, spelled
from rankadapters.parity.causes import judge
from rankadapters.parity.data import as_float32, bind, logged_at, refuse_other_gains, refuse_retrieval
from rankadapters.parity.held import NO_LOG, Held, Logged, Route
from rankadapters.parity.report import ParityReport
from rankadapters.parity.rows import FULL_DOUBLE, OurNumber, ParityRow, relative
from rankadapters.statistics.inert import inert_of


def _counts_by_row(declared: Convention, nearest: Convention) -> bool:
    """Whether a weight of each row's query, of all rows, is a row weight to the nearest convention."""
    weights = (declared.weighting, nearest.weighting)
    return declared.over == "rows" and weights == ("query_weight", "row_weight")


class Toolkit(ABC):
    """A toolkit: made once in the adapter's `parity.py`, and all that `check_parity` and `crosscheck` know of it.

    Attributes
    ----------
    vocabulary : Vocabulary
        What it expresses, in its own words.
    float32 : dict of str to str
        Columns that it holds as float32, and what is said of those that this changes.
    """

    vocabulary: ClassVar[Vocabulary[Any]]
    float32: ClassVar[dict[str, str]] = {}

    @property
    def version(self) -> str:
        """The one installed."""
        return str(sys.modules[self.vocabulary.name].__version__)

    def nearest(self, convention: Convention) -> tuple[Convention, Any]:
        """Give the nearest convention that it computes, the same one where it can, and its own words for it.

        The words are the metric and parameters that `native_metric` gives.
        """
        found = self.vocabulary.nearest(convention)
        # A nearest that differs only in what stands in the way may yet differ in a field that follows from it.
        return self.nearest(found) if differing(convention, found) else (convention, self.vocabulary.spell(found))

    @abstractmethod
    def names(self, words: Any) -> tuple[str, str]:
        """Give its own name of the metric, as its log writes it, and say how it is asked, parameters included."""

    def refuse(self, queries: Queries, words: Any) -> None:  # noqa: B027 - some take whatever has a value
        """Name what it refuses of the caller's data, before it prints something of its own."""

    def hold(self, held: Held, words: Any) -> Held:
        """Bring the rows of each query together, and every column into its precision."""
        del words
        queries, changed = held.queries, dict[str, list[str]]()
        columns = {name: getattr(queries, name) for name in ("labels", "query_weight", "row_weight")}
        for name, note in self.float32.items():
            if (column := columns[name]) is not None:
                columns[name] = as_float32(name, column, self.vocabulary.title)
                if (columns[name] != column).any():
                    changed.setdefault(note, []).append(name)
        if changed:
            queries = queries.with_labels(columns.pop("labels"))
            queries = queries.with_weights(**columns)
        queries, rows = queries.together()
        said = [note.format(" and ".join(names)) for note, names in changed.items()]
        return replace(held, queries=queries, scores=held.scores[rows], notes=(*said, *held.notes))

    @abstractmethod
    def ask(self, held: Held, words: Any) -> float:
        """Ask for its own value."""

    def precision(self, convention: Convention) -> float:
        """Give what its own value is trusted to, relative to its size where that is above 1."""
        del convention
        return FULL_DOUBLE

    def check_parity(
        self,
        labels: object,
        scores: object,
        convention: Convention | str,
        *,
        qid: object = None,
        group_sizes: object = None,
        query_weight: object = None,
        **other: Never,
    ) -> ParityReport:
        """Compare the toolkit's own value of these scores with ours; nothing is trained.

        Where the toolkit cannot express the convention, the two are compared under the nearest that it can, and a
        second row states our value under the declared one: equal where nothing in the data depends on the fields that
        it cannot express.

        Parameters
        ----------
        labels : array-like, shape (n_docs,), or Queries
            Relevance labels; with a Queries, no other column is taken.
        scores : array-like, shape (n_docs,)
            Predicted scores, higher is better.
        convention : Convention or str
            What is declared.
        qid, group_sizes, query_weight
            As in `Queries`.

        Returns
        -------
        ParityReport
            The toolkit's value against ours, which must agree to 1e-9; then the declared convention, if that is
            another. What the toolkit rounds or leaves out is so on both sides, and the reason says it.

        Raises
        ------
        InputError
            The data has no value under the convention, or the toolkit refuses it.
        """
        convention = as_convention(convention)
        refuse_other_names(other, GROUPS)
        queries = as_queries(labels, qid=qid, group_sizes=group_sizes, query_weight=query_weight)
        return self.check(Held(queries=queries, scores=scores), convention)

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
        """Compare a trained model's numbers on a data set with ours, by every route that it has.

        Parameters
        ----------
        model : ranker or Booster
            Trained.
        data : tuple, or the toolkit's own kind of data
            `(X, labels, qid)` or `(X, labels, qid, query_weight)`, rows as the toolkit was given them; a DMatrix; or a
            Dataset that still has its features.
        convention : Convention or str
            What is declared.
        dataset : str, optional
            The data's name in the training, as in `valid_0`; then what was logged for it is compared too.
        log : dict, optional
            What the training function filled; a ranker has its own.
        iteration : int, optional
            Which iteration to check, from 0 on; the model's best, or last, by default.

        Returns
        -------
        ParityReport
            A row per route under the nearest convention that the toolkit can express, then the declared one.

        Raises
        ------
        InputError
            The model is not trained, the parts do not fit each other, the toolkit refuses the data, or the model was
            trained under gains with which its own metric of this data is another than the one asked for.
        """
        convention = as_convention(convention)
        known = getattr(model, "evals_result_", None) if log is None else log
        held = self.trained(model, data, convention, iteration)
        return self.check(held, convention, dataset, partial(logged_at, known))

    def trained(self, model: Any, data: Any, convention: Convention, iteration: int | None) -> Held:
        """Read a model and its data, as `check_model` is given them, with the weights that the convention counts."""
        del model, data, convention, iteration
        has = f"{self.vocabulary.title} has no models that know their metric"
        raise InputError(f"{has}.\nHint: check_parity of the model's scores.")

    def asked(self, words: Any, by: str = "") -> Route:
        """Give the route by which its metric of scores is asked for, and what to say before it."""
        return Route(by + self.names(words)[1], partial(self.ask, words=words), apart=True)

    def held(self, given: Held, convention: Convention) -> tuple[Convention, Any, Held]:
        """Give the nearest convention, its words, and the data as it holds them, unless somebody refuses them."""
        refuse_retrieval(given.queries, self.vocabulary.title)
        nearest, words = self.nearest(convention)
        given = self._without_idle_weights(given, convention, words)
        scores = bind(given.queries, given.scores, convention)
        refuse_other_gains(given.queries.labels, nearest, given.own or nearest)
        self.refuse(given.queries, words)
        given, queries = replace(given, scores=scores), given.queries
        if not _counts_by_row(convention, nearest) or queries.query_weight is None:
            return nearest, words, self.hold(given, words)
        # A weight of each row's query: what is declared reads it from the query, the toolkit from the row.
        by_row = queries.with_weights(row_weight=queries.query_weight[queries.query_of_row])
        held = self.hold(replace(given, queries=by_row), words)
        weights, starts = held.queries.row_weight, held.queries.indptr[:-1]
        both = held.queries.with_weights(None if weights is None else weights[starts], row_weight=weights)
        return nearest, words, replace(held, queries=both)

    def _without_idle_weights(self, given: Held, convention: Convention, words: Any) -> Held:
        """Leave query weights aside that neither the convention nor its measure in the toolkit ever counts.

        The toolkit is told them all the same.
        """
        weights = given.queries.query_weight
        if weights is None or convention.weighting is not None:
            return given
        try:
            weighted = self.nearest(convention.replace(average="query"))[0].weighting == "query_weight"
        except ConventionError:
            weighted = False
        if weighted:
            return given
        name = f"{self.vocabulary.title}'s {self.names(words)[0]}"
        note = f"query_weight does not count: neither under average={convention.average!r} nor in {name}."
        told = {"query_weight": weights, **given.given}
        return replace(given, queries=given.queries.with_weights(), notes=(note, *given.notes), given=told)

    def check(
        self, given: Held, declared: Convention, dataset: str | None = None, logged: Logged = NO_LOG
    ) -> ParityReport:
        """Compare by every route under the nearest convention that the toolkit has, then state the declared one."""
        nearest, words, held = self.held(given, declared)
        routes = [*(held.routes or [self.asked(words)])]
        if dataset is not None:
            name, values = logged(dataset, self.names(words)[0])
            iteration, value = held.of_log(values)
            routes.append(Route(f"log of {dataset}, iteration {iteration}, {name}", lambda _: value))
        # Data without a value is ours to name, before the toolkit is asked.
        wanted = OurNumber.of(held.queries, held.scores, declared, leaving=True)
        different = {} if nearest == declared else differing(declared, nearest)
        # Weights that the declared convention counts and the nearest does not are left aside on both sides.
        ours = OurNumber.of(held.queries, held.scores, nearest, leaving=True) if different else wanted
        asked_of, bound = replace(held, queries=ours.queries), relative(self.precision(ours.convention), ours.value)
        rows = [
            judge(
                ours, route.ask(asked_of), route.source, self.version, notes=held.notes, tolerance=bound,
                per_query=partial(route.ask_each, asked_of, ours),
            )
            for route in routes
        ]  # fmt: skip
        return ParityReport((*rows, *([self._declared(rows[0], held, wanted, ours, different)] if different else [])))

    def _declared(
        self, row: ParityRow, held: Held, wanted: OurNumber, ours: OurNumber, different: Mapping[str, tuple[Any, Any]]
    ) -> ParityRow:
        """State the declared convention: whether what the toolkit cannot express of it matters on this data."""
        source, title = (self.vocabulary.name, self.version, wanted.convention), self.vocabulary.title
        known = {each.convention: each.terms for each in (wanted, ours)}
        inert = inert_of(held.queries, wanted.convention, ours.convention, held.scores, known)
        matter = {name: values for name, values in different.items() if name not in inert}
        harmless = {name: values for name, values in different.items() if name in inert}
        if not matter and row.value is not None and row.tolerance is not None:
            reason = f"{title} cannot express {spelled(harmless)}; on this data that makes no difference."
            return ParityRow.compare(
                *source, value=row.value, our_value=wanted.value, tolerance=row.tolerance, inert=inert,
                reason="\n".join([reason, *held.notes]),
            )  # fmt: skip
        aside = f" Of no consequence here: {spelled(harmless)}." if harmless else ""
        reason = f"{title} cannot express {spelled(matter)}, which matters here.{aside}\nThe nearest it can: "
        return ParityRow.not_comparable(
            *source, our_value=wanted.value, reason=f"{reason}{ours.convention}", per_query=ours.gap(wanted)
        )
