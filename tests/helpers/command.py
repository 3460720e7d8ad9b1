"""Ways to run the command inside a test."""

from __future__ import annotations

import gc
import io

from rankadapters import cli


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


def run(*arguments):
    """Return the exit code."""
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


def printed(capsys, *arguments, code=0, note=""):
    """Check the exit code and the text on stderr, and return the text on stdout."""
    capsys.readouterr()
    gc.disable()  # a progress bar that another test left open must not write its last line now
    try:
        assert run(*arguments) == code
        out, err = capsys.readouterr()
    finally:
        gc.enable()
    assert err == note, (err, note)
    return out


def refused(capsys, *arguments):
    """Check that the command exits with 2 and one line, and return the line."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("rankadapters: error: ")
    return err
