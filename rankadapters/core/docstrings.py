"""Docstrings that take descriptions of parameters and errors from other docstrings, so that each is written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from textwrap import indent
from typing import Any, TypeVar

Described = TypeVar("Described")

_ENTRY = re.compile(r"^(\w[\w, ]*?)( : .*)?\n((?:    .*\n)+)", re.MULTILINE)


def describes(source: Any) -> Callable[[Described], Described]:
    """Decorate a function or class: names "As in `source`" in its docstring get their descriptions from the source's.

    >>> def f(x, y):
    ...     '''Return nothing.
    ...
    ...     x, y : int
    ...         Numbers.
    ...     '''
    >>> @describes(f)
    ... def g(x):
    ...     '''Return nothing.
    ...
    ...     x
    ...         As in `f`.
    ...     '''
    >>> g.__doc__.splitlines()[2:]
    ['x : int', '    Numbers.']
    """
    as_in_source = re.compile(rf"^( *)(\w[\w, ]*)\n +As in `{source.__name__}`\.\n", re.MULTILINE)
    described = [(names.split(", "), kind + "\n" + text) for names, kind, text in _ENTRY.findall(_doc(source))]

    def entries(match: re.Match[str]) -> str:
        requested = set(match[2].split(", "))
        chosen = [([name for name in names if name in requested], rest) for names, rest in described]
        return indent("".join(", ".join(names) + rest for names, rest in chosen if names), match[1])

    def describe(target: Any) -> Any:
        if target.__doc__:  # which `python -OO` removes
            target.__doc__ = as_in_source.sub(entries, _doc(target)).rstrip()
        return target

    return describe


def _doc(target: Any) -> str:
    return cleandoc(target.__doc__ or "") + "\n"
