"""A toolkit as every check sees it: what it expresses, how it holds data, how it is asked, what its models say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Never

from numpy.typing import NDArray

from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.presets.tool import Vocabulary, differing
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity.comparing import compare
from rankadapters.parity.data import bind, in_order, logged_at, refuse_other_gains, refuse_retrieval
from rankadapters.parity.report import ParityReport
from rankadapters.parity.tolerances import FULL_DOUBLE

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The data as a toolkit holds it.

    Attributes
    ----------
    queries : Queries
        Contiguous queries.
    scores : float array, shape (n_docs,)
        In the order of these queries.
    notes : tuple of str
        What had to be changed, one sentence each; part of the reason of every row.
    given : dict
        What the toolkit is handed in another form than ours, such as weights by row.
    """

    queries: Queries
    scores: Array
    notes: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One way to get a toolkit's own number.

    Attributes
    ----------
    source : str
        The toolkit and the route.
    ask : callable
        Gives the toolkit's value of what it holds.
    precision : float
        What the value can be trusted to.
    apart : bool
        Whether it can be asked for some of the queries alone.
    """

    source: str
    ask: Callable[[Held], float]
    precision: float = FULL_DOUBLE
    apart: bool = True


class Toolkit(ABC):
    """A toolkit: made once in the adapter's `parity.py`, and all that `check_parity` and `crosscheck` know of it.

    Attributes
    ----------
    vocabulary : Vocabulary
        What it expresses, in its own words.
    version : str
        The one installed.
    precision : float
        What its values can be trusted to.
    """

    vocabulary: ClassVar[Vocabulary[Any]]
    version: ClassVar[str]
    precision: ClassVar[float] = FULL_DOUBLE

    @property
    def title(self) -> str:
        """Its name in prose."""
        return self.vocabulary.title

    @property
    def package(self) -> str:
        """Its name as it is imported."""
        return self.vocabulary.name

    def nearest(self, convention: Convention) -> tuple[Convention, Any]:
        """Give the nearest convention that it computes, the same one where it can, and its own words for it.

        The words are the metric and parameters that `native_metric` gives.
        """
        found = self.vocabulary.nearest(convention)
        # A nearest that differs only in what stands in the way may yet differ in a field that follows from it.
        return self.nearest(found) if differing(convention, found) else (convention, self.vocabulary.spell(found))

    @abstractmethod
    def metric(self, words: Any) -> str:
        """Give its own name of the metric, as its log writes it."""

    @abstractmethod
    def source(self, words: Any) -> str:
        """Say how it is asked, metric and parameters."""

    def refuse(self, queries: Queries, words: Any) -> None:  # noqa: B027 - some take whatever has a value
        """Name what it refuses of the caller's data, before it prints something of its own."""

    def hold(self, queries: Queries, scores: Array, words: Any) -> Held:
        """Bring the data into its order and precision."""
        del words
        together, rows = in_order(queries)
        return Held(queries=together, scores=scores[rows])

    @abstractmethod
    def ask(self, held: Held, words: Any) -> float:
        """Ask for its own value."""

    def route(self, words: Any) -> Route:
        """Give the way to its value of given scores."""
        return Route(source=self.source(words), ask=partial(self.ask, words=words), precision=self.precision)

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
        return self.check_trained(TrainedModel(queries=queries, scores=scores), convention)

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
            `(X, labels, qid)` or `(X, labels, qid, query_weight)`, rows as the toolkit was given them.
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
        trained = self.trained(model, data, convention.weighting, log=known, iteration=iteration)
        return self.check_trained(trained, convention, dataset)

    def check_trained(self, model: TrainedModel, convention: Convention, dataset: str | None = None) -> ParityReport:
        """Compare what a model on its data says, by every route, with what we say of its scores."""
        nearest, words, held = self.held(model, convention)
        routes = list(model.routes(self, words))
        if dataset is not None:
            name, value = model.logged(self, words, dataset)
            source = f"log of {dataset}, iteration {model.rounds - 1}, {name}"
            routes.append(Route(source=source, ask=lambda _: value, apart=False))
        return compare(self, routes, held, declared=convention, nearest=nearest)

    def held(self, model: TrainedModel, convention: Convention) -> tuple[Convention, Any, Held]:
        """Give the nearest convention, its words, and a model's data as it holds them, unless somebody refuses them."""
        refuse_retrieval(model.queries, self.title)
        scores = bind(model.queries, model.scores, convention)
        nearest, words = self.nearest(convention)
        refuse_other_gains(model.queries.labels, nearest, model.own_metric(nearest))
        self.refuse(model.queries, words)
        held = self.hold(model.queries, scores, words)
        given, notes = {**held.given, **model.given}, held.notes + model.remarks(nearest)
        return nearest, words, replace(held, given=given, notes=notes)

    def trained(self, model: Any, data: Any, weighting: str | None, *, log: Any, iteration: Any) -> TrainedModel:
        """Read a model and its data, as `check_model` is given them, with the weights that count."""
        del model, data, weighting, log, iteration
        msg = f"{self.title} has no models that know their metric.\nHint: check_parity of the model's scores."
        raise InputError(msg)


@dataclass(frozen=True, kw_only=True)
class TrainedModel:
    """A toolkit's trained model on a data set; or mere scores, of a model of which nothing else is known.

    Attributes
    ----------
    queries : Queries
        The judged data.
    scores : float array, shape (n_docs,)
        What the model predicts for them after `rounds` rounds.
    rounds : int
        How many of its rounds are looked at.
    log : mapping or None
        What the training logged, by name of the set and of the metric.
    notes : tuple of str
        What a reader must know of the data.
    given : dict
        What the toolkit is handed as the caller gave it, by row in the order of the queries.
    """

    queries: Queries
    scores: Any
    rounds: int = 0
    log: Any = None
    notes: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)

    def own_metric(self, asked: Convention) -> Convention:
        """Give what the model's own metric of that name means under the parameters that it was trained with."""
        return asked

    def remarks(self, convention: Convention) -> tuple[str, ...]:
        """Say what a reader must know of the data under a convention."""
        del convention
        return self.notes

    def routes(self, toolkit: Toolkit, words: Any) -> Iterable[Route]:
        """Give every way to the model's own number, but for the log."""
        return [toolkit.route(words)]

    def logged(self, toolkit: Toolkit, words: Any, dataset: str) -> tuple[str, float]:
        """Find what the training logged for a set: the metric's name there, and the value after `rounds` rounds."""
        name = toolkit.metric(words)
        return name, logged_at(self.log, dataset, name, self.rounds - 1)
