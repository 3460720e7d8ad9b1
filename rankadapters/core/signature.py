"""Signatures back to conventions: `parse(str(convention)) == convention`, always."""

from __future__ import annotations

import re
from typing import Any

from rankadapters.core.convention import MEASURES, VERSION, Convention
from rankadapters.core.errors import ConventionError, choices

_MEASURE = re.compile(r"(?P<measure>[a-z]+)@(?P<k>all|[1-9][0-9]{0,18})")


def parse(signature: str) -> Convention:
    """Read a convention back from its signature; `parse(str(convention)) == convention`.

    Parameters
    ----------
    signature : str
        As `str(convention)` writes it: measure@cutoff, every field, and the version.

    Returns
    -------
    Convention
        Named by 7 digits of the signature's SHA-256.

    Raises
    ------
    ConventionError
        The signature is truncated, repeats or misspells a field, or has an unknown measure or version.

    Examples
    --------
    >>> from rankadapters import presets
    >>> parse(str(presets.yahoo(5))) == presets.yahoo(5)
    True
    """
    if not isinstance(signature, str):
        msg = f"a signature is a string, not {type(signature).__name__}."
        raise ConventionError(msg)
    head, *parts = signature.split("/")
    match = _MEASURE.fullmatch(head)
    if match is None or match["measure"] not in MEASURES:
        msg = (
            f"{signature!r} does not start with a measure and a cutoff such as 'ndcg@10' or 'dcg@all'.\n"
            f"Hint: the measures are {choices(MEASURES)}; a signature is what str(convention) prints."
        )
        raise ConventionError(msg)
    if not parts or not re.fullmatch(r"v[0-9]+", parts[-1]):
        msg = f"{signature!r} has no version at its end: it is truncated.\nHint: copy it up to '/v{VERSION}'."
        raise ConventionError(msg)
    if parts[-1] != f"v{VERSION}":
        msg = f"{signature!r} has version {parts[-1]!r}; this rankadapters knows 'v{VERSION}'.\nHint: upgrade it."
        raise ConventionError(msg)
    k = None if match["k"] == "all" else int(match["k"])
    fields: dict[str, Any] = _fields_of(parts[:-1], signature)
    return MEASURES[match["measure"]](k=k, **fields)


def _fields_of(parts: list[str], signature: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or name in found or name == "k":
            msg = f"{part!r} in {signature!r} is not a field=value that stands there once."
            raise ConventionError(msg)
        found[name] = _number_or_text(value) if name == "empty" else value
    return found


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
