from __future__ import annotations

import bz2
import gzip
import importlib.util
import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import read_svmlight

needs_sklearn = pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="scikit-learn reads the files")


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@needs_sklearn
def test_rows_comments_and_left_out_features_are_read(write):
    [data] = read_svmlight([write("# head\n2 qid:10 1:0.5 3:1 # docid = GX1\n\n0.5 qid:11 2:-1\n")])
    assert data.X.tolist() == [[0.5, 0, 1], [0, -1, 0]]
    assert data.labels.tolist() == [2, 0.5]
    assert data.qid.tolist() == [10, 11]


@needs_sklearn
def test_the_same_feature_ids_meet_in_every_file(write):
    first, second, test = write("1 qid:1 1:1\n", "1"), write("1 qid:2 4:4\n", "2"), write("0 qid:3 2:2\n", "3")
    train, test = read_svmlight([first, second], [test])
    assert train.X.tolist() == [[1, 0, 0, 0], [0, 0, 0, 4]]
    assert train.qid.tolist() == [1, 2]
    assert test.X.tolist() == [[0, 2, 0, 0]]


@needs_sklearn
def test_one_file_that_counts_features_from_0_makes_all_do(write):
    train, test = read_svmlight([write("1 qid:1 0:5 1:1\n", "1")], [write("1 qid:3 1:2\n", "2")])
    assert train.X.tolist() == [[5, 1]]
    assert test.X.tolist() == [[0, 2]]


@needs_sklearn
def test_a_query_that_comes_back_in_its_file_stays_one_query(write):
    [data] = read_svmlight([write("1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 1:3\n")])
    assert data.qid.tolist() == [1, 2, 1]


@needs_sklearn
def test_a_query_in_two_files_of_a_part_is_refused(write):
    files = [write("1 qid:5 1:1\n", "a.txt"), write("0 qid:5 1:1\n", "b.txt")]
    with pytest.raises(ra.InputError, match=r"b\.txt: qid 5 is in .*a\.txt too"):
        read_svmlight(files)
    train, test = read_svmlight(files[:1], files[1:])
    assert train.qid.tolist() == test.qid.tolist() == [5]


@needs_sklearn
@pytest.mark.parametrize(("compress", "suffix"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2")])
def test_compressed_files_are_read_and_their_lines_counted(tmp_path, compress, suffix):
    good, bad = tmp_path / f"good{suffix}", tmp_path / f"bad{suffix}"
    good.write_bytes(compress(b"1 qid:1 1:1\n"))
    bad.write_bytes(compress(b"1 qid:1 1:1\nx qid:1 1:1\n"))
    assert read_svmlight([good])[0].X.tolist() == [[1]]
    with pytest.raises(ra.InputError, match="line 2: could not convert"):
        read_svmlight([bad])


@needs_sklearn
def test_a_missing_feature_stays_missing(write):
    [data] = read_svmlight([write("1 qid:1 1:nan\n")])
    assert np.isnan(data.X).all()


@needs_sklearn
@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "holds no rows; expected 'label qid:QUERY feature:value"),
        ("# only a comment\n", "holds no rows"),
        ("1 1:2\n", "line 1 has no qid"),
        ("# head\n1 qid:3 1:2\n\n0 1:1 # qid:4\n", "line 4 has no qid"),
        ("1 qid:1 1:1\n" * 5 + "1 qid:1 2:1 1:3\n" + "x\n", "line 6: Feature indices .* sorted"),
        ("label,qid,f\n", "line 1: could not convert string to float"),
        ("1 qid:x 1:2\n", "line 1: invalid literal for int"),
        ("1 qid:1 foo\n", "line 1: "),
        ("1 qid:99999999999999999999 1:1\n", "line 1: .*too large"),
        ("1 qid:1 1:1\n\n1 qid:1 1:inf\n", "line 3 has a feature that is not finite"),
        ("1 qid:1 1:1\nnan qid:1 1:1\n", "line 2 has a label that is not finite"),
        ("1 qid:1\n", "no feature on any line"),
        ("1 qid:1 1500000000:1\n", "feature id 1500000000 would make a table of 1 x 1500000001"),
    ],
)
def test_what_cannot_be_read_is_named_by_file_and_line(write, text, match):
    with pytest.raises(ra.InputError, match=rf"data\.txt.*{match}"):
        read_svmlight([write(text)])


@needs_sklearn
def test_a_missing_file_and_a_directory_are_named(tmp_path):
    with pytest.raises(ra.InputError, match=r"nowhere\.txt: No such file"):
        read_svmlight([tmp_path / "nowhere.txt"])
    with pytest.raises(ra.InputError, match=f"{tmp_path.name}: Is a directory"):
        read_svmlight([tmp_path])


@needs_sklearn
@pytest.mark.parametrize("content", [b"1 qid:1 1:1\n", gzip.compress(b"1 qid:1 1:1\n" * 99)[:20]])
def test_a_broken_archive_is_named(tmp_path, content):
    (tmp_path / "broken.gz").write_bytes(content)
    with pytest.raises(ra.InputError, match=r"broken\.gz: "):
        read_svmlight([tmp_path / "broken.gz"])


def test_without_scikit_learn_the_extra_is_named(monkeypatch, write):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ra.MissingToolkitError, match=r'pip install "rankadapters\[sklearn\]"'):
        read_svmlight([write("1 qid:1 1:1\n")])
