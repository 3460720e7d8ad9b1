"""`ra.audit.identify` finds the conventions that give a published number."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.statistics.known_presets import presets_by_label
from tests.helpers.rankings import mq2008, small_queries

# Random conventions do not suit all labels of these tests.
pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")


def test_preset_variants_change_the_fields_in_their_labels():
    names = presets.names("ndcg")
    variants = {label: c for label, c in presets_by_label(ra.NDCG, 10).items() if label not in names}
    assert list(variants) == [
        "xgboost+gain=linear", "xgboost+empty=0", "xgboost+gain=linear+empty=0", "catboost+gain=exp2",
        "catboost+discount=reciprocal", "catboost+gain=exp2+discount=reciprocal", "catboost+average=uniform",
        "trec_eval_8+missing=zero", "trec_eval_9+missing=zero", "trec_eval_10+missing=zero", "ranx+gain=exp2",
        "torchmetrics+empty=1", "torchmetrics+empty=skip", "torchmetrics+empty=error",
    ]  # fmt: skip
    for label, convention in variants.items():
        preset, *changes = label.split("+")
        assert convention == ra.parse("+".join([f"{preset}@10", *changes])), label
    assert [*presets_by_label(ra.NDCG, 10)] == [*(name for name in names if name != "textbook"), *variants, "textbook"]


def test_letor4_is_identified_from_the_published_ndcg_of_bm25_on_mq2008():
    # Busa-Fekete et al. (2012): Eval-Score-4.0.pl prints this NDCG@10; see docs/paper.md.
    data = mq2008()
    first = ra.audit.identify(data.queries, data.scores, value=0.1623, k=10)[0]
    assert "letor4" in first.presets
    assert first.convention == ra.presets.letor4(10)
    assert first.value == ra.evaluate(data.queries, data.scores, ra.presets.letor4(10)).value


def test_one_match_covers_all_conventions_that_give_perfect_scores_1():
    labels = [2, 1, 0, 1, 0]
    matches = ra.audit.identify(labels, [3, 2, 1, 2, 1], value="1.0000", group_sizes=[3, 2])
    [match] = [match for match in matches if match.covers(ra.presets.yahoo(5))]
    assert len(match.presets) > 15
    assert f"{', '.join(match.near[:4])} and {len(match.near) - 4} more  " in str(matches)
    assert str(matches).count(" more  ") == sum(len(match.near) > 4 for match in matches) < len(matches)
    assert set(match.alike["k"]) == {None, *range(1, 101)}
    assert not match.covers(ra.presets.letor4(3))  # the second query has two rows, so letor4 counts it 0


@pytest.mark.parametrize(("k", "only_nearest"), [(None, True), (2, False), (5, True), ("unknown", False)])
def test_cutoffs_are_searched_for_a_measure_whose_only_tool_has_none(k, only_nearest):
    queries = ra.Queries([0, 1, 0, 2, 1, 0], group_sizes=[3, 3])
    matches = ra.audit.identify(queries, [3, 2, 1, 0, 2, 5], value="0.6", measure="filtered-dcg", k=k)
    match = matches.nearest if only_nearest else matches[0]
    assert not (matches if only_nearest else matches.nearest)
    assert match.near == ("catboost.filtered_dcg",)
    assert match.changes.get("k") == match.convention.k
    assert ra.presets.catboost.filtered_dcg().replace(**match.changes) == match.convention


def test_conventions_that_differ_in_a_query_are_different_matches():
    """One of 21 queries is empty; how it counts does not show in the rounded mean."""
    labels, scores = [1, 0] * 20 + [0, 0], [1, 2] * 5 + [2, 1] * 15 + [1, 2]
    matches = ra.audit.identify(labels, scores, value="0.9", k=2, group_sizes=[2] * 21)
    assert {match.convention.empty for match in matches} == {0, 0.5, 1, "skip"}
    assert not any("empty" in match.alike for match in matches)


@pytest.mark.long
def test_ties_by_docid_are_searched_only_if_there_are_docids():
    queries, scores = small_queries()
    matches = ra.audit.identify(queries, scores, value="0.7", k=3)
    assert not any("docid" in str(match.convention) for match in matches)
    assert any("there are no docids" in note for note in matches.notes)
    assert all(f"Note: {note}" in str(matches) for note in matches.notes)
    matches_with_docids = ra.audit.identify(*small_queries(docids=True), value="0.7", k=3)
    assert matches_with_docids.notes == ()


def test_without_a_match_the_nearest_convention_is_named():
    labels, scores, sizes = [1, 0, 0, 0, 1, 0], [2, 1, 2, 1, 1, 2], [2, 2, 2]
    # The first query is perfect, the second is empty, the third has its relevant document at rank 2 of 2.
    convention = ra.presets.yahoo(1).replace(empty=0.3)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    matches = ra.audit.identify(labels, scores, value=f"{value:.4f}", k=1, group_sizes=sizes)
    assert list(matches) == []
    assert matches.nearest.value == ra.evaluate(labels, scores, matches.nearest.convention, group_sizes=sizes).value
    assert abs(matches.nearest.value - value) > 5e-5
    assert f"No convention of the grid gives {value:.4f}.\nThe nearest is {matches.nearest}: " in str(matches)


def test_without_short_queries_the_nearest_covers_every_policy_for_them():
    matches = ra.audit.identify([1, 0, 0, 1], [2, 1, 2, 1], value="0.6137", k=1, group_sizes=[2, 2])
    assert list(matches) == []
    assert matches.nearest.alike["short"] == ("pad", "zero", "skip")


def test_a_full_precision_number_may_differ_in_its_last_bit():
    queries, scores = small_queries()
    value = ra.evaluate(queries, scores, ra.presets.textbook(10)).value
    matches = ra.audit.identify(queries, scores, value=np.nextafter(value, 1), k=10)
    assert "textbook" in matches[0].presets


def test_labels_below_zero_allow_values_below_zero():
    labels, scores = [2, -1, 0], [1, 3, 2]
    convention = ra.presets.sklearn(2)
    value = ra.evaluate(labels, scores, convention, group_sizes=[3]).value
    assert value < 0
    matches = ra.audit.identify(labels, scores, value=f"{value:.5f}", k=2, group_sizes=[3])
    assert any(match.covers(convention) for match in matches)
    assert any("gain=exp2 was not searched: labels[1] is -1" in note for note in matches.notes)


def test_scores_beyond_float32_are_searched_in_float64_only():
    matches = ra.audit.identify([1, 0], [1e300, 1], value="1.0", k=1, group_sizes=[2])
    assert matches[0].alike.get("precision") is None
    assert len([note for note in matches.notes if "beyond float32" in note]) == 1


def test_gains_that_overflow_are_not_searched():
    labels, scores = [1023.9, 1023.9, 0], [1, 2, 3]
    value = ra.evaluate(labels, scores, ra.presets.sklearn(2), group_sizes=[3]).value
    matches = ra.audit.identify(labels, scores, value=f"{value:.6f}", k=2, group_sizes=[3])
    assert "sklearn" in matches[0].presets
    assert any(note.startswith("gain=exp2 was not searched: the ideal DCG of query 0 ov") for note in matches.notes)
    assert not any(note.startswith("discount=") for note in matches.notes)  # other gains do not overflow


def test_progress_ends_at_the_total():
    steps = []
    ra.audit.identify(
        [1, 0], [1, 2], value="0.5", group_sizes=[2], progress=lambda done, total: steps.append((done, total))
    )
    assert steps[-1][0] == steps[-1][1] == len(steps)


# Mistakes: the number of a preset whose program makes one of them.


class Mistaken:
    """Sixty queries of 1 to 7 rows with grades; every third query is also a document, a relevant one."""

    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 8, 60)
    labels = rng.integers(0, 4, sizes.sum()) * 1.0
    scores = rng.normal(size=labels.size) + 0.4 * labels
    qid = np.repeat([f"q{number}" for number in range(60)], sizes)
    docid = np.array([f"d{row}" for row in range(labels.size)])
    own = (np.cumsum(sizes) - 1)[sizes > 1][::3]
    docid[own], labels[own] = qid[own], 3

    @classmethod
    def value(cls, convention, rows=slice(None), labels=None, scores=None, **columns):
        labels, scores = (cls.labels if labels is None else labels), (cls.scores if scores is None else scores)
        return ra.evaluate(labels[rows], scores[rows], convention, **{"qid": cls.qid[rows], **columns}).value

    @classmethod
    def identify(cls, value, **options):
        return ra.audit.identify(cls.labels, cls.scores, value=value, qid=cls.qid, docid=cls.docid, **options)


def per_query(convention):
    return ra.Evaluator(ra.Queries(Mistaken.labels, qid=Mistaken.qid), convention).per_query(Mistaken.scores)


MISTAKES = {
    "the value without the N one-document queries": lambda c: Mistaken.value(
        c, np.repeat(Mistaken.sizes, Mistaken.sizes) > 1
    ),
    "the value with every row twice": lambda c: Mistaken.value(c, np.repeat(np.arange(Mistaken.qid.size), 2)),
    "the value without the retrieved rows whose docid is their query's id, as BEIR evaluates": lambda c: Mistaken.value(
        c, retrieved=Mistaken.docid != Mistaken.qid
    ),
    "the value of the scores negated": lambda c: Mistaken.value(c, scores=-Mistaken.scores),
    "the value of the labels as 0 and 1": lambda c: Mistaken.value(c, labels=(Mistaken.labels > 0) * 1.0),
    "the value with all rows taken as one query": lambda c: Mistaken.value(c, qid=np.zeros(Mistaken.qid.size)),
    "the median of the queries' values, not their mean": lambda c: np.median(per_query(c)),
    "the value with every query weighed by its number of rows": lambda c: np.average(
        per_query(c), weights=Mistaken.sizes
    ),
    "1 - the value": lambda c: 1 - Mistaken.value(c),
    "the value as a percentage": lambda c: 100 * Mistaken.value(c),
}


@pytest.mark.parametrize(
    "mistake", [pytest.param(name, marks=[pytest.mark.long] * (name != "1 - the value")) for name in MISTAKES]
)
def test_a_preset_with_a_mistake_is_identified_at_two_cutoffs(mistake):
    numbers = {k: f"{MISTAKES[mistake](f'lightgbm@{k}'):.5f}" for k in (3, 5)}
    matches = Mistaken.identify(numbers)
    texts = [re.sub(r"the \d+ ", "the N ", match.changes.get("mistake", "")) for match in matches]
    assert mistake in texts[:3]  # another preset may have the same number with the same mistake
    match = matches[texts.index(mistake)]
    assert f"{match.values[0]:.5f}" == numbers[3]
    assert str(match) == f"{match.convention.short_name}: {match.changes['mistake']}"
    assert not match.covers(match.convention)
    assert matches.to_dict()["matches"][texts.index(mistake)]["changes"] == match.changes
    assert matches.chance.verdict(len(match.changes)) == "hardly by chance"


@pytest.mark.long
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_not_identified_from_a_wrong_last_digit(mistake):
    first, second = (MISTAKES[mistake](f"lightgbm@{k}") for k in (3, 5))
    try:
        matches = Mistaken.identify({3: f"{first:.5f}", 5: f"{second + 3e-5:.5f}"})
    except ra.InputError as error:
        assert "is outside [0, 1]" in str(error)  # noqa: PT017 - a percentage
    else:
        assert mistake not in [re.sub(r"the \d+ ", "the N ", match.changes.get("mistake", "")) for match in matches]


@pytest.mark.long
def test_left_out_one_document_queries_come_before_a_convention_with_three_changed_fields():
    number = f"{MISTAKES['the value without the N one-document queries']('sklearn@10'):.4f}"
    first = Mistaken.identify(number, k=10)[0]
    assert first.changes == {"mistake": f"the value without the {(Mistaken.sizes == 1).sum()} one-document queries"}
    assert "sklearn" in first.near


@pytest.mark.long
def test_a_query_left_out_is_identified_from_enough_digits():
    value = Mistaken.value("lightgbm@5", Mistaken.qid != "q7")
    assert Mistaken.identify(f"{value:.10f}", k=5)[0].changes == {"mistake": "the value without query q7"}
    assert not any("without query" in str(match) for match in Mistaken.identify(f"{value:.2f}", k=5))


def test_a_wrong_number_of_queries_is_identified_from_enough_digits():
    value = per_query("ranx.f1@5").sum() / 63
    few, enough = (Mistaken.identify(f"{value:.{n}f}", k=5, measure="f-measure") for n in (8, 9))
    assert str(enough[0]) == "ranx.f1@5: the sum of the queries' values divided by 63 instead of 60"
    assert [*few] == []


def test_a_preset_without_a_mistake_is_likelier_than_one_with_a_mistake():
    matches = Mistaken.identify(f"{Mistaken.value('lightgbm@5'):.4f}", k=5)
    assert matches[0].changes == {}
    assert not any("mistake" in match.changes for match in matches)


def test_an_ndcg_above_1_is_identified():
    # By rank, labels 5, 4, 3 under jk2: (5 + 4 + 3 / log2(3)) / (5 + 4) = 1.2103
    matches = ra.audit.identify([5, 4, 3], [3, 2, 1], value="1.21", k=2, group_sizes=[3])
    assert "lenskit_2025@2: the value with the DCG of all ranks over the ideal DCG cut at k" in map(str, matches)


def test_a_match_of_several_cutoffs_has_a_convention_for_each_and_explain_asks_which():
    queries, scores = small_queries()
    numbers = {k: f"{ra.evaluate(queries, scores, f'yahoo@{k}').value:.6f}" for k in (3, 5)}
    match = ra.audit.identify(queries, scores, value=numbers)[0]
    assert [convention.k for convention in match.conventions] == [3, 5]
    for convention, value in zip(match.conventions, match.values, strict=True):
        assert ra.evaluate(queries, scores, convention).value == value
    with pytest.raises(
        ra.ConventionError, match=r"a convention for each of its numbers, .*@3.*, .*@5(.|\n)*conventions"
    ):
        ra.audit.explain(queries, scores, match, "letor4@5")
    single = ra.audit.identify(queries, scores, value=numbers[5], k=5)[0]
    assert ra.audit.explain(queries, scores, single, "letor4@5").a.convention == single.convention


def test_all_is_the_cutoff_of_all_ranks_as_in_texts():
    queries, scores = small_queries()
    number = f"{ra.evaluate(queries, scores, 'yahoo@all').value:.6f}"
    for arguments in ({"value": number, "k": "all"}, {"value": {"all": number}}):
        matches = ra.audit.identify(queries, scores, **arguments)
        assert [found.name for found in matches.numbers] == ["ndcg@all"]
        assert matches[0].convention.k is None


def test_a_pooled_measure_without_pairs_has_the_value_of_empty():
    matches = ra.audit.identify([1, 1, 0, 0], [4, 3, 2, 1], value="0.5", measure="auc", group_sizes=[2, 2])
    assert any(match.covers(ra.parse("catboost.query_auc+empty=0.5+pool=pairs")) for match in matches)
    assert not any(match.covers(ra.parse("catboost.query_auc+empty=0+pool=pairs")) for match in matches)
