"""Query weights and gradients: `gradients` and a toolkit's training apply them alike, and none are ignored."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.objectives.examples import ALL, NOISY, RANDOMIZED, STATELESS, objective_id

pytestmark = pytest.mark.long

SIZES = [3, 5, 2, 4]
WEIGHTS = [0.25, 3.0, 1.5, 0.7]  # their mean is 1.3625
LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0])
SCORES = np.random.default_rng(0).standard_normal(14).astype(np.float32)


def gradients(value, weights):
    return objectives.gradients(LABELS, SCORES, value, group_sizes=SIZES, query_weight=weights)


def averaged_by_query(value):
    """Return the objective; one whose convention ignores weights gets an average that counts them."""
    if "convention" not in value.fields() or value.uses_weights:
        return value
    return value.replace(convention=value.convention.replace(average="query"))


@pytest.mark.parametrize("value", ALL, ids=objective_id)
def test_weights_multiply_gradients_and_xgboost_objectives_divide_them_by_their_mean(value):
    divides, value = getattr(value, "hessian", "") == "doubled", averaged_by_query(value)
    assert (value.uses_weights, value.divides_weights) == (True, divides)
    factor = np.float32(len(WEIGHTS) / np.float32(WEIGHTS).sum(dtype=float)) if divides else np.float32(1)
    for plain, weighted in zip(gradients(value, None), gradients(value, WEIGHTS), strict=True):
        np.testing.assert_array_equal(weighted, plain * np.repeat(np.float32(WEIGHTS), SIZES) * factor)
        assert np.abs(weighted - plain).max() > 0.01


@pytest.mark.parametrize("value", ALL, ids=objective_id)
def test_only_objectives_that_draw_change_from_call_to_call(value):
    binding = value.bind(ra.Queries(LABELS, group_sizes=SIZES))
    initial_state, first, second = binding.state.copy(), binding.gradients(SCORES), binding.gradients(SCORES)
    draws = value in [*RANDOMIZED, *NOISY]
    assert np.array_equal(first, second) != draws
    assert np.array_equal(initial_state, binding.state) != draws
    assert (binding.state.size > 0) == draws


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_only_the_ratios_of_xgboosts_weights_matter(factor):
    value = objectives.xgboost.ndcg()
    rescaled = gradients(value, np.array(WEIGHTS) * factor)
    np.testing.assert_allclose(rescaled, gradients(value, WEIGHTS), rtol=1e-6)


def test_only_objectives_that_divide_refuse_weights_that_add_up_to_0():
    with pytest.raises(ra.InputError, match=r"query_weight adds up to 0\.\nHint: some query needs a weight above 0"):
        gradients(objectives.xgboost.pairwise(), [0, 0, 0, 0])
    grad, hess = gradients(objectives.catboost.pair_logit(), [0, 0, 0, 0])
    assert not grad.any()
    assert not hess.any()


@pytest.mark.parametrize("value", [objectives.xgboost.ndcg(), objectives.ListNet()], ids=objective_id)
@pytest.mark.parametrize("weight", [1e-39, 1e-50, 1e39, 1e300])
def test_weights_that_float32_cannot_hold_are_refused(value, weight):
    message = rf"query_weight\[2\] is {weight}; allowed are 0 and 1.17549e-38 to 3.40282e+38.*\nHint: rescale"
    with pytest.raises(ra.InputError, match=message.replace("e+", r"e\+")):
        gradients(value, [1, 0, weight, 1])


@pytest.mark.parametrize("value", [v for v in STATELESS if "convention" not in v.fields()], ids=objective_id)
@pytest.mark.parametrize("column", ["row_weight", "pairs"])
def test_columns_that_an_objective_would_ignore_are_refused(value, column):
    columns = {"row_weight": np.ones(14), "pairs": ([1], [0])}
    with pytest.raises(ra.InputError, match=rf"{column} was given, but this objective .* ignore it"):
        objectives.gradients(LABELS, SCORES, value, group_sizes=SIZES, **{column: columns[column]})
