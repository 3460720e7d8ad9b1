"""Run kernels in Python and numpy. Kernels of measures are not compiled any more; their numpy forms replace them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankadapters.core.kernels import Kernel, Steps
from rankadapters.core.kernels.in_numpy import ranking as in_numpy
from rankadapters.core.ranking.ranked_rows import ranked_rows

LATER, NOW, NEVER = "later", "now", "never"

ranked_rows.in_numpy = in_numpy.ranked_rows


def run(kernel: Kernel | Steps, *arguments: Any, rows: int = 0) -> Any:
    """Run a kernel in Python or numpy."""
    del rows
    return _run_in_python(kernel, arguments)


def runs_compiled() -> bool:
    """Return False."""
    return False


def expect_rows(rows: int) -> None:
    """Do nothing."""


def _run_in_python(kernel: Kernel | Steps, arguments: tuple[Any, ...]) -> Any:
    """Run a kernel's form in numpy, or else in Python on lists, which Python reads three times as fast as arrays."""
    if isinstance(kernel, Steps):
        return kernel.run(arguments, _run_in_python)
    with np.errstate(all="ignore"):  # machine code does not warn either; `exact_sum` checks for non-finite values
        if kernel.in_numpy is not None:
            return kernel.in_numpy(*arguments)
        lists = [value.tolist() if isinstance(value, np.ndarray) else value for value in arguments]
        result = kernel.plain(*lists)
    arguments[-1][:] = lists[-1]
    return result


@contextmanager
def kernels(choice: str) -> Iterator[None]:
    """Do nothing."""
    del choice
    yield
