"""Log values with their conventions to MLflow and Weights & Biases."""

from functools import partial

from rankadapters.trackers.runs import log_mlflow, log_wandb, mlflow_name, wandb_name

__all__ = ["log_mlflow", "log_wandb", "mlflow_name", "wandb_name"]

__dir__ = partial(sorted, __all__)  # completion shows only public names
