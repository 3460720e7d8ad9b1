"""XGBoost's own NDCG, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import xgboost as xgb

from rankadapters.core import presets
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.parity import Held, Toolkit
from rankadapters.parity.data import as_float32, as_judged, ranker, refuse_grades, refusing, rescaled, rounds_until
from rankadapters.parity.held import Route
from rankadapters.parity.rows import IN_PART_FLOAT32
from rankadapters.xgboost.metrics import judged_of, query_weights

MOST_LABEL = 31  # under its exponential gain
QUIET = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "base_score": 0.0}


class XGBoostToolkit(Toolkit):
    """XGBoost 3.2.0, src/metric/rank_metric.cc: asked for its metric of a base margin.

    A model on data with groups is asked for its own `eval`, too; `data` may be a DMatrix with labels and groups.
    Weights with which an empty query lifts its mean above 1 are refused by XGBoost itself.

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # neither ties nor an empty query, so nothing is missing
    (True, ['equal', 'equal-on-this-data'])
    """

    vocabulary = presets.xgboost
    float32: ClassVar[dict[str, str]] = {
        "labels": "{} rounded to float32, as XGBoost holds them.",
        "query_weight": "{} rounded to float32.",
    }

    def names(self, words: dict[str, Any]) -> tuple[str, str]:
        """Give the metric, and its parameters after it."""
        others = (f" {name}={value}" for name, value in words.items() if name != "eval_metric")
        return words["eval_metric"], f"xgboost {words['eval_metric']}{''.join(others)}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Take whole labels from 0 to 31 under its exponential gain, once they are rounded."""
        held = queries.with_labels(as_float32("labels", queries.labels, self.vocabulary.title))
        if words.get("ndcg_exp_gain"):
            refuse_grades(held, MOST_LABEL, "xgboost", " under its exponential gain", "a linear gain, ")

    def ask(self, held: Held, words: dict[str, Any]) -> float:
        """Ask for the metric of a base margin."""
        groups, queries = words.get("groups", True), held.queries
        weights = held.given.get("query_weight", queries.query_weight) if groups else queries.row_weight
        matrix = xgb.DMatrix(
            np.zeros((queries.n_docs, 1)), label=queries.labels, qid=queries.query_of_row if groups else None,
            weight=weights, base_margin=held.scores, nthread=1,
        )  # fmt: skip
        return _evaluated(xgb.Booster(QUIET, [matrix]), matrix, words)

    def precision(self, convention: Convention) -> float:
        """Trust AUC where labels are probabilities to less: XGBoost sums in float32 in part."""
        return IN_PART_FLOAT32 if getattr(convention, "pairs", "") == "unit" else super().precision(convention)

    def trained(self, model: Any, data: Any, convention: Convention, iteration: int | None) -> Held:
        """Read a ranker or a Booster, and predict."""
        asked = (xgb.XGBModel, self.vocabulary.title, "XGBRanker", "qid=qid")
        booster = model if isinstance(model, xgb.Booster) else ranker(model, *asked).get_booster()
        matrix, queries = _data(data, convention.weighting)
        if matrix.num_col() != booster.num_features():
            msg = (
                f"the data has {matrix.num_col()} features but the model was trained on {booster.num_features()}.\n"
                "Hint: the columns that it was trained on."
            )
            raise InputError(msg)
        best = int(getattr(booster, "best_iteration", -1))  # which it lacks without early stopping
        trained = booster.num_boosted_rounds()
        rounds = rounds_until(iteration, trained, best + 1)
        upto, words = booster[:rounds], self.nearest(convention)[1]
        how = self.names(words)[1].removeprefix("xgboost ")
        own = Route(f"Booster.eval {how}", lambda _: _evaluated(upto, matrix, words))
        return Held(
            queries=queries, scores=upto.predict(matrix, output_margin=True), rounds=rounds, trained=trained,
            own=_own_metric(booster, words), routes=(self.asked(words), own) if words.get("groups", True) else (),
            notes=rescaled(rounds, trained, _kind_of(booster)),
        )  # fmt: skip


def _kind_of(booster: xgb.Booster) -> str:
    """Return the kind of booster.

    XGBoost 3.4 calls DART `gbtree` too. Only the rates at which it drops trees show the difference, and a model that
    was loaded from a file has lost them.
    """
    booster_config = _learner(booster)["gradient_booster"]
    drops = booster_config.get("dart_train_param") or {}
    drops_trees = any(float(drops.get(name, 0)) for name in ("rate_drop", "one_drop"))
    return "dart" if drops_trees else str(booster_config["name"])


def _learner(booster: xgb.Booster) -> dict[str, Any]:
    learner: dict[str, Any] = json.loads(booster.save_config())["learner"]
    return learner


def _own_metric(booster: xgb.Booster, words: dict[str, Any]) -> Convention | None:
    """What the metric means under the parameters that the model was trained with, where they are known."""
    learner = _learner(booster)
    several = [part.get("lambdarank_param", {}) for part in (*learner["metrics"], learner["objective"])]
    own = [each["ndcg_exp_gain"] == "1" for each in several if "ndcg_exp_gain" in each]
    return presets.xgboost.read({**words, "ndcg_exp_gain": own[0]}) if own and "ndcg_exp_gain" in words else None


@refusing("xgboost", xgb.core.XGBoostError)
def _evaluated(booster: xgb.Booster, matrix: xgb.DMatrix, words: dict[str, Any]) -> float:
    """Read the value from the line that XGBoost writes, which has all digits."""
    booster.set_param({name: value for name, value in words.items() if name != "groups"})  # which is of the data
    found = dict(part.rpartition(":")[::2] for part in booster.eval(matrix, "set").split("\t")[1:])
    return float(found[f"set-{words['eval_metric']}"])


def _data(data: Any, weighting: str | None) -> tuple[xgb.DMatrix, Queries]:
    if isinstance(data, xgb.DMatrix):
        return data, judged_of(data).queries(query_weights)(weighting)
    X, queries = as_judged(data)
    if not queries.are_together:
        msg = "the rows of a query are not together, as XGBoost wants them.\nHint: sort X, labels and qid by qid."
        raise InputError(msg)
    return xgb.DMatrix(X, queries.labels, qid=queries.query_of_row, weight=queries.query_weight), queries


TOOLKIT = XGBoostToolkit()
check_parity, check_model = TOOLKIT.check_parity, TOOLKIT.check_model
