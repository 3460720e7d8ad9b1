"""Mutated SVMlight and LETOR files and predictions are read as by the slow parser."""

from __future__ import annotations

import bz2
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankadapters.io import features, read_features, read_letor
from rankadapters.io.judgments import SPLIT_QUERIES
from rankadapters.io.text import read_numbers
from tests.fuzz.budget import (
    bits,
    compare_readers,
    content_of,
    in_parts_of,
    plain_content,
    saved,
    share,
    with_examples,
)
from tests.fuzz.mutations import mutated_bytes
from tests.fuzz.plain_readers import (
    features_of,
    predictions_of,
    queries_of,
    refuse_repeated_documents,
    refuse_unless,
    rows_of,
    scores_of,
)

pytestmark = pytest.mark.long

LETOR = [
    "2 qid:7 1:0.5 3:1 #docid = GX007\n0 qid:7 2:1 1:2 #docid = GX008\n1 qid:9 1:0.25 # docid=é\n",
    """\
0 qid:10 1:0.007477 2:0.000000 3:1.000000 #docid = G1 inc = 1 prob = 0.1
1 qid:10 1:0.603738 2:0.000000 3:1.000000 #docid = G2 inc = 1 prob = 0.2
2 qid:11 1:0.214953 2:0.500000 3:0.250000 #docid = G1 inc = 1 prob = 0.3
""",
    "# head\n\n1.5 qid:q1\t1:1e-3 25:nan \r\n-1 qid:q1 1:-2.5\r\n0 qid:q2 1:1\r\n0 qid:q1 1:3",
    "1 qid:1\n0 qid:2 1:1 100000000000000000:1\n2 qid:1 0:5 1:9007199254740993.0\n",
]
PIECES = [
    "1:0.5", "2:1", "1:nan", "25:-1e-3", "qid:7", "qid:8", "qid:", "1:", ":1", "docid", "docid = G1", "= G1", "docid =",
]  # fmt: skip
ROWS = "2 qid:7 1:0.5 25:1 #docid = GX007-1 inc = 1\n0 qid:7 1:2 #docid = GX007-0 inc = 0\n1 qid:9 25:3 # docid=X\n"
NUMBERS = [
    ".5", "5.", "+1", "-2.5", "1e-05", "2E3", "+.5e+1", "007", "-0", "0.1000000000000000055511151231257827", "1e-999",
]  # fmt: skip
FORMS = [
    *LETOR, ROWS, ROWS.replace("\n", "\r\n"), ROWS.replace("\n", "\r\r\n"), ROWS.rstrip() + "\r", ROWS.rstrip(),
    "\ufeff" + ROWS, "# head\n\n" + ROWS.replace(" ", "\t"), gzip.compress(ROWS.encode(), mtime=0),
    bz2.compress(ROWS.encode()),
    "1 qid:1 3:0.3 1:0.1 2:0.2\n0 qid:1 10:1 9:2\n",
    "#2 qid:1 1:0.5\n1 qid:2 1:1 # was qid:1\n",
    "1 qid:2 1:1 # was qid:1\n# end of fold 1\n2 qid:2 1:0.5\n# end of fold 1 1 qid:3 1:0.7\n",
    "1 qid:2 1:1\n# rows of qid:3 in 2 files\n",
    "2 qid:7 1:0.5 10:1 105:1 1050:3\n0 qid:7 105:2 1050:4\n",
    "1 qid:1 1:123456789012345678901234567890 2:1\n",
    *(f"{n} qid:1 1:{n}\t2:1 \n0 qid:1  1:0.25 2:{n}# {n}\n" for n in NUMBERS),
    *(f"1 qid:7 {n}:0.5 \n2 qid:7   \t{n}:2   # {n}:1\n" for n in (1234567, 12345678, 123456789012345678, "001")),
    *(f"1 qid:{query} 1:1\n0 qid:{query} 1:2#1:1 qid:{query}\n2 qid:{query}x\n"
      for query in ("a:1", "7:1", "abcdefgh", "a-much-longer-name-of-a-query", "é", "q\x01")),
]  # fmt: skip
PREDICTIONS = [
    "0.25\n0.75\n-1e-3\n",
    "1\r\n2\r\n3",
    " 0.1\n\t0.2 \n0.30000000000000004\n\n",
    "1e5\n+2\n.5\n5.\n",
    "9007199254740992\n-9007199254740992\n9007199254740993.5\n",
]


@st.composite
def rows_of_equal_length(draw):
    """Draw a row as in LETOR, and rows of the same length in which a few characters differ."""
    first = "2 qid:7 1:0.007477 2:1.000000 3:0.5e-05"
    lines = [first]
    for positions in draw(st.lists(st.lists(st.integers(8, len(first) - 1), max_size=2), min_size=1, max_size=3)):
        line = list(first)
        for position in positions:
            line[position] = draw(st.sampled_from("0123456789:. e-x"))
        lines.append("".join(line))
    return "\n".join(lines).encode()


letor_files = mutated_bytes(LETOR, PIECES) | rows_of_equal_length()
prediction_files = mutated_bytes(PREDICTIONS)
sizes = st.sampled_from([1, 7, 40, 1 << 20])


def columns_of(data, *, feature, docids, split_queries="error"):
    """Return the columns of a file that the grammar accepts."""
    rows = rows_of(data)
    scores = None if feature is None else scores_of(rows, feature)
    queries = queries_of([row.query for row in rows], split_queries)
    row_docids = [row.docid for row in rows]
    refuse_unless(None not in row_docids or not docids, "no docid")
    row_docids = None if docids is False or None in row_docids else row_docids
    if row_docids is not None:
        refuse_repeated_documents(queries, row_docids)
    return {"queries": queries, "labels": [row.label for row in rows], "scores": scores, "docids": row_docids}


@share(0.11)
@given(
    letor_files, st.sampled_from([None, 1, 3, 25]), st.sampled_from([None, True, False]),
    st.sampled_from(SPLIT_QUERIES), sizes,
)  # fmt: skip
@with_examples(FORMS, 1, None, "merge", 40)
def test_letor(data, feature, docids, split_queries, n_bytes):
    options = {"feature": feature, "docids": docids, "split_queries": split_queries}
    with in_parts_of(n_bytes):
        compare_readers(
            lambda: content_of(read_letor(saved(data), **options), scored=feature is not None),
            lambda: plain_content(**columns_of(data, **options)),
            lines=feature is None and not docids,  # an earlier line may lack the feature or docid
        )


@share(0.06)
@given(letor_files)
@with_examples(FORMS)
def test_svmlight(data):
    def plain():
        rows = rows_of(data)
        values = [features_of(row) for row in rows]
        numbers = {number for row in values for number in row}
        width = max(numbers, default=-1) + 1
        refuse_unless(numbers, "no feature")
        refuse_unless(width * len(rows) <= features.MAX_CELLS, "too wide")
        for row in rows:
            digits = row.query.removeprefix("-")
            refuse_unless(digits.isascii() and digits.isdigit() and len(digits) <= 18, "qid is not whole")
        first = min(1, *numbers)
        X = [[row.get(number, 0.0) for number in range(first, width)] for row in values]
        return bits([row.label for row in rows]), [int(row.query) for row in rows], bits(X)

    def read():
        [table] = read_features(saved(data))
        return bits(table.labels), table.qid.tolist(), bits(table.X)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "MAX_CELLS", 1000)
        compare_readers(read, plain)


@share(0.09)
@given(prediction_files, sizes)
@with_examples([*PREDICTIONS, "0.5\r\n1\r\n\r\n", gzip.compress(b"1\n2"), *NUMBERS], 40)
def test_predictions(data, n_bytes):
    with in_parts_of(n_bytes):
        compare_readers(lambda: bits(read_numbers(saved(data))), lambda: bits(predictions_of(data)))
