"""Means that empty queries lift above every value that they are of."""

from __future__ import annotations

from rankadapters.core.evaluation.tally import Tally

ROUNDING = 1e-9  # how far a mean may lie above the largest of its values by rounding, far more than it ever does


def above_values(tally: Tally, largest: float) -> str | None:
    """Say that empty queries, counted without their weights, lift a mean above the largest of its values, if so."""
    if tally.score().value <= largest * (1 + ROUNDING):
        return None
    name, n_empty = tally.convention.name, tally.n_empty
    return (
        f"a mean under {name} is above every query's value: average='query-except-empty' counts {n_empty} empty "
        f"queries as they are, and divides by weights that are {tally.mass / tally.n_scored:g} on average, as LightGBM "
        "and XGBoost do.\nHint: divide the weights by their mean, or convention.replace(average='query')."
    )
