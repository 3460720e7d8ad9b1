"""Readers of TREC qrels and runs, fed mutated files."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankadapters.io import read_trec
from tests.fuzz.budget import bits, both, docid_order, held, names_of, plain_docid_order, share
from tests.fuzz.mutations import mutated, mutated_bytes
from tests.fuzz.plain_trec import joined, lines_of_trec

QRELS = [
    "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d1 1\n",
    "q1\t0\td1\t1\nq1\t0\td2\t0\nq2\t0\td1\t-1\n",
    "# judged\nq1 0  d1 1 \r\n\nq2\t0 d2 0.5\r\nq1 0 longer-than-eight-1 1\r\nq1 0 longer-than-eight-2 1",
]
RUNS = [
    "q1 Q0 d2 1 0.9 tag\nq1 Q0 d1 2 0.5 tag\nq3 Q0 d1 1 0.5 tag\n",
    "q1\tQ0\td2\t1\t0.9\ttag\nq2\tQ0\td1\t1\t1e-3\ttag\n",
    "# ir_metadata.start\n# tag: a\n# data:\n#   name: [b, 1]\n# ir_metadata.end\nq1 Q0 d2 1 0.9 a\n",
    "# run\nq1 Q0  d2 1 9 tag more words\r\n\nq1 Q0 d9 2 -0.5 tag\nq2 Q0 longer-than-eight-1 1 .5 tag",
]
PIECES = [
    "q1",
    "q2",
    "d1",
    "d2",
    "Q0",
    "0",
    "1 0.5 tag",
    "# ",
    "tag more",
    "longer-than-eight-1",
    "# ir_metadata.start",
    "# ir_metadata.end",
    ": [",
]

qrels_files = mutated_bytes(mutated(QRELS, PIECES))
run_files = mutated_bytes(mutated(RUNS, PIECES))


@share(0.08)
@given(qrels_files)
def test_qrels(data):
    def plain():
        lines = lines_of_trec(data, is_run=False)
        names = list(dict.fromkeys(line.query for line in lines))
        rows = [line for name in names for line in lines if line.query == name]
        queries = [line.query for line in rows]
        return bits([line.number for line in rows]), queries, plain_docid_order(queries, [line.docid for line in rows])

    def read():
        found = read_trec(held(data)).queries
        return bits(found.labels), names_of(found), docid_order(found)

    both(read, plain)


@share(0.1)
@given(qrels_files | st.sampled_from([text.encode() for text in QRELS]), run_files)
def test_run(qrels, run):
    def plain():
        rows = joined(lines_of_trec(qrels, is_run=False), lines_of_trec(run, is_run=True))
        queries = [row.query for row in rows]
        return (
            bits([np.nan if row.label is None else row.label for row in rows]),
            bits([np.nan if row.score is None else row.score for row in rows]),
            [row.label is not None for row in rows],
            [row.score is not None for row in rows],
            queries,
            plain_docid_order(queries, [row.docid for row in rows]),
        )

    def read():
        found = read_trec(held(qrels, "qrels"), held(run, "run"))
        queries = found.queries
        for row in range(len(found.scores)):
            assert "line" in found.place(row)
        judged, retrieved = flags(queries.judged, queries), flags(queries.retrieved, queries)
        labels = np.where(judged, queries.labels, np.nan)
        return bits(labels), bits(found.scores), judged, retrieved, names_of(queries), docid_order(queries)

    both(read, plain)


def flags(column, queries):
    """Flags of rows, which are not kept where all are true."""
    return [True] * queries.labels.size if column is None else column.tolist()
