"""An error with one row to blame says which, from 0 in the order given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.tables import for_each

QID = ["b", "a", "b", "a"]  # not contiguous: rows 0 and 2 come first
LABELS = [1, 0, 0, 1]


def evaluate(labels=LABELS, scores=(4.0, 3.0, 2.0, 1.0), convention="yahoo@2", **columns):
    return ra.evaluate(labels, scores, convention, **{"qid": QID, **columns})


NAN = float("nan")
BLAMED = {
    "labels": lambda: evaluate(labels=[1, NAN, 0, 1]),
    "negative label": lambda: evaluate(labels=[1, -1, 0, 1]),
    "label outside the table": lambda: evaluate(labels=[1, 7, 0, 1], convention="lightgbm@2+gain=table_0_1_3"),
    "huge label": lambda: evaluate(labels=[1, 2000, 0, 1]),
    "scores": lambda: evaluate(scores=[4.0, NAN, 2.0, 1.0]),
    "score beyond float32": lambda: evaluate(scores=[4.0, 1e300, 2.0, 1.0], convention="lightgbm@2+precision=float32"),
    "missing label": lambda: evaluate(labels=[1, None, 0, 1]),
    "qid": lambda: evaluate(qid=["b", None, "b", "a"]),
    "row_weight": lambda: evaluate(row_weight=[1, NAN, 1, 1]),
    "negative row_weight": lambda: evaluate(row_weight=[1, -1, 1, 1]),
    "row_weight of few digits": lambda: evaluate(row_weight=[1, 1e-310, 1, 1]),
    "docid": lambda: evaluate(docid=["x", 3, "y", "z"]),
    "neither": lambda: evaluate(retrieved=[True, False, True, True], judged=[True, False, True, True]),
    "unjudged": lambda: evaluate(judged=[True, False, True, True]),
    "AUC's labels": lambda: evaluate(labels=[1, 2, 0, 1], convention=ra.presets.xgboost.auc().replace(pairs="unit")),
    "objective": lambda: ra.objectives.gradients(
        [1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0], ra.objectives.xgboost.map(), qid=QID
    ),
    "listwise": lambda: ra.objectives.gradients(
        [1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0], ra.objectives.catboost.query_cross_entropy(), qid=QID
    ),
}


@for_each("case", BLAMED)
def test_the_row_to_blame_is_an_attribute(case):
    with pytest.raises(ra.InputError) as caught:
        BLAMED[case]()

    assert caught.value.row == 1
    assert pickle.loads(pickle.dumps(caught.value)).row == 1


@pytest.mark.parametrize(
    "fails",
    [
        lambda: evaluate(query_weight=[1, NAN]),
        lambda: evaluate(query_weight=[1, -1]),
        lambda: evaluate(query_weight=[1, 1e-310]),
        lambda: evaluate(scores=[1.0]),
        lambda: evaluate(pairs=([0], [2], [-1.0])),
        lambda: evaluate(labels=np.ones((2, 2))),
    ],
)
def test_where_no_row_is_to_blame_there_is_none(fails):
    with pytest.raises(ra.InputError) as caught:
        fails()

    assert caught.value.row is None
