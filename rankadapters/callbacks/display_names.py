"""The names that conventions report under in a toolkit's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import as_convention


def display_names(wanted: Sequence[Convention | str], names: Sequence[str] | None) -> dict[Convention, str]:
    """Pair conventions, or texts of them, with the names they report under, all different."""
    if not wanted:
        msg = "a callback needs one or more conventions.\nHint: eval_metric(ra.presets.letor4(10))."
        raise ConventionError(msg)
    if any(isinstance(each, (list, tuple)) for each in wanted):
        msg = "a list was given in place of a convention.\nHint: eval_metric(*conventions), one argument for each."
        raise ConventionError(msg)
    conventions = [as_convention(each) for each in wanted]
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    given = [c.name for c in conventions] if names is None else list(names) if is_list else []
    if len(given) != len(conventions) or not all(isinstance(name, str) for name in given):
        msg = f"names={names!r} must list one name for each of the {len(conventions)} conventions."
        raise ConventionError(msg)
    shown = dict(zip(conventions, given, strict=True))
    if len(set(shown.values())) < len(conventions):
        msg = f"two conventions report under one name or are equal: {list(shown.values())}.\nHint: names=[...]."
        raise ConventionError(msg)
    return shown
