"""Metrics of tools that no convention reproduces, each with the reason and, if there is one, a workaround."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


def inexpressible() -> dict[str, str]:
    """Return the reasons why some metrics of tools cannot be expressed; we never approximate them silently.

    >>> inexpressible()["catboost_nan_scores"]
    'CatBoost gives a query with a NaN score 1.0; we raise an error (run: 1.2.10).'
    """
    return dict(_reasons())


@cache
def _reasons() -> dict[str, str]:
    text = files("rankadapters.presets").joinpath("inexpressible.txt").read_text("utf-8")
    entries = re.split(r"\n(?!    )", text.strip())  # the further lines of an entry are indented
    return {name: " ".join(reason.split()) for name, _, reason in (entry.partition(": ") for entry in entries)}
