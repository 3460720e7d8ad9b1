"""Which tests run which lines, as `plugin` recorded it, and which of them a mutant is tried with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from tests.mutation.outline import Outline
from tests.mutation.package import imports

MOST_TESTS = 60
MOST_FUNCTIONS = 60
CASES_OF_A_TEST = 2  # of those recorded: the same code with other data


class Lines:
    """What was recorded in one folder, of the package under `root`."""

    def __init__(
        self, folder: Path, root: Path, failing: Iterable[str] = (), passing: dict[str, float] | None = None
    ) -> None:
        self.root = root
        self.seconds = dict(passing or {})  # of the tests that pass
        for path in [] if passing else folder.glob("seconds.*.json"):
            self.seconds |= json.loads(path.read_text(encoding="utf-8"))
        for test in failing:
            self.seconds.pop(test, None)
        self.by_module: dict[str, dict[int, set[str]]] = {}
        self.width: dict[str, int] = dict.fromkeys(self.seconds, 1)  # lines that a test runs
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
        """Choose tests for a mutant on some lines of a module, the most telling first, for so many seconds."""
        for candidates in self._candidates(module, first, last):
            if candidates:
                return self._affordable(candidates, seconds)
        return []

    def functions(self, module: str, first: int, last: int, tried: Iterable[str] = ()) -> list[str]:
        """Choose test functions, each with all its cases, for a mutant that survived the tests tried."""
        candidates = next(filter(None, self._candidates(module, first, last)), set())
        by_price = sorted(candidates - {test for test in tried if "[" not in test}, key=lambda t: (self._price(t), t))
        return list(dict.fromkeys(test.partition("[")[0] for test in by_price))[:MOST_FUNCTIONS]

    def _candidates(self, module: str, first: int, last: int) -> Iterable[set[str]]:
        """Tests of the lines, or of what uses what they define, or of the module, or of its importers."""
        lines, outline = self._run_by_calls(module), Outline.of(self.root / module)
        spans = [(first, last), *outline.around(first)]
        for start, end in spans[:2]:
            yield self._of(lines, start, end)
        yield self._users(module, outline.defined(first))
        for start, end in spans[2:]:
            yield self._of(lines, start, end)
        yield self._of(lines, 1, 10**9)
        importers = self.importers.get(module, ())
        yield {test for each in importers for test in self._of(self._run_by_calls(each), 1, 10**9)}

    def _run_by_calls(self, module: str) -> dict[int, set[str]]:
        """Lines of functions; what runs once, at the import, tells only which test came first."""
        outline = Outline.of(self.root / module)
        return {line: tests for line, tests in self.by_module.get(module, {}).items() if outline.is_in_function(line)}

    def _users(self, module: str, names: set[str]) -> set[str]:
        """Tests of the functions that mention a name, in its module and in those that import it."""
        found = set()
        for each in {module} | self.importers.get(module, set()):
            lines = self._run_by_calls(each)
            for line in Outline.of(self.root / each).mentions(names):
                found |= self._of(lines, line, line)
        return found

    @staticmethod
    def _of(lines: dict[int, set[str]], first: int, last: int) -> set[str]:
        return set().union(*(tests for line, tests in lines.items() if first <= line <= last))

    def _affordable(self, candidates: set[str], seconds: float) -> list[str]:
        """Fast tests that run little else come first; few cases of each parametrized test."""
        chosen, left, cases = [], seconds, dict[str, int]()
        for test in sorted(candidates, key=lambda test: (self._price(test), test)):
            function = test.partition("[")[0]
            cases[function] = cases.get(function, 0) + 1
            if cases[function] > CASES_OF_A_TEST or (chosen and self.seconds[test] > left):
                continue
            chosen.append(test)
            left -= self.seconds[test]
            if len(chosen) == MOST_TESTS:
                break
        return chosen

    def _price(self, test: str) -> float:
        return (self.seconds[test] + 0.02) * self.width[test] ** 0.5

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """Modules that were recorded, by the module that they import."""
        found: dict[str, set[str]] = {}
        for importer in self.by_module:
            for imported in imports(self.root, importer):
                found.setdefault(imported, set()).add(importer)
        return found
