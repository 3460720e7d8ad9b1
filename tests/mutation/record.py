"""A record of which test function runs which lines, made by a pytest plugin: `-p tests.mutation.record`.

Lines of kernels, which are machine code, are not recorded.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData

VARIABLE = "RANKADAPTERS_RECORD"  # names the folder of the record


class Record:
    """The test functions by line, and their seconds; tests that fail without a mutant are left out."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.seconds: dict[str, float] = {}
        self.tests: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.n_lines: dict[str, int] = defaultdict(int)
        for path in folder.glob("*.json"):
            self.seconds |= json.loads(path.read_text(encoding="utf-8"))
        for path in folder.glob("coverage.*"):
            data = CoverageData(str(path))
            data.read()
            for file in data.measured_files():
                lines = self.tests[str(Path(file).relative_to(root))]
                for line, contexts in data.contexts_by_lineno(file).items():
                    lines[line] |= self.seconds.keys() & set(contexts)
                    for test in lines[line]:
                        self.n_lines[test] += 1

    def tests_of(self, module: str, line: int | None = None) -> list[str]:
        """Return the tests that run a line, or any line, of a module; first those that are fast and run few lines."""
        lines = self.tests[module]
        tests = set().union(*lines.values()) if line is None else lines[line]
        return sorted(tests, key=lambda test: ((self.seconds[test] + 0.02) * self.n_lines[test] ** 0.5, test))


class Recorder:
    """The plugin."""

    def __init__(self, folder: Path) -> None:
        self.file, self.seconds, self.failed = folder / f"{os.getpid()}.json", defaultdict[str, float](float), set()
        self.coverage = Coverage(
            data_file=str(folder / "coverage"), data_suffix=True, source=["rankadapters"], config_file=False
        )
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Record the lines and the processor time of a test."""
        test = item.nodeid.partition("[")[0]
        self.coverage.switch_context(test)
        start = sum(os.times()[:4])
        result = yield
        self.seconds[test] += sum(os.times()[:4]) - start
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the tests that fail."""
        if report.failed:
            self.failed.add(report.nodeid.partition("[")[0])

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        self.coverage.stop()
        self.coverage.save()
        self.file.write_text(json.dumps({test: s for test, s in self.seconds.items() if test not in self.failed}))


def pytest_configure(config: Any) -> None:
    """Record in the processes that run tests."""
    if VARIABLE in os.environ and not getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(Recorder(Path(os.environ[VARIABLE])))
