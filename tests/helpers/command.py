"""The command, run in the process of the test."""

from __future__ import annotations

import gc
import io
import json

from rankadapters import cli


class Terminal(io.StringIO):
    """A text stream that claims to be a terminal."""

    def isatty(self):
        return True


def run(*arguments):
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code


def output_of(capsys, *arguments, code=0, note=""):
    """Run the command, check its exit code and its text on stderr, and return its text on stdout."""
    capsys.readouterr()
    gc.disable()  # a progress bar that another test left open must not write its last line now
    try:
        assert run(*arguments) == code
        out, err = capsys.readouterr()
    finally:
        gc.enable()
    assert err == note, (err, note)
    return out


def report_of(capsys, *arguments, note=""):
    return json.loads(output_of(capsys, *arguments, "--format", "json", note=note))


def error_of(capsys, *arguments):
    """Run the command, check that it exits with 2 and one line on stderr, and return that line."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("rankadapters: error: ")
    return err
