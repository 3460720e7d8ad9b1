"""CatBoost's metric strings, `Name:option=value;...`: strict readers of their options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankadapters.core.declaration.spelling import as_number, as_whole
from rankadapters.core.errors import ConventionError, choices

LARGEST_TOP = 2**31 - 1

Reader = Callable[[str, str, str], Any]  # of the metric, the option's name, and its value


def top_of(metric: str, _: str, top: str) -> int | None:
    """Read a cutoff."""
    if top == "-1":
        return None
    found = as_whole(top)
    if found is not None and 0 < found <= LARGEST_TOP:
        return found
    why = ", at which CatBoost gives every query 1 as NDCG and 0 as DCG" if top == "0" else ""
    why = ", which CatBoost takes as all rows" if top.startswith("-") and top[1:].isdigit() else why
    raise ConventionError(
        f"{metric!r:.120} has top={top!r}{why}; allowed are whole numbers from 1 on, or -1.", hint="top=-1 is all rows"
    )


def word_of(words: Mapping[str, Any]) -> Reader:
    """Make a reader of one of some words."""

    def reader(metric: str, name: str, value: str) -> Any:
        if value not in words:
            raise ConventionError(
                f"{metric!r:.120} has {name}={value!r}; allowed are {choices(words)}.",
                hint="in this spelling: another is refused by some versions of CatBoost and misread by others",
            )
        return words[value]

    return reader


def read_options(metric: str, text: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Read `name=value;...`; what is left out is left to the preset's default, and a cutoff is all."""
    known = (*readers, "hints")
    pairs = [part.partition("=")[::2] for part in text.split(";") if text]
    names = [name for name, _ in pairs]
    for name in names:
        if name not in known or names.count(name) > 1:
            what = "twice" if name in known else "which is not a parameter of it"
            raise ConventionError(
                f"{metric!r:.120} has {name!r}, {what}; allowed are {choices(known)}.", hint="no spaces"
            )
    found: dict[str, Any] = {"k": None} if "top" in readers else {}
    for name, value in pairs:
        if name != "hints":
            found["k" if name == "top" else name] = readers[name](metric, name, value)
    return found


def same_word_of(words: Mapping[str, Any]) -> Reader:
    """Make a reader of words that stand for themselves."""
    return word_of({word: word for word in words})


def number_of(metric: str, name: str, value: str) -> float:
    """Read a finite number."""
    found = as_number(value)
    if found is None:
        raise ConventionError(f"{metric!r:.120} has {name}={value!r}; allowed are finite numbers.", hint=f"{name}=0.5")
    return found
