"""Scores, labels and columns that an objective refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.core.gradient_data import DRAWING, EXACT, SHARES, STATELESS, data, kind
from tests.helpers.objective_values import EACH
from tests.tables import for_each


@pytest.mark.parametrize("value", [objectives.xgboost.ndcg(), objectives.xgboost.pairwise()])
def test_scores_beyond_float32_are_refused_where_it_compares_them(value):
    with pytest.raises(ra.InputError, match=r"scores\[1\] is -1e\+39, beyond float32"):
        objectives.gradients([1, 0], [0.0, -1e39], value, group_sizes=[2])


@pytest.mark.parametrize("value", [EXACT, objectives.catboost.pair_logit(), objectives.QueryRMSE()])
def test_scores_too_far_apart_are_refused(value):
    with pytest.raises(ra.InputError, match=r"scores\[[01]\] is -?1\.5e\+308, too far from the others of its query"):
        objectives.gradients([1, 0], [1.5e308, -1.5e308], value, group_sizes=[2])


OF_ANY_DISTANCE = (objectives.ListNet, objectives.ListMLE, objectives.QuerySoftMax, objectives.QueryCrossEntropy)


@for_each(
    "value",
    [
        value
        for value in (EXACT, *STATELESS, *DRAWING)
        if not isinstance(value, (*OF_ANY_DISTANCE, objectives.XENDCG)) and getattr(value, "sigmoid", "") != "table"
    ],
    ids=kind,
)
def test_of_scores_too_far_apart_the_lower_one_is_named_in_the_callers_order(value):
    labels, scores = [1, 0, 0, 1, 1, 1, 0], [0.0, -1.5e308, 1.0, 0.5, 1.5e308, 0.0, 2.0]
    with pytest.raises(ra.InputError, match=r"scores\[1\] is -1\.5e\+308, (too far from the others|beyond float32)"):
        objectives.gradients(labels, scores, value, qid=["a", "b", "a", "b", "b", "c", "c"])


def test_of_several_calls_of_a_kernel_the_first_row_is_told(monkeypatch):
    monkeypatch.setattr(ra.core.evaluation.threads, "WORK_PER_CALL", 1)
    scores, queries = [1.0, 0.0, 1.5e308, -1.5e308, 1.6e308, -1.6e308], ra.Queries([1, 0] * 3, group_sizes=[2] * 3)
    for value in (EXACT, objectives.QueryRMSE()):
        with pytest.raises(ra.InputError, match=r"scores\[([23])\] is -?1\.5e\+308, too far") as told:
            objectives.gradients(queries, scores, value)
        assert f"scores[{told.value.row}] " in str(told.value)
    for convention in ("xgboost@2", "catboost.query_auc"):
        with pytest.raises(ra.InputError, match=r"scores\[2\] is 1\.5e\+308, beyond float32") as told:
            ra.evaluate(queries, scores, ra.parse(convention).replace(precision="float32"))
        assert told.value.row == 2


@for_each("value", [*STATELESS, *DRAWING], ids=kind)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_are_refused(value, bad):
    labels, scores, sizes = data(value)
    scores[11] = bad
    bound = value.bind(ra.Queries(labels, group_sizes=sizes))
    before = bound.state.copy()
    with pytest.raises(ra.InputError, match=r"scores\[11\] is"):
        bound.gradients(scores)
    np.testing.assert_array_equal(bound.state, before)


@for_each("value", STATELESS, ids=kind)
@pytest.mark.parametrize("bad", [[4], [4, 9]])
def test_of_some_queries_the_first_that_has_such_a_score_is_told(value, bad):
    labels, scores, _ = data(value)
    scores = np.array(scores, float)
    scores[bad] = math.nan
    bound = value.bind(ra.Queries(labels, group_sizes=[3, 3, scores.size - 6]))
    with pytest.raises(ra.InputError, match="scores of the query of row 4 are not finite") as told:
        bound.of_queries(scores, 1, 3)
    assert told.value.row == 4
    assert np.isfinite(bound.of_queries(scores, 0, 1)).all()


def test_of_some_queries_the_first_row_that_is_too_far_from_the_others_is_told():
    bound = EACH[objectives.StochasticRank].bind(ra.Queries([1, 0, 1, 0], group_sizes=[2, 2]))
    with pytest.raises(ra.InputError, match=r"scores of the query of row 2 are .* too far apart") as told:
        bound.of_queries(np.array([0.0, 1.0, -1.5e308, 1.5e308]), 1, 2)
    assert told.value.row == 2


@pytest.mark.parametrize(
    ("value", "labels", "message"),
    [
        (objectives.xgboost.map(), [0, 2], r"labels\[1\] is 2, but average precision takes only 0 and 1"),
        (objectives.lightgbm.xendcg(), [0, -1], r"labels\[1\] is -1; the objective takes labels from 0 to 1000"),
        (
            objectives.catboost.query_soft_max(),
            [-1, 1],
            r"labels\[0\] is -1; the objective takes labels from 0 to 1e\+30",
        ),
        (SHARES, [0.5, 1.5], r"labels\[1\] is 1\.5; the objective takes labels from 0 to 1"),
        (EXACT, [0, -1], r"labels\[1\] is -1"),
    ],
)
def test_labels_that_an_objective_cannot_take_are_refused(value, labels, message):
    with pytest.raises(ra.InputError, match=message):
        objectives.gradients(labels, [0.0, 1.0], value, group_sizes=[2])


def test_weights_under_a_uniform_average_are_refused():
    value = EXACT.replace(convention=ra.presets.yahoo(5))
    with pytest.raises(ra.InputError, match="average='uniform', which would ignore it"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], query_weight=[2.0])


@for_each("value", [v for v in [*STATELESS, *DRAWING] if "convention" not in v.fields()], ids=kind)
@pytest.mark.parametrize("column", ["retrieved", "judged"])
def test_unjudged_rows_need_a_convention(value, column):
    with pytest.raises(ra.InputError, match="mean something under a convention only"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], **{column: [True, False]})
