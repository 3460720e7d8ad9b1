"""Properties that every value has, whichever kernel computes it."""

from __future__ import annotations

import copy
import pickle
from math import fsum

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import TEXTBOOK, ragged_columns


@pytest.mark.parametrize("name", ra.presets.names())
def test_the_ideal_order_gives_exactly_one(name):
    labels, _, qid = ragged_columns(5, longest=300)
    convention = getattr(ra.presets, name)(10).replace(empty=1, short="pad")
    if convention.ideal in {"ones", "all"}:  # such an ideal may exceed the DCG of every ranking
        convention = convention.replace(ideal="cutoff")
    if convention.gain.startswith("table"):
        convention = convention.replace(gain="table_0_1_3_7")
    docid = [f"d{row}" for row in range(labels.size)]
    for scores in (labels, labels + np.random.default_rng(0).random(labels.size) / 2):
        assert ra.evaluate(labels, scores, convention, qid=qid, docid=docid).value == 1.0
    fractions = np.repeat([0.1, 0.3, 0.7], 3)
    assert ra.evaluate(fractions, fractions, TEXTBOOK.replace(gain="linear"), group_sizes=[9]).value == 1.0


def test_the_mean_is_the_exact_sum_divided_and_rounded():
    labels, scores, qid = ragged_columns(4)
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid)
    values = evaluator.per_query(scores)
    assert evaluator.evaluate(scores).value == fsum(values) / values.size


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:the order of tied scores changes:rankadapters.LabelsWarning")
def test_evaluating_many_conventions_gives_the_score_of_each_alone():
    labels, scores, qid = ragged_columns(7, longest=120)
    docid = [str(row) for row in range(labels.size)]
    labels = np.minimum(labels, 2)
    conventions = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (1, 3, 10, 50, None)]
    conventions += [TEXTBOOK.replace(ties=ties) for ties in ("reverse", "best", "docid-ascending")]
    for dtype in (np.float64, np.float32):
        results = ra.evaluate(labels, scores.astype(dtype), conventions, qid=qid, docid=docid)
        assert [convention.name for convention in results] == [convention.name for convention in conventions]
        for convention, score in results.items():
            assert score == ra.evaluate(labels, scores.astype(dtype), convention, qid=qid, docid=docid)


def test_exp2_gains_of_whole_labels_are_exact():
    from rankadapters.core.binding.gains import gains_of

    labels = np.arange(1024.0)
    gains = gains_of(labels, None, TEXTBOOK.gain)
    assert gains.tolist() == [float(2**i - 1) for i in range(1024)]


@pytest.mark.parametrize(("label", "weights"), [(1.0, [1e308, 1e308]), (1.7e308, None)])
def test_a_sum_beyond_float64_may_have_a_mean_within_it(label, weights):
    fields = {name: value for name, value in ra.presets.sklearn(1).to_dict().items() if name not in {"ideal", "empty"}}
    score = ra.evaluate([label, label], [1, 2], ra.DCG(**fields), group_sizes=[1, 1], query_weight=weights)
    assert score.value == label


@pytest.mark.parametrize("preset", ["lightgbm@10", "lightgbm.auc", "lightgbm.map@3", "catboost.mrr@3", "yahoo.err"])
@pytest.mark.parametrize("make_copy", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copied_or_pickled_evaluator_gives_the_same_score(preset, make_copy):
    evaluator = ra.Evaluator([1, 0, 0, 1], preset, group_sizes=[2, 2])
    copied = make_copy(evaluator)
    score, score_of_copy = evaluator.evaluate([0.5, 0.7, 0.2, 0.1]), copied.evaluate([0.5, 0.7, 0.2, 0.1])
    assert score_of_copy == score
    assert score_of_copy - score == 0.0
