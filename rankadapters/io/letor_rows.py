"""Rows of SVMlight and LETOR files, many at once: where their labels, queries, features and comments stand."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from rankadapters.core.data.columns import EXACT_INT
from rankadapters.io.byte_words import LAST, LOWS, TO_BIT, WORD, Ints, Text, from_end
from rankadapters.io.decimals import Floats, read_decimals
from rankadapters.io.letor_features import Features, Spans
from rankadapters.io.text import finite

ROW_IN_COMMENT = re.compile(rb"\s(qid:\S+)\s+[0-9]+:")

_QID, _QID_ALONE = (np.uint64(int.from_bytes(name, "little")) for name in (b" qid", b"qid"))
_HALF, _REST = np.uint64(32), np.uint64(40)  # bits of a word before these four letters, and these three
_BEFORE_QUERY = len(" qid:")
_BLANKS = np.uint64(0x2020202020202020)


class Comments(NamedTuple):
    """Where the comments of some rows stand; where a row has none, its end twice."""

    text: Text
    starts: Ints
    ends: Ints

    def texts(self) -> list[bytes]:
        """Give what stands behind each `#`, empty where there is none."""
        return self.text.tokens(self.starts, self.ends)


class LetorRows(NamedTuple):
    """Rows of some lines that follow each other."""

    labels: Floats
    queries: list[bytes]  # of each stretch of rows with one query
    stretches: Ints  # first row of each
    comments: Comments
    features: Features

    @classmethod
    def of(cls, block: bytes) -> LetorRows | None:
        r"""Read whole lines; None where one is malformed.

        Examples
        --------
        >>> rows = LetorRows.of(b"2 qid:7 1:0.5 3:1 #a\n\n0 qid:7\n1 qid:8 2:1e-2")
        >>> rows.labels.tolist(), rows.queries, rows.stretches.tolist(), rows.comments.texts()
        ([2.0, 0.0, 1.0], [b'7', b'8'], [0, 2], [b'a', b'', b''])
        >>> rows.features.numbers.tolist(), rows.features.values().tolist(), rows.features.indptr.tolist()
        ([1, 3, 2], [0.5, 1.0, 0.01], [0, 2, 2, 3])
        """
        text = Text.of(_single_blanks(block))
        lines = _Lines.of(text)
        heads = _Heads.of(text, lines)
        if heads is None or (lines.hides_query and any(map(ROW_IN_COMMENT.search, heads.comments.texts()))):
            return None
        labels, features = heads.labels(), heads.features(lines.colons)
        if labels is None or features is None:
            return None
        stretches = heads.stretches()
        queries = text.tokens(heads.queries[stretches], heads.queries_end[stretches])
        return cls(labels, queries, stretches, heads.comments, features)


def _single_blanks(block: bytes) -> bytes:
    """Put one blank where there are several, or a tab, and none at either end of a line."""
    if b"\t" in block:
        block = block.replace(b"\t", b" ")
    white = np.frombuffer(block, np.uint8) <= ord(" ")
    if (white[1:] & white[:-1]).any():
        while b"  " in block:
            block = block.replace(b"  ", b" ")
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.strip(b" ")


class _Lines(NamedTuple):
    """Lines, by their characters `:`, `#` and line feed, of which comments have none but their `#`."""

    starts: Ints
    heads_end: Ints  # before the comment, or where the line ends
    ends: Ints
    colons: Ints
    indptr: Ints  # first colon of each line, shape (n_lines + 1,)
    hides_query: bool  # whether qid: stands in a comment

    @classmethod
    def of(cls, text: Text) -> _Lines:
        """Find the lines of a text; the first begins behind its first line feed."""
        letters = text.letters
        found = (letters == ord(":")) | (letters == ord("\n"))
        if b"#" in text.data:
            found |= letters == ord("#")
        marks = np.flatnonzero(found)
        kinds = letters.take(marks)
        feeds, colons = kinds == ord("\n"), kinds == ord(":")
        lines = np.flatnonzero(feeds)
        ends = marks[lines[1:]]
        starts, heads_end, hides_query = marks[lines[:-1]] + 1, ends, False
        if b"#" in text.data:
            n_hashes = np.cumsum(kinds == ord("#"))
            n_before = np.append(0, np.repeat(n_hashes[lines[:-1]], np.diff(lines)))
            hidden = colons & (n_hashes > n_before)
            hides_query = bool((text.before(marks[hidden]) >> _REST == _QID_ALONE).any())
            colons &= ~hidden
            hashes = np.flatnonzero((kinds == ord("#")) & (n_hashes == n_before + 1))
            heads_end = ends.copy()
            heads_end[np.searchsorted(lines, hashes) - 1] = marks[hashes] - (
                letters.take(marks[hashes] - 1) == ord(" ")
            )
        indptr = np.append(0, np.cumsum(colons))[lines]
        return cls(starts, heads_end, ends, marks[colons], indptr, hides_query)


class _Heads(NamedTuple):
    """What stands before the comment in each row."""

    text: Text
    starts: Ints
    queries: Ints  # behind qid:
    queries_end: Ints
    ends: Ints
    comments: Comments
    indptr: Ints  # first colon of each row, shape (n_rows + 1,)

    @classmethod
    def of(cls, text: Text, lines: _Lines) -> _Heads | None:
        """Find the rows among lines; None where what stands before a comment is not a row."""
        n_colons = np.diff(lines.indptr)
        rows = np.flatnonzero(n_colons)
        if (lines.heads_end != lines.starts)[n_colons == 0].any():
            return None
        starts, ends = lines.starts[rows], lines.heads_end[rows]
        queries = lines.colons[lines.indptr[rows]] + 1
        queries_end = np.minimum(_first_blank(text, queries, ends), ends)
        names = text.before(queries - 1) >> _HALF == _QID
        if not names.all() or (queries - _BEFORE_QUERY <= starts).any() or (queries_end <= queries).any():
            return None
        hashes = ends + (text.letters.take(ends) == ord(" "))
        comments = Comments(text, np.minimum(hashes + 1, lines.ends[rows]), lines.ends[rows])
        return cls(text, starts, queries, queries_end, ends, comments, np.append(lines.indptr[rows], lines.indptr[-1]))

    def labels(self) -> Floats | None:
        """Labels; None where one is not a finite number."""
        ends = self.queries - _BEFORE_QUERY
        digits = self.text.letters.take(self.starts) - ord("0")
        if ((ends - self.starts == 1) & (digits <= 9)).all():  # noqa: PLR2004 - what is below the digits wraps around
            return digits.astype(np.float64)
        labels = read_decimals(self.text, self.starts, ends)
        others = np.flatnonzero(~(np.abs(labels) < EXACT_INT))
        try:
            labels[others] = list(map(finite, self.text.tokens(self.starts[others], ends[others])))
        except ValueError:
            return None
        return labels

    def features(self, colons: Ints) -> Features | None:
        """Features; None where one is malformed or stands twice in its row."""
        behind = colons > np.repeat(self.queries_end, np.diff(self.indptr))
        indptr = np.append(0, np.cumsum(behind))[self.indptr]
        if (self.queries_end != self.ends)[np.diff(indptr) == 0].any():
            return None
        return Features.of(self.text, Spans(self.queries_end + 1, self.ends, colons[behind], indptr))

    def stretches(self) -> Ints:
        """First row of each stretch of rows with one query."""
        lengths = self.queries_end - self.queries
        same = lengths[1:] == lengths[:-1]
        for skipped in range(0, int(lengths.max(initial=0)), WORD):
            words = self.text.before(self.queries_end - skipped) & LAST.take(np.clip(lengths - skipped, 0, WORD))
            same &= words[1:] == words[:-1]
        return np.flatnonzero(np.append(lengths[:1] > 0, ~same))


def _first_blank(text: Text, starts: Ints, limits: Ints) -> Ints:
    """First blank from each position on, as far as the limit."""
    found, pending, at = limits.copy(), np.arange(starts.size), starts
    while pending.size:
        other = text.before(at + WORD) ^ _BLANKS
        blanks = ~(((other & LOWS) + LOWS) | other | LOWS)
        places = from_end((blanks & (~blanks + np.uint64(1))) >> TO_BIT).view(np.int64)
        hits = places > 0
        found[pending[hits]] = (at + WORD - places)[hits]
        pending, at = pending[~hits], at[~hits] + WORD
        beyond = at < limits[pending]
        pending, at = pending[beyond], at[beyond]
    return found
