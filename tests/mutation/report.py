"""What a session says of the tests."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from tests.mutation.equivalent import Change, changed, listed
from tests.mutation.package import is_kernel

OUTSIDE, KERNELS = "outside kernels", "in kernels"
HEADING = """\
| | tried | killed | of these, by time | equivalent | survived | killed of those not equivalent |
|---|--:|--:|--:|--:|--:|--:|"""


def outcome(result: WorkResult, equivalent: dict[Change, str]) -> str:
    """One word for a result."""
    if result.test_outcome == TestOutcome.KILLED:
        return "timeout" if json.loads(result.output)["timeout"] else "killed"
    return "equivalent" if changed(result.diff) in equivalent else "survived"


def table(done: Iterable[tuple[WorkItem, WorkResult]]) -> str:
    """Count the results, outside kernels and in them."""
    equivalent = listed()
    counts = {OUTSIDE: Counter[str](), KERNELS: Counter[str]()}
    for item, result in done:
        place = KERNELS if is_kernel(item.mutations[0].module_path) else OUTSIDE
        counts[place][outcome(result, equivalent)] += 1
    return "\n".join([HEADING, *(_row(place, count) for place, count in counts.items())])


def _row(place: str, count: Counter[str]) -> str:
    killed = count["killed"] + count["timeout"]
    judged = killed + count["survived"]
    rate = f"{100 * killed / judged:.1f} %" if judged else "-"
    cells = [count.total(), killed, count["timeout"], count["equivalent"], count["survived"], rate]
    return f"| {place} | {' | '.join(map(str, cells))} |"


def survivors(db: WorkDB) -> list[tuple[WorkItem, WorkResult]]:
    """Mutants that no test killed and that are not listed as equivalent."""
    equivalent = listed()
    done = sorted(db.completed_work_items, key=lambda pair: pair[0].job_id)
    return [pair for pair in done if outcome(pair[1], equivalent) == "survived"]
