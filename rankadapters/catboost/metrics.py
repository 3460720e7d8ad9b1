"""A declared metric in CatBoost's training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import catboost as cb
import numpy as np

from rankadapters import presets
from rankadapters.callbacks.arguments import refuse_other_toolkit, refused_as_scorer
from rankadapters.callbacks.metrics import evaluated, evaluators_of, warn_of_ignored_weights
from rankadapters.catboost.boosted_pool import labels_of, sizes_of
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import EVAL_METRIC, shows_call
from rankadapters.core.errors import ConventionError, InputError, brief
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.parity.data import as_float32
from rankadapters.presets.texts import as_convention, is_one

native_metric, read_metric = presets.catboost.write, presets.catboost.read

NOT_EVALUATED = -1.0  # logged for an undeclared training set, because CatBoost's log cannot hold NaN


class _EvaluatedSet(NamedTuple):
    """A set that CatBoost evaluates in a training, with the labels and weights that CatBoost passes."""

    labels: Array
    weights: Any  # an array or None
    evaluators: Sequence[Evaluator]  # empty for a training set that is not declared


class EvalMetric:
    """A declared metric for CatBoost's `eval_metric=`. Made by `eval_metric`."""

    no_jit = True  # otherwise CatBoost warns that numba cannot compile these methods

    def __init__(self, convention: Convention, sets: Sequence[Queries], n_threads: int | None) -> None:
        self.convention, self.sets, self.n_threads = convention, tuple(sets), n_threads
        self._labels = [as_float32("labels", queries.labels, "CatBoost").astype(np.float32) for queries in self.sets]
        # The key is the memory address of the labels, which differs for sets of equal labels and is the same in every
        # round. The dict is empty when a training starts, since CatBoost copies the metric.
        self._evaluated: dict[int, _EvaluatedSet] = {}
        self._has_warned = False

    def __call__(self, *data: Any, **named: Any) -> Any:  # LGBMRanker would ignore a metric that it cannot call
        """Refuse to be a metric of another toolkit, or a scorer."""
        del named
        if data and (refused := refused_as_scorer(data[0])) is not None:
            return refused
        refuse_other_toolkit("catboost", "eval_metric", *data)
        hint = "CatBoostRanker(eval_metric=metric); elsewhere ra.lightgbm.eval_metric or ra.xgboost.eval_metric"
        raise InputError("a metric of CatBoost is no function.", hint=hint)

    def is_max_optimal(self) -> bool:
        """Tell CatBoost whether higher values are better."""
        return self.convention.higher_is_better

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Evaluate one set; CatBoost calls this once for all rows."""
        if len(approxes) != 1:
            msg = f"the model has {len(approxes)} outputs, but a ranking has one."
            raise InputError(msg, hint="a ranking or regression loss")
        evaluators = self._evaluators(np.asarray(target), weight)
        if not evaluators:
            return NOT_EVALUATED, 1.0
        return evaluated(evaluators, np.asarray(approxes[0]))[self.convention], 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value unchanged, because it is already a mean."""
        del weight
        return error

    def _evaluators(self, labels: Array, weight: Any) -> Sequence[Evaluator]:
        """Return the evaluators of the set with these labels, which are rebuilt if labels or weights change."""
        address = labels.__array_interface__["data"][0]
        weights: Any = None if weight is None else np.array(weight, np.float64)
        known = self._evaluated.get(address)
        if known is None or not (np.array_equal(known.labels, labels) and np.array_equal(known.weights, weights)):
            index = self._index(labels)
            known = _EvaluatedSet(labels.copy(), weights, () if index is None else self._bound(index, weights))
            self._evaluated[address] = known
        return known.evaluators

    def _index(self, labels: Array) -> int | None:
        """Return the index of the declared set with these labels; None for a training set that is not declared."""
        for index, declared in enumerate(self._labels):
            if np.array_equal(declared, labels):
                return index
        if not self._evaluated:  # CatBoost evaluates the training set first
            return None
        for index, declared in enumerate(self._labels):
            if declared.size == labels.size and np.array_equal(np.sort(declared), np.sort(labels)):
                msg = f"CatBoost evaluates a set with the labels of set {index}, but in a different order."
                raise InputError(msg, hint="sets= of every eval_set, with rows in the order of its Pool")
        raise InputError(
            f"CatBoost evaluates a set of {labels.size} rows whose labels match none of the declared sets (of "
            f"{[declared.size for declared in self._labels]} rows).",
            hint="sets=[pool, ...] of every eval_set; only the training set may be left out. In catboost.cv pass "
            "folds=, and declare both parts of each fold; where CatBoost divides the rows itself, cross_validate a "
            "QueryRanker",
        )

    def _bound(self, index: int, weights: Array | None) -> list[Evaluator]:
        """Bind a set with its own weights or, if it has none, with CatBoost's if the convention uses them."""
        queries, weighting = self.sets[index], self.convention.weighting
        if weights is not None and not queries.weights:
            if not self._has_warned:
                self._has_warned = warn_of_ignored_weights([self.convention])
            if weighting == "row_weight":
                queries = queries.with_weights(row_weight=weights)
            elif weighting == "query_weight":
                hint = "group_weight= instead of weight=, or sets=[(labels, qid, query_weight)]"
                by_query = queries.weights_per_query(f"weight= of set {index}", weights, hint=hint)
                queries = queries.with_weights(by_query)
        return evaluators_of([self.convention], lambda _: queries, self.n_threads)

    def _refuse_sets(self) -> None:
        """Refuse labels without a gain, and sets that labels do not tell apart."""
        for index in range(len(self.sets)):
            self._bound(index, None)
        for first, second in combinations(range(len(self.sets)), 2):
            equal_labels = np.array_equal(self._labels[first], self._labels[second])
            if equal_labels and not _same_queries(self.sets[first], self.sets[second]):
                raise InputError(
                    f"sets {first} and {second} have the same labels but different queries or weights, and CatBoost "
                    "passes only labels.",
                    hint="a separate metric object and training for each",
                )

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalMetric:
        """Share the declared sets with the copy. CatBoost copies its parameters for each training."""
        del memo
        return _named(type(self).__name__, self.convention, self.sets, self.n_threads)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings without the sets of a training."""
        return _named, (type(self).__name__, self.convention, self.sets, self.n_threads)


@shows_call(EVAL_METRIC["catboost"])
def eval_metric(
    convention: Convention | str | Mapping[str, Convention | str], sets: Sequence[Any], *, n_threads: int | None = None
) -> EvalMetric:
    """Make a metric that reports a convention in a CatBoost training, including early stopping.

    CatBoost passes a custom metric scores, labels and weights, but never the groups. So you declare the sets
    beforehand, and the metric recognizes each set by its labels.

    CatBoost evaluates the training set too, before the others. Leave it out of `sets` to save the time: CatBoost's log
    then shows -1 for it, since the log cannot hold NaN.

    Parameters
    ----------
    convention : Convention or str, or mapping of str to one of these
        The convention to report, with a name of its own in the log. CatBoost accepts one custom metric a training;
        `ra.catboost.train` reports several conventions.
    sets : sequence
        Every `eval_set`, and the training set if you want it evaluated, in any order: a Pool, `(labels, qid)`,
        `(labels, qid, query_weight)` or Queries, with rows in the order of their Pool. Without a query weight, the
        Pool's group weights count, unless the convention says `average="uniform"`.
    n_threads : int, optional
        None uses all CPUs.

    Returns
    -------
    EvalMetric
        For `CatBoostRanker(eval_metric=)`. `ra.History.of(model.get_evals_result())` has the values, which equal
        `ra.evaluate` on the same labels and scores bit for bit. CatBoost names the sets `learn`, `validation`, or with
        several eval sets `validation_0` and so on.

    Raises
    ------
    ConventionError
        `convention` is a sequence.
    InputError
        Two sets have equal labels but different queries or weights, so the metric could not tell them apart; a Pool
        lacks labels or group ids. During training, inside CatBoost's own error: an eval set is not declared, or its
        rows have a different order.

    Warns
    -----
    UserWarning
        A Pool has weights, but the convention ignores them.

    Notes
    -----
    The log also shows -1 for a training set that you declared with other labels, or whose rows CatBoost permutes: under
    `boosting_type="Ordered"`, and with `cat_features` unless `has_time=True`. Without an `eval_set`, only the -1 shows
    that the training set is not declared. A set is evaluated with the queries of the declared set of equal labels.

    References
    ----------
    CatBoost 1.2.10, python-package: `_catboost.pyx`, `_MetricEval`.

    Examples
    --------
    >>> import catboost as cb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    >>> pool, valid_pool = cb.Pool(X[:30], y[:30], group_id=qid[:30]), cb.Pool(X[30:], y[30:], group_id=qid[30:])
    >>> metric = ra.catboost.eval_metric(ra.presets.letor4(5), [valid_pool])
    >>> model = cb.CatBoostRanker(
    ...     iterations=4, eval_metric=metric, use_best_model=False, thread_count=1, verbose=False,
    ...     allow_writing_files=False,
    ... ).fit(pool, eval_set=valid_pool)
    >>> last = ra.History.of(model.get_evals_result()).only(dataset="validation")[-1]
    >>> last.value == ra.evaluate(y[30:], model.predict(X[30:]), ra.presets.letor4(5), qid=qid[30:]).value
    True
    """
    if not is_one(convention) and not (isinstance(convention, Mapping) and len(convention) == 1):
        msg = f"convention={brief(convention)} has several, but CatBoost takes one custom metric a training."
        raise ConventionError(msg, hint="ra.catboost.train reports several conventions")
    convention = as_convention(convention)
    if isinstance(sets, (str, Queries, cb.Pool)) or not isinstance(sets, Sequence) or not len(sets):
        msg = f"sets={brief(sets)} is not a list of sets."
        raise InputError(msg, hint="sets=[valid_pool], or sets=[(labels, qid)]")
    declared = tuple(_as_set(entry, index) for index, entry in enumerate(sets))
    metric = _named(convention.name, convention, declared, n_threads)
    metric._refuse_sets()  # noqa: SLF001 - a class of this module
    return metric


def _named(name: str, convention: Convention, sets: Sequence[Queries], n_threads: int | None) -> EvalMetric:
    """Return a metric whose class has the display name, because CatBoost logs the name of the class."""
    kind: type[EvalMetric] = type(name, (EvalMetric,), {"__doc__": EvalMetric.__doc__})
    return kind(convention, sets, n_threads)


def name_in_log(metric: str, names: Iterable[str]) -> str | None:
    """Return the name that CatBoost's log has for a metric, which `native_metric(..., group_weights=False)` spells.

    CatBoost may spell it differently, and does not always log whether weights count.
    """
    for name in names:
        with suppress(ConventionError):  # not a metric that we can read
            if presets.catboost.spell(read_metric(name), group_weights=False) == metric:
                return name
    return None


def _as_set(value: Any, index: int) -> Queries:
    if isinstance(value, Queries):
        return value
    if isinstance(value, cb.Pool):
        try:
            return Queries(labels_of(value), group_sizes=sizes_of(value))
        except InputError as error:
            raise error.about(f"sets[{index}]") from None
    if not isinstance(value, tuple) or len(value) not in {2, 3}:
        raise InputError(
            f"sets[{index}] is {brief(value)}; allowed are a Pool, (labels, qid), (labels, qid, query_weight) and "
            "Queries.",
            hint="sets=[(labels, qid)]",
        )
    labels, qid, *weight = value
    return Queries(labels, qid=qid, query_weight=weight[0] if weight else None)


def _same_queries(a: Queries, b: Queries) -> bool:
    names = ("query_of_row", "query_weight", "row_weight", "docid_rank", "retrieved", "judged")
    return a.digest == b.digest and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
