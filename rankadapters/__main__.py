"""Start the command `rankadapters`; `python -m rankadapters` does the same."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn


def main() -> int:
    """Run the command with the arguments of this process.

    Returns
    -------
    int
        The exit status of `rankadapters.cli.main`; 130 after Ctrl-C and 143 after SIGTERM, as in shells. Temporary
        files are removed first, as after any error.
    """
    signals: list[int] = []

    def interrupt(number: int, _: object) -> NoReturn:
        signals.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    status = 0
    try:
        from rankadapters.cli import main as run

        status = run()
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
        if signal.SIGINT in signals:
            print("rankadapters: interrupted", file=sys.stderr)  # noqa: T201 - as rankadapters.cli does
    return 128 + signals[0] if signals else status  # a library may have lost the interrupt


if __name__ == "__main__":
    sys.exit(main())
