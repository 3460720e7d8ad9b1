"""What the data are like, and which choices matter on them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.graded_queries import mq2008, small


def effects(found):
    return {effect.field: effect.change for effect in found.effects}


def test_shares_are_counted_by_query():
    labels = [2, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0]
    scores = [3, 2, 2, 1, 5, 2, 2, 1, 1, 4, 3, 3, 3]
    #         a: 3 rows  b: 1  c: 1  d: 2 rows, equal  e: 2 rows, tied and of different labels  f: 2 rows  g: as e
    found = ra.audit.profile(labels, k=[1, 2, 3], scores=scores, group_sizes=[3, 1, 1, 2, 2, 2, 2])
    assert (found.n_queries, found.n_docs, found.longest) == (7, 13, 3)
    assert found.empty == 2 / 7
    assert found.short == {1: 0, 2: 2 / 7, 3: 6 / 7}
    assert found.single_document == 2 / 7
    assert found.all_equal == 3 / 7
    assert found.tied == 4 / 7
    assert found.tied_at_cut == {1: 2 / 7, 2: 0, 3: 0}
    assert found.labels == {0.0: 7, 1.0: 5, 2.0: 1}


def test_rows_of_a_query_need_not_be_contiguous():
    labels, scores, qid = [2, 0, 0, 1], [1, 3, 1, 3], ["a", "b", "a", "b"]
    found = ra.audit.profile(labels, k=1, scores=scores, qid=qid)
    assert (found.empty, found.tied, found.tied_at_cut) == (0, 1, {1: 1})


def test_only_judged_and_retrieved_rows_count():
    queries = ra.Queries(
        [1, 0, 0, 5], group_sizes=[2, 2], retrieved=[True, False, True, True], judged=[True, True, True, False]
    )  # fmt: skip
    found = ra.audit.profile(queries, k=2, scores=[1, np.nan, 2, 2])
    assert found.labels == {0.0: 2, 1.0: 1}
    assert found.empty == 1 / 2
    assert found.short == {2: 1 / 2}
    assert found.tied == 1 / 2


def test_an_effect_is_the_largest_change_that_the_field_makes_in_a_preset():
    queries, scores = small()
    found = ra.audit.profile(queries, k=5, scores=scores)
    assert [e.change for e in found.effects] == sorted((e.change for e in found.effects), reverse=True)
    for effect in found.effects:
        ends = {}
        for end in (effect.lowest, effect.highest):
            value = {"all": None}.get(end, end) if effect.field in {"k", "ideal"} else end
            value = {"0": 0, "0.5": 0.5, "1": 1}.get(value, value) if effect.field == "empty" else value
            value = int(value) if effect.field == "k" and value else value
            value = "all" if (effect.field, end) == ("ideal", "all") else value
            ends[end] = ra.evaluate(queries, scores, effect.convention.replace(**{effect.field: value})).value
        assert effect.change == ends[effect.highest] - ends[effect.lowest]
    assert effects(found)["empty"] == pytest.approx(found.empty)
    used = {effect.convention for effect in found.effects}
    assert used <= {ra.presets.make(name, 5) for name in ra.presets.names("ndcg")}


def test_without_scores_ties_make_the_largest_change_of_all_scores():
    queries, scores = small()
    found = ra.audit.profile(queries, k=5)
    assert (found.tied, found.tied_at_cut) == (None, None)
    with_some = ra.audit.profile(queries, k=5, scores=scores)
    assert effects(found)["ties"] > effects(with_some)["ties"] > 0
    assert {effect.convention.ties for effect in found.effects} == {"average"}
    assert "expected of random rankings" in str(found)


def test_what_cannot_matter_has_no_effect():
    found = ra.audit.profile([1, 0, 2, 0], k=2, scores=[1.0, 2.0, 3.0, 4.0], group_sizes=[2, 2])
    assert effects(found)["ties"] == effects(found)["empty"] == effects(found)["short"] == 0
    assert "missing" not in effects(found)
    assert "unjudged" not in effects(found)


def test_mq2008_is_as_its_authors_and_the_paper_describe_it():
    # 784 queries, 15211 documents: Qin & Liu (2013); 28.1 % without relevant documents: Busa-Fekete et al. (2012).
    data = mq2008()
    found = ra.audit.profile(data.queries, k=10, scores=data.scores)
    assert (found.n_queries, found.n_docs) == (784, 15211)
    assert f"{found.empty:.3f}" == "0.281"
    assert effects(found)["empty"] == pytest.approx(found.empty)
    assert effects(found)["short"] > effects(found)["empty"] > effects(found)["ties"] > effects(found)["discount"]
    warned = " ".join(found.warnings)
    assert "k = 10 is larger than 51.4 % of the queries" in warned
    assert "rows of different labels tie across the cut at 10" in warned


THREE, TIED = [1, 0, 1, 1, 0, 2, 0], [1, 2, 1, 1, 3, 3, 4]  # the second and the third query have ties
PITFALLS = [
    ([6, 0], 1, None, [2], r"labels go up to 6: .* worth 63 documents of label 1"),
    ([5, 0], 1, None, [2], r"labels go up to 5: .* worth 31 documents"),
    ([1023, 0], 1, None, [2], r"worth 8.988e\+307 documents"),
    ([1024, 0], 1, None, [2], r"worth more than float64 holds in documents"),
    ([31, 0], 1, None, [2], r"labels above 30 have no default gain in LightGBM"),
    ([1, 0], [1, 2], None, [2], r"different cutoffs \(1, 2\).*0.5000 at 1, 0.8155 at 2"),
    ([1, 0, 1], 3, None, [2, 1], r"k = 3 is larger than 100.0 % of the queries"),
    ([1, 0], 1, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie across the cut at 1"),
    ([1, 0], 2, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie, none .* by up to 0.3691"),
    ([1, 0], None, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie, none of them across"),
    ([1, 0], None, [1e9, 1e9 + 1], [2], r"rounded to float32, rows of different labels tie, none of them across"),
    ([1, 0, 1, 1], 1, None, [2, 2], r"1 queries \(50.0 %\) have equal labels throughout"),
    (THREE, None, TIED, [2, 2, 3], r"in 1 queries \(33.3 %\) rows of different labels tie, none of them across"),
    (THREE, 2, TIED, [2, 2, 3], r"in 1 queries \(33.3 %\) rows of different labels tie across the cut at 2"),
]
NO_PITFALLS = [
    ([4, 0], 1, None, [2], "labels go up"),
    ([30, 0], 1, None, [2], "labels above"),
    ([1, 0, 1], 2, None, [2, 1], "is larger than"),
    ([1, 0], [1], None, [2], "different cutoffs"),
    (THREE, 1, TIED, [2, 2, 3], "across the cut at"),
]


def test_pitfalls_are_told_where_the_data_fall_into_them_and_not_just_before():
    for labels, k, scores, sizes, warning in PITFALLS:
        found = ra.audit.profile(labels, k=k, scores=scores, group_sizes=sizes)
        assert any(re.search(warning, text) for text in found.warnings), (warning, found.warnings)
    for labels, k, scores, sizes, warning in NO_PITFALLS:
        found = ra.audit.profile(labels, k=k, scores=scores, group_sizes=sizes)
        assert not [text for text in found.warnings if warning in text], (warning, found.warnings)


def test_data_without_pitfalls_have_no_warning():
    assert ra.audit.profile([1, 0, 4, 0], k=1, scores=[1, 2, 3, 4], group_sizes=[2, 2]).warnings == ()


@pytest.mark.parametrize(("labels", "measure"), [([1, 0, 0, 0], "precision"), ([1, 1, 0, 0], "ndcg")])
def test_ties_that_change_nothing_are_no_pitfall(labels, measure):
    scores = [1, 1, 0, 0] if measure == "ndcg" else [1, 1, 1, 1]
    found = ra.audit.profile(labels, k=4, scores=scores, measure=measure, group_sizes=[4])
    assert not [warning for warning in found.warnings if " tie" in warning]


def test_the_tables_of_shares_and_labels_in_full():
    columns = {"group_sizes": [3, 3, 1, 1], "k": [2, None]}
    found = ra.audit.profile([2, 0, 0, 1, 1, 0, 0, 0], scores=[1, 1, 0, 2, 2, 2, 1, 1], **columns)
    shares, labels, effects_ = found.tables()
    assert found.size == "4 queries, 8 rows, up to 3 in a query"
    assert [line[1] for line in shares.lines] == [f"{x} %" for x in ("50.0",) * 4 + ("50.0", "25.0", "0.0")]
    assert [tuple(line) for line in labels.lines] == [("0", "5", "62.5 %"), ("1", "2", "25.0 %"), ("2", "1", "12.5 %")]
    assert [line[:2] for line in effects_.lines] == [(e.field, f"{e.change:.6f}") for e in found.effects]
    [shares, *_] = ra.audit.profile([2, 0, 0, 1, 1, 0, 0, 0], **columns).tables()
    assert [tuple(line) for line in shares.lines][-1] == ("tied scores", "-")


def test_every_form_holds_the_shares():
    queries, scores = small()
    found = ra.audit.profile(queries, k=[5, None], scores=scores)
    plain = json.loads(found.to_json())
    assert plain["k"] == ["5", "all"]
    assert plain["short"] == {"5": found.short[5], "all": 0}
    assert plain["labels"] == {f"{label:g}": count for label, count in found.labels.items()}
    assert [e["field"] for e in plain["effects"]] == [e.field for e in found.effects]
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        assert f"{100 * found.empty:.1f} %" in text
        assert found.warnings[0][:20] in text


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ({"k": 0}, ra.ConventionError, "k=0 is not a cutoff"),
        ({"k": []}, ra.ConventionError, r"no cutoff was given.\nHint: pass k=10"),
        ({"k": 1, "scores": [1]}, ra.InputError, "scores has 1 rows but the queries cover 2"),
        ({"k": 1, "scores": [1, np.nan]}, ra.InputError, r"scores\[1\] is nan"),
    ],
)
def test_bad_input(given, error, problem):
    with pytest.raises(error, match=problem):
        ra.audit.profile([1, 0], group_sizes=[2], **given)


def test_weighted_queries_are_described_without_presets_that_ignore_weights():
    found = ra.audit.profile([1, 0, 0, 0], k=2, group_sizes=[2, 2], query_weight=[1.0, 3.0])
    assert all(effect.convention.average != "uniform" for effect in found.effects)
    assert effects(found)["empty"] == 0.75


def test_labels_beyond_any_exponential_gain_are_described():
    found = ra.audit.profile([2000, 1, 0], k=2, group_sizes=[3], scores=[1, 2, 1])
    assert any("one such document is worth more than float64 holds in" in warning for warning in found.warnings)


def test_presets_that_ignore_weights_are_not_changed_to_count_them():
    with pytest.raises(ra.InputError, match="no preset of Bpref has a value"):  # none has unjudged rows either
        ra.audit.profile([1, 0, 0], k=2, scores=[1, 2, 3], measure="bpref", group_sizes=[2, 1], query_weight=[1, 2])


@pytest.mark.parametrize("best", [1, 3, 5, 10, 20, None])
def test_the_usual_cutoffs_are_tried_beside_the_given_ones(best):
    ranks = np.arange(25)
    labels = ranks >= 20 if best is None else ranks < best
    found = ra.audit.profile(labels, k=2, scores=-ranks, measure="f-measure", group_sizes=[25])
    [effect] = [effect for effect in found.effects if effect.field == "k"]
    assert effect.highest == ("all" if best is None else str(best))
    assert {effect.lowest} <= {"1", "2", "all"}
