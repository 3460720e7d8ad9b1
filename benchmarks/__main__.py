"""Run the benchmarks: `python -m benchmarks [--queries 20000] [--rounds 15] [PART ...]`."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version

from benchmarks import auditing, evaluation, files, gradients, memory, searching, starting
from benchmarks.data import make
from rankadapters.core.forms import kernels

PARTS = {
    "evaluation": evaluation.run,
    "gradients": gradients.run,
    "memory": lambda d, _: memory.run(d),
    "files": files.run,
    "searching": searching.run,
    "auditing": auditing.run,
    "starting": lambda *_: starting.run(),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to run; all by default")
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    packages = ("rankadapters", "numpy", "numba", "lightgbm", "xgboost", "catboost", "scikit-learn")
    print(", ".join(f"{name} {_version(name)}" for name in packages), f"on Python {platform.python_version()}")
    data = make(args.queries)
    with kernels("now"):
        for part in args.parts or PARTS:
            PARTS[part](data, args.rounds)


def _version(package: str) -> str:
    try:
        return version(package)
    except ImportError:
        return "(checkout)"


if __name__ == "__main__":
    main()
