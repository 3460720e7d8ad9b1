"""Values with their conventions in experiment trackers, MLflow and Weights & Biases, and pruning with Optuna."""

from rankadapters.trackers.optuna_trials import pruning
from rankadapters.trackers.runs import log_mlflow, log_wandb, mlflow_name, wandb_name

__all__ = ["log_mlflow", "log_wandb", "mlflow_name", "pruning", "wandb_name"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
