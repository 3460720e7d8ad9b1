"""A reader of JSON objects, for scores."""

from __future__ import annotations

import json
from typing import Any

from rankadapters.core.errors import ConventionError, InputError, brief


def read_object(text: object, noun: str, error: type[ConventionError | InputError]) -> dict[str, Any]:
    """Return the members of a JSON object; whole numbers such as 10.0 become ints.

    >>> read_object('{"n_queries": 10.0, "value": 0.5}', "a score", InputError)
    {'n_queries': 10, 'value': 0.5}
    """
    try:
        members = json.loads(text, object_pairs_hook=_members, parse_float=_number)  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError) as problem:
        raise error(
            f"{brief(text)} is not the JSON text of {noun}: {problem}.", hint="pass what to_json() returned"
        ) from None
    if not isinstance(members, dict):
        raise error(f"{brief(text)} is not a JSON object.", hint="pass what to_json() returned")
    return members


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        msg = "a member is repeated"
        raise ValueError(msg)
    return members


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value
