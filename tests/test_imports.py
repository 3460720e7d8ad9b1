"""What happens where something is not installed, or cannot be written to."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "sklearn": "scikit-learn",
    "dask": "dask",
    "spark": "pyspark",
}
MODULES = {**{name: name for name in PACKAGES}, "spark": "pyspark"}


@pytest.mark.parametrize("toolkit", PACKAGES)
def test_a_missing_toolkit_names_its_extra(toolkit):
    code = f"""
import sys
sys.modules[{MODULES[toolkit]!r}] = None
import rankadapters as ra
ra.evaluate([1, 0], [1, 0], ra.presets.yahoo(1), group_sizes=[2])
try:
    ra.{toolkit}
except ImportError as error:
    assert isinstance(error, ra.MissingToolkitError)
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == f'{PACKAGES[toolkit]} is not installed.\nHint: pip install "rankadapters[{toolkit}]"\n'


def test_importing_the_package_loads_neither_numpy_nor_numba():
    code = """
import sys
import rankadapters as ra
conv = ra.parse("lightgbm.map@10+empty=0")
assert ra.parse(str(conv)) == conv
print([name for name in ("numpy", "numba", "scipy", "sklearn", "lightgbm", "dask", "pyspark") if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == "[]\n"
