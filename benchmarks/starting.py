"""Import, the first evaluation on a new machine, and the first from numba's cache; each in processes of its own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

FIRST = """
import time, numpy
start = time.perf_counter()
import rankadapters as ra
imported = time.perf_counter()
ra.evaluate([0, 1, 2], [0.1, 0.3, 0.2], ra.presets.textbook(10), group_sizes=[3])
print(imported - start, time.perf_counter() - imported)
"""


def seconds(cache: str) -> tuple[float, float]:
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run([sys.executable, "-c", FIRST], env=env, capture_output=True, text=True, check=True).stdout
    imported, first = map(float, out.split())
    return imported, first


def run() -> None:
    with tempfile.TemporaryDirectory() as cache:
        _, new = seconds(cache)
        again = [seconds(cache) for _ in range(7)]
    imported, cached = (statistics.median(column) for column in zip(*again, strict=True))
    print("\nStarting")
    print(f"  import rankadapters, beyond numpy                {imported:7.3f} s   (under 0.15)")
    print(f"  first evaluation on a new machine                {new:7.3f} s   (under 10)")
    print(f"  first evaluation from the cache                  {cached:7.3f} s   (under 1)")
