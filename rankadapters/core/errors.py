"""The errors of rankadapters: each describes the mistake and the allowed values, and suggests a fix."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, Self

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
_ENTRY = re.compile(r"\b(labels|scores|qid|docid|row_weight|query_weight)\[(\d+)\]")


class RankAdaptersError(Exception):
    """Base class of every error that rankadapters raises on purpose; the message may end with a hint.

    Examples
    --------
    >>> print(InputError("labels is empty.", hint="at least one row is needed"))
    labels is empty.
    Hint: at least one row is needed.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(f"{message}\nHint: {hint}." if hint else message)

    def about(self, subject: str) -> Self:
        """Return a copy of the error whose message starts with its subject.

        Examples
        --------
        >>> InputError("labels[1] is nan.", row=1).about("the test set")
        InputError('the test set: labels[1] is nan.')
        """
        return self._with_text(f"{subject}: {self}")

    def _with_text(self, text: str) -> Self:
        error = type(self).__new__(type(self), text)
        error.__dict__.update(self.__dict__)  # with Dask loaded, copy.copy() would share it (tblib)
        return error


class ConventionError(RankAdaptersError, ValueError):
    """A convention is incomplete, contradicts itself, or does not fit the data's columns."""


class InputError(RankAdaptersError, ValueError):
    """The convention cannot be computed on these labels, scores, queries or weights.

    Attributes
    ----------
    row : int or None
        Index of the row that is wrong, from 0 in the caller's order; None if no single row is to blame. In files it
        counts rows, not lines.
    """

    def __init__(self, message: str, *, hint: str = "", row: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.row = row

    def counted_on(self, n_rows: int, n_queries: int) -> Self:
        """Return a copy of an error in one part of the data, with row and query numbers that count all parts.

        Parameters
        ----------
        n_rows, n_queries : int
            Number of rows and queries before this part.

        Examples
        --------
        >>> InputError("labels[1] is nan.", row=1).counted_on(100, 7)
        InputError('labels[101] is nan.')
        """

        def renumber(entry: re.Match[str]) -> str:
            n_before = n_queries if entry[1] == "query_weight" else n_rows
            return f"{entry[1]}[{int(entry[2]) + n_before}]"

        error = self._with_text(_ENTRY.sub(renumber, str(self), count=1))
        error.row = None if self.row is None else self.row + n_rows
        return error


class NotAskedError(ConventionError, KeyError):
    """A result has no value for the requested convention."""

    __str__ = Exception.__str__  # KeyError quotes the message and escapes its line breaks


class UnsupportedConventionError(ConventionError):
    """A toolkit cannot express the convention; `nearest` is the nearest one that the toolkit can express, or None."""

    def __init__(self, message: str, *, hint: str = "", nearest: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest


class IncomparableScoresError(RankAdaptersError, TypeError):
    """Two scores have different conventions or queries, so comparing or subtracting them is meaningless."""


class MissingToolkitError(RankAdaptersError, ImportError):
    """A toolkit is not installed; the message names the extra that installs it."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingToolkitError:
        """Return the error for a missing package and the extra that installs it."""
        return cls(f'{package} is not installed.\nHint: pip install "rankadapters[{extra}]"')


def are_installed(*packages: str) -> bool:
    """Return whether all packages are installed; it imports none of them."""
    with suppress(ImportError, ValueError):  # of an import hook, or of a stand-in for a package
        return all(find_spec(package) is not None for package in packages)
    return False


class LabelsWarning(UserWarning):
    """The preset's tool would give another number, the measure needs probabilities as labels, or columns look swapped.

    A tool gives another number if it refuses or changes such labels, or orders tied scores by an unstable sort.
    """


def warn_caller(message: str, category: type[Warning] = UserWarning, *, hint: str = "") -> None:
    """Issue a warning, with a hint as in an error, that points at the user's line of code that called the package."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001, TID251 - `warnings` skips files only from 3.12 on
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{message}\nHint: {hint}." if hint else message, category, stacklevel=level)


def brief(value: object) -> str:
    """Show a value in one line: an array or table by its shape, anything else in at most 80 characters.

    >>> import numpy as np
    >>> brief((np.zeros((40, 5)), "valid"))
    "(ndarray of shape (40, 5), 'valid')"
    >>> brief((0,))
    '(0,)'
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{type(value).__name__} of shape {shape}"
    if isinstance(value, (tuple, list)):
        text = f"{', '.join(map(brief, value)):.80}"
        return f"({text}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{text}]"
    try:
        text = repr(value)
    except ValueError:  # Python writes no int of over 4300 digits
        return f"{type(value).__name__} of too many digits to print"
    return f"{' '.join(text.split()):.80}"


def choices(values: Iterable[object]) -> str:
    """Return allowed values as a comma-separated list for a message."""
    return ", ".join(f"{value!r}" for value in values)
