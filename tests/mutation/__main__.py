"""Mutation testing: `python -m tests.mutation --sample 1500 --seed 0 --session FILE`.

Mutants are chosen at random, tried with the tests that run the mutated lines, and reported: how many are killed,
outside kernels and in them, and which survive. A run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cosmic_ray.work_db import WorkDB

from tests.mutation.places import sample
from tests.mutation.report import survivors, table
from tests.mutation.session import SECONDS, Session, known_to_fail
from tests.mutation.trees import CHECKOUT, copied, record


def main() -> None:
    """Run a session, and tell what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=1500, help="mutants (1500)")
    parser.add_argument("--seed", type=int, default=0, help="of the random sample (0)")
    parser.add_argument("--session", type=Path, default=Path(".mutation/session.sqlite"), help="cosmic-ray's database")
    parser.add_argument("--workers", type=int, default=2, help="mutants tried at a time (2)")
    parser.add_argument("--minutes", type=float, default=10_000, help="stop after so many; the next run goes on")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of tests for a mutant ({SECONDS})")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--report", action="store_true", help="only tell what came of it so far")
    options = parser.parse_args()
    options.session.parent.mkdir(parents=True, exist_ok=True)
    db = WorkDB(options.session, WorkDB.Mode.create)
    if not options.report:
        run(db, options)
    print(table(db.completed_work_items))
    for item, result in survivors(db):
        print(f"\n{item.job_id} {item.mutations[0].operator_name}\n{result.diff}")


def run(db: WorkDB, options: argparse.Namespace) -> None:
    """Choose the mutants, record what the tests run, and try what is left to try."""
    if not db.num_work_items:
        db.add_work_items(sample(CHECKOUT, options.sample, options.seed))
    folder = options.session.resolve().parent
    first = copied(CHECKOUT, folder / "w0")
    for name, compiled in (("lines", True), ("lines_of_kernels", False)):
        record(first, folder / name, compiled=compiled)
    trees = [copied(first, folder / f"w{number}") for number in range(1, options.workers + 1)]
    items = [item for item, _ in survivors(db)] if options.again else db.pending_work_items
    session = Session(db, folder, first, options.seconds)
    session.run(sorted(items, key=lambda item: item.job_id), trees, options.minutes)
    if failing := session.distrust(first):
        print("These fail without a mutant, so that what they killed is to be tried again:", *failing, sep="\n")
        (folder / "distrusted.json").write_text(json.dumps(sorted({*failing, *known_to_fail(folder)})))


if __name__ == "__main__":
    main()
