"""Docstrings of declared values: a class states its formula, and its fields describe themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc

from rankadapters.core.declaration.fields import Field

RAISES = """Raises
------
ConventionError
    A field is left out, unknown, or has a value outside its choices, or fields do not go together."""

_SECTION = re.compile(r"^(?=[A-Z][a-z]+\n-{3,}$)", re.MULTILINE)
_REMARK = re.compile(r"^(\w+)\n((?:    .+\n?)+)", re.MULTILINE)


def with_fields(text: str, fields: Mapping[str, Field]) -> str:
    """Return a docstring with a numpydoc section on every field, and one on the error for wrong fields.

    Parameters
    ----------
    text : str
        The docstring in the file of the class. Its section "Parameters" holds remarks alone: what a field means for
        this class beyond what the field says of itself, below the name of the field.
    fields : mapping of str to Field
        The fields by name.
    """
    formula, *parts = map(str.rstrip, _SECTION.split(cleandoc(text)))
    sections = {part.partition("\n")[0]: part for part in parts}
    remarks = dict(_REMARK.findall(sections.pop("Parameters", "")))
    lines = [line for name, field in fields.items() for line in _entry(name, field, remarks.get(name, ""))]
    raises = "\n".join([RAISES, *sections.pop("Raises", "").splitlines()[2:]])
    return "\n\n".join([formula, "\n".join(["Parameters\n----------", *lines]), raises, *sections.values()]) + "\n"


def _entry(name: str, field: Field, remark: str) -> Iterator[str]:
    """Yield the lines on one field: its type, what it decides, the remark of the class, and a list of its values."""
    yield f"{name} : {field.type_name}"
    yield f"    {field.about}"
    if remark:
        yield remark.rstrip()
    meanings = field.meanings()
    yield "" if meanings else f"    Allowed: {field.allowed}."
    yield from (f"    - `{value}`: {meaning}" for value, meaning in meanings.items())
