"""Means that empty queries lift above the value of every query."""

from __future__ import annotations

from rankadapters.core.evaluation.tally import Tally

ROUNDING = 1e-9  # a mean may exceed its largest value by this relative rounding error, far more than ever occurs


def above_values(tally: Tally, largest: float) -> str | None:
    """Return a message if empty queries, counted without weights, lift a mean above all values."""
    if tally.score().value <= largest * (1 + ROUNDING):
        return None
    name, n_empty = tally.convention.name, tally.n_empty
    return (
        f"a mean under {name} is above every query's value: average='query-except-empty' counts {n_empty} empty "
        f"queries without weights, and divides by weights that are {tally.mass / tally.n_scored:g} on average, as "
        "LightGBM and XGBoost do.\nHint: divide the weights by their mean, or convention.replace(average='query')."
    )
