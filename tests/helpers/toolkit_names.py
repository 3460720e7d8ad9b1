"""The toolkits of `rankadapters parity`."""

from __future__ import annotations

NAMES = ("sklearn", "lightgbm", "xgboost", "catboost")
