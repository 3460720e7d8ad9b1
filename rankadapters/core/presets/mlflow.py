"""MLflow's metrics."""

from __future__ import annotations

from typing import ClassVar

from rankadapters.core.measures import NDCG
from rankadapters.core.presets.tool import Tool


class MLflow(Tool):
    """MLflow `ndcg_at_k`, metrics/metric_definitions.py, the mean. Run with 3.17.2: equal to 1e-12.

    Items are relevant or not. The ideal list is cut at the number of items retrieved. A query with neither relevant nor
    retrieved items counts 1 there and 0 here. Deprecated there since 3.4.
    """

    name: ClassVar[str] = "mlflow"

    def __call__(self, k: int | None) -> NDCG:
        """Give `ndcg_at_k` at a cutoff."""
        return NDCG(
            k=k, gain="linear", discount="log2", ideal="retrieved", ties="input", precision="float64", short="pad",
            empty=0, missing="zero", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip


mlflow = MLflow()
