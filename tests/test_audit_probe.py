"""Probing: the convention of a function is found, and a function with a mistake is attributed to none."""

from __future__ import annotations

import random

import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.statistics.grid import has_cutoff, searched

LOSSES = {"pair-logit", "query-rmse", "query-soft-max", "query-cross-entropy"}
RANKED = [name for name in MEASURES if name not in LOSSES]
TAKES = ("query", "queries", "groups")
CUTOFFS = (None, 3)


def as_function(convention, takes):
    """Return a convention as somebody's function."""

    def function(labels, scores, queries=None):
        sizes = [len(labels)] if takes == "query" else queries
        return ra.evaluate(labels, scores, convention, **{"qid" if takes == "queries" else "group_sizes": sizes}).value

    return function


def random_convention(draw, measure):
    grid = searched(MEASURES[measure], ra.Queries([1, 0], group_sizes=[2]))
    while True:
        fields = {name: draw.choice(values) for name, values in grid.items()}
        if has_cutoff(MEASURES[measure]):
            fields["k"] = draw.choice(CUTOFFS)
        try:
            return MEASURES[measure](**fields)
        except ra.ConventionError:
            continue


def random_data(draw, n_queries):
    """Return labels, scores and sizes as no probe makes them."""
    sizes = [draw.randint(1, 9) for _ in range(n_queries)]
    labels = [draw.choice([0, 0, 1]) for _ in range(sum(sizes))]
    return labels, [draw.choice([0.5, 0.6, 0.7, 0.7 + 1e-9, -0.5]) for _ in labels], sizes


def value(convention, labels, scores, sizes):
    try:
        return ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    except ra.InputError:
        return None


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("takes", TAKES)
@pytest.mark.parametrize("measure", RANKED)
def test_random_conventions_are_found_again(measure, takes):
    draw = random.Random(f"{measure} {takes}")
    for _ in range(4):
        convention = random_convention(draw, measure)
        found = ra.audit.probe(
            as_function(convention, takes), takes=takes, k=getattr(convention, "k", None), measures=measure
        )
        assert found.convention is not None, convention
        for _ in range(30):
            data = random_data(draw, 1 if takes == "query" else 4)
            expected = value(convention, *data)
            if expected is not None:
                assert value(found.convention, *data) == pytest.approx(expected, abs=1e-9), (convention, data)


@pytest.mark.parametrize("k", [1, 2, 7, 10, 100, None])
@pytest.mark.parametrize("text", ["textbook", "sklearn", "lightgbm.map", "letor4.p"])
def test_an_unknown_cutoff_is_found(text, k):
    convention = ra.parse(f"{text}@{k or 'all'}")
    found = ra.audit.probe(as_function(convention, "query"), takes="query", k="unknown", measures=convention.measure)
    assert getattr(found.convention, "k", None) == k
