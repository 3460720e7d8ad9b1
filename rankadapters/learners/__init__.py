"""Learners of rankings under any declared convention: scikit-learn estimators that take one qid per row."""

from __future__ import annotations

from rankadapters.core.errors import MissingToolkitError

try:
    import sklearn  # noqa: F401 - whether it is there, before our own modules ask for it
except ImportError as error:
    raise MissingToolkitError.of("scikit-learn", "sklearn") from error

from rankadapters.learners.adarank import AdaRank
from rankadapters.learners.coordinate_ascent import CoordinateAscent
from rankadapters.learners.neural import NeuralRanker, RankNet
from rankadapters.learners.rankboost import RankBoost
from rankadapters.learners.ranksvm import RankSVM

__all__ = ["AdaRank", "CoordinateAscent", "NeuralRanker", "RankBoost", "RankNet", "RankSVM"]


def __dir__() -> list[str]:
    """List the public names alone, for completion."""
    return sorted(__all__)
