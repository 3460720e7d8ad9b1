"""Files: tables against pyarrow and polars, SVMlight against scikit-learn, and a TREC run against pytrec_eval."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankadapters as ra
from benchmarks.data import Data
from benchmarks.timing import medians, report
from rankadapters.io import read_features, read_table, read_trec

ALLOWED = 0.05  # seconds on top of reading, binding and evaluating
COLUMNS = ["label", "score", "qid"]
N_FEATURES = 10
DOCUMENTS = 1_000_000  # of the collection that a run draws from


def table(data: Data, rounds: int, folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    file, columns = folder / "scored.parquet", COLUMNS
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


def columns(data: Data, rounds: int, folder: Path) -> None:
    """Read three columns of six from CSV and Parquet, ours with all that is checked."""
    if not importlib.util.find_spec("polars"):
        print("\npolars is not there to compare with: pip install polars")
        return
    import polars as pl

    rng = np.random.default_rng(0)
    given = dict(zip(COLUMNS, (data.labels.astype(np.int64), data.scores, data.qid), strict=True))
    frame = pl.DataFrame({**given, **{f"other{i}": rng.random(data.labels.size) for i in range(3)}})
    csv, parquet = folder / "scored.csv", folder / "six.parquet"
    frame.write_csv(csv)
    frame.write_parquet(parquet)
    for name, file, read in (("CSV", csv, pl.read_csv), ("Parquet", parquet, pl.read_parquet)):
        found = medians(
            {
                "read_table": lambda _, file=file: read_table(file, label="label", score="score", qid="qid"),
                "polars": lambda _, file=file, read=read: read(file, columns=COLUMNS),
            },
            rounds,
        )
        report(f"{name}, {data.labels.size:,} rows, 3 columns of 6", found, "read_table", {"polars": 0.5})


def write_svmlight(data: Data, n_rows: int, form: str, file: Path) -> None:
    """Write rows of ten features, a tenth of them 0, in a form such as `%.6f`."""
    rng, step = np.random.default_rng(0), 50_000
    line = "%d qid:%d " + " ".join(f"{number}:{form}" for number in range(1, N_FEATURES + 1)) + "\n"
    with file.open("w") as out:
        for start in range(0, n_rows, step):
            values = rng.random((min(step, n_rows - start), N_FEATURES))
            values[rng.random(values.shape) < 1 / N_FEATURES] = 0
            rows = zip(data.labels[start:].tolist(), data.qid[start:].tolist(), values.tolist(), strict=False)
            out.writelines(line % (int(label), qid, *row) for label, qid, row in rows)


def svmlight(data: Data, rounds: int, folder: Path) -> None:
    """Read dense tables of a tenth, half and all of the rows; scikit-learn takes long for queries, so without them."""
    file, n_rows = folder / "rows.txt", data.labels.size
    for n in (n_rows // 10, n_rows // 2, n_rows):
        write_svmlight(data, n, "%.6f", file)
        calls: dict[str, Callable[[int], object]] = {"read_features": lambda _: read_features(file)}
        if importlib.util.find_spec("sklearn"):
            from sklearn.datasets import load_svmlight_file

            calls["scikit-learn, without queries"] = lambda _: load_svmlight_file(str(file), zero_based=False)
        found = medians(calls, rounds)
        report(f"SVMlight, {n:,} rows of {N_FEATURES} features", found, "read_features")
        print(f"  {found['read_features'] / n * 1e6:.2f} us a row")


def command(data: Data, rounds: int, folder: Path) -> None:
    """Evaluate all rows by the command, in a process of its own."""
    file, predictions = folder / "rows.txt", folder / "predictions.txt"
    np.savetxt(predictions, data.scores, fmt="%.17g")
    start = [sys.executable, "-m", "rankadapters", "evaluate", "--convention", "lightgbm@10", "--format", "csv"]
    for form in ("%.6f", "%.5g"):
        write_svmlight(data, data.labels.size, form, file)
        calls: dict[str, Callable[[int], object]] = {
            name: lambda _, scores=scores: subprocess.run(
                [*start, "--features", file, *scores], check=True, capture_output=True
            )
            for name, scores in (("predictions", ["--predictions", predictions]), ("a feature", ["--feature", "1"]))
        }
        title = f"rankadapters evaluate, {data.labels.size:,} rows of {N_FEATURES} features as {form} (at most 2.5 s)"
        report(title, medians(calls, rounds), "predictions")


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
        columns(data, rounds, Path(name))
        svmlight(data, min(rounds, 4), Path(name))
        command(data, min(rounds, 4), Path(name))
        trec(min(rounds, 8), Path(name))
