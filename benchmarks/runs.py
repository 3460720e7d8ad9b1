"""CPU time of commands that evaluate a TREC run from files: ours and other programs'."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.timing import medians, report

QUERIES, DOCUMENTS = 1_000, 1_000
RANX = """
import sys
from ranx import Qrels, Run, evaluate
evaluate(Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec"), ["ndcg@10", "map"])
"""
PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as qrels, open(sys.argv[2]) as run:
    judge = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"ndcg_cut.10", "map"})
    judge.evaluate(pytrec_eval.parse_run(run))
"""


def run(_data: object, rounds: int) -> None:
    """Time NDCG@10 and AP of one run in each installed program."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, ranked = _files(Path(folder))
        calls = {name: _call(command) for name, command in _commands(str(qrels), str(ranked))}
        seconds = medians(calls, rounds, _seconds_of_children)
        report(f"A run of {QUERIES:,} queries and {DOCUMENTS:,} documents each, from files", seconds, "rankadapters")


def _files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    labels = rng.choice(4, (QUERIES, DOCUMENTS), p=[0.9, 0.06, 0.03, 0.01])
    scores = rng.normal(labels * 0.5)
    qrels, ranked = folder / "qrels.txt", folder / "run.txt"
    with qrels.open("w") as judgments, ranked.open("w") as lines:
        for query in range(QUERIES):
            judgments.writelines(
                f"q{query} 0 d{row} {label}\n" for row, label in enumerate(labels[query]) if row % 5 == 0
            )
            order = np.argsort(-scores[query], kind="stable")
            lines.writelines(
                f"q{query} Q0 d{row} {rank} {scores[query, row]:.6f} model\n" for rank, row in enumerate(order, 1)
            )
    return qrels, ranked


def _commands(qrels: str, ranked: str) -> Iterator[tuple[str, list[str]]]:
    command = [sys.executable, "-m", "rankadapters", "evaluate", "--qrels", qrels, "--run", ranked]
    yield "rankadapters", [*command, "--convention", "trec_eval_9@10", "--convention", "trec_eval_9.map@all"]
    if program := shutil.which("trec_eval"):
        yield "trec_eval", [program, "-m", "ndcg_cut.10", "-m", "map", qrels, ranked]
    if find_spec("ir_measures"):
        yield "ir_measures", [sys.executable, "-m", "ir_measures", qrels, ranked, "nDCG@10", "AP"]
    if find_spec("pytrec_eval"):
        yield "pytrec_eval", [sys.executable, "-c", PYTREC_EVAL, qrels, ranked]
    if find_spec("ranx"):
        yield "ranx", [sys.executable, "-c", RANX, qrels, ranked]


def _call(command: list[str]) -> Callable[[int], object]:
    return lambda _: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _seconds_of_children() -> float:
    """Return the CPU seconds of all ended child processes; other load on the machine hardly affects them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
