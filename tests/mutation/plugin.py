"""A pytest plugin: few examples a hypothesis test, and on request a record of which test runs which lines.

`pytest -p tests.mutation.plugin --record=FOLDER` writes `coverage.*` (lines by test) and `seconds.*.json` there.
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

EXAMPLES = 20  # of each hypothesis test: enough to see most mutants, and a fifth of the time
CASES = "RANKADAPTERS_CASES_A_TEST"  # of each parametrized test, spread evenly
FOLDER = "RANKADAPTERS_LINES_BY_TEST"
LIMIT = "RANKADAPTERS_SECONDS_A_TEST"


def some_of(cases: list[Any], n: int) -> list[Any]:
    """Choose n of a list, the first and the last among them, or all where there are no more."""
    if len(cases) <= n:
        return cases
    return [cases[i * (len(cases) - 1) // (n - 1)] for i in range(n)]


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Give each hypothesis test few examples, always the same, and no shrinking of what fails."""
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given is not None:
            test._hypothesis_internal_use_settings = settings(
                given,
                max_examples=min(EXAMPLES, given.max_examples),
                derandomize=True,
                database=None,
                deadline=None,
                phases=(Phase.explicit, Phase.generate),
            )


def processor_seconds() -> float:
    """What this process and those that it started took; the clock would tell what else the machine does."""
    return sum(os.times()[:4])


class Recorder:
    """Which lines of the package each test runs, and how long it takes."""

    def __init__(self, folder: Path) -> None:
        from coverage import Coverage

        self.folder, self.seconds, self.passed, self.running = folder, {}, False, False
        self.coverage = Coverage(
            data_file=str(folder / "coverage"), data_suffix=str(os.getpid()), source=["rankadapters"], config_file=False
        )
        self.coverage.start()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Take some cases of each parametrized test."""
        by_function: dict[str, list[Any]] = {}
        for item in items:
            by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
        items[:] = [item for cases in by_function.values() for item in some_of(cases, int(os.environ.get(CASES, "20")))]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Name the test to coverage."""
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
        """Let a test fail that takes too long to be of use."""
        self.running = True
        signal.setitimer(signal.ITIMER_PROF, float(os.environ.get(LIMIT, "120")))
        try:
            return (yield)
        finally:
            self.running = False
            signal.setitimer(signal.ITIMER_PROF, 0)

    def give_up(self, signum: int, frame: Any) -> None:
        """End the test, unless it ended meanwhile."""
        if self.running:
            self.running = False
            pytest.fail("takes too long")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note whether the test passes: what fails without a mutant says nothing about one."""
        if report.when == "call":
            self.passed = report.passed and not hasattr(report, "wasxfail")

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        self.coverage.stop()
        self.write()

    def write(self) -> None:
        """Write what was seen so far."""
        self.coverage.save()
        (self.folder / f"seconds.{os.getpid()}.json").write_text(json.dumps(self.seconds))


def pytest_configure(config: Any) -> None:
    """Record in this process, which with xdist is one of several; let kernels run in Python where that is asked for."""
    if _recorder is not None:
        config.pluginmanager.register(_recorder)
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        np.seterr(all="ignore")  # as machine code does


_recorder = None
if FOLDER in os.environ and "rankadapters" not in sys.modules:
    _recorder = Recorder(Path(os.environ[FOLDER]))
    signal.signal(signal.SIGPROF, _recorder.give_up)
