"""Why two conventions give two numbers."""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.audit.explanation.gap import explain_pair
from rankadapters.audit.explanation.shapley import split, split_columns
from rankadapters.statistics.grid import grid
from tests.helpers.depth import examples
from tests.helpers.graded_queries import mq2008, small

YAHOO, LETOR4, LIGHTGBM = ra.presets.yahoo(10), ra.presets.letor4(10), ra.presets.lightgbm(5)


def test_the_gap_of_bm25_on_mq2008_is_split_over_short_and_empty_queries():
    # Busa-Fekete et al. (2012), Section 3; both values are the programs' own, docs/paper.md.
    data = mq2008()
    found = ra.audit.explain(data.queries, data.scores, YAHOO, LETOR4)
    assert f"{found.gap:.4f}" == "-0.5169"
    assert round(0.1623 - 0.6791, 4) == -0.5168  # of the rounded values that the paper's tables hold
    assert list(found.contributions) == ["gain", "discount", "short", "empty"]
    assert found.contributions["gain"] == 0  # the labels are 0, 1 and 2, for which the table says what 2^label - 1 says
    assert found.contributions["short"] < found.contributions["empty"] < 0 < found.contributions["discount"]
    assert math.fsum(found.contributions.values()) == pytest.approx(found.gap, abs=1e-15)


def test_a_part_is_the_mean_of_what_its_field_changes_over_all_orders():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, YAHOO, LETOR4)
    value = {frozenset(names): score.value for names, score in found.mixtures.items()}
    for field, part in found.contributions.items():
        changes = []
        for order in permutations(found.contributions):
            before = frozenset(order[: order.index(field)])
            changes.append(value[before | {field}] - value[before])
        assert part == pytest.approx(math.fsum(changes) / len(changes), abs=1e-15)


def test_every_mixture_has_the_value_that_evaluate_gives():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, LIGHTGBM.replace(ties="average", precision="float32"), LETOR4)
    assert len(found.mixtures) == 2 ** len(found.contributions) == 256
    for names, score in found.mixtures.items():
        mixture = found.a.convention.replace(**{name: getattr(LETOR4, name) for name in names})
        assert score == ra.evaluate(queries, scores, mixture)


@st.composite
def conventions(draw):
    values = grid(ra.NDCG, small()[0])
    fields = {name: draw(st.sampled_from(choices)) for name, choices in values.items()}
    try:
        return ra.NDCG(k=draw(st.sampled_from([1, 3, 10, None])), **fields)
    except ra.ConventionError:  # fields that do not go together
        reject()


@settings(deadline=None, max_examples=examples(40))
@given(conventions(), conventions(), st.booleans())
def test_parts_add_up_to_the_gap_over_fields_and_over_queries(a, b, weighted):
    queries, scores = small()
    if weighted:
        a, b = (c.replace(average="query") for c in (a, b))
        queries = ra.Queries(
            queries.labels, group_sizes=np.diff(queries.indptr), query_weight=np.arange(1.0, 41)
        )  # fmt: skip
    if {a.ideal, b.ideal} >= {"top-only"} and {a.ties, b.ties} >= {"average"}:
        with pytest.raises(ra.ConventionError, match=r"of b is not a valid convention: ideal='top.*\nHint: explain"):
            ra.audit.explain(queries, scores, a, b)
        return
    found = ra.audit.explain(queries, scores, a, b)
    gap = ra.evaluate(queries, scores, b).value - ra.evaluate(queries, scores, a).value
    assert found.gap == gap
    assert math.fsum(found.contributions.values()) == pytest.approx(gap, abs=1e-12)
    for name, part in found.contributions.items():
        assert math.fsum(found.per_query[name]) == pytest.approx(part, abs=1e-12)


def test_equal_conventions_have_an_empty_explanation():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, LETOR4, ra.presets.letor3(10))
    assert (found.gap, found.contributions, found.per_query, found.queries()) == (0, {}, {}, [])
    assert "there is nothing to explain" in str(found)


def test_a_single_query_is_explained():
    found = ra.audit.explain([0, 1], [2, 1], YAHOO.at(2), ra.presets.letor4(2), group_sizes=[2])
    # The document is at rank 2: 1/log2(3) under one discount and 1 under the other.
    assert found.contributions["discount"] == pytest.approx(1 - 1 / math.log2(3))
    assert found.contributions["gain"] == 0
    [query] = found.queries()
    assert query["contribution"] == pytest.approx(found.gap)


def test_fields_that_cannot_matter_together_have_one_value():
    # Under k=None a query is never short, so the mixture k=None, short=zero is a itself.
    queries, scores = small()
    found = ra.audit.explain(queries, scores, YAHOO.at(None), YAHOO.replace(short="zero"))
    assert found.mixtures["short",] == found.a
    assert list(found.contributions) == ["k", "short"]


def test_queries_are_those_that_contribute_most():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, YAHOO, LETOR4, top=3)
    totals = sum(found.per_query.values())
    shown = found.queries()
    assert len(shown) == 3
    assert [abs(q["contribution"]) for q in shown] == sorted(np.abs(totals), reverse=True)[:3]
    assert all(sum(q["contributions"].values()) == pytest.approx(q["contribution"]) for q in shown)
    assert len(found.queries(1000)) == np.count_nonzero(totals)


def test_every_form_holds_the_parts():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, YAHOO, LETOR4, top=2)
    plain = json.loads(found.to_json())
    assert plain["contributions"] == found.contributions
    assert plain["gap"] == found.gap
    assert (plain["a"]["signature"], plain["b"]["signature"]) == (str(YAHOO), str(LETOR4))
    assert len(plain["queries"]) == 2
    assert len(plain["mixtures"]) == 16
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        assert str(LETOR4) in text
        assert f"{found.contributions['short']:+.6f}" in text
    assert repr(found).endswith(f"contributions={found.contributions})")
    assert "| short | pad | zero |" in found.to_markdown()
    assert '<th scope="row">short</th><td>pad</td><td>zero</td>' in found._repr_html_()


def test_the_largest_parts_stand_first_in_the_table_and_the_plot():
    pytest.importorskip("matplotlib")
    found = ra.audit.explain(*small(), YAHOO, LETOR4)
    largest = sorted(found.contributions, key=lambda name: abs(found.contributions[name]), reverse=True)
    assert largest != list(found.contributions)
    assert [line[0] for line in found.parts_table().lines] == largest
    [axes] = found.plot().axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [YAHOO.name, *largest, LETOR4.name]
    ends = [axes.texts[end].get_text() for end in (0, -1)]
    assert ends == [f"{score.value:.4f}" for score in (found.a, found.b)]


def test_ten_queries_are_shown_unless_another_number_is_asked_for():
    queries, scores = small()
    for found in (ra.audit.explain(queries, scores, YAHOO, LETOR4), explain_pair(queries, scores, (YAHOO, LETOR4))):
        assert (found.top, len(found.queries())) == (10, 10)
        assert "The 10 queries that contribute most" in str(found)


def test_its_repr_has_the_values_and_the_parts_but_not_what_they_were_computed_from():
    found = ra.audit.explain(*small(), YAHOO, LETOR4)
    shown = [name for name in (*found.__slots__,) if f"{name}=" in repr(found)]
    assert shown == ["a", "b", "contributions"]


def test_a_mixture_without_a_value_is_named():
    labels, scores, sizes = [1, 0, 1], [1, 2, 3], [2, 1]
    a = YAHOO.at(1).replace(short="skip")
    b = YAHOO.at(10)
    with pytest.raises(ra.InputError, match=r"a with k of b has no value .*nothing is left.*\nHint: .*two steps"):
        ra.audit.explain(labels, scores, a, b, group_sizes=sizes)


def test_a_convention_without_a_value_says_so_itself():
    with pytest.raises(ra.InputError, match="ties='docid-ascending' needs docid"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, YAHOO.replace(ties="docid-ascending"), group_sizes=[2])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (10, r"10 is not a convention\.\nHint: ra\.presets\.textbook\(10\)"),
        (None, r"None is not a convention\.\nHint: ra\.presets\.textbook\(10\)"),
        ("letor4", r"'letor4' has no cutoff\.\nHint: 'letor4@10'"),
        ("letor5@10", r"'letor5@10' is neither a preset@k .*\nHint: did you mean 'letor4@10'"),
    ],
)
def test_what_is_no_convention_is_refused(other, message):
    with pytest.raises(ra.ConventionError, match=message):
        ra.audit.explain([1, 0], [1, 2], YAHOO, other, group_sizes=[2])


def test_texts_are_explained_like_the_conventions_they_mean():
    queries, scores = small()
    found = ra.audit.explain(queries, scores, "yahoo@10", str(LETOR4))
    assert found.to_dict()["mixtures"] == ra.audit.explain(queries, scores, YAHOO, LETOR4).to_dict()["mixtures"]


def test_two_measures_have_no_gap():
    dcg = ra.DCG(**{name: value for name, value in YAHOO.to_dict().items() if name not in {"ideal", "empty"}})
    with pytest.raises(ra.ConventionError, match=r"a has the measure ndcg and b .* dcg.*\nHint: .*same measure"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, dcg, group_sizes=[2])


@pytest.mark.parametrize("top", [-1, 1.5, True])
def test_top_is_a_whole_number(top):
    with pytest.raises(ra.InputError, match=r"top=.*\nHint: top=10"):
        ra.audit.explain([1, 0], [1, 2], YAHOO, LETOR4, group_sizes=[2], top=top)


def test_shares_of_a_game_by_hand():
    # The glove game: player 0 has a left glove, 1 and 2 a right one each; a pair is worth 1. Shapley: 4/6, 1/6, 1/6.
    worth = [0, 0, 0, 1, 0, 1, 0, 1]
    assert split(worth) == pytest.approx([4 / 6, 1 / 6, 1 / 6], abs=1e-16)
    assert split_columns(np.array([worth, worth], float).T)[:, 1] == pytest.approx([4 / 6, 1 / 6, 1 / 6], abs=1e-15)


def test_a_policy_that_refuses_the_data_is_set_aside_and_named():
    """scikit-learn's function takes no rows without judgment; pytrec_eval gives them gain 0."""
    queries = ra.Queries([2, 0, 1, 1], group_sizes=[2, 2], judged=[True, True, False, True], docid=list("abcd"))
    scores = [1, 2, 2, 1]
    found = ra.audit.explain(queries, scores, "sklearn@10", "pytrec_eval@10")
    assert list(found.set_aside) == ["unjudged"]
    assert found.set_aside["unjudged"].startswith("a says unjudged='error' and refuses this data: row 2 ")
    assert found.set_aside["unjudged"].endswith("Both are explained with unjudged='zero'.")
    assert found.set_aside["unjudged"] in str(found)
    assert json.loads(found.to_json())["set_aside"] == found.set_aside
    assert "unjudged" not in found.contributions
    assert "missing" in found.contributions  # `error` too, but it refuses nothing here
    plain = ra.audit.explain(queries, scores, ra.presets.sklearn(10).replace(unjudged="zero"), "pytrec_eval@10")
    assert found.contributions == plain.contributions
    assert plain.set_aside == {}
    back = ra.audit.explain(queries, scores, "pytrec_eval@10", "sklearn@10")
    assert back.set_aside["unjudged"].startswith("b says unjudged='error'")
    assert back.gap == -found.gap


def test_where_both_refuse_the_data_the_reason_is_raised():
    columns = {"group_sizes": [2], "judged": [False, True]}
    with pytest.raises(ra.InputError, match="unjudged='error'"):
        ra.audit.explain([1, 0], [1, 2], "sklearn@10", "yahoo@10", **columns)
