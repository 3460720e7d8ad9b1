"""What changes no value, for every measure: the order of rows, the scale of scores, parts of the data, threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.evaluation import threads
from rankadapters.core.measures import MEASURES
from tests.core.kernels.test_against_definition import takes_probabilities
from tests.helpers.convention_strategies import conventions
from tests.helpers.depth import examples
from tests.helpers.ragged_queries import ragged

every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
RANKING = {name: measure for name, measure in MEASURES.items() if "ties" in measure.fields()}
seeds = st.integers(0, 2**32 - 1)


def usable(data, measure, *, whole=True):
    """A convention that needs neither pairs nor docids, and has a value of judged and retrieved rows."""
    convention = data.draw(conventions(lenient=True, measures=[measure]))
    assume(getattr(convention, "pairs", "") != "given")
    assume(not convention.to_dict().get("ties", "").startswith("docid"))
    assume(whole or convention.over != "rows")
    return convention


def drawn(seed, convention):
    """Labels that the convention takes, scores and query ids."""
    labels, scores, qid = ragged(seed, n_queries=12, longest=20)
    labels = np.minimum(labels, 1.0) if takes_probabilities(convention) else np.minimum(labels, 2.0)
    return labels, scores, qid


def value(labels, scores, convention, qid):
    """The value, or why there is none."""
    try:
        return ra.evaluate(labels, scores, convention, qid=qid).value
    except ra.InputError as error:
        return str(error).splitlines()[0]


@every_measure
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(10), deadline=None)
def test_the_order_of_rows_changes_nothing_where_ties_have_none(measure, data, seed):
    """Under averaged ties, and under any others where no two rows of a query tie."""
    convention = usable(data, measure)
    assume(getattr(convention, "pairs", "") != "every-two" and getattr(convention, "precision", "") != "none")
    labels, scores, qid = drawn(seed, convention)
    if convention.to_dict().get("ties") not in {"average", "worst", "best", "together"}:
        scores = np.random.default_rng(seed).permutation(scores.size).astype(float) / scores.size
    order = np.random.default_rng(seed + 1).permutation(labels.size)
    here, there = value(labels, scores, convention, qid), value(labels[order], scores[order], convention, qid[order])
    assert type(here) is type(there)
    assert isinstance(here, str) or here == pytest.approx(there, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("measure", RANKING.values(), ids=list(RANKING))
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(10), deadline=None)
def test_scores_of_the_same_order_have_the_same_bits(measure, data, seed):
    convention = usable(data, measure)
    if "retrieve" in convention.fields():
        convention = convention.replace(retrieve="all")
    labels, scores, qid = drawn(seed, convention)
    known = value(labels, scores, convention, qid)
    for others in (1000 * scores - 7, (scores * 8).astype(np.int32), scores.astype(np.float32), np.exp(scores)):
        assert value(labels, others, convention, qid) == known


@every_measure
@given(data=st.data(), seed=seeds, parts=st.integers(1, 6))
@settings(max_examples=examples(8), deadline=None)
def test_tallies_of_any_partition_merge_into_the_same_bits(measure, data, seed, parts):
    convention = usable(data, measure, whole=False)
    labels, scores, qid = drawn(seed, convention)
    whole = ra.Evaluator(labels, convention, qid=qid)
    part_of = np.random.default_rng(seed).integers(0, parts, whole.query_ids.size)
    several = [np.isin(qid, whole.query_ids[part_of == part]) for part in range(parts)]
    tallies = [
        ra.Evaluator(labels[rows], convention, qid=qid[rows]).tally(scores[rows]) for rows in several if rows.any()
    ]
    merged, at_once = (
        {**tally.to_dict(), "ids": None} for tally in (ra.Tally.merge(tallies[::-1]), whole.tally(scores))
    )
    assert merged == at_once  # but for the order of the queries


@every_measure
@given(data=st.data(), seed=seeds)
@settings(max_examples=examples(5), deadline=None)
def test_any_number_of_threads_gives_the_same_bits(measure, data, seed):
    convention = usable(data, measure)
    labels, scores, qid = drawn(seed, convention)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "ROWS_PER_THREAD", 20)
        for n_threads in (1, 2, 5):
            try:
                found.append(ra.evaluate(labels, scores, convention, qid=qid, n_threads=n_threads).value)
            except ra.InputError as error:
                found.append(str(error))
    assert found[0] == found[1] == found[2]
