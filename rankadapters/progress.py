"""How far a long computation is: one bar on a terminal, nothing anywhere else or without rich.

What takes long is decorated with `shows` and calls `advance`; the command opens a bar of its own by `shown`, and then
that is the one that moves.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_STEPS_OF_FILE = 1000
SOON = 1.0  # seconds that a computation takes at least before a bar is worth its line


class Bar:
    """A bar that is drawn after a while, and goes when it is closed."""

    def __init__(self, what: str) -> None:
        self._said: dict[str, Any] = {"description": what, "total": None}
        self._lock = threading.Lock()
        self._drawn: Any = None
        self._closed = False

    def draw(self) -> None:
        """Begin to draw, unless it was closed or another bar of rich's has the terminal."""
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import Progress

        with self._lock:
            if self._closed:
                return
            drawn = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
            drawn.add_task(**self._said)
            try:
                drawn.start()
            except LiveError:
                return
            self._drawn = drawn

    def say(self, **said: Any) -> None:
        """Say how much is done, how much there is, what it is."""
        with self._lock:
            self._said |= said
            if self._drawn is not None:
                self._drawn.update(self._drawn.task_ids[0], **said)

    def close(self) -> None:
        """Take it away."""
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()


_open: ContextVar[Bar | None] = ContextVar("_open", default=None)


@contextmanager
def shown(what: str, *, after: float = SOON) -> Iterator[None]:
    """Show a bar on a terminal's stderr while the block takes, once that is longer than `after` seconds.

    Inside another such block nothing more is drawn: `advance` moves the bar that is there.
    """
    if _open.get() is not None or sys.stderr is None or not sys.stderr.isatty() or not has_rich():
        yield
        return
    bar = Bar(what)
    timer = threading.Timer(after, bar.draw)
    timer.daemon = True
    before = _open.set(bar)
    try:
        timer.start() if after else bar.draw()
        yield
    finally:
        timer.cancel()
        bar.close()
        _open.reset(before)


def shows(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function that may take long: it is `shown`, unless the caller has a `progress=` of its own."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            if named.get("progress") is not None:
                return function(*given, **named)
            with shown(what):
                return function(*given, **named)

        return call

    return decorate


def advance(done: int, total: int, what: str | None = None) -> None:
    """Say how much of how much is done, where a bar is shown, and what is being done now."""
    bar = _open.get()
    if bar is not None:
        bar.say(completed=done, total=total, **({} if what is None else {"description": what}))


def step_of_file(number: int, n_files: int) -> Callable[[int, int], None]:
    """Make what moves the bar while one of several files is read, by how much of how much of it is done.

    Where `n_files` is 0, nobody knows how many there are, and the bar stays.
    """

    def step(done: int, total: int) -> None:
        if n_files:
            advance(int(_STEPS_OF_FILE * (number + done / max(total, 1))), _STEPS_OF_FILE * n_files)

    return step


def has_rich() -> bool:
    """Tell whether rich is installed."""
    return find_spec("rich") is not None
