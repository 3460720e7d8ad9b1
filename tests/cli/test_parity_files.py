"""`rankadapters parity` with `--train` and `--test`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankadapters.datasets import mq2008_like
from tests.helpers.command import error_of, output_of


@pytest.fixture
def files(tmp_path):
    """Paths of a small data set: two training files and one test file."""
    train, test = mq2008_like(random_state=2, n_train_queries=40, n_test_queries=20)
    first = train.qid <= 20
    parts = {"a": (train, first), "b": (train, ~first), "test": (test, np.ones(test.qid.size, bool))}
    for name, (data, rows) in parts.items():
        (tmp_path / f"{name}.txt").write_text(
            "".join(
                f"{label:g} qid:{qid} {' '.join(f'{j}:{v:g}' for j, v in enumerate(x, 1))}\n"
                for x, label, qid in zip(data.X[rows], data.labels[rows], data.qid[rows], strict=True)
            )
        )
    return {name: str(tmp_path / f"{name}.txt") for name in parts}


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (None, "nowhere.txt: No such file or directory"),
        ("", "is empty"),
        ("1 qid:1 1:1\n1 1:1\n", "line 2: '1:1' is not qid:QUERY"),
        ("1 qid:1 1:1\n1 qid:1 one:1\n", "line 2: "),
        ("7 qid:1 1:1\n", "test: labels[0] is 7, outside the gain table"),
    ],
)
def test_bad_files_are_refused_in_one_line(capsys, files, content, match):
    pytest.importorskip("sklearn")
    path = Path(files["a"]).parent / ("nowhere.txt" if content is None else "bad.txt")
    if content is not None:
        path.write_text(content)
    line = error_of(
        capsys, "parity", "--format", "json", "--convention", "letor4@5", "--train", files["a"], "--test", str(path)
    )  # fmt: skip
    assert match in line
    assert path.name in line or "test: " in line


def test_several_training_files_are_joined(capsys, files, tmp_path):
    pytest.importorskip("sklearn")
    joined = tmp_path / "both.txt"
    joined.write_text("".join(Path(files[name]).read_text(encoding="utf-8") for name in "ab"))
    reports = []
    for train in ([files["a"], files["b"]], [str(joined)], [files["a"]]):
        arguments = ["--toolkits", "sklearn", "--format", "json", "--train", *train, "--test", files["test"]]
        reports.append(json.loads(output_of(capsys, "parity", *arguments)))
    assert reports[0] == reports[1] != reports[2]


def test_a_training_file_may_be_standard_input(capsys, files, stdin):
    pytest.importorskip("sklearn")
    reports = []
    for train in (files["a"], "-"):
        stdin(Path(files["a"]).read_bytes())
        arguments = ["--toolkits", "sklearn", "--format", "json", "--train", train, "--test", files["test"]]
        reports.append(json.loads(output_of(capsys, "parity", *arguments)))
    assert reports[0] == reports[1]
    stdin(Path(files["a"]).read_bytes())
    arguments = ["--toolkits", "sklearn", "--format", "json"]
    both = output_of(capsys, "parity", *arguments, "--train", "-", "--test", "-")
    assert both == output_of(capsys, "parity", *arguments, "--train", files["a"], "--test", files["a"])
