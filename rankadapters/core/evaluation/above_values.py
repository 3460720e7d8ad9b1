"""Detect means above the value of every query, which occur if empty queries are counted without weights."""

from __future__ import annotations

from rankadapters.core.evaluation.tally import Tally

ROUNDING = 1e-9  # tolerated relative rounding error, far more than ever occurs


def above_values(tally: Tally, largest: float) -> str | None:
    """Return a message if the mean is above all values, because empty queries are counted without weights."""
    if tally.score().value <= largest * (1 + ROUNDING):
        return None
    name, n_empty = tally.convention.name, tally.n_empty
    return (
        f"a mean under {name} is above every query's value: average='query-except-empty' counts {n_empty} empty "
        f"queries without weights, and divides by weights that are {tally.mass / tally.n_scored:g} on average, as "
        "LightGBM and XGBoost do.\nHint: divide the weights by their mean, or convention.replace(average='query')."
    )
