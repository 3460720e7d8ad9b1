"""Median times of competing calls, run in turn so that a slow moment affects every competitor equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

Calls = Mapping[str, Callable[[int], object]]
Clock = Callable[[], float]

REPORTED: list[tuple[str, str, float, float, float | None]] = []  # title, name, milliseconds, ratio, limit


def clock_of(n_threads: int) -> Clock:
    """Return the clock for calls on n threads: CPU time for one thread, so that other processes do not count."""
    return time.process_time if n_threads == 1 else time.perf_counter


def medians(calls: Calls, rounds: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """Return the median seconds of each call, without the first round; a call gets the number of the round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start = clock()
            call(number)
            times[name].append(clock() - start)
    return {name: statistics.median(seconds[1:]) for name, seconds in times.items()}


def report(
    title: str,
    seconds_by_name: dict[str, float],
    baseline: str,
    floors: dict[str, float] | None = None,
    most: dict[str, float] | None = None,
) -> None:
    """Print the medians, their ratio to the baseline, and the least (`floors`) or largest (`most`) allowed ratio."""
    print(f"\n{title}")
    for name, seconds in seconds_by_name.items():
        floor, limit = (floors or {}).get(name), (most or {}).get(name)
        times = seconds / seconds_by_name[baseline]
        target, ratio = "", "" if name == baseline else f"{times:8.2f}x"
        if floor is not None:
            target = f"   at least {floor:g}x{'' if times >= floor else '  MISSED'}"
        if limit is not None:
            target = f"   at most {limit:g}x{'' if times <= limit else '  MISSED'}"
        REPORTED.append((title, name, seconds * 1e3, times, floor if limit is None else limit))
        print(f"  {name:48s} {seconds * 1e3:10.2f} ms {ratio}{target}")


def table() -> str:
    """Return everything reported as a Markdown table: milliseconds and ratios to the baseline."""
    lines = ["| what | whose | ms | ratio | wanted |", "|---|---|---|---|---|"]
    for title, name, milliseconds, ratio, floor in REPORTED:
        target = "" if floor is None else f"{floor:g}"
        lines.append(f"| {title.strip()} | {name} | {milliseconds:.3g} | {ratio:.2f} | {target} |")
    return "\n".join(lines)
