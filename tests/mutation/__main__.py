"""Mutation testing: `python -m tests.mutation --sample 1500 --seed 0 --session FILE`.

Mutants are chosen at random and tried with the tests that run the mutated lines. The report counts the killed mutants,
outside kernels and in kernels, and shows the survivors. After an interruption, the next run continues.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cosmic_ray.work_db import WorkDB

from tests.mutation.places import sample
from tests.mutation.report import survivors, table
from tests.mutation.session import SECONDS, Session, distrusted_tests
from tests.mutation.trees import CHECKOUT, copy_checkout, record


def main() -> None:
    """Run a session and print its results."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=1500, help="mutants (1500)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random sample (0)")
    parser.add_argument("--session", type=Path, default=Path(".mutation/session.sqlite"), help="cosmic-ray's database")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at the same time (2)")
    parser.add_argument("--minutes", type=float, default=10_000, help="stop after this time; the next run continues")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"time of the tests per mutant ({SECONDS})")
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--report", action="store_true", help="only print the results so far")
    options = parser.parse_args()
    options.session.parent.mkdir(parents=True, exist_ok=True)
    db = WorkDB(options.session, WorkDB.Mode.create)
    if not options.report:
        run(db, options)
    print(table(db.completed_work_items))
    for item, result in survivors(db):
        print(f"\n{item.job_id} {item.mutations[0].operator_name}\n{result.diff}")


def run(db: WorkDB, options: argparse.Namespace) -> None:
    """Choose the mutants, record which lines the tests run, and try the remaining mutants."""
    if not db.num_work_items:
        db.add_work_items(sample(CHECKOUT, options.sample, options.seed))
    folder = options.session.resolve().parent
    first_tree = copy_checkout(CHECKOUT, folder / "w0")
    for name, compiled in (("lines", True), ("lines_of_kernels", False)):
        record(first_tree, folder / name, compiled=compiled)
    trees = [copy_checkout(first_tree, folder / f"w{number}") for number in range(1, options.workers + 1)]
    items = [item for item, _ in survivors(db)] if options.again else db.pending_work_items
    session = Session(db, folder, first_tree, options.seconds)
    session.run(sorted(items, key=lambda item: item.job_id), trees, options.minutes)
    if failing := session.distrust(first_tree):
        print("These tests fail without a mutant; try the mutants that they killed again:", *failing, sep="\n")
        (folder / "distrusted.json").write_text(json.dumps(sorted({*failing, *distrusted_tests(folder)})))


if __name__ == "__main__":
    main()
