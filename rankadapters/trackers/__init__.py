"""Log values with their conventions to MLflow and Weights & Biases."""

from rankadapters.core.declaration.guesses import list_public
from rankadapters.trackers.runs import log_mlflow, log_wandb, mlflow_name, names, tag_mlflow, wandb_name

__all__ = ["log_mlflow", "log_wandb", "mlflow_name", "names", "tag_mlflow", "wandb_name"]

list_public(__name__)
