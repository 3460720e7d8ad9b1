"""A kernel of one line, which compiles in a moment, imported as every new process imports it."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

SOURCE = """
from rankadapters.core.kernels import kernel
@kernel
def plus(values):
    return values[0] + {added}
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Import a module with one kernel afresh, as a new process does, and give the kernel."""
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    # Python's own copy of a module is known by its size and the second in which it was written: too coarse here.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr("rankadapters.core.kernels.compiling.KERNELS", [])
    path = tmp_path / "one_kernel.py"

    def make(added=1):
        source = SOURCE.format(added=added)
        if (
            not path.exists() or path.read_text(encoding="utf-8") != source
        ):  # older releases of numba look at a file's time
            path.write_text(source)
        spec = importlib.util.spec_from_file_location("one_kernel", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one_kernel", module)
        spec.loader.exec_module(module)
        return module.plus

    return make


def answer(kernel, values=(41.0,)):
    """Call a kernel; what it says, and how many kernels it compiled."""
    return kernel(np.array(values)), sum(kernel.compiled.stats.cache_misses.values())
