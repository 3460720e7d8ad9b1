"""Small files; most fixtures return the arguments with which the command reads them."""

from __future__ import annotations

import pytest

from tests.cli import audit_files, evaluate_files


@pytest.fixture
def audit_data(write):
    """Rows of three queries whose two features serve as two models."""
    return "--features", write(audit_files.ROWS, "rows.txt")


@pytest.fixture
def predictions(write):
    """Paths of the predictions of both models, by name."""
    scores = audit_files.SCORES.items()
    return {name: write("".join(f"{score}\n" for score in column), f"{name}.txt") for name, column in scores}


@pytest.fixture
def runs(write):
    """Return a function that writes judgments and a run of each model, of which the second lacks some rows."""

    def write_runs(*lacking):
        paths = []
        for name, scores in audit_files.SCORES.items():
            rows = [row for row in range(len(scores)) if name == "good" or row not in lacking]
            lines = [f"{audit_files.QID[row]} Q0 d{row} 1 {scores[row]} t\n" for row in rows]
            paths.append(write("".join([*lines, "6 Q0 x 1 1 t\n"]), f"{name}.run"))
        return "--qrels", write(audit_files.QRELS, "qrels"), "--run", *paths

    return write_runs


@pytest.fixture
def letor(write):
    """Rows in LETOR format and their predictions."""
    rows, scores = write(evaluate_files.ROWS, "rows.txt"), write(evaluate_files.SCORES, "scores.txt")
    return "--features", rows, "--predictions", scores


@pytest.fixture
def trec(write):
    """TREC judgments and a run."""
    return "--qrels", write(evaluate_files.QRELS, "qrels.txt"), "--run", write(evaluate_files.RUN, "run.txt")


@pytest.fixture
def table(write):
    """A table in CSV and the names of its columns."""
    pytest.importorskip("pyarrow")
    return "--table", write(evaluate_files.TABLE, "table.csv"), *evaluate_files.COLUMNS
