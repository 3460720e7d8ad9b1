"""Learning-to-rank estimators for scikit-learn. They take one query id per row and any declared convention."""

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

# Imported on first use, because they need scikit-learn and `Trials` does not.
_MODULES = {
    "AdaRank": "adarank",
    "CoordinateAscent": "coordinate_ascent",
    "NeuralRanker": "neural",
    "RankBoost": "rankboost",
    "RankSVM": "ranksvm",
}


def __getattr__(name: str) -> object:
    """Import an estimator on first use."""
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        import sklearn  # noqa: F401 - fail here if it is missing, before our modules import it
    except ImportError as error:
        from rankadapters.core.errors import MissingToolkitError

        raise MissingToolkitError.of("scikit-learn", "sklearn") from error
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """List only public names, for completion and help(); none without scikit-learn, which all estimators need."""
    from rankadapters.core.errors import are_installed

    return sorted(__all__) if are_installed("sklearn", "scipy") else []
