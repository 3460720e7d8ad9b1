"""CatBoost's own numbers, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Never

import catboost as cb
import numpy as np
from catboost.utils import eval_metric
from numpy.typing import NDArray

from rankadapters.catboost.data import ROUTE, as_held, refuse_negative, refuse_pairs, sentence, with_weights
from rankadapters.catboost.metrics import read_metric
from rankadapters.catboost.models import CatBoostModel, evaluated, labels_seen, raw_scores, rounds_asked
from rankadapters.core import presets
from rankadapters.core.columns import same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.keywords import GROUPS, refuse_other_names
from rankadapters.core.queries import Queries, as_queries
from rankadapters.core.texts import as_convention
from rankadapters.parity import Held, ParityReport, ParityRow, Toolkit, differing, spelled
from rankadapters.parity.comparing import compare, compare_value
from rankadapters.parity.data import bind, refuse_retrieval, refused
from rankadapters.parity.ours import Ours, counting


class CatBoostToolkit(Toolkit):
    """CatBoost: asked through `catboost.utils.eval_metric`."""

    vocabulary = presets.catboost
    version: ClassVar[str] = cb.__version__

    def metric(self, words: str) -> str:
        """Give its own name of the metric, with every parameter that matters."""
        return words

    def source(self, words: str) -> str:
        """Say how it is asked, metric and parameters."""
        return f"{ROUTE} {words}"

    def hold(self, queries: Queries, scores: NDArray[Any], words: str) -> Held:
        """Round labels and weights to float32."""
        del words
        return as_held(queries, scores)

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
            raise refused("catboost", sentence(error)) from error
        return float(value)


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
    """Compare CatBoost's own value for these scores with ours.

    Where CatBoost cannot express the convention, the two are compared under the nearest that it can, and a second row
    states our value under the declared one: equal where nothing in the data depends on the fields that CatBoost cannot
    express, else with these fields.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels; with a Queries, no other column is taken.
    scores : array-like, shape (n_docs,)
        Predicted scores, higher is better. A NaN, which CatBoost takes, is no error here but a row that says what
        CatBoost makes of it.
    convention : Convention or str
        What is declared.
    qid, group_sizes, query_weight
        As in `Queries`.
    group_weight : float array, shape (n_docs,), optional
        CatBoost's own form of `query_weight`, one per row.
    weight : float array, shape (n_docs,), optional
        CatBoost's object weights, which its NDCG and DCG ignore; the report says so.
    metrics : iterable of str, optional
        CatBoost's metric strings to check in place of the nearest to `convention`.

    Returns
    -------
    ParityReport
        A row of CatBoost's value against ours, which must agree to 1e-9, for every metric asked for; then, unless that
        was the declared convention, a row that states it.

    Raises
    ------
    InputError
        The data has no value under one of the conventions, or is nothing that CatBoost could be given.

    Notes
    -----
    CatBoost holds labels and group weights as float32. All comparisons round ours likewise, and say so where that
    changes a value; a value that is only stated, under a convention that CatBoost cannot express, is of such labels
    too.

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
    queries, given, notes = with_weights(queries, group_weight, weight)
    refuse_retrieval(queries, TOOLKIT.title)
    nearest = presets.catboost.nearest(convention)
    refuse_pairs(nearest)
    array = queries.check_scores(scores)
    if np.isnan(array).any():
        return _nan_report(as_held(queries, array, *notes), array, nearest)
    refuse_negative(queries, nearest)
    array = bind(queries, array, convention)
    held = replace(as_held(queries, array, *notes), given=given)
    if metrics is not None:
        return _check_metrics(held, convention, metrics)
    return compare(
        TOOLKIT, [TOOLKIT.route(presets.catboost.spell(nearest))], held, declared=convention, nearest=nearest
    )


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
    """Compare a trained model's numbers on a Pool with ours, by each of CatBoost's routes.

    The routes are `model.predict` and `model.staged_predict` with `catboost.utils.eval_metric`, `model.eval_metrics`,
    and the log of the training where the Pool was one of its sets.

    Parameters
    ----------
    model : CatBoost or CatBoostRanker
        Trained.
    pool : catboost.Pool
        With labels, and with group ids, since no ranking metric of CatBoost's does without.
    convention : Convention or str
        What is declared.
    qid : array-like, shape (n_docs,), optional
        Query of each row, to be compared with the Pool's groups, which are read back by default.
    group_weight : float array, shape (n_docs,), optional
        The Pool's group weights, which cannot be read back.
    dataset : str, optional
        The Pool's name in the training: `learn`, `validation`, `validation_0`, ... Without it the log is no route.
    iteration : int, optional
        Which iteration to check, from 0 on; the model's last by default.

    Returns
    -------
    ParityReport
        A row per route under the nearest convention that CatBoost can express, then the declared one. For a Pool
        without group ids, a row that says what CatBoost does with it.

    Raises
    ------
    InputError
        The model is not trained, or the parts do not fit each other.

    Notes
    -----
    A model that was trained with `target_border` makes 0 and 1 of the labels in all its metrics; so does our value,
    and the reason says so.

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
    nearest = presets.catboost.nearest(convention)
    refuse_pairs(nearest)
    hashes = pool.get_group_id_hash()
    if hashes is None:
        return _without_groups(model, pool, nearest, qid)
    trained = CatBoostModel.of(model, pool, convention, rounds=rounds, qid=qid, group_weight=group_weight)
    refuse_negative(trained.queries, nearest)
    return TOOLKIT.check_trained(trained, convention, dataset)


def _without_groups(model: Any, pool: Any, nearest: Convention, qid: object) -> ParityReport:
    """Say what CatBoost does with a Pool that has no groups, by asking it."""
    labels, *_ = labels_seen(model, pool)
    metric, value = presets.catboost.spell(nearest), None
    try:
        value = evaluated(model, pool, metric, int(model.tree_count_))
        said = "gives the value of all rows as one query"
    except cb.CatBoostError as error:
        said = f"refuses it: {sentence(error)}"
    ours = None
    if qid is not None:
        same_length("qid", np.asarray(qid), labels.size)
        held = as_held(Queries(labels, qid=qid), raw_scores(model, pool))
        ours = Ours(held.queries, held.scores, nearest).value
    reason = f"The Pool has no group ids, and CatBoost {said}.\nHint: catboost.Pool(X, labels, group_id=qid)."
    row = ParityRow.not_comparable(
        f"model.eval_metrics {metric}", TOOLKIT.version, nearest, value=value, our_value=ours, reason=reason
    )
    return ParityReport((row,), "the Pool has no group ids")


def _check_metrics(held: Held, declared: Convention, metrics: Iterable[str]) -> ParityReport:
    if isinstance(metrics, str):
        msg = f"metrics={metrics!r:.80} is one string.\nHint: metrics=[{metrics!r:.80}]."
        raise InputError(msg)
    wanted = Ours(held.queries, held.scores, declared)
    rows = [_metric_row(held, wanted, metric) for metric in metrics]
    unmet = [row.source for row in rows if row.verdict == "not-comparable"]
    if declared not in [row.convention for row in rows if row.verdict == "equal"]:
        nearest = presets.catboost.nearest(declared)
        different = differing(declared, nearest)
        why = f"CatBoost cannot express {spelled(different)}." if different else "CatBoost can express it."
        hint = f"The nearest: {presets.catboost.spell(nearest)}"
        reason = f"None of the metrics above is the declared convention. {why}\n{hint}"
        rows.append(
            ParityRow.not_comparable("catboost", TOOLKIT.version, declared, our_value=wanted.value, reason=reason)
        )
    return ParityReport(tuple(rows), f"not compared: {', '.join(unmet)}" if unmet else "")


def _metric_row(held: Held, wanted: Ours, metric: str) -> ParityRow:
    """Compare under what one metric string means; what CatBoost would misread or ours refuses is said, not compared."""
    source, declared = f"{ROUTE} {metric}", wanted.convention
    try:
        convention = read_metric(metric)
    except ConventionError as error:
        reason = f"CatBoost was not asked: {error}"
        return ParityRow.not_comparable(source, TOOLKIT.version, declared, our_value=wanted.value, reason=reason)
    value = TOOLKIT.ask(held, metric)
    try:
        refuse_negative(held.queries, convention)
    except InputError as error:
        return ParityRow.not_comparable(
            source, TOOLKIT.version, convention, value=value, our_value=None, reason=str(error)
        )
    other = declared.diff(convention)
    notes = (*held.notes, f"Declared is {spelled(other)}.") if other else held.notes
    ours = counting(held.queries, held.scores, convention)
    return compare_value(ours, value, source, TOOLKIT.version, notes=notes)


def _nan_report(held: Held, scores: NDArray[Any], nearest: Convention) -> ParityReport:
    metric = presets.catboost.spell(nearest)
    reason = (
        f"scores[{np.argmax(np.isnan(scores))}] is NaN, which has no place in an order, so we refuse it. To CatBoost "
        "it is neither above nor below any score, so they stay where its sort happens to leave them: a query of NaN "
        "counts 1 when its labels descend in the data, and another number for the same rows in another order."
    )
    stated = ParityRow.not_comparable(
        TOOLKIT.source(metric), TOOLKIT.version, nearest, value=TOOLKIT.ask(held, metric), our_value=None, reason=reason
    )  # fmt: skip
    return ParityReport((stated,), "the scores hold NaN")
