"""Try mutants in a copy of the checkout: `python -m tests.mutation.worker` reads a job and writes an answer per line.

Other packages are imported once. For each mutant, a fork of this process imports our package with the mutated file,
and runs pytest.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import signal
import sys
import traceback
from contextlib import contextmanager, suppress
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from time import monotonic, sleep
from typing import Any

HEAVY = (
    *("numpy", "numpy.testing", "numba", "numba.core.caching", "numba.core.registry", "pytest", "_pytest.doctest"),
    *("hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "hypothesis.stateful", "pandas", "scipy.stats"),
    *("sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline", "sklearn.ensemble", "lightgbm", "xgboost"),
    *("sklearn.utils.estimator_checks", "catboost.utils", "pyarrow.parquet", "pyarrow.csv", "joblib"),
)
SURVIVED, KILLED, TIMEOUT = "survived", "killed", "timeout"
PASSED, NOT_COLLECTED, NOT_FOUND = 0, 2, 4  # exit codes of pytest
MEMORY = 12 << 30


class Witness:
    """A pytest plugin that writes which tests failed, and the error of the first."""

    def __init__(self, folder: Path) -> None:
        self.failed, self.text = folder / "failed", folder / "text"

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write the name of a failed test."""
        if report.failed:
            with self.failed.open("a") as file:
                print(report.nodeid, file=file)
            if not self.text.exists():
                self.text.write_text(str(report.longrepr)[-1500:])


def answer(job: dict[str, Any], tree: Path) -> dict[str, Any]:
    """Run the rounds of tests with the mutated file, until one round kills the mutant."""
    result: dict[str, Any] = {"outcome": SURVIVED, "killers": [], "compiled": True}
    with mutated_file(tree / job["module"], job["source"], job["number"], tree):
        for test_round in filter(itemgetter("tests"), job["rounds"]):
            result = run(test_round, tree) | {"compiled": test_round["compiled"]}
            if result["outcome"] == TIMEOUT and test_round["last"]:
                result["outcome"] = SURVIVED
            if result["outcome"] != SURVIVED:
                break
    return result


@contextmanager
def mutated_file(path: Path, source: str | None, number: int, tree: Path) -> Any:
    """Write a mutant to a file with a unique time, and put the original back afterwards."""
    if source is None:  # nothing is mutated
        yield
        return
    original = _backup(tree)
    shutil.copy2(path, original)
    original.with_suffix(".path").write_text(str(path))
    time = path.stat().st_mtime_ns + (number + 1000) * 1_000_000_000
    path.write_text(source, encoding="utf-8")
    os.utime(path, ns=(time, time))
    try:
        yield
    finally:
        put_back(tree)


def put_back(tree: Path) -> None:
    """Undo a mutation, also one of an earlier worker that was stopped."""
    original = _backup(tree)
    path_file = original.with_suffix(".path")
    if path_file.exists():
        shutil.copy2(original, path_file.read_text(encoding="utf-8"))
        path_file.unlink()


def _backup(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.original")


def run(test_round: dict[str, Any], tree: Path) -> dict[str, Any]:
    """Run tests in a fork and return whether all pass, one fails, or they take too long."""
    scratch = tree.parent / f"{tree.name}.scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    child = os.fork()
    if child == 0:
        _run_child(test_round, tree, scratch)
    status = _wait(child, monotonic() + test_round["wall"])
    if status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}):
        return {"outcome": TIMEOUT, "killers": []}
    if status == PASSED:
        return {"outcome": SURVIVED, "killers": []}
    output = (scratch / "output").read_text(errors="replace")[-2000:]
    if (scratch / "failed").exists():
        killers = (scratch / "failed").read_text(encoding="utf-8").split("\n")[:-1]
        return {"outcome": KILLED, "killers": killers, "text": (scratch / "text").read_text(encoding="utf-8")}
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) not in {NOT_COLLECTED, NOT_FOUND}:
        raise RuntimeError(f"the tests do not run: {output}")
    return {"outcome": KILLED, "killers": [], "text": output}


def _wait(child: int, deadline: float) -> int | None:
    """Wait for a child, end its processes and return its status; None if it had to be killed."""
    pause, status = 0.01, None
    while monotonic() < deadline:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            break
        status = None
        sleep(pause)
        pause = min(pause * 1.2, 0.2)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status


def _run_child(test_round: dict[str, Any], tree: Path, scratch: Path) -> None:
    code = 3
    try:
        os.setsid()
        output = os.open(scratch / "output", os.O_CREAT | os.O_WRONLY)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        seconds = int(test_round["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.environ |= {"TMPDIR": str(scratch), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        sys.dont_write_bytecode = True
        _set_numba(test_round, scratch)
        import pytest

        code = int(pytest.main(_arguments(test_round, scratch), plugins=[Witness(scratch)]))
    except BaseException:  # noqa: BLE001 - a fork must not go on as if it were its parent
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _arguments(test_round: dict[str, Any], scratch: Path) -> list[str]:
    """Return pytest's arguments: as in pyproject.toml, but doctests are collected only if there is one to run."""
    tests = test_round["tests"]
    options = ["--import-mode=importlib", "--strict-config", "--strict-markers"]
    if any(not test.startswith("tests/") for test in tests):
        options.append("--doctest-modules")
    options += ["-o", "addopts=", "-q", "--no-header", "-p", "no:cacheprovider", "--tb=short"]
    options += ["-p", "tests.mutation.plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return [*options, f"--maxfail={test_round['maxfail']}", f"--basetemp={scratch / 'pytest'}", *tests]


def _set_numba(test_round: dict[str, Any], scratch: Path) -> None:
    """Choose Python or machine code; after a change in a folder of kernels all kernels are compiled again."""
    from numba import config

    if not test_round["compiled"]:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        config.DISABLE_JIT = True
    if test_round["recompiled"]:
        os.environ["NUMBA_CACHE_DIR"] = str(scratch / "numba")


def main() -> None:
    """Answer jobs until the input ends."""
    for name in HEAVY:
        with suppress(ImportError):
            import_module(name)
    tree = Path.cwd()
    put_back(tree)
    answers = os.fdopen(os.dup(1), "w")
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), tree)), file=answers, flush=True)


if __name__ == "__main__":
    main()
