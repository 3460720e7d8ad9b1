"""Time files: tables against pyarrow and polars, SVMlight against scikit-learn, a TREC run against pytrec_eval."""

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

ALLOWED = 0.05  # seconds in addition to reading, binding and evaluating
COLUMNS = ["label", "score", "qid"]
N_FEATURES = 10
DOCUMENTS = 1_000_000  # size of the collection that a run is drawn from


def table(data: Data, rounds: int, folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    file, columns = folder / "scored.parquet", COLUMNS
    parquet.write_table(pa.table(dict(zip(columns, (data.labels, data.scores, data.qid), strict=True))), file)
    convention = ra.presets.lightgbm(10)
    read = parquet.read_table(file, columns=columns)
    evaluator, scores = ra.Evaluator(data.labels, convention, qid=data.qid), data.scores

    def evaluate_files(_: int) -> ra.Score:
        judgments = read_table(file, label="label", score="score", qid="qid")
        return ra.evaluate(judgments.queries, judgments.scores, convention)

    seconds = medians(
        {
            "rankadapters, from the file": evaluate_files,
            "reading the columns with pyarrow": lambda _: parquet.read_table(file, columns=columns),
            "binding": lambda _: ra.Evaluator(read["label"], convention, qid=read["qid"]),
            "one evaluation": lambda _: evaluator.evaluate(scores),
        },
        rounds,
    )
    together = "these three and 50 ms"
    seconds[together] = sum(list(seconds.values())[1:]) + ALLOWED
    report(f"Parquet, {data.labels.size:,} rows, NDCG@10", seconds, "rankadapters, from the file", {together: 1})


def columns(data: Data, rounds: int, folder: Path) -> None:
    """Time reading three of six columns from CSV and Parquet; our times include all checks."""
    if not importlib.util.find_spec("polars"):
        print("\npolars is not installed: pip install polars")
        return
    import polars as pl

    rng = np.random.default_rng(0)
    columns = dict(zip(COLUMNS, (data.labels.astype(np.int64), data.scores, data.qid), strict=True))
    frame = pl.DataFrame({**columns, **{f"other{i}": rng.random(data.labels.size) for i in range(3)}})
    csv, parquet = folder / "scored.csv", folder / "six.parquet"
    frame.write_csv(csv)
    frame.write_parquet(parquet)
    for name, file, read in (("CSV", csv, pl.read_csv), ("Parquet", parquet, pl.read_parquet)):
        seconds = medians(
            {
                "read_table": lambda _, file=file: read_table(file, label="label", score="score", qid="qid"),
                "polars": lambda _, file=file, read=read: read(file, columns=COLUMNS),
            },
            rounds,
        )
        report(f"{name}, {data.labels.size:,} rows, 3 columns of 6", seconds, "read_table", {"polars": 0.5})


def write_svmlight(data: Data, n_rows: int, form: str, file: Path) -> None:
    """Write rows of ten features, a tenth of them 0, formatted by `form`, such as `%.6f`."""
    rng, step = np.random.default_rng(0), 50_000
    line = "%d qid:%d " + " ".join(f"{number}:{form}" for number in range(1, N_FEATURES + 1)) + "\n"
    with file.open("w") as out:
        for start in range(0, n_rows, step):
            values = rng.random((min(step, n_rows - start), N_FEATURES))
            values[rng.random(values.shape) < 1 / N_FEATURES] = 0
            rows = zip(data.labels[start:].tolist(), data.qid[start:].tolist(), values.tolist(), strict=False)
            out.writelines(line % (int(label), qid, *row) for label, qid, row in rows)


def svmlight(data: Data, rounds: int, folder: Path) -> None:
    """Time reading a tenth, half and all of the rows; scikit-learn reads no queries, because that is too slow."""
    file, n_rows = folder / "rows.txt", data.labels.size
    for n in (n_rows // 10, n_rows // 2, n_rows):
        write_svmlight(data, n, "%.6f", file)
        calls: dict[str, Callable[[int], object]] = {"read_features": lambda _: read_features(file)}
        if importlib.util.find_spec("sklearn"):
            from sklearn.datasets import load_svmlight_file

            calls["scikit-learn, without queries"] = lambda _: load_svmlight_file(str(file), zero_based=False)
        seconds = medians(calls, rounds)
        report(f"SVMlight, {n:,} rows of {N_FEATURES} features", seconds, "read_features")
        print(f"  {seconds['read_features'] / n * 1e6:.2f} us a row")


def command(data: Data, rounds: int, folder: Path) -> None:
    """Time the command `rankadapters evaluate` on all rows."""
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
    """Write a run, and qrels with a tenth as many documents, a third of them not retrieved."""
    rng = np.random.default_rng(0)
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    with qrels.open("w") as judged, run.open("w") as retrieved:
        for query in range(n_queries):
            documents = rng.choice(DOCUMENTS, n_retrieved, replace=False)
            scores = np.sort(rng.normal(10, 3, n_retrieved))[::-1].round(4)
            retrieved.writelines(
                f"{query} Q0 clueweb12-{number // 1000:04d}wb-{number % 1000:05d} {rank} {score} bm25\n"
                for rank, (number, score) in enumerate(zip(documents.tolist(), scores.tolist(), strict=True), start=1)
            )
            not_retrieved = rng.choice(DOCUMENTS, n_retrieved // 30, replace=False)
            for number in np.unique(np.concatenate([documents[:: n_retrieved // 67], not_retrieved])).tolist():
                judged.write(f"{query} 0 clueweb12-{number // 1000:04d}wb-{number % 1000:05d} {number % 4}\n")
    return qrels, run


def trec(rounds: int, folder: Path) -> None:
    qrels, run = write_trec(folder, 1000, 1000)
    convention = ra.presets.pytrec_eval(10)

    def evaluate_files(_: int) -> ra.Score:
        judgments = read_trec(qrels, run)
        return ra.evaluate(judgments.queries, judgments.scores, convention)

    calls: dict[str, Callable[[int], object]] = {"rankadapters": evaluate_files}
    if importlib.util.find_spec("pytrec_eval"):
        calls["pytrec_eval"] = lambda _: pytrec_eval_mean(qrels, run)
        difference = abs(evaluate_files(0).value - pytrec_eval_mean(qrels, run))
        print(f"\nrankadapters and pytrec_eval differ by {difference:.1e}")
    else:
        print("\npytrec_eval is not installed: pip install pytrec-eval-terrier")
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
