"""The mistakes of `mistakes.txt`, as calls and commands: `python -m tests.project.mistakes` writes their errors anew.

An entry is a comment that says what the user does wrong, a call after `>>>` or a command after `$`, and the error that
it raises or prints. In an error, `...` stands for any text; writing keeps an error that still matches.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from rankadapters import cli
from tests.helpers.missing_packages import skipped_if_a_package_is_missing
from tests.project.public_calls import FEATURES as X
from tests.project.public_calls import LABELS, QID, SCORES

FILE = Path(__file__).with_name("mistakes.txt")
NAN = float("nan")
FILES = {  # that the commands read
    "features.txt": "2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:3\n1 qid:2 1:0.3 2:2\n0 qid:2 1:0.2 2:5\n",
    "scores.txt": "0.4\n0.3\n0.2\n0.1\n",
    "broken.parquet": "PAR1",
    "table.csv": "label,qid,score\n2,1,0.4\n0,2,0.3\n1,1,0.2\n",
    "qrels.txt": "q1 0 d1 1\nq2 0 d2 1\n",
    "run.txt": "q1 Q0 d1 1 0.5 me\n",
}


def evaluate(labels=LABELS, scores=SCORES, convention="lightgbm@2", **columns):
    return ra.evaluate(labels, scores, convention, **({"qid": QID} | columns))


def audit(name, **arguments):
    """Call an audit with two rows, two models for an order, and other arguments."""
    scores = {"a": [1, 2], "b": [2, 1]} if name in {"order", "page"} else [1, 2]
    convention = {"convention": ["yahoo@5"]} if name in {"order", "page"} else {}
    return getattr(ra.audit, name)(
        **{"labels": [1, 0], "scores": scores, "group_sizes": [2], **convention, **arguments}
    )


def segmented(by):
    return ra.evaluate([1, 0, 1, 0, 1, 0], [2, 1, 1, 2, 2, 1], "textbook@2", qid=list("aabbcc"), by=by)


def saved(content, name="rows.txt"):
    """Save a text or bytes as a file of the current folder, and return its name."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


QRELS, RUN = "q 0 a 1\nq 0 b 0\n", "q Q0 a 1 3 t\nq Q0 b 2 1 t\n"
BATCH = {"label": [1.0, 0.0], "score": [0.5, 0.25], "qid": [7, 7]}
LETOR = "2 qid:7 1:0.5\n0 qid:7 1:2\n1 qid:9 1:3\n"


def trec(qrels=QRELS, run=RUN):
    return ra.io.read_trec(saved(qrels, "judged.txt"), saved(run, "ranked.txt"))


def letor(rows=LETOR, predictions="1\n2\n3\n"):
    return ra.io.read_letor(saved(rows), predictions=saved(predictions, "numbers.txt"))


def dask_evaluate(rows=2, **arguments):
    frames = pytest.importorskip("dask.dataframe")
    df = frames.from_pandas(pd.DataFrame(BATCH)[:rows], npartitions=1)
    return ra.dask.evaluate(**{"df": df, "convention": "textbook@5", "partitions": "whole"} | arguments)


def table(content):
    return ra.io.read_table(saved(content, "rows.csv"), label="grade", score="model", qid="query")


def grouped(rows, sizes):
    """Read rows of LightGBM's format, and their group sizes from the file beside them."""
    saved(sizes, "grouped.txt.query")
    return ra.io.read_letor(saved(rows, "grouped.txt"))


CELLS = {("a", "D1", "MAP"): 0.5, ("b", "D1", "MAP"): 0.4, ("a", "D2", "MAP"): 0.3}
COLUMNS = {
    "method": ["a", "b", "a"], "dataset": ["D1", "D1", "D2"], "measure": ["MAP"] * 3, "value": [0.5, 0.4, 0.3],
}  # fmt: skip


def results(data=CELLS, direction=True):  # noqa: FBT002 - entries are short
    return ra.compare.Results(data, higher_is_better=direction)


def train_lightgbm(*, group=True, **arguments):
    lgb = pytest.importorskip("lightgbm")
    data = lgb.Dataset(X, LABELS, group=np.array([2, 2]) if group else None, params={"verbosity": -1})
    params = {"objective": "regression", "metric": "None", "verbosity": -1, "num_threads": 1}
    return lgb.train(params, data, 2, valid_sets=[data], **arguments)


def make(name, /, *arguments, **options):
    """Call a function or class of a package by its full name; skip if the package is missing."""
    module, _, kind = name.rpartition(".")
    return getattr(pytest.importorskip(module), kind)(*arguments, **options)


def fit_ranker(name="sklearn.linear_model.LinearRegression", options=None, **arguments):
    ranker = ra.sklearn.QueryRanker(make(name), **(options or {}))
    return ranker.fit(**{"X": X, "y": LABELS, "qid": QID} | arguments)


def scored(convention="textbook@2", model="sklearn.linear_model.LinearRegression", y=LABELS, **metadata):
    """Score a model by `query_scorer`; `y` are the labels of its training."""
    return ra.sklearn.query_scorer(convention)(make(model).fit(X, y), X, LABELS, **metadata)


def pool(features=X, **columns):
    """Return a Pool of the four rows; a column of None is left out."""
    columns = {"label": LABELS, "group_id": [0, 0, 1, 1]} | columns
    return make("catboost.Pool", features, **{name: column for name, column in columns.items() if column is not None})


def train_catboost(params=None, data=None, objective="query-rmse/v1", **arguments):
    params = {"iterations": 1, "thread_count": 1} | (params or {})
    return ra.catboost.train(params, pool() if data is None else data, objective, **arguments)


def check_catboost_model(**arguments):
    trained = {"model": train_catboost(), "data": pool(), "convention": "catboost@2"}
    return ra.catboost.check_model(**trained | arguments)


def check_lightgbm_model(**arguments):
    train_data = {"model": train_lightgbm(), "data": (X, LABELS, QID), "convention": "lightgbm@2"}
    return ra.lightgbm.check_model(**train_data | arguments)


class Entry(NamedTuple):
    """An entry of the file: its heading and comment, the call or command after its mark, and the lines of the error."""

    heading: str
    comment: str
    mark: str
    code: str
    error: str


def entries() -> list[Entry]:
    read, heading = [], ""
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        if match := re.fullmatch(r"(?:# (.*)\n)?(>>>|\$) (.*)\n?((?s:.*))", block.strip("\n")):
            comment, mark, code, error = match.groups()
            read.append(Entry(heading, comment or "", mark, code, error))
        else:
            assert block.startswith("= ")
            heading = block.strip("= \n")
    return read


def error_of(entry: Entry) -> str:
    return _error_of_command(entry.code) if entry.mark == "$" else _error_of_call(entry.code)


def _error_of_call(code: str) -> str:
    with skipped_if_a_package_is_missing():
        try:
            eval(code, globals())  # noqa: S307 - our own text
        except ra.MissingToolkitError:
            raise
        except (ra.RankAdaptersError, AttributeError, TypeError, ValueError) as error:
            _check_row(error)
            return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{code} raises no error")


def _check_row(error: Exception) -> None:
    """Check that an error has the row that its message names, also once it is pickled."""
    if named_row := re.match(r"(?:labels|scores|qid|docid|row_weight|positions|by)\[(\d+)\]", str(error)):
        assert error.row == pickle.loads(pickle.dumps(error)).row == int(named_row[1])


def _error_of_command(code: str) -> str:
    for option, package in (("--table", "pyarrow"), ("parity", "sklearn"), ("", "rich")):
        if option in code:
            pytest.importorskip(package)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(re.sub(r"^rankadapters ?", "", code).split())
        except SystemExit as stop:
            status = stop.code
    assert (status, out.getvalue()) == (2, "")
    return re.sub(r" \(choose from .*?\)", "", err.getvalue().removesuffix("\n"))  # Python's releases differ


def matches(error: str, expected: str) -> bool:
    """Return whether an error is the expected one, in which `...` stands for any text."""
    return re.fullmatch(re.escape(expected).replace(r"\.\.\.", r"(?s:.*)"), error) is not None


@contextlib.contextmanager
def folder_of_files() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text, encoding="utf-8")
            yield
        finally:
            os.chdir(before)


def main() -> None:
    """Write the errors that differ anew."""
    text = FILE.read_text(encoding="utf-8")
    with folder_of_files():
        for entry in entries():
            if not matches(error := error_of(entry), entry.error):
                old, head = f"{entry.mark} {entry.code}\n{entry.error}", f"{entry.mark} {entry.code}\n"
                assert old.rstrip("\n") in text, old
                text = text.replace(old.rstrip("\n") + "\n", f"{head}{error}\n", 1)
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
