"""The tools by name, and the presets of all tools."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES
from rankadapters.presets.preset import Make
from rankadapters.presets.tool import Tool

TOOLS: dict[str, Tool] = {}  # filled by the package, which imports every tool
# A name without a version means the newest release, and moves with it; the name with the version stays.
NEWEST: dict[str, Tool] = {}


def names(measure: str | None = "ndcg") -> tuple[str, ...]:
    """Return the names of presets, which `ra.parse` can read. A tool's name alone means its NDCG.

    Parameters
    ----------
    measure : str or None
        Return only the presets of this measure, named as in signatures; None returns all.

    Examples
    --------
    >>> "letor4" in names(), "catboost.dcg" in names("dcg")
    (True, True)
    """
    if measure is not None and measure not in MEASURES:
        raise ConventionError(f"measure={measure!r:.80}; allowed are {choices(MEASURES)}, or None for all.")
    return tuple(name for name in _all() if measure is None or _measure_of(name) == measure)


def make(name: str, k: int | None) -> Convention:
    """Return the convention of a preset at a cutoff; presets without a cutoff ignore `k`.

    >>> make("catboost.dcg", 5).name
    'dcg@5/catboost.dcg'
    """
    preset = maker(name)
    if preset is None:
        raise ConventionError(f"{name!r:.80} is not a preset; there are {choices(names(None))}.", hint="names()")
    return preset(k) if preset.preset.takes_k else preset()


def maker(name: str) -> Make | None:
    """Return the method that makes a preset's convention; None if there is no such preset."""
    tool_name, _, method = name.partition(".")
    tool = TOOLS.get(tool_name) or NEWEST.get(tool_name)
    if tool is None or (method or "__call__") not in tool.presets:
        return None
    make: Make = getattr(tool, method or "__call__")
    return make


def called(word: str) -> list[str]:
    """Return the presets of a tool's own word for a measure, in lower case, such as 'map' or 'rprec'."""
    return [name for name in _all() if "." in name and name.partition(".")[2].lower() == word]


def measure_called(word: str) -> str | None:
    """Return the measure of a word: its name, or a tool's word that no tool uses for a different measure.

    >>> measure_called("ap"), measure_called("map"), measure_called("letor4")
    ('ap', 'ap', None)
    """
    measures = {word} & set(MEASURES) or set(map(_measure_of, called(word)))
    return measures.pop() if len(measures) == 1 else None


@cache
def _measure_of(name: str) -> str:
    return make(name, 10).measure


def _all() -> Iterator[str]:
    for name, tool in TOOLS.items():
        if "__call__" in tool.presets:
            yield name
        yield from (f"{name}.{method}" for method in tool.measures())
