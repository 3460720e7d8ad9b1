"""The errors of rankadapters: each says what is wrong, what is allowed, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, Self


class RankAdaptersError(Exception):
    """Base of every error that rankadapters raises on purpose."""

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

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class UnsupportedConventionError(ConventionError):
    """A toolkit cannot express the convention natively; `nearest` is the nearest it can, where there is one."""

    def __init__(self, message: str, *, nearest: Any = None) -> None:
        super().__init__(message)
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


def choices(values: Iterable[object]) -> str:
    """List allowed values the way every message does."""
    return ", ".join(f"{value!r}" for value in values)
