"""Median times of competing calls, taken in turn so that a slow moment of the machine meets all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Calls = Mapping[str, Callable[[int], object]]
Clock = Callable[[], float]

REPORTED: list[tuple[str, str, float, float, float | None]] = []  # title, whose, milliseconds, ratio, wanted


def clock_of(n_threads: int) -> Clock:
    """Clock for calls that run in so many threads: of one, what others do on the machine does not count."""
    return time.process_time if n_threads == 1 else time.perf_counter


def medians(calls: Calls, rounds: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """Median seconds of each call; a call gets the number of the round. The first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start = clock()
            call(number)
            times[name].append(clock() - start)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def report(
    title: str,
    found: dict[str, float],
    ours: str,
    floors: dict[str, float] | None = None,
    most: dict[str, float] | None = None,
) -> None:
    """Print the medians and how many times longer than ours each takes, beside the least or most wanted."""
    print(f"\n{title}")
    for name, seconds in found.items():
        floor, limit = (floors or {}).get(name), (most or {}).get(name)
        times = seconds / found[ours]
        wanted, ratio = "", "" if name == ours else f"{times:8.2f}x"
        if floor is not None:
            wanted = f"   at least {floor:g}x{'' if times >= floor else '  MISSED'}"
        if limit is not None:
            wanted = f"   at most {limit:g}x{'' if times <= limit else '  MISSED'}"
        REPORTED.append((title, name, seconds * 1e3, times, floor if limit is None else limit))
        print(f"  {name:48s} {seconds * 1e3:10.2f} ms {ratio}{wanted}")


def table() -> str:
    """Write all that was reported as a table in Markdown: milliseconds, and in times of ours."""
    lines = ["| what | whose | ms | ratio | wanted |", "|---|---|---|---|---|"]
    for title, name, milliseconds, ratio, floor in REPORTED:
        wanted = "" if floor is None else f"{floor:g}"
        lines.append(f"| {title.strip()} | {name} | {milliseconds:.3g} | {ratio:.2f} | {wanted} |")
    return "\n".join(lines)
