"""Kernels: the only code that loops over rows. Each is written once, in plain Python that numba can compile.

Arrays and numbers go in, arrays come out; a kernel knows no convention. `dispatch.run` chooses whether a kernel runs as
it is written, on lists, or compiled. Importing a kernel imports no numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from rankadapters.core.errors import warn_caller

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value
FEW = 8  # rows of a query that a kernel for short queries takes
LIMBS, LIMB_BITS = 66, 32  # of an exact sum, from 2^-1074 to beyond the largest float64

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_UNCALLED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # numba's types leave these out


class Kernel:
    """A function over arrays, which numba compiles when it is first called.

    Attributes
    ----------
    in_numpy : callable or None
        The same for whole columns at once, where loops in Python would take too long.
    tied : str
        Of a kernel that reads columns by rank: what each rank of a tie brings where ties are not broken. `means`: the
        mean of the tie; `spans`: its sum, and where the tie ends; `whole`: the row's own number, and where the tie
        ends, of the tie at rank k also the rows beyond.
    cost : int
        How many times as long as ranking it takes in plain Python, so that it is compiled so much earlier.
    short_queries : Kernel or None
        A kernel that also ranks, for queries of at most FEW rows: `short_queries(scores, order, indptr, *columns, k,
        *by_rank, *by_query, *options, values)` returns the first row whose score is not finite, else -1.
    line_search : Kernel or None
        A kernel that also ranks, for scores that move along a line in steps: as `dcg.discounted_sums_along`.
    parameters : tuple of str
        Names of the arguments.
    kept : bool
        Whether its machine code is kept on disk.
    options : dict
        What numba is told.
    """

    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        in_numpy: Callable[..., Any] | None = None,
        tied: str = "means",
        cost: int = 1,
        kept: bool = True,
        options: dict[str, Any],
    ) -> None:
        self.function: Any = function
        self.parameters = _parameters(function)
        self.in_numpy, self.tied, self.cost = in_numpy, tied, cost
        self.kept, self.options = kept, options
        self.short_queries: Kernel | None = None
        self.line_search: Kernel | None = None
        self._plain: Any = None
        self._compiled: Any = None
        _be_named_as(self, function)

    def __repr__(self) -> str:
        """Name the function and its module."""
        return f"<kernel {self.__module__}.{self.__name__}>"

    def __reduce__(self) -> str:
        """Let plans be pickled and copied: a kernel is one object, which its module names."""
        return self.__name__

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code; without numba, the function as it is written."""
        if why_no_numba() is None:
            return self.compiled(*arguments)
        warn_of_no_numba()
        import numpy as np

        with np.errstate(all="ignore"):  # as machine code does
            return self.plain(*arguments)

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
            from numba.core.compiler_lock import global_compiler_lock

            from rankadapters.core.kernels.compiling import machine_code

            with global_compiler_lock:
                if self._compiled is None:  # another thread may have been faster
                    self._compiled = machine_code(self)
        return self._compiled

    def text(self) -> Any:
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


def _parameters(function: Any) -> tuple[str, ...]:
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount])


def _be_named_as(wrapper: Any, function: Callable[..., Any]) -> None:
    wrapper.__name__, wrapper.__doc__, wrapper.__module__ = function.__name__, function.__doc__, function.__module__


@cache
def why_no_numba() -> str | None:
    """Say why numba cannot be imported; None where it can."""
    try:
        import numba  # noqa: F401 - whether it is there, and fits the numpy that is there
    except ImportError as error:
        return str(error)
    return None


@cache
def warn_of_no_numba() -> None:
    """Warn once that what should be machine code runs in Python, where numba cannot be imported."""
    if why_no_numba() is not None:
        warn_caller(
            f"gradients and learners run in plain Python, some hundred times as slowly, since numba cannot be imported "
            f"({why_no_numba()}).\nHint: pip install numba.",
            RuntimeWarning,
        )


class Spelled(Kernel):
    """A kernel for kernels that machine code spells in another way than plain Python does, with the same meaning."""

    def __init__(self, function: Callable[..., Any], spelling: Callable[[], Any]) -> None:
        super().__init__(function, kept=False, options={"inline": "always", **_OPTIONS})
        self._spelling = spelling

    def text(self) -> Any:
        """Return what numba compiles, a function, or puts in place, an intrinsic."""
        return self._spelling()


def spelled(spelling: Callable[[], Any]) -> Callable[[Callable[..., Any]], Spelled]:
    """Make a kernel of a function for plain Python and of what `spelling` returns for machine code."""
    return lambda function: Spelled(function, spelling)


def kernel(function: Callable[..., Any] | None = None, **declared: Any) -> Any:
    """Make a kernel whose machine code is kept on disk where a folder can be written; `declared` is as in `Kernel`."""
    if function is None:
        return lambda function: kernel(function, **declared)
    return Kernel(function, options=_OPTIONS, **declared)


def inlined(function: Callable[..., Any]) -> Kernel:
    """Compile into each caller: a call per query with a dozen arrays costs as much as ranking a short query."""
    return Kernel(function, kept=False, options={"inline": "always", **_OPTIONS})


def internal(function: Callable[..., Any]) -> Kernel:
    """Compile for kernels only: Python never calls it, so it needs no wrapper, and its callers' files hold its code."""
    return Kernel(function, kept=False, options={**_UNCALLED, **_OPTIONS})


def merged(function: Callable[..., Any]) -> Kernel:
    """Let LLVM put the machine code into the caller's: for what is called once a row, with many arrays."""
    return Kernel(function, options={**_OPTIONS, "forceinline": True})


def contracting(function: Callable[..., Any]) -> Kernel:
    """Make a kernel in which a product and a sum may be one instruction that rounds once, as in the C library."""
    return Kernel(function, options={**_OPTIONS, "fastmath": {"contract"}})


class Steps:
    """Kernels that are called in turn: `calls(*arguments)` lists each kernel with its arguments.

    So code that many need is compiled once. The first row that a kernel returns, since its score is not finite, ends
    the calls.
    """

    __name__: str

    def __init__(self, calls: Callable[..., list[tuple[Kernel, tuple[Any, ...]]]], *, cost: int = 1) -> None:
        self.calls, self.cost, self.parameters = calls, cost, _parameters(calls)
        _be_named_as(self, calls)

    __repr__, __reduce__ = Kernel.__repr__, Kernel.__reduce__

    def run(self, arguments: tuple[Any, ...], call: Callable[[Kernel, tuple[Any, ...]], Any]) -> int:
        """Call the kernels in turn by `call`; return the row that one of them refused, else -1."""
        for kernel_of_step, given in self.calls(*arguments):
            bad = call(kernel_of_step, given)
            if bad is not None and bad >= 0:
                return int(bad)
        return -1

    def __call__(self, *arguments: Any) -> int:
        """Run the machine code of each kernel."""
        return self.run(arguments, lambda kernel_of_step, given: kernel_of_step(*given))


def steps(calls: Callable[..., Any] | None = None, *, cost: int = 1) -> Any:
    """Make one kernel of kernels that are called in turn; `cost` is as in `Kernel`."""
    if calls is None:
        return lambda calls: Steps(calls, cost=cost)
    return Steps(calls, cost=cost)


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
