"""Median times of competing calls, taken in turn so that a slow moment of the machine meets all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

Calls = dict[str, Callable[[int], object]]

REPORTED: list[tuple[str, str, float, float, float | None]] = []  # title, whose, milliseconds, ratio, wanted


def medians(calls: Calls, rounds: int) -> dict[str, float]:
    """Median seconds of each call; a call gets the number of the round. The first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call(number)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def report(title: str, found: dict[str, float], ours: str, floors: dict[str, float] | None = None) -> None:
    """Print the medians and how many times longer than ours each takes, beside the ratio that must be reached."""
    print(f"\n{title}")
    for name, seconds in found.items():
        floor = (floors or {}).get(name)
        wanted = (
            "" if floor is None else f"   at least {floor:g}x{'' if seconds >= floor * found[ours] else '  MISSED'}"
        )
        ratio = "" if name == ours else f"{seconds / found[ours]:8.2f}x"
        REPORTED.append((title, name, seconds * 1e3, seconds / found[ours], floor))
        print(f"  {name:48s} {seconds * 1e3:10.2f} ms {ratio}{wanted}")


def table() -> str:
    """Write all that was reported as a table in Markdown: milliseconds, and in times of ours."""
    lines = ["| what | whose | ms | ratio | wanted |", "|---|---|---|---|---|"]
    for title, name, milliseconds, ratio, floor in REPORTED:
        wanted = "" if floor is None else f"{floor:g}"
        lines.append(f"| {title.strip()} | {name} | {milliseconds:.3g} | {ratio:.2f} | {wanted} |")
    return "\n".join(lines)
