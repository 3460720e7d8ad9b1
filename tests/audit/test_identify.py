"""`ra.audit.identify` finds the conventions that give a published number."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.statistics.grid import grid
from rankadapters.statistics.known_presets import nearest_to_blocks, preset_labels, presets_by_label
from tests.helpers.depth import THOROUGH
from tests.helpers.graded_queries import mq2008, small_queries
from tests.helpers.tables import for_each

# Random conventions do not suit all labels of these tests.
pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")


def retrieval():
    """Return queries with unretrieved and unjudged rows; queries 0 and 3 have only unretrieved rows."""
    rng = np.random.default_rng(5)
    queries, scores = small_queries(5, docids=True)
    n = queries.n_docs
    retrieved, judged = rng.random(n) < 0.8, rng.random(n) < 0.8
    judged |= ~retrieved
    for query in (0, 3):
        rows = slice(queries.indptr[query], queries.indptr[query + 1])
        retrieved[rows], judged[rows] = False, True
    docid = [f"d{i}" for i in rng.permutation(n)]
    sizes = np.diff(queries.indptr)
    columns = {"docid": docid, "retrieved": retrieved, "judged": judged}
    return ra.Queries(queries.labels, group_sizes=sizes, **columns), scores


def weighted():
    """Return queries with weights, some of them 0."""
    queries, scores = small_queries(2, docids=True)
    weights = np.random.default_rng(0).integers(0, 4, queries.n_queries)
    sizes = np.diff(queries.indptr)
    return ra.Queries(queries.labels, group_sizes=sizes, query_weight=weights), scores


N_TRIALS = {"judged and retrieved": 30, "retrieval": 8, "weighted": 20}
DATA = {"judged and retrieved": small_queries(1, docids=True), "retrieval": retrieval(), "weighted": weighted()}


def random_convention(rng, queries):
    while True:
        fields = {name: values[rng.integers(len(values))] for name, values in grid(ra.NDCG, queries).items()}
        k = [None, *range(1, 101)][rng.integers(101)] if rng.random() < 0.3 else int(rng.integers(1, 13))
        with suppress(ra.ConventionError):  # an invalid combination of fields
            return ra.NDCG(k=k, **fields)


def per_query_values(queries, scores, convention):
    return ra.Evaluator(queries, convention).per_query(scores)


def check_identified(queries, scores, convention, k):
    """Check that exactly one match covers the convention; return False if the convention has no value."""
    try:
        value = ra.evaluate(queries, scores, convention).value
    except ra.InputError:  # every query skipped, or a label without gain
        return False
    text = f"{value:.6f}"
    matches = ra.audit.identify(queries, scores, value=text, k=k)
    covering = [match for match in matches if match.covers(convention)]
    assert len(covering) == 1, (str(convention), text, len(matches))
    np.testing.assert_array_equal(
        per_query_values(queries, scores, covering[0].convention), per_query_values(queries, scores, convention)
    )
    for match in matches[:5]:
        assert match.value == ra.evaluate(queries, scores, match.convention).value
        assert f"{match.value:.6f}" == text
    return True


@pytest.mark.parametrize("data", DATA)
def test_exactly_one_match_covers_a_random_convention(data):
    queries, scores = DATA[data]
    rng = np.random.default_rng(11)
    n_checked = 0
    while n_checked < (N_TRIALS[data] if THOROUGH else 2):
        convention = random_convention(rng, queries)
        # Searching all cutoffs takes four times as long, and 5 s with unretrieved rows.
        k = "unknown" if THOROUGH or (not n_checked and data != "retrieval") else convention.k
        n_checked += check_identified(queries, scores, convention, k)


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
    first = ra.audit.identify(data.queries, data.scores, value=0.1623)[0]
    assert "letor4" in first.presets
    assert first.convention == ra.presets.letor4(10)
    assert first.value == ra.evaluate(data.queries, data.scores, ra.presets.letor4(10)).value


def test_trec_eval_with_exponential_gains_is_identified():
    data = mq2008()
    expected = ra.presets.trec_eval_9(3).replace(gain="exp2")
    first = ra.audit.identify(data.queries, data.scores, value=0.2947, k="unknown" if THOROUGH else 3)[0]
    assert first.covers(expected)
    assert "trec_eval_9" in first.near
    assert (first.changes, first.convention.k) == ({"gain": "exp2"}, 3)


def test_presets_with_equal_values_on_the_data_share_one_match():
    queries, scores = small_queries()
    value = ra.evaluate(queries, scores, ra.presets.yahoo(4)).value
    [first, *_] = ra.audit.identify(queries, scores, value=f"{value:.8f}", k=4)
    # Without weights LightGBM's mean is the plain mean.
    assert {"yahoo", "lightgbm"} <= set(first.presets)
    assert first.changes == {}
    assert set(first.alike["average"]) == {"uniform", "query", "query-except-empty"}


def test_presets_come_first_then_matches_with_fewer_changed_fields():
    queries, scores = small_queries()
    matches = ra.audit.identify(queries, scores, value="0.8")
    changes = [len(match.changes) for match in matches]
    assert changes == sorted(changes)
    assert all(match.presets == match.near for match in matches if not match.changes)
    assert len({match.convention for match in matches}) == len(matches) > 20
    text = str(matches)
    assert f"0.8 is given by {len(matches)} conventions" in text
    assert f"The likeliest 20 of {len(matches)}" in text
    assert len(json.loads(matches.to_json())["matches"]) == len(matches)


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
    assert json.loads(matches.to_json())["nearest"]["value"] == matches.nearest.value


def test_without_short_queries_the_nearest_covers_every_policy_for_them():
    matches = ra.audit.identify([1, 0, 0, 1], [2, 1, 2, 1], value="0.6137", k=1, group_sizes=[2, 2])
    assert list(matches) == []
    assert matches.nearest.alike["short"] == ("pad", "zero", "skip")


def test_a_number_at_a_further_cutoff_tells_matches_apart():
    """The line of docs/audit.md, in place of a list of further numbers to look up."""
    queries, scores = small_queries()
    matches = [match for match in ra.audit.identify(queries, scores, value="0.7", k=5) if match.changes]
    conventions = [match.convention.at(10) for match in matches]
    assert len({f"{score.value:.4f}" for score in ra.evaluate(queries, scores, conventions).values()}) > 1


def test_the_number_of_a_single_query_is_identified():
    matches = ra.audit.identify([0, 1], [2, 1], value="0.6309", k=2, group_sizes=[2])
    assert "yahoo" in matches[0].presets


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


@pytest.mark.parametrize("k", [0, 1.5, "10", "zero"])
def test_an_invalid_cutoff_is_refused(k):
    with pytest.raises(ra.ConventionError, match="is not a cutoff"):
        ra.audit.identify([1, 0], [1, 2], value="0.5", k=k, group_sizes=[2])


@pytest.mark.parametrize(
    ("scores", "message"),
    [([1], "scores has 1 rows but the queries cover 2"), ([1, np.inf], r"scores\[1\] is inf")],
)
def test_invalid_scores_are_refused(scores, message):
    with pytest.raises(ra.InputError, match=message):
        ra.audit.identify([1, 0], scores, value="0.5", group_sizes=[2])


def test_progress_ends_at_the_total():
    steps = []
    ra.audit.identify(
        [1, 0], [1, 2], value="0.5", group_sizes=[2], progress=lambda done, total: steps.append((done, total))
    )
    assert steps[-1][0] == steps[-1][1] == len(steps)


def test_every_format_contains_the_signature():
    matches = ra.audit.identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    for text in (str(matches), matches.to_markdown(), matches._repr_html_(), matches.to_json()):
        assert str(matches[0].convention) in text


def test_choices_with_equal_values_on_the_data_are_printed_below_the_signature():
    matches = ra.audit.identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    assert "ties" in matches[0].alike
    [below] = str(matches).split(str(matches[0].convention))[1:]
    assert below.startswith("\nThe same on this data: ")
    fields = below.splitlines()[1].partition(": ")[2].split("; ")
    assert [field.partition("=")[0] for field in fields] == list(matches[0].alike)
    assert f"ties={'|'.join(matches[0].alike['ties'])}" in fields


def test_gains_of_0_and_minus_0_are_equal():
    labels, scores, convention = [0.5, -0.0, 2], [3, 2, 1], presets.yahoo(3).replace(gain="linear")
    value = ra.evaluate(labels, scores, convention, group_sizes=[3]).value
    matches = ra.audit.identify(labels, scores, value=f"{value:.10f}", k=3, group_sizes=[3])
    [match] = [match for match in matches if match.covers(convention)]
    assert match.alike["gain"] == ("linear", "linear-positive")


@pytest.mark.parametrize("measure", [ra.AP, ra.NDCG, ra.Precision, ra.RR])
def test_a_block_is_labelled_with_the_presets_that_it_contains(measure):
    for k in (10, None):
        for convention in presets_by_label(measure, k).values():
            block = {name: (value,) for name, value in convention.to_dict().items() if name in convention.fields()}
            labels = tuple(label for label, preset in presets_by_label(measure, k).items() if preset == convention)
            assert preset_labels(measure, [block]) == labels


def test_rarity_orders_fields_by_how_seldom_users_change_them():
    rarity = {name: kind.rarity for name, kind in ra.NDCG.declared().items()}
    assert sorted(rarity, key=lambda name: rarity[name]) == [
        "gain", "empty", "missing", "average", "unjudged", "ties", "precision", "short", "discount", "ideal", "k",
    ]  # fmt: skip
    assert len(set(rarity.values())) == len(rarity)


def test_the_first_value_of_a_block_field_is_reported_as_the_change():
    block = {name: (value,) for name, value in presets.yahoo(10).replace(ties="worst").to_dict().items()}
    nearest = nearest_to_blocks(ra.NDCG, [{**block, "gain": ("table_0_1_3", "table_0_1_7")}])
    assert nearest.changes["gain"] == "table_0_1_3"


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


@for_each("mistake", MISTAKES)
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


@for_each("mistake", MISTAKES)
def test_a_mistake_is_not_identified_from_a_wrong_last_digit(mistake):
    first, second = (MISTAKES[mistake](f"lightgbm@{k}") for k in (3, 5))
    try:
        matches = Mistaken.identify({3: f"{first:.5f}", 5: f"{second + 3e-5:.5f}"})
    except ra.InputError as error:
        assert "is outside [0, 1]" in str(error)  # noqa: PT017 - a percentage
    else:
        assert mistake not in [re.sub(r"the \d+ ", "the N ", match.changes.get("mistake", "")) for match in matches]


def test_left_out_one_document_queries_come_before_a_convention_with_three_changed_fields():
    number = f"{MISTAKES['the value without the N one-document queries']('sklearn@10'):.4f}"
    first = Mistaken.identify(number, k=10)[0]
    assert first.changes == {"mistake": f"the value without the {(Mistaken.sizes == 1).sum()} one-document queries"}
    assert "sklearn" in first.near


def test_a_query_left_out_is_identified_from_enough_digits():
    value = Mistaken.value("lightgbm@5", Mistaken.qid != "q7")
    assert Mistaken.identify(f"{value:.10f}", k=5)[0].changes == {"mistake": "the value without query q7"}
    assert not any("without query" in str(match) for match in Mistaken.identify(f"{value:.2f}", k=5))


def test_a_preset_without_a_mistake_is_likelier_than_one_with_a_mistake():
    matches = Mistaken.identify(f"{Mistaken.value('lightgbm@5'):.4f}", k=5)
    assert matches[0].changes == {}
    assert not any("mistake" in match.changes for match in matches)


@for_each("value", ["62.3", "-0.123", "7.31"])
def test_a_number_outside_0_to_1_is_refused_unless_a_mistake_gives_it(value):
    with pytest.raises(ra.InputError, match=r"is outside \[0, 1\].*\n.*divide a percentage by 100"):
        Mistaken.identify(value, k=5)


def test_an_ndcg_above_1_is_identified():
    # By rank, labels 5, 4, 3 under jk2: (5 + 4 + 3 / log2(3)) / (5 + 4) = 1.2103
    matches = ra.audit.identify([5, 4, 3], [3, 2, 1], value="1.21", k=2, group_sizes=[3])
    assert "lenskit_2025@2: the value with the DCG of all ranks over the ideal DCG cut at k" in map(str, matches)
