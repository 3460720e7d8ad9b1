"""Learners of rankings under any declared convention: scikit-learn estimators that take one qid per row."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankadapters.learners.adarank import AdaRank
    from rankadapters.learners.coordinate_ascent import CoordinateAscent
    from rankadapters.learners.neural import NeuralRanker
    from rankadapters.learners.rankboost import RankBoost
    from rankadapters.learners.ranksvm import RankSVM

__all__ = ["AdaRank", "CoordinateAscent", "NeuralRanker", "RankBoost", "RankSVM"]

# Imported when first used: they need scikit-learn, which `Trials` does not.
_MODULES = {
    "AdaRank": "adarank",
    "CoordinateAscent": "coordinate_ascent",
    "NeuralRanker": "neural",
    "RankBoost": "rankboost",
    "RankSVM": "ranksvm",
}


def __getattr__(name: str) -> object:
    """Import an estimator."""
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        import sklearn  # noqa: F401 - whether it is there, before our own modules ask for it
    except ImportError as error:
        from rankadapters.core.errors import MissingToolkitError

        raise MissingToolkitError.of("scikit-learn", "sklearn") from error
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
