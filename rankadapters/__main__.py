"""The command `rankadapters`, which `python -m rankadapters` is too: Ctrl-C ends it in one line."""

from __future__ import annotations

import signal
import sys
from typing import Any

INTERRUPTED = 128 + signal.SIGINT  # as shells have it


def main() -> int:
    """Run the command of this process.

    Returns
    -------
    int
        As `rankadapters.cli.main`, and 130 after Ctrl-C, at any time from the first import on.
    """
    pressed = []

    def interrupt(number: int, frame: Any) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else the process was started to ignore it
        signal.signal(signal.SIGINT, interrupt)
    try:
        from rankadapters.cli import main as run

        return run()
    except KeyboardInterrupt:
        pass
    except Exception:  # extension modules make other errors of an interrupt that meets their import
        if not pressed:
            raise
    print("rankadapters: interrupted", file=sys.stderr)  # noqa: T201 - as rankadapters.cli does
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
