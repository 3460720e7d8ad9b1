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


def as_data(numba_type):
    """Return a type of numba as plain data, as `rankadapters.cli.warmup.example` reads it."""
    from numba import types

    if isinstance(numba_type, types.Array):
        assert numba_type.layout == "C", numba_type
        return f"{'' if numba_type.mutable else 'const '}{numba_type.dtype}/{numba_type.ndim}"
    if isinstance(numba_type, types.BaseNamedTuple):
        tuple_class = numba_type.instance_class
        return [f"{tuple_class.__module__}:{tuple_class.__qualname__}", *map(as_data, numba_type.types)]
    return None if isinstance(numba_type, types.NoneType) else str(numba_type)


def used_signatures():
    """Return the signatures that this process has compiled or loaded, by kernel; internal types are left out."""
    from rankadapters.core.kernels.compiling import KERNELS

    signatures = {}
    for dispatcher in KERNELS:
        name = f"{dispatcher.py_func.__module__}:{dispatcher.py_func.__qualname__}"
        calls = [list(map(as_data, signature)) for signature in dispatcher.signatures]
        # Only kernels call a kernel that takes packed lanes, and it is compiled with its callers.
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
    lines = [f"{json.dumps(name)}: {json.dumps(calls)}" for name, calls in used_signatures().items() if calls]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["RANKADAPTERS_KERNELS"] = "now"
    from rankadapters.core.kernels.dispatch import kernels

    with kernels("now"):
        main()
