"""Python in processes of its own, and what sessions of pytest in them load."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.helpers.checkout import CHECKOUT

TIMEOUT = 300  # seconds; everything here is far faster on any machine
CANNOT_DROP = 77  # exit code
# Root may write every file. Without CAP_DAC_OVERRIDE, which a new program cannot regain, permissions hold for root too.
DROP_ROOT_PERMISSIONS = f"""
import ctypes, os, sys
if os.geteuid() == 0 and ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
    sys.exit({CANNOT_DROP})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
# Defines a function that waits for a signal. Another call that blocks would miss a signal that comes just before it.
WAIT_FOR_SIGNAL = """
import os, signal
def wait_for_signal():
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    print("begun", flush=True)
    os.read(reader, 1)
"""

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and permissions of POSIX")


def run_python(*arguments, cwd=CHECKOUT, without_root=False, code=0, **variables):
    """Run Python to its end, check its exit code, and return the finished process.

    `variables` change the environment. With `without_root`, permissions of files hold even if we are root.
    """
    process = subprocess.run(
        [sys.executable, *(("-c", DROP_ROOT_PERMISSIONS) if without_root else ()), *map(str, arguments)],
        cwd=cwd, env=_environment(variables), capture_output=True, text=True, check=False, timeout=TIMEOUT,
    )  # fmt: skip
    if without_root and process.returncode == CANNOT_DROP:
        pytest.skip("root may write everything here")
    assert process.returncode == code, process.stderr
    return process


@contextmanager
def start_python(*arguments, cwd=CHECKOUT, **variables):
    """Start Python, yield the process, and kill it at the end; `variables` change the environment."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=cwd, env=_environment(variables), text=True, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _environment(changes):
    """Return the environment of this process with changes; None removes a variable."""
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT), **changes}
    return {name: str(value) for name, value in variables.items() if value is not None}


# The plugin of this checkout, and no installed plugin.
PLUGIN_OPTIONS = (
    *("-p", "rankadapters.pytest_plugin", "-p", "no:cacheprovider"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"  # environment variable

PREAMBLE = """
import numpy as np
import pytest
import rankadapters as ra

labels, scores, qid = [2, 0, 1, 1, 0], [0.5, 0.9, 0.1, 0.25, 0.75], [1, 1, 1, 2, 2]
tied = [0.5, 0.5, 0.5, 0.25, 0.25]
"""
