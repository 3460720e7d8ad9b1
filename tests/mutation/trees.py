"""Copies of the checkout in which files are mutated, and what the tests run in one of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers.shared_data import SHARED, VARIABLE
from tests.mutation.plugin import FOLDER, LIMIT

CHECKOUT = Path(__file__).parents[2]
KERNELS = [f"rankadapters/{folder}/kernels" for folder in ("core", "objectives", "learners")]
LEFT_OUT = shutil.ignore_patterns(".git", ".ci", ".tox", ".venv", ".hypothesis", ".mutation", ".*_cache", "dist")
# They start processes, in which no line is seen, or take minutes; mypy, Sphinx and whole examples say little of a line.
UNSEEN = (
    "tests/project/test_types.py", "tests/project/test_imports.py", "tests/project/test_safety.py",
    "tests/docs/test_pages.py", "tests/cli/test_process.py", "tests/cli/test_warmup.py", "tests/fuzz/test_command.py",
    "tests/dask", "tests/spark", "tests/partitions", "tests/lightgbm/test_distributed.py",
    "tests/xgboost/test_distributed.py", "tests/xgboost/test_spark.py", "tests/compare/test_compare_example.py",
    "tests/mutation",
)  # fmt: skip
# Where loops run in Python, some tests of kernels would take hours.
NAMES = (
    "bias_gradients", "generators", "golden_gradients", "gradients", "gradients_by_hand", "lanes", "list_losses",
    "pair_seeds", "query_cross_entropy", "random_expectations", "random_gradients", "trade_gradients",
)  # fmt: skip
OF_GRADIENTS = [*(f"tests/objectives/test_{name}.py" for name in NAMES), "tests/core/measures/test_loss.py"]
OF_KERNELS = ("tests/core", "tests/learners", "tests/statistics/test_inert.py", *OF_GRADIENTS)


def copied(source: Path, tree: Path) -> Path:
    """Copy a checkout, with what Python compiled of it, unless there is a copy."""
    if not tree.is_dir():
        shutil.copytree(source, tree, ignore=LEFT_OUT, symlinks=True)
        _hand_on_kernels(source, tree)
    return tree


def environment(tree: Path) -> dict[str, str]:
    """Environment of a process in a copy: its own package, kernels and scratch folder, one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    known = {VARIABLE: str(SHARED)} if SHARED.is_dir() else {}
    scratch = tree.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    numba = {"NUMBA_CACHE_DIR": str(_cache(tree))}
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, **one, **known, **numba, "PYTHONPATH": str(tree), "TMPDIR": str(scratch)}


def _cache(tree: Path) -> Path:
    return tree.parent / f"{tree.name}.numba"


def _hand_on_kernels(source: Path, tree: Path) -> None:
    """Copy the machine code too, which numba looks for by the path of the source."""
    for folder in KERNELS:
        kept, wanted = (_cache(root) / f"kernels_{_sha1(root / folder)}" for root in (source, tree))
        if kept.is_dir():
            shutil.copytree(kept, wanted)


def _sha1(path: Path) -> str:
    return hashlib.sha1(str(path).encode(), usedforsecurity=False).hexdigest()


def record(tree: Path, folder: Path, *, compiled: bool) -> None:
    """Record which test runs which lines, of kernels where they are not compiled."""
    if folder.is_dir():
        return
    partly = folder.with_name(f"{folder.name}.partly")
    shutil.rmtree(partly, ignore_errors=True)
    partly.mkdir()
    variables = {FOLDER: str(partly), LIMIT: "60" if compiled else "10"}
    tests = [f"--ignore={each}" for each in UNSEEN]
    if not compiled:
        variables["NUMBA_DISABLE_JIT"] = "1"
        tests += OF_KERNELS
    options = ["-q", "-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env=environment(tree) | variables,
        check=False,  # some fail without machine code, and are left out
    )
    partly.rename(folder)
