"""The command `rankadapters`, which `python -m rankadapters` is too: Ctrl-C ends it in one line."""

from __future__ import annotations

# The module `signal` without its enumerations, which take some milliseconds in which Ctrl-C would end in a traceback.
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

INTERRUPTED = 128 + int(signal.SIGINT)  # as shells have it
LINE = "rankadapters: interrupted"


def main() -> int:
    """Run the command of this process.

    Returns
    -------
    int
        As `rankadapters.cli.main`, and 130 after Ctrl-C, at any time from the first import on. A second Ctrl-C, and one
        that comes when all is done, end the process as the system does.
    """
    pressed = []

    def interrupt(number: int, frame: object) -> None:
        del frame
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        pressed.append(number)
        raise KeyboardInterrupt

    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else the process was started to ignore it
    try:
        try:
            if heeds:
                sys.unraisablehook = _end_if_interrupted
                signal.signal(signal.SIGINT, interrupt)
            from rankadapters.cli import main as run

            code = run()
        finally:
            if heeds:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        pass
    except (Exception, SystemExit):  # extension modules make other errors of an interrupt that meets their import
        if not pressed:
            raise
    else:
        if not pressed:  # else somebody took it for another error, such as a package that is missing
            return code
    print(LINE, file=sys.stderr)  # noqa: T201 - as rankadapters.cli does
    return INTERRUPTED


def _end_if_interrupted(lost: sys.UnraisableHookArgs) -> None:
    """End the process where an interrupt came when Python can raise nothing, as in a finalizer; tell other errors."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    os.write(2, f"{LINE}\n".encode())
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
