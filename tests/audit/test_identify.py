"""Which conventions give a published number."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.audit.identification.further_numbers import Telling, _n_distinct
from rankadapters.audit.identification.known_presets import nearest_to_blocks, preset_labels, presets_by_label
from rankadapters.statistics.grid import grid
from tests.helpers.depth import THOROUGH
from tests.helpers.graded_queries import mq2008, small

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes


def retrieval(seed=5):
    """Queries with rows that were not retrieved and rows that were not judged, and queries that have only these."""
    rng = np.random.default_rng(seed)
    queries, scores = small(seed, docids=True)
    n = queries.n_docs
    retrieved, judged = rng.random(n) < 0.8, rng.random(n) < 0.8
    judged |= ~retrieved
    for query, kept in ((0, False), (3, False)):
        rows = slice(queries.indptr[query], queries.indptr[query + 1])
        retrieved[rows], judged[rows] = kept, True
    docid = [f"d{i}" for i in rng.permutation(n)]
    sizes = np.diff(queries.indptr)
    columns = {"docid": docid, "retrieved": retrieved, "judged": judged}
    return ra.Queries(queries.labels, group_sizes=sizes, **columns), scores


def weighted():
    queries, scores = small(2, docids=True)
    weights = np.random.default_rng(0).integers(0, 4, queries.n_queries)
    sizes = np.diff(queries.indptr)
    return ra.Queries(queries.labels, group_sizes=sizes, query_weight=weights), scores


TRIES = {"judged and retrieved": 30, "retrieval": 8, "weighted": 20}
DATA = {"judged and retrieved": small(1, docids=True), "retrieval": retrieval(), "weighted": weighted()}


def random_convention(rng, queries):
    while True:
        fields = {name: values[rng.integers(len(values))] for name, values in grid(ra.NDCG, queries).items()}
        k = [None, *range(1, 101)][rng.integers(101)] if rng.random() < 0.3 else int(rng.integers(1, 13))
        with suppress(ra.ConventionError):  # fields that do not go together
            return ra.NDCG(k=k, **fields)


def values_of_queries(queries, scores, convention):
    return ra.Evaluator(queries, convention).per_query(scores)


def check_found(queries, scores, convention, k):
    """Check that one match covers the convention of a number; return False if the convention has no value."""
    try:
        value = ra.evaluate(queries, scores, convention).value
    except ra.InputError:  # every query skipped, or a label without gain
        return False
    text = f"{value:.6f}"
    found = ra.audit.identify(queries, scores, value=text, k=k)
    same = [match for match in found if match.covers(convention)]
    assert len(same) == 1, (str(convention), text, len(found))
    np.testing.assert_array_equal(
        values_of_queries(queries, scores, same[0].convention), values_of_queries(queries, scores, convention)
    )
    for match in found[:5]:
        assert match.value == ra.evaluate(queries, scores, match.convention).value
        assert f"{match.value:.6f}" == text
    return True


@pytest.mark.parametrize("data", DATA)
def test_a_random_convention_is_found_or_one_that_is_equal_on_the_data(data):
    queries, scores = DATA[data]
    rng = np.random.default_rng(11)
    done = 0
    while done < (TRIES[data] if THOROUGH else 2):
        convention = random_convention(rng, queries)
        # An unknown cutoff takes four times as long; with rows that were not retrieved, 5 s.
        k = "unknown" if THOROUGH or (not done and data != "retrieval") else convention.k
        done += check_found(queries, scores, convention, k)


def test_the_variants_of_presets_are_what_their_options_make_of_them():
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


def test_letor4_is_found_behind_the_number_of_bm25_on_mq2008():
    # Busa-Fekete et al. (2012): what Eval-Score-4.0.pl prints at 10; docs/paper.md.
    data = mq2008()
    first = ra.audit.identify(data.queries, data.scores, value=0.1623)[0]
    assert "letor4" in first.presets
    assert first.convention == ra.presets.letor4(10)
    assert first.value == ra.evaluate(data.queries, data.scores, ra.presets.letor4(10)).value


def test_trec_eval_with_exponential_gains_is_found_behind_its_number():
    data = mq2008()
    wanted = ra.presets.trec_eval_9(3).replace(gain="exp2")
    first = ra.audit.identify(data.queries, data.scores, value=0.2947, k="unknown" if THOROUGH else 3)[0]
    assert first.covers(wanted)
    assert "trec_eval_9" in first.near
    assert (first.changes, first.convention.k) == ({"gain": "exp2"}, 3)


def test_yahoo_is_found_with_the_other_presets_that_say_the_same():
    queries, scores = small()
    value = ra.evaluate(queries, scores, ra.presets.yahoo(4)).value
    [first, *_] = ra.audit.identify(queries, scores, value=f"{value:.8f}", k=4)
    # Without weights LightGBM's mean is the plain one.
    assert {"yahoo", "lightgbm"} <= set(first.presets)
    assert first.changes == {}
    assert set(first.alike["average"]) == {"uniform", "query", "query-except-empty"}


def test_matches_are_ordered_presets_first_then_by_what_differs():
    queries, scores = small()
    found = ra.audit.identify(queries, scores, value="0.8")
    changes = [len(match.changes) for match in found]
    assert changes == sorted(changes)
    assert all(match.presets == match.near for match in found if not match.changes)
    assert len({match.convention for match in found}) == len(found) > 20
    text = str(found)
    assert f"0.8 is given by {len(found)} conventions" in text
    assert f"The likeliest 20 of {len(found)}" in text
    assert "of the first 50" in text
    assert len(json.loads(found.to_json())["matches"]) == len(found)


def test_perfect_scores_are_one_match_of_all_conventions_that_give_one():
    labels = [2, 1, 0, 1, 0]
    found = ra.audit.identify(labels, [3, 2, 1, 2, 1], value="1.0000", group_sizes=[3, 2])
    [match] = [match for match in found if match.covers(ra.presets.yahoo(5))]
    assert len(match.presets) > 15
    assert f"{', '.join(match.near[:4])} and {len(match.near) - 4} more  " in str(found)
    assert str(found).count(" more  ") == sum(len(match.near) > 4 for match in found) < len(found)
    assert set(match.alike["k"]) == {None, *range(1, 101)}
    assert not match.covers(ra.presets.letor4(3))  # its second query is short


@pytest.mark.parametrize(("k", "nearest"), [(None, True), (2, False), (5, True), ("unknown", False)])
def test_a_measure_that_its_only_tool_never_cuts_is_searched_with_cutoffs_too(k, nearest):
    queries = ra.Queries([0, 1, 0, 2, 1, 0], group_sizes=[3, 3])
    found = ra.audit.identify(queries, [3, 2, 1, 0, 2, 5], value="0.6", measure="filtered-dcg", k=k)
    match = found.nearest if nearest else found[0]
    assert not (found if nearest else found.nearest)
    assert match.near == ("catboost.filtered_dcg",)
    assert match.changes.get("k") == match.convention.k
    assert ra.presets.catboost.filtered_dcg().replace(**match.changes) == match.convention


@pytest.mark.parametrize("printed", ["0.6", "0.7"])
def test_a_further_number_tells_matches_apart(printed):
    queries, scores = small()
    found = ra.audit.identify(queries, scores, value=printed, k=5)
    assert len(found) > 50
    cutoff, query = found.telling
    assert len(cutoff.values) == len(query.values) == 50
    among = found[: len(cutoff.values)]
    for match, text in zip(among, cutoff.values, strict=True):
        try:
            assert text == f"{ra.evaluate(queries, scores, match.convention.at(cutoff.where)).value:.1f}"
        except ra.InputError:  # all queries are shorter, and skipped
            assert text == "-"
    place = queries.query_ids.tolist().index(query.where)
    for match, text in zip(among, query.values, strict=True):
        value = values_of_queries(queries, scores, match.convention)[place]
        assert text == ("-" if np.isnan(value) else f"{value:.1f}")
    assert cutoff.n_groups == len(set(cutoff.values)) > 1
    shown = [
        ["-" if np.isnan(value) else f"{value:.1f}" for value in values_of_queries(queries, scores, match.convention)]
        for match in among
    ]
    assert query.n_groups == max(len(set(of_query)) for of_query in zip(*shown, strict=True))
    assert f"NDCG@{cutoff.where} makes {cutoff.n_groups} groups" in str(found)
    assert json.loads(found.to_json())["telling"] == [telling.to_dict() for telling in found.telling]


@pytest.mark.parametrize(
    ("kind", "where", "name", "plain"),
    [("cutoff", 5, "AP@5", 5), ("cutoff", None, "AP without a cutoff", "all"), ("query", 7, "query 7", "7")],
)
def test_a_further_number_is_named(kind, where, name, plain):
    telling = Telling(kind=kind, where=where, values=("0.1", "-", "0.1"), measure="ap")
    assert (str(telling), telling.n_groups) == (name, 2)
    assert telling.to_dict() == {"kind": kind, "where": plain, "values": ["0.1", "-", "0.1"]}


def test_a_value_of_minus_one_is_not_the_same_as_none():
    table = np.array([[-1.0, np.nan, 0.1], [np.nan, np.nan, 0.12], [-1.0, np.nan, 0.2]])
    assert _n_distinct(table, 1).tolist() == [1, 0, 1]  # beside the first


def test_one_match_needs_no_further_number():
    found = ra.audit.identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    assert len(found) == 1
    assert found.telling == ()


def test_conventions_that_differ_in_a_query_are_different_matches():
    """Of 21 queries one is empty, which moves the mean by too little to tell."""
    labels, scores = [1, 0] * 20 + [0, 0], [1, 2] * 5 + [2, 1] * 15 + [1, 2]
    found = ra.audit.identify(labels, scores, value="0.9", k=2, group_sizes=[2] * 21)
    assert {match.convention.empty for match in found} == {0, 0.5, 1, "skip"}
    assert not any("empty" in match.alike for match in found)


def test_without_docids_they_are_not_searched_and_this_is_said():
    queries, scores = small()
    found = ra.audit.identify(queries, scores, value="0.7", k=3)
    assert not any("docid" in str(match.convention) for match in found)
    assert any("there are no docids" in note for note in found.notes)
    assert all(f"Note: {note}" in str(found) for note in found.notes)
    with_ids = ra.audit.identify(*small(docids=True), value="0.7", k=3)
    assert with_ids.notes == ()


def test_no_match_names_the_nearest_and_the_value_of_empty_that_would_be_needed():
    labels, scores, sizes = [1, 0, 0, 0, 1, 0], [2, 1, 2, 1, 1, 2], [2, 2, 2]
    # One query is perfect, one is empty, one has its document at rank 2 of 2.
    convention = ra.presets.yahoo(1).replace(empty=0.3)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    found = ra.audit.identify(labels, scores, value=f"{value:.4f}", k=1, group_sizes=sizes)
    assert list(found) == []
    assert found.nearest.value == ra.evaluate(labels, scores, found.nearest.convention, group_sizes=sizes).value
    assert abs(found.nearest.value - value) > 5e-5
    assert any(note.startswith("empty=0.3 in ") and "yahoo" in note for note in found.notes)
    assert f"No convention of the grid gives {value:.4f}." in str(found)
    assert json.loads(found.to_json())["nearest"]["value"] == found.nearest.value


def test_where_no_query_is_short_the_nearest_is_the_same_however_these_count():
    found = ra.audit.identify([1, 0, 0, 1], [2, 1, 2, 1], value="0.61", k=1, group_sizes=[2, 2])
    assert list(found) == []
    assert found.nearest.alike["short"] == ("pad", "zero", "skip")


def test_no_match_of_one_query_names_the_cutoff_that_would_be_needed():
    labels, scores = [0, 1, 0, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    value = ra.evaluate(labels, scores, "yahoo@5", group_sizes=[6]).value
    found = ra.audit.identify(labels, scores, value=f"{value:.6f}", k=2, group_sizes=[6])
    assert list(found) == []
    assert [note.partition(", ")[0] for note in found.notes][:1] == ["k=10 in sklearn"]


def test_no_match_names_the_cutoff_that_would_be_needed():
    data = mq2008()
    found = ra.audit.identify(data.queries, data.scores, value="0.3985", k=5)  # RankLib's at 10, docs/paper.md
    assert list(found) == []
    assert any(note.startswith("k=10 in ranklib") for note in found.notes)


def test_a_number_that_was_cut_off_does_not_match_but_is_told():
    labels, scores, sizes = [0, 1, 0], [2, 1, 1], [2, 1]
    convention = ra.presets.ranklib(2)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    assert f"{value:.3f}" == "0.315"
    assert f"{value:.5f}" == "0.31546"
    assert ra.audit.identify(labels, scores, value="0.31546", k=2, group_sizes=sizes)
    found = ra.audit.identify(labels, scores, value="0.3154", k=2, group_sizes=sizes)
    assert list(found) == []
    assert any("gives it cut off, not rounded" in note for note in found.notes)


def test_a_single_query_can_be_identified():
    found = ra.audit.identify([0, 1], [2, 1], value="0.6309", k=2, group_sizes=[2])
    assert "yahoo" in found[0].presets


def test_a_number_in_full_precision_is_found_in_spite_of_another_order_of_addition():
    queries, scores = small()
    value = ra.evaluate(queries, scores, ra.presets.textbook(10)).value
    found = ra.audit.identify(queries, scores, value=np.nextafter(value, 1), k=10)
    assert "textbook" in found[0].presets


def test_with_labels_below_zero_a_value_may_leave_the_unit_interval():
    labels, scores = [2, -1, 0], [1, 3, 2]
    convention = ra.presets.sklearn(2)
    value = ra.evaluate(labels, scores, convention, group_sizes=[3]).value
    assert value < 0
    found = ra.audit.identify(labels, scores, value=f"{value:.5f}", k=2, group_sizes=[3])
    assert any(match.covers(convention) for match in found)
    assert any("gain=exp2 was not searched: labels[1] is -1" in note for note in found.notes)


def test_scores_beyond_float32_are_searched_in_float64_only():
    found = ra.audit.identify([1, 0], [1e300, 1], value="1.0", k=1, group_sizes=[2])
    assert found[0].alike.get("precision") is None
    assert len([note for note in found.notes if "beyond float32" in note]) == 1


def test_gains_that_overflow_are_not_searched():
    labels, scores = [1023.9, 1023.9, 0], [1, 2, 3]
    value = ra.evaluate(labels, scores, ra.presets.sklearn(2), group_sizes=[3]).value
    found = ra.audit.identify(labels, scores, value=f"{value:.6f}", k=2, group_sizes=[3])
    assert "sklearn" in found[0].presets
    assert [note for note in found.notes if note.startswith("gain=exp2 was not searched: the ideal DCG of query 0 ov")]
    assert not [note for note in found.notes if note.startswith("discount=")]  # too large under some gains only


@pytest.mark.parametrize("k", [0, 1.5, "10", "zero"])
def test_bad_cutoffs(k):
    with pytest.raises(ra.ConventionError, match="is not a cutoff"):
        ra.audit.identify([1, 0], [1, 2], value="0.5", k=k, group_sizes=[2])


@pytest.mark.parametrize(
    ("scores", "problem"),
    [([1], "scores has 1 rows but the queries cover 2"), ([1, np.inf], r"scores\[1\] is inf")],
)
def test_bad_scores(scores, problem):
    with pytest.raises(ra.InputError, match=problem):
        ra.audit.identify([1, 0], scores, value="0.5", group_sizes=[2])


def test_progress_is_told_to_the_end():
    steps = []
    ra.audit.identify(
        [1, 0], [1, 2], value="0.5", group_sizes=[2], progress=lambda done, total: steps.append((done, total))
    )
    assert steps[-1][0] == steps[-1][1] == len(steps)


def test_every_form_holds_the_signature():
    found = ra.audit.identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    for text in (str(found), found.to_markdown(), found._repr_html_(), found.to_json()):
        assert str(found[0].convention) in text


def test_what_is_the_same_on_this_data_is_printed_below_the_signature():
    found = ra.audit.identify([0, 1, 0], [2, 1, 1], value="0.5000", k=1, group_sizes=[2, 1])
    assert "ties" in found[0].alike
    [below] = str(found).split(str(found[0].convention))[1:]
    assert below.startswith("\nThe same on this data: ")
    shown = below.splitlines()[1].partition(": ")[2].split("; ")
    assert [each.partition("=")[0] for each in shown] == list(found[0].alike)
    assert f"ties={'|'.join(found[0].alike['ties'])}" in shown


def test_another_value_of_empty_is_told_where_no_cutoff_is_known():
    _, test = ra.datasets.mq2008_like(random_state=0)
    queries, scores = ra.Queries(test.labels, qid=test.qid), test.X[:, 24]
    value = ra.evaluate(queries, scores, ra.presets.yahoo(10).replace(empty=0.3)).value
    found = ra.audit.identify(queries, scores, value=f"{value:.6f}")
    assert not found
    assert "empty=0.3 in lightgbm, xgboost, yahoo" in found.notes[0]


@pytest.mark.parametrize("k", [1, 4, "unknown"])
def test_another_value_of_empty_is_looked_for_at_the_known_cutoff_or_at_the_nearest_and_the_usual_ones(k):
    labels, scores, sizes = [1, *[0] * 199], -np.arange(200), [100, 100]  # of value 1 and empty, at every cutoff
    found = ra.audit.identify(labels, scores, value="0.6500", k=k, group_sizes=sizes)
    told = [note for note in found.notes if note.startswith("empty=0.3 in ")]
    usual = ["10", "5", "1", "3", "20", "100", "all", "50", "15", "2"] if k == "unknown" else []
    cutoffs = list(dict.fromkeys([str(found.nearest.convention.k), *usual]))
    assert [note.removesuffix(" would give it").rpartition(" at ")[2] for note in told] == cutoffs


def test_gains_of_0_and_of_minus_0_are_alike():
    labels, scores, convention = [0.5, -0.0, 2], [3, 2, 1], presets.yahoo(3).replace(gain="linear")
    value = ra.evaluate(labels, scores, convention, group_sizes=[3]).value
    found = ra.audit.identify(labels, scores, value=f"{value:.10f}", k=3, group_sizes=[3])
    [match] = [match for match in found if match.covers(convention)]
    assert match.alike["gain"] == ("linear", "linear-positive")


@pytest.mark.parametrize("measure", [ra.AP, ra.NDCG, ra.Precision, ra.RR])
def test_a_block_is_named_by_the_presets_that_it_holds_at_its_cutoff(measure):
    for k in (10, None):
        for convention in presets_by_label(measure, k).values():
            block = {name: (value,) for name, value in convention.to_dict().items() if name in convention.fields()}
            same = tuple(label for label, other in presets_by_label(measure, k).items() if other == convention)
            assert preset_labels(measure, [block]) == same


def test_what_a_tools_user_changes_more_often_is_named_before_what_is_changed_less_often():
    rarity = {name: kind.rarity for name, kind in ra.NDCG.declared().items()}
    assert sorted(rarity, key=lambda name: rarity[name]) == [
        "gain", "empty", "missing", "average", "unjudged", "ties", "precision", "short", "discount", "ideal", "k",
    ]  # fmt: skip
    assert len(set(rarity.values())) == len(rarity)


def test_of_several_values_of_a_field_the_first_is_the_change():
    block = {name: (value,) for name, value in presets.yahoo(10).replace(ties="worst").to_dict().items()}
    found = nearest_to_blocks(ra.NDCG, [{**block, "gain": ("table_0_1_3", "table_0_1_7")}])
    assert found.changes["gain"] == "table_0_1_3"
