"""A callback that reports each round of an XGBRanker, with the ranker as it is after the round."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import xgboost as xgb


class XGBoostRounds(xgb.callback.TrainingCallback):
    """Call `report(model)` after each round, and stop before the next when that returns True.

    `model()` returns a fitted copy of the ranker, with the trees so far. XGBoost calls no callback after one that
    stops, so this one is listed first, and stops only before a round.
    """

    def __init__(self, ranker: Any, report: Callable[[Callable[[], Any]], bool]) -> None:
        super().__init__()
        self._ranker, self._report, self._stops = ranker, report, False

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Tell whether to stop."""
        del model, epoch, evals_log
        return self._stops

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report the round."""
        del epoch, evals_log
        self._stops = self._report(partial(self._model, model))
        return False

    def _model(self, booster: xgb.Booster) -> Any:
        model = copy.copy(self._ranker)
        model._Booster = booster.copy()  # noqa: SLF001 - as XGBoost's fit sets it
        model._Booster.set_attr(best_iteration=None)  # noqa: SLF001 - up to which alone the ranker would predict
        return model
