"""A function under test: how it is called, and what counts as its answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.probing.cases import Case

TAKES = ("query", "queries", "groups")
N_QUERIES = 5  # of a case for functions of several queries


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
    answers : list of (Case, Reply)
        What it was asked so far.
    faults : list of str
        What it did beside answering: other answers to the same case, or changed arrays.
    calls, seconds : int, float
        How often it was called, and how long it took in all.
    """

    call: Callable[..., Any]
    takes: str
    answers: list[tuple[Case, Reply]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0.0

    @property
    def n_queries(self) -> int:
        """How many queries a case may have at most."""
        return 1 if self.takes == "query" else N_QUERIES

    def ask(self, case: Case) -> Reply:
        """Ask about a case and remember the answer."""
        answer = self.answer(case)
        self.answers.append((case, answer))
        return answer

    def answer(self, case: Case) -> Reply:
        """Ask about a case."""
        arrays = [_column(case.labels), np.asarray(case.scores)]
        if self.takes == "queries":
            arrays.append(case.qid)
        if self.takes == "groups":
            arrays.append(np.asarray(case.sizes))
        before = [array.copy() for array in arrays]
        self.calls, begin = self.calls + 1, time.perf_counter()
        try:
            returned = self.call(*arrays)
        except NoAnswer as why:
            return Reply(math.nan, str(why))
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            return Reply(math.nan, f"raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        finally:
            self.seconds += time.perf_counter() - begin
        if any(not np.array_equal(array, copy) for array, copy in zip(arrays, before, strict=True)):
            self._blame("it changes the arrays that it is given")
        return _answer(returned)

    def repeat(self, case: Case, answer: Reply) -> None:
        """Ask about a case once more, and remember whether the answer is another one."""
        again = self.answer(case)
        if again != answer and not (math.isnan(again.value) and math.isnan(answer.value)):
            self._blame(f"it is not deterministic: {answer.value!r}, then {again.value!r} for the same data")

    def _blame(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)


def _column(values: tuple[float, ...]) -> np.ndarray[Any, Any]:
    """Return labels as int64 where all are whole, since many functions index a table with them."""
    array = np.asarray(values, dtype=float)
    return array.astype(np.int64) if np.array_equal(array, np.floor(array)) else array


def _answer(returned: object) -> Reply:
    """Return what was returned as a number, if it is one."""
    if returned is None:
        return Reply(math.nan, "returned None")
    item = getattr(returned, "item", None)
    if callable(item) and getattr(returned, "size", 1) != 0:
        try:
            returned = item()
        except (TypeError, ValueError, RuntimeError):
            return Reply(math.nan, f"returned a {type(returned).__name__} of several numbers")
    if isinstance(returned, bool | str | bytes):
        return Reply(math.nan, f"returned {returned!r:.60}")
    try:
        value = float(returned)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return Reply(math.nan, f"returned a {type(returned).__name__}")
    return Reply(value) if math.isfinite(value) else Reply(math.nan, f"returned {value}")
