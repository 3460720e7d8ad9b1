"""The names that conventions report under in a toolkit's log."""

from __future__ import annotations

from collections.abc import Sequence

from rankadapters.core.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.number_fields import is_whole
from rankadapters.core.texts import as_convention


def display_names(wanted: Sequence[Convention | str], names: Sequence[str] | None) -> dict[Convention, str]:
    """Pair conventions, or texts of them, with the names they report under, all different."""
    if not wanted:
        msg = "a callback needs one or more conventions.\nHint: eval_metric(ra.presets.letor4(10))."
        raise ConventionError(msg)
    if any(isinstance(each, (list, tuple)) for each in wanted):
        msg = "a list was given in place of a convention.\nHint: eval_metric(*conventions), one argument for each."
        raise ConventionError(msg)
    conventions = [as_convention(each) for each in wanted]
    given = [c.name for c in conventions] if names is None else list(names)
    if isinstance(names, str) or len(given) != len(conventions) or not all(isinstance(name, str) for name in given):
        msg = f"names={names!r} must list one name for each of the {len(conventions)} conventions."
        raise ConventionError(msg)
    shown = dict(zip(conventions, given, strict=True))
    if len(set(shown.values())) < len(conventions):
        msg = f"two conventions report under one name or are equal: {list(shown.values())}.\nHint: names=[...]."
        raise ConventionError(msg)
    return shown


def watched_name(convention: Convention | str, name: str | None, rounds: object) -> str:
    """Name that early stopping watches, with its arguments checked."""
    if not is_whole(rounds) or int(rounds) < 1:  # type: ignore[call-overload]
        msg = f"rounds={rounds!r}; allowed are whole numbers from 1 on."
        raise InputError(msg)
    return as_convention(convention).name if name is None else name
