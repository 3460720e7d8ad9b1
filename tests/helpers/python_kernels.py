"""Run kernels as the Python that they are written in, so that a test needs no compiler."""

from __future__ import annotations

import sys

import pytest

from rankadapters.core.ranking.jit import Jitted
from rankadapters.objectives.kernels.replicas import sigmoid_table


def run_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the machine code of every imported kernel, but for a table of a million numbers."""
    modules = [module for name, module in sys.modules.items() if name.startswith("rankadapters.")]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Jitted)}
    for kernel in kernels - {sigmoid_table}:
        monkeypatch.setattr(kernel, "_compiled", kernel.py_func)
