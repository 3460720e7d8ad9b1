"""JSON texts of conventions, and a reader of JSON objects, which scores use too."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankadapters.core.declaration.declared import VERSION, Declared
from rankadapters.core.declaration.number_fields import is_whole
from rankadapters.core.errors import ConventionError, InputError, brief, choices

if TYPE_CHECKING:
    from rankadapters.core.declaration.convention import Convention


def write_convention(convention: Convention) -> str:
    """Return the JSON text of a convention: version, measure, and fields in the order of the signature."""
    members = {"version": VERSION, "measure": convention.measure, **convention.to_dict()}
    return json.dumps(members, allow_nan=False)


def read_convention(text: object, kind: type[Declared]) -> Any:
    """Return the convention of a JSON text; its class must be a subclass of `kind`."""
    members = read_object(text, "a convention", ConventionError)
    version, measure = members.pop("version", None), members.pop("measure", None)
    if not is_whole(version) or version != VERSION:
        msg = f"the JSON text has version {brief(version)}; this rankadapters knows {VERSION}."
        raise ConventionError(msg, hint="give the member 'version', or upgrade rankadapters")
    measures: dict[str, type[Convention]] = import_module("rankadapters.core.measures").MEASURES  # no import cycle
    declared = measures.get(measure) if isinstance(measure, str) else None
    if declared is None or not issubclass(declared, kind):
        allowed = choices(word for word, cls in measures.items() if issubclass(cls, kind))
        msg = f"the JSON text has measure {brief(measure)}; {kind.__name__}.from_json reads {allowed}."
        raise ConventionError(msg, hint="ra.Convention.from_json(text) reads every measure")
    return declared(**members)


def read_object(text: object, noun: str, error: type[ConventionError | InputError]) -> dict[str, Any]:
    """Return the members of a JSON object; whole numbers such as 10.0 become ints.

    >>> read_object('{"k": 10.0, "empty": 0.5}', "a convention", ConventionError)
    {'k': 10, 'empty': 0.5}
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
