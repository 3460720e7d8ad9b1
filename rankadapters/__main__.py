"""The command `rankadapters`, which `python -m rankadapters` is too."""

from __future__ import annotations

import signal
import sys

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM  # as shells have it


def main() -> int:
    """Run the command of this process.

    Returns
    -------
    int
        As `rankadapters.cli.main`, and 130 after Ctrl-C. SIGTERM ends the process with 143; temporary files are removed
        first, as after any error.
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
