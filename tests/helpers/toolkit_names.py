"""The names of the toolkits of `rankadapters parity`."""

from __future__ import annotations

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")
