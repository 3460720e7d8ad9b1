"""Call a function under test, and read its answers."""

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
N_QUERIES = 5  # queries per case for functions that take more than one query
UNSTEADY = "it is not deterministic"
ONE_ROW = "arrays of shape (1, n_docs)"
FORMS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {  # array types to try, in this order
    "numpy arrays": lambda array: array,
    "lists": lambda array: array.tolist(),
    ONE_ROW: lambda array: array[np.newaxis],
}


class NoAnswer(RankAdaptersError):  # noqa: N818 - a kind of answer, not an error
    """Raised by a function under test that cannot return a number; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a function to a case: a number, or the reason why there is none.

    Attributes
    ----------
    value : float
        NaN if the function raised an error, or returned None, NaN or anything else that is not a number.
    problem : str
        Why there is no number; empty if there is one.
    """

    value: float
    problem: str = ""


@dataclass(slots=True)
class Function:
    """A function under test.

    Attributes
    ----------
    call : callable
        `call(labels, scores)`; a third argument is the query of each row or the size of each query.
    takes : str
        One of `TAKES`.
    answers : dict of Case to Reply
        The answers so far, by case.
    faults : list of str
        Faults seen so far: different answers to the same case, or changed arguments.
    form : str
        The form in which it receives its arguments: a key of `FORMS`.
    calls, seconds : int, float
        The number of calls, and their total time.
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
        """The largest number of queries that a case may have."""
        return 1 if self.takes == "query" else N_QUERIES

    @property
    def deterministic(self) -> bool:
        """Whether all repeated calls gave the same answer as before."""
        return not any(UNSTEADY in fault for fault in self.faults)

    def ask(self, case: Case) -> Reply:
        """Return the answer to a case, calling the function only for new cases."""
        if case not in self.answers:
            self.answers[case] = self._answer(case)
        return self.answers[case]

    def find_accepted(self, cases: Sequence[Case]) -> Case | None:
        """Return the first case that the function accepts, and remember in which form it accepted the arguments."""
        for self.form in [form for form in FORMS if form != ONE_ROW or self.takes == "query"]:
            for case in cases:
                if not self._answer(case).problem:
                    return case
        self.form = next(iter(FORMS))
        return None

    def repeat(self, case: Case) -> None:
        """Call the function again for a case, and record a fault if the answer differs."""
        first, second = self.answers[case], self._answer(case)
        if second != first and not (math.isnan(second.value) and math.isnan(first.value)):
            self._add_fault(f"{UNSTEADY}: {_text(first)}, then {_text(second)} for the same data")

    def _answer(self, case: Case) -> Reply:
        arrays = [_column(case.labels), np.asarray(case.scores)]
        if self.takes == "queries":
            arrays.append(case.qid)
        if self.takes == "groups":
            arrays.append(np.asarray(case.sizes))
        arguments, originals = ([FORMS[self.form](array.copy()) for array in arrays] for _ in range(2))
        self.calls, begin = self.calls + 1, time.perf_counter()
        try:
            returned = self.call(*arguments)
        except NoAnswer as reason:
            return Reply(math.nan, str(reason))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error is an answer
            return Reply(math.nan, f"raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        finally:
            self.seconds += time.perf_counter() - begin
        if any(not np.array_equal(a, original) for a, original in zip(arguments, originals, strict=True)):
            self._add_fault("it changes the arrays that it is given")
        return _reply(returned)

    def _add_fault(self, fault: str) -> None:
        if not any(fault.startswith(earlier.partition(":")[0]) for earlier in self.faults):
            self.faults.append(fault)


def _text(reply: Reply) -> str:
    return reply.problem or repr(reply.value)


def _column(values: tuple[float, ...]) -> np.ndarray[Any, Any]:
    """Return labels as int64 if all are whole numbers, since many functions index a table with them."""
    array = np.asarray(values, dtype=float)
    return array.astype(np.int64) if np.array_equal(array, np.floor(array)) else array


def _reply(returned: object) -> Reply:
    """Convert the returned object to a number if possible."""
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
