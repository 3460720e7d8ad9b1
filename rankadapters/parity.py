"""Parity: whether a source's number and ours are the same under one convention, and why not where they are not."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import ConventionError, RankAdaptersError, UnsupportedConventionError
from rankadapters.core.fields import number

Verdict = Literal["equal", "different", "not-comparable"]

# What a source's number can be trusted to. `relative` scales the first and the last.
FULL_DOUBLE = 1e-9  # float64 all the way: sums in another order differ by far less, another convention by far more
SIX_DECIMALS = 1e-6  # printed with six decimals: half a unit of the last one, and as much again for ours; absolute
FLOAT32 = 8 * 2.0**-23  # computed in float32, where each of a few operations rounds by 2^-24


class ParityError(RankAdaptersError, AssertionError):
    """A parity report has a row that differs, or none that was compared; the message is the report."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParityRow:
    """One number of a source against ours; made by `compare` or `not_comparable`.

    Attributes
    ----------
    source : str
        Who gave the number, and by which route.
    version : str
        The source's version.
    convention : Convention
        What our value was computed under.
    value : float or None
        The source's value; None where it has none under this convention.
    our_value : float
        Ours.
    difference : float or None
        `value - our_value`.
    tolerance : float or None
        Largest difference, in absolute terms, that still counts as equal.
    verdict : {'equal', 'different', 'not-comparable'}
        Whether they agree.
    reason : str
        What a reader must know to judge the row; may be empty.
    """

    source: str
    version: str
    convention: Convention
    value: float | None
    our_value: float
    difference: float | None
    tolerance: float | None
    verdict: Verdict
    reason: str

    @classmethod
    def compare(
        cls,
        source: str,
        version: str,
        convention: Convention,
        *,
        value: float,
        our_value: float,
        tolerance: float,
        reason: str = "",
    ) -> ParityRow:
        """Judge two values of one convention; a NaN on either side is a difference.

        Examples
        --------
        >>> from rankadapters import presets
        >>> row = ParityRow.compare(
        ...     "a paper, table 2", "2010", presets.yahoo(10), value=0.6791, our_value=0.67913, tolerance=5e-5
        ... )
        >>> row.verdict
        'equal'
        """
        difference = float(value) - float(our_value)
        return cls(
            source=source, version=version, convention=convention, value=float(value), our_value=float(our_value),
            difference=difference, tolerance=tolerance, reason=reason,
            verdict="equal" if abs(difference) <= tolerance else "different",
        )  # fmt: skip

    @classmethod
    def not_comparable(
        cls, source: str, version: str, convention: Convention, *, our_value: float, reason: str
    ) -> ParityRow:
        """State our value under a convention for which the source has none."""
        return cls(
            source=source, version=version, convention=convention, value=None, our_value=float(our_value),
            difference=None, tolerance=None, verdict="not-comparable", reason=reason,
        )  # fmt: skip

    def __str__(self) -> str:
        """Write the values, the convention and the reason on lines of their own."""
        numbers = f"ours {self.our_value!r}"
        if self.value is not None:
            numbers = f"{self.value!r}, {numbers}, difference {self.difference:.3g} (<= {self.tolerance:.3g})"
        details = filter(None, (str(self.convention), self.reason))
        return "\n    ".join([f"{self.verdict}: {self.source} {self.version}: {numbers}", *details])

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types: the convention as its signature, a number that is not finite as None."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        finite = {name: None if _is_not_finite(value) else value for name, value in values.items()}
        return {**finite, "convention": str(self.convention)}


@dataclass(frozen=True, slots=True)
class ParityReport:
    """Numbers of one or more sources against ours.

    Attributes
    ----------
    rows : tuple of ParityRow
        What was looked at.

    Examples
    --------
    >>> from rankadapters import presets
    >>> given = dict(value=0.5, our_value=0.25, tolerance=SIX_DECIMALS, reason="query 7 was cut")
    >>> print(ParityReport((ParityRow.compare("trainer's log", "1.0", presets.yahoo(10), **given),)))
    parity fails: 1 different
    different: trainer's log 1.0: 0.5, ours 0.25, difference 0.25 (<= 1e-06)
        ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/...
        query 7 was cut
    """

    rows: tuple[ParityRow, ...]

    @property
    def ok(self) -> bool:
        """Whether something was compared and nothing differs."""
        compared = [row.verdict for row in self.rows if row.verdict != "not-comparable"]
        return bool(compared) and "different" not in compared

    def __str__(self) -> str:
        """Write one line of outcome, then the rows."""
        found = [row.verdict for row in self.rows]
        counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in dict.fromkeys(found)) or "no rows"
        return "\n".join([f"parity {'holds' if self.ok else 'fails'}: {counts}", *map(str, self.rows)])

    def to_dict(self) -> dict[str, Any]:
        """Give plain JSON types."""
        return {"ok": self.ok, "rows": [row.to_dict() for row in self.rows]}

    def raise_if_failed(self) -> None:
        """Turn a report that is not `ok` into an exception.

        Raises
        ------
        ParityError
            Its message is the report.
        """
        if not self.ok:
            raise ParityError(str(self))


def relative(precision: float, value: float) -> float:
    """Tolerance around a value: the precision times its size, and no less than the precision itself.

    >>> [f"{relative(FULL_DOUBLE, value):g}" for value in (0.5, 1000.0)]
    ['1e-09', '1e-06']
    """
    return precision * max(1.0, abs(value))


def differing(convention: Convention, nearest: Convention) -> dict[str, tuple[Any, Any]]:
    """Name the fields in which a toolkit's nearest convention differs, each with the wanted and the nearest value.

    Inside a toolkit every row is judged and retrieved. Hence `missing` and `unjudged` say nothing there, and an ideal
    list cut at the rows retrieved (`ideal="retrieved"`) is one cut at k.

    Parameters
    ----------
    convention : Convention
        What is wanted.
    nearest : Convention
        The nearest that the toolkit can express.

    Returns
    -------
    dict of str to (wanted, nearest)
        Empty where the toolkit expresses the convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> differing(presets.sklearn(10), presets.catboost(10))
    {'ties': ('average', 'worst'), 'empty': (0.0, 1.0)}
    """
    require_convention(convention)
    fields_that_differ = _all_retrieved(convention).diff(_all_retrieved(nearest))
    # Of a convention of another measure, only what the wanted one declares can be missed.
    declared = {"measure", *convention.fields()} - {"missing", "unjudged"}
    return {name: values for name, values in fields_that_differ.items() if name in declared}


def require_expressible(toolkit: str, convention: Convention, nearest: Convention) -> None:
    """Refuse a convention that a toolkit cannot express.

    Parameters
    ----------
    toolkit : str
        Its name, as in the message.
    convention, nearest : Convention
        As in `differing`.

    Raises
    ------
    UnsupportedConventionError
        The two mean different numbers; the message names every such field and the nearest convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> require_expressible("CatBoost", presets.yahoo(10), presets.catboost(10, type="Exp", use_weights=False))
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.UnsupportedConventionError: CatBoost cannot express ties='input', only ties='worst'.
    Hint: the nearest it can express is ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=worst/...
    """
    different = differing(convention, nearest)
    if different:
        msg = f"{toolkit} cannot express {spelled(different)}.\nHint: the nearest it can express is {nearest}."
        raise UnsupportedConventionError(msg)


def spelled(different: dict[str, tuple[Any, Any]]) -> str:
    """Write what `differing` found.

    >>> spelled({"ties": ("average", "worst"), "empty": (0.0, 1.0)})
    "ties='average', empty=0, only ties='worst', empty=1"
    """
    wanted, nearest = (
        ", ".join(f"{name}={_text(values[side])}" for name, values in different.items()) for side in (0, 1)
    )
    return f"{wanted}, only {nearest}"


def require_convention(convention: object) -> None:
    """Refuse what is no convention."""
    if not isinstance(convention, Convention):
        msg = f"{convention!r:.80} is no convention.\nHint: ra.presets.textbook(10), or ra.parse(signature)."
        raise ConventionError(msg)


def _all_retrieved(convention: Convention) -> Convention:
    if isinstance(convention, NDCG) and convention.ideal == "retrieved":
        return convention.replace(ideal="cutoff")
    return convention


def _is_not_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _text(value: object) -> str:
    return number(value) if isinstance(value, float) else repr(value)
