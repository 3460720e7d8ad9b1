"""XGBoost: declared metrics and objectives in `xgb.train`, `xgb.cv` and `XGBRanker`, and early stopping."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import MissingToolkitError

try:
    import xgboost  # noqa: F401 - fail here if it is missing, before our modules import it
except ImportError as error:
    raise MissingToolkitError.of("xgboost", "xgboost") from error

from rankadapters.xgboost.callbacks import EvalCallback
from rankadapters.xgboost.metrics import EvalMetric, eval_metric, native_metric, read_metric
from rankadapters.xgboost.objectives import (
    ObjectiveCallback,
    lambdarank,
    native_objective,
    objective,
    read_objective,
)
from rankadapters.xgboost.parity import check_model, check_parity
from rankadapters.xgboost.stopping import early_stopping

__all__ = [
    "EvalCallback",
    "EvalMetric",
    "ObjectiveCallback",
    "check_model",
    "check_parity",
    "early_stopping",
    "eval_metric",
    "lambdarank",
    "native_metric",
    "native_objective",
    "objective",
    "read_metric",
    "read_objective",
]

list_public(__name__)
