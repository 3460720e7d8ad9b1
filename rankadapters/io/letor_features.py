"""Features `number:value` of many SVMlight or LETOR rows at once: checked, numbered and read by numpy."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from rankadapters.io.byte_words import BYTE, LAST, TO_BIT, Ints, Text, Words, above_nine, digits_of, from_end, number_of
from rankadapters.io.decimals import Floats, are_plain, read_decimals

DECIMAL = rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
DIGITS = 18  # of a feature's number, which then fits into 64 bits
FEATURE = re.compile(rb"([0-9]{1,%d}+):(?:%s|[nN][aA][nN])" % (DIGITS, DECIMAL))

_BLANK = np.uint64(ord(" ") ^ ord("0"))
_NUMBER = re.compile(rb"[0-9]{1,%d}" % DIGITS)


class Spans(NamedTuple):
    """Where the features of rows stand, one blank between any two and before the first."""

    starts: Ints  # of each row's features; where it has none, its end
    ends: Ints
    colons: Ints  # of all features
    indptr: Ints  # first feature of each row, shape (n_rows + 1,)


class Features(NamedTuple):
    """Features of some rows."""

    text: Text
    starts: Ints  # of each feature
    colons: Ints
    ends: Ints
    numbers: Ints
    indptr: Ints  # first feature of each row, shape (n_rows + 1,)

    @classmethod
    def of(cls, text: Text, spans: Spans) -> Features | None:
        """Read features; None where any is malformed, or a row gives one twice."""
        found = _numbers(text, spans)
        if found is None:
            return None
        numbers, starts = found
        has = np.flatnonzero(np.diff(spans.indptr))
        ends = np.empty_like(starts)
        ends[:-1] = starts[1:] - 1
        ends[spans.indptr[has + 1] - 1] = spans.ends[has]
        if (starts[spans.indptr[has]] != spans.starts[has]).any() or (ends <= spans.colons).any():
            return None
        features = cls(text, starts, spans.colons, ends, numbers, spans.indptr)
        return features if features._are_numbers() and not _repeats(numbers, spans.indptr) else None

    def values(self, which: Any = slice(None)) -> Floats:
        """Value of some features: NaN where that is what stands there, infinite where it is too large."""
        values = read_decimals(self.text, self.colons[which] + 1, self.ends[which])
        others = np.flatnonzero(np.isnan(values))
        if others.size:
            tokens = self.text.tokens(self.colons[which][others] + 1, self.ends[which][others])
            values[others] = list(map(float, tokens))
        return values

    def row_of(self) -> Ints:
        """Row of each feature."""
        return np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))

    def row_at(self, which: Ints) -> Ints:
        """Row of some features."""
        return np.searchsorted(self.indptr, which, "right") - 1

    def tokens(self, which: Ints) -> list[bytes]:
        """Text of some features, `number:value`."""
        return self.text.tokens(self.starts[which], self.ends[which])

    def _are_numbers(self) -> bool:
        """Tell whether the value of each feature is a number or `nan`."""
        others = np.flatnonzero(~are_plain(self.text, self.colons + 1, self.ends))
        if others.size:
            others = others[np.isnan(read_decimals(self.text, self.colons[others] + 1, self.ends[others]))]
        return all(map(FEATURE.fullmatch, self.tokens(others)))


def _numbers(text: Text, spans: Spans) -> tuple[Ints, Ints] | None:
    """Number and start of each feature; None where anything but digits stands between a blank and its colon."""
    before = digits_of(text.before(spans.colons))
    counts = np.diff(spans.indptr)
    if spans.colons.size and (counts == counts[0]).all():
        n_features = int(counts[0])
        table = before.reshape(-1, n_features)
        numbers, widths = _prefixes(table[0])
        # LETOR's own files are like that: every row has all features.
        if widths.all() and not _differ(table, LAST.take(widths + 1)):
            starts = spans.colons.reshape(-1, n_features) - widths
            return np.tile(numbers, len(table)), starts.ravel()
    numbers, widths = _prefixes(before)
    for at in np.flatnonzero(widths == 0).tolist():
        colon = int(spans.colons[at])
        number = text.data[text.data.rfind(b" ", 0, colon) + 1 : colon]
        if not _NUMBER.fullmatch(number):
            return None
        numbers[at], widths[at] = int(number), len(number)
    return numbers, spans.colons - widths


def _differ(table: Words, masks: Words) -> bool:
    """Tell whether any row differs from the first in what the masks leave."""
    differences = table ^ table[0]
    differences &= masks
    return bool(differences.any())


def _prefixes(digits: Words) -> tuple[Ints, Ints]:
    """Read the numbers of at most seven digits that end words, and how many digits these are; 0 where it is not so."""
    others = above_nine(digits)
    for bytes_down in (1, 2, 4):
        others |= others >> np.uint64(8 * bytes_down)
    last = (others ^ (others >> np.uint64(8))) >> TO_BIT
    widths = from_end(last).view(np.int64) - 1
    widths[(widths < 0) | ((digits & (last * BYTE)) != last * _BLANK)] = 0
    return number_of(digits & LAST.take(widths)).view(np.int64), widths


def _repeats(numbers: Ints, indptr: Ints) -> bool:
    """Tell whether a row gives a feature twice."""
    rising = numbers[1:] > numbers[:-1]
    firsts = indptr[1:-1]
    rising[firsts[(firsts > 0) & (firsts < numbers.size)] - 1] = True
    falls = np.unique(np.searchsorted(indptr, np.flatnonzero(~rising), "right") - 1)
    return any(np.unique(row).size < row.size for row in (numbers[indptr[i] : indptr[i + 1]] for i in falls.tolist()))
