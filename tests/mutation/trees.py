"""Copies of the checkout in which files are mutated, and the recording of which tests run which lines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers.shared_data import SHARED, VARIABLE
from tests.mutation.plugin import FOLDER, LIMIT

CHECKOUT = Path(__file__).parents[2]
NOT_COPIED = shutil.ignore_patterns(".git", ".ci", ".tox", ".venv", ".hypothesis", ".mutation", ".*_cache", "dist")
# Tests that start processes, where no lines are recorded, that take minutes, or that run mypy or whole examples.
NOT_RECORDED = (
    "tests/project/test_types.py", "tests/project/test_imports.py", "tests/project/test_safety.py",
    "tests/docs/test_pages.py", "tests/cli/test_process.py", "tests/fuzz/test_command.py",
    "tests/dask", "tests/spark", "tests/partitions", "tests/lightgbm/test_distributed.py",
    "tests/xgboost/test_distributed.py", "tests/xgboost/test_spark.py",
    "tests/mutation",
)  # fmt: skip
# The tests of kernels that run as Python: others would take hours.
GRADIENT_FILES = (
    "bias_gradients", "generators", "golden_gradients", "gradients", "gradients_by_hand", "lanes", "list_losses",
    "pair_seeds", "query_cross_entropy", "random_expectations", "random_gradients", "trade_gradients",
)  # fmt: skip
GRADIENT_TESTS = [*(f"tests/objectives/test_{name}.py" for name in GRADIENT_FILES), "tests/core/measures/test_loss.py"]
KERNEL_TESTS = ("tests/core", "tests/learners", "tests/statistics/test_inert.py", *GRADIENT_TESTS)


def copy_checkout(source: Path, tree: Path) -> Path:
    """Copy a checkout and its compiled code, unless the copy exists."""
    if not tree.is_dir():
        shutil.copytree(source, tree, ignore=NOT_COPIED, symlinks=True)
        _copy_compiled_kernels(source, tree)
    return tree


def environment(tree: Path) -> dict[str, str]:
    """Return the environment of a process in a copy: the copy's package, kernels and scratch folder, and one thread."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    shared = {VARIABLE: str(SHARED)} if SHARED.is_dir() else {}
    scratch = tree.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    numba = {"NUMBA_CACHE_DIR": str(_cache(tree))}
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **one_thread, **shared, **numba, "PYTHONPATH": str(tree), "TMPDIR": str(scratch)}


def _cache(tree: Path) -> Path:
    return tree.parent / f"{tree.name}.numba"


def _copy_compiled_kernels(source: Path, tree: Path) -> None:
    """Copy the machine code, which is kept by a digest of the sources."""
    if _cache(source).is_dir():
        shutil.copytree(_cache(source), _cache(tree))


def record(tree: Path, folder: Path, *, compiled: bool) -> None:
    """Record which test runs which lines; lines of kernels are recorded if these are not compiled."""
    if folder.is_dir():
        return
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    variables = {FOLDER: str(unfinished), LIMIT: "60" if compiled else "10"}
    tests = [f"--ignore={path}" for path in NOT_RECORDED]
    if not compiled:
        variables["NUMBA_DISABLE_JIT"] = "1"
        tests += KERNEL_TESTS
    options = ["-q", "-m", "", "-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env=environment(tree) | variables,
        check=False,  # tests that fail without machine code are left out of the record
    )
    unfinished.rename(folder)
