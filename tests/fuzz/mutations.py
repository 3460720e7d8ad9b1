"""Files and texts that are right but for a few bytes and tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

ANYWHERE = [
    "", " ", "\t", "\n", "\r\n", "\r", "\r\r\n", "\n\n", "\v", "\f", "\0", "#", ",", '"', '""', ":", ".", "-", "+", "e",
    "_", "0", "1", "-0", "1e400", "1e-400", "nan", "inf", "Infinity", "0x10", "1_0", "+1", ".5", "5.", "1e5", "1E+5",
    "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0", "1e16", "1" * 25, "0" * 30 + "1",
    "0.1000000000000000055511151231257827", "\ufeff", "é", "\u00a0", "\u0663", "\u2028", "\x1c", "\x85", "x", "q1",
]  # fmt: skip
_TOKEN = re.compile(r"\s+|[,:#\"=/+@.]|[^\s,:#\"=/+@.]+")


@st.composite
def mutated(draw: st.DrawFn, originals: Sequence[str], pieces: Sequence[str] = ()) -> str:
    """One of some texts, in which a few tokens or characters were replaced, doubled, moved or dropped."""
    text = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(0, 4))):
        tokens = _TOKEN.findall(text) or [""]
        at, other = draw(st.tuples(*[st.integers(0, len(tokens) - 1)] * 2))
        kind = draw(st.sampled_from(["replace", "insert", "drop", "double", "swap", "character"]))
        if kind in {"replace", "insert"}:
            piece = draw(st.sampled_from([*pieces, *ANYWHERE]))
            tokens[at] = piece if kind == "replace" else piece + tokens[at]
        elif kind == "drop":
            del tokens[at : at + draw(st.integers(1, 3))]
        elif kind == "double":
            tokens[at] *= 2
        elif kind == "swap":
            tokens[at], tokens[other] = tokens[other], tokens[at]
        else:
            place = draw(st.integers(0, len(tokens[at])))
            tokens[at] = tokens[at][:place] + draw(st.characters(codec="utf-8")) + tokens[at][place + 1 :]
        text = "".join(tokens)
    return text


@st.composite
def other_bytes(draw: st.DrawFn, file: bytes) -> bytes:
    """A file with up to four other bytes, or its beginning."""
    data = bytearray(file)
    for at, byte in draw(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=4)):
        data[at] = byte
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@st.composite
def mutated_bytes(draw: st.DrawFn, originals: Sequence[str], pieces: Sequence[str] = ()) -> bytes:
    """A mutated text as a file, seldom behind a byte order mark or with bytes changed that are not text."""
    data = draw(mutated(originals, pieces)).encode(errors="surrogatepass")
    kind = draw(st.sampled_from(["as it is"] * 6 + ["mark", "bytes"]))
    if kind == "bytes" and data:
        return draw(other_bytes(data))
    return b"\xef\xbb\xbf" + data if kind == "mark" else data
