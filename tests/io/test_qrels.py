"""Qrels and runs in memory, and as JSON."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.io import from_qrels, read_trec

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}}
RUN = {"q1": {"b": 0.9, "x": 0.9, "a": 0.5}, "q2": {"d": 3.0}, "q3": {"a": 1.0}}
NOTE = "1 query of the run is not in the qrels and was left out: q3"


class Qrel(NamedTuple):
    """As in ir_measures."""

    query_id: str
    doc_id: str
    relevance: Any
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """As in ir_measures."""

    query_id: str
    doc_id: str
    score: float


class OfRanx:
    """What ra.io uses of ranx.Qrels and ranx.Run."""

    def __init__(self, values):
        self.to_dict = lambda: values


def columns(values, *names):
    rows = [(query, document, number) for query, documents in values.items() for document, number in documents.items()]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def pandas(values, *names):
    return pytest.importorskip("pandas").DataFrame(columns(values, *names), index=None)


def polars(values, *names):
    return pytest.importorskip("polars").DataFrame(columns(values, *names))


def arrow(values, *names):
    return pytest.importorskip("pyarrow").table(columns(values, *names))


def tuples(row, values, *more):
    return (row(query, document, number, *more) for query, of in values.items() for document, number in of.items())


FORMS = {
    "dicts": lambda: (QRELS, RUN),
    "ranx": lambda: (OfRanx(QRELS), OfRanx(RUN)),
    "tuples": lambda: (tuples(Qrel, QRELS, "0"), tuples(ScoredDoc, RUN)),
    "ir_measures": lambda: (
        pandas(QRELS, "query_id", "doc_id", "relevance"), pandas(RUN, "query_id", "doc_id", "score")
    ),
    "frames of ranx": lambda: (pandas(QRELS, "q_id", "doc_id", "score"), pandas(RUN, "q_id", "doc_id", "score")),
    "PyTerrier": lambda: (
        pandas(QRELS, "qid", "docno", "label"),
        pandas(RUN, "qid", "docno", "score").assign(docid=range(5), rank=0, query="words"),
    ),
    "polars": lambda: (polars(QRELS, "query-id", "corpus-id", "score"), polars(RUN, "query", "docid", "score")),
    "pyarrow": lambda: (arrow(QRELS, "qid", "docid", "label"), arrow(RUN, "qid", "docid", "score")),
    "columns": lambda: (columns(QRELS, "qid", "docid", "rel"), columns(RUN, "qid", "docid", "score")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_rows_of_the_files(form, write):
    judgments = from_qrels(*FORMS[form]())
    rows = [(query, document, number) for query, of in QRELS.items() for document, number in of.items()]
    qrels = write("".join(f"{query} 0 {document} {number}\n" for query, document, number in rows), "qrels.txt")
    rows = [(query, document, number) for query, of in RUN.items() for document, number in of.items()]
    run = write("".join(f"{query} Q0 {document} 0 {number} t\n" for query, document, number in rows), "run.txt")
    expected = read_trec(qrels, run)
    assert judgments.queries.digest == expected.queries.digest
    assert judgments.queries.docid_rank.tolist() == expected.queries.docid_rank.tolist()
    assert np.array_equal(judgments.scores, expected.scores, equal_nan=True)
    assert (judgments.note, expected.note) == (NOTE, NOTE)
    assert judgments.place(1) == "run, row 1 (document 'x' of query 'q1')"


def test_files_of_json_have_the_rows_of_the_dicts(write):
    files = write(json.dumps(QRELS), "qrels.json"), write(f"\n {json.dumps(RUN)}", "run.json")
    judgments, expected = read_trec(*files), from_qrels(QRELS, RUN)
    assert judgments.queries.digest == expected.queries.digest
    assert judgments.place(1) == f"{files[1]}, row 1 (document 'x' of query 'q1')"
    assert read_trec(files[0]).scores is None


def test_a_folder_of_beir_has_the_judgments_of_its_test_set(tmp_path, write):
    (tmp_path / "scifact" / "qrels").mkdir(parents=True)
    (tmp_path / "scifact" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\n")
    judgments = read_trec(tmp_path / "scifact", write(json.dumps(RUN), "run.json"))
    assert judgments.queries.labels.tolist()[::2] == [0, 2]
    with pytest.raises(ra.InputError, match=r"qrels.test\.tsv: No such file"):
        read_trec(tmp_path)
    for path in ("", "x" * 5000):
        with pytest.raises(ra.InputError, match=r"No such file|too long"):
            read_trec(path)


@pytest.mark.parametrize(
    ("duplicates", "documents", "scores"), [("best", ["b", "a"], [2, 3]), ("first", ["a", "b"], [1, 2])]
)
@pytest.mark.parametrize("source", ["tuples", "trec", "ms marco"])
def test_one_row_is_kept_of_a_document_that_is_listed_more_than_once(write, source, duplicates, documents, scores):
    listed = [("a", 1), ("b", 2), ("a", 3), ("a", 3), ("b", 2)]
    if source == "ms marco":  # whose scores fall
        listed = [("b", 2), ("a", 1.5), ("b", 1), ("a", 0.5)]
        documents, scores = ["b", "a"], [2, 1.5]
    if source == "tuples":
        qrels, run = {"q": {"a": 1, "b": 0}}, [ScoredDoc("q", *row) for row in listed]
        read = from_qrels
    else:
        read, qrels = read_trec, write("q 0 a 1\nq 0 b 0\n", "qrels.txt")
        form = "q Q0 {0} {2} {1} t\n" if source == "trec" else "q\t{0}\t{2}\t{1}\n"
        lines = [form.format(document, score, rank) for rank, (document, score) in enumerate(listed, 1)]
        run = write("".join(lines), "run.txt")
    judgments = read(qrels, run, duplicates=duplicates)
    assert judgments.queries.labels.tolist() == [int(document == "a") for document in documents]
    assert judgments.scores.tolist() == scores
    with pytest.raises(ra.InputError, match=r"document '.' of query 'q' is also in .*\n.*duplicates='best'"):
        read(qrels, run)
    with pytest.raises(ra.InputError, match="duplicates='last'"):
        read(qrels, run, duplicates="last")


def test_judgments_that_repeat_a_document_are_refused():
    rows = [Qrel("q", "a", 1, "0"), Qrel("q", "a", 2, "0")]
    with pytest.raises(ra.InputError, match=r"^qrels, row 1: document 'a' of query 'q' is also in row 0[.]\n.*one of"):
        from_qrels(rows, RUN, duplicates="best")


EMPTY = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {}}


@pytest.mark.parametrize(
    ("convention", "value", "n_scored"),
    [
        ("pytrec_eval.map", 1 / 2, 2), ("lenskit@3", 1 / 2, 2), ("beir@3", 1 / 2, 2),
        ("pytrec_eval.map+missing=zero", 1 / 3, 3), ("ranx@3", 1 / 3, 3), ("trulens.precision_at_k@3", 1.0, 1),
    ],
)  # fmt: skip
def test_an_empty_list_of_results_is_not_missing(convention, value, n_scored):
    run = {"q1": {"a": 1.0}, "q2": {}}
    qrels = {query: documents for query, documents in EMPTY.items() if documents}
    judgments = from_qrels(qrels, run)
    score = ra.evaluate(judgments.queries, judgments.scores, convention)
    assert (score.value, score.n_scored) == (pytest.approx(value), n_scored)
    subset, rows = judgments.queries.subset(np.array([2, 1, 0]))
    assert ra.evaluate(subset, judgments.scores[rows], convention).value == score.value
    without = from_qrels(qrels, {"q1": {"a": 1.0}})
    assert without.queries.digest != judgments.queries.digest


def test_a_convention_that_refuses_missing_queries_refuses_empty_lists():
    judgments = from_qrels({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2": {}})
    with pytest.raises(ra.InputError, match="query q2 is judged but nothing of it was retrieved"):
        ra.evaluate(judgments.queries, judgments.scores, "pytrec_eval.map+missing=error")


def test_queries_with_empty_judgments_are_noted():
    judgments = from_qrels(EMPTY, {"q1": {"a": 1.0}, "q4": {"x": 1.0}})
    assert judgments.queries.query_ids.tolist() == ["q1", "q2", "q3", "q4"]
    assert judgments.note == "1 query of the qrels has no judgments: q4"


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ({"q": {"a": "1"}}, None, "the numbers of qrels"),
        ({"q": {"a": None}}, None, "the numbers of qrels"),
        ({"q": {"a": np.nan}}, None, "the numbers of qrels"),
        ({"q": {1.5: 1}}, None, r"qrels: document 1\.5 in row 0 is no name"),
        ({None: {"a": 1}}, None, r"qrels: query None in row 0 is no name"),
        ({"q": {}}, None, "qrels has no documents"),
        ({}, None, "qrels has no documents"),
        ([("q", "a", 1)], None, r"^qrels is \[\('q', 'a', 1\)\]"),
        ("qrels.txt", None, "^qrels is 'qrels.txt'"),
        (QRELS, {"q": ["a", "b"]}, r"^run is {'q': \['a', 'b'\]}.\nHint: .* lists have ranks"),
        (QRELS, {"qid": ["q"], "doc": ["a"]}, "^run has the columns 'qid', 'doc': no known names"),
        (QRELS, {name: ["q"] for name in ["qid", *"abcde"]}, "^run has the columns .* 'd', 'e': no known"),
        (QRELS, {name: ["q"] for name in ["qid", *"abcdef"]}, r"^run has the columns .* 'd', 'e', \.\.\.: no known"),
        (QRELS, {"query_id": ["q1"], "doc_id": ["a"]}, "^run has the columns 'query_id', 'doc_id': no known"),
        (QRELS, {"z": {"a": 1}}, "^run: none of its queries, such as 'z', is in qrels, which has 'q1'"),
        (QRELS, {}, "^run has no queries"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_allowed(qrels, run, message):
    with pytest.raises(ra.InputError, match=message):
        from_qrels(qrels, run)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": {"a": 1}', "is no JSON"),
        ('{"q": {"a": 1, "a": 2}}', "an object has the name 'a' twice"),
        ('{"q": 7}', "no known names|is "),
    ],
)
def test_wrong_json_is_refused(write, text, message):
    with pytest.raises(ra.InputError, match=message) as caught:
        read_trec(write(text, "qrels.json"))
    assert "qrels.json" in str(caught.value)


def test_integers_become_texts():
    numbers = {"query_id": np.array([7, 7]), "doc_id": np.array([1, 2]), "score": np.array([1.0, 2.0], np.float32)}
    judgments = from_qrels({"7": {"1": 1, "2": 0}}, numbers)
    assert judgments.queries.query_ids.tolist() == ["7"]
    assert judgments.queries.judged_share == 1
