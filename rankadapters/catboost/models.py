"""What CatBoost computes of a Pool: a trained model's own numbers, and metrics of pairs with scores as a baseline."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import catboost as cb
import numpy as np

from rankadapters.catboost.boosted_pool import baseline_of, without_baseline
from rankadapters.catboost.metrics import read_metric, weights_of_rows
from rankadapters.core import presets
from rankadapters.core.data.columns import Array, as_column, frozen, same_length
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError, warn_caller
from rankadapters.parity import ToolkitData
from rankadapters.parity.data import as_float32, sentence

ROUNDED = "{} rounded to float32, as CatBoost holds {}."


class CatBoostModel(NamedTuple):
    """The first rounds of a model, and a Pool, with what cannot be read back of it."""

    model: Any
    pool: Any
    rounds: int
    qid: object = None
    group_weight: object = None
    pairs: object = None

    def scores(self, *, staged: bool = False) -> Array:
        """Predict, or predict round by round."""
        upto: dict[str, Any] = {"prediction_type": "RawFormulaVal", "ntree_end": self.rounds}
        baseline = baseline_of(self.pool)
        if not staged:
            return np.asarray(cb.CatBoost.predict(self.model, self.pool, **upto))
        # Beside a baseline staged_predict ends the process.
        pool = self.pool if baseline is None else without_baseline(self.pool)
        *_, last = cb.CatBoost.staged_predict(self.model, pool, eval_period=self.rounds, **upto)
        return np.asarray(last) if baseline is None else baseline + np.asarray(last)

    def value(self, metric: str) -> float:
        """Give the model's own value of a metric."""
        upto = {"ntree_end": self.rounds, "eval_period": self.rounds, "thread_count": 1}
        [values] = self.model.eval_metrics(self.pool, [metric], **upto).values()
        return float(values[-1])

    def refusal(self, metric: str) -> str | None:
        """Say why the model does not compute a metric, such as a loss beside another one that it trained; or None."""
        try:
            self.value(metric)
        except cb.CatBoostError as error:
            return sentence(error)
        return None

    def is_weighted(self, convention: Convention) -> bool:
        """Find group weights, which a Pool does not tell: CatBoost's values with and without them differ."""
        if convention.weighting != "query_weight":
            return False
        both = (presets.catboost.spell(convention.replace(average=average)) for average in ("query", "uniform"))
        return len(set(map(self.value, both))) > 1

    def labels(self) -> tuple[Array, tuple[str, ...]]:
        """Give the labels as the model's own metrics see them, and a note where that is not as the Pool has them."""
        found = self.pool.get_label()
        if found is None or np.ndim(found) != 1:
            what = "no labels" if found is None else f"labels of shape {np.shape(found)}"
            needed = "one label per row is needed.\nHint: catboost.Pool(X, labels, group_id=qid)."
            raise InputError(f"the Pool has {what}, but {needed}")
        labels, border = np.asarray(found, np.float64), self.model.get_all_params().get("target_border")
        if border is None:
            return labels, ()
        note = f"labels above {border:g} are 1 and the others 0, as the model's target_border makes them."
        return (labels > np.float32(border)).astype(np.float64), (note,)

    def queries(self, labels: Array) -> Queries:
        """Give the queries, under the caller's ids and with the weights and pairs that are told."""
        hashes = self.pool.get_group_id_hash()
        queries = Queries(labels, qid=hashes if self.qid is None else _same_groups(self.qid, hashes), pairs=self.pairs)
        if self.group_weight is None:
            return queries
        weights, varies = weights_of_rows(self.group_weight, queries)
        if varies is not None:
            who = queries.query_ids[varies]
            msg = f"group_weight varies within query {who}, which a Pool refuses.\nHint: the Pool's own."
            raise InputError(msg)
        return queries.with_weights(weights)

    def logged(self, dataset: str, metric: str) -> tuple[str, Any]:
        """Find what the training logged for a set under any of CatBoost's spellings: the key, and values by round."""
        convention, log = read_metric(metric), self.model.get_evals_result()
        if not isinstance(dataset, str) or dataset not in log:
            msg = f"the training logged no {dataset!r}, but {sorted(log)}.\nHint: fit(train, eval_set=pool)."
            raise InputError(msg)
        for key, values in log[dataset].items():
            with suppress(ConventionError):  # another metric
                # Whether weights count is not always in the key, nor was it said: the values decide.
                if read_metric(key).replace(average="query") == convention.replace(average="query"):
                    return key, values
        plain = presets.catboost.spell(convention, group_weights=False)
        has = f"the log of {dataset!r} has {sorted(log[dataset])}, none of which is {metric}."
        raise InputError(f"{has}\nHint: CatBoostRanker(custom_metric=[{plain!r} + ';hints=skip_train~false']).")


def _same_groups(qid: object, hashes: Array) -> Array:
    ids = as_column("qid", qid)
    same_length("qid", ids, len(hashes))
    begins, others = ids[1:] != ids[:-1], hashes[1:] != hashes[:-1]
    if (begins != others).any():
        row = int(np.argmax(begins != others)) + 1
        whose = ("qid begins a query but the Pool does not", "the Pool begins a group but qid does not")
        msg = f"at row {row} {whose[int(others[row - 1])]}.\nHint: the qid that the Pool was given as group_id."
        raise InputError(msg, row=row)
    return ids


def held_in_a_pool(held: ToolkitData) -> ToolkitData:
    """Bring weights of pairs into the precision of a Pool, and scores into a baseline's, unless a model has them."""
    queries, scores, notes = held.queries, held.scores, []
    if queries.pairs is not None and queries.pairs.weight is not None:
        weights = as_float32("pairs weight", queries.pairs.weight, "CatBoost")
        notes += [ROUNDED.format("weights of pairs", "them")] if (weights != queries.pairs.weight).any() else []
        queries = queries.with_pairs(queries.pairs._replace(weight=frozen(weights)))
    if not held.routes or held.routes[0].by_query:
        scores = as_float32("scores", np.asarray(scores, np.float64), "CatBoost")
        notes += [ROUNDED.format("scores", "a baseline")] if (scores != held.scores).any() else []
    return replace(held, queries=queries, scores=scores, notes=(*held.notes, *notes))


def value_in_a_pool(queries: Queries, scores: Any, words: str) -> float:
    """Ask for the value of contiguous queries, of given pairs or those that CatBoost makes of labels."""
    by_row, columns = queries.query_of_row, dict[str, Any]()
    if queries.pairs is not None:
        columns["pairs"] = np.column_stack([queries.pairs.winner, queries.pairs.loser])
        columns["pairs_weight"] = queries.pairs.weight
    if queries.query_weight is not None:
        columns["group_weight"] = queries.query_weight[by_row]
    pool = cb.Pool(np.zeros((queries.n_docs, 1)), queries.labels, group_id=by_row, baseline=scores, **columns)
    return CatBoostModel(_saying_nothing(), pool, 1).value(words)


@cache
def _saying_nothing() -> Any:
    """Train a model, of which nothing is left."""
    quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = cb.CatBoost({"iterations": 1, "depth": 1, "loss_function": "RMSE", **quiet}).fit([[0.0], [1.0]], [0, 1])
    model.set_scale_and_bias(0.0, 0.0)
    return model


BACKWARDS = (
    "the model was trained by LambdaMart with {}. CatBoost has the signs of both of its derivatives turned round, "
    "which cancel out under leaf_estimation_method='Newton' and l2_leaf_reg=0 only: it trained backwards.\n"
    "Hint: ra.catboost.native_loss(convention) has the settings; or ra.catboost.train."
)

NO_RIDGE = 1e-20  # what CatBoost makes of l2_leaf_reg=0


def warn_of_training(model: Any) -> None:
    """Warn of a model that was trained by LambdaMart under anything but Newton's leaves without a ridge.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: NDCG@10 of 200
    training queries .928 by default, .630 under l2_leaf_reg=3, .037 under Gradient, .365 of random scores.
    """
    params: dict[str, Any] = {}
    with suppress(cb.CatBoostError):  # a sum of models has none
        params = model.get_all_params()
    method, ridge = params.get("leaf_estimation_method"), params.get("l2_leaf_reg", 0.0)
    if str(params.get("loss_function")).startswith("LambdaMart") and (method != "Newton" or ridge > 2 * NO_RIDGE):
        warn_caller(BACKWARDS.format(f"leaf_estimation_method={method!r}, l2_leaf_reg={ridge:g}"))
