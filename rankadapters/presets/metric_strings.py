"""Strict parsing of CatBoost's metric strings, `Name:option=value;...`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankadapters.core.declaration.fields import as_number, as_whole
from rankadapters.core.errors import ConventionError, choices

LARGEST_TOP = 2**31 - 1

Reader = Callable[[str, str, str], Any]  # takes the whole metric string, the option's name, and its text


def read_top(metric: str, _: str, top: str) -> int | None:
    """Return the cutoff of a `top`."""
    if top == "-1":
        return None
    k = as_whole(top)
    if k is not None and 0 < k <= LARGEST_TOP:
        return k
    why = ", at which CatBoost gives every query 1 as NDCG and 0 as DCG" if top == "0" else ""
    why = ", which CatBoost takes as all rows" if top.startswith("-") and top[1:].isdigit() else why
    raise ConventionError(
        f"{metric!r:.120} has top={top!r}{why}; allowed are whole numbers from 1 on, or -1.", hint="top=-1 is all rows"
    )


def map_reader(words: Mapping[str, Any]) -> Reader:
    """Return a reader that maps each allowed word to its value."""

    def reader(metric: str, name: str, value: str) -> Any:
        if value not in words:
            raise ConventionError(
                f"{metric!r:.120} has {name}={value!r}; allowed are {choices(words)}.",
                hint="use exactly this spelling: some versions of CatBoost refuse others, and some misread them",
            )
        return words[value]

    return reader


def read_options(metric: str, text: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Parse options `name=value;...`; without `top`, k is None; other missing options are left to the preset."""
    allowed = (*readers, "hints")
    pairs = [part.partition("=")[::2] for part in text.split(";") if text]
    names = [name for name, _ in pairs]
    for name in names:
        if name not in allowed or names.count(name) > 1:
            problem = "twice" if name in allowed else "which is not a parameter of it"
            raise ConventionError(
                f"{metric!r:.120} has {name!r}, {problem}; allowed are {choices(allowed)}.", hint="no spaces"
            )
    options: dict[str, Any] = {"k": None} if "top" in readers else {}
    for name, value in pairs:
        if name != "hints":
            options["k" if name == "top" else name] = readers[name](metric, name, value)
    return options


def word_reader(words: Mapping[str, Any]) -> Reader:
    """Return a reader that accepts these words and returns them unchanged."""
    return map_reader({word: word for word in words})


def read_float(metric: str, name: str, value: str) -> float:
    """Return a finite number."""
    parsed = as_number(value)
    if parsed is None:
        raise ConventionError(f"{metric!r:.120} has {name}={value!r}; allowed are finite numbers.", hint=f"{name}=0.5")
    return parsed
