"""Changes of input that change no value, for every measure: row order, score scale, partitions, threads, processes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.evaluation import threads
from tests.helpers.conventions import conventions
from tests.helpers.oracle_rows import takes_probabilities
from tests.helpers.parameters import examples
from tests.helpers.rankings import TEXTBOOK, ragged_columns

every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
RANKED_MEASURES = {name: measure for name, measure in MEASURES.items() if "ties" in measure.fields()}
seeds = st.integers(0, 2**32 - 1)


def draw_convention(data, measure, *, over_rows=True):
    """Draw a convention that needs neither pairs nor docids; `over_rows` allows measures over all rows."""
    convention = data.draw(conventions(lenient=True, measures=[measure]))
    assume(getattr(convention, "pairs", "") != "given")
    assume(not convention.to_dict().get("ties", "").startswith("docid"))
    assume(over_rows or convention.over != "rows")
    return convention


def make_rows(seed, convention):
    labels, scores, qid = ragged_columns(seed, n_queries=12, longest=20)
    labels = np.minimum(labels, 1.0) if takes_probabilities(convention) else np.minimum(labels, 2.0)
    return labels, scores, qid


def value_or_error(labels, scores, convention, qid):
    try:
        return ra.evaluate(labels, scores, convention, qid=qid).value
    except ra.InputError as error:
        return str(error).splitlines()[0]


@every_measure
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(10), deadline=None)
def test_the_order_of_rows_changes_no_value_unless_ties_depend_on_it(measure, data, seed):
    """Where ties are broken by the order of rows, the scores have no ties."""
    convention = draw_convention(data, measure)
    assume(getattr(convention, "pairs", "") != "every-two" and getattr(convention, "precision", "") != "none")
    labels, scores, qid = make_rows(seed, convention)
    if convention.to_dict().get("ties") not in {"average", "worst", "best", "together"}:
        scores = np.random.default_rng(seed).permutation(scores.size).astype(float) / scores.size
    order = np.random.default_rng(seed + 1).permutation(labels.size)
    original = value_or_error(labels, scores, convention, qid)
    reordered = value_or_error(labels[order], scores[order], convention, qid[order])
    assert type(original) is type(reordered)
    assert isinstance(original, str) or original == pytest.approx(reordered, rel=1e-12, abs=1e-300)


@pytest.mark.long
@pytest.mark.parametrize("measure", RANKED_MEASURES.values(), ids=list(RANKED_MEASURES))
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(10), deadline=None)
def test_scores_that_rank_rows_alike_give_the_same_bits(measure, data, seed):
    convention = draw_convention(data, measure)
    if "retrieve" in convention.fields():
        convention = convention.replace(retrieve="all")
    labels, scores, qid = make_rows(seed, convention)
    expected = value_or_error(labels, scores, convention, qid)
    for rescaled in (1000 * scores - 7, (scores * 8).astype(np.int32), scores.astype(np.float32), np.exp(scores)):
        assert value_or_error(labels, rescaled, convention, qid) == expected


@every_measure
@given(data=st.data(), seed=seeds, parts=st.integers(1, 6))
@settings(max_examples=examples(8), deadline=None)
def test_tallies_of_any_partition_merge_into_the_same_bits(measure, data, seed, parts):
    convention = draw_convention(data, measure, over_rows=False)
    labels, scores, qid = make_rows(seed, convention)
    whole = ra.Evaluator(labels, convention, qid=qid)
    part_of = np.random.default_rng(seed).integers(0, parts, whole.query_ids.size)
    masks = [np.isin(qid, whole.query_ids[part_of == part]) for part in range(parts)]
    tallies = [
        ra.Evaluator(labels[rows], convention, qid=qid[rows]).tally(scores[rows]) for rows in masks if rows.any()
    ]
    merged, whole_tally = (
        {**tally.to_dict(), "ids": None} for tally in (ra.Tally.merge(tallies[::-1]), whole.tally(scores))
    )
    assert merged == whole_tally  # except the ids, whose order is that of the parts


@pytest.mark.long
@every_measure
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(5), deadline=None)
def test_any_number_of_threads_gives_the_same_bits(measure, data, seed):
    convention = draw_convention(data, measure)
    labels, scores, qid = make_rows(seed, convention)
    values = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "ROWS_PER_THREAD", 20)
        for n_threads in (1, 2, 5):
            try:
                values.append(ra.evaluate(labels, scores, convention, qid=qid, n_threads=n_threads).value)
            except ra.InputError as error:
                values.append(str(error))
    assert values[0] == values[1] == values[2]


@pytest.fixture
def many_rows(monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 50)
    labels, scores, qid = ragged_columns(11, n_queries=300)
    return labels, scores, qid


@pytest.mark.parametrize(("cpu_count", "n_threads"), [(6, 6), (None, 1)])
def test_all_cpus_are_used_where_the_system_lists_none_for_the_process(cpu_count, n_threads, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cpu_count)
    assert threads.as_n_threads(None) == n_threads


def test_any_number_of_threads_names_the_first_bad_row(many_rows):
    labels, scores, qid = many_rows
    scores = scores.copy()
    scores[[500, 4000, -1]] = np.nan
    for n_threads in (1, 2, 7):
        with pytest.raises(ra.InputError, match=r"scores\[500\] is nan"):
            ra.evaluate(labels, scores, TEXTBOOK, qid=qid, n_threads=n_threads)


def test_sixteen_user_threads_share_one_evaluator(many_rows):
    labels, scores, qid = many_rows
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid, n_threads=3)
    score_columns = [np.roll(scores, shift) for shift in range(16)]
    expected = [evaluator.evaluate(shifted_scores).value for shifted_scores in score_columns]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(5):
            assert [score.value for score in pool.map(evaluator.evaluate, score_columns)] == expected
