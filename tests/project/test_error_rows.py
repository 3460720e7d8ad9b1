"""Readers, adapters and audits say which row is to blame, from 0 in the order given."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import InputError

QID = ["b", "a", "b", "a"]  # not contiguous: rows 0 and 2 come first
LABELS, SCORES = [1, 0, 0, 1], [4.0, 3.0, 2.0, 1.0]


def row_of(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value.row


GOOD = "1 qid:1 1:1 #docid = a\n\n# a comment\n0 qid:1 1:2 #docid = b\n"  # rows 0 and 1
LETOR = {
    "label": "x qid:2 1:1\n",
    "feature": "1 qid:2 1:one\n",
    "value of the score": "1 qid:2 1:9007199254740993\n",
    "query that returns": "1 qid:2 1:1\n0 qid:1 1:1\n",
}


@pytest.mark.parametrize("fault", LETOR)
def test_a_row_of_the_second_feature_file_is_counted_from_the_first(write, fault):
    second = "# a comment\n" + ("1 qid:3 1:1\n" if fault != "query that returns" else "") + LETOR[fault]
    files = [write(GOOD, "a.txt"), write(second, "b.txt")]
    assert row_of(lambda: ra.io.read_letor(files, feature=1)) == 3


def test_a_faults_row_is_counted_through_all_that_is_read_together(write):
    from rankadapters.io.line_blocks import BLOCK

    n = BLOCK // 8
    path = write("1 qid:1 1:1\n" * n + "x\n", "long.txt")
    assert row_of(lambda: ra.io.read_letor(path)) == n


def test_docids_and_predictions_have_rows(write):
    rows, one = write(GOOD, "a.txt"), write("1\n", "one.txt")
    twice = write("1 qid:1 1:1 #docid = a\n0 qid:1 1:2 #docid = a\n", "twice.txt")
    none = write(GOOD + "1 qid:1 1:1\n", "none.txt")
    assert row_of(lambda: ra.io.read_letor(twice)) == 1
    assert row_of(lambda: ra.io.read_letor(none, docids=True)) == 2
    assert row_of(lambda: ra.io.read_letor(rows, predictions=[one, write("x\n", "x.txt")])) == 1
    assert row_of(lambda: ra.io.read_letor(rows, predictions=[one, write("1\n2\n", "two.txt")])) is None


@pytest.mark.parametrize("row", ["1 qid:7 1:1e999\n", "1 qid:seven 1:1\n", "1 qid:7 1:one\n"])
def test_svmlight_rows_are_counted_from_the_parts_first_file(write, row):
    files = [write(GOOD, "a.txt"), write("0 qid:2 1:1\n" + row, "b.txt")]
    assert row_of(lambda: ra.io.read_features(files[0], files)) == 3


TABLE = "query,grade,model,doc,weight\n7,1,0.5,a,1\n7,0,0.25,b,1\n"


@pytest.mark.parametrize(
    "line",
    [
        "7,1,x,c,1", "7,1,nan,c,1", "7,,1,c,1", "7,9007199254740993,1,c,1", "7,1,1,a,1", "7,1,1,c,2", "7,1,1,c",
        "8,1,1,c,1\n7,1,1,d,1",
    ],
)  # fmt: skip
def test_rows_of_a_table(write, line):
    pytest.importorskip("pyarrow")
    path = write(f"{TABLE}{line}\n", "table.csv")
    columns = {"label": "grade", "score": "model", "qid": "query", "docid": "doc", "query_weight": "weight"}
    assert row_of(lambda: ra.io.read_table(path, **columns)) == (3 if line.startswith("8") else 2)


@pytest.mark.parametrize("line", ["1 Q0 c 3 x t\n", "1 Q0 c\v 3 1 t\n", "1 Q0 c 3\n", "1 Q0 a 3 0.5 t\n"])
def test_rows_of_a_run(write, line):
    qrels = write("1 0 a 1\n", "qrels")
    assert row_of(lambda: ra.io.read_trec(qrels, write(f"# head\n1 Q0 a 1 1 t\n1 Q0 b 2 0.5 t\n{line}", "run"))) == 2


def test_the_same_error_is_about_more_and_keeps_its_class_and_row():
    nearest = ra.presets.yahoo(3)
    found = ra.UnsupportedConventionError("no.\nHint: yes.", nearest=nearest).about("model 'a'")
    assert (type(found), str(found), found.nearest) == (
        ra.UnsupportedConventionError,
        "model 'a': no.\nHint: yes.",
        nearest,
    )
    first = ra.InputError("no.", row=0)
    assert first.about("a").about("b").row == 0
    assert str(first) == "no."


def test_models_keep_the_row_and_say_whose_it_is():
    pytest.importorskip("scipy")
    models = {"good": SCORES, "bad": [1.0, float("nan"), 2.0, 3.0]}
    assert row_of(lambda: ra.audit.order(LABELS, models, ["yahoo@2"], qid=QID)) == 1
    judged = ra.Queries(LABELS, qid=QID, judged=[True, True, False, True])
    each = {"good": ra.Queries(LABELS, qid=QID), "bad": judged}
    with pytest.raises(InputError, match=r"^model 'bad': row 2 was retrieved but not judged") as caught:
        ra.audit.order(each, {"good": SCORES, "bad": SCORES}, ["yahoo@2"])
    assert caught.value.row == 2


def test_sklearn_names_the_callers_row():
    pytest.importorskip("sklearn")
    assert row_of(lambda: ra.sklearn.check_parity([1, 0, -1, 1], SCORES, "sklearn@2", qid=QID)) == 2


def test_lightgbm_names_the_callers_row():
    pytest.importorskip("lightgbm")
    assert row_of(lambda: ra.lightgbm.check_parity([1, 0, 99, 1], SCORES, "lightgbm@2", qid=QID)) == 2


def test_xgboost_names_the_callers_row():
    pytest.importorskip("xgboost")
    assert row_of(lambda: ra.xgboost.check_parity([1, 0, 99, 1], SCORES, "xgboost@2", qid=QID)) == 2


def test_catboost_names_the_callers_row():
    pytest.importorskip("catboost")
    exp2 = ra.presets.catboost(2).replace(gain="exp2")
    assert row_of(lambda: ra.catboost.check_parity([1, 0, -1, 1], SCORES, exp2, qid=QID)) == 2


def test_a_callable_objective_names_the_row_of_its_round():
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.zeros((4, 1)), label=[1, 0, 0, 1], group=[2, 2]).construct()
    objective = ra.lightgbm.lambdarank("lightgbm@2", truncation=2)
    with pytest.raises(InputError, match=r"^round 1: scores\[2\] is nan") as caught:
        objective(np.array([4.0, 3.0, np.nan, 1.0]), data)
    assert caught.value.row == 2
