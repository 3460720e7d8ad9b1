"""Compile the kernels of `rankadapters warmup` in several processes; a test run alone would compile them one by one.

`python -m tests.helpers.compile_kernels 0 2` compiles the first of two shares.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from tests.helpers.checkout import CHECKOUT


def compile_share(index: int, n_processes: int) -> None:
    """Compile every kernel of one process: its index, and every `n_processes`-th after it."""
    from rankadapters.cli.warmup import declared, example, named
    from rankadapters.core.kernels.compiling import compile_for
    from rankadapters.core.kernels.dispatch import NOW, kernels

    with kernels(NOW):
        calls = [(name, codes) for name, signatures in declared().items() for codes in signatures]
        for name, codes in calls[index::n_processes]:
            compile_for(named(name), list(map(example, codes)))


def start_compiling(n_processes: int) -> list[subprocess.Popen[bytes]]:
    """Start processes that compile every kernel that is not cached, and return them; none without numba."""
    if find_spec("numba") is None:
        return []
    command = [sys.executable, "-m", "tests.helpers.compile_kernels"]
    return [subprocess.Popen([*command, str(i), str(n_processes)], cwd=CHECKOUT) for i in range(n_processes)]


if __name__ == "__main__":
    compile_share(int(sys.argv[1]), int(sys.argv[2]))
