"""Text as words of eight bytes, so that numpy looks at eight characters of many tokens in one operation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD = 8  # bytes of a word; its last byte is the character that stands last
PAD = 32  # line feeds before and behind the text: a word may begin there

HIGHS, LOWS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)
BYTE, ONE_BYTE = np.uint64(0xFF), np.uint64(8)
TO_BIT = np.uint64(7)  # from the highest bit of a byte to its lowest
# The last n bytes of a word, for n from 0 to 8.
LAST = np.array([((1 << 64) - 1) ^ ((1 << 8 * (WORD - n)) - 1) for n in range(WORD + 1)], np.uint64)

_ZEROS = np.uint64(0x3030303030303030)
_BEYOND_NINE = np.uint64(0x7676767676767676)  # makes the highest bit of any byte above 9
_FROM_END = np.uint64(sum((WORD - place) << (8 * (7 - place) + 4) for place in range(WORD)))


class Text(NamedTuple):
    """Text between line feeds; positions count from the first of these."""

    data: bytes
    letters: NDArray[np.uint8]
    words: Words

    @classmethod
    def of(cls, text: bytes) -> Text:
        """Put line feeds around a text.

        Examples
        --------
        >>> text = Text.of(b"2 qid:7")
        >>> text.token(PAD + 2, PAD + 7)
        b'qid:7'
        """
        data = b"".join([b"\n" * PAD, text, b"\n" * (PAD + -len(text) % WORD)])
        return cls(data, np.frombuffer(data, np.uint8), np.frombuffer(data, "<u8"))

    def token(self, start: int, end: int) -> bytes:
        """Characters from a position up to another."""
        return self.data[start:end]

    def tokens(self, starts: Ints, ends: Ints) -> list[bytes]:
        """Characters of several tokens."""
        data = self.data
        return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def before(self, ends: Ints) -> Words:
        """Eight characters before each position, as one word.

        Two aligned words are read for it: numpy reads unaligned ones one at a time.
        """
        first = (ends - WORD) >> 3
        bits = ((ends & 7) << 3).view(np.uint64)
        found = self.words.take(first)
        found >>= bits
        following = self.words[1:].take(first)
        following <<= np.uint64(63) - bits
        following <<= np.uint64(1)
        found |= following
        return found


def digits_of(words: Words) -> Words:
    """Turn `0` to `9` into bytes of 0 to 9; every other character becomes a byte above 9."""
    return words ^ _ZEROS


def above_nine(digits: Words) -> Words:
    """Set the highest bit of each byte that is no digit, and nothing else."""
    found = digits & LOWS
    found += _BEYOND_NINE
    found |= digits
    found &= HIGHS
    return found


def from_end(bits: Words) -> Words:
    """Place of the one byte whose lowest bit is set, from 1 for the last to 8 for the first; 0 where no bit is set."""
    found = bits * _FROM_END
    found >>= np.uint64(60)
    return found


def number_of(digits: Words) -> Words:
    """Read eight bytes of 0 to 9 as one number.

    References
    ----------
    Lemire, "Quickly parsing eight digits" (2018).
    """
    pairs = digits * np.uint64(10)
    pairs += digits >> ONE_BYTE
    low = pairs & np.uint64(0x000000FF000000FF)
    low *= np.uint64(0x000F424000000064)
    pairs >>= np.uint64(16)
    pairs &= np.uint64(0x000000FF000000FF)
    pairs *= np.uint64(0x0000271000000001)
    pairs += low
    pairs >>= np.uint64(32)
    return pairs
