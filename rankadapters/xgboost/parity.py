"""Compare XGBoost's values with ours, for scores or for a trained model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import xgboost as xgb

from rankadapters import presets
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.parity import Toolkit, ToolkitData
from rankadapters.parity.data import (
    as_float32,
    dart_note,
    ranker,
    read_data,
    refusing,
    require_grades,
    rounds_until,
)
from rankadapters.parity.report import IN_PART_FLOAT32
from rankadapters.parity.toolkit import COLUMNS, ROUNDS, Route, Task
from rankadapters.xgboost.metrics import columns_of
from rankadapters.xgboost.stopping import drops_trees, learner_config

MOST_LABEL = 31  # the largest label that XGBoost's exponential gain accepts
QUIET = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "base_score": 0.0}


class XGBoostToolkit(Toolkit):
    """XGBoost's own metric of scores that are passed as a base margin (3.2.0, src/metric/rank_metric.cc).

    For a model on data with groups, `Booster.eval` is compared too. `data` may be a DMatrix with labels and groups.
    XGBoost refuses weights for which an empty query would raise its mean above 1.

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # the data has no ties and no empty query
    (True, ['equal', 'equal-on-this-data'])
    """

    vocabulary = presets.xgboost
    float32: ClassVar[dict[str, str]] = {
        "labels": "{} rounded to float32, as XGBoost stores them.",
        "query_weight": "{} rounded to float32.",
    }

    def names(self, words: dict[str, Any]) -> tuple[str, str]:
        """Return the metric's name, and a description with the metric's parameters."""
        params = (f" {name}={value}" for name, value in words.items() if name != "eval_metric")
        return words["eval_metric"], f"xgboost {words['eval_metric']}{''.join(params)}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Refuse labels that are not whole numbers from 0 to 31 in float32, if the metric has an exponential gain."""
        rounded = queries.with_labels(as_float32("labels", queries.labels, self.vocabulary.title))
        if words.get("ndcg_exp_gain"):
            require_grades(rounded, MOST_LABEL, "xgboost", " under its exponential gain", "a linear gain, ")

    def ask(self, data: ToolkitData, words: dict[str, Any]) -> float:
        """Return XGBoost's metric value for scores that are passed as a base margin."""
        groups, queries = words.get("groups", True), data.queries
        weights = data.inputs.get("query_weight", queries.query_weight) if groups else queries.row_weight
        matrix = xgb.DMatrix(
            np.zeros((queries.n_docs, 1)), label=queries.labels, qid=queries.query_of_row if groups else None,
            weight=weights, base_margin=data.scores, nthread=1,
        )  # fmt: skip
        return _evaluated(xgb.Booster(QUIET, [matrix]), matrix, words)

    def train(self, task: Task, words: dict[str, Any]) -> tuple[Array, float]:
        """Train an XGBRanker, which logs the metric."""
        test = task.test
        model = xgb.XGBRanker(
            n_estimators=ROUNDS, max_depth=4, colsample_bynode=COLUMNS, n_jobs=1, learning_rate=0.1,
            random_state=task.seed, **words,
        )  # fmt: skip
        evals = {"eval_set": [(test.X, test.labels)], "eval_qid": [test.qid]}
        model.fit(task.train.X, task.train.labels, qid=task.train.qid, verbose=False, **evals)
        [[values]] = (metrics.values() for metrics in model.evals_result_.values())
        return np.asarray(model.predict(test.X)), float(values[-1])

    def precision(self, convention: Convention) -> float:
        """Return a larger tolerance for AUC with fractional labels, which XGBoost partly sums in float32."""
        return IN_PART_FLOAT32 if convention.get("pairs") == "unit" else super().precision(convention)

    def read_model(self, model: Any, data: Any, convention: Convention, iteration: int | None) -> ToolkitData:
        """Return the given data with the predictions of a trained ranker or Booster."""
        expected = (xgb.XGBModel, self.vocabulary.title, "XGBRanker", "qid=qid")
        booster = model if isinstance(model, xgb.Booster) else ranker(model, *expected).get_booster()
        matrix, queries = _data(data, convention.weighting)
        if matrix.num_col() != booster.num_features():
            msg = f"the data has {matrix.num_col()} features but the model was trained on {booster.num_features()}."
            raise InputError(msg, hint="the columns that it was trained on")
        best = int(getattr(booster, "best_iteration", -1))  # missing without early stopping
        n_trained = booster.num_boosted_rounds()
        rounds = rounds_until(iteration, n_trained, best + 1)
        shortened, words = booster[:rounds], self.nearest(convention)[1]
        metric = self.names(words)[1].removeprefix("xgboost ")
        own_route = Route(f"Booster.eval {metric}", lambda _: _evaluated(shortened, matrix, words))
        return ToolkitData(
            queries=queries, scores=shortened.predict(matrix, output_margin=True), rounds=rounds, n_trained=n_trained,
            own_convention=_own_metric(booster, words),
            routes=(self.score_route(words), own_route) if words.get("groups", True) else (),
            notes=dart_note(rounds, n_trained, _kind_of(booster)),
        )  # fmt: skip


def _kind_of(booster: xgb.Booster) -> str:
    """Return the booster's type, such as `gbtree` or `dart`.

    XGBoost 3.4 calls DART `gbtree` too. Only the rates at which it drops trees show the difference, and a model that
    was loaded from a file has lost them.
    """
    config = learner_config(booster)["gradient_booster"]
    return "dart" if drops_trees(config) else str(config["name"])


def _own_metric(booster: xgb.Booster, words: dict[str, Any]) -> Convention | None:
    """Return the metric's convention with the gain that the model was trained with; None if that is unknown."""
    learner = learner_config(booster)
    params = [part.get("lambdarank_param", {}) for part in (*learner["metrics"], learner["objective"])]
    exp_gains = [options["ndcg_exp_gain"] == "1" for options in params if "ndcg_exp_gain" in options]
    is_known = exp_gains and "ndcg_exp_gain" in words
    return presets.xgboost.read({**words, "ndcg_exp_gain": exp_gains[0]}) if is_known else None


@refusing("xgboost", xgb.core.XGBoostError)
def _evaluated(booster: xgb.Booster, matrix: xgb.DMatrix, words: dict[str, Any]) -> float:
    """Return the metric value from the text that XGBoost's `eval` prints, which has all digits."""
    booster.set_param({name: value for name, value in words.items() if name != "groups"})  # `groups` is not XGBoost's
    values = dict(part.rpartition(":")[::2] for part in booster.eval(matrix, "set").split("\t")[1:])
    return float(values[f"set-{words['eval_metric']}"])


def _data(data: Any, weighting: str | None) -> tuple[xgb.DMatrix, Queries]:
    if isinstance(data, xgb.DMatrix):
        return data, columns_of(data).queries(weighting)
    X, queries = read_data(data)
    if queries.order is not None:
        msg = "the rows of a query are not together, as XGBoost wants them."
        raise InputError(msg, hint="sort X, labels and qid by qid")
    return xgb.DMatrix(X, queries.labels, qid=queries.query_of_row, weight=queries.query_weight), queries


TOOLKIT = XGBoostToolkit()
check_parity, check_model = TOOLKIT.check_parity, TOOLKIT.check_model
