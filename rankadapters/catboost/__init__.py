"""CatBoost: declared metrics and objectives, translation into CatBoost's own metrics and losses, and parity checks."""

from __future__ import annotations

from rankadapters.core.declaration.guesses import list_public
from rankadapters.core.errors import MissingToolkitError

try:
    import catboost  # noqa: F401 - fail here if it is missing, before our modules import it
except ImportError as error:
    raise MissingToolkitError.of("catboost", "catboost") from error

from rankadapters.catboost.metrics import EvalMetric, eval_metric, native_metric, read_metric
from rankadapters.catboost.objectives import native_loss
from rankadapters.catboost.parity import check_model, check_parity
from rankadapters.catboost.training import train
from rankadapters.objectives.catboost import native_objective, read_objective

__all__ = [
    "EvalMetric",
    "check_model",
    "check_parity",
    "eval_metric",
    "native_loss",
    "native_metric",
    "native_objective",
    "read_metric",
    "read_objective",
    "train",
]

list_public(__name__)
