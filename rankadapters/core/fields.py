"""The fields of a convention: their order in the signature, their allowed values, their one spelling."""

from __future__ import annotations

import math
import operator
from numbers import Integral, Real

from rankadapters.core.errors import ConventionError, choices

GAINS = ("exp2", "exp2-floor", "linear", "linear-positive", "table_0_1_3 (any non-decreasing table)")
CHOICES: dict[str, tuple[str, ...]] = {
    "gain": GAINS[:-1],
    "discount": ("log2", "jk2", "reciprocal"),
    "ideal": ("cutoff", "retrieved", "all"),
    "ties": ("input", "reverse", "average", "worst", "best", "docid-descending", "docid-ascending"),
    "precision": ("float64", "float32"),
    "short": ("pad", "zero", "skip"),
    "empty": ("a number in [0, 1]", "skip", "error"),
    "missing": ("zero", "skip", "error"),
    "unjudged": ("zero", "drop", "error"),
    "average": ("uniform", "query", "query-except-empty"),
}
SIGNATURE_ORDER = ("k", *CHOICES)


def number(value: float) -> str:
    """Write a number in its shortest exact form: `1`, not `1.0`.

    >>> number(1.0), number(0.5), number(1e22)
    ('1', '0.5', '1e+22')
    """
    return repr(float(value) + 0.0).removesuffix(".0")  # + 0.0 makes -0.0 and 0.0 one number


def table(gain: str) -> tuple[float, ...] | None:
    """Read the gains of a table, by label 0, 1, ...; None for a gain that is a formula.

    >>> table("table_0_1_3"), table("exp2")
    ((0.0, 1.0, 3.0), None)
    """
    if not gain.startswith("table_"):
        return None
    try:
        gains = tuple(float(text) for text in gain.split("_")[1:])
    except ValueError:
        gains = ()
    if not gains or not all(math.isfinite(g) for g in gains):
        msg = f"gain={gain!r} is no table of numbers.\nHint: write one gain per label from 0 on, like 'table_0_1_3'."
        raise ConventionError(msg)
    if any(map(operator.gt, gains, gains[1:])):
        msg = (
            f"gain={gain!r} decreases, so the ideal order by label would not be the ideal order by gain.\n"
            "Hint: give gains that never decrease with the label."
        )
        raise ConventionError(msg)
    return gains


def as_cutoff(k: object) -> int:
    """Check a cutoff that is not None."""
    if not is_whole(k) or int(k) < 1:  # type: ignore[call-overload]
        msg = f"k={k!r} is no cutoff; allowed are whole numbers from 1 on, or None for all rows."
        raise ConventionError(msg)
    return int(k)  # type: ignore[call-overload, no-any-return]


def is_whole(value: object) -> bool:
    """Tell integers, numpy's included, from everything else; a bool is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_empty(value: object) -> float | str:
    """Check the value of an empty query."""
    if isinstance(value, str) and value in {"skip", "error"}:
        return value
    # A bool is a number to Python, but empty=True hardly means 1.
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise unknown_value("empty", value)
    return float(value) + 0.0


def unknown_value(name: str, value: object) -> ConventionError:
    """Say what a field may be."""
    allowed = GAINS if name == "gain" else CHOICES[name]
    return ConventionError(f"{name}={value!r} is not a choice; allowed are {choices(allowed)}.")


def choices_of(name: str) -> str:
    """List what a field may be."""
    if name == "k":
        return "a whole number from 1 on, or None for all"
    return choices(GAINS if name == "gain" else CHOICES[name])
