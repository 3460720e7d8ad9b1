"""The declared metrics inside a CatBoost training."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankadapters.callbacks.arguments import display_names
from rankadapters.callbacks.history import History
from rankadapters.callbacks.ignored_weights import COUNTED, IgnoredWeights
from rankadapters.callbacks.metrics import evaluated, panels_of
from rankadapters.callbacks.rounds import Rounds
from rankadapters.catboost.evaluated_sets import DeclaredSets
from rankadapters.core import presets
from rankadapters.core.data.columns import Array, as_numbers, same_length
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.parity.data import as_float32

if TYPE_CHECKING:
    from rankadapters.core.evaluation.panel import Panel

native_metric, read_metric = presets.catboost.write, presets.catboost.read

NOT_EVALUATED = -1.0  # what CatBoost's log says of a training set that is not declared; a log takes no NaN


class EvalMetric:
    """Declared metrics for CatBoost's `eval_metric=`, of which it watches the first; made by `eval_metric`."""

    no_jit = True  # CatBoost would warn that numba cannot compile these methods

    def __init__(self, names: dict[Convention, str], sets: Sequence[Queries], n_threads: int | None) -> None:
        self.names, self.sets, self.n_threads = names, tuple(sets), n_threads
        self.history = History()
        self._rounds = Rounds()
        self._ignored_weights = IgnoredWeights()
        self._declared = DeclaredSets(
            [as_float32("labels", queries.labels, "CatBoost").astype(np.float32) for queries in self.sets]
        )
        self._bound: dict[str, tuple[Array | None, list[Panel]]] = {}

    @property
    def convention(self) -> Convention:
        """The convention that CatBoost watches: the first."""
        return next(iter(self.names))

    def is_max_optimal(self) -> bool:
        """Tell CatBoost the direction."""
        return self.convention.higher_is_better

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Evaluate one set, as CatBoost calls it: once for all its rows."""
        if len(approxes) != 1:
            msg = f"the model has {len(approxes)} outputs, but a ranking has one.\nHint: a ranking or regression loss."
            raise InputError(msg)
        name, place = self._declared.recognise(np.asarray(target))
        if place is None:
            return NOT_EVALUATED, 1.0
        values = evaluated(self._panels(name, place, weight), np.asarray(approxes[0]))
        self._rounds.enter(self.history, None, name)
        self.history.report(name, values, self.names, **self._rounds.at)
        return values[self.convention], 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Give the value back: it is a mean already."""
        del weight
        return error

    def _panels(self, name: str, place: int, weight: Any) -> list[Panel]:
        """Bind a set at its first sight, and again when CatBoost brings other weights."""
        weights = None if weight is None or self.sets[place].weights else np.array(weight, np.float64)
        bound = self._bound.get(name)
        if bound is None or not _same(bound[0], weights):
            if weights is not None:
                self._ignored_weights.warn(self.names)
            bound = weights, panels_of(self.names, partial(self._weighted, place, weights), self.n_threads)
            self._bound[name] = bound
        return bound[1]

    def _weighted(self, place: int, weights: Array | None, weighting: str | None) -> Queries:
        """Take CatBoost's weights, one per row, as conventions count them; none where they do not."""
        queries = self.sets[place]
        if weights is None or weighting not in COUNTED:
            return queries
        if weighting == "row_weight":
            return queries.with_weights(row_weight=weights)
        by_query, varies = weights_of_rows(weights, queries)
        if varies is not None:
            msg = (
                f"CatBoost's weights vary within query {queries.query_ids[varies]} of set {place}: they hold object "
                "weights.\nHint: group_weight= rather than weight=, or sets=[(labels, qid, query_weight)]."
            )
            raise InputError(msg)
        return queries.with_weights(query_weight=by_query)

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalMetric:
        """Let the copy write into this history: CatBoost copies its parameters, and only the copy sees a call."""
        del memo
        other = _restored(self.names, self.sets, self.n_threads)
        other.history = self.history
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was declared, not what was seen."""
        return _restored, (self.names, self.sets, self.n_threads)


def eval_metric(
    convention: Convention | str | Sequence[Convention | str],
    sets: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> EvalMetric:
    """Make a metric that reports each convention in a CatBoost training, early stopping included.

    CatBoost tells a custom metric scores, labels and weights, but never the groups. So the metric is told its sets
    beforehand, and recognises the one it is handed by its labels.

    CatBoost evaluates the training set, too. Leave it out of `sets` to ignore it: nothing is computed of it then, and
    its values in CatBoost's log are -1, since the log takes no NaN.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        What to report. CatBoost takes one metric of its caller: the first is in its log and is watched, and all are in
        `history`.
    sets : sequence
        Every `eval_set`, and the training set where it is to be evaluated, in any order: `(labels, qid)`,
        `(labels, qid, query_weight)` or Queries, with the rows as in their Pool. Without a query weight, and unless the
        convention says `average="uniform"`, the Pool's group weights count.
    names : sequence of str, optional
        Names to report under; `convention.name` by default.
    n_threads : int, optional
        None takes all CPUs.

    Returns
    -------
    EvalMetric
        For `CatBoostRanker(eval_metric=)`. Its `history` keeps (name of the set, convention, value), with the names of
        CatBoost's log: `learn`, `validation`, or `validation_0` and so on where there are several eval sets. A value
        equals `ra.evaluate` on the same labels and scores bit for bit.

    Raises
    ------
    InputError
        Two sets have the same labels but other queries, so that nothing could tell them apart. During training, inside
        CatBoost's own error: an eval set is not among those declared, or the rows of a declared set are permuted.

    Warns
    -----
    UserWarning
        A Pool has weights, and the convention ignores them.

    Notes
    -----
    Under `boosting_type="Ordered"`, and with `cat_features` unless `has_time=True`, CatBoost permutes the rows that it
    trains on. Then leave the training set out of `sets`. A declared one is refused: its labels show the permutation.
    Labels that are all equal show none, but then no order of the rows is better than another.

    References
    ----------
    CatBoost 1.2.10, python-package: `_catboost.pyx`, `_MetricEval`.

    Examples
    --------
    >>> import catboost as cb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    >>> metric = ra.catboost.eval_metric(ra.presets.letor4(5), sets=[(y, qid)])
    >>> model = cb.CatBoostRanker(
    ...     iterations=4, eval_metric=metric, thread_count=1, verbose=False, allow_writing_files=False
    ... ).fit(X, y, group_id=qid)
    >>> metric.history[-1].value == ra.evaluate(y, model.predict(X), ra.presets.letor4(5), qid=qid).value
    True
    >>> metric.history[-1].dataset
    'learn'
    """
    shown = display_names(convention, names)
    if isinstance(sets, (str, Queries)) or not isinstance(sets, Sequence) or not len(sets):
        msg = f"sets={brief(sets)} lists no set.\nHint: sets=[(labels, qid), ...]."
        raise InputError(msg)
    bound = tuple(_as_set(each, place) for place, each in enumerate(sets))
    for queries in bound:
        panels_of(shown, partial(_declared, queries), n_threads)  # labels without a gain are refused now
    metric = _restored(shown, bound, n_threads)
    _refuse_ambiguous(metric)
    return metric


def _restored(names: dict[Convention, str], sets: tuple[Queries, ...], n_threads: int | None) -> EvalMetric:
    """Make a metric of a class with the first name, which CatBoost's log takes."""
    kind: type[EvalMetric] = type(next(iter(names.values())), (EvalMetric,), {"__doc__": EvalMetric.__doc__})
    return kind(names, sets, n_threads)


def _declared(queries: Queries, weighting: str | None) -> Queries:
    """Return a set as it was declared, whatever weights a convention counts."""
    del weighting
    return queries


def _as_set(given: Any, place: int) -> Queries:
    if isinstance(given, Queries):
        return given
    if not isinstance(given, tuple) or len(given) not in {2, 3}:
        allowed = "(labels, qid), (labels, qid, query_weight) and Queries"
        raise InputError(f"sets[{place}] is {brief(given)}; allowed are {allowed}.\nHint: sets=[(labels, qid)].")
    labels, qid, *weight = given
    return Queries(labels, qid=qid, query_weight=weight[0] if weight else None)


def _refuse_ambiguous(metric: EvalMetric) -> None:
    targets = metric._declared.labels  # noqa: SLF001 - of this module
    for second, queries in enumerate(metric.sets):
        for first in range(second):
            one = metric.sets[first]
            if np.array_equal(targets[first], targets[second]) and not _same_queries(one, queries):
                msg = (
                    f"sets {first} and {second} have the same labels but other queries or weights, so nothing that "
                    "CatBoost tells can tell them apart.\nHint: one metric object, and one training, for each."
                )
                raise InputError(msg)


def _same_queries(one: Queries, other: Queries) -> bool:
    names = ("query_of_row", "query_weight", "row_weight", "docid_rank", "retrieved", "judged")
    pairs = ((getattr(one, name), getattr(other, name)) for name in names)
    return one.digest == other.digest and all(_same(a, b) for a, b in pairs)


def _same(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def weights_of_rows(group_weight: object, queries: Queries) -> tuple[Array, int | None]:
    """Take CatBoost's `group_weight`, one per row, as it does: each query's first row; and the first that varies."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    first, varies = queries.per_query(weights)
    return first, None if varies < 0 else varies
