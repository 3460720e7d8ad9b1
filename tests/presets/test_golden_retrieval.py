"""Compare the presets of retrieval tools with what the tools print for runs with awkward queries and rows.

The values of the other golden files come from queries whose rows are all retrieved and judged, so they confirm neither
`missing`, `unjudged` and `empty` nor the treatment of rows outside the run or the judgments.
"""

from __future__ import annotations

import math
import re
import warnings
from functools import cache

import pytest

import rankadapters as ra
from tests.helpers.depth import WHOLE
from tests.helpers.golden_retrieval import CALLED, REFUSED, TIES, TOOLS, columns_of, retrieval_cases, retrieval_results

CASES = retrieval_cases()
NOT_FINITE = {"nan", "inf"}  # we refuse such scores, and tools do not


@cache
def queries_of(case_name, tool_name, truth):
    """Return queries and scores of a case as a tool got it; None if there is no row."""
    tool = TOOLS[tool_name]
    labels, scores, columns = columns_of(CASES[case_name], tool, truth)
    return (ra.Queries(labels, **columns), scores) if labels else None


def agrees(case_name, tool_name, measure, result):
    """Return whether tool and package both refuse, or agree on the mean and on each query that the tool reports."""
    tool, data = TOOLS[tool_name], queries_of(case_name, tool_name, TOOLS[tool_name].truth(measure))
    if data is None:
        return not result
    queries, scores = data
    printed = {} if measure.startswith("gm_") else result.get("per_query", {})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ra.LabelsWarning)
            evaluator = ra.Evaluator(queries, tool.convention(measure))
            value = evaluator.evaluate(scores).value
            values = evaluator.per_query(scores) if printed else []
    except ra.InputError:
        return not result

    def close(theirs, ours):
        return float(theirs) == pytest.approx(ours, rel=tool.tolerance, abs=tool.tolerance)

    by_query = dict(zip(queries.query_ids, values, strict=False))
    numbers = {query: number for query, number in printed.items() if number is not None and float(number) >= 0}
    return (
        bool(result)
        and close(result["overall"], value)
        and all(query in by_query and close(number, by_query[query]) for query, number in numbers.items())
    )


@pytest.mark.parametrize("name", TOOLS)
def test_the_preset_gives_what_the_tool_prints(name):
    """Values may differ in the listed situations only, and whole files show that they do."""
    listed, different = TOOLS[name].listed, {}
    for case_name, measure, result in retrieval_results(name):
        situation = re.sub(r"\d+$", "", CASES[case_name]["situation"])
        if situation not in NOT_FINITE and not agrees(case_name, name, measure, result):
            different.setdefault(situation, []).append((case_name, measure, result.get("overall")))
    assert not {situation: rows[:3] for situation, rows in different.items() if situation not in listed}
    assert not WHOLE or set(listed) - NOT_FINITE <= set(different)


@pytest.mark.parametrize("name", TOOLS)
def test_a_listed_difference_has_a_reason(name):
    assert set(TOOLS[name].listed.values()) - {TIES, CALLED, REFUSED} <= set(ra.presets.inexpressible())


def test_every_situation_occurs_in_the_selection():
    situations = {re.sub(r"\d+$", "", case["situation"]) for case in CASES.values()}
    assert situations >= {"missing_query", "empty_query", "extra_query", "unjudged_only", "negative", "empty_both"}


def test_the_queries_of_the_first_report_are_right():
    """Qrels 1: a=2 b=0 c=1; 2: x=1; 3: y=1. Run 1: b 3.2, a 2.5, c 9.1; 2: x 1.0. ir_measures counts query 3 as 0."""
    columns = {"qid": list("11123"), "docid": list("bacxy"), "retrieved": [True] * 4 + [False]}
    labels, scores = [0, 2, 1, 1, 1], [3.2, 2.5, 9.1, 1.0, math.nan]
    for tool in (ra.presets.ir_measures, ra.presets.ranx):
        names = ("nDCG@10", "AP", "P@1") if tool is ra.presets.ir_measures else ("ndcg@10", "map", "precision@1")
        values = [ra.evaluate(labels, scores, tool.read(name), **columns).value for name in names]
        ndcg = (1 + 2 / math.log2(4)) / (2 + 1 / math.log2(3))
        assert values == pytest.approx([(ndcg + 1) / 3, ((1 + 2 / 3) / 2 + 1) / 3, 2 / 3])
