"""Mutated TREC qrels and runs are read as by the slow parser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadapters.io import read_trec
from tests.fuzz.budget import compare_readers, content_of, plain_content, saved, share
from tests.fuzz.mutations import mutated_bytes
from tests.fuzz.plain_readers import joined_rows, lines_of_trec

pytestmark = pytest.mark.long

QRELS = [
    "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\n",
    "q1\t0\td1\t1\nq1\t0\td2\t0\nq2\t0\td1\t-1\n",
    "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td1\t2\n",
    "q1\td1\t1\nq1\td2\t0\nq2\td1\t2\nq2\td2\t1\n",
    "# judged\nq1 0  d1 1 \r\n\nq2\t0 d2 0.5\r\nq1 0 longer-than-eight-1 1\r\nq1 0 longer-than-eight-2 1",
]
RUNS = [
    "q1 Q0 d2 1 0.9 tag\nq1 Q0 d1 2 0.5 tag\nq3 Q0 d1 1 0.5 tag\n",
    "q1\tQ0\td2\t1\t0.9\ttag\nq2\tQ0\td1\t1\t1e-3\ttag\n",
    "q1\td2\t1\t0.9\nq1\td1\t2\t0.5\nq2\td1\t1\t3\n",
    "q1 Q0 d2 first 0.9 tag\nq1 Q0 d1 2 0.5 7\n",
    "# run\nq1 Q0  d2 1 9 tag more words\r\n\nq1 Q0 d9 2 -0.5 tag\nq2 Q0 longer-than-eight-1 1 .5 tag",
]
PIECES = [
    "q1", "q2", "d1", "d2", "Q0", "0", "1 0.5 tag", "my ", "# ", "tag more",
    "longer-than-eight-1", "query-id", "corpus-id",
]  # fmt: skip

qrels_files = mutated_bytes(QRELS, PIECES)
run_files = mutated_bytes(RUNS, PIECES)


@share(0.08)
@given(qrels_files)
def test_qrels(data):
    def plain():
        lines = lines_of_trec(data, is_run=False)
        names = list(dict.fromkeys(line.query for line in lines))
        queries, docids, labels = zip(*(line for name in names for line in lines if line.query == name), strict=True)
        return plain_content(list(queries), labels, docids=docids)

    compare_readers(lambda: content_of(read_trec(saved(data)), scored=False), plain)


@share(0.1)
@given(qrels_files | st.sampled_from([text.encode() for text in QRELS]), run_files)
def test_run(qrels, run):
    def plain():
        rows = joined_rows(lines_of_trec(qrels, is_run=False), lines_of_trec(run, is_run=True))
        judged, retrieved = [row.label is not None for row in rows], [row.score is not None for row in rows]
        queries, docids, labels, scores = zip(*rows, strict=True)
        labels, scores = (np.array(column, float) for column in (labels, scores))  # None becomes NaN
        return plain_content(list(queries), labels, scores, docids), judged, retrieved

    def read():
        judgments = read_trec(saved(qrels, "qrels"), saved(run, "run"))
        # Our reader stores None for flags that are all true.
        queries, all_true = judgments.queries, np.ones(judgments.scores.size, bool)
        assert all("line" in judgments.place(row) for row in range(len(judgments.scores)))
        judged, retrieved = (all_true if flags is None else flags for flags in (queries.judged, queries.retrieved))
        labels, scores, *ranks_and_weights = content_of(judgments)
        labels = [label if is_judged else bits_of_nan for label, is_judged in zip(labels, judged, strict=True)]
        return (labels, scores, *ranks_and_weights), judged.tolist(), retrieved.tolist()

    bits_of_nan = float("nan").hex()
    compare_readers(read, plain)
