"""Tries the mutants of a session: cosmic-ray's database of what is to be mutated, and what came of it."""

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
from tests.mutation.package import dependents, is_kernel
from tests.mutation.places import mutated
from tests.mutation.selection import Lines
from tests.mutation.trees import OF_GRADIENTS, environment
from tests.mutation.worker import KILLED, SURVIVED, TIMEOUT

SECONDS = 10.0  # of processor time, as the tests took when they were recorded, for one mutant
MORE_SECONDS = 15  # of processor time, for importing what is mutated; so many more mean an endless loop
COMPILING = 60  # seconds of processor time
WAITING = 20  # times as long by the clock, on a machine that does other things too, ends what waits for ever
# What runs in processes of engines, where no line is seen, and the tests of it.
OF_DASK = ["tests/dask/test_evaluation.py", "tests/dask/test_actor_exchange.py", "tests/lightgbm/test_distributed.py"]
OF_SPARK = ["tests/spark/test_evaluation.py", "tests/spark/test_query_evaluator.py"]
OF_PARTITIONS = ["tests/partitions/test_rows.py", OF_DASK[0]]
OF_ENGINES = {"dask": OF_DASK, "spark": OF_SPARK, "partitions": OF_PARTITIONS}
# Of kernels of the core, which few tests run in Python, where lines are seen.
OF_EVALUATION = [
    *(f"tests/core/kernels/test_{name}.py" for name in ("every_kernel", "sorting", "against_definition", "dispatch")),
    "tests/core/measures/test_ranked.py", "tests/core/measures/test_values_by_hand.py", "tests/learners/test_trials.py",
]  # fmt: skip
# What reads signatures, fields and sources, and so runs no line of what it tests.
OF_DEFINITIONS = [
    *(f"tests/project/test_{name}.py" for name in ("recorded", "dataclasses", "house", "api_rules")),
    "tests/core/presets/test_presets.py",
]
OF_AN_ENGINE = {"seconds": 300, "wall": 1200}
LAST = {"seconds": 60, "wall": 600, "last": True}  # a round in which time that runs out tells nothing


@contextmanager
def worker(tree: Path) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
    """Start a process in a copy, and hand over what it is asked by."""
    command, pipe = [sys.executable, "-m", "tests.mutation.worker"], subprocess.PIPE
    with subprocess.Popen(command, cwd=tree, env=environment(tree), stdin=pipe, stdout=pipe, text=True) as process:

        def ask(job: dict[str, Any]) -> dict[str, Any]:
            print(json.dumps(job), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


class Session:
    """Mutants of one database, tried in some copies of the checkout."""

    def __init__(self, db: WorkDB, folder: Path, root: Path, seconds: float = SECONDS) -> None:
        self.db, self.seconds = db, seconds
        failing = known_to_fail(folder)
        self.lines = Lines(folder / "lines", root, failing)
        self.lines_of_kernels = Lines(folder / "lines_of_kernels", root, failing)
        # Tests that fail in Python, whose integers are of any size and which takes long, still tell what they call.
        self.compiled_kernels = Lines(folder / "lines_of_kernels", root, failing, self.lines.seconds)
        self.lock = Lock()
        self.queue: SimpleQueue[WorkItem] = SimpleQueue()

    def run(self, items: list[WorkItem], trees: list[Path], minutes: float) -> None:
        """Try mutants for so many minutes, one after the other in each copy."""
        for item in items:
            self.queue.put(item)
        until = monotonic() + 60 * minutes
        with ThreadPoolExecutor(len(trees)) as pool:
            for finished in [pool.submit(self._work, tree, until) for tree in trees]:
                finished.result()

    def _work(self, tree: Path, until: float) -> None:
        with worker(tree) as ask, suppress(Empty):
            while monotonic() < until:
                item = self.queue.get_nowait()
                with self.lock:
                    job, diff = self.job(item)
                answer = ask(job)
                with self.lock:
                    self.db.set_result(item.job_id, result(answer, job, diff))

    def job(self, item: WorkItem) -> tuple[dict[str, Any], str]:
        """What a worker has to do for a mutant, and how the mutant differs."""
        (mutation,) = item.mutations
        module = str(mutation.module_path)
        original = (self.lines.root / module).read_text(encoding="utf-8")
        source = mutated(original, mutation.operator_name, mutation.occurrence)
        diff = "\n".join(
            difflib.unified_diff(original.splitlines(), source.splitlines(), module, module, "", "", 0, "")
        )
        span = mutation.start_pos[0], mutation.end_pos[0]
        rounds = self._rounds(module, *span)
        return {"module": module, "source": source, "number": int(item.job_id), "rounds": rounds}, diff

    def _rounds(self, module: str, first: int, last: int) -> list[dict[str, Any]]:
        of_definitions = [] if Outline.of(self.lines.root / module).is_in_function(first) else OF_DEFINITIONS
        if (engine := Path(module).parts[1]) in OF_ENGINES:
            return [{**self._round([*of_definitions, *OF_ENGINES[engine]], compiled=True), **OF_AN_ENGINE}]
        tests = self.lines.tests(module, first, last, self.seconds)
        if not is_kernel(module):
            every_case = [*of_definitions, *self.lines.functions(module, first, last, tests)]
            return [self._round(tests, compiled=True), {**self._round(every_case, compiled=True), **LAST}]
        in_python = self.lines_of_kernels.tests(module, first, last, self.seconds)
        compiled = self.compiled_kernels.tests(module, first, last, self.seconds)
        stale = sorted(each for each in dependents(self.lines.root, module) if is_kernel(each))
        return [
            self._round(in_python, compiled=False),
            self._round(compiled or tests, compiled=True, stale=stale),
            {**self._round(self._of_kernel(module), compiled=True, stale=stale), "seconds": 400, "wall": 2000},
        ]

    def _of_kernel(self, module: str) -> list[str]:
        of_core = Path(module).parts[1] == "core"
        return OF_EVALUATION if of_core else [*OF_GRADIENTS, *OF_EVALUATION]

    def _round(self, tests: list[str], *, compiled: bool, stale: list[str] | None = None) -> dict[str, Any]:
        lines = self.lines if compiled else self.lines_of_kernels
        baseline = sum(lines.seconds.get(test, 1.0) for test in tests)
        seconds = MORE_SECONDS + 2 * baseline + (COMPILING if stale else 0)
        limits = {"seconds": seconds, "wall": WAITING * seconds, "maxfail": 1, "last": False}
        return {"tests": tests, "compiled": compiled, "stale": stale or [], **limits}

    def distrust(self, tree: Path) -> list[str]:
        """Run all tests that killed a mutant without one; forget what those killed that fail all the same."""
        killed = [(item.job_id, json.loads(result.output)) for item, result in self.db.completed_work_items]
        failing = set[tuple[str, bool]]()
        with worker(tree) as ask:
            for compiled in (True, False):
                killers = sorted({told["killer"] for _, told in killed if told["compiled"] == compiled} - {""})
                test_round = self._round(killers, compiled=compiled) | {"maxfail": 0, "seconds": 3600, "wall": 3600}
                job = {"module": "rankadapters/__init__.py", "source": None, "number": 0, "rounds": [test_round]}
                failing |= {(test, compiled) for test in (ask(job)["killers"] if killers else [])}
        self.forget([job_id for job_id, told in killed if (told["killer"], told["compiled"]) in failing])
        return sorted(test for test, _ in failing)

    def forget(self, job_ids: list[str]) -> None:
        """Take results back."""
        with self.db._session_maker.begin() as session:  # it has no method for one result
            session.query(WorkResultStorage).where(WorkResultStorage.job_id.in_(job_ids)).delete()


def known_to_fail(folder: Path) -> set[str]:
    """Read which tests fail in a worker without a mutant."""
    path = folder / "distrusted.json"
    return set(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else set()


def result(answer: dict[str, Any], job: dict[str, Any], diff: str) -> WorkResult:
    """Put an answer into cosmic-ray's words."""
    n_tests = sum(len(each["tests"]) for each in job["rounds"])
    output = {"killer": (answer["killers"] or [""])[0], "text": answer.get("text", ""), "tests": n_tests}
    output["compiled"] = answer["compiled"]
    output["timeout"] = answer["outcome"] == TIMEOUT
    outcome = TestOutcome.KILLED if answer["outcome"] in {KILLED, TIMEOUT} else TestOutcome.SURVIVED
    assert answer["outcome"] in {KILLED, TIMEOUT, SURVIVED}
    done = WorkerOutcome.NORMAL if n_tests else WorkerOutcome.NO_TEST
    return WorkResult(done, json.dumps(output), outcome, diff)
