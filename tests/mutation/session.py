"""Try the mutants of a session, which is a database of cosmic-ray with mutants and results."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from time import monotonic
from typing import Any

from cosmic_ray.work_db import WorkDB, WorkResultStorage
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from tests.mutation.outline import Outline
from tests.mutation.package import is_kernel
from tests.mutation.places import mutate
from tests.mutation.selection import RecordedLines
from tests.mutation.trees import GRADIENT_TESTS, environment
from tests.mutation.worker import KILLED, SURVIVED, TIMEOUT

SECONDS = 10.0  # recorded processor time of the tests for one mutant
MORE_SECONDS = 15  # extra processor time, for imports; a mutant that needs more is in an endless loop
COMPILING = 100  # extra seconds of processor time to compile all kernels
WAITING = 20  # limit of wall time over processor time: it ends mutants that wait for ever
# Tests of code that runs in the processes of engines, where no lines are recorded.
DASK_TESTS = [
    "tests/dask/test_evaluation.py", "tests/dask/test_queue_exchange.py", "tests/lightgbm/test_distributed.py",
]  # fmt: skip
SPARK_TESTS = ["tests/spark/test_evaluation.py", "tests/spark/test_query_evaluator.py"]
PARTITION_TESTS = ["tests/partitions/test_rows.py", DASK_TESTS[0]]
ENGINE_TESTS = {"dask": DASK_TESTS, "spark": SPARK_TESTS, "partitions": PARTITION_TESTS}
# Tests of kernels of the core: few tests run kernels as Python, where lines are recorded.
EVALUATION_TESTS = [
    *(f"tests/core/ranking/test_{name}.py" for name in ("sorting", "against_definition")),
    "tests/core/measures/test_ranked.py", "tests/core/measures/test_values_by_hand.py", "tests/learners/test_trials.py",
]  # fmt: skip
# Tests that read signatures, fields and sources, and so run no line of the tested code.
DEFINITION_TESTS = [
    *(f"tests/project/test_{name}.py" for name in ("recorded", "dataclasses", "api_rules")),
    "tests/presets/test_presets.py", "tests/core/declaration/test_wrong_calls.py", "tests/project/test_imports.py",
]  # fmt: skip
ENGINE_LIMITS = {"seconds": 300, "wall": 1200}
LAST_ROUND = {"seconds": 60, "wall": 600, "last": True}  # the round in which a timeout does not kill the mutant


@contextmanager
def worker(tree: Path) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    """Start a worker process in a copy of the checkout, and yield the function that sends it a job."""
    command, pipe = [sys.executable, "-m", "tests.mutation.worker"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tree, env=environment(tree), stdin=pipe, stdout=pipe, text=True) as process:

        def ask(job: dict[str, Any]) -> dict[str, Any]:
            print(json.dumps(job), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


class Session:
    """The mutants of a database, tried in copies of the checkout."""

    def __init__(self, db: WorkDB, folder: Path, root: Path, seconds: float = SECONDS) -> None:
        self.db, self.seconds = db, seconds
        failing = distrusted_tests(folder)
        self.lines = RecordedLines(folder / "lines", root, failing)
        self.lines_of_kernels = RecordedLines(folder / "lines_of_kernels", root, failing)
        # Tests may fail if kernels run as slow Python without integer overflow; their lines are used all the same.
        self.compiled_kernels = RecordedLines(folder / "lines_of_kernels", root, failing, self.lines.seconds)
        self.lock = Lock()
        self.queue: SimpleQueue[WorkItem] = SimpleQueue()

    def run(self, items: list[WorkItem], trees: list[Path], minutes: float) -> None:
        """Try mutants for some minutes, one after the other in each copy."""
        for item in items:
            self.queue.put(item)
        deadline = monotonic() + 60 * minutes
        with ThreadPoolExecutor(len(trees)) as pool:
            for future in [pool.submit(self._work, tree, deadline) for tree in trees]:
                future.result()

    def _work(self, tree: Path, deadline: float) -> None:
        with worker(tree) as ask, suppress(Empty):
            while monotonic() < deadline:
                item = self.queue.get_nowait()
                with self.lock:
                    job, diff = self.job(item)
                answer = ask(job)
                with self.lock:
                    self.db.set_result(item.job_id, result(answer, job, diff))

    def job(self, item: WorkItem) -> tuple[dict[str, Any], str]:
        """Return the job of a worker for a mutant, and the diff of the mutant."""
        (mutation,) = item.mutations
        module = str(mutation.module_path)
        original = (self.lines.root / module).read_text(encoding="utf-8")
        source = mutate(original, mutation.operator_name, mutation.occurrence)
        diff = "\n".join(
            difflib.unified_diff(original.splitlines(), source.splitlines(), module, module, "", "", 0, "")
        )
        span = mutation.start_pos[0], mutation.end_pos[0]
        rounds = self._rounds(module, *span)
        return {"module": module, "source": source, "number": int(item.job_id), "rounds": rounds}, diff

    def _rounds(self, module: str, first: int, last: int) -> list[dict[str, Any]]:
        definition_tests = [] if Outline.of_file(self.lines.root / module).is_in_function(first) else DEFINITION_TESTS
        folder = Path(module).parts[1]
        if folder in ENGINE_TESTS:
            return [{**self._round([*definition_tests, *ENGINE_TESTS[folder]], compiled=True), **ENGINE_LIMITS}]
        tests = self.lines.tests(module, first, last, self.seconds)
        recompiled = "kernels" in Path(module).parts
        if not is_kernel(module):
            all_cases = [*definition_tests, *self.lines.functions(module, first, last, tests)]
            options = {"compiled": True, "recompiled": recompiled}
            return [self._round(tests, **options), {**self._round(all_cases, **options), **LAST_ROUND}]
        in_python = self.lines_of_kernels.tests(module, first, last, self.seconds)
        compiled = self.compiled_kernels.tests(module, first, last, self.seconds)
        kernel_tests = EVALUATION_TESTS if folder == "core" else [*GRADIENT_TESTS, *EVALUATION_TESTS]
        return [
            self._round(in_python, compiled=False),
            self._round(compiled or tests, compiled=True, recompiled=True),
            {**self._round(kernel_tests, compiled=True, recompiled=True), "seconds": 400, "wall": 2000},
        ]

    def _round(self, tests: list[str], *, compiled: bool, recompiled: bool = False) -> dict[str, Any]:
        lines = self.lines if compiled else self.lines_of_kernels
        baseline = sum(lines.seconds.get(test, 1.0) for test in tests)
        seconds = MORE_SECONDS + 2 * baseline + (COMPILING if recompiled else 0)
        limits = {"seconds": seconds, "wall": WAITING * seconds, "maxfail": 1, "last": False}
        return {"tests": tests, "compiled": compiled, "recompiled": recompiled, **limits}

    def distrust(self, tree: Path) -> list[str]:
        """Run all tests that killed a mutant, without mutants; forget the kills of those that fail."""
        killed = [(item.job_id, json.loads(result.output)) for item, result in self.db.completed_work_items]
        failing = set[tuple[str, bool]]()
        with worker(tree) as ask:
            for compiled in (True, False):
                killers = sorted({output["killer"] for _, output in killed if output["compiled"] == compiled} - {""})
                test_round = self._round(killers, compiled=compiled) | {"maxfail": 0, "seconds": 3600, "wall": 3600}
                job = {"module": "rankadapters/__init__.py", "source": None, "number": 0, "rounds": [test_round]}
                failing |= {(test, compiled) for test in (ask(job)["killers"] if killers else [])}
        self.forget([job_id for job_id, output in killed if (output["killer"], output["compiled"]) in failing])
        return sorted(test for test, _ in failing)

    def forget(self, job_ids: list[str]) -> None:
        """Delete results."""
        with self.db._session_maker.begin() as session:  # WorkDB has no method to delete one result
            session.query(WorkResultStorage).where(WorkResultStorage.job_id.in_(job_ids)).delete()


def distrusted_tests(folder: Path) -> set[str]:
    """Return the tests that fail in a worker without a mutant."""
    path = folder / "distrusted.json"
    return set(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else set()


def result(answer: dict[str, Any], job: dict[str, Any], diff: str) -> WorkResult:
    """Return the result for cosmic-ray from the answer of a worker."""
    n_tests = sum(len(test_round["tests"]) for test_round in job["rounds"])
    output = {"killer": (answer["killers"] or [""])[0], "text": answer.get("text", ""), "tests": n_tests}
    output["compiled"] = answer["compiled"]
    output["timeout"] = answer["outcome"] == TIMEOUT
    outcome = TestOutcome.KILLED if answer["outcome"] in {KILLED, TIMEOUT} else TestOutcome.SURVIVED
    assert answer["outcome"] in {KILLED, TIMEOUT, SURVIVED}
    worker_outcome = WorkerOutcome.NORMAL if n_tests else WorkerOutcome.NO_TEST
    return WorkResult(worker_outcome, json.dumps(output), outcome, diff)
