"""Objectives that draw at random: refused fields and labels, and fields that mean the same."""

import pytest

from rankadapters import objectives
from tests.objectives.examples import simple_stochastic_rank, simple_yetirank


@pytest.mark.parametrize("delta", ["exact", "catboost"])
def test_catboosts_pair_weights_are_exact_for_dcg_ndcg_and_pfound(delta):
    for text in ("catboost@5", "catboost.dcg@5", "catboost.pfound@5"):
        assert simple_yetirank(text, delta=delta).delta == "exact"
    for text in ("catboost.mrr@5", "catboost.map@5", "catboost.err@5"):
        assert simple_yetirank(text, delta=delta).delta == delta


def test_catboosts_estimate_is_exact_if_sigma_is_1_and_no_reader_stops():
    assert simple_stochastic_rank("catboost@5", arithmetic="catboost").arithmetic == "exact"
    assert simple_stochastic_rank("catboost@5", arithmetic="catboost", sigma=2).arithmetic == "catboost"
    assert objectives.catboost.stochastic_rank("ERR").arithmetic == "catboost"


@pytest.mark.long
@pytest.mark.parametrize("short", ["skip", "zero"])
def test_a_query_shorter_than_k_has_no_gradient_of_filtered_dcg(short):
    value = objectives.catboost.stochastic_filter(num_estimations=4)
    scores, sizes = [0.5, 0.2, 0.1, 0.3, 0.6, 0.9], [4, 2]
    gradients = {
        policy: objectives.gradients(
            [1, 0, 2, 1, 0, 1],
            scores,
            value.replace(convention=value.convention.replace(k=3, short=policy)),
            group_sizes=sizes,
        )[0].tolist()
        for policy in ("pad", short)
    }
    assert gradients[short] == [*gradients["pad"][:4], 0, 0]
    assert 0 not in gradients["pad"]
