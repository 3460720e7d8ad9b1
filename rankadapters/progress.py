"""Progress of long computations: a tqdm bar on a terminal, the caller's own function, or nothing.

A long function is decorated with `shows` and calls `advance`; if it has a `progress=` argument, it calls
`steps(progress)` instead. The command opens its own bar with `shown`, and these calls then move that bar.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

from rankadapters.core.declaration.arguments import refusal

P = ParamSpec("P")
T = TypeVar("T")
Step = Callable[[int, int], object]
Progress = bool | Step  # the type of `progress=`: True shows a bar on a terminal, False nothing

SOON = 1.0  # seconds after which a bar appears
INTERVAL = 0.1  # seconds between two updates of the bar
_STEPS_OF_FILE = 1000

_bar: ContextVar[Any] = ContextVar("_bar", default=None)


@contextmanager
def shown(title: str, *, after: float | None = None) -> Iterator[None]:
    """Show a bar on a terminal's stderr while the block runs, once it has run for `after` seconds.

    A nested block shows no second bar: `advance` moves the outer one.
    """
    if _bar.get() is not None or sys.stderr is None or not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield
        return
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    delay = SOON if after is None else after
    with (
        logging_redirect_tqdm(),  # a line of the log is printed above the bar, not into it
        tqdm(desc=title, leave=False, delay=delay, mininterval=INTERVAL, miniters=0, file=sys.stderr) as bar,
    ):
        token = _bar.set(bar)
        try:
            yield
        finally:
            _bar.reset(token)


def steps(progress: object) -> Step:
    """Return the function that reports progress, which is called with the amount done and the total.

    >>> steps(print) is print, steps(True) is advance, steps(False)(1, 2)
    (True, True, None)

    Raises
    ------
    InputError
        `progress` is neither True nor False nor callable.
    """
    if callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise refusal("progress", progress, "True, False and functions of (done, total)", "progress=print")
    return advance if progress else _ignore


def shows(title: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a slow function to show a bar on a terminal, unless the caller passes `progress=False` or a function."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            step = steps(kwargs.get("progress", True))
            if "progress" in kwargs:
                kwargs["progress"] = step
            with shown(title) if step is advance else nullcontext():
                return function(*args, **kwargs)

        return call

    return decorate


def advance(done: int, total: int, title: str | None = None) -> None:
    """Move the bar, if one is shown, to `done` of `total`, and optionally change its title."""
    bar = _bar.get()
    if bar is not None:
        bar.total = total
        if title is not None:
            bar.set_description(title, refresh=False)
        bar.update(done - bar.n)


def step_of_file(number: int, n_files: int) -> Callable[[int, int], None]:
    """Return a function that moves the bar while a file is read, called with the amount read and the file's size.

    If `n_files` is 0, the number of files is unknown, and the bar does not move.
    """

    def step(done: int, total: int) -> None:
        if n_files:
            advance(int(_STEPS_OF_FILE * (number + done / max(total, 1))), _STEPS_OF_FILE * n_files)

    return step


def has_rich() -> bool:
    """Return whether rich, which prints the command's tables, is installed."""
    return find_spec("rich") is not None


def _ignore(done: int, total: int) -> None:
    """Ignore the progress."""
