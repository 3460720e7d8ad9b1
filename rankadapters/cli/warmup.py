"""`rankadapters warmup`: compile every kernel in advance, for container and CI images."""

from __future__ import annotations

import argparse
import json
import os
import time
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from rankadapters.cli.common import SAME, bar
from rankadapters.cli.helping import examples
from rankadapters.core.errors import InputError

PYTHON_NUMBERS: dict[str, Any] = {"bool": False, "int64": 0, "float64": 0.0}


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "warmup",
        help="compile and cache every kernel in advance",
        description="Compile every kernel that evaluation, gradients and learners use, for float32 and float64, so "
        "that later runs start without compiling. numba caches the machine code in NUMBA_CACHE_DIR if that is set, "
        "else in the package, else in the home directory. Later runs need write access to that folder and the same "
        "kind of CPU (or NUMBA_CPU_NAME=generic, both here and there).",
        epilog=examples("warmup", status="0, or 2 where no cache folder can be written"),
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    del arguments
    from rankadapters.core.kernels.dispatch import NOW, kernels

    with kernels(NOW), bar("compiling") as step:
        from rankadapters.core.kernels.compiling import compile_for, compiled
        from rankadapters.core.kernels.kept_code import FAILURES

        folder, start = _folder(), time.perf_counter()
        calls = [(name, codes) for name, signatures in declared().items() for codes in signatures]
        for n_done, (name, codes) in enumerate(calls):
            step(n_done, len(calls))
            compile_for(named(name), list(map(example, codes)))
            if FAILURES:
                msg = f"cannot write to {folder}: {FAILURES[0]}.\nHint: free disk space, or set NUMBA_CACHE_DIR."
                raise InputError(msg)
    count = compiled()
    print(f"compiled {count.compiled} kernels in {time.perf_counter() - start:.0f} s, found {count.found} in the cache")
    print(f"cache: {folder}")
    return SAME


def declared() -> dict[str, list[list[Any]]]:
    """Return the signatures of each kernel by `module:name`, from the file that `python -m tests.signatures` writes."""
    text = files("rankadapters.cli").joinpath("signatures.json").read_text(encoding="utf-8")
    signatures: dict[str, list[list[Any]]] = json.loads(text)
    return signatures


def example(code: Any) -> Any:
    """Return an example value of a type: an empty array, a number, a named tuple of these, or None.

    >>> example("float32/1").dtype, example("int64"), example(None)
    (dtype('float32'), 0, None)
    """
    import numpy as np

    if code is None:
        return None
    if isinstance(code, list):
        kind, *fields = code
        return named(kind)(*map(example, fields))
    dtype, _, ndim = code.removeprefix("const ").partition("/")
    if not ndim:
        return PYTHON_NUMBERS.get(dtype, np.dtype(dtype).type(0))
    array = np.empty((0,) * int(ndim), dtype)
    array.flags.writeable = not code.startswith("const ")
    return array


def named(name: str) -> Any:
    """Return the object that `module:name` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _folder() -> Path:
    """Return the cache folder.

    Raises
    ------
    InputError
        No folder can be written, or NUMBA_CACHE_DIR cannot.
    """
    from rankadapters.core.kernels.compiling import cache_folder

    requested, folder = os.environ.get("NUMBA_CACHE_DIR"), cache_folder()
    if folder is None or (requested and Path(requested).resolve() not in folder.resolve().parents):
        folders = f"NUMBA_CACHE_DIR={requested}" if requested else "neither the package's folder nor the home directory"
        problem = f"{folders} can{'not' if requested else ''} be written, so no machine code can be cached"
        msg = f"{problem}.\nHint: set NUMBA_CACHE_DIR."
        raise InputError(msg)
    return folder
