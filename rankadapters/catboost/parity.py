"""CatBoost's own numbers, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Never

import catboost as cb
import numpy as np
from catboost.utils import eval_metric

from rankadapters.catboost.metrics import read_metric, weights_of_rows
from rankadapters.catboost.models import CatBoostModel, held_in_a_pool, value_in_a_pool, warn_of_training
from rankadapters.core import presets
from rankadapters.core.data.columns import as_numbers
from rankadapters.core.data.keywords import GROUPS, refuse_other_names
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.arguments import members, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.presets.texts import as_convention
from rankadapters.core.presets.tool import differing, spelled
from rankadapters.parity import ParityReport, ParityRow, Toolkit, ToolkitData
from rankadapters.parity.causes import judge
from rankadapters.parity.data import refuse_labels, refuse_retrieval, refusing, rounds_until
from rankadapters.parity.rows import OurNumber
from rankadapters.parity.toolkit_data import NO_LOG, LogReader, Route

ASKED = "catboost.utils.eval_metric"
ASKED_IN_A_POOL = "catboost eval_metrics of a Pool with baseline, by a model that says 0:"
OF_PAIRS = ("PairAccuracy", "PairLogit")
BY_OBJECT = ("AUC", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy")  # which group weights do not reach when asked
NEGATIVE = "negative: CatBoost's type=Exp counts 2^label - 1 < 0 for it, our exp2 refuses it"
NAN = (
    "scores[{}] is NaN, which has no place in an order, so we refuse it. To CatBoost it is neither above nor below any "
    "score, so they stay where its sort happens to leave them: a query of NaN counts 1 when its labels descend in the "
    "data, and another number for the same rows in another order."
)
UNTOLD = "The Pool has group weights, which cannot be read back, so ours is without them; pass group_weight=."
IGNORED = "weight= holds object weights, which CatBoost's NDCG and DCG ignore; group_weight= counts."
VARIES = (
    "group_weight varies within query {}: catboost.utils.eval_metric silently takes each query's first row's, and so "
    "does our value here; a Pool refuses such weights."
)


def _is_of(words: str, metrics: tuple[str, ...]) -> bool:
    return words.partition(":")[0] in metrics


class CatBoostToolkit(Toolkit):
    """CatBoost 1.2.10: asked through `catboost.utils.eval_metric`.

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.textbook(2), group_sizes=[3])
    >>> [(row.verdict, round(row.our_value, 4)) for row in report.rows]
    [('equal', 0.1738), ('not-comparable', 0.2246)]
    """

    vocabulary = presets.catboost
    float32: ClassVar[dict[str, str]] = dict.fromkeys(
        ("labels", "query_weight"), "{} rounded to float32, as CatBoost holds them."
    )

    def names(self, words: str) -> tuple[str, str]:
        """Give the metric string, and the function that takes it."""
        return words, f"{ASKED_IN_A_POOL if _is_of(words, OF_PAIRS) else ASKED} {words}"

    def prepare(self, held: ToolkitData, words: str) -> ToolkitData:
        """Bring every column into its precision; pairs, and scores beside them, into that of a Pool."""
        found = super().prepare(held, words)
        return held_in_a_pool(found) if _is_of(words, OF_PAIRS) else found

    def refuse(self, queries: Queries, words: str) -> None:
        """Refuse labels that CatBoost's exponential gain takes and ours does not."""
        negative = (queries.labels < 0) & ("type=Exp" in words)
        refuse_labels(queries, negative, NEGATIVE, "gain='linear' (type=Base) takes negative labels as they are")

    @refusing("catboost", cb.CatBoostError)
    def ask(self, held: ToolkitData, words: str) -> float:
        """Ask for the value of contiguous queries; CatBoost wants group weights by row."""
        queries, given = held.queries, dict(held.inputs)
        if _is_of(words, OF_PAIRS):
            return value_in_a_pool(queries, held.scores, words)
        by_row, unreached = queries.query_of_row, _is_of(words, BY_OBJECT)
        weights = given.pop("query_weight", queries.query_weight)
        if weights is not None and (unreached or "group_weight" not in given):
            given["weight" if unreached else "group_weight"] = weights[by_row]
        if queries.row_weight is not None:
            given["weight"] = queries.row_weight
        approx = held.scores.astype(np.float64)
        [value] = eval_metric(queries.labels, approx, words, group_id=by_row, thread_count=1, **given)
        return float(value)

    def check(
        self, given: ToolkitData, declared: Convention, dataset: str | None = None, read_log: LogReader = NO_LOG,
        metrics: Iterable[str] | None = None,
    ) -> ParityReport:  # fmt: skip
        """Compare by every route, or under each metric string; scores that are NaN, which CatBoost takes, are a row."""
        refuse_retrieval(given.queries, self.vocabulary.title)
        nearest, words = self.nearest(declared)
        if getattr(declared, "pairs", "given") != "given":  # beside given ones CatBoost makes none
            given = replace(given, queries=given.queries.with_pairs(None))
        scores = given.queries.check_scores(given.scores)
        if np.isnan(scores).any():
            value = self.ask(self.prepare(replace(given, scores=scores), words), words)
            said, source = NAN.format(np.argmax(np.isnan(scores))), (f"{ASKED} {words}", self.version, nearest)
            row = ParityRow.not_comparable(*source, our_value=None, reason=said, value=value)
            return ParityReport((row,), "the scores hold NaN")
        self.refuse(given.queries, words)  # which ours would do, too, without a word about CatBoost
        if metrics is None:
            return super().check(given, declared, dataset, read_log)
        return self._by_metric(self.prepare_check(given, declared)[2], declared, metrics)

    def _by_metric(self, held: ToolkitData, declared: Convention, metrics: Iterable[str]) -> ParityReport:
        """Compare under each metric string, and say where none of them is what was declared."""
        listed = members(metrics)
        if listed is None or not all(isinstance(metric, str) for metric in listed):
            raise refusal("metrics", metrics, "lists of metric strings", "metrics=['NDCG:top=10']")
        wanted = OurNumber.of(held.queries, held.scores, declared)
        rows = [self._under(metric, held, wanted) for metric in listed]
        unmet = [row.source for row in rows if row.verdict == "not-comparable"]
        if declared not in [row.convention for row in rows if row.verdict == "equal"]:
            nearest, words = self.nearest(declared)
            different = differing(declared, nearest)
            why = f"CatBoost cannot express {spelled(different)}." if different else "CatBoost can express it."
            reason = f"None of the metrics above is the declared convention. {why}\nThe nearest: {words}"
            source = "catboost", self.version, declared
            rows.append(ParityRow.not_comparable(*source, our_value=wanted.value, reason=reason))
        return ParityReport(tuple(rows), f"not compared: {', '.join(unmet)}" if unmet else "")

    def _under(self, metric: str, held: ToolkitData, wanted: OurNumber) -> ParityRow:
        """Compare under what one string means; what CatBoost would misread or ours refuses is said, not compared."""
        source, declared = (self.names(metric)[1], self.version), wanted.convention
        try:
            made = {"pairs": "label"} if _is_of(metric, OF_PAIRS) and held.queries.pairs is None else {}
            convention = read_metric(metric, **made)
        except ConventionError as error:
            reason = f"CatBoost was not asked: {error}"
            return ParityRow.not_comparable(*source, declared, our_value=wanted.value, reason=reason)
        if _is_of(metric, OF_PAIRS):
            held = held_in_a_pool(held)
        value = self.ask(held, metric)
        try:
            self.refuse(held.queries, metric)
        except InputError as error:
            return ParityRow.not_comparable(*source, convention, our_value=None, reason=str(error), value=value)
        other = declared.diff(convention)
        notes = (*held.notes, *([f"Declared is {spelled(other)}."] if other else []))
        our_number = OurNumber.of(held.queries, held.scores, convention, ignore_weights=True)
        return judge(our_number, value, *source, notes=notes)

    def seen(self, own: CatBoostModel, convention: Convention) -> ToolkitData:
        """Read what a model sees of a Pool with groups, and what it says itself."""
        nearest, words = self.nearest(convention)
        labels, notes = own.labels()
        queries, refusal = own.queries(labels), own.refusal(words)
        if nearest.weighting == "row_weight":
            queries = queries.with_weights(row_weight=own.pool.get_weight())
        routes = [self.score_route(words, "model.predict and ")]
        if not _is_of(words, OF_PAIRS):
            staged = f"model.staged_predict and {ASKED} {words}"
            routes.append(Route(staged, lambda held: self.ask(replace(held, scores=own.scores(staged=True)), words)))
        elif refusal is None:
            routes.clear()
        if refusal is not None:
            notes += (f"model.eval_metrics refuses {words}: {refusal}",)
        else:
            notes += (UNTOLD,) if own.group_weight is None and own.is_weighted(nearest) else ()
            routes.append(Route(f"model.eval_metrics {words}", lambda _: own.value(words)))
        queries = queries if convention.weighting else queries.with_weights()
        return ToolkitData(queries=queries, scores=own.scores(), notes=notes, routes=tuple(routes), rounds=own.rounds)

    def without_groups(self, own: CatBoostModel, convention: Convention) -> ParityReport:
        """Say what CatBoost does with a Pool that has no groups, by asking it."""
        nearest, words = self.nearest(convention)
        labels, _ = own.labels()
        refusal, ours = own.refusal(words), None
        value = own.value(words) if refusal is None else None
        if own.qid is not None:
            held = self.prepare(ToolkitData(queries=Queries(labels, qid=own.qid), scores=own.scores()), words)
            ours = OurNumber.of(held.queries, held.scores, nearest).value
        said = "gives the value of all rows as one query" if refusal is None else f"refuses it: {refusal}"
        reason = f"The Pool has no group ids, and CatBoost {said}.\nHint: catboost.Pool(X, labels, group_id=qid)."
        source = f"model.eval_metrics {words}", self.version, nearest
        row = ParityRow.not_comparable(*source, our_value=ours, reason=reason, value=value)
        return ParityReport((row,), "the Pool has no group ids")


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
    pairs: object = None,
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
        CatBoost's object weights: our `row_weight` where the convention counts it. NDCG and DCG ignore them, and the
        report says so.
    pairs : tuple of array-like, optional
        As in `Queries`, for PairAccuracy and PairLogit: asked of a Pool whose baseline are the scores, in float32.
    metrics : iterable of str, optional
        CatBoost's metric strings to check, a row each, in place of the nearest to `convention`.
    """
    convention = as_convention(convention)
    refuse_other_names(other, GROUPS)
    columns = {"qid": qid, "group_sizes": group_sizes, "query_weight": query_weight, "pairs": pairs}
    queries, notes = as_queries(labels, **columns), []
    if weight is not None and convention.weighting == "row_weight":
        queries, weight = queries.with_weights(row_weight=weight), None
    given = {} if weight is None else {"weight": weight}
    if group_weight is not None:
        if queries.query_weight is not None:
            msg = "query_weight and group_weight say the same, by query and by row.\nHint: give one of them."
            raise InputError(msg)
        weights, varies = weights_of_rows(group_weight, queries)
        if varies is not None:
            given["group_weight"] = group_weight
            notes.append(VARIES.format(queries.query_ids[varies]))
        queries = queries.with_weights(weights)
    by_row = {name: queries.by_query(as_numbers(name, each).astype(np.float64)) for name, each in given.items()}
    notes += [] if weight is None else [IGNORED]
    held = ToolkitData(queries=queries, scores=scores, notes=tuple(notes), inputs=by_row)
    return TOOLKIT.check(held, convention, metrics=metrics)


def check_model(
    model: Any,
    data: Any,
    convention: Convention | str,
    *,
    qid: object = None,
    group_weight: object = None,
    pairs: object = None,
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
    data : catboost.Pool
        With labels, and with group ids; without these a row says what CatBoost does.
    qid : array-like, shape (n_docs,), optional
        Query of each row, to be compared with the Pool's groups, which are read back by default.
    group_weight : float array, shape (n_docs,), optional
        The Pool's group weights, which cannot be read back.
    pairs : tuple of array-like, optional
        The Pool's pairs as in `Queries`, which cannot be read back; for PairAccuracy and PairLogit.

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
    if not isinstance(model, cb.CatBoost) or not isinstance(data, cb.Pool):
        msg = (
            f"check_model takes a CatBoost model and a Pool, not {type(model).__name__} and {type(data).__name__}.\n"
            "Hint: check_model(model, catboost.Pool(X, labels, group_id=qid), convention)."
        )
        raise InputError(msg)
    if not model.is_fitted():
        msg = "the model is not trained, so it has no scores.\nHint: model.fit(pool) first."
        raise InputError(msg)
    warn_of_training(model)
    trees = int(model.tree_count_)
    own = CatBoostModel(model, data, rounds_until(iteration, trees, 0, "last"), qid, group_weight, pairs)
    if data.get_group_id_hash() is None:
        return TOOLKIT.without_groups(own._replace(rounds=trees), convention)
    return TOOLKIT.check(TOOLKIT.seen(own, convention), convention, dataset, own.logged)
