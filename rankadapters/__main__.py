"""Start the command `rankadapters`; `python -m rankadapters` does the same."""

from __future__ import annotations

import signal
import sys

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM  # exit statuses, as in shells


def main() -> int:
    """Run the command with the arguments of this process.

    Returns
    -------
    int
        The exit status of `rankadapters.cli.main`, or 130 after Ctrl-C. SIGTERM ends the process with 143; temporary
        files are removed first, as after any error.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        from rankadapters.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("rankadapters: interrupted", file=sys.stderr)  # noqa: T201 - as rankadapters.cli does
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
