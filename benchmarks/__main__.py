"""Run the benchmarks: `python -m benchmarks [--queries 20000] [--rounds 15] [PART ...]`."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    auditing,
    clusters,
    evaluation,
    files,
    gradients,
    learners,
    measures,
    memory,
    runs,
    scaling,
    searching,
    sharing,
    starting,
    streams,
    timing,
)
from benchmarks.data import make
from rankadapters.core.ranking.compiled import kernels

PARTS = {
    "evaluation": evaluation.run,
    "measures": measures.run,
    "sharing": sharing.run,
    "scaling": scaling.run,
    "gradients": gradients.run,
    "learners": learners.run,
    "memory": lambda d, _: memory.run(d),
    "files": files.run,
    "searching": searching.run,
    "auditing": auditing.run,
    "starting": lambda *_: starting.run(),
    "runs": runs.run,
    "streams": lambda *_: streams.run(),
    "clusters": lambda _, rounds: clusters.run(rounds),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to run; all by default")
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--table", metavar="FILE", type=Path, help="where to write the ratios as a table in Markdown")
    args = parser.parse_args()
    packages = ("rankadapters", "numpy", "numba", "lightgbm", "xgboost", "catboost", "scikit-learn")
    print(", ".join(f"{name} {_version(name)}" for name in packages), f"on Python {platform.python_version()}")
    data = make(args.queries)
    with kernels("now"):
        for part in args.parts or PARTS:
            PARTS[part](data, args.rounds)
    if args.table:
        args.table.write_text(timing.table() + "\n", encoding="utf-8")


def _version(package: str) -> str:
    try:
        return version(package)
    except ImportError:
        return "(checkout)"


if __name__ == "__main__":
    main()
