"""Decimal numbers in text, many at once, each read to the float64 that Python's own `float` gives.

A number of at most 19 digits is an integer m over a power of ten 10^f. Where m is below 2^53 and f at most 22, both are
float64 without error, and one division rounds once (Clinger, "How to read floating point numbers accurately", 1990).
Where m is larger, the quotient is the sum of two float64; a number so near the middle of two float64 that this sum does
not tell which is nearer is left to Python, as are all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankadapters.io.byte_words import (
    BYTE,
    LAST,
    TO_BIT,
    WORD,
    Ints,
    Text,
    Words,
    above_nine,
    digits_of,
    from_end,
    number_of,
)

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

_MOST_WORDS = 3  # of a number
_EXACT = np.uint64(2**53)
_DOT = np.uint64(ord(".") ^ ord("0"))
_TENS = np.array([float(10**f) for f in range(23)])  # all that float64 holds
# By the place of the point from the end, 0 where there is none: what divides off the digits before it, and what these
# count for too much while the point is read as a digit 0.
_DIVISORS = np.array([np.inf, *(float(10**place) for place in range(1, 25))])
_EXCESS = np.array([0, *(float(9 * 10 ** (place - 1)) for place in range(1, 25))])
_EXCESS_MODULO = np.array([0, *(9 * 10 ** (place - 1) % 2**64 for place in range(1, 25))], np.uint64)
_MOST_BEFORE = 2.0**48  # up to which a quotient in float64 tells a fraction below 0.1 from one above 0.9
_LARGEST = 1.8e19  # of 64 bits
_NEAR = 2.0**-20


def are_plain(text: Text, starts: Ints, ends: Ints) -> Flags:
    """Tell which tokens are as `-1`, `+2.50` or `.5`, of at most 24 characters behind the sign.

    Examples
    --------
    >>> from rankadapters.io.byte_words import PAD
    >>> are_plain(Text.of(b"0.25 1.2.3"), PAD + np.array([0, 5]), PAD + np.array([4, 10]))
    array([ True, False])
    """
    starts, _ = _behind_sign(text, starts)
    found = np.zeros(starts.size, np.bool_)
    for n_words, which in _by_words(ends - starts):
        found[which] = _Digits.of(text, starts[which], ends[which], n_words).fits
    return found


def read_decimals(text: Text, starts: Ints, ends: Ints) -> Floats:
    """Read tokens as `-1`, `+2.50`, `.5` and `1e-05`; NaN where a token is anything else, or Python must read it.

    Examples
    --------
    >>> from rankadapters.io.byte_words import PAD
    >>> text = Text.of(b"0.25 -7 nan 5e-1 1_0")
    >>> read_decimals(text, PAD + np.array([0, 5, 8, 12, 17]), PAD + np.array([4, 7, 11, 16, 20]))
    array([ 0.25, -7.  ,   nan,  0.5 ,   nan])
    """
    starts, negative = _behind_sign(text, starts)
    values = _Fixed.read(text, starts, ends).values()
    others = np.flatnonzero(np.isnan(values))
    if others.size:
        values[others] = _read_exponents(text, starts[others], ends[others])
    if negative is not None:
        np.negative(values, out=values, where=negative)
    return values


def _behind_sign(text: Text, starts: Ints) -> tuple[Ints, Flags | None]:
    """Step over signs; say which are minus where there may be any."""
    if b"-" not in text.data and b"+" not in text.data:
        return starts, None
    first = text.letters.take(starts)
    negative = first == ord("-")
    return starts + (negative | (first == ord("+"))), negative


def _by_words(lengths: Ints) -> Iterator[tuple[int, Any]]:
    """Group tokens by how many words they take; the first group may be all tokens, of which others do not fit."""
    n_words = (lengths + (WORD - 1)) >> 3
    counts = np.bincount(np.clip(n_words, 0, _MOST_WORDS + 1), minlength=_MOST_WORDS + 2)[: _MOST_WORDS + 1]
    counts[0] = 0
    common = int(np.argmax(counts))
    if 2 * counts[common] > lengths.size:
        counts[common] = 0
        yield common, slice(None)
    for n in np.flatnonzero(counts).tolist():
        yield n, np.flatnonzero(n_words == n)


class _Digits(NamedTuple):
    """Digits of tokens of one number of words."""

    words: list[Words]  # the last first; a point stands there as the digit 0
    points: Words  # place of the point from the end, 0 where there is none
    fits: Flags  # whether a token holds digits and at most one point

    @classmethod
    def of(cls, text: Text, starts: Ints, ends: Ints, n_words: int) -> _Digits:
        """Look at tokens without sign."""
        lengths = ends - starts
        fits = (lengths + (WORD - 1)) >> 3 == n_words
        words, points = [], np.zeros(starts.size, np.uint64)
        for word in range(n_words):
            digits = digits_of(text.before(ends - WORD * word if word else ends))
            if word == n_words - 1:
                digits &= LAST.take(lengths - WORD * word, mode="clip")
            marks = above_nine(digits)
            if marks.any():
                place = _take_point(digits, marks, fits)
                fits &= (place == 0) | (points == 0)
                points = points + place + np.uint64(WORD * word) * (place > 0) if word else place
            words.append(digits)
        if n_words == 1:
            fits &= (points == 0) | (lengths > 1)
        return cls(words, points, fits)


def _take_point(digits: Words, marks: Words, fits: Flags) -> Words:
    """Make the point in each word a digit 0 and give its place from the end; note where there is anything else."""
    single = marks - np.uint64(1)
    single &= marks
    fits &= single == 0
    marks >>= TO_BIT
    places = marks * BYTE
    fits &= (digits & places) == marks * _DOT
    digits &= ~places
    return from_end(marks)


class _Fixed(NamedTuple):
    """Numbers without exponent, as integers over powers of ten."""

    integers: Words
    powers: Ints  # of ten, below each; more than can be divided by where there is no such number

    @classmethod
    def read(cls, text: Text, starts: Ints, ends: Ints) -> _Fixed:
        """Read tokens without sign."""
        found = cls(np.zeros(starts.size, np.uint64), np.full(starts.size, _TENS.size))
        for n_words, which in _by_words(ends - starts):
            some = cls._of(_Digits.of(text, starts[which], ends[which], n_words))
            found.integers[which], found.powers[which] = some
        return found

    @classmethod
    def _of(cls, digits: _Digits) -> _Fixed:
        fits, integers = digits.fits, number_of(digits.words[0])
        about = integers.astype(np.float64)
        for word, more in enumerate(digits.words[1:], start=1):
            number = number_of(more)
            about += number * 10.0 ** (WORD * word)
            integers += number * np.uint64(10 ** (WORD * word))  # modulo 2^64, as all that follows
        points = (digits.points * fits).view(np.int64)
        if points.any():  # the point was read as a digit 0, so that what is behind it is below 0.1
            before = np.floor(about / _DIVISORS.take(points) + 0.5)
            fits = fits & (before < _MOST_BEFORE)
            before *= fits
            about -= before * _EXCESS.take(points)
            integers -= before.astype(np.uint64) * _EXCESS_MODULO.take(points)
        if len(digits.words) == _MOST_WORDS:
            fits = fits & (about < _LARGEST)
        return cls(integers, np.where(fits, np.maximum(points - 1, 0), _TENS.size))

    def values(self) -> Floats:
        """Give the nearest float64; NaN where that is not known."""
        known = self.powers < _TENS.size
        tens = _TENS.take(self.powers, mode="clip")
        values: Floats = self.integers / tens
        wide = np.flatnonzero((self.integers >= _EXACT) & known)
        if wide.size:
            values[wide] = _quotients(self.integers[wide], tens[wide])
        values[~known] = np.nan
        return values


def _quotients(integers: Words, tens: Floats) -> Floats:
    """Divide integers of up to 64 bits; NaN where the quotient is next to the middle of two float64.

    References
    ----------
    Dekker, "A floating-point technique for extending the available precision" (1971).
    """
    low = integers & np.uint64(0x7FF)
    high = (integers - low).astype(np.float64)
    first = high / tens
    product, error = _product(first, tens)
    second = ((high - product) - error + low.astype(np.float64)) / tens
    values: Floats = first + second
    left = np.abs(second - (values - first))
    half = np.spacing(values) / 2
    unclear = (np.abs(left - half) <= half * _NEAR) | (np.abs(left - half / 2) <= half * _NEAR)
    values[unclear] = np.nan
    return values


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Multiply without error: the product, and what rounding took from it."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = a * (2.0**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high


def _read_exponents(text: Text, starts: Ints, ends: Ints) -> Floats:
    """Read tokens `2.5e-03`, of up to three digits in the exponent."""
    marks = np.full(starts.size, -1)
    for back in range(5, 1, -1):
        at = ends - back
        marks[(text.letters.take(at) | 0x20) == ord("e")] = -back
    marks += ends
    values = np.full(starts.size, np.nan)
    which = np.flatnonzero((marks < ends - 1) & (marks > starts))
    if not which.size:
        return values
    marks, ends = marks[which], ends[which]
    mantissas = _Fixed.read(text, starts[which], marks)
    first = text.letters.take(marks + 1)
    negative = first == ord("-")
    exponents = _Fixed.read(text, marks + 1 + (negative | (first == ord("+"))), ends)
    exponents.powers[text.letters.take(ends - 1) == ord(".")] = _TENS.size
    values[which] = _scaled(mantissas, exponents, negative)
    return values


def _scaled(mantissas: _Fixed, exponents: _Fixed, negative: Flags) -> Floats:
    shift = exponents.integers.view(np.int64)
    powers = mantissas.powers + np.where(negative, shift, -shift)
    whole = (exponents.powers == 0) & (mantissas.powers < _TENS.size)
    below = whole & (powers >= 0)
    values = _Fixed(mantissas.integers, np.where(below, powers, _TENS.size)).values()
    above = whole & (powers < 0) & (powers > -_TENS.size) & (mantissas.integers < _EXACT)
    return np.where(above, mantissas.integers * _TENS.take(np.where(above, -powers, 0)), values)
