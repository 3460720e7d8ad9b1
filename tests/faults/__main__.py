"""Load and faults for minutes, with figures: `python -m tests.faults [PART ...] [--minutes 5] [--kills 200]`."""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import numpy as np

import rankadapters as ra
from rankadapters.core.ranking.compiled import kernels
from rankadapters.io.writing import write_text

RNG = np.random.default_rng(0)
QUERIES = ra.Queries(RNG.integers(0, 3, 24_000), group_sizes=np.full(2_000, 12))
SCORES = RNG.random(24_000).round(2)
CONVENTIONS = ["textbook@10", "lightgbm@all", "lightgbm.map@5", "lightgbm.auc", "catboost.query_rmse"]
COLUMNS = {"qid": RNG.integers(0, 3_000, 60_000), "label": RNG.integers(0, 3, 60_000), "score": RNG.random(60_000)}
LIMIT_OF_A_CHILD = 900  # seconds, after which a child counts as one that waits for ever


def threads(options: argparse.Namespace) -> dict[str, float]:
    """Evaluate in 16 threads while children are forked, which evaluate too; every value must be the first one's."""
    expected, stop, counts, wrong = _values(), Event(), [0] * 16, []

    def work(number: int) -> None:
        while not stop.is_set():
            counts[number] += 1
            if _values() != expected:
                wrong.append(number)

    workers = [Thread(target=work, args=(number,)) for number in range(16)]
    for worker in workers:
        worker.start()
    n_forks, end = 0, time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        n_forks += 1
        assert _ends_well(_fork(lambda: _values() == expected)), "a child failed or waited for ever"
        time.sleep(0.1)
    stop.set()
    for worker in workers:
        worker.join()
    assert not wrong, f"threads {wrong} computed another value"
    return {"minutes": options.minutes, "evaluations of 24,000 rows by 5 conventions": sum(counts), "forks": n_forks}


def memory(options: argparse.Namespace) -> dict[str, float]:
    """Evaluate many times, and measure the memory of the process after a tenth of them and at the end."""
    evaluator, scores = ra.Evaluator(QUERIES, "textbook@10", n_threads=1), SCORES.copy()
    small = {"labels": [2, 0, 1, 0], "convention": "lightgbm@3", "group_sizes": [2, 2]}
    for number in range(options.evaluations):
        if number % 1000:
            ra.evaluate(scores=SCORES[number % 1000 :][:4], **small)
        else:
            evaluator.evaluate(np.roll(scores, number))
        if number == options.evaluations // 10:
            gc.collect()
            first = _resident()
    gc.collect()
    return {"evaluations": options.evaluations, "kB after a tenth": first, "kB at the end": _resident()}


def reports(options: argparse.Namespace) -> dict[str, float]:
    """Kill processes that write a report: the file is one of the two reports, and can be written again."""
    contents = ["a" * 200_000, "b" * 300_000]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        write_text(path, contents[0])

        def write() -> bool:
            for number in range(10**9):
                write_text(path, contents[number % 2])
            return True

        for delay in _delays(options.kills, 0.05):
            _kill(_fork(write), delay)
            assert path.read_text() in contents, "half a report"
        left = len(list(Path(folder).glob(".rankadapters-*")))
        write_text(path, "new")
        assert path.read_text() == "new"
    return {"kills": options.kills, "hidden files left": left}


def sorting(options: argparse.Namespace) -> dict[str, float]:
    """Kill processes that sort a stream on disk: the next one has the right value."""
    import duckdb  # noqa: F401 - imported before the forks

    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        seconds = _seconds(lambda: _sorted_value() == _expected_value())
        for delay in _delays(options.kills, seconds):
            _kill(_fork(lambda: _sorted_value() == _expected_value()), delay)
        left = len(list(Path(folder).iterdir()))
        assert _ends_well(_fork(lambda: _sorted_value() == _expected_value())), "the next run failed"
        tempfile.tempdir = None
    return {"kills": options.kills, "seconds of one sort": round(seconds, 2), "temporary folders left": left}


def compiling(options: argparse.Namespace) -> dict[str, float]:
    """Kill processes that compile: the next one loads or compiles again, and has the right value."""
    import numba  # noqa: F401 - imported before the forks

    n_fresh = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        seconds, end = _seconds(_compiled_value), time.monotonic() + 60 * options.minutes
        n_kills = 0
        for delay in _delays(options.kills, seconds):
            if time.monotonic() > end:
                break
            n_kills += 1
            if n_kills % 4 == 1:  # an empty cache; the next kills come while a part of it is there
                shutil.rmtree(folder, ignore_errors=True)
                n_fresh += 1
            _kill(_fork(_compiled_value), delay)
            if n_kills % 4 == 0:
                assert _ends_well(_fork(_compiled_value)), "the next run failed"
        del os.environ["NUMBA_CACHE_DIR"]
    return {"kills": n_kills, "from an empty cache": n_fresh, "seconds to compile": round(seconds, 2)}


def full_disk(_: argparse.Namespace) -> dict[str, float]:
    """Write reports and sort where no file may be larger than each of 100 limits: a plain error or the right result."""
    outcomes = {"written": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        path = Path(folder, "report.html")
        write_text(path, "old")
        for number in range(100):
            limit = 2_000 * number

            def write(limit: int = limit) -> bool:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                try:
                    write_text(path, "n" * 100_000)
                    _sorted_value()
                except ra.InputError:
                    pass
                return True

            assert _ends_well(_fork(write)), f"another error than InputError at {limit} bytes"
            outcomes["written" if path.read_text() == "n" * 100_000 else "refused"] += 1
            assert path.read_text() in {"old", "n" * 100_000}, "half a report"
            assert not list(Path(folder).glob(".rankadapters-*")), "a hidden file is left"
            write_text(path, "old")
        tempfile.tempdir = None
    return {"limits": 100, **outcomes}


def _values() -> list[float]:
    return [score.value for score in ra.evaluate(QUERIES, SCORES, CONVENTIONS, n_threads=1).values()]


def _sorted_value() -> float:
    batches = (
        {name: column[part] for name, column in COLUMNS.items()} for part in np.array_split(np.arange(60_000), 6)
    )
    return ra.evaluate_table(batches, "textbook@5", unsorted=True).value


def _expected_value() -> float:
    return ra.evaluate(COLUMNS["label"], COLUMNS["score"], "textbook@5", qid=COLUMNS["qid"]).value


def _compiled_value() -> bool:
    """Compile what one convention needs, which takes seconds; the value is that of numpy."""
    with kernels("now"):
        compiled = ra.evaluate(QUERIES, SCORES, "textbook@10", n_threads=1)
    with kernels("never"):
        return compiled == ra.evaluate(QUERIES, SCORES, "textbook@10", n_threads=1)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def _delays(n: int, seconds: float) -> Iterator[float]:
    """Yield random moments of a run that takes so many seconds."""
    rng = random.Random(1)
    return (rng.uniform(0, 1.1 * seconds) for _ in range(n))


def _fork(run: Callable[[], bool]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            code = 0 if run() else 2
        except BaseException as error:  # noqa: BLE001 - a child must not return into the caller's code
            print(repr(error)[:300], file=sys.stderr)
        os._exit(code)
    return child


def _kill(child: int, delay: float) -> None:
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _seconds(run: Callable[[], bool]) -> float:
    start = time.monotonic()
    assert _ends_well(_fork(run))
    return time.monotonic() - start


def _ends_well(child: int) -> bool:
    """Wait for a child, and return whether its function returned True; kill a child that waits for ever."""
    end = time.monotonic() + LIMIT_OF_A_CHILD
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


PARTS = {part.__name__: part for part in (threads, memory, reports, sorting, compiling, full_disk)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to run; all by default")
    parser.add_argument("--minutes", type=float, default=5, help="of threads, and at most of compiling")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--evaluations", type=int, default=100_000)
    options = parser.parse_args()
    for part in options.parts or PARTS:
        print(part, json.dumps(PARTS[part](options)), flush=True)


if __name__ == "__main__":
    main()
