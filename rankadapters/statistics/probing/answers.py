"""Call a function under test, and read its answers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankadapters.core.declaration.arguments import refusal, word
from rankadapters.core.errors import RankAdaptersError
from rankadapters.statistics.probing.cases import Case

OF_QUERIES = {"queries", "groups"}  # functions of several queries
OF_RANKINGS = {"ranked", "items"}  # functions of a ranking, which do not receive the scores
UNKNOWN = "unknown"  # the value of k that makes `probe` find the cutoff
FIRST_ID = 11  # of the items of a query; no id is a row number
UNSTEADY = "it is not deterministic"
ARRAYS, ONE_ROW, LISTS, LIST_AND_SET = "numpy arrays", "arrays of shape (1, n_docs)", "lists", "a list and a set"
FORMS: dict[str, Callable[[list[Any]], list[Any]]] = {  # types of the arguments
    ARRAYS: lambda arrays: [array.copy() for array in arrays],
    LISTS: lambda arrays: [array.tolist() for array in arrays],
    ONE_ROW: lambda arrays: [array[np.newaxis].copy() for array in arrays],
    LIST_AND_SET: lambda arrays: [arrays[0].tolist(), set(arrays[1].tolist())],
}
TAKES = {  # what a function may be called with, and the forms to try, in this order
    "query": (ARRAYS, LISTS, ONE_ROW),
    "queries": (ARRAYS, LISTS),
    "groups": (ARRAYS, LISTS),
    "ranked": (ARRAYS, LISTS, ONE_ROW),
    "items": (LISTS, LIST_AND_SET, ARRAYS),
}


class NoAnswer(RankAdaptersError):  # noqa: N818 - a kind of answer, not an error
    """Raised by a function under test that cannot return a number; the message is the reason."""


class Reply(NamedTuple):
    """The answer of a function to a case: a number, or NaN and the reason why there is none."""

    value: float
    problem: str = ""

    def __str__(self) -> str:
        return self.problem or repr(self.value)


@dataclass(slots=True)
class Function:
    """A function under test."""

    call: Callable[..., Any]
    takes: str  # one of `TAKES`: what it is called with
    keywords: dict[str, Any] = field(default_factory=dict)  # further arguments of each call, such as `k`
    answers: dict[Case, Reply] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # different answers to the same case, or changed arguments
    form: str = ""  # a key of `FORMS`: the types of its arguments
    calls: int = 0

    def __post_init__(self) -> None:
        self.form = self.forms[0]

    @classmethod
    def of(cls, function: object, takes: object, k: object) -> Function:
        """Check the arguments of `probe` and `check`; pass `k` on if the function has a parameter of that name."""
        if not callable(function):
            raise refusal("function", function, "callables", "a function of labels and scores")
        return cls(function, word("takes", takes, tuple(TAKES)), _keywords(function, k))

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in which it may take its arguments, in the order in which they are tried."""
        return TAKES[self.takes]

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
        for form, case in product(self.forms, cases):
            self.form = form
            if not self._answer(case).problem:
                return case
        self.form = self.forms[0]
        return None

    def repeat(self, case: Case) -> bool:
        """Call the function again for a case; record a fault and return True if the answer differs."""
        first, second = self.answers[case], self._answer(case)
        differs = second != first and not (math.isnan(second.value) and math.isnan(first.value))
        if differs:
            self._add_fault(f"{UNSTEADY}: {first}, then {second} for the same data")
        return differs

    def _answer(self, case: Case) -> Reply:
        arguments, originals = (FORMS[self.form](self._columns(case)) for _ in range(2))
        self.calls += 1
        try:
            returned = self.call(*arguments, **self.keywords)
        except NoAnswer as reason:
            return Reply(math.nan, str(reason))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error is an answer
            return Reply(math.nan, f"raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        if not all(map(np.array_equal, arguments, originals)):
            self._add_fault("it changes the arrays that it is given")
        return _reply(returned)

    def _columns(self, case: Case) -> list[Any]:
        """Return the arguments for a case as arrays."""
        labels = np.asarray(case.labels)
        if np.array_equal(labels, np.floor(labels)):
            labels = labels.astype(np.int64)  # since many functions index a table with them
        if self.takes == "ranked":
            return [labels[case.ranking()]]
        if self.takes == "items":
            ids = FIRST_ID + 3 * np.arange(labels.size)
            return [ids[case.ranking()], ids[labels > 0]]
        further = {"queries": [case.qid], "groups": [np.asarray(case.sizes)]}
        return [labels, np.asarray(case.scores), *further.get(self.takes, [])]

    def _add_fault(self, fault: str) -> None:
        if not any(fault.startswith(earlier.partition(":")[0]) for earlier in self.faults):
            self.faults.append(fault)


def _keywords(function: Callable[..., Any], k: object) -> dict[str, Any]:
    """Return `k` as a keyword if the function has such a parameter."""
    try:
        parameter = inspect.signature(function).parameters.get("k")
    except (TypeError, ValueError):  # a function written in C
        return {}
    if parameter is None or parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
        return {}
    if k != UNKNOWN:
        return {"k": k}
    if parameter.default is parameter.empty:
        raise refusal("k", k, "cutoffs that the function can be given as its argument k", "k=10")
    return {}


def _reply(returned: object) -> Reply:
    """Convert the returned object to a number, if it is one."""
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
