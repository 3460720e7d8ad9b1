"""Checks of the arguments of public functions, with the same wording for the same mistake everywhere.

Every check takes a parameter's name and value. It returns the value as a plain Python object, or raises an InputError
that names the parameter, the value and the allowed values, and suggests a fix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rankadapters.core.declaration.fields import Range, is_whole
from rankadapters.core.errors import InputError, brief, choices

_SEEDS = 2**32  # sampled seeds are smaller than this, the limit of numpy's RandomState


def whole(name: str, value: object, *, least: int = 1, most: int | None = None, hint: str = "") -> int:
    """Return a whole number between `least` and `most`, both included.

    >>> whole("n_resamples", 99)
    99
    >>> whole("n_resamples", 0, hint="n_resamples=9999")
    Traceback (most recent call last):
        ...
    rankadapters.core.errors.InputError: n_resamples=0; allowed are whole numbers from 1 on.
    Hint: n_resamples=9999.
    """
    allowed = Range(least, math.inf if most is None else most, whole=True)
    return int(_taken(name, value, allowed, hint or f"{name}={least}"))


def whole_or_none(name: str, value: object, meaning: str) -> int | None:
    """Return a whole number from 1 on, or None; `meaning` says in messages what None means.

    >>> whole_or_none("truncation", 1.5, "all ranks")
    Traceback (most recent call last):
        ...
    rankadapters.core.errors.InputError: truncation=1.5; allowed are whole numbers from 1 on, or None: all ranks.
    Hint: truncation=None.
    """
    if value is None:
        return None
    return int(_taken(name, value, Range(1, whole=True), f"{name}=None", none=f", or None: {meaning}"))


def number(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: bool = False,
    below: bool = False,
    hint: str = "",
) -> float:
    """Return a finite number between `least` and `most`; `above` excludes `least`, `below` excludes `most`.

    >>> number("confidence", 1, least=0, most=1, above=True, below=True, hint="confidence=0.95")
    Traceback (most recent call last):
        ...
    rankadapters.core.errors.InputError: confidence=1; allowed are numbers above 0 and below 1.
    Hint: confidence=0.95.
    """
    return _taken(name, value, Range(least, most, above=above, below=below), hint)


def word(name: str, value: object, words: Iterable[str], *, hint: str = "") -> str:
    """Return the value if it is one of a few words."""
    allowed = tuple(words)
    if isinstance(value, str) and value in allowed:
        return value
    raise refusal(name, value, choices(allowed), hint)


def flag(name: str, value: object) -> bool:
    """Return a bool."""
    import numpy as np  # imported here because reading a convention does not need it

    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise refusal(name, value, "True, False")


def text(name: str, value: object, *, hint: str = "") -> str:
    """Return a string."""
    if isinstance(value, str):
        return value
    raise refusal(name, value, "texts", hint)


def names(name: str, value: object, *, hint: str = "") -> list[str]:
    """Return distinct strings as a list; a single string becomes a list of one.

    >>> names("toolkits", "lightgbm")
    ['lightgbm']
    """
    texts = [value] if isinstance(value, str) else members(value)
    if texts and all(isinstance(text, str) for text in texts) and len(set(texts)) == len(texts):
        return texts
    raise refusal(name, value, "different texts, at least 1", hint)


def members(value: object) -> list[Any] | None:
    """Return the items of an iterable as a list; None if the value is a string or not iterable.

    >>> import numpy as np
    >>> members((1, 2)), members("ab"), members(np.array(3))
    ([1, 2], None, None)
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
        return None
    return list(value)


def seed(random_state: object) -> int:
    """Return a seed: `random_state` itself if it is a whole number, or a seed sampled from a numpy generator.

    >>> import numpy as np
    >>> seed(5), seed(np.random.default_rng(0)) == seed(np.random.default_rng(0))
    (5, True)
    """
    import numpy as np

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_SEEDS, dtype=np.uint64))
    if is_whole(random_state) and int(random_state) >= 0:
        return int(random_state)
    allowed = "whole numbers from 0 on, a numpy Generator or a RandomState"
    raise refusal("random_state", random_state, allowed, "random_state=0")


def refusal(name: str, value: object, allowed: str, hint: str = "") -> InputError:
    """Return the error for a wrong argument."""
    return InputError(f"{name}={brief(value)}; allowed are {allowed}.", hint=hint)


def _taken(name: str, value: object, allowed: Range, hint: str, none: str = "") -> float:
    """Return the number if the range has it; `none` says in the message what None means."""
    parameter = allowed.take(value)
    if parameter is None:
        raise refusal(name, value, f"{allowed}{none}", hint)
    return parameter
