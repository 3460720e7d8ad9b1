"""A trained CatBoost model and a Pool: what the model sees of the Pool, and the model's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import catboost as cb
import numpy as np
from numpy.typing import NDArray

from rankadapters.catboost.data import weights_of_rows
from rankadapters.catboost.metrics import read_metric
from rankadapters.core import presets
from rankadapters.core.columns import same_length
from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.queries import Queries
from rankadapters.parity import Held, Route, Toolkit, TrainedModel
from rankadapters.parity.data import rounds_until

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class CatBoostModel(TrainedModel):
    """A CatBoost model on a Pool with groups; made by `of`."""

    model: cb.CatBoost
    pool: cb.Pool
    weighted: bool

    @classmethod
    def of(cls, model: Any, pool: Any, *, counted: bool, rounds: int, qid: object, group_weight: object) -> Self:
        """Read queries and weights, and predict."""
        labels, notes = labels_seen(model, pool)
        hashes = pool.get_group_id_hash()
        queries, weights = Queries(labels, qid=hashes if qid is None else _same_groups(qid, hashes)), None
        if group_weight is not None:
            weights, varies = weights_of_rows(group_weight, queries)
            if varies is not None:
                who = queries.query_ids[varies]
                msg = f"group_weight varies within query {who}, which a Pool refuses.\nHint: the Pool's own."
                raise InputError(msg)
        queries = queries.with_weights(weights if counted else None)
        return cls(
            model=model, pool=pool, rounds=rounds, queries=queries, scores=raw_scores(model, pool, rounds),
            notes=notes, weighted=weights is not None,
        )  # fmt: skip

    def remarks(self, convention: Convention) -> tuple[str, ...]:
        """Find group weights that the Pool has and nobody told: CatBoost's values with and without them differ."""
        if self.weighted or convention.weighting is None:
            return self.notes
        strings = (presets.catboost.spell(convention.replace(average=average)) for average in ("query", "uniform"))
        weighted, plain = (evaluated(self.model, self.pool, metric, self.rounds) for metric in strings)
        note = "The Pool has group weights, which cannot be read back, so ours is without them; pass group_weight=."
        return self.notes if weighted == plain else (*self.notes, note)

    def routes(self, toolkit: Toolkit, words: str) -> Iterator[Route]:
        """Ask of `predict` and `staged_predict`, and the model itself."""
        plain = toolkit.route(words)
        yield replace(plain, source=f"model.predict and {plain.source}")
        source = f"model.staged_predict and {plain.source}"
        yield Route(source=source, ask=lambda held: plain.ask(self._staged(held)), apart=False)
        own = partial(evaluated, self.model, self.pool, words, self.rounds)
        yield Route(source=f"model.eval_metrics {words}", ask=lambda _: own(), apart=False)

    def _staged(self, held: Held) -> Held:
        steps = {"ntree_end": self.rounds, "eval_period": self.rounds}
        *_, last = cb.CatBoost.staged_predict(self.model, self.pool, prediction_type="RawFormulaVal", **steps)
        return replace(held, scores=np.asarray(last))

    def logged(self, toolkit: Toolkit, words: str, dataset: str) -> tuple[str, float]:
        """Find what the training logged for a set under any of CatBoost's spellings."""
        convention = read_metric(toolkit.metric(words))
        log = self.model.get_evals_result()
        if dataset not in log:
            msg = f"the training logged no {dataset!r}, but {sorted(log)}.\nHint: fit(train, eval_set=pool)."
            raise InputError(msg)
        for key, values in log[dataset].items():
            try:
                logged = read_metric(key)
            except ConventionError:
                continue  # another metric
            # Whether weights count is not always in the key, nor was it said: the values decide.
            if logged.replace(average="query") == convention.replace(average="query"):
                return key, float(values[self.rounds - 1])
        plain = presets.catboost.spell(convention, group_weights=False)
        msg = (
            f"the log of {dataset!r} has {sorted(log[dataset])}, none of which is {words}.\n"
            f"Hint: CatBoostRanker(custom_metric=[{plain!r} + ';hints=skip_train~false'])."
        )
        raise InputError(msg)


def raw_scores(model: Any, pool: Any, rounds: int = 0) -> Array:
    """Predict with some of the rounds; with all at 0."""
    return np.asarray(cb.CatBoost.predict(model, pool, prediction_type="RawFormulaVal", ntree_end=rounds))


def evaluated(model: Any, pool: Any, metric: str, rounds: int) -> float:
    """Give the model's own value of a metric after some rounds."""
    [values] = model.eval_metrics(pool, [metric], ntree_end=rounds, eval_period=rounds, thread_count=1).values()
    return float(values[-1])


def rounds_asked(model: Any, pool: Any, iteration: int | None) -> int:
    """How many trees are asked for."""
    if not isinstance(model, cb.CatBoost) or not isinstance(pool, cb.Pool):
        msg = (
            f"check_model takes a CatBoost model and a Pool, not {type(model).__name__} and {type(pool).__name__}.\n"
            "Hint: check_model(model, catboost.Pool(X, labels, group_id=qid), convention)."
        )
        raise InputError(msg)
    if not model.is_fitted():
        msg = "the model is not trained, so it has no scores.\nHint: model.fit(pool) first."
        raise InputError(msg)
    return rounds_until(iteration, int(model.tree_count_), 0, "last")


def labels_seen(model: Any, pool: cb.Pool) -> tuple[Array, tuple[str, ...]]:
    """Give the labels as the model's own metrics see them, and a note where that is not as the Pool has them."""
    found = pool.get_label()
    if found is None or np.ndim(found) != 1:
        what = "no labels" if found is None else f"labels of shape {np.shape(found)}"
        msg = f"the Pool has {what}, but one label per row is needed.\nHint: catboost.Pool(X, labels, group_id=qid)."
        raise InputError(msg)
    labels, border = np.asarray(found, np.float64), model.get_all_params().get("target_border")
    if border is None:
        return labels, ()
    note = f"labels above {border:g} are 1 and the others 0, as the model's target_border makes them."
    return (labels > np.float32(border)).astype(np.float64), (note,)


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
