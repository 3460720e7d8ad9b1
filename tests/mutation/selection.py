"""The record of which tests run which lines, written by `plugin`, and the choice of tests for a mutant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from tests.mutation.outline import Outline
from tests.mutation.package import imports

MOST_TESTS = 60
MOST_FUNCTIONS = 60
CASES_OF_A_TEST = 2  # more cases run the same code with other data


class RecordedLines:
    """The record in a folder, for the package under `root`."""

    def __init__(
        self, folder: Path, root: Path, failing: Iterable[str] = (), passing: dict[str, float] | None = None
    ) -> None:
        self.root = root
        self.seconds = dict(passing or {})  # by passing test
        for path in [] if passing else folder.glob("seconds.*.json"):
            self.seconds |= json.loads(path.read_text(encoding="utf-8"))
        for test in failing:
            self.seconds.pop(test, None)
        self.by_module: dict[str, dict[int, set[str]]] = {}
        self.width: dict[str, int] = dict.fromkeys(self.seconds, 1)  # how many lines each test runs
        for path in folder.glob("coverage.*"):
            self._add(path)

    def _add(self, path: Path) -> None:
        from coverage import CoverageData

        data = CoverageData(str(path))
        data.read()
        for file in data.measured_files():
            if not Path(file).is_relative_to(self.root):
                continue
            lines = self.by_module.setdefault(str(Path(file).relative_to(self.root)), {})
            for line, contexts in data.contexts_by_lineno(file).items():
                passing = self.seconds.keys() & set(contexts)
                lines.setdefault(line, set()).update(passing)
                for test in passing:
                    self.width[test] += 1

    def tests(self, module: str, first: int, last: int, seconds: float) -> list[str]:
        """Return tests for a mutant on the given lines, the most promising first, within a time in seconds."""
        for candidates in self._candidates(module, first, last):
            if candidates:
                return self._affordable(candidates, seconds)
        return []

    def functions(self, module: str, first: int, last: int, tried: Iterable[str] = ()) -> list[str]:
        """Return test functions, to run with all their cases, for a mutant that survived the tests tried."""
        candidates = next(filter(None, self._candidates(module, first, last)), set())
        by_cost = sorted(candidates - {test for test in tried if "[" not in test}, key=self._cost)
        return list(dict.fromkeys(test.partition("[")[0] for test in by_cost))[:MOST_FUNCTIONS]

    def _candidates(self, module: str, first: int, last: int) -> Iterable[set[str]]:
        """Yield the tests of the lines, of the users of the names they define, of the module, and of its importers."""
        lines, outline = self._lines_of_functions(module), Outline.of_file(self.root / module)
        spans = [(first, last), *outline.spans_around(first)]
        for start, end in spans[:2]:
            yield self._tests_between(lines, start, end)
        yield self._tests_of_users(module, outline.names_defined(first))
        for start, end in spans[2:]:
            yield self._tests_between(lines, start, end)
        yield self._tests_between(lines, 1, 10**9)
        importers = self.importers.get(module, ())
        yield {test for user in importers for test in self._tests_between(self._lines_of_functions(user), 1, 10**9)}

    def _lines_of_functions(self, module: str) -> dict[int, set[str]]:
        """Return the tests by line of functions; other lines run once, at import, in the first test only."""
        outline = Outline.of_file(self.root / module)
        return {line: tests for line, tests in self.by_module.get(module, {}).items() if outline.is_in_function(line)}

    def _tests_of_users(self, module: str, names: set[str]) -> set[str]:
        """Return the tests of the functions that mention a name, in its module and in modules that import it."""
        tests = set()
        for user in {module} | self.importers.get(module, set()):
            lines = self._lines_of_functions(user)
            for line in Outline.of_file(self.root / user).lines_that_mention(names):
                tests |= self._tests_between(lines, line, line)
        return tests

    @staticmethod
    def _tests_between(lines: dict[int, set[str]], first: int, last: int) -> set[str]:
        return set().union(*(tests for line, tests in lines.items() if first <= line <= last))

    def _affordable(self, candidates: set[str], seconds: float) -> list[str]:
        """Return the cheapest tests within the time: fast ones that run few lines, few cases per parametrized test."""
        chosen, seconds_left, cases = [], seconds, dict[str, int]()
        for test in sorted(candidates, key=self._cost):
            function = test.partition("[")[0]
            cases[function] = cases.get(function, 0) + 1
            if cases[function] > CASES_OF_A_TEST or (chosen and self.seconds[test] > seconds_left):
                continue
            chosen.append(test)
            seconds_left -= self.seconds[test]
            if len(chosen) == MOST_TESTS:
                break
        return chosen

    def _cost(self, test: str) -> tuple[float, str]:
        return (self.seconds[test] + 0.02) * self.width[test] ** 0.5, test

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The recorded modules, by the module that they import."""
        importers: dict[str, set[str]] = {}
        for importer in self.by_module:
            for imported in imports(self.root, importer):
                importers.setdefault(imported, set()).add(importer)
        return importers
