"""A trained CatBoost model and a Pool: what the model sees of the Pool, and the model's own numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import catboost as cb
import numpy as np

from rankadapters.catboost.metrics import read_metric, weights_of_rows
from rankadapters.core import presets
from rankadapters.core.columns import Array, same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.queries import Queries
from rankadapters.parity.data import sentence


class CatBoostModel(NamedTuple):
    """The first rounds of a model, and a Pool, with what cannot be read back of it."""

    model: Any
    pool: Any
    rounds: int
    qid: object = None
    group_weight: object = None
    pairs: object = None

    def scores(self) -> Array:
        """Predict."""
        return np.asarray(
            cb.CatBoost.predict(self.model, self.pool, prediction_type="RawFormulaVal", ntree_end=self.rounds)
        )

    def staged(self) -> Array:
        """Predict round by round."""
        steps = {"ntree_end": self.rounds, "eval_period": self.rounds}
        *_, last = cb.CatBoost.staged_predict(self.model, self.pool, prediction_type="RawFormulaVal", **steps)
        return np.asarray(last)

    def value(self, metric: str) -> float:
        """Give the model's own value of a metric."""
        steps = {"ntree_end": self.rounds, "eval_period": self.rounds, "thread_count": 1}
        [values] = self.model.eval_metrics(self.pool, [metric], **steps).values()
        return float(values[-1])

    def refusal(self, metric: str) -> str | None:
        """Say why the model does not compute a metric, such as a loss beside another one that it trained; or None."""
        try:
            self.value(metric)
        except cb.CatBoostError as error:
            return f"model.eval_metrics refuses {metric}: {sentence(error)}"
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
            hint = "catboost.Pool(X, labels, group_id=qid)"
            msg = f"the Pool has {what}, but one label per row is needed.\nHint: {hint}."
            raise InputError(msg)
        labels, border = np.asarray(found, np.float64), self.model.get_all_params().get("target_border")
        if border is None:
            return labels, ()
        note = f"labels above {border:g} are 1 and the others 0, as the model's target_border makes them."
        return (labels > np.float32(border)).astype(np.float64), (note,)

    def queries(self, labels: Array) -> Queries:
        """Give the queries, under the caller's ids and with the weights and pairs that are told."""
        hashes = self.pool.get_group_id_hash()
        qid = hashes if self.qid is None else _same_groups(self.qid, hashes)
        queries = Queries(labels, qid=qid, pairs=self.pairs)
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
        if dataset not in log:
            msg = f"the training logged no {dataset!r}, but {sorted(log)}.\nHint: fit(train, eval_set=pool)."
            raise InputError(msg)
        for key, values in log[dataset].items():
            with suppress(ConventionError):  # another metric
                # Whether weights count is not always in the key, nor was it said: the values decide.
                if read_metric(key).replace(average="query") == convention.replace(average="query"):
                    return key, values
        plain = presets.catboost.spell(convention, group_weights=False)
        msg = (
            f"the log of {dataset!r} has {sorted(log[dataset])}, none of which is {metric}.\n"
            f"Hint: CatBoostRanker(custom_metric=[{plain!r} + ';hints=skip_train~false'])."
        )
        raise InputError(msg)


def _same_groups(qid: object, hashes: Array) -> Array:
    ids = np.asarray(qid)
    same_length("qid", ids, len(hashes))
    begins, others = ids[1:] != ids[:-1], hashes[1:] != hashes[:-1]
    if (begins != others).any():
        row = int(np.argmax(begins != others)) + 1
        whose = ("qid begins a query but the Pool does not", "the Pool begins a group but qid does not")
        msg = f"at row {row} {whose[int(others[row - 1])]}.\nHint: the qid that the Pool was given as group_id."
        raise InputError(msg, row=row)
    return ids
