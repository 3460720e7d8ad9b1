"""`read_letor` and `read_features` read SVMlight and LETOR files and predictions, and refuse bad ones by line."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import Judgments, read_features, read_letor
from rankadapters.io import features as table_features

ROWS = "2 qid:7 1:0.5 25:1 #docid = GX007-1 inc = 1\n0 qid:7 1:2 #docid = GX007-0 inc = 0\n1 qid:9 25:3 # docid=X\n"
SCORES = "0.25\n0.75\n-1e-3\n"


def read(write, rows, scores=SCORES, **options):
    return read_letor([write(rows, "rows.txt")], predictions=[write(scores, "scores.txt")], **options)


def test_labels_queries_docids_and_predictions_are_read(write):
    judgments = read(write, ROWS)
    assert judgments.queries.labels.tolist() == [2, 0, 1]
    assert judgments.queries.query_ids.tolist() == ["7", "9"]
    assert judgments.queries.docid_rank.tolist() == [1, 0, 2]
    assert judgments.scores.tolist() == [0.25, 0.75, -0.001]
    assert judgments.place(2).endswith("rows.txt, line 3")


def test_a_feature_can_be_the_score_and_is_0_where_it_is_absent(write):
    assert read_letor([write(ROWS, "rows.txt")], feature=25).scores.tolist() == [1, 0, 3]
    assert read_letor([write("1 qid:1 0:0.5 1:2\n", "rows.txt")], feature=0).scores.tolist() == [0.5]
    with pytest.raises(ra.InputError, match=r"rows\.txt: no line has feature 5"):
        read_letor([write(ROWS, "rows.txt")], feature=5)
    with pytest.raises(ra.InputError, match=r"predictions and feature were given, .*\nHint: drop the other"):
        read_letor([write(ROWS, "rows.txt")], feature=1, predictions=[])


def test_files_can_be_read_without_scores(write):
    judgments, scored = read_letor(write(ROWS, "rows.txt")), read(write, ROWS)
    assert type(judgments) is Judgments
    assert judgments.queries.digest == scored.queries.digest
    assert judgments.queries.docid_rank.tolist() == [1, 0, 2]
    assert judgments.place(2).endswith("rows.txt, line 3")
    assert judgments.with_scores(scored.scores).scores is scored.scores
    assert "scores" not in repr(judgments)


def test_docids_are_read_if_every_line_has_one_and_may_be_required(write):
    rows_without_a_docid = ROWS + "1 qid:9 1:1\n"
    assert read(write, rows_without_a_docid, SCORES + "1").queries.docid_rank is None
    assert read(write, ROWS, docids=False).queries.docid_rank is None
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 4 has no docid, but docids are required"):
        read(write, rows_without_a_docid, SCORES + "1", docids=True)


def test_a_document_twice_in_a_query_is_refused_if_docids_are_read(write):
    rows = "# head\n" + ROWS.replace("GX007-0", "GX007-1")
    with pytest.raises(ra.InputError, match=r"txt, line 3: document 'GX007-1' of query '7' is also in .*line 2[.]"):
        read(write, rows)
    with pytest.raises(ra.InputError, match="Hint: drop one of the two, or docids=False, which reads none"):
        read(write, rows, docids=True)
    assert read(write, rows, docids=False).queries.n_docs == 3


def test_several_files_are_read_in_order(write):
    files = [write(ROWS.replace("qid:", f"qid:{name}"), name) for name in "abcd"]
    judgments = read_letor(files, predictions=[write(SCORES, f"scores-{name}") for name in "abcd"])
    assert judgments.queries.query_ids.tolist() == ["a7", "a9", "b7", "b9", "c7", "c9", "d7", "d9"]
    places = [judgments.place(row) for row in range(judgments.queries.n_docs)]
    assert places == [f"{file}, line {line}" for file in files for line in (1, 2, 3)]


RETURNING = "1 qid:7 1:1\n1 qid:8 1:1\n\n0 qid:7 1:2\n"


@pytest.mark.parametrize(
    ("split_queries", "ids", "sizes"),
    [("merge", ["7", "8"], [2, 1]), ("separate", ["7", "8", "7#2"], [1, 1, 1])],
)
def test_a_query_that_returns_is_merged_or_separated_on_request(write, split_queries, ids, sizes):
    judgments = read(write, RETURNING, split_queries=split_queries)
    assert judgments.queries.query_ids.tolist() == ids
    assert (judgments.queries.indptr[1:] - judgments.queries.indptr[:-1]).tolist() == sizes


def test_a_query_that_returns_is_refused_by_default(write):
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 4: query 7 returns after it began in .*txt, line 1"):
        read(write, RETURNING)
    with pytest.raises(ra.InputError, match="split_queries='join'; allowed are 'error', 'merge', 'separate'"):
        read(write, RETURNING, split_queries="join")


def test_a_query_that_continues_in_the_next_file_counts_as_returning(write):
    files = [write("1 qid:7 1:1\n", "a.txt"), write("0 qid:7 1:2\n", "b.txt")]
    with pytest.raises(ra.InputError, match=r"b\.txt, line 1: query 7 returns after it began in .*a\.txt, line 1"):
        read_letor(files, feature=1)
    assert read_letor(files, feature=1, split_queries="merge").queries.n_queries == 1
    assert read_letor(files, feature=1, split_queries="separate").queries.query_ids.tolist() == ["7", "7#2"]


LIGHTGBM = "2 1:0.5 2:1\n0 1:2\n1\n"


def test_a_file_of_lightgbm_has_its_group_sizes_next_to_it(write):
    path = write(LIGHTGBM, "rank.test")
    write("2\n1\n", "rank.test.query")
    judgments = read_letor(path, predictions=write(SCORES, "scores.txt"))
    assert judgments.queries.query_ids.tolist() == ["1", "2"]
    assert judgments.queries.indptr.tolist() == [0, 2, 3]
    assert judgments.queries.labels.tolist() == [2, 0, 1]
    assert judgments.scores.tolist() == [0.25, 0.75, -0.001]
    assert read_letor(path, feature=1).scores.tolist() == [0.5, 2, 0]
    [data] = read_features(path)
    assert (data.X.tolist(), data.qid.tolist()) == ([[0.5, 1], [2, 0], [0, 0]], [1, 1, 2])
    second = write(LIGHTGBM, "rank.train")
    write("1\n2\n", "rank.train.query")
    assert read_letor([path, second]).queries.query_ids.tolist() == ["1", "2", "3", "4"]
    assert read_features([path, second])[0].qid.tolist() == [1, 1, 2, 3, 4, 4]


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ("1\n2.5\n", "group 2 has 2.5 rows"),
        ("0\n3\n", "group 1 has 0 rows"),
        ("1\n-1\n3\n", "group 2 has -1 rows"),
        ("1\n1\n", r"the groups have 2 rows in all, but .*rank.test has 3"),
        ("1\n3\n", r"the groups have 4 rows in all, but .*rank.test has 3"),
        ("3\nx\n", "line 2 is 'x'; expected one finite number per line"),
    ],
)
def test_wrong_group_sizes_are_refused_by_their_number(write, sizes, problem):
    path = write(LIGHTGBM, "rank.test")
    write(sizes, "rank.test.query")
    with pytest.raises(ra.InputError, match=rf"rank\.test\.query[:,] {problem}"):
        read_letor(path)


def test_group_sizes_are_not_read_if_the_lines_have_queries(write):
    write("2\n", "rows.txt.query")
    assert read_letor(write(ROWS, "rows.txt")).queries.query_ids.tolist() == ["7", "9"]


@pytest.mark.parametrize("word", [
    "1,0.5", "1=0.5", "2:3;1:0.5", "2:31:0.5", "1 :0.5", "+1:0.5", "1: 0.5", "1:nan", "1:1e999", "1:1 1:2", "01:1 1:1",
])  # fmt: skip
def test_a_line_whose_score_is_malformed_has_no_score_of_0(write, word):
    """A feature that a line leaves out is 0, so its words must be features of which none is the score."""
    path = write(f"1 qid:1 {word}\n0 qid:1 1:0.25\n", "rows.txt")
    with pytest.raises(ra.InputError, match=r"rows.txt, line 1: .*is (not a (feature|finite)|a second)"):
        read_letor(path, feature=1)


def test_files_with_and_without_qids_are_not_read_together(write):
    """The queries of a LightGBM file are numbered from 1, so they could be taken for those of the other file."""
    plain = write("1 qid:1 1:1\n", "a.txt")
    grouped = write("1 1:1\n", "b.txt")
    write("1\n", "b.txt.query")
    for files in ([plain, grouped], [grouped, plain]):
        with pytest.raises(
            ra.InputError, match=r"[ab]\.txt, line 1: '1' begins a file whose queries are named otherwise"
        ):
            read_letor(files, feature=1, split_queries="merge")
    assert read_letor([grouped, grouped], feature=1).queries.n_queries == 2


GOOD = "2 qid:7 1:0.5 25:1\n0 qid:7 1:2\n"


def read_with_predictions(path):
    n_rows = len(re.findall(rb"(?m)^[^#\n]+qid:", path.read_bytes()))
    (path.parent / "scores.txt").write_text("1\n" * max(1, n_rows))
    return read_letor(path, predictions=path.parent / "scores.txt")


def read_with_feature(path):
    return read_letor(path, feature=1)


TABLE_FAULTS = {
    "1:1e400": "'1:1e400' is beyond float64", "2:1 2:3": "'2:3' gives feature 2 a second value",
    "3:1 1:2 3:4": "'3:4' gives feature 3 a second value", "-1:1": "'-1:1' is not a feature",
    "1_0:1": "'1_0:1' is not a feature", ":1": "':1' is not a feature", "1:": "'1:' is not a feature",
}  # fmt: skip


@pytest.mark.parametrize("features", TABLE_FAULTS)
def test_a_faulty_feature_of_a_table_is_named_with_its_line(write, features):
    with pytest.raises(ra.InputError, match=f"line 2: {TABLE_FAULTS[features]}") as caught:
        read_features(write(f"1 qid:1 1:1 5:1\n0 qid:1 {features}\n2 qid:1 0:1\n"))
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("0 qid: 1:2", "'qid:' is not qid:QUERY"),
        ("0", "'0' is not followed by qid:QUERY"),
        ("0 x:1", "'x:1' is not qid:QUERY"),
        ("0 qid:1 2:1 x", "'x' is not a feature"),
        ("0 qid:1 1:1 1:2", "'1:2' is a second value of the feature"),
        ("0 qid:1 1:nan", "'1:nan' is not a finite number, which the score must be"),
        ("9007199254740993 qid:1 1:1", "'9007199254740993' is beyond 2"),
        ("0 qid:1 1:9007199254740993", "'1:9007199254740993' is beyond 2"),
        ("0 qid:1 1:1 qid:2", "'qid:2' is a second qid"),
    ],
)
def test_a_faulty_line_is_named_with_the_word_that_is_wrong(write, line, problem):
    with pytest.raises(ra.InputError, match=f"line 2: {problem}") as caught:
        read_letor(write(f"1 qid:1 1:1\n{line}\n"), feature=1)
    assert caught.value.row == 1


READERS = (read_with_predictions, read_with_feature, read_features)


@pytest.fixture(params=READERS, ids=lambda reader: reader.__name__)
def reader(request):
    return request.param


def test_unusual_white_space_signs_and_large_integers_are_read(write):
    path = write("9007199254740992\vqid:7 +1: 0.5\f2:1e300\n")
    assert read_features(path)[0].X.tolist() == [[0.5, 1e300]]
    assert read_letor(path).queries.labels.tolist() == [2.0**53]


@pytest.mark.parametrize("text", [GOOD.replace("\n", "\r"), "# head\r" + GOOD, GOOD.replace(" 25", " # a\r25")])
def test_a_carriage_return_within_a_line_is_refused(write, reader, text):
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 1 holds a carriage return.*\nHint: .*line feed"):
        reader(write(text))


def test_a_missing_feature_is_nan_in_a_table_and_ignored_if_not_read(write):
    path = write("1 qid:1 1:nan 2:1\n")
    assert np.isnan(read_features(path)[0].X).tolist() == [[True, False]]
    assert read_with_predictions(path).scores.tolist() == [1]
    assert read_letor(path, feature=2).scores.tolist() == [1]
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 1: '1:1e999' is beyond float64"):
        read_features(write("1 qid:1 1:1e999 2:1\n"))


# Tables of features.


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
