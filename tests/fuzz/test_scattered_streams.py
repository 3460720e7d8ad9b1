"""`evaluate_table(unsorted=True)` on random streams of scattered queries has the values of `ra.evaluate`."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from tests.fuzz.budget import compare_readers, in_parts_of, plain_evaluate, share
from tests.fuzz.plain_text import refuse_unless

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

NUMBERS = st.sampled_from([0.0, 1.0, 2.0, 0.5, -0.0]) | st.sampled_from([math.nan, math.inf, -1.0, 1e300])
IDS = {
    "numbers": st.sampled_from([3, -7, 0, 2**62, 11]),
    "text": st.sampled_from(["a", "b", "é", "07", "a ", "long enough for two words"]),
    "floats": st.sampled_from([0.5, 1.0, -2.0]),
}
CONVENTIONS = ["textbook@3", "trec_eval_9@5", "lightgbm@2", "sklearn@5", "yahoo.err"]


@st.composite
def streams(draw):
    """Draw columns, and the rows at which the stream is cut."""
    n = draw(st.integers(1, 12))
    usual = draw(st.booleans())

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    usual_numbers = st.sampled_from([0.0, 1.0, 2.0, 0.5])
    columns = {
        "label": column(usual_numbers),
        "score": column(usual_numbers if usual else NUMBERS),
        "qid": column(IDS[draw(st.sampled_from(sorted(IDS)))]),
    }
    columns["docid"] = [f"d{number}" for number in draw(st.permutations(range(n)))]
    if not usual and draw(st.booleans()):
        columns["docid"] = column(st.sampled_from(["x", "y", "z", "ö"]))
    weights = {query: draw(st.sampled_from([0.25, 1.0, 2.5])) for query in dict.fromkeys(columns["qid"])}
    columns["weight"] = [weights[query] for query in columns["qid"]]
    if draw(st.integers(0, 7)) == 0:
        columns["weight"][draw(st.integers(0, n - 1))] = draw(st.sampled_from([1.0, 7.0, 0.0, -1.0]))
    return columns, sorted(draw(st.lists(st.integers(0, n), max_size=3)))


@share(0.01)
@given(streams(), st.sampled_from(CONVENTIONS), st.booleans(), st.integers(1, 5))
def test_scattered_streams(stream, text, weighted, n_rows):
    columns, cuts = stream
    convention = ra.parse(text)
    convention = convention.replace(average="query") if weighted else convention
    arrays = {name: np.array(values) for name, values in columns.items()}
    bounds = [0, *cuts, len(columns["qid"])]
    batches = [{name: values[first:last] for name, values in arrays.items()} for first, last in pairwise(bounds)]
    options = {"docid": "docid", **({"query_weight": "weight"} if weighted else {})}

    def plain():
        weights = columns["weight"] if weighted else None
        names = zip(columns["qid"], columns["weight"], strict=True)
        refuse_unless(not weighted or len(set(names)) == len(set(columns["qid"])), "a weight that changes")
        return plain_evaluate(
            convention, queries=arrays["qid"], labels=arrays["label"], scores=arrays["score"], docids=arrays["docid"],
            weights=weights,
        )  # fmt: skip

    with in_parts_of(n_rows):
        compare_readers(lambda: ra.evaluate_table(batches, convention, unsorted=True, **options).to_dict(), plain)
