"""Docstrings of declared values: the class gives the formula, and each field adds its own description."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc

from rankadapters.core.declaration.fields import Field

RAISES = """Raises
------
ConventionError
    A field is missing, unknown, or has a value that is not allowed, or two fields contradict each other."""

_SECTION = re.compile(r"^(?=[A-Z][a-z]+\n-{3,}$)", re.MULTILINE)
_REMARK = re.compile(r"^(\w+)\n((?:    .+\n?)+)", re.MULTILINE)


def with_fields(text: str, fields: Mapping[str, Field]) -> str:
    """Return a docstring with a numpydoc entry for every field, and a section on the error for wrong fields.

    Parameters
    ----------
    text : str
        The docstring in the source of the class. Its section "Parameters" holds only remarks, each below the name of
        a field: its additional meaning in this class.
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
    """Yield the lines on one field: its type, its description, the remark of the class, and the allowed values."""
    yield f"{name} : {field.type_name}"
    yield f"    {field.about}"
    if remark:
        yield remark.rstrip()
    meanings = field.meanings()
    yield "" if meanings else f"    Allowed: {field.allowed}."
    yield from (f"    - `{value}`: {meaning}" for value, meaning in meanings.items())
