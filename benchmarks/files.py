"""Files: a Parquet table against its own columns read by pyarrow, and a TREC run against pytrec_eval."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankadapters as ra
from benchmarks.data import Data
from benchmarks.timing import medians, report
from rankadapters.io import read_table, read_trec

ALLOWED = 0.05  # seconds on top of reading, binding and evaluating
DOCUMENTS = 1_000_000  # of the collection that a run draws from


def table(data: Data, rounds: int, folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    file, columns = folder / "scored.parquet", ["label", "score", "qid"]
    parquet.write_table(pa.table(dict(zip(columns, (data.labels, data.scores, data.qid), strict=True))), file)
    convention = ra.presets.lightgbm(10)
    read = parquet.read_table(file, columns=columns)
    bound, scores = ra.Evaluator(data.labels, convention, qid=data.qid), data.scores

    def ours(_: int) -> ra.Score:
        found = read_table(file, label="label", score="score", qid="qid")
        return ra.evaluate(found.queries, found.scores, convention)

    found = medians(
        {
            "rankadapters, from the file": ours,
            "reading the columns with pyarrow": lambda _: parquet.read_table(file, columns=columns),
            "binding": lambda _: ra.Evaluator(read["label"], convention, qid=read["qid"]),
            "one evaluation": lambda _: bound.evaluate(scores),
        },
        rounds,
    )
    together = "these three and 50 ms"
    found[together] = sum(list(found.values())[1:]) + ALLOWED
    report(f"Parquet, {data.labels.size:,} rows, NDCG@10", found, "rankadapters, from the file", {together: 1})


def write_trec(folder: Path, n_queries: int, n_retrieved: int) -> tuple[Path, Path]:
    """Write a run, and qrels that judge a tenth as many documents, a third of which was not retrieved."""
    rng = np.random.default_rng(0)
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    with qrels.open("w") as judged, run.open("w") as retrieved:
        for query in range(n_queries):
            some = rng.choice(DOCUMENTS, n_retrieved, replace=False)
            scores = np.sort(rng.normal(10, 3, n_retrieved))[::-1].round(4)
            retrieved.writelines(
                f"{query} Q0 clueweb12-{number // 1000:04d}wb-{number % 1000:05d} {rank} {score} bm25\n"
                for rank, (number, score) in enumerate(zip(some.tolist(), scores.tolist(), strict=True), start=1)
            )
            others = rng.choice(DOCUMENTS, n_retrieved // 30, replace=False)
            for number in np.unique(np.concatenate([some[:: n_retrieved // 67], others])).tolist():
                judged.write(f"{query} 0 clueweb12-{number // 1000:04d}wb-{number % 1000:05d} {number % 4}\n")
    return qrels, run


def trec(rounds: int, folder: Path) -> None:
    qrels, run = write_trec(folder, 1000, 1000)
    convention = ra.presets.pytrec_eval(10)

    def ours(_: int) -> ra.Score:
        found = read_trec(qrels, run)
        return ra.evaluate(found.queries, found.scores, convention)

    calls: dict[str, Callable[[int], object]] = {"rankadapters": ours}
    if importlib.util.find_spec("pytrec_eval"):
        calls["pytrec_eval"] = lambda _: pytrec_eval_mean(qrels, run)
        same = abs(ours(0).value - pytrec_eval_mean(qrels, run))
        print(f"\nrankadapters and pytrec_eval differ by {same:.1e}")
    else:
        print("\npytrec_eval is not there to compare with: pip install pytrec-eval-terrier")
    report(
        "TREC run, 1,000,000 lines, from files to NDCG@10", medians(calls, rounds), "rankadapters", {"pytrec_eval": 2}
    )


def pytrec_eval_mean(qrels: Path, run: Path) -> float:
    import pytrec_eval

    with qrels.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    with run.open() as file:
        retrieved = pytrec_eval.parse_run(file)
    values = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(retrieved)
    return sum(value["ndcg_cut_10"] for value in values.values()) / len(values)


def run(data: Data, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        table(data, rounds, Path(name))
        trec(min(rounds, 8), Path(name))
