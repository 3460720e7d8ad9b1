"""What early stopping and the callbacks check of their arguments, before a toolkit meets them."""

from __future__ import annotations

from numbers import Real

from rankadapters.core.declaration.arguments import number, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention


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
