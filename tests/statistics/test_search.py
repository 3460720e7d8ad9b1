"""The search puts each convention of a grid into a group, with the value and the key of that group."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.grid import has_cutoff, values_to_search, with_refusals
from rankadapters.statistics.search import Data, Search
from tests.helpers.parameters import some
from tests.helpers.rankings import small_queries

QUERIES, SCORES = small_queries(3, n_queries=12)
GRID = {  # some choices of each field
    "gain": ("exp2", "linear"), "discount": ("log2", "jk2"), "ideal": ("cutoff", "ones"), "ties": ("input", "average"),
    "precision": ("float64", "float32"), "short": ("pad", "skip"), "missing": ("zero",), "unjudged": ("zero",),
    "empty": (0.0, 0.5, "skip"), "average": ("uniform", "query"),
}  # fmt: skip


def value_of(convention):
    try:
        return ra.evaluate(QUERIES, SCORES, convention).value
    except ra.InputError:  # no query is left to average
        return None


@pytest.mark.long
@pytest.mark.parametrize("cutoffs", [(5,), (None,), (1, 3, 60, 61, None)])
def test_every_convention_of_a_grid_is_in_the_group_of_its_value(cutoffs):
    means_by_convention = {}
    for groups in Search(ra.NDCG, GRID, [Data(QUERIES, SCORES, cutoffs)]).groups():
        for value, policy in np.ndindex(groups.means.shape[:2]):
            for block in groups.conventions(value, policy):
                for fields in product(*block.values()):
                    convention = ra.NDCG(**dict(zip(block, fields, strict=True)))
                    means_by_convention.setdefault(convention, []).append(groups.means[value, policy, 0])
    conventions = {
        ra.NDCG(k=k, **dict(zip(GRID, fields, strict=True))) for k in cutoffs for fields in product(*GRID.values())
    }
    assert set(means_by_convention) == conventions
    for convention, means in means_by_convention.items():
        expected = value_of(convention)
        assert all(np.isnan(mean) for mean in means) if expected is None else means == pytest.approx(
            [expected] * len(means), abs=1e-12
        )  # fmt: skip


def test_groups_of_equal_keys_give_every_query_the_same_value():
    values = {}
    for groups in Search(ra.NDCG, GRID, [Data(QUERIES, SCORES, (3,))]).groups():
        for value, policy in np.ndindex(groups.means.shape[:2]):
            convention = ra.NDCG(**{name: options[0] for name, options in groups.conventions(value, policy)[0].items()})
            per_query = ra.Evaluator(QUERIES, convention).per_query(SCORES).tobytes()
            values.setdefault(groups.key(value, policy, 0), set()).add(per_query)
    assert all(len(values_of_key) == 1 for values_of_key in values.values())
    assert len({next(iter(values_of_key)) for values_of_key in values.values()}) == len(values)


def test_cutoffs_beyond_all_rows_are_equal_unless_the_value_depends_on_them():
    """An ideal list of k ones may be longer than the query, so that k = 40 and k = 50 give different values."""
    labels, scores, sizes = [1, 0, 1], [3, 2, 1], [3]
    convention = ra.presets.rectools(50)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    matches = ra.audit.identify(labels, scores, value=f"{value:.8f}", group_sizes=sizes)
    assert any(match.covers(convention) for match in matches)
    assert not any(match.covers(convention.at(40)) for match in matches)
    yahoo = ra.presets.yahoo(50)
    value = ra.evaluate(labels, scores, yahoo, group_sizes=sizes).value
    matches = ra.audit.identify(labels, scores, value=f"{value:.8f}", group_sizes=sizes)
    [match] = [match for match in matches if match.covers(yahoo)]
    assert match.covers(yahoo.at(40))


@pytest.mark.parametrize(
    ("preset", "labels", "varied"),
    [
        ("catboost.dcg@1", [0, 0.5, -(2.0**-70)], {"gain": ("linear", "linear-positive")}),
        ("yahoo@1", [0, 0, 0], {"empty": (0.0, 2.0**-70)}),
    ],
)
def test_differences_far_below_1_keep_groups_apart(preset, labels, varied):
    convention = ra.parse(preset)
    queries, scores = ra.Queries(labels, group_sizes=[3]), np.array([1.0, 2.0, 3.0])
    single = {name: (getattr(convention, name),) for name in convention.fields() if name != "k"}
    means = {}
    for groups in Search(type(convention), {**single, **varied}, [Data(queries, scores, (1,))]).groups():
        for value, policy in np.ndindex(groups.means.shape[:2]):
            [block] = groups.conventions(value, policy)
            for fields in product(*block.values()):
                member = type(convention)(**dict(zip(block, fields, strict=True)))
                mean = ra.evaluate(queries, scores, member).value
                assert groups.means[value, policy, 0] == pytest.approx(mean, rel=1e-9, abs=0), member
            means[groups.key(value, policy, 0)] = mean
    assert len(set(means.values())) == len(means) == 2


@pytest.mark.parametrize("measure", [ra.Kendall, ra.QueryRMSE])
def test_a_measure_without_a_cutoff_has_the_same_values_at_each(measure):
    grid = with_refusals(measure, values_to_search(measure, QUERIES))
    alone, at_each = (
        np.concatenate([groups.means.ravel() for groups in Search(measure, grid, [Data(QUERIES, SCORES, k)]).groups()])
        for k in ((None,), (2, 5, None))
    )
    assert {*alone.tolist()} == {*at_each.tolist()}


@pytest.mark.long
@pytest.mark.parametrize("measure", some(filter(has_cutoff, MEASURES.values()), 4))
def test_all_cutoffs_at_once_give_the_values_of_each_cutoff(measure):
    grid, cutoffs = with_refusals(measure, values_to_search(measure, QUERIES)), (2, 5, 61, None)

    def means(*some_cutoffs):
        return {
            (k, *((name, values) for name, values in block.items() if name != "k")): groups.means[value, policy, 0]
            for groups in Search(measure, grid, [Data(QUERIES, SCORES, some_cutoffs)]).groups()
            for value, policy in np.ndindex(groups.means.shape[:2])
            for block in groups.conventions(value, policy)
            for k in block["k"]
        }

    at_once, singly = means(*cutoffs), {key: mean for k in cutoffs for key, mean in means(k).items()}
    assert at_once.keys() == singly.keys()
    assert list(at_once.values()) == pytest.approx([singly[key] for key in at_once], rel=1e-14, abs=0, nan_ok=True)
