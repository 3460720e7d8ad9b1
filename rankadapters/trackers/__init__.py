"""Log values with their conventions to MLflow and Weights & Biases."""

from rankadapters.trackers.runs import log_mlflow, log_wandb, mlflow_name, wandb_name

__all__ = ["log_mlflow", "log_wandb", "mlflow_name", "wandb_name"]


def __dir__() -> list[str]:
    """Return only the public names, for completion."""
    return sorted(__all__)
