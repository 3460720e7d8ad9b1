"""The names that conventions report under in a toolkit's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import as_convention, as_conventions


def display_names(
    convention: Convention | str | Sequence[Convention | str], names: Sequence[str] | None
) -> dict[Convention, str]:
    """Pair one convention or several with the names they report under, all different."""
    several = isinstance(convention, Iterable) and not isinstance(convention, str)
    conventions = as_conventions(convention) if several else [as_convention(convention)]
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    shown = [c.name for c in conventions] if names is None else list(names) if is_list else []
    if len(shown) != len(conventions) or not all(isinstance(name, str) for name in shown):
        msg = f"names={names!r} must list one name for each of the {len(conventions)} conventions."
        raise ConventionError(msg)
    if len(set(shown)) < len(conventions) or len(set(conventions)) < len(conventions):
        msg = f"two conventions report under one name or are equal: {shown}.\nHint: names=[...]."
        raise ConventionError(msg)
    return dict(zip(conventions, shown, strict=True))
