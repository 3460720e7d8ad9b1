"""XGBoost's own NDCG, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.queries import Queries
from rankadapters.parity import Held, Route, Toolkit, TrainedModel
from rankadapters.parity.data import as_judged, in_order, ranker, refuse_labels, refused, rounded, rounds_until
from rankadapters.xgboost.metrics import judged_of, query_weights

Array = NDArray[Any]

MOST_LABEL = 31  # under its exponential gain
QUIET = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "base_score": 0.0}


class XGBoostToolkit(Toolkit):
    """XGBoost: asked for its metric of a base margin.

    It holds labels, weights and scores as float32. Under its exponential gain it refuses fractional and negative labels
    and those above 31, and weights with which an empty query lifts its mean above 1. A model on data with groups is
    asked for its own `eval`, too; `data` may be a DMatrix with labels and groups.

    References
    ----------
    XGBoost 3.2.0, src/metric/rank_metric.cc.

    Examples
    --------
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # neither ties nor an empty query, so nothing is missing
    (True, ['equal', 'equal-on-this-data'])
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    >>> ranker = xgb.XGBRanker(n_estimators=3).fit(X, y, qid=qid)
    >>> report = check_model(ranker, (X, y, qid), presets.xgboost(5))
    >>> report.ok, len(report.rows)
    (True, 2)
    """

    vocabulary = presets.xgboost
    version: ClassVar[str] = xgb.__version__

    def metric(self, words: dict[str, Any]) -> str:
        """Give its own name of the metric, as its log writes it."""
        return str(words["eval_metric"])

    def source(self, words: dict[str, Any]) -> str:
        """Say how it is asked, metric and parameters."""
        return f"xgboost {_said(words)}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Name the labels that XGBoost refuses under its exponential gain."""
        columns, _ = rounded(queries, self.title, "labels")
        if words.get("ndcg_exp_gain"):
            held = queries.with_labels(**columns)
            refuse_labels(held, MOST_LABEL, "xgboost", " under its exponential gain", "a linear gain, ")

    def hold(self, queries: Queries, scores: Array, words: dict[str, Any]) -> Held:
        """Round labels and weights to float32; the scores are rounded by the convention."""
        del words
        columns, changed = rounded(queries, self.title, "labels", "query_weight")
        together, rows = in_order(queries, **columns)
        whose = {"labels": ", as XGBoost holds them"}
        notes = tuple(f"{name} rounded to float32{whose.get(name, '')}." for name in changed)
        return Held(queries=together, scores=scores[rows], notes=notes)

    def ask(self, held: Held, words: dict[str, Any]) -> float:
        """Ask XGBoost for its metric of a base margin."""
        groups, queries = words.get("groups", True), held.queries
        matrix = xgb.DMatrix(
            np.zeros((queries.n_docs, 1)), label=queries.labels, qid=queries.query_of_row if groups else None,
            weight=queries.query_weight if groups else queries.row_weight, base_margin=held.scores, nthread=1,
        )  # fmt: skip
        return _evaluated(xgb.Booster({**QUIET, **_parameters(words)}, [matrix]), matrix, words)

    def trained(self, model: Any, data: Any, weighting: str | None, *, log: Any, iteration: Any) -> TrainedModel:
        """Read a ranker or a Booster, and predict."""
        asked = (xgb.XGBModel, self.title, "XGBRanker", "qid=qid")
        booster = model if isinstance(model, xgb.Booster) else ranker(model, *asked).get_booster()
        matrix, queries = _data(data, weighting)
        if matrix.num_col() != booster.num_features():
            msg = (
                f"the data has {matrix.num_col()} features but the model was trained on {booster.num_features()}.\n"
                "Hint: the columns that it was trained on."
            )
            raise InputError(msg)
        best = int(getattr(booster, "best_iteration", -1))  # which it lacks without early stopping
        rounds = rounds_until(iteration, booster.num_boosted_rounds(), best + 1)
        upto = booster[:rounds]
        return XGBoostBooster(
            booster=booster, upto=upto, matrix=matrix, queries=queries, rounds=rounds,
            scores=upto.predict(matrix, output_margin=True), log=log,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class XGBoostBooster(TrainedModel):
    """A Booster on a DMatrix: whole, and a copy of its first rounds."""

    booster: xgb.Booster
    upto: xgb.Booster
    matrix: xgb.DMatrix

    def own_metric(self, asked: Convention) -> Convention:
        """Give what the model's own metric of that name means under the parameters that it was trained with."""
        learner = json.loads(self.booster.save_config())["learner"]
        several = [part.get("lambdarank_param", {}) for part in (*learner["metrics"], learner["objective"])]
        own = next((each["ndcg_exp_gain"] for each in several if "ndcg_exp_gain" in each), None)
        words = presets.xgboost.spell(asked)
        if own is None or "ndcg_exp_gain" not in words:
            return asked
        return presets.xgboost.read({**words, "ndcg_exp_gain": own == "1"})

    def routes(self, toolkit: Toolkit, words: dict[str, Any]) -> Iterable[Route]:
        """Give XGBoost's metric on the predictions, and the model's own `eval` where the data have what it needs."""
        yield toolkit.route(words)
        if words.get("groups", True):
            yield Route(source=f"Booster.eval {_said(words)}", ask=lambda _: self._evaluated(words), apart=False)

    def _evaluated(self, words: dict[str, Any]) -> float:
        self.upto.set_param(_parameters(words))
        return _evaluated(self.upto, self.matrix, words)


def _said(words: dict[str, Any]) -> str:
    others = (f"{name}={value}" for name, value in words.items() if name != "eval_metric")
    return " ".join([words["eval_metric"], *others])


def _parameters(words: dict[str, Any]) -> dict[str, Any]:
    """XGBoost's own parameters, without what is said of the data."""
    return {name: value for name, value in words.items() if name != "groups"}


def _evaluated(booster: xgb.Booster, matrix: xgb.DMatrix, words: dict[str, Any]) -> float:
    """Read the value from the line that XGBoost writes, which has all digits."""
    try:
        line = booster.eval(matrix, "set")
    except xgb.core.XGBoostError as error:
        raise refused("xgboost", error) from error
    found = dict(part.rpartition(":")[::2] for part in line.split("\t")[1:])
    return float(found[f"set-{words['eval_metric']}"])


def _data(data: Any, weighting: str | None) -> tuple[xgb.DMatrix, Queries]:
    if isinstance(data, xgb.DMatrix):
        return data, judged_of(data).queries(query_weights)(weighting)
    X, queries = as_judged(data)
    if not queries.are_together:
        msg = "the rows of a query are not together, as XGBoost wants them.\nHint: sort X, labels and qid by qid."
        raise InputError(msg)
    sizes = np.diff(queries.indptr)
    matrix = xgb.DMatrix(X, queries.labels, qid=np.repeat(np.arange(sizes.size), sizes), weight=queries.query_weight)
    return matrix, queries


TOOLKIT = XGBoostToolkit()
check_parity, check_model = TOOLKIT.check_parity, TOOLKIT.check_model
