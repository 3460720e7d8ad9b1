"""Check the arguments of callbacks and early stopping, and choose the display names of conventions."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

from rankadapters.core.declaration.arguments import members, number, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.presets.texts import as_conventions


def require_patience(rounds: object, min_delta: object) -> None:
    """Refuse wrong arguments of early stopping."""
    whole("rounds", rounds, hint="rounds=50")
    number("min_delta", min_delta, least=0, hint="min_delta=0")


def require_name(parameter: str, name: object) -> None:
    """Refuse a value that is neither a name nor None."""
    if not isinstance(name, str | None):
        raise refusal(parameter, name, "a text and None")


def require_missing(missing: object) -> None:
    """Refuse a value that cannot represent missing features."""
    if missing is not None and (isinstance(missing, bool) or not isinstance(missing, Real)):
        raise refusal("missing", missing, "numbers, NaN among them")


def display_names(
    convention: Convention | str | Sequence[Convention | str], names: Sequence[str] | None
) -> dict[Convention, str]:
    """Return the display name of each convention; names and conventions must be distinct."""
    conventions = as_conventions(convention)
    shown = [c.name for c in conventions] if names is None else members(names) or []
    if len(shown) != len(conventions) or not all(isinstance(name, str) for name in shown):
        raise ConventionError(f"names={names!r} must list one name for each of the {len(conventions)} conventions.")
    if len(set(shown)) < len(conventions) or len(set(conventions)) < len(conventions):
        raise ConventionError(f"two conventions report under one name or are equal: {shown}.", hint="names=[...]")
    return dict(zip(conventions, shown, strict=True))
