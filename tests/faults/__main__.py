"""Measure the memory that long trainings keep: `python -m tests.faults --rounds 10000 --datasets 1000`."""

from __future__ import annotations

import argparse

from tests.faults.long_trainings import DATASETS, ROUNDS, fresh_process, measure_growth


def main() -> None:
    """Print a table of bytes per round and per data set."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000, help="of each training")
    parser.add_argument("--datasets", type=int, default=1000, help="made and dropped")
    parser.add_argument("--toolkit", nargs="+", choices=ROUNDS, default=list(ROUNDS))
    options = parser.parse_args()
    print("| | bytes each, in Python | bytes each, of the process |\n|---|--:|--:|")
    for kind, toolkits in (("rounds", ROUNDS), ("datasets", DATASETS)):
        number = getattr(options, kind)
        for toolkit in (name for name in toolkits if name in options.toolkit):
            with fresh_process() as process:
                growth = measure_growth(process, kind, toolkit, number)
            print(f"| {number:,} {kind} of {toolkit} | {growth.python:,.0f} | {growth.process:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
