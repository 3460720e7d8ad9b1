"""Features `number:value` of many SVMlight or LETOR rows at once: checked, numbered and read by numpy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DECIMAL = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
DIGITS = 18  # of a feature's number, which then fits into 64 bits
FEATURE = re.compile(rb"([0-9]{1,%d}+):(?:%s|[nN][aA][nN])" % (DIGITS, DECIMAL))
_FEATURES = re.compile(rb"(?:[ \t]*+%s(?![^ \t]))*+[ \t]*+" % FEATURE.pattern)


class Features(NamedTuple):
    """Features of some rows."""

    text: Bytes  # of every row behind its qid, each between line feeds
    colons: Ints  # where each feature's colon stands
    numbers: Ints  # each feature's number
    indptr: Ints  # first feature of each row, shape (n_rows + 1,)

    @classmethod
    def of(cls, rows: Sequence[bytes]) -> Features | None:
        """Find the features of rows; None where any is malformed or gives a feature twice.

        Examples
        --------
        >>> features = Features.of([b"1:0.5 3:1e-2", b"", b"2:nan"])
        >>> features.row_of(), features.numbers, features.values()
        (array([0, 0, 2]), array([1, 3, 2]), array([0.5 , 0.01,  nan]))
        >>> print(Features.of([b"1:0.5 1:0.25"]), Features.of([b"1:0.5", b":1"]))
        None None
        """
        data = b"\n".join([b"", *rows, b""])
        text = np.frombuffer(data, np.uint8)
        if len(rows) > 1 and len(set(map(len, rows))) == 1:
            first = cls.of(rows[:1])
            alike = first and _alike(first, text)
            if alike:
                return alike
        colons = np.flatnonzero(text == ord(":"))
        numbers = _numbers(text, colons)
        if numbers is None or not (_is_plain(data, colons.size) or all(map(_FEATURES.fullmatch, rows))):
            return None
        features = cls(text, colons, numbers, np.searchsorted(colons, np.flatnonzero(text == ord("\n"))))
        return None if _repeats(features) else features

    def row_of(self) -> Ints:
        """Row of each feature."""
        return np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))

    def row_at(self, which: Ints) -> Ints:
        """Row of some features."""
        return np.searchsorted(self.indptr, which, "right") - 1

    def tokens(self, which: Ints) -> list[bytes]:
        """Text of some features, `number:value`."""
        blanks = np.flatnonzero(self.text <= ord(" "))
        ends = np.searchsorted(blanks, self.colons[which])
        data = self.text.tobytes()
        return [data[i:j] for i, j in zip((blanks[ends - 1] + 1).tolist(), blanks[ends].tolist(), strict=True)]

    def values(self) -> Floats:
        """Value of each feature: NaN where that is what stands there, infinite where it is too large."""
        return np.asarray(list(map(float, self.text.tobytes().replace(b":", b" ").split()[1::2])), np.float64)


def _alike(first: Features, text: Bytes) -> Features | None:
    """Find the features of rows that differ from the first in the digits of values alone; None where one does not.

    LETOR's own files are like that: every row has all features, and six decimals of each.
    """
    width, n_features = first.text.size - 1, first.colons.size
    table = text[1:].reshape(-1, width)
    free = first.text[1:] - ord("0") < 10  # noqa: PLR2004 - what is below the digits wraps around
    for colon, token in zip((first.colons - 1).tolist(), first.tokens(np.arange(n_features)), strict=True):
        free[colon - token.index(b":") : colon] = False
    if not ((table == table[0]) | ((table - ord("0") < 10) & free)).all():  # noqa: PLR2004 - as above
        return None
    colons = (np.arange(len(table))[:, None] * width + first.colons).ravel()
    return Features(text, colons, np.tile(first.numbers, len(table)), np.arange(len(table) + 1) * n_features)


def _repeats(features: Features) -> bool:
    """Tell whether a row gives a feature twice."""
    numbers, indptr = features.numbers, features.indptr
    rising = numbers[1:] > numbers[:-1]
    firsts = indptr[1:-1]
    rising[firsts[(firsts > 0) & (firsts < numbers.size)] - 1] = True
    falls = np.unique(features.row_at(np.flatnonzero(~rising)))
    return any(np.unique(row).size < row.size for row in (numbers[indptr[i] : indptr[i + 1]] for i in falls.tolist()))


def _numbers(text: Bytes, colons: Ints) -> Ints | None:
    """Read the digits between a blank and each colon; None where there is anything else, or too many."""
    numbers = np.zeros(colons.size, np.int64)
    within = np.ones(colons.size, np.bool_)
    for place in range(DIGITS + 1):
        before = text.take(colons - (place + 1))
        digits = before - ord("0")
        ends = within & (digits > 9)  # noqa: PLR2004 - as above
        if (before[ends] > ord(" ")).any():
            return None
        within &= ~ends
        if not within.any():
            return numbers
        numbers += (digits * within).astype(np.int64) * 10**place
    return None


def _is_plain(data: bytes, n_features: int) -> bool:
    """Tell whether all rows hold features alone, `7:0.25`, `7:-1` or `7:2.5e-03`: what nearly all files have.

    That only digits stand between a blank and each colon is known. A number written in another way, as `.5` or `nan`,
    is left to the regular expression, which takes longer.
    """
    text = np.frombuffer(data, np.uint8)
    digit = text - ord("0") < 10  # noqa: PLR2004 - what is below the digits wraps around
    blank, sign = _places(data, b"\n \t"), _places(data, b"-+")
    opens = _places(data, b":eE")  # a number, which may have a sign
    inner = opens | (text == ord("."))
    amiss = ~(digit | blank | inner | sign)[1:]
    amiss |= inner[1:] & ~digit[:-1]
    amiss |= (inner | sign)[:-1] & ~(digit | sign)[1:]
    amiss |= sign[1:] & ~opens[:-1]
    # Digits behind a blank are the number of a feature, so that there are as many as colons.
    if amiss.any() or np.count_nonzero(blank[:-1] & digit[1:]) != n_features:
        return False
    marks = text.take(np.flatnonzero(inner))
    first, second = marks[:-1], marks[1:]
    in_order = (first == ord(":")) | (second == ord(":")) | ((first == ord(".")) & (second != ord(".")))
    return bool(in_order.all())


def _places(data: bytes, letters: bytes) -> Flags:
    """Find bytes that are one of some letters; most files lack most of these, which is seen at once."""
    text = np.frombuffer(data, np.uint8)
    found: Flags = text == letters[0]
    for letter in letters[1:]:
        if letter in data:
            found |= text == letter
    return found
