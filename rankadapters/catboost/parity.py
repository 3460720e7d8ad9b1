"""CatBoost's own numbers, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Never

import catboost as cb
import numpy as np
from catboost.utils import eval_metric
from numpy.typing import NDArray

from rankadapters.catboost.data import ROUTE, refuse_negative, weighted
from rankadapters.catboost.metrics import read_metric
from rankadapters.catboost.models import CatBoostModel, evaluated, labels_seen, raw_scores, rounds_asked
from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.presets.tool import differing, spelled
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import Held, ParityReport, ParityRow, Toolkit, TrainedModel
from rankadapters.parity.comparing import compare_value
from rankadapters.parity.data import in_order, refuse_retrieval, refused, rounded, sentence
from rankadapters.parity.ours import Ours, counting

NAN = (
    "scores[{}] is NaN, which has no place in an order, so we refuse it. To CatBoost it is neither above nor below any "
    "score, so they stay where its sort happens to leave them: a query of NaN counts 1 when its labels descend in the "
    "data, and another number for the same rows in another order."
)


class CatBoostToolkit(Toolkit):
    """CatBoost: asked through `catboost.utils.eval_metric`; it holds labels and group weights as float32."""

    vocabulary = presets.catboost
    version: ClassVar[str] = cb.__version__

    def nearest(self, convention: Convention) -> tuple[Convention, str]:
        """Refuse what a check cannot ask: CatBoost makes and weighs pairs in a Pool only."""
        nearest, words = super().nearest(convention)
        if nearest.over == "pairs":
            msg = (
                f"{ROUTE} makes no pairs of labels and takes no weights of pairs, so that PairAccuracy is not asked "
                "for.\nHint: model.eval_metrics(pool, ['PairAccuracy']) beside ra.evaluate(..., pairs=...)."
            )
            raise UnsupportedConventionError(msg)
        return nearest, words

    def metric(self, words: str) -> str:
        """Give its own name of the metric, with every parameter that matters."""
        return words

    def source(self, words: str) -> str:
        """Say how it is asked, metric and parameters."""
        return f"{ROUTE} {words}"

    def hold(self, queries: Queries, scores: NDArray[Any], words: str) -> Held:
        """Round labels and weights to float32."""
        del words
        columns, changed = rounded(queries, self.title, "labels", "query_weight")
        notes = (f"{' and '.join(changed)} rounded to float32, as CatBoost holds them.",) if changed else ()
        together, rows = in_order(queries, **columns)
        return Held(queries=together, scores=scores[rows], notes=notes)

    def ask(self, held: Held, words: str) -> float:
        """Ask CatBoost for its value of contiguous queries; it wants group weights by row."""
        queries, given = held.queries, dict(held.given)
        by_row = queries.query_of_row
        if "group_weight" not in given and queries.query_weight is not None:
            # Group weights do not reach AUC, object weights do.
            given["weight" if words.startswith("AUC") else "group_weight"] = queries.query_weight[by_row]
        if queries.row_weight is not None:
            given["weight"] = queries.row_weight
        approx = held.scores.astype(np.float64)
        try:
            [value] = eval_metric(queries.labels, approx, words, group_id=by_row, thread_count=1, **given)
        except cb.CatBoostError as error:
            raise refused("catboost", error) from error
        return float(value)

    def check_trained(
        self,
        model: TrainedModel,
        convention: Convention,
        dataset: str | None = None,
        metrics: Iterable[str] | None = None,
    ) -> ParityReport:
        """Compare by every route, or under each metric string; scores that are NaN, which CatBoost takes, are a row."""
        refuse_retrieval(model.queries, self.title)
        nearest, words = self.nearest(convention)
        scores = model.queries.check_scores(model.scores)
        if np.isnan(scores).any():
            value = self.ask(self.hold(model.queries, scores, words), words)
            row = self._stated(self.source(words), nearest, NAN.format(np.argmax(np.isnan(scores))), value=value)
            return ParityReport((row,), "the scores hold NaN")
        refuse_negative(model.queries, nearest)  # which ours would refuse, too, without a word about CatBoost
        if metrics is None:
            return super().check_trained(model, convention, dataset)
        *_, held = self.held(model, convention)
        return self._check_metrics(held, convention, metrics)

    def _stated(self, source: str, convention: Convention, reason: str, **values: float | None) -> ParityRow:
        given: dict[str, Any] = {"our_value": None, **values}
        return ParityRow.not_comparable(source, self.version, convention, reason=reason, **given)

    def without_groups(self, model: Any, pool: Any, convention: Convention, qid: object) -> ParityReport:
        """Say what CatBoost does with a Pool that has no groups, by asking it."""
        nearest, words = self.nearest(convention)
        labels, _ = labels_seen(model, pool)
        value = ours = None
        try:
            value = evaluated(model, pool, words, int(model.tree_count_))
            said = "gives the value of all rows as one query"
        except cb.CatBoostError as error:
            said = f"refuses it: {sentence(error)}"
        if qid is not None:
            held = self.hold(Queries(labels, qid=qid), raw_scores(model, pool), words)
            ours = Ours(held.queries, held.scores, nearest).value
        reason = f"The Pool has no group ids, and CatBoost {said}.\nHint: catboost.Pool(X, labels, group_id=qid)."
        row = self._stated(f"model.eval_metrics {words}", nearest, reason, value=value, our_value=ours)
        return ParityReport((row,), "the Pool has no group ids")

    def _check_metrics(self, held: Held, declared: Convention, metrics: Iterable[str]) -> ParityReport:
        if isinstance(metrics, str):
            msg = f"metrics={metrics!r:.80} is one string.\nHint: metrics=[{metrics!r:.80}]."
            raise InputError(msg)
        wanted = Ours(held.queries, held.scores, declared)
        rows = [self._metric_row(held, wanted, metric) for metric in metrics]
        unmet = [row.source for row in rows if row.verdict == "not-comparable"]
        if declared not in [row.convention for row in rows if row.verdict == "equal"]:
            nearest, words = self.nearest(declared)
            different = differing(declared, nearest)
            why = f"CatBoost cannot express {spelled(different)}." if different else "CatBoost can express it."
            reason = f"None of the metrics above is the declared convention. {why}\nThe nearest: {words}"
            rows.append(self._stated("catboost", declared, reason, our_value=wanted.value))
        return ParityReport(tuple(rows), f"not compared: {', '.join(unmet)}" if unmet else "")

    def _metric_row(self, held: Held, wanted: Ours, metric: str) -> ParityRow:
        """Compare under what one string means; what CatBoost would misread or ours refuses is said, not compared."""
        source, declared = self.source(metric), wanted.convention
        try:
            convention = read_metric(metric)
        except ConventionError as error:
            return self._stated(source, declared, f"CatBoost was not asked: {error}", our_value=wanted.value)
        value = self.ask(held, metric)
        try:
            refuse_negative(held.queries, convention)
        except InputError as error:
            return self._stated(source, convention, str(error), value=value)
        other = declared.diff(convention)
        notes = (*held.notes, f"Declared is {spelled(other)}.") if other else held.notes
        ours = counting(held.queries, held.scores, convention)
        return compare_value(ours, value, source, self.version, notes=notes)


TOOLKIT = CatBoostToolkit()


def check_parity(
    labels: object,
    scores: object,
    convention: Convention | str,
    *,
    qid: object = None,
    group_sizes: object = None,
    query_weight: object = None,
    group_weight: object = None,
    weight: object = None,
    metrics: Iterable[str] | None = None,
    **other: Never,
) -> ParityReport:
    """Compare CatBoost's own value for these scores with ours: `rankadapters.parity.Toolkit.check_parity`, and more.

    A NaN among the scores, which CatBoost takes, is not an error here but a row that says what CatBoost makes of it.

    Parameters
    ----------
    labels, scores, convention, qid, group_sizes, query_weight
        As of `check_parity` of any toolkit.
    group_weight : float array, shape (n_docs,), optional
        CatBoost's own form of `query_weight`, one per row.
    weight : float array, shape (n_docs,), optional
        CatBoost's object weights, which its NDCG and DCG ignore; the report says so.
    metrics : iterable of str, optional
        CatBoost's metric strings to check, a row each, in place of the nearest to `convention`.

    Examples
    --------
    >>> from rankadapters import presets
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]
    (True, ['equal', 'not-comparable'])
    >>> [round(row.our_value, 4) for row in report.rows]
    [0.1738, 0.2246]
    """
    convention = as_convention(convention)
    refuse_other_names(other, GROUPS)
    queries = as_queries(labels, qid=qid, group_sizes=group_sizes, query_weight=query_weight)
    return TOOLKIT.check_trained(weighted(queries, scores, group_weight, weight), convention, metrics=metrics)


def check_model(
    model: Any,
    pool: Any,
    convention: Convention | str,
    *,
    qid: object = None,
    group_weight: object = None,
    dataset: str | None = None,
    iteration: int | None = None,
) -> ParityReport:
    """Compare a trained model's numbers on a Pool with ours: `rankadapters.parity.Toolkit.check_model`, of a Pool.

    The routes are `model.predict` and `model.staged_predict` with `catboost.utils.eval_metric`, `model.eval_metrics`,
    and the log of the training where the Pool was one of its sets. What a model's `target_border` makes of the labels
    counts for our value, too, and the reason says so.

    Parameters
    ----------
    model, convention, dataset, iteration
        As of `check_model` of any toolkit, but that by default the model's last iteration is checked.
    pool : catboost.Pool
        With labels, and with group ids; without these a row says what CatBoost does.
    qid : array-like, shape (n_docs,), optional
        Query of each row, to be compared with the Pool's groups, which are read back by default.
    group_weight : float array, shape (n_docs,), optional
        The Pool's group weights, which cannot be read back.

    Examples
    --------
    >>> import catboost as cb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> pool = cb.Pool(rng.random((40, 3)), rng.integers(0, 3, 40), group_id=np.repeat(np.arange(8), 5))
    >>> model = cb.CatBoostRanker(iterations=3, thread_count=1, verbose=False, allow_writing_files=False).fit(pool)
    >>> report = check_model(model, pool, ra.presets.catboost(3))
    >>> report.ok, len(report.rows)
    (True, 3)
    """
    convention = as_convention(convention)
    rounds = rounds_asked(model, pool, iteration)
    nearest, _ = TOOLKIT.nearest(convention)
    if pool.get_group_id_hash() is None:
        return TOOLKIT.without_groups(model, pool, nearest, qid)
    counted = convention.weighting is not None
    trained = CatBoostModel.of(model, pool, counted=counted, rounds=rounds, qid=qid, group_weight=group_weight)
    return TOOLKIT.check_trained(trained, convention, dataset)
