"""Compare CatBoost's values with ours, for scores or for a trained model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Never

import catboost as cb
import numpy as np
from catboost.utils import eval_metric

from rankadapters import presets
from rankadapters.catboost.metrics import read_metric
from rankadapters.catboost.models import (
    CatBoostModel,
    group_weights,
    round_as_in_pool,
    value_in_a_pool,
    warn_of_training,
)
from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import GROUPS, as_numbers, refuse_other_names, refused_label
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.arguments import members, refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import AUC, ERR
from rankadapters.parity import ParityReport, ParityRow, Toolkit, ToolkitData
from rankadapters.parity.causes import judge
from rankadapters.parity.data import refuse_retrieval, refusing, rounds_until
from rankadapters.parity.report import FLOAT32_COMPLEMENTS, relative, report_of_toolkits
from rankadapters.parity.toolkit import COLUMNS, ROUNDS, Route, Task
from rankadapters.presets.texts import as_convention
from rankadapters.presets.vocabulary import differing, spelled
from rankadapters.statistics.rivals import OurNumber

ASKED = "catboost.utils.eval_metric"
ASKED_IN_A_POOL = "catboost eval_metrics of a Pool with baseline, by a model that says 0:"
OF_PAIRS = ("PairAccuracy", "PairLogit")
BY_OBJECT = ("AUC", "QueryRMSE", "QuerySoftMax", "QueryCrossEntropy")  # eval_metric ignores group weights in these
NEGATIVE = "negative: CatBoost's type=Exp counts 2^label - 1 < 0 for it, our exp2 refuses it"
NAN = (
    "scores[{}] is NaN, which has no rank, so we refuse it. To CatBoost it is neither above nor below any score: its "
    "sort leaves the rows in an arbitrary order: a query of NaN counts 1 if its labels descend in the data, and less "
    "for the same rows in a different order."
)
UNKNOWN_WEIGHTS = "The Pool has group weights, which we cannot read, so our value ignores them; pass group_weight=."
COUNTED = (
    "weight= has object weights. CatBoost's eval_metric counts them in {}, even with use_weights=false, but our value "
    "under this convention does not."
)
IGNORED = "weight= has object weights, which CatBoost ignores in {}; group_weight= has weights of queries."
VARIES = (
    "group_weight varies within query {}: catboost.utils.eval_metric silently uses the weight of each query's first "
    "row, and so does our value here; a Pool refuses such weights."
)


def _is_of(words: str, metrics: tuple[str, ...]) -> bool:
    return words.partition(":")[0] in metrics


class CatBoostToolkit(Toolkit):
    """CatBoost's own metric by `catboost.utils.eval_metric` or, for pair metrics, by a Pool (1.2.10).

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.7], presets.textbook(2), group_sizes=[3])
    >>> [(row.verdict, round(row.our_value, 4)) for row in report.rows]
    [('equal', 0.1738), ('not-comparable', 0.2246)]
    """

    vocabulary = presets.catboost
    float32: ClassVar[dict[str, str]] = dict.fromkeys(
        ("labels", "query_weight"), "{} rounded to float32, as CatBoost stores them."
    )

    def names(self, words: str) -> tuple[str, str]:
        """Return the metric string, and a description that names the function that computes it."""
        return words, f"{ASKED_IN_A_POOL if _is_of(words, OF_PAIRS) else ASKED} {words}"

    def prepare(self, data: ToolkitData, words: str) -> ToolkitData:
        """Round labels and weights to CatBoost's precision; for pair metrics, also round pair weights and scores."""
        rounded = super().prepare(data, words)
        return round_as_in_pool(rounded) if _is_of(words, OF_PAIRS) else rounded

    def precision(self, convention: Convention) -> float:
        """Return a larger tolerance for ERR and the classic AUC, where CatBoost rounds 1 - label to float32."""
        is_err = isinstance(convention, ERR) and convention.discount == "reciprocal"  # other discounts: PFound
        is_auc = isinstance(convention, AUC) and convention.pairs == "unit"
        return FLOAT32_COMPLEMENTS if is_err or is_auc else super().precision(convention)

    def refuse(self, queries: Queries, words: str) -> None:
        """Refuse negative labels under an exponential gain, which CatBoost accepts but our `exp2` does not."""
        negative = (queries.labels < 0) & ("type=Exp" in words)
        if negative.any():
            hint = "gain='linear' (type=Base) takes negative labels as they are"
            raise refused_label(queries.labels, negative, NEGATIVE, hint)

    @refusing("catboost", cb.CatBoostError)
    def ask(self, data: ToolkitData, words: str) -> float:
        """Return CatBoost's metric value for contiguous queries, with group weights repeated for each row."""
        queries, columns = data.queries, dict(data.inputs)
        if _is_of(words, OF_PAIRS):
            return value_in_a_pool(queries, data.scores, words)
        by_row, by_object = queries.query_of_row, _is_of(words, BY_OBJECT)
        weights = columns.pop("query_weight", queries.query_weight)
        if weights is not None and (by_object or "group_weight" not in columns):
            columns["weight" if by_object else "group_weight"] = weights[by_row]
        if queries.row_weight is not None:
            columns["weight"] = queries.row_weight
        approx = data.scores.astype(np.float64)
        [value] = eval_metric(queries.labels, approx, words, group_id=by_row, thread_count=1, **columns)
        return float(value)

    def train(self, task: Task, words: str) -> tuple[Array, None]:
        """Train a CatBoostRanker without an evaluation set: its log renames the metric and adds the loss's own NDCG."""
        del words
        model = cb.CatBoostRanker(
            iterations=ROUNDS, depth=5, rsm=COLUMNS, learning_rate=0.1, random_state=task.seed,
            thread_count=2,  # CatBoost's own threads, which sleep when idle
            allow_writing_files=False, logging_level="Silent",
        )  # fmt: skip
        model.fit(task.train.X, task.train.labels, group_id=task.train.qid)
        return np.asarray(model.predict(task.test.X)), None

    def check(self, data: ToolkitData, declared: Convention, metrics: Iterable[str] | None = None) -> ParityReport:
        """Compare by every route, or under each of `metrics`; for NaN scores, only report CatBoost's value."""
        refuse_retrieval(data.queries, self.vocabulary.title)
        nearest, words = self.nearest(declared)
        if declared.get("pairs") not in {None, "given"}:  # otherwise CatBoost makes no pairs itself
            data = replace(data, queries=data.queries.with_columns(pairs=None))
        scores = data.queries.check_scores(data.scores)
        if np.isnan(scores).any():
            value = self.ask(self.prepare(replace(data, scores=scores), words), words)
            reason, source = NAN.format(np.argmax(np.isnan(scores))), (f"{ASKED} {words}", self.version, nearest)
            row = ParityRow.not_comparable(*source, our_value=None, reason=reason, value=value)
            return ParityReport((row,), "the scores hold NaN")
        self.refuse(data.queries, words)  # here, because our own error would not mention CatBoost
        if metrics is None:
            return super().check(_noting_object_weights(data, words), declared)
        return self._by_metric(self.prepare_check(data, declared)[2], declared, metrics)

    def _by_metric(self, data: ToolkitData, declared: Convention, metrics: Iterable[str]) -> ParityReport:
        """Compare under each metric string; add a row if none of them is the declared convention."""
        listed = members(metrics)
        if listed is None or not all(isinstance(metric, str) for metric in listed):
            raise refusal("metrics", metrics, "lists of metric strings", "metrics=['NDCG:top=10']")
        our_number = OurNumber.of(data.queries, data.scores, declared)
        rows = [self._under(metric, data, our_number) for metric in listed]
        unmet = [row.source for row in rows if row.verdict == "not-comparable"]
        if declared not in [row.convention for row in rows if row.verdict != "not-comparable"]:
            rows.append(self._declared_by_no_metric(rows, data, our_number))
        if unmet:
            return ParityReport(tuple(rows), f"not compared: {', '.join(unmet)}")
        return report_of_toolkits({self.vocabulary.name: rows}, {self.vocabulary.name: declared})

    def _declared_by_no_metric(self, rows: list[ParityRow], data: ToolkitData, our_number: OurNumber) -> ParityRow:
        """Return the row of a declared convention that no metric string means, though one may mean the nearest."""
        nearest, words = self.nearest(our_number.convention)
        different = differing(our_number.convention, nearest)
        of_nearest = [row for row in rows if row.convention == nearest and row.verdict == "equal"]
        if of_nearest:
            number = OurNumber.of(data.queries, data.scores, nearest, ignore_weights=True)
            return self._declared_row(of_nearest[0], data, our_number, number, different)
        explanation = f"CatBoost cannot express {spelled(different)}." if different else "CatBoost can express it."
        reason = f"None of the metrics above is the declared convention. {explanation}\nThe nearest: {words}"
        source = "catboost", self.version, our_number.convention
        return ParityRow.not_comparable(*source, our_value=our_number.value, reason=reason)

    def _under(self, metric: str, data: ToolkitData, our_number: OurNumber) -> ParityRow:
        """Compare under the convention of one metric string; if that is impossible, the row says why."""
        source, declared = (self.names(metric)[1], self.version), our_number.convention
        try:
            options = {"pairs": "label"} if _is_of(metric, OF_PAIRS) and data.queries.pairs is None else {}
            convention = read_metric(metric, **options)
        except ConventionError as error:
            reason = f"CatBoost was not asked: {error}"
            return ParityRow.not_comparable(*source, declared, our_value=our_number.value, reason=reason)
        if _is_of(metric, OF_PAIRS):
            data = round_as_in_pool(data)
        data = _noting_object_weights(data, metric)
        value = self.ask(data, metric)
        try:
            self.refuse(data.queries, metric)
        except InputError as error:
            return ParityRow.not_comparable(*source, convention, our_value=None, reason=str(error), value=value)
        differences = declared.diff(convention)
        notes = (*data.notes, *([f"Declared is {spelled(differences)}."] if differences else []))
        our_number = OurNumber.of(data.queries, data.scores, convention, ignore_weights=True)
        tolerance = relative(self.precision(convention), our_number.value)
        return judge(our_number, value, *source, notes=notes, tolerance=tolerance)

    def model_data(self, model: CatBoostModel, convention: Convention) -> ToolkitData:
        """Return the queries of a Pool with groups, the model's scores, and the ways to get CatBoost's value."""
        nearest, words = self.nearest(convention)
        labels, notes = model.labels()
        queries, refusal = model.queries(labels), model.refusal(words)
        if nearest.weighting == "row_weight":
            queries = queries.with_weights(row_weight=model.pool.get_weight())
        routes = [self.score_route(words, "model.predict and ")]
        if not _is_of(words, OF_PAIRS):
            staged = f"model.staged_predict and {ASKED} {words}"
            routes.append(Route(staged, lambda data: self.ask(replace(data, scores=model.scores(staged=True)), words)))
        elif refusal is None:
            routes.clear()
        if refusal is not None:
            notes += (f"model.eval_metrics refuses {words}: {refusal}",)
        else:
            notes += (UNKNOWN_WEIGHTS,) if model.group_weight is None and model.is_weighted(nearest) else ()
            routes.append(Route(f"model.eval_metrics {words}", lambda _: model.value(words)))
        queries, scores = queries if convention.weighting else queries.with_weights(), model.scores()
        return ToolkitData(queries=queries, scores=scores, notes=notes, routes=tuple(routes), rounds=model.rounds)

    def without_groups(self, model: CatBoostModel, convention: Convention) -> ParityReport:
        """Report what CatBoost does with a Pool without groups, by trying it."""
        nearest, words = self.nearest(convention)
        labels, _ = model.labels()
        refusal, our_value = model.refusal(words), None
        value = model.value(words) if refusal is None else None
        if model.qid is not None:
            data = self.prepare(ToolkitData(queries=Queries(labels, qid=model.qid), scores=model.scores()), words)
            our_value = OurNumber.of(data.queries, data.scores, nearest).value
        outcome = "gives the value of all rows as one query" if refusal is None else f"refuses it: {refusal}"
        message = f"The Pool has no group ids, and CatBoost {outcome}."
        reason = str(InputError(message, hint="catboost.Pool(X, labels, group_id=qid)"))
        source = f"model.eval_metrics {words}", self.version, nearest
        row = ParityRow.not_comparable(*source, our_value=our_value, reason=reason, value=value)
        return ParityReport((row,), "the Pool has no group ids")


TOOLKIT = CatBoostToolkit()


def _noting_object_weights(data: ToolkitData, words: str) -> ToolkitData:
    """Add a note that says whether CatBoost's metric counts the object weights, if there are any."""
    if "weight" not in data.inputs:
        return data
    text = COUNTED if _is_of(words, (*BY_OBJECT, "QueryAUC")) else IGNORED
    return replace(data, notes=(*data.notes, text.format(words.partition(":")[0])))


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
    **unknown: Never,
) -> ParityReport:
    """Compare CatBoost's value for these scores with ours, as `rankadapters.parity.Toolkit.check_parity` does.

    A NaN score, which CatBoost accepts, is not an error here; the report has a row that says what CatBoost does.

    Parameters
    ----------
    labels, scores, convention, qid, group_sizes, query_weight
        As in `check_parity` of any toolkit.
    group_weight : float array, shape (n_docs,), optional
        CatBoost's own form of `query_weight`, one per row.
    weight : float array, shape (n_docs,), optional
        CatBoost's object weights: our `row_weight` if the convention uses it. Otherwise, the report says whether
        CatBoost's metric counts or ignores them.
    pairs : tuple of array-like, optional
        As in `Queries`, for PairAccuracy and PairLogit. The scores are then the baseline of a Pool, in float32.
    metrics : iterable of str, optional
        CatBoost's metric strings to check, a row each, instead of the nearest to `convention`.
    """
    convention = as_convention(convention)
    refuse_other_names(unknown, GROUPS)
    columns = {"qid": qid, "group_sizes": group_sizes, "query_weight": query_weight, "pairs": pairs}
    queries, notes = as_queries(labels, **columns), []
    if weight is not None and convention.weighting == "row_weight":
        queries, weight = queries.with_weights(row_weight=weight), None
    by_row = {} if weight is None else {"weight": weight}
    if group_weight is not None:
        if queries.query_weight is not None:
            msg = "query_weight and group_weight are the same weights by query and by row."
            raise InputError(msg, hint="give one of them")
        weights, varies = queries.per_query(group_weights(group_weight, queries))
        if varies >= 0:
            by_row["group_weight"] = group_weight
            notes.append(VARIES.format(queries.query_ids[varies]))
        queries = queries.with_weights(weights)
    by_row = {name: queries.take(as_numbers(name, column).astype(np.float64)) for name, column in by_row.items()}
    data = ToolkitData(queries=queries, scores=scores, notes=tuple(notes), inputs=by_row)
    return TOOLKIT.check(data, convention, metrics=metrics)


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
    """Compare a trained model's values on a Pool with ours, as `rankadapters.parity.Toolkit.check_model` does.

    The routes are `model.predict` and `model.staged_predict` with `catboost.utils.eval_metric`, `model.eval_metrics`,
    and the training's log if the Pool was one of its sets. If the model has a `target_border`, our value uses the
    labels that it makes, and the report says so.

    Parameters
    ----------
    model, convention, dataset, iteration
        As in `check_model` of any toolkit, except that the default is the model's last iteration.
    data : catboost.Pool
        With labels and group ids. Without group ids, the report only says what CatBoost does.
    qid : array-like, shape (n_docs,), optional
        Query of each row, which must match the Pool's groups; by default read from the Pool.
    group_weight : float array, shape (n_docs,), optional
        The Pool's group weights, which cannot be read from it.
    pairs : tuple of array-like, optional
        The Pool's pairs as in `Queries`, which cannot be read from it; for PairAccuracy and PairLogit.

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
        msg = f"check_model takes a CatBoost model and a Pool, not {type(model).__name__} and {type(data).__name__}."
        raise InputError(msg, hint="check_model(model, catboost.Pool(X, labels, group_id=qid), convention)")
    if not model.is_fitted():
        raise InputError("the model is not trained, so it has no scores.", hint="model.fit(pool) first")
    warn_of_training(model)
    trees = int(model.tree_count_)
    catboost_model = CatBoostModel(model, data, rounds_until(iteration, trees, 0, "last"), qid, group_weight, pairs)
    if data.get_group_id_hash() is None:
        return TOOLKIT.without_groups(catboost_model._replace(rounds=trees), convention)
    data = TOOLKIT.model_data(catboost_model, convention)
    if dataset is not None:
        words = TOOLKIT.nearest(convention)[1]
        data = data.with_log(dataset, *catboost_model.logged(dataset, words), TOOLKIT.score_route(words))
    return TOOLKIT.check(data, convention)
