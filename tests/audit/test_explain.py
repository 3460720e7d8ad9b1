"""`ra.audit.explain` splits the gap between the values of two conventions into parts, one per differing field."""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.explanation import explain_pair
from rankadapters.statistics.shapley import split, split_columns
from tests.helpers.rankings import mq2008, small_queries

YAHOO, LETOR4, LIGHTGBM = ra.presets.yahoo(10), ra.presets.letor4(10), ra.presets.lightgbm(5)


def test_the_gap_of_bm25_on_mq2008_is_split_over_short_and_empty_queries():
    # Busa-Fekete et al. (2012), Section 3; both values come from the original programs, see docs/paper.md.
    data = mq2008()
    report = ra.audit.explain(data.queries, data.scores, YAHOO, LETOR4)
    assert f"{report.gap:.4f}" == "-0.5169"
    assert round(0.1623 - 0.6791, 4) == -0.5168  # from the rounded values in the paper's tables
    assert list(report.contributions) == ["gain", "discount", "short", "empty"]
    assert report.contributions["gain"] == 0  # for labels 0, 1 and 2 the gain table equals 2^label - 1
    assert report.contributions["short"] < report.contributions["empty"] < 0 < report.contributions["discount"]
    assert math.fsum(report.contributions.values()) == pytest.approx(report.gap, abs=1e-15)


def test_a_part_is_the_mean_change_by_its_field_over_all_orders_of_fields():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, YAHOO, LETOR4)
    value = {frozenset(names): score.value for names, score in report.mixtures.items()}
    for field, part in report.contributions.items():
        changes = []
        for order in permutations(report.contributions):
            before = frozenset(order[: order.index(field)])
            changes.append(value[before | {field}] - value[before])
        assert part == pytest.approx(math.fsum(changes) / len(changes), abs=1e-15)


@pytest.mark.long
def test_every_mixture_has_the_score_of_evaluate():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, LIGHTGBM.replace(ties="average", precision="float32"), LETOR4)
    assert len(report.mixtures) == 2 ** len(report.contributions) == 256
    for names, score in report.mixtures.items():
        mixture = report.a.convention.replace(**{name: getattr(LETOR4, name) for name in names})
        assert score == ra.evaluate(queries, scores, mixture)


def test_the_queries_that_contribute_most_are_listed_first_ten_by_default():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, YAHOO, LETOR4)
    contributions = sum(report.per_query.values())
    for shown, n in (
        (report.queries(), 10),
        (report.queries(3), 3),
        (report.queries(99), np.count_nonzero(contributions)),
    ):
        assert [abs(q["contribution"]) for q in shown] == sorted(np.abs(contributions), reverse=True)[:n]
        assert all(sum(q["contributions"].values()) == pytest.approx(q["contribution"]) for q in shown)
    assert explain_pair(queries, scores, (YAHOO, LETOR4)).top == report.top == 10


def test_the_table_and_the_plot_begin_with_the_largest_parts():
    pytest.importorskip("matplotlib")
    report = ra.audit.explain(*small_queries(), YAHOO, LETOR4)
    largest_first = sorted(report.contributions, key=lambda name: abs(report.contributions[name]), reverse=True)
    assert largest_first != list(report.contributions)
    assert [line[0] for line in report.parts_table().lines] == largest_first
    [axes] = report.plot().axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [YAHOO.name, *largest_first, LETOR4.name]
    ends = [axes.texts[end].get_text() for end in (0, -1)]
    assert ends == [f"{score.value:.4f}" for score in (report.a, report.b)]


def test_shapley_shares_of_the_glove_game_equal_those_by_hand():
    # Player 0 has a left glove, players 1 and 2 have a right glove; a pair is worth 1. Shapley: 4/6, 1/6, 1/6.
    payoffs = [0, 0, 0, 1, 0, 1, 0, 1]
    assert split(payoffs) == pytest.approx([4 / 6, 1 / 6, 1 / 6], abs=1e-16)
    assert split_columns(np.array([payoffs, payoffs], float).T)[:, 1] == pytest.approx([4 / 6, 1 / 6, 1 / 6], abs=1e-15)


def test_a_policy_that_refuses_the_data_is_set_aside_and_named():
    """scikit-learn's preset refuses unjudged rows; pytrec_eval gives them gain 0."""
    queries = ra.Queries([2, 0, 1, 1], group_sizes=[2, 2], judged=[True, True, False, True], docid=list("abcd"))
    scores = [1, 2, 2, 1]
    report = ra.audit.explain(queries, scores, "sklearn@10", "pytrec_eval@10")
    assert list(report.set_aside) == ["unjudged"]
    assert report.set_aside["unjudged"].startswith("a says unjudged='error' and refuses this data: row 2 ")
    assert report.set_aside["unjudged"].endswith("Both are explained with unjudged='zero'.")
    assert report.set_aside["unjudged"] in str(report)
    assert json.loads(report.to_json())["set_aside"] == report.set_aside
    assert "unjudged" not in report.contributions
    assert "missing" in report.contributions  # missing='error' refuses no row of this data
    zero_report = ra.audit.explain(queries, scores, ra.presets.sklearn(10).replace(unjudged="zero"), "pytrec_eval@10")
    assert report.contributions == zero_report.contributions
    assert zero_report.set_aside == {}
    reverse_report = ra.audit.explain(queries, scores, "pytrec_eval@10", "sklearn@10")
    assert reverse_report.set_aside["unjudged"].startswith("b says unjudged='error'")
    assert reverse_report.gap == -report.gap
