"""Values with their conventions in experiment trackers, MLflow and Weights & Biases, and pruning with Optuna."""

from rankadapters.trackers.mlflow_runs import log_mlflow, mlflow_name
from rankadapters.trackers.optuna_trials import pruning
from rankadapters.trackers.wandb_runs import log_wandb, wandb_name

__all__ = ["log_mlflow", "log_wandb", "mlflow_name", "pruning", "wandb_name"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
