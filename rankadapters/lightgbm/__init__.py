"""LightGBM: the declared metric in `lgb.train`, `lgb.cv` and `LGBMRanker`, and early stopping that watches it."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import lightgbm  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("lightgbm", "lightgbm") from error

from rankadapters.lightgbm.callbacks import EarlyStopping, early_stopping
from rankadapters.lightgbm.metrics import LABELS, MOST_ROWS, EvalMetric, eval_metric, native_metric, query_weights

__all__ = [
    "LABELS",
    "MOST_ROWS",
    "EarlyStopping",
    "EvalMetric",
    "early_stopping",
    "eval_metric",
    "native_metric",
    "query_weights",
]
