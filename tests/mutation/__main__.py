"""Mutation testing: make random small changes to the package, one at a time, and run the tests of the changed line.

A first run of the tests that are not marked `long` records which test runs which line. A mutant that survives these
meets all tests of its folder. The folder `.mutation` keeps the record; delete it after a change.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from tests.helpers.checkout import SHARED
from tests.mutation.forks import Forks
from tests.mutation.mutants import Mutant, sample
from tests.mutation.record import VARIABLE, Record

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / ".mutation"
NOT_COPIED = shutil.ignore_patterns(".git", ".mutation", ".hypothesis", ".tox", ".venv", ".*_cache", "dist")
FIRST_TESTS, MOST_TESTS = 40, 400  # test functions in the first round, and in both
SECONDS = 60  # recorded processor time of the tests of a mutant
STARTING, COMPILING, UNKNOWN = 60, 200, 400  # processor time to start, to compile kernels, of tests without a record
EARLY_IMPORT = "ignore::pytest.PytestAssertRewriteWarning"  # of plugins, in the process that is forked
# Tests of what is made at import, such as fields, presets and limits: a line that runs then is recorded in no test.
TESTS_OF_VALUES = [
    "tests/project/test_recorded.py", "tests/project/test_mistakes.py", "tests/presets/test_presets.py",
    "tests/conformance", "tests/core/test_classes.py", "tests/project/test_dataclasses.py",
]  # fmt: skip
TESTS_OF_KERNELS = {
    "core": ["tests/core/ranking", "tests/core/measures"], "learners": ["tests/learners"],
    "objectives": ["tests/objectives", "tests/core/measures/test_loss.py", "tests/catboost/test_random_losses.py"],
}  # fmt: skip
TESTS_BESIDE = {"tests/statistics": ["tests/audit"]}
OF_THE_COMMAND = ["tests/cli", "tests/faults"]  # which start processes, whose lines are in no record
PASSED, NO_TESTS = 0, 5  # pytest's exit codes


class Result(NamedTuple):
    """What the tests did with a mutant: `survived`, `killed` by the named tests, or `timeout`, which kills it too."""

    outcome: str
    killers: frozenset[str] = frozenset()


def main() -> None:
    """Try a sample of mutants and print the results."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=100, help="number of mutants (100)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the random sample")
    parser.add_argument("--minutes", type=float, default=60, help="start no mutant after this time (60)")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at the same time (2)")
    parser.add_argument("--only", nargs="+", default=["rankadapters"], help="folders whose modules are mutated (all)")
    parser.add_argument("--tests", nargs="+", default=["tests", "rankadapters"], help="tests to record (all)")
    options = parser.parse_args()
    deadline = monotonic() + 60 * options.minutes
    trees = [copied(FOLDER / f"w{number}") for number in range(options.workers)]
    record = Record(recorded(trees[0], options), trees[0])
    mutants = list(enumerate(sample(CHECKOUT, options)))
    untried, results = mutants.copy(), dict[int, Result]()

    def work(tree: Path) -> None:
        with Forks(tree, environment(tree)) as forks:
            while untried and monotonic() < deadline:
                number, mutant = untried.pop(0)
                results[number] = tried(mutant, number, record, tree, forks)
                print(number, mutant.module, mutant.line, *results[number], flush=True)

    with ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(work, trees))
    report(dict(mutants), results, trees[0])


def copied(tree: Path) -> Path:
    """Copy the checkout, unless the copy exists."""
    return tree if tree.is_dir() else Path(shutil.copytree(CHECKOUT, tree, ignore=NOT_COPIED))


def environment(tree: Path) -> dict[str, str]:
    """Return the environment of a process in a copy: its own package, one folder of machine code and one thread."""
    path = os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])
    shared = {"RANKADAPTERS_SHARED": str(SHARED)} if SHARED.is_dir() else {}
    own = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(FOLDER / "numba"), "OMP_NUM_THREADS": "1"}
    return {**os.environ, **shared, **own}


def recorded(tree: Path, options: argparse.Namespace) -> Path:
    """Return the folder of the record, after running all tests if there is none."""
    folder, unfinished = FOLDER / "record", FOLDER / "unfinished"
    if not folder.is_dir():
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        plugins = ["-p", "tests.mutation.record", "-n", str(options.workers), "--dist", "loadfile"]
        command = [sys.executable, "-m", "pytest", "-q", *plugins, *options.tests]
        subprocess.run(command, cwd=tree, env=environment(tree) | {VARIABLE: str(unfinished)}, check=False)
        unfinished.rename(folder)
    return folder


def tried(mutant: Mutant, number: int, record: Record, tree: Path, forks: Forks) -> Result:
    """Run the tests of a mutant until one fails."""
    path, result = tree / mutant.module, Result("survived")
    original, time = path.read_text(encoding="utf-8"), path.stat().st_mtime
    path.write_text(mutant.source, encoding="utf-8")
    os.utime(path, (time, time + number + 1))  # a time of its own, by which Python knows that compiled code is old
    compiling = COMPILING if path.parent.name in {"kernels", "ranking"} else 0
    try:
        for tests in rounds(mutant, record):
            seconds = 3 * sum(record.seconds.get(test, UNKNOWN) for test in tests)
            result = run(tests, forks, STARTING + compiling + seconds, "-x")
            if result.outcome != "survived":
                break
    finally:
        path.write_text(original, encoding="utf-8")
        os.utime(path, (time, time))
    return result


def rounds(mutant: Mutant, record: Record) -> list[list[str]]:
    """Return the tests of a mutant: fast ones that run few other lines, others within the time, its folder."""
    if mutant.is_kernel:  # first the tests whose time is known, since a loop without end runs until the limit
        folders = TESTS_OF_KERNELS[Path(mutant.module).parts[1]]
        return [[test for test in record.seconds if test.startswith(tuple(folders))], folders]
    of_line = record.tests_of(mutant.module, mutant.line)
    chosen, seconds = [], SECONDS
    for test in dict.fromkeys([*of_line, *record.tests_of(mutant.module)]):
        if len(chosen) < MOST_TESTS and record.seconds[test] < seconds:
            chosen.append(test)
            seconds -= record.seconds[test]
    folder = "/".join(["tests", *Path(mutant.module).parts[1:2]])
    of_folder = [folder, *TESTS_BESIDE.get(folder, [])] if (CHECKOUT / folder).is_dir() else OF_THE_COMMAND
    parts = [chosen[:FIRST_TESTS], chosen[FIRST_TESTS:], [] if of_line else TESTS_OF_VALUES, of_folder]
    return [tests for tests in parts if tests]


def run(tests: list[str], forks: Forks, seconds: float, *more: str) -> Result:
    """Run tests and return whether one fails, or whether they need more than some seconds of processor time."""
    options = ["-q", "-m", "", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-W", EARLY_IMPORT, *more]
    code, output = forks.run([*options, *tests], seconds)
    if code in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Result("timeout")
    killers = re.findall(r"^(?:FAILED|ERROR) ([^\s[]+)", output, re.MULTILINE)
    return Result("survived" if code in {PASSED, NO_TESTS} else "killed", frozenset(killers))


def report(mutants: dict[int, Mutant], results: dict[int, Result], tree: Path) -> None:
    """Print the rates outside kernels and in them, and the mutants that survived.

    A kill does not count if its test fails without a mutant, too.
    """
    killers = sorted(set().union(*(result.killers for result in results.values())))
    with Forks(tree, environment(tree)) as forks:
        failing = run(killers, forks, 3600).killers if killers else frozenset()
    killed = {n for n, result in results.items() if result.outcome != "survived" and not result.killers & failing}
    for name, is_kernel in (("outside kernels", False), ("in kernels", True)):
        tried_mutants = {number for number in results if mutants[number].is_kernel == is_kernel}
        print(f"{name}: {len(tried_mutants & killed)} of {len(tried_mutants)} killed")
    print(f"not tried: {len(mutants) - len(results)}; tests that fail without a mutant: {sorted(failing)}")
    for number in sorted(results.keys() - killed):
        print(f"\n{number}: survived\n{mutants[number].diff}")


if __name__ == "__main__":
    main()
