"""CatBoost's metric values on a Pool, for a trained model, or for scores passed as a baseline (pair metrics)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import catboost as cb
import numpy as np

from rankadapters import presets
from rankadapters.catboost.boosted_pool import baseline_of, labels_of, without_baseline
from rankadapters.catboost.metrics import name_in_log, read_metric
from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import as_column, as_numbers, frozen, same_length
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, warn_caller
from rankadapters.parity import ToolkitData
from rankadapters.parity.data import as_float32, sentence

ROUNDED = "{} rounded to float32, as CatBoost stores {}."


class CatBoostModel(NamedTuple):
    """A model up to a round, a Pool, and the Pool's columns that CatBoost cannot return."""

    model: Any
    pool: Any
    rounds: int
    qid: object = None
    group_weight: object = None
    pairs: object = None

    def scores(self, *, staged: bool = False) -> Array:
        """Return the scores of the Pool's rows by `predict` or, if `staged`, by `staged_predict`."""
        options: dict[str, Any] = {"prediction_type": "RawFormulaVal", "ntree_end": self.rounds}
        baseline = baseline_of(self.pool)
        if not staged:
            return np.asarray(cb.CatBoost.predict(self.model, self.pool, **options))
        pool = without_baseline(self.pool)  # with a baseline, staged_predict crashes the process
        *_, last = cb.CatBoost.staged_predict(self.model, pool, eval_period=self.rounds, **options)
        return np.asarray(last) if baseline is None else baseline + np.asarray(last)

    def value(self, metric: str) -> float:
        """Return the model's own value of a metric."""
        options = {"ntree_end": self.rounds, "eval_period": self.rounds, "thread_count": 1}
        with TemporaryDirectory() as folder:
            model = _logging_to(folder, self.model)
            [values] = model.eval_metrics(self.pool, [metric], **options, tmp_dir=folder).values()
        return float(values[-1])

    def refusal(self, metric: str) -> str | None:
        """Return CatBoost's error if the model cannot compute a metric, such as a loss it was not trained with."""
        try:
            self.value(metric)
        except cb.CatBoostError as error:
            return sentence(error)
        return None

    def is_weighted(self, convention: Convention) -> bool:
        """Return whether the Pool has group weights, by comparing CatBoost's values with and without them."""
        if convention.weighting != "query_weight":
            return False
        metrics = (presets.catboost.spell(convention.replace(average=average)) for average in ("query", "uniform"))
        return len(set(map(self.value, metrics))) > 1

    def labels(self) -> tuple[Array, tuple[str, ...]]:
        """Return the labels that the model's metrics use, and a note if they differ from the Pool's."""
        labels, border = labels_of(self.pool), self.model.get_all_params().get("target_border")
        if border is None:
            return labels, ()
        note = f"labels above {border:g} are 1 and the others 0, as the model's target_border makes them."
        return (labels > np.float32(border)).astype(np.float64), (note,)

    def queries(self, labels: Array) -> Queries:
        """Return the Pool's queries with these labels, and with the caller's ids, weights and pairs if given."""
        hashes = self.pool.get_group_id_hash()
        queries = Queries(labels, qid=hashes if self.qid is None else _same_groups(self.qid, hashes), pairs=self.pairs)
        if self.group_weight is None:
            return queries
        weights, hint = group_weights(self.group_weight, queries), "the Pool's own, which do not vary"
        return queries.with_weights(queries.weights_per_query("group_weight", weights, hint=hint))

    def logged(self, dataset: str, metric: str) -> tuple[str, Any]:
        """Return the log's key for a metric, which may be spelled differently, and the logged values by round."""
        plain, log = presets.catboost.spell(read_metric(metric), group_weights=False), self.model.get_evals_result()
        if not isinstance(dataset, str) or dataset not in log:
            msg = f"the training logged no {dataset!r}, but {sorted(log)}."
            raise InputError(msg, hint="fit(train, eval_set=pool)")
        if (key := name_in_log(plain, log[dataset])) is not None:
            return key, log[dataset][key]
        msg = f"the log of {dataset!r} has {sorted(log[dataset])}, none of which is {metric}."
        raise InputError(msg, hint=f"CatBoostRanker(custom_metric=[{plain!r} + ';hints=skip_train~false'])")


def _logging_to(folder: str, model: Any) -> Any:
    """Return an object of the same trees that logs to a folder; the model itself would overwrite its training's logs.

    `eval_metrics` writes to the folder in the model's parameters, which a trained model's `set_params` cannot change.
    """
    same_trees = object.__new__(type(model))
    parameters = {**model._init_params, "train_dir": folder}  # noqa: SLF001 - no public way
    vars(same_trees).update(vars(model), _init_params=parameters)
    return same_trees


def group_weights(group_weight: object, queries: Queries) -> Array:
    """Return CatBoost's group weights, one per row, as an array."""
    weights = as_numbers("group_weight", group_weight).astype(np.float64)
    same_length("group_weight", weights, queries.n_docs)
    return weights


def _same_groups(qid: object, hashes: Array) -> Array:
    ids = as_column("qid", qid)
    same_length("qid", ids, len(hashes))
    qid_begins, pool_begins = ids[1:] != ids[:-1], hashes[1:] != hashes[:-1]
    if (qid_begins != pool_begins).any():
        row = int(np.argmax(qid_begins != pool_begins)) + 1
        reasons = ("qid begins a query but the Pool does not", "the Pool begins a group but qid does not")
        msg = f"at row {row} {reasons[int(pool_begins[row - 1])]}."
        raise InputError(msg, hint="the qid that the Pool was given as group_id", row=row)
    return ids


def round_as_in_pool(data: ToolkitData) -> ToolkitData:
    """Round pair weights to float32, as a Pool does; also round scores if they will be the Pool's baseline."""
    queries, scores, notes = data.queries, data.scores, []
    if queries.pairs is not None and queries.pairs.weight is not None:
        weights = as_float32("pairs weight", queries.pairs.weight, "CatBoost")
        notes += [ROUNDED.format("weights of pairs", "them")] if (weights != queries.pairs.weight).any() else []
        queries = queries.with_columns(pairs=queries.pairs._replace(weight=frozen(weights)))
    if not data.routes or data.routes[0].of_scores:
        scores = as_float32("scores", np.asarray(scores, np.float64), "CatBoost")
        notes += [ROUNDED.format("scores", "a baseline")] if (scores != data.scores).any() else []
    return replace(data, queries=queries, scores=scores, notes=(*data.notes, *notes))


def value_in_a_pool(queries: Queries, scores: Any, words: str) -> float:
    """Return CatBoost's metric value for contiguous queries; without pairs, CatBoost makes pairs from the labels."""
    by_row, columns = queries.query_of_row, dict[str, Any]()
    if queries.pairs is not None:
        columns["pairs"] = np.column_stack([queries.pairs.winner, queries.pairs.loser])
        columns["pairs_weight"] = queries.pairs.weight
    if queries.query_weight is not None:
        columns["group_weight"] = queries.query_weight[by_row]
    pool = cb.Pool(np.zeros((queries.n_docs, 1)), queries.labels, group_id=by_row, baseline=scores, **columns)
    return CatBoostModel(_zero_model(), pool, 1).value(words)


@cache
def _zero_model() -> Any:
    """Return a model that predicts 0."""
    quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = cb.CatBoost({"iterations": 1, "depth": 1, "loss_function": "RMSE", **quiet}).fit([[0.0], [1.0]], [0, 1])
    model.set_scale_and_bias(0.0, 0.0)
    return model


NO_RIDGE = 1e-20  # CatBoost changes l2_leaf_reg=0 to this


def warn_of_training(model: Any) -> None:
    """Warn if a LambdaMart model was trained with leaves other than unregularized Newton steps.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TLambdaMartError`. Run: NDCG@10 of 200
    training queries .928 by default, .630 under l2_leaf_reg=3, .037 under Gradient, .365 of random scores.
    """
    params: dict[str, Any] = {}
    with suppress(cb.CatBoostError):  # a sum of models has no parameters
        params = model.get_all_params()
    method, ridge = params.get("leaf_estimation_method"), params.get("l2_leaf_reg", 0.0)
    if str(params.get("loss_function")).startswith("LambdaMart") and (method != "Newton" or ridge > 2 * NO_RIDGE):
        warn_caller(
            f"the model was trained by LambdaMart with leaf_estimation_method={method!r}, l2_leaf_reg={ridge:g}. "
            "CatBoost has the wrong sign in both of its derivatives, which cancels only under "
            "leaf_estimation_method='Newton' and l2_leaf_reg=0: the model was trained backwards.",
            hint="ra.catboost.native_loss(convention) has the settings; or ra.catboost.train",
        )
