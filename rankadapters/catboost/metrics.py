"""The declared metric inside a CatBoost training, and conventions as CatBoost's metric strings and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.callbacks.ignored_weights import IgnoredWeights
from rankadapters.callbacks.rounds import Rounds
from rankadapters.catboost.evaluated_sets import DeclaredSets
from rankadapters.core import presets
from rankadapters.core.data.columns import Array, as_numbers, same_length
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, brief
from rankadapters.core.evaluation.evaluator import Evaluator
from rankadapters.core.presets.texts import as_convention
from rankadapters.parity.data import as_float32

NOT_EVALUATED = -1.0  # what CatBoost's log says of a training set that is not declared; a log takes no NaN


class EvalMetric:
    """A declared metric for CatBoost's `eval_metric=`; made by `eval_metric`."""

    no_jit = True  # CatBoost would warn that numba cannot compile these methods

    def __init__(self, convention: Convention, sets: Sequence[Queries]) -> None:
        self.convention = convention
        self.sets = tuple(sets)
        self.history = History()
        self._rounds = Rounds()
        self._ignored_weights = IgnoredWeights()
        self._declared = DeclaredSets(
            [as_float32("labels", queries.labels, "CatBoost").astype(np.float32) for queries in self.sets]
        )
        self._evaluators: dict[str, tuple[Array | None, Evaluator]] = {}

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
        value = self._evaluator(name, place, weight).evaluate(np.asarray(approxes[0])).value
        self._rounds.enter(self.history, None, name)
        at = {"run": self._rounds.run, "iteration": self._rounds.iteration}
        self.history.record([Evaluation(name, self.convention, value, name=type(self).__name__, **at)])
        return value, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Give the value back: it is a mean already."""
        del weight
        return error

    def _evaluator(self, name: str, place: int, weight: Any) -> Evaluator:
        """Bind a set at its first sight, and again when CatBoost brings other weights."""
        queries, column = self.sets[place], self.convention.weighting
        weights = None
        if weight is not None and not queries.weights:
            weights = self._counted(place, np.asarray(weight))
        bound = self._evaluators.get(name)
        if bound is not None and _same(bound[0], weights):
            return bound[1]
        if weights is not None:
            queries = queries.with_weights(**{str(column): weights})
        evaluator = Evaluator(queries, self.convention)
        self._evaluators[name] = (weights, evaluator)
        return evaluator

    def _counted(self, place: int, weight: Array) -> Array | None:
        """Take CatBoost's weights, one per row, as the convention counts them; None, with a warning, if it does not."""
        queries, column = self.sets[place], self.convention.weighting
        if column != "query_weight":
            self._ignored_weights.warn([self.convention])
            return np.array(weight, np.float64) if column == "row_weight" else None
        weights, varies = weights_of_rows(weight, queries)
        if varies is not None:
            msg = (
                f"CatBoost's weights vary within query {queries.query_ids[varies]} of set {place}: they hold object "
                "weights.\nHint: group_weight= rather than weight=, or sets=[(labels, qid, query_weight)]."
            )
            raise InputError(msg)
        return weights

    def __deepcopy__(self, memo: dict[int, Any]) -> EvalMetric:
        """Let the copy write into this history: CatBoost copies its parameters, and only the copy sees a call."""
        del memo
        other = _restored(self.convention, self.sets, type(self).__name__)
        other.history = self.history
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what was declared, not what was seen."""
        return _restored, (self.convention, self.sets, type(self).__name__)


def eval_metric(convention: Convention | str, sets: Sequence[Any], *, name: str | None = None) -> EvalMetric:
    """Make a metric that reports the declared convention in a CatBoost training, early stopping included.

    CatBoost tells a custom metric scores, labels and weights, but never the groups. So the metric is told its sets
    beforehand, and recognises the one it is handed by its labels.

    CatBoost evaluates the training set, too. Leave it out of `sets` to ignore it: nothing is computed of it then, and
    its values in CatBoost's log are -1, since the log takes no NaN.

    Parameters
    ----------
    convention : Convention or str
        What to report and watch.
    sets : sequence
        Every `eval_set`, and the training set where it is to be evaluated, in any order: `(labels, qid)`,
        `(labels, qid, query_weight)` or Queries, with the rows as in their Pool. Without a query weight, and unless the
        convention says `average="uniform"`, the Pool's group weights count.
    name : str, optional
        Name in CatBoost's log; `convention.name` by default.

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
    convention = as_convention(convention)
    if isinstance(sets, (str, Queries)) or not isinstance(sets, Sequence) or not len(sets):
        msg = f"sets={sets!r:.80} lists no set.\nHint: sets=[(labels, qid), ...]."
        raise InputError(msg)
    bound = [_as_set(each, place) for place, each in enumerate(sets)]
    for queries in bound:
        Evaluator(queries, convention)  # so that labels without a gain are refused now, and not by CatBoost
    metric = _restored(convention, tuple(bound), convention.name if name is None else name)
    _refuse_ambiguous(metric)
    return metric


def _restored(convention: Convention, sets: tuple[Queries, ...], name: str) -> EvalMetric:
    kind: type[EvalMetric] = type(name, (EvalMetric,), {"__doc__": EvalMetric.__doc__})  # CatBoost's log has its name
    return kind(convention, sets)


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


def native_metric(convention: Convention | str, *, group_weights: bool = True) -> str:
    """Translate a convention into CatBoost's metric string; `presets.catboost.write`.

    The string serves `catboost.utils.eval_metric`, `model.eval_metrics`, and `eval_metric=` or `custom_metric=` of
    `CatBoostRanker`, with one exception: in a training CatBoost refuses `use_weights` (how `average="uniform"` is
    said) unless the Pool has object weights, which no NDCG uses. CatBoost rewrites the string where it makes it a
    key of its results.

    Parameters
    ----------
    convention : Convention
        What CatBoost shall compute.
    group_weights : bool
        Whether the data may have group weights. False leaves `use_weights` out, which a training needs; CatBoost then
        weights no query as long as there are indeed no group weights.

    Returns
    -------
    str
        An `NDCG` or `DCG` with every parameter that matters spelled out.

    Raises
    ------
    UnsupportedConventionError
        CatBoost cannot express a field; the message names all such fields and the nearest convention that it can.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp, dcg.cpp.

    Examples
    --------
    >>> from rankadapters import presets
    >>> native_metric(presets.catboost(10, type="Exp"))
    'NDCG:top=10;type=Exp;denominator=LogPosition'
    >>> native_metric(presets.catboost(None, use_weights=False))
    'NDCG:top=-1;type=Base;denominator=LogPosition;use_weights=false'
    """
    wanted = as_convention(convention)
    presets.catboost.write(wanted)  # which refuses what CatBoost cannot express
    return presets.catboost.spell(presets.catboost.nearest(wanted), group_weights=group_weights)


def read_metric(metric: str, **params: Any) -> Convention:
    """Read what CatBoost computes for one of its metric strings: `presets.catboost.read`, inverse of `native_metric`.

    Parameters
    ----------
    metric : str
        A metric with any of its parameters and `hints`, in CatBoost's spelling, as given to it or as a key of its
        results. What is left out has CatBoost's default.
    **params
        As of `presets.catboost.read`.

    Returns
    -------
    Convention

    Raises
    ------
    ConventionError
        As of `presets.catboost.read`.

    References
    ----------
    CatBoost 1.2.10, catboost/libs/metrics/metric.cpp.

    Examples
    --------
    >>> read_metric("NDCG:top=5;type=Base") == presets.catboost(5)
    True
    >>> read_metric("NDCG:top=0")
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.ConventionError: 'NDCG:top=0' has top='0', at which CatBoost gives every query 1 ...
    Hint: top=-1 is all rows.
    """
    return presets.catboost.read(metric, **params)


def weights_of_rows(group_weight: object, queries: Queries) -> tuple[Array, int | None]:
    """Take CatBoost's `group_weight`, one per row, as it does: each query's first row; and the first that varies."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    first, varies = queries.per_query(weights)
    return first, None if varies < 0 else varies
