"""Time what users run first, in new processes: import, first evaluations, compiling and `rankadapters parity`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

PRESETS = ("lightgbm@10", "sklearn@10", "lightgbm.map@10", "xgboost.auc")
ROUNDS = 3

IMPORT = """
import time, numpy
start = time.perf_counter()
import rankadapters
print(time.perf_counter() - start)
"""

FIRST = """
import sys, time
import numpy as np
preset, n_queries = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
labels, scores = (rng.random(100 * n_queries) < 0.2).astype(float), rng.standard_normal(100 * n_queries)
start = time.perf_counter()
import rankadapters as ra
ra.evaluate(labels, scores, preset, group_sizes=[100] * n_queries)
print(time.perf_counter() - start)
"""

GRADIENTS = """
import time
import numpy as np
import rankadapters as ra
lambdarank = ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact")
start = time.perf_counter()
for dtype in ("f8", "f4"):
    ra.objectives.gradients([0, 1, 1, 0], np.array([0.5, 0.5, 0.25, 0.75], dtype), lambdarank, group_sizes=[4])
    print(time.perf_counter() - start)
"""

PARITY = """
import contextlib, io, time
start = time.perf_counter()
from rankadapters.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main(["parity"])
    except SystemExit:
        pass
print(time.perf_counter() - start)
"""


class Case(NamedTuple):
    """A program that prints seconds, with a name and a limit for each number."""

    names: tuple[str, ...]
    code: str
    arguments: tuple[str, ...]
    limits: tuple[float, ...]


FIRSTS = [
    Case((f"first evaluation, {preset}, {100 * n:,} rows",), FIRST, (preset, str(n)), (limit,))
    for n, limit in ((10, 0.1), (500, 0.1), (20_000, 1.1))
    for preset in PRESETS
]
COMPILING = Case(("exact gradients compiled, float64", "and float32"), GRADIENTS, (), (6.0, 8.0))


def seconds(case: Case, cache: str) -> list[float]:
    """Run a case in a new process, and return the seconds that it prints."""
    # pip installs compiled bytecode, so a checkout must also be allowed to write it.
    env = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", case.code, *case.arguments]
    out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    return list(map(float, out.split()))


def in_an_empty_cache(case: Case) -> list[float]:
    """Run a case with an empty cache, as on a new machine."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(case, cache)


def show(case: Case, rounds: list[list[float]]) -> None:
    """Print the medians and their limits."""
    for name, limit, column in zip(case.names, case.limits, zip(*rounds, strict=True), strict=True):
        median = statistics.median(column)
        print(f"  {name:52s} {median:7.3f} s   at most {limit:g}{'' if median <= limit else '  MISSED'}")


def run() -> None:
    print("\nStarting, with an empty cache unless stated otherwise")
    for case in (Case(("import rankadapters, in addition to numpy",), IMPORT, (), (0.15,)), *FIRSTS, COMPILING):
        show(case, [in_an_empty_cache(case) for _ in range(ROUNDS)])
    cold, warm = (
        Case((f"rankadapters parity, {state}",), PARITY, (), (limit,))
        for state, limit in (("new machine", 6.0), ("from the cache", 3.0))
    )
    with tempfile.TemporaryDirectory() as cache:
        show(cold, [seconds(cold, cache)])
        show(warm, [seconds(warm, cache) for _ in range(ROUNDS)])
