"""LightGBM: declared metrics and objectives in `lgb.train`, `lgb.cv` and `LGBMRanker`, and early stopping."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import MissingToolkitError

try:
    import lightgbm  # noqa: F401 - fail here if it is missing, before our modules import it
except ImportError as error:
    raise MissingToolkitError.of("lightgbm", "lightgbm") from error

from rankadapters.lightgbm.callbacks import EarlyStopping, early_stopping
from rankadapters.lightgbm.distributed import GlobalEval, global_eval
from rankadapters.lightgbm.metrics import EvalMetric, eval_metric, native_metric, read_metric
from rankadapters.lightgbm.objectives import (
    ObjectiveCallback,
    lambdarank,
    native_objective,
    objective,
    read_objective,
)
from rankadapters.lightgbm.parity import check_model, check_parity

__all__ = [
    "EarlyStopping",
    "EvalMetric",
    "GlobalEval",
    "ObjectiveCallback",
    "check_model",
    "check_parity",
    "early_stopping",
    "eval_metric",
    "global_eval",
    "lambdarank",
    "native_metric",
    "native_objective",
    "objective",
    "read_metric",
    "read_objective",
]

list_public(__name__)
