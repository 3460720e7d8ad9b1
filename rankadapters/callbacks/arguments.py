"""What early stopping and the callbacks check of their arguments, before a toolkit meets them."""

from __future__ import annotations

import math
from numbers import Real

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import InputError
from rankadapters.core.presets.texts import as_convention


def watched_name(convention: Convention | str, name: str | None, rounds: object, min_delta: object) -> str:
    """Name that early stopping watches, with its arguments checked."""
    if not is_whole(rounds) or int(rounds) < 1:
        msg = f"rounds={rounds!r}; allowed are whole numbers from 1 on."
        raise InputError(msg)
    if not _is_number(min_delta) or not 0 <= float(min_delta) < math.inf:  # type: ignore[arg-type]
        msg = f"min_delta={min_delta!r}; allowed are numbers from 0 on."
        raise InputError(msg)
    require_name("name", name)
    return as_convention(convention).name if name is None else name


def require_name(parameter: str, name: object) -> None:
    """Refuse what is neither a name nor None."""
    if not isinstance(name, str | None):
        msg = f"{parameter}={name!r}; allowed are a text and None."
        raise InputError(msg)


def require_missing(missing: object) -> None:
    """Refuse what cannot stand for a missing feature."""
    if missing is not None and not _is_number(missing):
        msg = f"missing={missing!r}; allowed are numbers, NaN among them."
        raise InputError(msg)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
