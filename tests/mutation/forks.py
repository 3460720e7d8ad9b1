"""A process that imports the packages of the tests once, and runs pytest in forks of itself, which start at once."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, Self

PACKAGES = ["pytest", "hypothesis", "numba", "pandas", "scipy.stats", "sklearn.model_selection", "lightgbm", "xgboost",
            "catboost", "polars", "pyarrow"]  # fmt: skip
MEMORY = 12 << 30  # bytes


class Ended(NamedTuple):
    """How a run of pytest ended: its exit code, or minus the signal that killed it, and what it printed."""

    code: int
    output: str


class Forks:
    """A running process of this module, which uses the package and the settings of one copy of the checkout."""

    def __init__(self, tree: Path, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", __name__]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=tree, env=environment, text=True, **pipes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def run(self, arguments: list[str], seconds: float) -> Ended:
        """Run pytest, for so many seconds of processor time at most."""
        print(json.dumps([arguments, seconds]), file=self.process.stdin, flush=True)
        return Ended(*json.loads(self.process.stdout.readline()))


def serve() -> None:
    """Run pytest for each line of standard input, and print how each run ended."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print is no answer
    for package in PACKAGES:
        with suppress(ImportError):
            import_module(package)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output:
            arguments, seconds = json.loads(line)
            code = ended(run_forked(arguments, seconds, output), 20 * seconds)  # a mutant may wait for ever
            output.seek(0)
            print(json.dumps([code, output.read().decode(errors="replace")]), file=answers, flush=True)


def run_forked(arguments: list[str], seconds: float, output: Any) -> int:
    """Start pytest in a forked process and return the number of that process."""
    import pytest

    if process := os.fork():
        return process
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        code = int(pytest.main(arguments))
        sys.stdout.flush()
    finally:
        os._exit(code)


def ended(process: int, seconds: float) -> int:
    """Wait for a process, at most so many seconds; kill it and what it has started, and return its exit code."""
    deadline = monotonic() + seconds
    done, status = os.waitpid(process, os.WNOHANG)
    while not done and monotonic() < deadline:
        sleep(0.02)
        done, status = os.waitpid(process, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    if not done:
        _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    serve()
