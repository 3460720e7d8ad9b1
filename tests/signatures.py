"""Write the argument types that `rankadapters warmup` compiles the kernels for: `python -m tests.signatures`.

Run it when a kernel is added or takes other arguments. `tests/cli/test_warmup.py` fails where a signature is missing.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import rankadapters as ra

FILE = Path(__file__).parent.parent / "rankadapters" / "cli" / "signatures.json"


def code(kind):
    """Write a type of numba's as plain data, as `rankadapters.cli.warmup.example` reads it."""
    from numba import types

    if isinstance(kind, types.Array):
        assert kind.layout == "C", kind
        return f"{'' if kind.mutable else 'const '}{kind.dtype}/{kind.ndim}"
    if isinstance(kind, types.BaseNamedTuple):
        made = kind.instance_class
        return [f"{made.__module__}:{made.__qualname__}", *map(code, kind.types)]
    return None if isinstance(kind, types.NoneType) else str(kind)


def used():
    """Return the signatures that this process has compiled or loaded, by kernel; internal types are left out."""
    from rankadapters.core.kernels.compiling import KERNELS

    signatures = {}
    for dispatcher in KERNELS:
        name = f"{dispatcher.py_func.__module__}:{dispatcher.py_func.__qualname__}"
        calls = [list(map(code, signature)) for signature in dispatcher.signatures]
        # A kernel that takes packed lanes is called by kernels alone, and compiled with them.
        signatures[name] = sorted((call for call in calls if "Lanes" not in call), key=json.dumps)
    return dict(sorted(signatures.items()))


def main():
    from tests.cli.test_warmup import (
        differentiate_everything,
        evaluate_everything,
        evaluate_short_queries,
        try_everything,
    )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluate_everything(), evaluate_short_queries(), differentiate_everything(), try_everything()
    ra.audit.identify([1, 0, 2, 0], [0.5, 0.5, 0.25, 0.75], value="0.5", k=2, group_sizes=[2, 2])
    lines = [f"{json.dumps(name)}: {json.dumps(calls)}" for name, calls in used().items() if calls]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["RANKADAPTERS_KERNELS"] = "now"
    from rankadapters.core.kernels.dispatch import kernels

    with kernels("now"):
        main()
