"""The search: every convention of a grid is in one group, and has the value and the key of its group."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.binding.lowering import Binding
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.grid import values_to_search, with_refusals
from rankadapters.statistics.probing.case_maker import CaseMaker
from rankadapters.statistics.search import Data, Search
from tests.helpers.graded_queries import small

QUERIES, SCORES = small(3, n_queries=12)
GRID = {
    "gain": ("exp2", "linear"), "discount": ("log2", "jk2"), "ideal": ("cutoff", "ones"), "ties": ("input", "average"),
    "precision": ("float64", "float32"), "short": ("pad", "skip"), "missing": ("zero",), "unjudged": ("zero",),
    "empty": (0.0, 0.5, "skip"), "average": ("uniform", "query"),
}  # fmt: skip


def value_of(convention):
    try:
        return ra.evaluate(QUERIES, SCORES, convention).value
    except ra.InputError:  # every query is skipped
        return None


@pytest.mark.parametrize("cutoffs", [(5,), (None,), (1, 3, 60, 61, None)])
def test_every_convention_of_a_grid_is_in_the_group_of_its_value(cutoffs):
    found = {}
    for groups in Search(ra.NDCG, GRID, [Data(QUERIES, SCORES, cutoffs)]).groups():
        for value, policy in np.ndindex(groups.means.shape[:2]):
            for block in groups.conventions(value, policy):
                for fields in product(*block.values()):
                    convention = ra.NDCG(**dict(zip(block, fields, strict=True)))
                    found.setdefault(convention, []).append(groups.means[value, policy, 0])
    every = {
        ra.NDCG(k=k, **dict(zip(GRID, fields, strict=True))) for k in cutoffs for fields in product(*GRID.values())
    }
    assert set(found) == every
    for convention, means in found.items():
        expected = value_of(convention)
        assert all(np.isnan(mean) for mean in means) if expected is None else means == pytest.approx(
            [expected] * len(means), abs=1e-12
        )  # fmt: skip


def test_groups_of_equal_keys_give_every_query_the_same_value():
    values = {}
    for groups in Search(ra.NDCG, GRID, [Data(QUERIES, SCORES, (3,))]).groups():
        for value, policy in np.ndindex(groups.means.shape[:2]):
            convention = ra.NDCG(**{name: v[0] for name, v in groups.conventions(value, policy)[0].items()})
            per_query = ra.Evaluator(QUERIES, convention).per_query(SCORES).tobytes()
            values.setdefault(groups.key(value, policy, 0), set()).add(per_query)
    assert all(len(of_key) == 1 for of_key in values.values())
    assert len({next(iter(of_key)) for of_key in values.values()}) == len(values)


def test_conventions_that_refuse_the_scores_are_in_no_group():
    convention = ra.parse("xgboost.auc")
    grid = {name: (getattr(convention, name),) for name in convention.fields()} | {
        "pairs": ("label", "from_1"), "precision": ("float64", "float32"),
    }  # fmt: skip
    groups = Search(ra.AUC, grid, [Data(ra.Queries([1, 0, 2], group_sizes=[3]), np.array([1.0, 2.0, 1e39]))]).groups()
    found = []
    for part in groups:
        for value, policy in np.ndindex(part.means.shape[:2]):
            for block in part.conventions(value, policy):
                found += product(block["pairs"], block["precision"])
    assert sorted(found) == [("from_1", "float64"), ("label", "float64")]


def test_several_data_sets_are_searched_at_once():
    data = [Data(QUERIES, scores, (3,)) for scores in (SCORES, -SCORES)]
    [groups, *_] = Search(ra.NDCG, GRID, data).groups()
    convention = ra.NDCG(**{name: v[0] for name, v in groups.conventions(0, 0)[0].items()})
    expected = [ra.evaluate(QUERIES, each.scores, convention).value for each in data]
    assert groups.means[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["ndcg", "ap", "err", "auc", "query-rmse", "kendall"])
@pytest.mark.parametrize("k", [2, None])
def test_parts_of_a_data_set_have_the_bits_of_data_sets(measure, k):
    kind = MEASURES[measure]
    cases = [case for case in CaseMaker((0.0, 1.0, 2.0), k, 2).make_all() if len(case.labels) < 40][::4]
    cases.append(cases[0].split()[0])  # the parts differ in their numbers of queries
    labels, scores, sizes = (sum((getattr(case, name) for case in cases), ()) for name in ("labels", "scores", "sizes"))
    together = Data(ra.Queries(labels, group_sizes=sizes), np.array(scores), (k,), [len(case.sizes) for case in cases])
    apart = [Data(case.queries, np.array(case.scores), (k,)) for case in cases]
    grid = with_refusals(kind, values_to_search(kind, cases[0].queries))
    parts, data_sets = list(Search(kind, grid, [together]).groups()), list(Search(kind, grid, apart).groups())
    assert [part.blocks for part in parts] == [part.blocks for part in data_sets] != []
    assert [part.policies.blocks for part in parts] == [part.policies.blocks for part in data_sets]
    assert [part.means.tobytes() for part in parts] == [part.means.tobytes() for part in data_sets]


def test_beyond_all_rows_cutoffs_are_alike_unless_the_value_depends_on_them():
    """An ideal list of k ones grows beyond the rows, so that k = 40 and k = 50 give different numbers."""
    labels, scores, sizes = [1, 0, 1], [3, 2, 1], [3]
    convention = ra.presets.rectools(50)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    found = ra.audit.identify(labels, scores, value=f"{value:.8f}", group_sizes=sizes)
    assert any(match.covers(convention) for match in found)
    assert not any(match.covers(convention.at(40)) for match in found)
    usual = ra.presets.yahoo(50)
    value = ra.evaluate(labels, scores, usual, group_sizes=sizes).value
    [match] = [m for m in ra.audit.identify(labels, scores, value=f"{value:.8f}", group_sizes=sizes) if m.covers(usual)]
    assert match.covers(usual.at(40))


def test_ideal_lists_of_all_cutoffs_at_once_have_the_bits_of_each():
    together, apart = Binding(QUERIES, None, upto=20), Binding(QUERIES, None)
    for k in range(1, 21):
        for preset in (ra.presets.yahoo(k), ra.presets.letor4(k).replace(gain="linear")):
            one, other = preset.lower(together), preset.lower(apart)
            assert one.by_query["ideal"].tobytes() == other.by_query["ideal"].tobytes()


@pytest.mark.parametrize(
    ("preset", "labels", "varied"),
    [
        ("catboost.dcg@1", [0, 0.5, -(2.0**-70)], {"gain": ("linear", "linear-positive")}),
        ("yahoo@1", [0, 0, 0], {"empty": (0.0, 2.0**-70)}),
    ],
    ids=["gains", "empty queries"],
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
