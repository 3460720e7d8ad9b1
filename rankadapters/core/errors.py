"""The errors of rankadapters: each says what is wrong, what is allowed, and the way out."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from types import FrameType
from typing import Any, Self

_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"
_PLACE = re.compile(r"\b(labels|scores|qid|docid|row_weight|query_weight)\[(\d+)\]")


class RankAdaptersError(Exception):
    """Base of every error that rankadapters raises on purpose: what is wrong, and a hint at a way out.

    Examples
    --------
    >>> print(InputError("labels is empty.", hint="at least one row is needed"))
    labels is empty.
    Hint: at least one row is needed.
    """

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(f"{message}\nHint: {hint}." if hint else message)

    def about(self, what: str) -> Self:
        """Give the same error, whose message says first what it is about.

        Examples
        --------
        >>> InputError("labels[1] is nan.", row=1).about("the test set")
        InputError('the test set: labels[1] is nan.')
        """
        found = copy(self)
        found.args = (f"{what}: {self}",)
        return found


class ConventionError(RankAdaptersError, ValueError):
    """A convention is incomplete, contradicts itself, or does not fit the data's columns."""


class InputError(RankAdaptersError, ValueError):
    """Labels, scores, queries or weights are not what the convention can be computed on.

    Attributes
    ----------
    row : int or None
        The row to blame, from 0 in the order given, where it is one; in files, of the rows and not of the lines.
    """

    def __init__(self, message: str, *, hint: str = "", row: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.row = row

    def counted_on(self, n_rows: int, n_queries: int) -> Self:
        """Give the same error of all rows, where it was found in a part of them.

        Parameters
        ----------
        n_rows, n_queries : int
            Rows and queries that stand before the part.

        Examples
        --------
        >>> InputError("labels[1] is nan.", row=1).counted_on(100, 7)
        InputError('labels[101] is nan.')
        """
        found = copy(self)
        found.row = None if self.row is None else self.row + n_rows

        def on(place: re.Match[str]) -> str:
            before = n_queries if place[1] == "query_weight" else n_rows
            return f"{place[1]}[{int(place[2]) + before}]"

        found.args = (_PLACE.sub(on, str(self), count=1),)
        return found


class NotAskedError(ConventionError, KeyError):
    """A result is asked for under a convention that it does not hold."""

    __str__ = Exception.__str__  # KeyError's shows the message in quotes, with its line breaks escaped


class UnsupportedConventionError(ConventionError):
    """A toolkit cannot express the convention natively; `nearest` is the nearest it can, where there is one."""

    def __init__(self, message: str, *, hint: str = "", nearest: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest


class IncomparableScoresError(RankAdaptersError, TypeError):
    """Two scores differ in convention or in queries, so their order or difference means nothing."""


class MissingToolkitError(RankAdaptersError, ImportError):
    """A toolkit is not installed; the message names the extra that brings it."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingToolkitError:
        """Name the missing package and the extra that installs it."""
        return cls(f'{package} is not installed.\nHint: pip install "rankadapters[{extra}]"')


class AboveValuesWarning(UserWarning):
    """A weighted mean lies above every value that it is of."""


class LabelsWarning(UserWarning):
    """Labels that a preset's own tool refuses or changes, or that are no chances where a measure needs chances."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into the package, however deep in it the warning arises."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - warnings skip files by themselves from Python 3.12 on
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def brief(value: object) -> str:
    """Show what was given in one line: arrays and tables by their shape, everything else by 80 characters at most.

    >>> import numpy as np
    >>> brief((np.zeros((40, 5)), "valid"))
    "(ndarray of shape (40, 5), 'valid')"
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{type(value).__name__} of shape {shape}"
    if isinstance(value, (tuple, list)):
        begin, end = "()" if isinstance(value, tuple) else "[]"
        return f"{begin}{', '.join(map(brief, value)):.80}{end}"
    return f"{' '.join(repr(value).split()):.80}"


def choices(values: Iterable[object]) -> str:
    """List allowed values the way every message does."""
    return ", ".join(f"{value!r}" for value in values)
