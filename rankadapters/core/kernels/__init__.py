"""Kernels: the only code that loops over rows. Each is written once, in plain Python that numba can compile.

Arrays and numbers go in, arrays come out; a kernel knows no convention. `dispatch.run` chooses whether a kernel runs as
it is written, on lists, or compiled. Importing a kernel imports no numba.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value
FEW = 8  # rows of a query that may be ranked and summed up at once
LIMBS, LIMB_BITS = 66, 32  # of an exact sum, from 2^-1074 to beyond the largest float64

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_UNCALLED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # numba's types leave these out


class Kernel:
    """A function over arrays, which numba compiles when it is first called.

    Attributes
    ----------
    in_numpy : callable or None
        The same for whole columns at once, where loops in Python would take too long: what sorts, gathers or hashes.
    tied : str
        Of a kernel that reads columns by rank: what each rank of a tie brings where ties are not broken. `means`: the
        mean of the tie; `spans`: its sum, and where the tie ends; `whole`: the row's own number, and where the tie
        ends, of the tie at rank k also the rows beyond.
    cost : int
        How many times as long as ranking it takes in plain Python, so that it is compiled so much earlier.
    for_few : Kernel or None
        One that ranks too, for queries of at most FEW rows: `for_few(scores, order, indptr, *columns, k, *by_rank,
        *by_query, *options, values)` returns the first row whose score is not finite, else -1.
    along_line : Kernel or None
        One that ranks too, for scores that move along a line in steps: as `dcg.discounted_sums_along`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        in_numpy: Callable[..., Any] | None = None,
        tied: str = "means",
        cost: int = 1,
        cached: bool = True,
        options: dict[str, Any],
    ) -> None:
        self.in_numpy, self.tied, self.cost = in_numpy, tied, cost
        self.for_few: Kernel | None = None
        self.along_line: Kernel | None = None
        self.cached, self.options = cached, options
        self.function: Any = function
        self._plain: Any = None
        self._compiled: Any = None
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __repr__(self) -> str:
        """Name the function and its module."""
        return f"<kernel {self.__module__}.{self.__name__}>"

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code."""
        return self.compiled(*arguments)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments."""
        code = self.function.__code__
        return tuple(code.co_varnames[: code.co_argcount])

    @property
    def plain(self) -> Any:
        """The function in plain Python; its arrays may be lists."""
        if self._plain is None:
            self._plain = linked(self.function, "plain")
        return self._plain

    @property
    def compiled(self) -> Any:
        """The machine code, which numba makes at the first call with arguments of each type."""
        if self._compiled is None:
            self._compiled = self._machine_code()
        return self._compiled

    def _machine_code(self) -> Any:
        try:
            from rankadapters.core.kernels.compiling import machine_code
        except ImportError:
            warn_of_no_numba()
            return self.plain
        return machine_code(self)

    def spelling(self) -> Any:
        """Return what numba compiles."""
        return linked(self.function, "compiled")


def linked(function: Any, form: str) -> FunctionType:
    """Copy a function so that it calls one form of the kernels that it names, `plain` or `compiled`."""
    names = {*_names(function.__code__), "__builtins__", "__name__"}
    known = {name: value for name, value in function.__globals__.items() if name in names}
    used = {name: getattr(value, form) if isinstance(value, Kernel) else value for name, value in known.items()}
    copy = FunctionType(function.__code__, used, function.__name__, function.__defaults__, function.__closure__)
    copy.__doc__, copy.__module__, copy.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    return copy


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that some code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def warn_of_no_numba() -> None:
    """Say once that what should be machine code runs in Python."""
    warnings.warn(
        "numba cannot be imported, so that gradients and learners run in plain Python, some hundred times as slowly.\n"
        "Hint: pip install numba.",
        RuntimeWarning,
        stacklevel=2,
    )


class Spelled(Kernel):
    """A kernel that machine code spells in another way than plain Python does, with the same meaning."""

    def __init__(self, function: Callable[..., Any], spelling: Callable[[], Callable[..., Any]]) -> None:
        super().__init__(function, cached=False, options={"inline": "always", **_OPTIONS})
        self._spelling = spelling

    def spelling(self) -> Any:
        """Return what numba compiles."""
        return self._spelling()


def spelled(spelling: Callable[[], Callable[..., Any]]) -> Callable[[Callable[..., Any]], Spelled]:
    """Make a kernel of a function for plain Python and of one for machine code, which `spelling` returns."""
    return lambda function: Spelled(function, spelling)


def kernel(function: Callable[..., Any] | None = None, **declared: Any) -> Any:
    """Make a kernel whose machine code is kept on disk where some folder can be written; as `Kernel` declares it."""
    if function is None:
        return lambda function: kernel(function, **declared)
    return Kernel(function, options=_OPTIONS, **declared)


def inlined(function: Callable[..., Any]) -> Kernel:
    """Compile into each caller: a call per query with a dozen arrays costs as much as ranking a short query."""
    return Kernel(function, cached=False, options={"inline": "always", **_OPTIONS})


def internal(function: Callable[..., Any]) -> Kernel:
    """Compile for kernels only: what Python never calls needs no wrapper for it, and lies in its callers' cache."""
    return Kernel(function, cached=False, options={**_UNCALLED, **_OPTIONS})


def merged(function: Callable[..., Any]) -> Kernel:
    """Make a kernel whose machine code lies in the caller's: for what is called once a row, with many arrays."""
    return Kernel(function, options={**_OPTIONS, "forceinline": True})


def contracting(function: Callable[..., Any]) -> Kernel:
    """Make a kernel in which a product and a sum may be one instruction that rounds once, as in the C library."""
    return Kernel(function, options={**_OPTIONS, "fastmath": {"contract"}})


class Steps:
    """Kernels that are called in turn: `several(*arguments)` yields each with its arguments.

    The first row that one of them returns, since its score is not finite, ends them. So code that many need is compiled
    once.
    """

    def __init__(self, several: Callable[..., Iterator[tuple[Kernel, tuple[Any, ...]]]], *, cost: int = 1) -> None:
        self.several, self.cost = several, cost
        self.__name__, self.__doc__, self.__module__ = several.__name__, several.__doc__, several.__module__

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arguments."""
        code = self.several.__code__  # type: ignore[attr-defined]  # a function, not any callable
        return tuple(code.co_varnames[: code.co_argcount])

    def run(self, arguments: tuple[Any, ...], call: Callable[[Kernel, tuple[Any, ...]], Any]) -> int:
        """Run the kernels in turn; return the row that one of them refused, else -1."""
        for each, given in self.several(*arguments):
            bad = call(each, given)
            if bad is not None and bad >= 0:
                return int(bad)
        return -1

    def compiled(self, *arguments: Any) -> int:
        """Run the machine code of each kernel."""
        return self.run(arguments, lambda each, given: each.compiled(*given))

    __call__ = compiled


def steps(several: Callable[..., Any] | None = None, *, cost: int = 1) -> Any:
    """Make one kernel of several that are called in turn; `cost` as in `Kernel`."""
    if several is None:
        return lambda several: Steps(several, cost=cost)
    return Steps(several, cost=cost)


def _zeros() -> Callable[..., Any]:
    import numpy as np

    def zeros(n: int) -> Any:
        return np.zeros(n)

    return zeros


def _unsigned() -> Callable[..., Any]:
    import numpy as np

    def unsigned(index: int) -> Any:
        return np.uint64(index)

    return unsigned


@spelled(_zeros)
def numbers(n: int) -> list[float]:
    """Return n zeros to work with: a list in plain Python, which reads and writes it faster than an array."""
    return [0.0] * n


@spelled(_unsigned)
def unsigned(index: int) -> int:
    """Return an index that machine code need not test for being negative."""
    return index
