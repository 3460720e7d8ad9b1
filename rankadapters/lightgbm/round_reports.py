"""A callback that reports each round of an LGBMRanker, with the ranker as it is after the round."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm as lgb


class LightGBMRounds:
    """A callback of LightGBM that calls `report(model)` after each round, and stops when that returns True.

    `model()` returns a fitted copy of the ranker, with the trees so far.
    """

    def __init__(self, ranker: Any, report: Callable[[Callable[[], Any]], bool]) -> None:
        # LightGBM looks for these in the instance; after the recorders (20) and before early stopping (30), which ends
        # the round.
        self.order = 25
        self.before_iteration = False
        self._ranker, self._report = ranker, report

    def __call__(self, env: Any) -> None:
        """Report the round."""
        if self._report(partial(self._model, env.model)):
            raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    def _model(self, booster: lgb.Booster) -> Any:
        model = copy.copy(self._ranker)
        model._Booster = copy.copy(booster)  # noqa: SLF001 - as LightGBM's fit sets it
        model.fitted_ = True
        return model
