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
def mutated(draw: st.DrawFn, originals: Sequence[str], pieces: Sequence[str] = (), *, least: int = 0) -> str:
    """One of some texts, in which a few tokens or characters were replaced, doubled, moved or dropped."""
    text = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(least, 4))):
        tokens = _TOKEN.findall(text) or [""]
        at = draw(st.integers(0, len(tokens) - 1))
        kind = draw(st.sampled_from(["replace", "insert", "drop", "double", "swap", "character"]))
        if kind in {"replace", "insert"}:
            piece = draw(st.sampled_from([*pieces, *ANYWHERE]))
            tokens[at] = piece if kind == "replace" else piece + tokens[at]
        elif kind == "drop":
            del tokens[at : at + draw(st.integers(1, 3))]
        elif kind == "double":
            tokens[at] *= 2
        elif kind == "swap":
            other = draw(st.integers(0, len(tokens) - 1))
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
def mutated_bytes(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> bytes:
    """A mutated text as a file, seldom with a byte changed that is not text, or cut off."""
    data = draw(texts).encode(errors="surrogatepass")
    kind = draw(st.sampled_from(["as it is"] * 12 + ["mark", "byte", "cut"]))
    if kind == "mark":
        return b"\xef\xbb\xbf" + data
    at = draw(st.integers(0, len(data))) if kind != "as it is" else 0
    if kind == "byte":
        return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    return data[:at] if kind == "cut" else data
