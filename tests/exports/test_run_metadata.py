"""ir_metadata headers of TREC runs: reading skips and keeps them, and annotating writes the scores into them."""

from __future__ import annotations

import datetime as dt
import gzip
import sys

import pytest

import rankadapters as ra
from rankadapters.io import annotate_run, read_trec
from tests.helpers.evaluate_files import LEFT_OUT, QRELS, RUN, error_of, output_of
from tests.helpers.tables import for_each

pytest.importorskip("yaml")

# As repro_eval writes it: every line but the last ends in a space.
HEADER = """\
# ir_metadata.start\x20
# schema-version: 0.1\x20
# tag: bm25+rm3\x20
# actor:\x20
#   name: Jïmmy\x20
#   fields:\x20
#   - nlp\x20
# research goal:\x20
#   venue: {name: ECIR, date: 2019-04-14}\x20
#   evaluation:\x20
#     baseline:\x20
#     - WCrobust04\x20
# ir_metadata.end
"""
METADATA = {
    "schema-version": 0.1, "tag": "bm25+rm3", "actor": {"name": "Jïmmy", "fields": ["nlp"]},
    "research goal": {
        "venue": {"name": "ECIR", "date": dt.date(2019, 4, 14)}, "evaluation": {"baseline": ["WCrobust04"]},
    },
}  # fmt: skip
CONVENTIONS = ["trec_eval_9@5", "ranx@all+missing=zero", "textbook@2+missing=zero+unjudged=zero"]
BROKEN_HEADERS = [
    ("# ir_metadata.start\n# tag: a\n", r"run\.txt, line 1: the ir_metadata header has no line '# ir_metadata.end'"),
    ("# ir_metadata.start\n# tag: [a\n# b: c\n# ir_metadata.end\n", r"run\.txt, line 3: .* is not YAML: expected ','"),
    ("# ir_metadata.start\n# a: [\u2028\u2028\n# ir_metadata.end\n", r"run\.txt, line 3: .* is not YAML"),
    ("\n# ir_metadata.start\n# a: 1\n# b\n# ir_metadata.end\n", r"run\.txt, line [45]: .* is not YAML: could not find"),
    ("# ir_metadata.start\n# - a\n# ir_metadata.end\n", r"run\.txt, line 1: .* is not a YAML mapping"),
    ("# ir_metadata.start\n# ir_metadata.end\n", r"run\.txt, line 1: .* is not a YAML mapping"),
    ("# ir_metadata.start\n# a: 2019-13-45\n# ir_metadata.end\n", r"run\.txt, line 1: .* is not YAML: ValueError"),
    ("# ir_metadata.start\n# a: !!int ''\n# ir_metadata.end\n", r"run\.txt, line 1: .* is not YAML: IndexError"),
    ("# ir_metadata.start\n# a: !!python/name:os.system\n# ir_metadata.end\n", "could not determine a constructor"),
    (f"# ir_metadata.start\n# a: {'[' * 5000}\n# ir_metadata.end\n", "is not YAML: RecursionError"),
]


def scores_of(judged):
    return ra.evaluate(judged.queries, judged.scores, CONVENTIONS)


@for_each("line_end", ["\n", "\r\n"])
@for_each("blank_lines", ["", "\n \n"])
def test_a_header_does_not_change_how_the_run_is_read(write, line_end, blank_lines):
    qrels = write(QRELS, "qrels.txt")
    plain = read_trec(qrels, write(f"# note\n{RUN}", "plain.txt"))
    text = f"{blank_lines}{HEADER}# note\n{RUN}".replace("\n", line_end)
    judged = read_trec(qrels, write(text, "run.txt"))
    assert dict(scores_of(judged)) == dict(scores_of(plain))
    assert judged.note == plain.note == f"1 line of the run begins with # and was left out; {LEFT_OUT}"
    assert (plain.metadata, judged.metadata) == (None, METADATA)
    assert judged.place(0).endswith(f"line {15 + 2 * bool(blank_lines)} (document 'a' of query '7')")


def test_a_header_is_read_only_at_the_top_of_a_run(write):
    qrels = write(f"{HEADER}{QRELS}", "qrels.txt")
    first_row, *rows = RUN.splitlines()
    judged = read_trec(qrels, write("\n".join([first_row, HEADER.strip(), *rows]), "run.txt"))
    assert judged.metadata is None
    assert "13 lines of the qrels begin" in judged.note
    assert "13 lines of the run begin" in judged.note
    assert read_trec(qrels).metadata is None


@for_each(("header", "message"), BROKEN_HEADERS)
def test_a_malformed_header_is_refused_with_its_line(write, header, message):
    with pytest.raises(ra.InputError, match=rf"{message}[\s\S]*\nHint: correct the header, or delete its lines\."):
        read_trec(write(QRELS, "qrels.txt"), write(header + RUN, "run.txt"))


def test_without_pyyaml_a_run_is_read_with_a_note_on_its_unread_header(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    run = write(HEADER + RUN, "run.txt")
    judged = read_trec(write(QRELS, "qrels.txt"), run)
    assert judged.metadata is None
    assert judged.note.startswith("the run's ir_metadata header was not read, which needs PyYAML (pip install")
    with pytest.raises(ra.MissingToolkitError, match=r"PyYAML is not installed[\s\S]*rankadapters\[files\]"):
        annotate_run(run, scores_of(judged), out=run)
    assert run.read_text(encoding="utf-8") == HEADER + RUN


@for_each(("header", "metadata"), [("", {"schema-version": 0.1, "run-version": 1.0, "tag": "t"}), (HEADER, METADATA)])
def test_annotating_a_run_keeps_its_rows_and_header_and_adds_the_scores(write, header, metadata):
    qrels, run = write(QRELS, "qrels.txt"), write(f"{header}# note\n{RUN}", "run.txt")
    judged = read_trec(qrels, run)
    annotate_run(run, scores_of(judged), out=run)
    annotated = read_trec(qrels, run)
    header_text, _, rows = run.read_text(encoding="utf-8").partition("# ir_metadata.end\n")
    assert ("Jïmmy" in header_text, rows) == ("Jïmmy" in header, f"# note\n{RUN}")
    assert dict(scores_of(annotated)) == dict(scores_of(judged))
    assert annotated.note == judged.note
    evaluation = annotated.metadata["research goal"]["evaluation"]
    scores = [ra.Score.from_dict(entry) for entry in evaluation.pop("scores")]
    assert scores == list(scores_of(judged).values())
    assert evaluation.pop("reported measures") == [str(ra.parse(text)) for text in CONVENTIONS]
    research_goal = {**metadata.get("research goal", {}), "evaluation": evaluation}
    assert annotated.metadata == {**metadata, "research goal": research_goal}
    assert [key for key in annotated.metadata if key in metadata] == list(metadata)


def test_a_later_score_replaces_the_earlier_score_of_the_same_convention(write):
    qrels, run = write(QRELS, "qrels.txt"), write(RUN, "run.txt")
    scores = scores_of(read_trec(qrels, run))
    annotate_run(run, scores, out=run)
    annotated_bytes = run.read_bytes()
    annotate_run(run, list(scores.values()), out=run)
    assert run.read_bytes() == annotated_bytes
    later_score = ra.evaluate([1, 0], [0.1, 0.2], CONVENTIONS[0], group_sizes=[2], docid=["a", "b"])
    annotate_run(run, later_score, out=run)
    entries = read_trec(qrels, run).metadata["research goal"]["evaluation"]["scores"]
    assert [entry["value"] for entry in entries] == [*[score.value for score in scores.values()][1:], later_score.value]


def test_annotating_does_not_overwrite_an_evaluation_that_is_no_mapping(write):
    header = "# ir_metadata.start\n# research goal: {evaluation: by hand}\n# ir_metadata.end\n"
    qrels, run = write(QRELS, "qrels.txt"), write(header + RUN, "run.txt")
    scores = scores_of(read_trec(qrels, run))
    with pytest.raises(ra.InputError, match=r"'evaluation' in the ir_metadata header is 'by hand', and not a mapping"):
        annotate_run(run, scores, out=run)
    assert run.read_text(encoding="utf-8") == header + RUN


@for_each("value", [0.5, "0.5", [], {}, [0.5], None])
def test_annotating_refuses_objects_other_than_scores(write, value):
    run = write(RUN, "run.txt")
    with pytest.raises(ra.InputError, match=r"scores=.* is not a Score or some of them"):
        annotate_run(run, value, out=run)


def test_repro_eval_reads_the_header(write):
    metadata = pytest.importorskip("repro_eval.metadata")
    qrels, run = write(QRELS, "qrels.txt"), write(RUN, "run.txt")
    annotate_run(run, scores_of(read_trec(qrels, run)), out=run)
    assert metadata.MetadataHandler.read_metadata(str(run)) == read_trec(qrels, run).metadata
    assert metadata.MetadataHandler.strip_metadata(str(run))["7"] == {"a": 0.75, "b": 0.5}
    handler = metadata.MetadataHandler(str(run))
    handler.set_metadata(metadata_dict=METADATA)
    handler.write_metadata(run_path=str(run) + "2")
    assert read_trec(qrels, str(run) + "2").metadata == METADATA


@pytest.mark.parametrize("source", ["file", "gzip", "stdin"])
def test_evaluate_writes_the_annotated_run(capsys, stdin, write, tmp_path, source):
    qrels, run = write(QRELS, "qrels.txt"), write(RUN, "run.txt")
    if source == "gzip":
        run.write_bytes(gzip.compress(run.read_bytes()))
    if source == "stdin":
        stdin(RUN)
    out = tmp_path / "new" / "annotated.txt"
    options = ("--qrels", qrels, "--run", "-" if source == "stdin" else run, "--convention", *CONVENTIONS)
    note = f"{out}\n{LEFT_OUT}\n"
    output_with_out = output_of(capsys, *options, "--format", "csv", "--out", out, note=note)
    if source == "stdin":
        stdin(RUN)
    assert output_with_out == output_of(capsys, *options, "--format", "csv", note=f"{LEFT_OUT}\n")
    judged = read_trec(qrels, out)
    entries = judged.metadata["research goal"]["evaluation"]["scores"]
    assert [ra.Score.from_dict(entry) for entry in entries] == list(scores_of(judged).values())
    assert out.read_text(encoding="utf-8").endswith(f"# ir_metadata.end\n{RUN}")


@for_each(
    "options",
    [
        ("--qrels", "q", "--run", "a", "b"),
        ("--table", "t.csv"),
        ("--features", "f", "--feature", "1"),
        ("--qrels", "q"),
    ],
)
def test_evaluate_refuses_to_write_anything_but_one_trec_run(capsys, tmp_path, options):
    out = tmp_path / "annotated.txt"
    assert "--out writes one TREC run. Hint: use it with --qrels" in error_of(capsys, *options, "--out", out)
    assert not out.exists()


def test_evaluate_refuses_a_malformed_header_and_writes_nothing(capsys, write, tmp_path):
    qrels, run = write(QRELS, "qrels.txt"), write(BROKEN_HEADERS[0][0] + RUN, "run.txt")
    out = tmp_path / "annotated.txt"
    line = error_of(capsys, "--qrels", qrels, "--run", run, "--out", out)
    assert "run.txt, line 1: the ir_metadata header has no line" in line
    assert not out.exists()
