"""Compare LightGBM's values with ours, for scores or for a trained model."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np

from rankadapters import presets
from rankadapters.callbacks.dataset_columns import missing_group
from rankadapters.core.arrays import Array
from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError, RankAdaptersError
from rankadapters.lightgbm.metrics import columns_of, mean_weights
from rankadapters.parity import Toolkit, ToolkitData
from rankadapters.parity.data import dart_note, ranker, read_data, refusing, require_grades, rounds_until
from rankadapters.parity.toolkit import COLUMNS, ROUNDS, Task
from rankadapters.presets.lightgbm import LABELS, MOST_ROWS

QUIET = {"objective": "none", "verbosity": -1, "num_threads": 1}


class LightGBMToolkit(Toolkit):
    """LightGBM's own metric of scores that are passed as `init_score` (4.7.0, src/metric/rank_metric.hpp).

    >>> report = check_parity([2, 0, 1], [0.1, 0.7, 0.6], presets.textbook(2), group_sizes=[3])
    >>> report.ok, [row.verdict for row in report.rows]  # the data has no ties and no empty query
    (True, ['equal', 'equal-on-this-data'])
    """

    vocabulary = presets.lightgbm
    float32: ClassVar[dict[str, str]] = {"row_weight": "{} rounded to float32."}

    def names(self, words: dict[str, Any]) -> tuple[str, str]:
        """Return the metric's name with its cutoff, and a description that also says if there is a `label_gain`."""
        name = "@".join(map(str, [words["metric"], *words.get("eval_at", ())]))
        return name, f"lightgbm {name}{' label_gain' if 'label_gain' in words else ''}"

    def refuse(self, queries: Queries, words: dict[str, Any]) -> None:
        """Refuse labels that are not indices of `label_gain` (0 to 30 by default), and queries over 10,000 rows."""
        require_grades(queries, len(words.get("label_gain", range(LABELS))) - 1, "lightgbm")
        if queries.longest > MOST_ROWS:
            msg = f"a query has {queries.longest} rows, but lightgbm takes {MOST_ROWS}."
            raise InputError(msg, hint="leave lightgbm out")

    def prepare(self, data: ToolkitData, words: dict[str, Any]) -> ToolkitData:
        """Turn query weights into row weights. LightGBM averages them in float32; our value uses the same average."""
        data = super().prepare(data, words)
        queries, weights = data.queries, data.queries.query_weight
        if weights is None:
            return data
        sizes = np.diff(queries.indptr)
        by_row = np.repeat(weights, sizes).astype(np.float32)
        means = mean_weights(by_row, sizes).astype(np.float64)
        notes = () if (means == weights).all() else ("query_weight is the float32 mean of row weights.",)
        queries = queries.with_weights(means)
        return replace(data, queries=queries, notes=(*notes, *data.notes), inputs={"weight": by_row})

    @refusing("lightgbm", lgb.basic.LightGBMError)
    def ask(self, data: ToolkitData, words: dict[str, Any]) -> float:
        """Return LightGBM's metric value for scores that are passed as `init_score`."""
        queries = data.queries
        dataset = lgb.Dataset(
            np.zeros((queries.n_docs, 1)), label=queries.labels, group=np.diff(queries.indptr), params=QUIET,
            init_score=data.scores.astype(np.float64), **{"weight": queries.row_weight, **data.inputs},
        )  # fmt: skip
        [result] = lgb.Booster({**QUIET, **words}, dataset).eval_train()
        return float(result[2])

    def train(self, task: Task, words: dict[str, Any]) -> tuple[Array, float]:
        """Train an LGBMRanker, which logs the metric."""
        test = task.test
        # With `eval_metric=` of `fit`, the objective's NDCG would be logged too.
        model = lgb.LGBMRanker(
            n_estimators=ROUNDS, num_leaves=15, colsample_bytree=COLUMNS, n_jobs=1, deterministic=True,
            force_row_wise=True, verbosity=-1, learning_rate=0.1, random_state=task.seed, metric=words["metric"],
        )  # fmt: skip
        # LightGBM up to 4.6 takes eval_set, later versions eval_X and eval_y.
        has_eval_X = "eval_X" in inspect.signature(model.fit).parameters
        evals = {"eval_X": test.X, "eval_y": test.labels} if has_eval_X else {"eval_set": [(test.X, test.labels)]}
        cutoff = {"eval_at": words["eval_at"]} if "eval_at" in words else {}
        model.fit(task.train.X, task.train.labels, group=task.train.sizes, eval_group=[test.sizes], **cutoff, **evals)
        [[values]] = (metrics.values() for metrics in model.evals_result_.values())
        # In LightGBM 4.6, LGBMRanker.predict would warn that X lacks the column names that `fit` invented.
        return np.asarray(model.booster_.predict(test.X)), float(values[-1])

    def read_model(self, model: Any, data: Any, convention: Convention, iteration: int | None) -> ToolkitData:
        """Return the given data with the predictions of a trained ranker or Booster."""
        expected = (lgb.LGBMModel, self.vocabulary.title, "LGBMRanker", "group=sizes")
        booster = model if isinstance(model, lgb.Booster) else ranker(model, *expected).booster_
        X, queries = _data(data, convention.weighting)
        n_trained, best = booster.current_iteration(), booster.best_iteration
        rounds = rounds_until(iteration, n_trained, best)
        scores = np.asarray(booster.predict(X, num_iteration=rounds, raw_score=True))
        own_convention = presets.lightgbm(convention.get("k"), label_gain=_label_gain(booster))
        # A round without a split is logged but adds no tree. Without early stopping, best is 0.
        is_last = rounds == n_trained and best == 0
        return ToolkitData(
            queries=queries, scores=scores, own_convention=own_convention, n_trained=n_trained,
            rounds=0 if is_last else rounds, notes=dart_note(rounds, n_trained, _written(booster, "boosting")),
        )  # fmt: skip


def _data(data: Any, weighting: str | None) -> tuple[Any, Queries]:
    """Return the features and the queries; refuse a Dataset whose features LightGBM has freed."""
    if not isinstance(data, lgb.Dataset):
        return read_data(data)
    try:
        features, columns = data.get_data(), columns_of(data)
    except RankAdaptersError:
        raise
    except Exception:  # noqa: BLE001 - LightGBM raises Exception for a Dataset that is not constructed
        if data.group is None:
            raise missing_group("Dataset", "lgb.Dataset(..., group=sizes)") from None
        features, columns = data.data, columns_of(data.label, data.weight, data.group)
    if features is None:
        msg = "the Dataset has no features: LightGBM frees them when it constructs it."
        raise InputError(msg, hint="lgb.Dataset(..., free_raw_data=False), or (X, labels, qid)")
    return features, columns.queries(weighting, mean_weights)


def _label_gain(booster: lgb.Booster) -> list[float] | None:
    """Return the gains that a model was trained with; None for LightGBM's defaults.

    In LightGBM 4.6, a Booster made from text has no parameters, but the text has them.
    """
    gains: Any = booster.params.get("label_gain") if booster.params else _written(booster, "label_gain")
    return list(map(float, gains.split(",") if isinstance(gains, str) else gains)) if gains else None


def _written(booster: lgb.Booster, parameter: str) -> str:
    """Return a parameter's value from a model's text, which lists parameters by main name and not by alias."""
    text = booster.model_to_string(num_iteration=1)
    return "".join(re.findall(rf"^\[{parameter}: (.*)\]$", text, re.MULTILINE))


TOOLKIT = LightGBMToolkit()
check_parity, check_model = TOOLKIT.check_parity, TOOLKIT.check_model
