"""What the callbacks and early stopping check of their arguments, and the names that conventions report under."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real

from rankadapters.core.declaration.arguments import number, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.texts import as_convention, as_conventions


def watched_name(convention: Convention | str, name: str | None, rounds: object, min_delta: object) -> str:
    """Return the name that early stopping watches, with its arguments checked."""
    whole("rounds", rounds, hint="rounds=50")
    number("min_delta", min_delta, least=0, hint="min_delta=0")
    require_name("name", name)
    return as_convention(convention).name if name is None else name


def require_name(parameter: str, name: object) -> None:
    """Refuse what is neither a name nor None."""
    if not isinstance(name, str | None):
        raise refusal(parameter, name, "a text and None")


def require_missing(missing: object) -> None:
    """Refuse what cannot stand for a missing feature."""
    if missing is not None and (isinstance(missing, bool) or not isinstance(missing, Real)):
        raise refusal("missing", missing, "numbers, NaN among them")


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
