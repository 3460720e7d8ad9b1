"""Declared metrics in CatBoost's training."""

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

NOT_EVALUATED = -1.0  # logged for an undeclared training set, because CatBoost's log cannot hold NaN


class EvalMetric:
    """Declared metrics for CatBoost's `eval_metric=`; early stopping uses the first. Made by `eval_metric`."""

    no_jit = True  # otherwise CatBoost warns that numba cannot compile these methods

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
        """The first convention, which CatBoost logs and uses for early stopping."""
        return next(iter(self.names))

    def is_max_optimal(self) -> bool:
        """Tell CatBoost whether higher values are better."""
        return self.convention.higher_is_better

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Evaluate one set; CatBoost calls this once for all rows."""
        if len(approxes) != 1:
            msg = f"the model has {len(approxes)} outputs, but a ranking has one.\nHint: a ranking or regression loss."
            raise InputError(msg)
        name, index = self._declared.recognize(np.asarray(target))
        if index is None:
            return NOT_EVALUATED, 1.0
        values = evaluated(self._panels(name, index, weight), np.asarray(approxes[0]))
        self._rounds.enter(self.history, None, name)
        self.history.report(name, values, self.names, **self._rounds.at)
        return values[self.convention], 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value unchanged, because it is already a mean."""
        del weight
        return error

    def _panels(self, name: str, index: int, weight: Any) -> list[Panel]:
        """Return the evaluators of a set, which are rebuilt if CatBoost passes different weights."""
        weights = None if weight is None or self.sets[index].weights else np.array(weight, np.float64)
        entry = self._bound.get(name)
        if entry is None or not _same(entry[0], weights):
            if weights is not None:
                self._ignored_weights.warn(self.names)
            entry = weights, panels_of(self.names, partial(self._weighted, index, weights), self.n_threads)
            self._bound[name] = entry
        return entry[1]

    def _weighted(self, index: int, weights: Array | None, weighting: str | None) -> Queries:
        """Return a set with CatBoost's weights per query, per row or, for conventions that ignore them, not at all."""
        queries = self.sets[index]
        if weights is None or weighting not in COUNTED:
            return queries
        if weighting == "row_weight":
            return queries.with_weights(row_weight=weights)
        by_query, varies = weights_of_rows(weights, queries)
        if varies is not None:
            msg = (
                f"CatBoost's weights vary within query {queries.query_ids[varies]} of set {index}: they are object "
                "weights.\nHint: group_weight= instead of weight=, or sets=[(labels, qid, query_weight)]."
            )
            raise InputError(msg)
        return queries.with_weights(query_weight=by_query)

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalMetric:
        """Share the history with the copy, because CatBoost copies its parameters and calls only the copy."""
        del memo
        duplicate = _restored(self.names, self.sets, self.n_threads)
        duplicate.history = self.history
        return duplicate

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings without the history."""
        return _restored, (self.names, self.sets, self.n_threads)


def eval_metric(
    convention: Convention | str | Sequence[Convention | str],
    sets: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> EvalMetric:
    """Make a metric that reports each convention in a CatBoost training, including early stopping.

    CatBoost passes a custom metric scores, labels and weights, but never the groups. So you declare the sets
    beforehand, and the metric recognizes each set by its labels.

    CatBoost evaluates the training set too. Leave it out of `sets` to save the time: CatBoost's log then shows -1 for
    it, since the log cannot hold NaN.

    Parameters
    ----------
    convention : Convention or str, or sequence of them
        The conventions to report. CatBoost accepts one custom metric: it logs and watches the first convention, and
        `history` has all of them.
    sets : sequence
        Every `eval_set`, and the training set if you want it evaluated, in any order: `(labels, qid)`, `(labels, qid,
        query_weight)` or Queries, with rows in the order of their Pool. Without a query weight, the Pool's group
        weights count, unless the convention says `average="uniform"`.
    names : sequence of str, optional
        Display names; `convention.name` by default.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    EvalMetric
        For `CatBoostRanker(eval_metric=)`. Its `history` has (name of the set, convention, value), with the names of
        CatBoost's log: `learn`, `validation`, or with several eval sets `validation_0` and so on. A value equals
        `ra.evaluate` on the same labels and scores bit for bit.

    Raises
    ------
    InputError
        Two sets have the same labels but different queries, so the metric could not tell them apart. During training,
        inside CatBoost's own error: an eval set is not declared, or the rows of a declared set are permuted.

    Warns
    -----
    UserWarning
        A Pool has weights, but the convention ignores them.

    Notes
    -----
    Under `boosting_type="Ordered"`, and with `cat_features` unless `has_time=True`, CatBoost permutes the training
    rows. Leave the training set out of `sets` then. If you declare it, its labels show the permutation and the metric
    raises an error, except if all labels are equal, where the order does not matter.

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
        msg = f"sets={brief(sets)} is not a list of sets.\nHint: sets=[(labels, qid), ...]."
        raise InputError(msg)
    declared = tuple(_as_set(entry, index) for index, entry in enumerate(sets))
    for queries in declared:
        panels_of(shown, partial(_declared, queries), n_threads)  # to refuse labels without a gain
    metric = _restored(shown, declared, n_threads)
    _refuse_ambiguous(metric)
    return metric


def _restored(names: dict[Convention, str], sets: tuple[Queries, ...], n_threads: int | None) -> EvalMetric:
    """Return a metric whose class is named by the first display name, because CatBoost logs the class name."""
    kind: type[EvalMetric] = type(next(iter(names.values())), (EvalMetric,), {"__doc__": EvalMetric.__doc__})
    return kind(names, sets, n_threads)


def _declared(queries: Queries, weighting: str | None) -> Queries:
    """Return a declared set unchanged, for any weighting."""
    del weighting
    return queries


def _as_set(value: Any, index: int) -> Queries:
    if isinstance(value, Queries):
        return value
    if not isinstance(value, tuple) or len(value) not in {2, 3}:
        allowed = "(labels, qid), (labels, qid, query_weight) and Queries"
        raise InputError(f"sets[{index}] is {brief(value)}; allowed are {allowed}.\nHint: sets=[(labels, qid)].")
    labels, qid, *weight = value
    return Queries(labels, qid=qid, query_weight=weight[0] if weight else None)


def _refuse_ambiguous(metric: EvalMetric) -> None:
    targets = metric._declared.labels  # noqa: SLF001 - a class of this module
    for second, queries in enumerate(metric.sets):
        for first in range(second):
            first_queries = metric.sets[first]
            if np.array_equal(targets[first], targets[second]) and not _same_queries(first_queries, queries):
                msg = (
                    f"sets {first} and {second} have the same labels but different queries or weights, and CatBoost "
                    "passes only labels.\nHint: a separate metric object and training for each."
                )
                raise InputError(msg)


def _same_queries(a: Queries, b: Queries) -> bool:
    names = ("query_of_row", "query_weight", "row_weight", "docid_rank", "retrieved", "judged")
    pairs = ((getattr(a, name), getattr(b, name)) for name in names)
    return a.digest == b.digest and all(_same(*pair) for pair in pairs)


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def weights_of_rows(group_weight: object, queries: Queries) -> tuple[Array, int | None]:
    """Return each query's weight, from its first row in `group_weight`, and the first query where it varies or None."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    first, varies = queries.per_query(weights)
    return first, None if varies < 0 else varies
