"""How far a long computation is: a bar of tqdm on a terminal, the caller's own function, or nothing.

A function that takes long is decorated with `shows` and calls `advance`; one that has `progress=` calls
`steps(progress)` instead. The command opens a bar of its own by `shown`, and then that is the one that moves.
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
Progress = bool | Step  # what `progress=` takes: True shows a bar on a terminal, False shows nothing

SOON = 1.0  # seconds after which a bar is worth its line
INTERVAL = 0.1  # seconds between two drawings of it
_STEPS_OF_FILE = 1000

_bar: ContextVar[Any] = ContextVar("_bar", default=None)


@contextmanager
def shown(what: str, *, after: float | None = None) -> Iterator[None]:
    """Show a bar on a terminal's stderr while the block takes, once that is longer than `after` seconds.

    Inside another such block nothing more is drawn: `advance` moves the bar that is there.
    """
    if _bar.get() is not None or sys.stderr is None or not sys.stderr.isatty() or find_spec("tqdm") is None:
        yield
        return
    from tqdm import tqdm

    delay = SOON if after is None else after
    with tqdm(desc=what, leave=False, delay=delay, mininterval=INTERVAL, miniters=0, file=sys.stderr) as bar:
        token = _bar.set(bar)
        try:
            yield
        finally:
            _bar.reset(token)


def steps(progress: object) -> Step:
    """Return the function that is called with how much is done, and how much there is.

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


def shows(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function that may take long: a bar is `shown`, unless its `progress=` says otherwise."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            step = steps(kwargs.get("progress", True))
            if "progress" in kwargs:
                kwargs["progress"] = step
            with shown(what) if step is advance else nullcontext():
                return function(*args, **kwargs)

        return call

    return decorate


def advance(done: int, total: int, what: str | None = None) -> None:
    """Say how much of how much is done, where a bar is shown, and what is being done now."""
    bar = _bar.get()
    if bar is not None:
        bar.total = total
        if what is not None:
            bar.set_description(what, refresh=False)
        bar.update(done - bar.n)


def step_of_file(number: int, n_files: int) -> Callable[[int, int], None]:
    """Make what moves the bar while one of several files is read, by how much of how much of it is done.

    Where `n_files` is 0, nobody knows how many there are, and the bar stays.
    """

    def step(done: int, total: int) -> None:
        if n_files:
            advance(int(_STEPS_OF_FILE * (number + done / max(total, 1))), _STEPS_OF_FILE * n_files)

    return step


def has_rich() -> bool:
    """Tell whether rich, which prints the command's tables, is installed."""
    return find_spec("rich") is not None


def _ignore(done: int, total: int) -> None:
    """Show nothing."""
