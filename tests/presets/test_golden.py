"""Each preset gives what its tool printed, for the data and numbers in `golden/`; tools' names are read as presets.

A file has data sets and, by tool, rows of: number of the data set, preset, tolerance, mean, and values per query. A
mean of null says that the tool refused the data, as we do; "none" says that it printed values per query only. The
tolerance is the one that the preset's docstring states, if it is smaller.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.parity import letor_mean_ndcg
from tests.presets.evidence import FILES, stated_tolerance

LONG = {"measures", "retrieval", "evaluators"}  # thousands of rows
TOOLS = [
    pytest.param(name, tool, marks=[pytest.mark.long] if name in LONG else [])
    for name, file in FILES.items()
    for tool in file["numbers"]
]


def queries_of(data):
    """Return the queries and the scores of a data set; a score of null is that of a row that was not retrieved."""
    columns = {name: column for name, column in data.items() if name not in {"labels", "scores"}}
    columns |= {name: np.array(data[name], bool) for name in ("judged", "retrieved") if name in data}
    columns |= {"pairs": tuple(data["pairs"])} if "pairs" in data else {}
    return ra.Queries(data["labels"], **columns), np.array(data["scores"], float)


def compare(rows, queries, scores):
    """Compare rows of one data set with our numbers; None of a tool stands for a query that it leaves out."""
    conventions = [ra.parse(text) for _, text, *_ in rows]
    results = ra.Evaluator.of(queries, list(dict.fromkeys(conventions))).measure(scores)
    for row, convention in zip(rows, conventions, strict=True):
        _, text, tolerance, mean, *values = row
        if not re.search("[+/]", text):  # an unchanged preset
            tolerance = min(tolerance, stated_tolerance(text.partition("@")[0]))
        if mean != "none":
            assert results.scores[convention].value == pytest.approx(mean, rel=tolerance, abs=tolerance), row
        for printed in values:
            ours = np.where([value is None for value in printed], math.nan, results.per_query[convention])
            expected = np.array(printed, float)
            np.testing.assert_allclose(np.nan_to_num(ours), np.nan_to_num(expected), tolerance, tolerance, err_msg=row)


def is_refused(row):
    return row[3] is None


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_a_preset_gives_what_the_tool_printed(name, tool):
    rows_of_data = {}
    for row in FILES[name]["numbers"][tool]:
        rows_of_data.setdefault((row[0], ra.parse(row[1]).over == "rows"), []).append(row)
    for (number, _), rows in rows_of_data.items():
        queries, scores = queries_of(FILES[name]["data"][number])
        compare([row for row in rows if not is_refused(row)], queries, scores)
        for _, text, *_ in filter(is_refused, rows):
            with pytest.raises(ra.InputError):
                ra.evaluate(queries, scores, text)


@pytest.mark.parametrize(("tool", "name", "options", "convention"), FILES["measures"]["names"])
def test_a_tool_reads_its_name_of_a_metric_as_the_preset(tool, name, options, convention):
    assert presets.TOOLS[tool].read(name, **options) == ra.parse(convention)


def test_the_workaround_for_average_precision_at_r_gives_its_value():
    """The metric of PyTorch Metric Learning, one of `inexpressible()`: the cutoff is the number of relevant rows."""
    labels, scores = [1, 0, 1, 0], [1, 4, 3, 2]
    convention = presets.pytorch_metric_learning.mean_average_precision(2)
    assert ra.evaluate(labels, scores, convention, group_sizes=[4]).value == (1 / 2) / 2


@pytest.mark.parametrize(("number", "text", "printed"), FILES["tools"]["mean_ndcg"])
def test_mean_ndcg_equals_what_the_perl_scripts_print(number, text, printed):
    data = FILES["tools"]["data"][number]
    value = letor_mean_ndcg(data["labels"], data["scores"], text, qid=data["qid"])
    assert value == pytest.approx(printed, abs=1e-11)


def test_mean_ndcg_leaves_out_skipped_queries_and_stops_at_the_last_retrieved_row():
    convention = presets.letor4(None).replace(empty="skip")
    assert letor_mean_ndcg([0, 1, 0], [2, 1, 3], convention, qid=["a", "a", "b"]) == 0.5
    mean = letor_mean_ndcg([0, 1, 2], [2, 1, 9], convention, group_sizes=[3], retrieved=[True, True, False])
    assert mean == pytest.approx((0 + 1 / 4) / 2)
