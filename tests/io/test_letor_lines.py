"""Every reader of SVMlight and LETOR files refuses a bad line by file, line and token."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import read_features, read_letor
from tests.helpers.tables import for_each

GOOD = "2 qid:7 1:0.5 25:1\n0 qid:7 1:2\n"


def read_with_predictions(path):
    n_rows = len(re.findall(rb"(?m)^[^#\n]+qid:", path.read_bytes()))
    (path.parent / "scores.txt").write_text("1\n" * max(1, n_rows))
    return read_letor(path, predictions=path.parent / "scores.txt")


def read_with_feature(path):
    return read_letor(path, feature=1)


READERS = (read_with_predictions, read_with_feature, read_features)


@pytest.fixture(params=READERS, ids=lambda reader: reader.__name__)
def reader(request):
    return request.param


BAD = [
    # Two files joined although the first lacks its last line end: this once changed a score of 0.6309 to 0.3155.
    ("0 qid:1 1:0.9 2:0.12 qid:2 1:0.5\n", 1, "qid:2", "is a second qid; two rows may have been joined"),
    ("0 qid:1 1:0.9 # a2 qid:2 1:0.5\n", 1, "qid:2", "is in the comment, with features after it"),
    ("1 qid:1 1:0.9\n# end of fold 1 1 qid:2 1:0.7\n", 2, "qid:2", "is in the comment, with features after it"),
    ("#2 qid:1 1:0.5\n1 qid:2 1:1\n", 1, "qid:1", "is in the comment, with features after it"),
    ("x qid:1 1:1\n", 1, "x", "is not a label"),
    ("1 qid:1 1:1\nnan qid:1 1:1\n", 2, "nan", "is not a label"),
    ("1 qid:1 1:1\n1e999 qid:1 1:1\n", 2, "1e999", "is not a label"),
    ("1_0 qid:1 1:1\n", 1, "1_0", "is not a label"),
    ("1:1 qid:1\n", 1, "1:1", "is not a label"),
    ("label,qid,f\n", 1, "label,qid,f", "is not a label"),
    ("# head\n1 1:1\n", 2, "1:1", "is not qid:QUERY"),
    ("1 qid: 1:1\n", 1, "qid:", "is not qid:QUERY"),
    ("1\n", 1, "1", "is not followed by qid:QUERY"),
    ("0 1:1 # qid:4\n", 1, "1:1", "is not qid:QUERY"),
]  # fmt: skip
BAD_FEATURES = [
    ("1 qid:1 1:0.5 1:0.1\n", 1, "1:0.1", "gives feature 1 a second value"),
    ("1 qid:1 1:0.5 01:0.1\n", 1, "01:0.1", "gives feature 1 a second value"),
    ("1 qid:1 3:0.5 1:0.5 2:1 1:0.1\n", 1, "1:0.1", "gives feature 1 a second value"),
    *((f"1 qid:1 1:1\n\n1 qid:1 1:2 {token}\n", 3, token, "is not a feature") for token in (
        "-1:0.9", "1.5:0.9", "foo:0.9", ":0.9", "bar", "12", "3:", ":", "2:x", "2:0x10", "2:1_0", "2:inf",
        "2:-Infinity", "2:1e", "2:e5", "2:.", "2:-", "2:+-1", "2:1-3", "2:1.2.3", "2:1e5.2", "2:1e5e5", "2:3:4",
        "2::4", "2:1,5", "2:nanx", "9999999999999999999:1", "2:\u0663",
    )),
    ("1 qid:1 1:1 2\n1 qid:1 :3 1:2\n", 1, "2", "is not a feature"),
    ("1 qid:1 1:1 2:\n1 qid:1 3 1:2\n", 1, "2:", "is not a feature"),
]  # fmt: skip


@for_each("bad", BAD, ids=[repr(bad[2]) for bad in BAD])
def test_a_bad_token_is_named_by_file_and_line(write, reader, bad):
    text, line, token, problem = bad
    with pytest.raises(ra.InputError, match=rf"rows\.txt, line {line}: {re.escape(repr(token))} {re.escape(problem)}"):
        reader(write(text))


@for_each("bad", BAD_FEATURES, ids=[repr(bad[2]) for bad in BAD_FEATURES])
def test_a_bad_feature_is_named_if_features_are_read(write, bad):
    text, line, token, problem = bad
    with pytest.raises(ra.InputError, match=rf"rows\.txt, line {line}: {re.escape(repr(token))} {re.escape(problem)}"):
        read_features(write(text))


def test_unusual_white_space_signs_and_large_integers_are_read(write):
    path = write("9007199254740993\vqid:7 +1: 0.5\f2:1e300\n")
    assert read_features(path)[0].X.tolist() == [[0.5, 1e300]]
    assert read_letor(path).queries.labels.tolist() == [2.0**53]


@pytest.mark.parametrize("text", [GOOD.replace("\n", "\r"), "# head\r" + GOOD, GOOD.replace(" 25", " # a\r25")])
def test_a_carriage_return_within_a_line_is_refused(write, reader, text):
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 1 holds a carriage return.*\nHint: .*line feed"):
        reader(write(text))


def test_a_score_that_is_missing_or_too_large_is_refused(write):
    for token in ("1:nan", "1:NaN", "1:1e999"):
        with pytest.raises(ra.InputError, match=rf"line 2: '{token}' is not a finite number, which the score must be"):
            read_with_feature(write(f"1 qid:7 1:1\n0 qid:7 {token}\n"))
    for tokens, second in (("1:1 1:2", "1:2"), ("01:1 2:3 1:1", "1:1")):
        with pytest.raises(ra.InputError, match=f"line 1: '{second}' is a second value of the feature"):
            read_with_feature(write(f"1 qid:7 {tokens}\n"))
    with pytest.raises(ra.InputError, match="line 1: '1:' is not a finite number"):
        read_with_feature(write("1 qid:7 1: 0.5\n"))


def test_a_missing_feature_is_nan_in_a_table_and_ignored_if_not_read(write):
    path = write("1 qid:1 1:nan 2:1\n")
    assert np.isnan(read_features(path)[0].X).tolist() == [[True, False]]
    assert read_with_predictions(path).scores.tolist() == [1]
    assert read_letor(path, feature=2).scores.tolist() == [1]
    with pytest.raises(ra.InputError, match=r"rows\.txt, line 1: '1:1e999' is beyond float64"):
        read_features(write("1 qid:1 1:1e999 2:1\n"))
