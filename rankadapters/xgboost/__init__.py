"""XGBoost: the declared metric in `xgb.train`, `xgb.cv` and `XGBRanker`, and early stopping that watches it."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import xgboost  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("xgboost", "xgboost") from error

from rankadapters.xgboost.callbacks import EarlyStopping, EvalCallback, early_stopping
from rankadapters.xgboost.metrics import CustomMetric, custom_metric, native_metric

__all__ = ["CustomMetric", "EarlyStopping", "EvalCallback", "custom_metric", "early_stopping", "native_metric"]
