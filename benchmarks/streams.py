"""Measure time per row and peak memory of streams of 1 to 50 million rows, each in a separate process."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import make

SIZES = (1_000_000, 5_000_000, 20_000_000, 50_000_000)
ROWS_IN_GROUP = 1_000_000  # row groups that cut queries
MOST_NS, MOST_MB, MOST_MB_SORTING, GROWTH = 80, 500, 600, 0.15
ROUNDS = 4
LEAST_ROWS = 10_000_000  # for a process to evaluate; it evaluates smaller files repeatedly
SMALL = "small.parquet"
FOUR = ["lightgbm@10", "lightgbm.map@5", "xgboost.auc", "sklearn@all"]

EVALUATE = """
import json, resource, sys, time
import pyarrow
import rankadapters as ra
from rankadapters.core.ranking.compiled import kernels
given = json.loads(sys.argv[1])
pyarrow.set_cpu_count(given["threads"])
options = {"n_threads": given["threads"], "unsorted": given["unsorted"]}
with kernels("now"):
    ra.evaluate_table(given["small"], given["conventions"], **options)
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu, wall, times = time.process_time(), time.perf_counter(), given["times"]
    for _ in range(times):
        scores = ra.evaluate_table(given["file"], given["conventions"], **options)
print(json.dumps({
    "cpu": (time.process_time() - cpu) / times, "wall": (time.perf_counter() - wall) / times, "idle": idle,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "values": [score.value for score in scores.values()],
}))
"""


def write_parquet(file: Path, n_rows: int, *, scattered: bool = False) -> Path:
    """Write queries of 104 rows on average, cut by row groups; if scattered, shuffle the rows within a row group."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, schema = np.random.default_rng(0), pa.schema([("label", "int8"), ("score", "float64"), ("qid", "int64")])
    with parquet.ParquetWriter(file, schema) as writer:
        pending, n_queries, n_left = np.empty(0, np.int64), 0, n_rows
        while n_left:
            n = min(n_left, ROWS_IN_GROUP)
            while pending.size < n:
                sizes = make(n_queries=10_000, seed=n_queries).sizes
                pending = np.append(pending, np.repeat(np.arange(n_queries, n_queries + sizes.size), sizes))
                n_queries += sizes.size
            qid, pending, n_left = pending[:n], pending[n:], n_left - n
            labels = rng.choice(5, n, p=[0.5, 0.3, 0.13, 0.05, 0.02]).astype(np.int8)
            order = rng.permutation(n) if scattered else slice(None)
            columns = [labels, rng.standard_normal(n), qid[order]]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=n)
    return file


def measure(file: Path, n_rows: int, *, threads: int = 1, unsorted: bool = False, four: bool = False) -> dict:
    """Evaluate a file in a new process; it first evaluates a small file, to compile and import everything."""
    arguments = {
        "file": str(file),
        "small": str(file.with_name(SMALL)),
        "threads": threads,
        "unsorted": unsorted,
        "conventions": FOUR if four else FOUR[:1],
        "times": max(1, LEAST_ROWS // n_rows),
    }
    command = [sys.executable, "-c", EVALUATE, json.dumps(arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def show(name: str, n_rows: int, runs: list[dict], most_ns: float | None = None, most_mb: float = MOST_MB) -> float:
    """Print the shortest times, which other load affects least; return the CPU nanoseconds per row."""
    cpu, wall = (min(run[clock] for run in runs) / n_rows * 1e9 for clock in ("cpu", "wall"))
    peak, idle = (max(run[memory] for run in runs) for memory in ("peak", "idle"))
    missed = (most_ns is not None and cpu > most_ns) or peak > most_mb
    print(
        f"  {name:40s} {n_rows:>11,} rows {cpu:7.1f} ns a row of one core, {wall:7.1f} by the clock, "
        f"{peak:5.0f} MB at most ({idle:.0f} before){'   MISSED' if missed else ''}"
    )
    return cpu


def growing(folder: Path) -> None:
    """Evaluate larger and larger files in turn; the time per row must stay the same."""
    files = {n_rows: write_parquet(folder / f"{n_rows}.parquet", n_rows) for n_rows in SIZES}
    runs = [{n_rows: measure(file, n_rows) for n_rows, file in files.items()} for _ in range(ROUNDS)]
    nanoseconds = [show("Parquet, NDCG@10, one thread", n, [run[n] for run in runs], MOST_NS) for n in SIZES]
    growth = max(nanoseconds) / min(nanoseconds) - 1
    limit = f"at most {GROWTH:.0%}{'' if growth <= GROWTH else '  MISSED'}"
    print(f"  most and least nanoseconds a row differ by {growth:.1%}   {limit}")
    n_rows = SIZES[1]
    show("four measures, one thread", n_rows, [measure(files[n_rows], n_rows, four=True)])
    show("NDCG@10, two threads", n_rows, [measure(files[n_rows], n_rows, threads=2)])
    for file in files.values():
        file.unlink()


def sorting(folder: Path) -> None:
    """Time files that must be sorted by query first."""
    if not importlib.util.find_spec("duckdb"):
        print("\nDuckDB, which sorts, is not installed: pip install duckdb")
        return
    for n_rows in SIZES[1:]:
        file = write_parquet(folder / "scattered.parquet", n_rows, scattered=True)
        runs = [measure(file, n_rows, threads=2, unsorted=True)]
        show("scattered, sorted by DuckDB", n_rows, runs, most_mb=MOST_MB_SORTING)


def run() -> None:
    print(f"\nStreams, at most {MOST_NS} ns a row on one core and {MOST_MB} MB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_parquet(folder / SMALL, 300_000)
        growing(folder)
        sorting(folder)
