"""The results of a session: a table of counts, and the mutants that survived."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from tests.mutation.equivalent import Change, equivalent_mutants, parse_diff
from tests.mutation.package import is_kernel

OUTSIDE, KERNELS = "outside kernels", "in kernels"
HEADING = """\
| | tried | killed | of these, by timeout | equivalent | survived | killed, of those not equivalent |
|---|--:|--:|--:|--:|--:|--:|"""


def outcome(result: WorkResult, equivalent: dict[Change, str]) -> str:
    """Return the word for a result."""
    if result.test_outcome == TestOutcome.KILLED:
        return "timeout" if json.loads(result.output)["timeout"] else "killed"
    return "equivalent" if parse_diff(result.diff) in equivalent else "survived"


def table(results: Iterable[tuple[WorkItem, WorkResult]]) -> str:
    """Count the results, outside kernels and in them."""
    equivalent = equivalent_mutants()
    counts = {OUTSIDE: Counter[str](), KERNELS: Counter[str]()}
    for item, result in results:
        part = KERNELS if is_kernel(item.mutations[0].module_path) else OUTSIDE
        counts[part][outcome(result, equivalent)] += 1
    return "\n".join([HEADING, *(_row(part, count) for part, count in counts.items())])


def _row(part: str, count: Counter[str]) -> str:
    killed = count["killed"] + count["timeout"]
    not_equivalent = killed + count["survived"]
    rate = f"{100 * killed / not_equivalent:.1f} %" if not_equivalent else "-"
    cells = [count.total(), killed, count["timeout"], count["equivalent"], count["survived"], rate]
    return f"| {part} | {' | '.join(map(str, cells))} |"


def survivors(db: WorkDB) -> list[tuple[WorkItem, WorkResult]]:
    """Return the mutants that no test killed and that are not listed as equivalent."""
    equivalent = equivalent_mutants()
    results = sorted(db.completed_work_items, key=lambda pair: pair[0].job_id)
    return [pair for pair in results if outcome(pair[1], equivalent) == "survived"]
