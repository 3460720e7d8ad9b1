"""TREC qrels and runs."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.io import Judgments, read_trec


@pytest.fixture(params=["with pyarrow", "without pyarrow"])
def pyarrow(request, monkeypatch):
    if request.param == "without pyarrow":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")


def read(write, qrels, run):
    return read_trec(str(write(qrels, "qrels.txt")), write(run, "run.txt"))


@pytest.mark.usefixtures("pyarrow")
def test_qrels_can_be_read_without_a_run(write):
    judgments = read_trec(write("q2 0 b 1\nq1 0 x 0\nq2 0 a 2\n", "qrels.txt"))
    assert type(judgments) is Judgments
    assert judgments.queries.query_ids.tolist() == ["q2", "q1"]
    assert judgments.queries.labels.tolist() == [1, 2, 0]
    assert judgments.queries.docid_rank[0] > judgments.queries.docid_rank[1]
    assert judgments.queries.retrieved is None
    assert judgments.queries.judged is None
    assert judgments.place(1).endswith("qrels.txt, line 3 (document 'a' of query 'q2')")
    with pytest.raises(ra.InputError, match=r"qrels\.txt, line 2: document 'b' of query 'q2' is also in line 1[.]"):
        read_trec(write("q2 0 b 1\nq2 0 b 1\n", "qrels.txt"))


@pytest.mark.parametrize(("unjudged", "expected"), [("zero", 1 / np.log2(3)), ("drop", 1.0)])
def test_retrieved_documents_without_judgments_follow_the_convention(write, pyarrow, unjudged, expected):
    judgments = read(write, "q 0 a 1\n", "q Q0 x 1 9 t\nq Q0 a 2 3 t\n")
    convention = presets.trec_eval_9(10).replace(unjudged=unjudged)
    assert ra.evaluate(judgments.queries, judgments.scores, convention).value == pytest.approx(expected)
    with pytest.raises(ra.InputError, match="unjudged='error'"):
        ra.evaluate(judgments.queries, judgments.scores, convention.replace(unjudged="error"))
    assert judgments.place(0).endswith("run.txt, line 1 (document 'x' of query 'q')")


def test_queries_without_judgments_are_left_out_and_counted(write, pyarrow):
    for queries, note in [
        ("zqxyw", "4 queries of the run are not in the qrels and were left out: z, x, y, ..."),
        ("zqxy", "3 queries of the run are not in the qrels and were left out: z, x, y"),
        ("zqx", "2 queries of the run are not in the qrels and were left out: z, x"),
        ("zq", "1 query of the run is not in the qrels and was left out: z"),
    ]:
        judgments = read(write, "q 0 a 1\n", "".join(f"{query} Q0 a 1 3 t\n" for query in queries))
        assert (judgments.queries.query_ids.tolist(), judgments.note) == (["q"], note)


def test_queries_keep_the_order_of_the_qrels_and_rows_that_of_the_run(write, pyarrow):
    judgments = read(write, "p 0 b 1\nq 0 a 1\nq 0 b 0\nq 0 c 2\n", "q Q0 b 9 1 t\np Q0 b 1 1 t\nq Q0 a 8 1 t\n")
    assert judgments.queries.query_ids.tolist() == ["p", "q"]
    assert judgments.queries.order is None
    assert judgments.queries.labels.tolist() == [1, 0, 1, 2]
    assert judgments.scores.tolist()[:3] == [1, 1, 1]
    assert np.isnan(judgments.scores[3])
    sources = [judgments.place(row) for row in range(4)]
    assert [source.partition(" (")[0].rpartition("/")[2] for source in sources] == [
        "run.txt, line 2", "run.txt, line 1", "run.txt, line 3", "qrels.txt, line 4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "docids",
    [
        ["a"],
        ["a", "ab", "abc", "b"],
        *([f"{'x' * n}{last}" for last in "bcad"] for n in range(18)),
        ["doc-2", "doc-10", "doc-1", "doc-100"],
        ["é", "e", "ê", "z", "𝄞", "\uffff"],
        ["https://example.org/a/long/path/0001", "https://example.org/a/long/path/0002", "https://example.org/"],
        [f"{number:064x}" for number in (7**60, 5**70, 3**100, 2**200, 2**200 + 1)],
    ],
)
def test_docids_of_any_length_are_ranked_by_their_bytes(write, pyarrow, docids):
    qrels = "".join(f"q 0 {docid} {row}\n" for row, docid in enumerate(docids))
    judgments = read(write, qrels, "".join(f"q Q0 {docid} 1 1 t\n" for docid in docids))
    expected = ra.Queries(list(range(len(docids))), group_sizes=[len(docids)], docid=docids)
    assert np.argsort(judgments.queries.docid_rank).tolist() == np.argsort(expected.docid_rank).tolist()
    assert judgments.queries.docid_rank.tolist() == expected.docid_rank.tolist()


def test_documents_that_are_their_own_query_are_known(write):
    judgments = read(write, "q 0 q 1\nq 0 a 0\nr 0 q 1\n", "q Q0 q 1 2 t\nq Q0 a 2 1 t\nr Q0 q 1 1 t\n")
    assert judgments.queries.own_docid.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("q\t0\ta\t1\nq\t0\tb\t0\n", "q\tQ0\ta\t1\t3\tt\nq\tQ0\tb\t2\t1\tt\n"),
        ("q 0 a 1\r\nq 0 b 0\r\n", "q Q0 a 1 3 t\r\nq Q0 b 2 1 t\r\n"),
        ("\n  q 0   a 1\n\nq\t0 b 0", " q Q0 a  1 3 t \n\nq Q0\tb 2 1 t"),
        ("\ufeffq 0 a 1\nq 0 b 0\n", "\ufeffq Q0 a 1 3 t\nq Q0 b 2 1 t\n"),
        ("q 0 a 1\nq 0 b 0\n", "q Q0 a first 3 Läufer\nq Q0 b - +1e0 t\n"),
        ("q 0 a 1.0\nq 0 b 0\n", "q Q0 a 1 3 'the\nq Q0 b 2 1 t\"\n"),
    ],
)
def test_blanks_tabs_line_ends_and_quotes_do_not_matter(write, pyarrow, qrels, run):
    judgments = read(write, qrels, run)
    assert judgments.queries.query_ids.tolist() == ["q"]
    assert judgments.queries.labels.tolist() == [1, 0]
    assert judgments.scores.tolist() == [3, 1]


QRELS, RUN = "q 0 a 1\nq 0 b 0\n", "q Q0 a 1 3 t\nq Q0 b 2 1 t\n"


BEIR = "q\ta\t1\nq\tb\t0\n"
MS_MARCO = "q\tb\t1\t3\nq\ta\t2\t1.5\nz\ta\t1\t9\n"


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n", "# judged\nquery-id\tcorpus-id\tscore\r\n"])
@pytest.mark.parametrize("ranks", [(1, 2), (0, 1)])
def test_the_files_of_beir_and_ms_marco_are_read_like_those_of_trec(write, header, ranks):
    run = MS_MARCO.replace("b\t1", f"b\t{ranks[0]}").replace("a\t2", f"a\t{ranks[1]}")
    run = run.replace("z\ta\t1", f"z\ta\t{ranks[0]}")
    judgments = read(write, header + BEIR, run)
    expected = read(write, "q 0 a 1\nq 0 b 0\n", "q Q0 b 1 3 t\nq Q0 a 2 1.5 t\nz Q0 a 1 9 t\n")
    assert judgments.queries.digest == expected.queries.digest
    assert judgments.scores.tolist() == expected.scores.tolist()
    assert judgments.note.endswith("1 query of the run is not in the qrels and was left out: z")
    assert judgments.place(1).endswith("run.txt, line 2 (document 'a' of query 'q')")


@pytest.mark.parametrize(
    ("run", "bad_line"),
    [
        ("q\ta\t1\t9\nq\tb\t2\t9\n", None),  # equal scores
        ("q\ta\t1\t8\nq\tb\t2\t9\n", 2),
        ("q\ta\t1\t9\nq\tb\t3\t8\n", 2),
        ("q\ta\t2\t9\nq\tb\t3\t8\n", 1),
    ],
)
def test_a_run_with_tabs_has_ranks_from_0_or_1_and_falling_scores(write, run, bad_line):
    if bad_line is None:
        assert read(write, QRELS, run).scores.tolist() == [9, 9]
        return
    with pytest.raises(
        ra.InputError, match=rf"run\.txt, line {bad_line} is .*, by ranks from 0 or 1 and falling scores"
    ):
        read(write, QRELS, run)


BEIR_HINT = "a qrels.tsv of BEIR has no iterations; awk '{}{{print $1, 0, $2, $3}}' adds them"


@pytest.mark.parametrize(
    ("qrels", "run", "hint"),
    [
        ("q a 1\n", RUN, BEIR_HINT.format("")),
        ("query-id corpus-id score\nq a 1\n", RUN, BEIR_HINT.format("NR > 1 ")),
        ("q 0 a 1 2\n", RUN, "blanks and tabs separate words"),
        (QRELS + RUN, RUN, "perhaps the files are swapped"),
        (QRELS, QRELS, "perhaps the files are swapped"),
        (QRELS, "query-id corpus-id score\nq a 1\n", "perhaps the files are swapped"),
        (QRELS, "q a 1\n", "a run of MS MARCO has no scores; awk"),
        (QRELS, "q Q0 a 1 3\n", "blanks and tabs separate words"),
    ],
)
def test_the_hint_fits_the_number_of_words(write, qrels, run, hint):
    with pytest.raises(ra.InputError, match=f"\nHint: .*{re.escape(hint)}"):
        read(write, qrels, run)


def test_labels_that_do_not_count_up_in_a_query_are_no_ranks(write):
    for qrels in ("q\ta\t1\n", "q\ta\t1\nr\tb\t1\n", "q\ta\t1\nq\tb\t2\nr\tb\t3\n", "q\ta\t1\nq\tb\t1\n"):
        assert read_trec(write(qrels)).queries.n_docs == qrels.count("\n")


ALL_NOTES = (
    "1 line of the qrels begins with # and was left out; 1 line of the run begins with # and was left out; "
    "1 line of the run has words after the tag, which were not read; "
    "1 query of the run is not in the qrels and was left out: z"
)
TWO_LINES = "2 lines of the run have"
WORDS_AFTER_TAG = "1 line of the run has words after the tag, which were not read"


@pytest.mark.parametrize(
    ("qrels", "run", "note"),
    [
        (QRELS, "q Q0 a 1 3 t more\nq Q0 b 2 1 t\n", WORDS_AFTER_TAG),
        (QRELS, "q Q0 a 1 3 9 more\nq Q0 b 2 1 9\n", WORDS_AFTER_TAG),
        (QRELS, "q Q0 a 1 3 t 2 more\nq Q0 b 2 1 t\n", WORDS_AFTER_TAG),  # 2 sorts before Q0
        (QRELS, RUN.replace("t\n", "t  more words\n"), WORDS_AFTER_TAG.replace("1 line of the run has", TWO_LINES)),
        ("# head\n" + QRELS, RUN, "1 line of the qrels begins with # and was left out"),
        ("# a b 1\n" + QRELS + " #\n", RUN, "2 lines of the qrels begin with # and were left out"),
        (QRELS, "# q Q0 c 1 t\n" + RUN, "1 line of the run begins with # and was left out"),
        ("#\n" + QRELS, "#\nz Q0 a 1 3 t t\n" + RUN, ALL_NOTES),
        (QRELS, RUN, ""),
        (QRELS, "q Q0 a 1.0 3 9\nq Q0 b -2 1 9\n", ""),
    ],
)  # fmt: skip
def test_comments_and_words_after_the_tag_are_skipped_with_a_note(write, pyarrow, qrels, run, note):
    # trec_eval, get_trec_results.c: "Any field following run_id is ignored"; get_qrels.c skips lines that begin with #.
    judgments = read(write, qrels, run)
    assert judgments.queries.labels.tolist() == [1, 0]
    assert judgments.scores.tolist() == [3, 1]
    assert judgments.note == note
    assert judgments.place(1).startswith(str(write(run, "run.txt")))
    lines = run.splitlines()
    assert int(judgments.place(1).partition(", line ")[2].partition(" ")[0]) == lines.index(lines[-1]) + 1


def test_many_lines_have_the_same_values_with_and_without_pyarrow(write, monkeypatch):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    docids = [[f"d{number}" for number in rng.choice(9999, 800, replace=False)] for _ in range(60)]
    run = "".join(
        f"{query} Q0 {docid} 0 {score!r} t\n"
        for query, names in enumerate(docids)
        for docid, score in zip(names, rng.normal(size=800).round(2).tolist(), strict=True)
    )
    qrels = "".join(f"{query} 0 {names[row]} {row % 3}\n" for query, names in enumerate(docids) for row in range(50))
    with_pyarrow = read(write, qrels, run)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    without_pyarrow = read(write, qrels, run)
    for convention in (presets.trec_eval_9(10), presets.trec_eval_10(None)):
        values = [
            ra.Evaluator(rows.queries, convention).per_query(rows.scores) for rows in (with_pyarrow, without_pyarrow)
        ]
        assert values[0].tolist() == values[1].tolist()


@pytest.mark.parametrize(("document", "share"), [("a", 0), ("a#0", 0.5)])
def test_a_note_says_if_no_retrieved_document_is_judged(write, document, share):
    judgments = read(write, "q 0 a#0 1\n", f"q Q0 {document} 1 2 t\nq Q0 b 2 1 t\nx Q0 y 1 1 t\n")
    assert judgments.queries.judged_share == share
    note = "none of the 2 retrieved documents is judged; qrels and run may name documents differently"
    assert (note in judgments.note) is (share == 0)
    assert not read_trec(write("q 0 a#0 1\n", "qrels.txt")).note
