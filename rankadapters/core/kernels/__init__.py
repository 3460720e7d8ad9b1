"""Kernels: the only code that loops over rows. Each is written once, in plain Python that numba can compile.

Kernels take arrays and numbers and write arrays; they know no conventions. `dispatch.run` runs a kernel as Python
on lists, in numpy, or compiled. Importing a kernel does not import numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from rankadapters.core.errors import warn_caller

COMPUTE, FIXED, SKIP = 0, 1, 2  # how a query gets its value
FEW = 8  # a short query has at most this many rows
LIMBS, LIMB_BITS = 66, 32  # number and bits of the limbs of an exact sum of float64s

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_UNCALLED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # numba's type stubs lack these


class Kernel:
    """A function over arrays, which numba compiles when it is first called.

    Attributes
    ----------
    in_numpy : callable or None
        The same computation in numpy, for kernels whose Python loops take too long.
    tied : str
        For a kernel that reads columns by rank: the value at each rank of a tie if ties are not broken. `means`: the
        mean of the tie. `spans`: its sum, with the rank where the tie ends. `whole`: each row's own value, also for
        rows of the last tie beyond rank k, with the rank where the tie ends.
    cost : int
        Time in plain Python relative to ranking; a kernel that costs more is compiled earlier.
    short_queries : Kernel or None
        A kernel that ranks too, for queries of at most FEW rows: `short_queries(scores, order, indptr, *columns, k,
        *by_rank, *by_query, *options, values)` returns the first row whose score is not finite, else -1.
    line_search : Kernel or None
        A kernel that ranks too, for scores that move in steps along a line, such as `dcg.discounted_sums_in_steps`.
    parameters : tuple of str
        Names of the arguments.
    kept : bool
        Whether its machine code is kept on disk.
    options : dict
        Options for numba.
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
        _be_named_as(self, function)

    def __repr__(self) -> str:
        """Show the function and its module."""
        return f"<kernel {self.__module__}.{self.__name__}>"

    def __reduce__(self) -> str:
        """Pickle and copy a kernel by its name in its module, so that plans can be pickled."""
        return self.__name__

    def __call__(self, *arguments: Any) -> Any:
        """Run the Python function."""
        import numpy as np

        with np.errstate(all="ignore"):
            return self.plain(*arguments)

    @property
    def plain(self) -> Any:
        """The function in plain Python; its arrays may be lists."""
        if self._plain is None:
            self._plain = linked(self.function)
        return self._plain


def linked(function: Any) -> FunctionType:
    """Copy a function so that it calls the plain form of other kernels."""
    names = {*_names(function.__code__), "__builtins__", "__name__"}
    used = {name: value for name, value in function.__globals__.items() if name in names}
    linked_names = {name: _in_python(value) for name, value in used.items()}
    copy = FunctionType(function.__code__, linked_names, function.__name__, function.__defaults__, function.__closure__)
    copy.__doc__, copy.__module__, copy.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    return copy


def _in_python(value: Any) -> Any:
    from rankadapters.core.ranking.jit import Jitted

    if isinstance(value, Jitted):
        return value.py_func
    return value.plain if isinstance(value, Kernel) else value


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a code object and its inner functions use."""
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
    """Return why numba cannot be imported; None if it can."""
    try:
        import numba  # noqa: F401 - fails if numba is missing or incompatible with numpy
    except ImportError as error:
        return str(error)
    return None


@cache
def warn_of_no_numba() -> None:
    """Warn once if numba cannot be imported, so that slow computations run in Python."""
    if why_no_numba() is not None:
        warn_caller(
            f"gradients and learners run in plain Python, some hundred times as slowly, since numba cannot be imported "
            f"({why_no_numba()}).\nHint: pip install numba.",
            RuntimeWarning,
        )


def kernel(function: Callable[..., Any] | None = None, **declared: Any) -> Any:
    """Make a kernel whose machine code is kept on disk if possible; `declared` is passed to `Kernel`."""
    if function is None:
        return lambda function: kernel(function, **declared)
    return Kernel(function, options=_OPTIONS, **declared)


def inlined(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that numba inlines: calling it with many arrays would cost as much as ranking a short query."""
    return Kernel(function, kept=False, options={"inline": "always", **_OPTIONS})


def internal(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that only kernels call: it needs no Python wrapper, and its code is stored with its callers'."""
    return Kernel(function, kept=False, options={**_UNCALLED, **_OPTIONS})


def merged(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that LLVM inlines, for functions called once per row with many arrays."""
    return Kernel(function, options={**_OPTIONS, "forceinline": True})


def contracting(function: Callable[..., Any]) -> Kernel:
    """Make a kernel that may use fused multiply-add (one rounding instead of two), as the C library does."""
    return Kernel(function, options={**_OPTIONS, "fastmath": {"contract"}})


class Steps:
    """Kernels called in turn, each compiled separately; `calls(*arguments)` lists them with their arguments.

    If a kernel returns a row, because its score is not finite, the later kernels are not called.
    """

    __name__: str

    def __init__(self, calls: Callable[..., list[tuple[Kernel, tuple[Any, ...]]]], *, cost: int = 1) -> None:
        self.calls, self.cost, self.parameters = calls, cost, _parameters(calls)
        _be_named_as(self, calls)

    __repr__, __reduce__ = Kernel.__repr__, Kernel.__reduce__

    def run(self, arguments: tuple[Any, ...], call: Callable[[Kernel, tuple[Any, ...]], Any]) -> int:
        """Call the kernels in turn with `call`; return the first row whose score is not finite, else -1."""
        for kernel_of_step, step_arguments in self.calls(*arguments):
            bad = call(kernel_of_step, step_arguments)
            if bad is not None and bad >= 0:
                return int(bad)
        return -1

    def __call__(self, *arguments: Any) -> int:
        """Run the machine code of each kernel."""
        return self.run(arguments, lambda kernel_of_step, step_arguments: kernel_of_step(*step_arguments))


def steps(calls: Callable[..., Any] | None = None, *, cost: int = 1) -> Any:
    """Make one kernel from kernels called in turn; `cost` is as in `Kernel`."""
    if calls is None:
        return lambda calls: Steps(calls, cost=cost)
    return Steps(calls, cost=cost)


def zeros(n: int) -> list[float]:
    """Return working memory of n zeros: in plain Python a list, which is faster there than an array."""
    return [0.0] * n


def unsigned(index: int) -> int:
    """Return an index as an unsigned integer, so that machine code need not check for negative values."""
    return index
