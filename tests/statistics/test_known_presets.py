"""Presets by label, the presets among conventions, and the presets that are nearest to conventions."""

from __future__ import annotations

import pytest

import rankadapters as ra
from rankadapters.core.measures import AP, AUC, NDCG
from rankadapters.statistics.known_presets import (
    change_cost,
    nearest_to_block,
    nearest_to_blocks,
    preset_labels,
    presets_by_label,
    starting_presets,
    unlikelihood,
)


def block_of(convention, **fields):
    return {name: (value,) for name, value in convention.to_dict().items()} | fields


def test_usual_cutoffs_come_first_and_all_others_by_size():
    cutoffs = [2, 7, 15, 50, None, 100, 20, 3, 1, 5, 10, 4]
    assert sorted(cutoffs, key=unlikelihood) == [10, 5, 1, 3, 20, 100, None, 50, 15, 2, 4, 7]


@pytest.mark.parametrize(("measure", "k"), [(NDCG, 7), (NDCG, None), (AP, 3), (AUC, None)])
def test_the_presets_among_conventions_are_those_with_the_same_fields(measure, k):
    presets = presets_by_label(measure, k)
    assert len(presets) > 2
    for label, preset in presets.items():
        same = tuple(other for other, candidate in presets.items() if candidate == preset)
        assert label in same
        assert preset_labels(measure, [block_of(preset)]) == same


def test_a_block_has_the_presets_of_each_of_its_cutoffs():
    at_7, uncut = ra.presets.torchmetrics(7), ra.presets.torchmetrics(None)
    assert at_7.replace(k=None) == uncut
    of_7, of_all = (set(preset_labels(NDCG, [block_of(convention)])) for convention in (at_7, uncut))
    both = block_of(at_7, k=(7, None))
    assert set(preset_labels(NDCG, [both])) == of_7 | of_all
    other = block_of(ra.presets.letor4(7))
    assert preset_labels(NDCG, [other, both]) == tuple(
        label for label in presets_by_label(NDCG, 7) if label in of_7 | of_all | {*preset_labels(NDCG, [other])}
    )
    assert preset_labels(NDCG, [block_of(at_7.replace(empty=0.125))]) == ()


@pytest.mark.parametrize(
    ("cutoffs", "k"), [((7, 6), 6), ((11, 3, 10), 10), ((4, None), None), ((50, 15), 50), ((None,), None)]
)
def test_the_nearest_preset_is_at_the_likeliest_cutoff(cutoffs, k):
    letor4 = ra.presets.letor4(k)
    near = nearest_to_block(NDCG, block_of(letor4, k=cutoffs))
    assert (near.convention, near.changes) == (letor4, {})
    assert "letor4" in near.presets


@pytest.mark.parametrize("name", ["yahoo@10", "letor4@10", "sklearn@10", "lightgbm@10", "ranx@10"])
def test_the_nearest_preset_needs_the_fewest_and_likeliest_changes(name):
    convention = ra.parse(name).replace(empty=0.125, ties="best")
    near = nearest_to_block(NDCG, block_of(convention))
    costs = {label: change_cost(NDCG, convention.diff(preset)) for label, preset in starting_presets(NDCG, 10).items()}
    assert near.convention == convention
    assert near.changes == {field: getattr(convention, field) for field in near.changes}
    assert {costs[label] for label in near.presets} == {min(costs.values())}
    assert near.cost[:2] == (min(costs.values()), unlikelihood(10))
    assert near.cost[2] == list(costs).index(near.presets[0])


def test_the_nearest_of_several_blocks_names_the_presets_of_all_with_its_changes():
    changed = [ra.parse(f"{tool}@10").replace(empty=0.125) for tool in ("letor4", "yahoo", "sklearn")]
    far = changed[0].replace(ties="best")
    alone = [nearest_to_block(NDCG, block_of(convention)) for convention in changed]
    near = nearest_to_blocks(NDCG, [block_of(far), *map(block_of, changed)])
    assert near.changes == {"empty": 0.125}
    assert set(near.presets) == {label for each in alone if each.changes == near.changes for label in each.presets}
    assert near.presets[0] == min(alone, key=lambda each: each.cost).presets[0]
