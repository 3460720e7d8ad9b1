"""Parameters of learners, checked."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError, InputError, UnsupportedConventionError, choices
from rankadapters.core.presets.texts import as_convention


def check_count(name: str, value: Any, *, least: int = 1, most: float = np.inf, none: str = "") -> None:
    """Check a whole number, or None where that means something."""
    if (value is None and none) or (is_whole(value) and least <= int(value) <= most):
        return
    upto = "on" if most == np.inf else f"to {most}"
    other = f", or None: {none}" if none else ""
    raise InputError(f"{name}={value!r}; allowed are whole numbers from {least} {upto}{other}.")


def check_share(name: str, value: Any) -> None:
    """Check a share of the queries, or None."""
    if value is not None and (not isinstance(value, Real) or not 0 < float(value) < 1):
        raise InputError(f"{name}={value!r} is not a share of the queries; allowed is 0 < share < 1, or None.")


def check_number(name: str, value: Any, *, least: float = 0.0, most: float = np.inf, above: bool = False) -> None:
    """Check a finite number from `least` on, or above it, up to `most`."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (np.isfinite(number) and (number > least if above else number >= least) and number <= most):
        upto = "" if most == np.inf else f" to {most:g}"
        raise InputError(f"{name}={value!r}; allowed are numbers {'above' if above else 'from'} {least:g}{upto}.")


def check_word(name: str, value: Any, words: tuple[str, ...]) -> None:
    """Check one of a few words."""
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{name}={value!r} is not a choice; allowed are {choices(words)}.")


def check_flag(name: str, value: Any) -> None:
    """Check what is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name}={value!r:.80}; allowed are True and False.")


def generator(random_state: Any) -> np.random.RandomState:
    """Return the generator that `random_state` says: a seed, a generator, or None for numpy's own."""
    try:
        made: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        msg = (
            f"random_state={random_state!r:.80}; allowed are whole numbers from 0 to 2^32 - 1, a RandomState, or None."
        )
        raise InputError(f"{msg}\nHint: random_state=0.") from None
    return made


def needed(learner: str, convention: Any) -> Convention:
    """Read the convention that a learner maximises."""
    if convention is None:
        raise ConventionError(f"{learner} has no convention to maximise.\nHint: {learner}('textbook@10').")
    return as_convention(convention)


def refuse_losses(learner: str, convention: Convention) -> None:
    """Refuse a convention that is better when lower: a loss of the scores' scale, which these learners do not keep."""
    if not convention.higher_is_better:
        msg = (
            f"{learner} maximises its convention, but of {convention.name} lower is better: it compares scores with "
            "labels, and no ranking.\nHint: ra.presets.textbook(10); losses are for NeuralRanker."
        )
        raise UnsupportedConventionError(msg)


def refuse_over_rows(learner: str, convention: Convention) -> None:
    """Refuse a convention without values of queries."""
    if convention.over != "queries":
        msg = (
            f"{learner} weighs queries by their values, but {convention.name} says pool={convention.over!r} and has "
            "none.\nHint: pool='queries'."
        )
        raise UnsupportedConventionError(msg)
