"""LightGBM's own NDCG, of given scores or of a trained model, compared with ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankadapters.core import presets
from rankadapters.core.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.presets.lightgbm import LABELS, MOST_ROWS
from rankadapters.core.queries import Queries
from rankadapters.lightgbm.metrics import query_weights
from rankadapters.parity import Held, Toolkit, TrainedModel
from rankadapters.parity.data import as_float32, as_judged, in_order, ranker, refuse_labels, refused, rounds_until

Array = NDArray[Any]

QUIET = {"objective": "none", "verbosity": -1, "num_threads": 1, "feature_pre_filter": False}


class LightGBMToolkit(Toolkit):
    """LightGBM: asked for its metric of initial scores.

    It takes whole labels from 0 to 30, or to the end of `label_gain`, and 10,000 rows in a query, and gives a query the
    float32 mean of its rows' weights.

    References
    ----------
    LightGBM 4.7.0, src/metric/rank_metric.hpp.

    Examples
    --------
    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # neither ties nor an empty query, so nothing is missing
    (True, ['equal', 'equal-on-this-data'])
    >>> rng = np.random.default_rng(0)
    >>> X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    >>> ranker = lgb.LGBMRanker(n_estimators=3, verbosity=-1).fit(X, y, group=[20, 20, 20])
    >>> check_model(ranker, (X, y, qid), presets.lightgbm(5)).ok
    True
    """

    vocabulary = presets.lightgbm
    version: ClassVar[str] = lgb.__version__

    def metric(self, words: dict[str, Any]) -> str:
        """Give its own name of the metric, as its log writes it."""
        return f"{words['metric']}@{words['eval_at'][0]}" if "eval_at" in words else str(words["metric"])

    def source(self, words: dict[str, Any]) -> str:
        """Say how it is asked, metric and parameters."""
        return f"lightgbm {self.metric(words)}{' label_gain' if 'label_gain' in words else ''}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Name what LightGBM refuses of the caller's data, before it prints something of its own."""
        refuse_labels(queries, len(words.get("label_gain", range(LABELS))) - 1, "lightgbm")
        if queries.longest > MOST_ROWS:
            msg = f"a query has {queries.longest} rows, but lightgbm takes {MOST_ROWS}.\nHint: leave lightgbm out."
            raise InputError(msg)

    def hold(self, queries: Queries, scores: Array, words: dict[str, Any]) -> Held:
        """Give each row its query's weight, of which LightGBM takes the float32 mean."""
        del words
        together, rows = in_order(queries)
        array, notes, by_row = scores[rows].astype(np.float64), [], None
        if together.row_weight is not None:
            by_row = as_float32("row_weight", together.row_weight, "LightGBM")
            notes += [] if (by_row == together.row_weight).all() else ["row_weight rounded to float32."]
            together = together.with_weights(row_weight=by_row)
        elif together.query_weight is not None:
            sizes = np.diff(together.indptr)
            by_row = np.repeat(together.query_weight, sizes).astype(np.float32)
            means = query_weights(by_row, sizes).astype(np.float64)
            if (means != together.query_weight).any():
                notes.append("query_weight is the float32 mean of row weights.")
            together = together.with_weights(means)
        given = {} if by_row is None else {"weight": by_row}
        return Held(queries=together, scores=array, notes=tuple(notes), given=given)

    def ask(self, held: Held, words: dict[str, Any]) -> float:
        """Ask LightGBM for its metric of initial scores."""
        queries = held.queries
        data = lgb.Dataset(
            np.zeros((queries.n_docs, 1)), label=queries.labels, group=np.diff(queries.indptr),
            init_score=held.scores, params=QUIET, **held.given,
        )  # fmt: skip
        try:
            [result] = lgb.Booster({**QUIET, **words}, data).eval_train()
        except lgb.basic.LightGBMError as error:
            raise refused("lightgbm", error) from error
        return float(result[2])

    def trained(self, model: Any, data: Any, weighting: str | None, *, log: Any, iteration: Any) -> TrainedModel:
        """Read a ranker or a Booster, and predict."""
        del weighting
        asked = (lgb.LGBMModel, self.title, "LGBMRanker", "group=sizes")
        booster = model if isinstance(model, lgb.Booster) else ranker(model, *asked).booster_
        X, queries = as_judged(data)
        rounds = rounds_until(iteration, booster.current_iteration(), booster.best_iteration)
        scores = np.asarray(booster.predict(X, num_iteration=rounds, raw_score=True))
        return LightGBMBooster(booster=booster, queries=queries, scores=scores, rounds=rounds, log=log)


@dataclass(frozen=True, kw_only=True)
class LightGBMBooster(TrainedModel):
    """A Booster on a data set."""

    booster: lgb.Booster

    def own_metric(self, asked: Convention) -> Convention:
        """Give what the model's own metric of that name means under the parameters that it was trained with."""
        given = self.booster.params.get("label_gain")
        gains = given.split(",") if isinstance(given, str) else given
        if asked.measure != "ndcg":
            return asked
        return presets.lightgbm(getattr(asked, "k", None), label_gain=list(map(float, gains)) if gains else None)


TOOLKIT = LightGBMToolkit()
check_parity, check_model = TOOLKIT.check_parity, TOOLKIT.check_model
