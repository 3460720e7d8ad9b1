"""Input that measures cannot take: every measure refuses it with a clear error, or counts a declared value."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.declaration.fields import Cutoff
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.conventions import WITH_PRESET, convention_of, without_docids


def plain(measure):
    """Return the text of a convention of queries that needs neither pairs nor docids and allows empty queries."""
    convention = without_docids(convention_of(measure))
    of_queries = {"pool": "queries", "average": "uniform"} if convention.over == "rows" else {}
    empty = {"empty": 0} if getattr(convention, "empty", 0) == "error" else {}
    return str(convention.replace(**of_queries, **empty))


PLAIN = {name: plain(name) for name in WITH_PRESET}
every_measure = pytest.mark.parametrize("measure", PLAIN)


@every_measure
@pytest.mark.parametrize(
    ("column", "weights"), [("query_weight", [1, 2]), ("row_weight", [1, 2, 3, 4]), ("pairs", ([0], [1], [2.0]))]
)
def test_weights_that_a_convention_does_not_count_are_refused(measure, column, weights):
    convention = ra.parse(PLAIN[measure])
    average = {"query_weight": "query", "row_weight": "row", "pairs": "pair"}[column]
    uniform = convention.replace(average="uniform")
    takes_pairs = "pairs" in uniform.fields() and uniform.measure != "auc"  # AUC counts the weights of given pairs
    if column == "pairs" and takes_pairs:
        uniform = uniform.replace(pairs="given")
    elif column == "pairs":  # the measure ignores pairs
        without, with_pairs = (ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], uniform, group_sizes=[2, 2], pairs=pairs)
                               for pairs in (None, weights))  # fmt: skip
        assert with_pairs.value == without.value
        return
    name = "pair_weight" if column == "pairs" else column
    with pytest.raises(ra.InputError, match=rf"{name} was given but the convention says average='uniform'.*\nHint"):
        ra.evaluate([1, 0, 1, 0], [4, 3, 2, 1], uniform, group_sizes=[2, 2], **{column: weights})
    if not any(word.startswith(average) for word in type(convention).declared()["average"].words):
        with pytest.raises(ra.ConventionError, match=f"average='{average}'; allowed are 'uniform'"):
            convention.replace(average=average)


@every_measure
def test_bad_cutoffs_are_refused_and_measures_without_cutoffs_take_none(measure):
    plain = ra.parse(PLAIN[measure])
    if any(isinstance(kind, Cutoff) for kind in type(plain).declared().values()):
        for k in (0, -1, 2.5, True, "5"):
            with pytest.raises(ra.ConventionError, match=r"k=.* is not a cutoff; allowed are whole numbers from 1 on"):
                plain.at(k)
        return
    with pytest.raises(ra.ConventionError, match=f"{type(plain).__name__} has no field 'k'; its fields are"):
        plain.at(5)
    with pytest.raises(ra.ConventionError, match=r"does not start with a measure and its cutoff|has no cutoff"):
        ra.parse(str(plain).replace(f"{measure}/", f"{measure}@5/"))


@pytest.mark.parametrize("text", [*PLAIN.values(), "yahoo@3", "trec_eval_9@3", "catboost.mrr@3", "lightgbm.map@3"])
def test_a_bad_score_in_a_query_without_relevant_rows_is_refused(text):
    scores = np.arange(33.0)
    scores[3] = np.nan
    for choice in (NEVER, NOW):
        with kernels(choice), pytest.raises(ra.InputError, match=r"scores\[3\] is nan"):
            ra.evaluate([0] * 30 + [1, 0, 1], scores, text, group_sizes=[30, 3], docid=[f"d{row}" for row in range(33)])


BINARY = [measure for measure, text in PLAIN.items() if "relevant" in ra.parse(text).fields()]


@pytest.mark.parametrize("measure", BINARY)
@pytest.mark.parametrize("empty", [0, 0.25, 1, "skip", "error"])
def test_a_query_without_relevant_rows_counts_what_empty_says(measure, empty):
    """Every query is empty here. Real programs print values of such data."""
    convention = ra.parse(PLAIN[measure])
    # For FallOut, a query is empty if it has no irrelevant row.
    convention = convention.replace(relevant="from_0" if measure == "fall-out" else "above_7")
    labels, scores, sizes = [1, 0, 2, 0], [4, 3, 2, 1], [2, 2]
    if "empty" not in convention.fields():
        assert ra.evaluate(labels, scores, convention, group_sizes=sizes).value == 0
        return
    convention = convention.replace(empty=empty)
    if empty in {"skip", "error"}:
        problem = {"skip": "nothing is left to average", "error": "query 0 has nothing to find.*empty='error'"}[empty]
        with pytest.raises(ra.InputError, match=problem):
            ra.evaluate(labels, scores, convention, group_sizes=sizes)
        return
    assert ra.evaluate(labels, scores, convention, group_sizes=sizes).value == empty
    assert ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores).tolist() == [empty, empty]
