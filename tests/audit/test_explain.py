"""`ra.audit.explain` splits the gap between the values of two conventions into parts, one per differing field."""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.audit.explanation import explain_pair
from rankadapters.statistics.grid import grid
from rankadapters.statistics.shapley import split, split_columns
from tests.helpers.depth import examples
from tests.helpers.graded_queries import mq2008, small_queries

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


def test_every_mixture_has_the_score_of_evaluate():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, LIGHTGBM.replace(ties="average", precision="float32"), LETOR4)
    assert len(report.mixtures) == 2 ** len(report.contributions) == 256
    for names, score in report.mixtures.items():
        mixture = report.a.convention.replace(**{name: getattr(LETOR4, name) for name in names})
        assert score == ra.evaluate(queries, scores, mixture)


@st.composite
def conventions(draw):
    values = grid(ra.NDCG, small_queries()[0])
    fields = {name: draw(st.sampled_from(choices)) for name, choices in values.items()}
    try:
        return ra.NDCG(k=draw(st.sampled_from([1, 3, 10, None])), **fields)
    except ra.ConventionError:  # an invalid combination of fields
        reject()


@settings(deadline=None, max_examples=examples(40))
@given(conventions(), conventions(), st.booleans())
def test_parts_add_up_over_fields_and_over_queries(a, b, weighted):
    queries, scores = small_queries()
    if weighted:
        a, b = (c.replace(average="query") for c in (a, b))
        queries = queries.with_weights(np.arange(1.0, 41))
    if {a.ideal, b.ideal} >= {"top-only"} and {a.ties, b.ties} >= {"average"}:
        with pytest.raises(ra.ConventionError, match=r"of b is not a valid convention: ideal='top.*\nHint: explain"):
            ra.audit.explain(queries, scores, a, b)
        return
    report = ra.audit.explain(queries, scores, a, b)
    gap = ra.evaluate(queries, scores, b).value - ra.evaluate(queries, scores, a).value
    assert report.gap == gap
    assert math.fsum(report.contributions.values()) == pytest.approx(gap, abs=1e-12)
    for name, part in report.contributions.items():
        assert math.fsum(report.per_query[name]) == pytest.approx(part, abs=1e-12)


def test_equal_conventions_have_an_empty_explanation():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, LETOR4, ra.presets.letor3(10))
    assert (report.gap, report.contributions, report.per_query, report.queries()) == (0, {}, {}, [])
    assert "there is nothing to explain" in str(report)


def test_a_single_query_is_explained():
    report = ra.audit.explain([0, 1], [2, 1], YAHOO.at(2), ra.presets.letor4(2), group_sizes=[2])
    # The document is at rank 2: 1/log2(3) under one discount and 1 under the other.
    assert report.contributions["discount"] == pytest.approx(1 - 1 / math.log2(3))
    assert report.contributions["gain"] == 0
    [query] = report.queries()
    assert query["contribution"] == pytest.approx(report.gap)


def test_a_field_without_effect_leaves_a_mixture_equal():
    # Without a cutoff no query is short, so changing only `short` leaves the value of a.
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, YAHOO.at(None), YAHOO.replace(short="zero"))
    assert report.mixtures["short",] == report.a
    assert list(report.contributions) == ["k", "short"]


def test_the_queries_that_contribute_most_are_listed_first():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, YAHOO, LETOR4, top=3)
    contributions = sum(report.per_query.values())
    shown = report.queries()
    assert len(shown) == 3
    assert [abs(q["contribution"]) for q in shown] == sorted(np.abs(contributions), reverse=True)[:3]
    assert all(sum(q["contributions"].values()) == pytest.approx(q["contribution"]) for q in shown)
    assert len(report.queries(1000)) == np.count_nonzero(contributions)


def test_every_format_contains_the_parts():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, YAHOO, LETOR4, top=2)
    as_json = json.loads(report.to_json())
    assert as_json["contributions"] == report.contributions
    assert as_json["gap"] == report.gap
    assert (as_json["a"]["signature"], as_json["b"]["signature"]) == (str(YAHOO), str(LETOR4))
    assert len(as_json["queries"]) == 2
    assert len(as_json["mixtures"]) == 16
    for text in (str(report), report.to_markdown(), report._repr_html_()):
        assert str(LETOR4) in text
        assert f"{report.contributions['short']:+.6f}" in text
    assert repr(report).endswith(f"contributions={report.contributions})")
    assert "| short | pad | zero |" in report.to_markdown()
    assert '<th scope="row">short</th><td>pad</td><td>zero</td>' in report._repr_html_()


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


def test_ten_queries_are_shown_by_default():
    queries, scores = small_queries()
    for report in (ra.audit.explain(queries, scores, YAHOO, LETOR4), explain_pair(queries, scores, (YAHOO, LETOR4))):
        assert (report.top, len(report.queries())) == (10, 10)
        assert "The 10 queries that contribute most" in str(report)


def test_the_repr_shows_only_the_scores_and_the_parts():
    report = ra.audit.explain(*small_queries(), YAHOO, LETOR4)
    shown_fields = [name for name in (*report.__slots__,) if f"{name}=" in repr(report)]
    assert shown_fields == ["a", "b", "contributions"]


def test_the_error_names_a_mixture_without_a_value():
    labels, scores, sizes = [1, 0, 1], [1, 2, 3], [2, 1]
    a = YAHOO.at(1).replace(short="skip")
    b = YAHOO.at(10)
    with pytest.raises(ra.InputError, match=r"a with k of b has no value .*nothing is left.*\nHint: .*two steps"):
        ra.audit.explain(labels, scores, a, b, group_sizes=sizes)


def test_the_error_of_a_convention_without_a_value_is_raised():
    with pytest.raises(ra.InputError, match="ties='docid-ascending' needs docid"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, YAHOO.replace(ties="docid-ascending"), group_sizes=[2])


@pytest.mark.parametrize(
    ("convention", "message"),
    [
        (10, r"10 is not a convention\.\nHint: ra\.presets\.textbook\(10\)"),
        (None, r"None is not a convention\.\nHint: ra\.presets\.textbook\(10\)"),
        ("letor4", r"'letor4' has no cutoff\.\nHint: 'letor4@10'"),
        ("letor5@10", r"'letor5@10' is neither a preset@k .*\nHint: did you mean 'letor4@10'"),
    ],
)
def test_an_invalid_convention_is_refused(convention, message):
    with pytest.raises(ra.ConventionError, match=message):
        ra.audit.explain([1, 0], [1, 2], YAHOO, convention, group_sizes=[2])


def test_texts_are_explained_like_their_conventions():
    queries, scores = small_queries()
    report = ra.audit.explain(queries, scores, "yahoo@10", str(LETOR4))
    assert report.to_dict()["mixtures"] == ra.audit.explain(queries, scores, YAHOO, LETOR4).to_dict()["mixtures"]


def test_conventions_of_different_measures_are_refused():
    dcg = ra.DCG(**{name: value for name, value in YAHOO.to_dict().items() if name not in {"ideal", "empty"}})
    with pytest.raises(ra.ConventionError, match=r"a has the measure ndcg and b .* dcg.*\nHint: .*same measure"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, dcg, group_sizes=[2])


@pytest.mark.parametrize("top", [-1, 1.5, True])
def test_top_must_be_a_whole_number_from_0_on(top):
    with pytest.raises(ra.InputError, match=r"top=.*\nHint: top=10"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, LETOR4, group_sizes=[2], top=top)


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


def test_if_both_conventions_refuse_the_data_the_error_is_raised():
    columns = {"group_sizes": [2], "judged": [False, True]}
    with pytest.raises(ra.InputError, match="unjudged='error'"):
        ra.audit.explain([1, 0], [1, 2], "sklearn@10", "yahoo@10", **columns)
