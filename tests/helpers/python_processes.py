"""Python in a process of its own: run to its end, or started and killed."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 300  # seconds: far more than any of this takes, on any machine
UNABLE = 77
# Root may write everything. Without CAP_DAC_OVERRIDE, which a new program cannot get back, permissions hold for it too.
HELD = f"""
import ctypes, os, sys
if os.geteuid() == 0 and ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
    sys.exit({UNABLE})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""

posix = pytest.mark.skipif(os.name != "posix", reason="signals and permissions of POSIX")


def environment(changed):
    """Give the environment of this process with changes; None takes a variable out."""
    merged = {**os.environ, "PYTHONPATH": str(ROOT), **changed}
    return {name: str(each) for name, each in merged.items() if each is not None}


def python(*arguments, cwd=ROOT, held=False, code=0, **changed):
    """Run Python to its end and check its exit code; `held` to permissions even if we are root."""
    done = subprocess.run(
        [sys.executable, *(("-c", HELD) if held else ()), *map(str, arguments)],
        cwd=cwd, env=environment(changed), capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    if held and done.returncode == UNABLE:
        pytest.skip("root may write everything here")
    assert done.returncode == code, done.stderr
    return done


@contextmanager
def started(*arguments, cwd=ROOT, **changed):
    """Start Python, and kill it at the end."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=cwd, env=environment(changed), text=True, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
