"""Settings that break a training under a callable objective, seen at its first round."""

from __future__ import annotations

import inspect
import re

import lightgbm as lgb

from rankadapters.core.errors import warn_caller

UPDATE = lgb.Booster.update.__code__
BY_QUERY = (
    "bagging_by_query: LightGBM draws queries for its own objectives only. Under a callable one it trains on all rows, "
    "or grows no tree where bagging_fraction / bagging_freq is at most 1/2, and adds every tree to the score of row 0 "
    "once for each row that should have been left out.\n"
    "Hint: bagging_by_query=False, which draws rows, or LightGBM's own objective (ra.lightgbm.native_objective)."
)
DART = (
    'boosting="dart": under a callable objective LightGBM drops trees by a flag that it has not set, so that two '
    "trainings may differ, and where the training set is among valid_sets it returns the trees that it dropped last "
    "with their sign turned round.\n"
    "Hint: another boosting, or LightGBM's own objective (ra.lightgbm.native_objective)."
)


def warn_of_settings() -> None:
    """Warn, inside a callable objective, of what LightGBM does otherwise than its parameters say.

    Warns
    -----
    UserWarning
        `bagging_by_query` with bagging, and `boosting="dart"`.

    References
    ----------
    LightGBM 4.7.0, src/boosting/gbdt.cpp, `GBDT::TrainOneIter` and `GBDT::Boosting`, which alone bags by query;
    src/boosting/dart.hpp, `is_update_score_cur_iter_`, which `TrainOneIter` sets after a callable has asked for scores.
    """
    settings = _settings()
    if settings.get("bagging_by_query") == "1" and _bags(settings):
        warn_caller(BY_QUERY)
    if settings.get("boosting") == "dart":
        warn_caller(DART)


def _bags(settings: dict[str, str]) -> bool:
    return float(settings["bagging_fraction"]) < 1 and int(settings["bagging_freq"]) > 0


def _settings() -> dict[str, str]:
    """Parameters of the booster in training, by their own names; none in a call by hand."""
    booster = _booster()
    text = "" if booster is None else booster.model_to_string(num_iteration=1)
    return dict(re.findall(r"^\[(\w+): (.*)\]$", text, re.MULTILINE))


def _booster() -> lgb.Booster | None:
    # A callable is handed no booster, and a Dataset keeps the parameters that it was constructed with, whatever a later
    # training on it has: only the calling `Booster.update` knows. Reading the variables of any other frame would keep
    # them, datasets among them, alive.
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not UPDATE:
        frame = frame.f_back
    return None if frame is None else frame.f_locals["self"]
