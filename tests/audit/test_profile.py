"""`ra.audit.profile` describes the data and says which choices matter on it."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import mq2008, small_queries


def effects(report):
    return {effect.field: effect.change for effect in report.effects}


def parse_choice(field, text):
    """Return the value of a field from its text in a report."""
    if field == "k":
        return None if text == "all" else int(text)
    return {"0": 0, "0.5": 0.5, "1": 1}.get(text, text) if field == "empty" else text


def test_shares_are_counted_by_query():
    labels = [2, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0]
    scores = [3, 2, 2, 1, 5, 2, 2, 1, 1, 4, 3, 3, 3]
    # Queries of 3, 1, 1, 2, 2, 2 and 2 rows. The fourth has equal labels, the fifth and the last tie different labels.
    report = ra.audit.profile(labels, k=[1, 2, 3], scores=scores, group_sizes=[3, 1, 1, 2, 2, 2, 2])
    assert (report.n_queries, report.n_docs, report.longest) == (7, 13, 3)
    assert report.shares == {
        "empty": 2 / 7, "short@1": 0, "short@2": 2 / 7, "short@3": 6 / 7, "single_document": 2 / 7, "all_equal": 3 / 7,
        "tied": 4 / 7, "tied_at_cut@1": 2 / 7, "tied_at_cut@2": 0, "tied_at_cut@3": 0,
    }  # fmt: skip
    assert report.labels == {0.0: 7, 1.0: 5, 2.0: 1}


def test_only_judged_and_retrieved_rows_count():
    queries = ra.Queries(
        [1, 0, 0, 5], group_sizes=[2, 2], retrieved=[True, False, True, True], judged=[True, True, True, False]
    )  # fmt: skip
    report = ra.audit.profile(queries, k=2, scores=[1, np.nan, 2, 2])
    assert report.labels == {0.0: 2, 1.0: 1}
    assert not [warning for warning in report.warnings if "irrelevant" in warning]
    assert [report.shares[name] for name in ("empty", "short@2", "tied")] == [1 / 2, 1 / 2, 1 / 2]


def test_an_effect_is_the_largest_change_of_a_preset_by_one_field():
    queries, scores = small_queries()
    report = ra.audit.profile(queries, k=5, scores=scores)
    assert [e.change for e in report.effects] == sorted((e.change for e in report.effects), reverse=True)
    for effect in report.effects:
        values = {}
        for choice in (effect.lowest, effect.highest):
            convention = effect.convention.replace(**{effect.field: parse_choice(effect.field, choice)})
            values[choice] = ra.evaluate(queries, scores, convention).value
        assert effect.change == values[effect.highest] - values[effect.lowest]
    assert effects(report)["empty"] == pytest.approx(report.shares["empty"])
    assert pickle.loads(pickle.dumps(report)) == report
    used = {effect.convention for effect in report.effects}
    assert used <= {ra.presets.make(name, 5) for name in ra.presets.names("ndcg")}


def test_without_scores_ties_have_their_largest_possible_effect():
    queries, scores = small_queries()
    report = ra.audit.profile(queries, k=5)
    assert report.shares["tied"] is None
    assert "tied_at_cut@5" not in report.shares
    report_with_scores = ra.audit.profile(queries, k=5, scores=scores)
    assert effects(report)["ties"] > effects(report_with_scores)["ties"] > 0
    assert {effect.convention.ties for effect in report.effects} == {"average"}
    assert "expected of random rankings" in str(report)


def test_a_field_that_cannot_matter_has_no_effect():
    report = ra.audit.profile([1, 0, 2, 0], k=2, scores=[1.0, 2.0, 3.0, 4.0], group_sizes=[2, 2])
    assert effects(report)["ties"] == effects(report)["empty"] == effects(report)["short"] == 0
    assert "missing" not in effects(report)
    assert "unjudged" not in effects(report)


@pytest.mark.long
@pytest.mark.parametrize(("grade", "varied"), [(2, False), (1, True), (0.5, False)])
def test_ideal_ones_is_an_effect_for_binary_labels_only(grade, varied):
    """RecTools takes the label 1 for every interaction, so its ideal list has k documents of gain 1."""
    labels = np.zeros(40) + grade * (np.arange(40) % 20 < 3)
    report = ra.audit.profile(labels, k=10, scores=-(np.arange(40) % 20), group_sizes=[20, 20])
    [ideal] = [effect for effect in report.effects if effect.field == "ideal"]
    assert ("ones" in {ideal.lowest, ideal.highest}) == varied
    assert any("rectools" in effect.convention.name for effect in report.effects) == varied


@pytest.mark.long
@pytest.mark.parametrize("scores", [None, [1, 2]])
def test_the_value_of_a_random_ranking_is_printed(scores):
    # The relevant row is first or second with equal chances.
    report = ra.audit.profile([1, 0], k=2, scores=scores, group_sizes=[2])
    assert report.random == {ra.presets.textbook(2): pytest.approx((1 + 1 / np.log2(3)) / 2)}
    assert "A random ranking is expected to reach 0.8155 (ndcg@2/textbook)." in str(report)
    assert list(json.loads(report.to_json())["random"]) == [str(ra.presets.textbook(2))]
    report = ra.audit.profile([1, 0], k=[1, 2], scores=scores, measure="rr", group_sizes=[2])
    assert list(report.random.values()) == [0.5, 0.75]
    for measure in ("kendall", "query-rmse"):
        report = ra.audit.profile([1, 0], k=2, scores=[1, 2], measure=measure, group_sizes=[2])
        assert report.random == {}
        assert "random ranking" not in str(report)
    report = ra.audit.profile([1, 0, 1, 1], k=1, group_sizes=[2, 2], query_weight=[3, 1])
    assert report.random == {ra.presets.textbook(1).replace(average="query"): (3 * 0.5 + 1) / 4}


def test_the_profile_of_mq2008_equals_the_published_description():
    # 784 queries, 15211 documents: Qin & Liu (2013). 28.1 % have no relevant document: Busa-Fekete et al. (2012).
    data = mq2008()
    report = ra.audit.profile(data.queries, k=10, scores=data.scores)
    assert (report.n_queries, report.n_docs) == (784, 15211)
    assert f"{report.shares['empty']:.3f}" == "0.281"
    assert effects(report)["empty"] == pytest.approx(report.shares["empty"])
    assert effects(report)["short"] > effects(report)["empty"] > effects(report)["ties"] > effects(report)["discount"]
    warnings = " ".join(report.warnings)
    assert "k = 10 is larger than 51.4 % of the queries" in warnings
    assert "rows of different labels tie across the cut at 10" in warnings


LABELS, TIED = [1, 0, 1, 1, 0, 2, 0], [1, 2, 1, 1, 3, 3, 4]  # three queries; the second and third have ties
PITFALLS = [
    ([2, 1, 5], 2, None, [3], r"no row is irrelevant: the lowest label is 1\. .* add them with label 0"),
    ([1, 1], 1, None, [2], r"no row is irrelevant: the lowest label is 1\."),
    ([6, 0], 1, None, [2], r"labels go up to 6: .* worth 63 documents of label 1"),
    ([5, 0], 1, None, [2], r"labels go up to 5: .* worth 31 documents"),
    ([1023, 0], 1, None, [2], r"worth 8.988e\+307 documents"),
    ([1024, 0], 1, None, [2], r"worth more than float64 holds in documents"),
    ([31, 0], 1, None, [2], r"labels above 30 have no default gain in LightGBM"),
    ([1, 0], [1, 2], None, [2], r"different cutoffs \(1, 2\) are different measures.* Compare models at one cutoff"),
    ([1, 0, 1], 3, None, [2, 1], r"k = 3 is larger than 100.0 % of the queries"),
    ([1, 0], 1, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie across the cut at 1"),
    ([1, 0], 2, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie, none .* by up to 0.3691"),
    ([1, 0], None, [1, 1], [2], r"in 1 queries \(100.0 %\) rows of different labels tie, none of them across"),
    ([1, 0], None, [1e9, 1e9 + 1], [2], r"rounded to float32, rows of different labels tie, none of them across"),
    ([1, 0, 1, 1], 1, None, [2, 2], r"1 queries \(50.0 %\) have equal labels throughout"),
    (LABELS, None, TIED, [2, 2, 3], r"in 1 queries \(33.3 %\) rows of different labels tie, none of them across"),
    (LABELS, 2, TIED, [2, 2, 3], r"in 1 queries \(33.3 %\) rows of different labels tie across the cut at 2"),
]
NO_PITFALLS = [
    ([2, 1, 0], 2, None, [2, 1], "no row is irrelevant"),
    ([-1, 0], 1, None, [2], "no row is irrelevant"),
    ([4, 0], 1, None, [2], "labels go up"),
    ([30, 0], 1, None, [2], "labels above"),
    ([1, 0, 1], 2, None, [2, 1], "is larger than"),
    ([1, 0], [1], None, [2], "different cutoffs"),
    (LABELS, 1, TIED, [2, 2, 3], "across the cut at"),
    ([1, 0, 4, 0], 1, [1, 2, 3, 4], [2, 2], ""),  # no warning at all
]


@pytest.mark.long
def test_pitfalls_cause_warnings_and_near_misses_do_not():
    for labels, k, scores, sizes, warning in PITFALLS:
        report = ra.audit.profile(labels, k=k, scores=scores, group_sizes=sizes)
        assert any(re.search(warning, text) for text in report.warnings), (warning, report.warnings)
    for labels, k, scores, sizes, warning in NO_PITFALLS:
        report = ra.audit.profile(labels, k=k, scores=scores, group_sizes=sizes)
        assert not [text for text in report.warnings if warning in text], (warning, report.warnings)


@pytest.mark.parametrize(("labels", "measure"), [([1, 0, 0, 0], "precision"), ([1, 1, 0, 0], "ndcg")])
def test_ties_that_change_no_value_cause_no_warning(labels, measure):
    scores = [1, 1, 0, 0] if measure == "ndcg" else [1, 1, 1, 1]
    report = ra.audit.profile(labels, k=4, scores=scores, measure=measure, group_sizes=[4])
    assert not [warning for warning in report.warnings if " tie" in warning]


def test_the_profile_of_weighted_queries_leaves_out_presets_that_ignore_weights():
    report = ra.audit.profile([1, 0, 0, 0], k=2, group_sizes=[2, 2], query_weight=[1.0, 3.0])
    assert all(effect.convention.average != "uniform" for effect in report.effects)
    assert effects(report)["empty"] == 0.75


def test_presets_that_ignore_weights_are_not_changed_to_use_them():
    with pytest.raises(ra.InputError, match="no preset of Bpref has a value"):  # no query has unjudged rows
        ra.audit.profile([1, 0, 0], k=2, scores=[1, 2, 3], measure="bpref", group_sizes=[2, 1], query_weight=[1, 2])


@pytest.mark.long
@pytest.mark.parametrize("best_cutoff", [1, 3, 5, 10, 20, None])
def test_the_effect_of_k_covers_the_usual_cutoffs(best_cutoff):
    ranks = np.arange(25)
    labels = ranks >= 20 if best_cutoff is None else ranks < best_cutoff
    report = ra.audit.profile(labels, k=2, scores=-ranks, measure="f-measure", group_sizes=[25])
    [effect] = [effect for effect in report.effects if effect.field == "k"]
    assert effect.highest == ("all" if best_cutoff is None else str(best_cutoff))
    assert {effect.lowest} <= {"1", "2", "all"}


def test_results_without_any_judgment_are_a_warning():
    columns = {"qid": [7, 7, 7], "retrieved": [True, True, False], "judged": [False, False, True]}
    message = "none of the 2 retrieved documents is judged"
    assert message in str(ra.audit.profile([0, 0, 1], k=2, scores=[2, 1, 0], **columns))
    columns["judged"] = [True, False, True]
    assert message not in str(ra.audit.profile([0, 0, 1], k=2, scores=[2, 1, 0], **columns))
