"""Valid files and texts in which a few bytes and tokens are changed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

COMMON_PIECES = [
    "", " ", "\t", "\n", "\r\n", "\r", "\r\r\n", "\n\n", "\v", "\f", "\0", "#", ",", '"', '""', ":", ".", "-", "+", "e",
    "_", "0", "1", "-0", "1e400", "1e-400", "nan", "inf", "Infinity", "0x10", "1_0", "+1", ".5", "5.", "1e5", "1E+5",
    "9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0", "1e16", "1" * 25, "0" * 30 + "1",
    "0.1000000000000000055511151231257827", "\ufeff", "é", "\u00a0", "\u0663", "\u2028", "\x1c", "\x85", "x", "q1",
]  # fmt: skip
_TOKEN = re.compile(r"\s+|[,:#\"=/+@.]|[^\s,:#\"=/+@.]+")


@st.composite
def mutated(draw: st.DrawFn, originals: Sequence[str], pieces: Sequence[str] = ()) -> str:
    """Draw one of the texts and replace, insert, drop, double or swap up to four tokens or characters."""
    text = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(0, 4))):
        tokens = _TOKEN.findall(text) or [""]
        index, second = draw(st.tuples(*[st.integers(0, len(tokens) - 1)] * 2))
        kind = draw(st.sampled_from(["replace", "insert", "drop", "double", "swap", "character"]))
        if kind in {"replace", "insert"}:
            piece = draw(st.sampled_from([*pieces, *COMMON_PIECES]))
            tokens[index] = piece if kind == "replace" else piece + tokens[index]
        elif kind == "drop":
            del tokens[index : index + draw(st.integers(1, 3))]
        elif kind == "double":
            tokens[index] *= 2
        elif kind == "swap":
            tokens[index], tokens[second] = tokens[second], tokens[index]
        else:
            position = draw(st.integers(0, len(tokens[index])))
            token = tokens[index]
            tokens[index] = token[:position] + draw(st.characters(codec="utf-8")) + token[position + 1 :]
        text = "".join(tokens)
    return text


@st.composite
def changed_bytes(draw: st.DrawFn, file: bytes) -> bytes:
    """Change up to four bytes of a file, and perhaps cut off its end."""
    data = bytearray(file)
    for position, byte in draw(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), max_size=4)):
        data[position] = byte
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@st.composite
def mutated_bytes(draw: st.DrawFn, originals: Sequence[str], pieces: Sequence[str] = ()) -> bytes:
    """Draw a mutated text as bytes, rarely with a byte order mark or with single bytes changed."""
    data = draw(mutated(originals, pieces)).encode(errors="surrogatepass")
    kind = draw(st.sampled_from(["as it is"] * 6 + ["mark", "bytes"]))
    if kind == "bytes" and data:
        return draw(changed_bytes(data))
    return b"\xef\xbb\xbf" + data if kind == "mark" else data
