"""`read_features` reads SVMlight and LETOR files as tables of features."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

import rankadapters as ra
from rankadapters.io import features as table_features
from rankadapters.io import read_features


def test_a_feature_has_the_same_column_in_every_file(write):
    first, second, test = write("1 qid:1 1:1\n", "1"), write("1 qid:2 4:4\n", "2"), write("0 qid:3 2:2\n", "3")
    train, test = read_features([first, second], [test])
    assert train.X.tolist() == [[1, 0, 0, 0], [0, 0, 0, 4]]
    assert train.qid.tolist() == [1, 2]
    assert test.X.tolist() == [[0, 2, 0, 0]]
    assert read_features(write("0 qid:3 2:2\n"))[0].X.tolist() == [[0, 2]]  # features are numbered from 1


@pytest.mark.parametrize(("max_cells", "refused"), [(8, False), (7, True)])
def test_a_table_of_too_many_cells_is_refused(write, max_cells, refused, monkeypatch):
    monkeypatch.setattr(table_features, "MAX_CELLS", max_cells)
    path = write("1 qid:1 1:1\n0 qid:1 3:1\n")
    with pytest.raises(ra.InputError, match="feature id 3 would make a table of 2 x 4") if refused else nullcontext():
        assert read_features(path)[0].X.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_feature_0_in_one_file_gives_all_tables_a_column_0(write):
    train, test = read_features([write("1 qid:1 0:5 1:1\n", "1")], [write("1 qid:3 1:2\n", "2")])
    assert train.X.tolist() == [[5, 1]]
    assert test.X.tolist() == [[0, 2]]


def test_a_query_that_returns_in_its_file_keeps_its_id(write):
    [data] = read_features([write("1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 1:3\n")])
    assert data.qid.tolist() == [1, 2, 1]


def test_a_query_in_two_files_of_one_table_is_refused(write):
    files = [write("1 qid:5 1:1\n", "a.txt"), write("0 qid:5 1:1\n", "b.txt")]
    with pytest.raises(ra.InputError, match=r"b\.txt: qid 5 is in .*a\.txt too"):
        read_features(files)
    train, test = read_features(files[:1], files[1:])
    assert train.qid.tolist() == test.qid.tolist() == [5]
