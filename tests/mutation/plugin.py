"""A pytest plugin: it runs few examples per hypothesis test and, on request, records which test runs which lines.

If RANKADAPTERS_LINES_BY_TEST names a folder, `coverage.*` (lines by test) and `seconds.*.json` are written there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

EXAMPLES = 20  # per hypothesis test: enough to kill most mutants, in a fifth of the time
CASES = "RANKADAPTERS_CASES_A_TEST"  # how many cases of each parametrized test to record
FOLDER = "RANKADAPTERS_LINES_BY_TEST"
LIMIT = "RANKADAPTERS_SECONDS_A_TEST"


def evenly_spread(cases: list[Any], n: int) -> list[Any]:
    """Return n evenly spread entries of a list, including the first and the last, or all if there are fewer."""
    if len(cases) <= n:
        return cases
    return [cases[i * (len(cases) - 1) // (n - 1)] for i in range(n)]


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Let each hypothesis test run few examples, always the same, without shrinking."""
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        original = getattr(test, "_hypothesis_internal_use_settings", None)
        if original is not None:
            test._hypothesis_internal_use_settings = settings(
                original,
                max_examples=min(EXAMPLES, original.max_examples),
                derandomize=True,
                database=None,
                deadline=None,
                phases=(Phase.explicit, Phase.generate),
            )


def processor_seconds() -> float:
    """Return the processor time of this process and its children; wall time would depend on other processes."""
    return sum(os.times()[:4])


class Recorder:
    """Records which lines of the package each test runs, and how long the test takes."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        self.folder, self.seconds, self.passed, self.running = folder, {}, False, False
        self.coverage = Coverage(
            data_file=str(folder / "coverage"), data_suffix=str(os.getpid()), source=["rankadapters"], config_file=False
        )
        self.coverage.start()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep some cases of each parametrized test."""
        by_function: dict[str, list[Any]] = {}
        for item in items:
            by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
        n_cases = int(os.environ.get(CASES, "20"))
        items[:] = [item for cases in by_function.values() for item in evenly_spread(cases, n_cases)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Record the lines and the time of a test."""
        self.coverage.switch_context(item.nodeid)
        self.passed = False
        start = processor_seconds()
        result = yield
        if self.passed:
            self.seconds[item.nodeid] = processor_seconds() - start
            if len(self.seconds) % 100 == 0:
                self.write()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Any:
        """Limit the time of a test."""
        self.running = True
        signal.setitimer(signal.ITIMER_PROF, float(os.environ.get(LIMIT, "120")))
        try:
            return (yield)
        finally:
            self.running = False
            signal.setitimer(signal.ITIMER_PROF, 0)

    def give_up(self, signum: int, frame: Any) -> None:
        """Fail the test, unless it ended in the meantime."""
        if self.running and "coverage" in Path(frame.f_code.co_filename).parts:
            signal.setitimer(signal.ITIMER_PROF, 0.01)  # coverage may hold its lock, which an error would leave locked
        elif self.running:
            self.running = False
            pytest.fail("takes too long")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note whether the test passes: a test that fails without a mutant cannot kill one."""
        if report.when == "call":
            self.passed = report.passed and not hasattr(report, "wasxfail")

    def pytest_sessionfinish(self) -> None:
        """Write the whole record."""
        self.coverage.stop()
        self.write()

    def write(self) -> None:
        """Write the record so far."""
        self.coverage.save()
        (self.folder / f"seconds.{os.getpid()}.json").write_text(json.dumps(self.seconds))


def pytest_configure(config: Any) -> None:
    """Register the recorder of this process, and silence numpy if kernels run as Python."""
    if _recorder is not None:
        config.pluginmanager.register(_recorder)
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        np.seterr(all="ignore")  # compiled kernels do not warn either


_recorder = None
if FOLDER in os.environ and "rankadapters" not in sys.modules:
    _recorder = Recorder(Path(os.environ[FOLDER]))
    signal.signal(signal.SIGPROF, _recorder.give_up)
