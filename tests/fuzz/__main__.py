"""Fuzz by hand: `python -m tests.fuzz --examples 1000000`.

Each target has its share of the examples. With atheris (`pip install atheris`) coverage leads the search; without it,
or with `--plain`, hypothesis does, which keeps what failed in `.hypothesis` and tries it first the next time.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import traceback
import warnings
from time import process_time
from typing import Any

from hypothesis import settings

from tests.fuzz.budget import EXAMPLES
from tests.fuzz.targets import targets


def plain(name: str, examples: int) -> dict[str, Any]:
    """Search with hypothesis alone."""
    test, start, findings = targets()[name], process_time(), []
    of_tests = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(of_tests, max_examples=examples)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            test()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        findings.append((type(error).__name__, "".join(traceback.format_exception(error))[-3000:]))
    finally:
        test._hypothesis_internal_use_settings = of_tests
    return {"examples": examples, "seconds": process_time() - start, "findings": findings}


def guided(name: str, examples: int) -> dict[str, Any]:
    """Search with atheris, in a process that tells what it found by a pipe."""
    read, write = os.pipe()
    command = ["-m", "tests.fuzz.guided", name, str(examples)]
    code = f"import os, sys; os.dup2({write}, 3); os.execv(sys.executable, [sys.executable, *{command!r}])"
    with subprocess.Popen([sys.executable, "-c", code], pass_fds=[write], stderr=subprocess.PIPE) as process:
        os.close(write)
        _, errors = process.communicate()
        with os.fdopen(read) as pipe:
            told = pipe.read()
    if told:
        return json.loads(told)
    return {"examples": 0, "seconds": 0.0, "findings": [("died", errors.decode(errors="replace")[-3000:])]}


def main() -> int:
    """Fuzz the targets one after the other, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="of all targets (or of those named) together")
    parser.add_argument("--target", nargs="+", choices=targets(), default=list(targets()))
    parser.add_argument("--plain", action="store_true", help="with hypothesis alone")
    options = parser.parse_args()
    search = plain if options.plain or importlib.util.find_spec("atheris") is None else guided
    shares = {name: targets()[name]._hypothesis_internal_use_settings.max_examples for name in options.target}
    print(f"{search.__name__}: {options.examples} examples\n")
    print("| target | examples | seconds | findings |\n|---|--:|--:|--:|")
    told, total = [], [0, 0.0, 0]
    for name, of_all in shares.items():
        found = search(name, max(1, round(options.examples * of_all / sum(shares.values()))))
        row = [found["examples"], found["seconds"], len(found["findings"])]
        total = [sum(pair) for pair in zip(total, row, strict=True)]
        told += found["findings"]
        print(f"| {name} | {row[0]} | {row[1]:.0f} | {row[2]} |", flush=True)
        for place, text in found["findings"]:
            print(f"{name}: {place}\n{text}", file=sys.stderr, flush=True)
    print(f"| all | {total[0]} | {total[1]:.0f} | {total[2]} |")
    return min(len(told), 1)


if __name__ == "__main__":
    sys.exit(main())
