"""A function under test: how it is called, and what counts as its answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.probing.cases import Case

TAKES = ("query", "queries", "groups")
N_QUERIES = 5  # of a case for functions of several queries
UNSTEADY = "it is not deterministic"
ONE_ROW = "arrays of shape (1, n_docs)"
FORMS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {  # of the columns; the first one that is accepted is used
    "numpy arrays": lambda array: array,
    "lists": lambda array: array.tolist(),
    ONE_ROW: lambda array: array[np.newaxis],
}


class NoAnswer(RankAdaptersError):  # noqa: N818 - an answer in words, and nobody's error
    """What a function under test raises to say in plain words why it has no number."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a function said to a case: a number, or why there is none.

    Attributes
    ----------
    value : float
        NaN where the function raised, or returned None, NaN or something that is no number.
    problem : str
        Empty where there is a number.
    """

    value: float
    problem: str = ""


@dataclass(slots=True)
class Function:
    """A function under test.

    Attributes
    ----------
    call : callable
        `call(labels, scores)`, or with the query of each row or the sizes of queries as a third argument.
    takes : str
        One of `TAKES`.
    answers : dict of Case to Reply
        What it was asked so far.
    faults : list of str
        What it did beside answering: other answers to the same case, or changed arrays.
    form : str
        How it is given its columns: a key of `FORMS`.
    calls, seconds : int, float
        How often it was called, and how long it took in all.
    """

    call: Callable[..., Any]
    takes: str
    answers: dict[Case, Reply] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    form: str = "numpy arrays"
    calls: int = 0
    seconds: float = 0.0

    @property
    def n_queries(self) -> int:
        """How many queries a case may have at most."""
        return 1 if self.takes == "query" else N_QUERIES

    @property
    def deterministic(self) -> bool:
        """Whether it has given one answer to each case."""
        return not any(UNSTEADY in fault for fault in self.faults)

    def ask(self, case: Case) -> Reply:
        """Ask about a case, unless it has answered that already."""
        if case not in self.answers:
            self.answers[case] = self._answer(case)
        return self.answers[case]

    def accepts(self, cases: Sequence[Case]) -> Case | None:
        """Find the first case that it has a number for, and keep to the form of columns in which it has."""
        for self.form in [form for form in FORMS if form != ONE_ROW or self.takes == "query"]:
            for case in cases:
                if not self._answer(case).problem:
                    return case
        self.form = next(iter(FORMS))
        return None

    def repeat(self, case: Case) -> None:
        """Ask about a case once more, and remember whether the answer is another one."""
        before, again = self.answers[case], self._answer(case)
        if again != before and not (math.isnan(again.value) and math.isnan(before.value)):
            self._blame(f"{UNSTEADY}: {_said(before)}, then {_said(again)} for the same data")

    def _answer(self, case: Case) -> Reply:
        arrays = [_column(case.labels), np.asarray(case.scores)]
        if self.takes == "queries":
            arrays.append(case.qid)
        if self.takes == "groups":
            arrays.append(np.asarray(case.sizes))
        columns, before = ([FORMS[self.form](array.copy()) for array in arrays] for _ in range(2))
        self.calls, begin = self.calls + 1, time.perf_counter()
        try:
            returned = self.call(*columns)
        except NoAnswer as why:
            return Reply(math.nan, str(why))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is its answer
            return Reply(math.nan, f"raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        finally:
            self.seconds += time.perf_counter() - begin
        if any(not np.array_equal(column, copy) for column, copy in zip(columns, before, strict=True)):
            self._blame("it changes the arrays that it is given")
        return _reply(returned)

    def _blame(self, fault: str) -> None:
        if not any(fault.startswith(known.partition(":")[0]) for known in self.faults):
            self.faults.append(fault)


def _said(reply: Reply) -> str:
    return reply.problem or repr(reply.value)


def _column(values: tuple[float, ...]) -> np.ndarray[Any, Any]:
    """Return labels as int64 where all are whole, since many functions index a table with them."""
    array = np.asarray(values, dtype=float)
    return array.astype(np.int64) if np.array_equal(array, np.floor(array)) else array


def _reply(returned: object) -> Reply:
    """Return what was returned as a number, if it is one."""
    if returned is None:
        return Reply(math.nan, "returned None")
    item = getattr(returned, "item", None)
    if callable(item) and getattr(returned, "size", 1) != 0:
        try:
            returned = item()
        except (TypeError, ValueError, RuntimeError):
            return Reply(math.nan, f"returned a {type(returned).__name__} of several numbers")
    if isinstance(returned, str | bytes):
        return Reply(math.nan, f"returned {returned!r:.60}")
    try:
        value = float(returned)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return Reply(math.nan, f"returned a {type(returned).__name__}")
    return Reply(value) if math.isfinite(value) else Reply(math.nan, f"returned {value}")
