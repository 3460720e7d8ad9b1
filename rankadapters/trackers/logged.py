"""What trackers log of histories and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rankadapters.callbacks.history import Evaluation, History
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.core.evaluation.score import Score


class Logged(NamedTuple):
    """One value of a series."""

    dataset: str  # empty where a score is of no set by name
    name: str
    convention: Convention
    value: float
    step: int


def values_of(what: object) -> list[Logged]:
    """Read a history of one training, a score, or several.

    Raises
    ------
    InputError
        It is none of these, is empty, or is of several trainings, whose rounds would be the same steps.
    """
    found = [_logged(each) for each in _entries(what)]
    if not found:
        msg = "there is nothing to log.\nHint: a history after its training, or what ra.evaluate returned."
        raise InputError(msg)
    return found


def _entries(what: object) -> list[object]:
    if isinstance(what, Score):
        return [what]
    if isinstance(what, History):
        runs = what.runs
        if len(runs) > 1:
            msg = f"the history is of {len(runs)} trainings, whose rounds would be the same steps."
            raise InputError(f"{msg}\nHint: history.only(run=-1) for the last one.")
        return list(what)
    if isinstance(what, Mapping):
        return list(what.values())
    return list(what) if isinstance(what, Iterable) and not isinstance(what, str) else [what]


def _logged(entry: object) -> Logged:
    if isinstance(entry, Evaluation):
        return Logged(str(entry.dataset), entry.name, entry.convention, entry.value, entry.iteration)
    if isinstance(entry, Score):
        return Logged("", entry.convention.name, entry.convention, entry.value, 0)
    msg = f"{entry!r:.60} is neither a history nor a score.\nHint: metric.history, or what ra.evaluate returned."
    raise InputError(msg)
