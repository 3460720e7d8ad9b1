"""Small input files of `rankadapters evaluate`, and its output and errors."""

from __future__ import annotations

from tests.helpers import command

ROWS = "2 qid:7 1:1 #docid = b\n0 qid:7 1:2 #docid = a\n0 qid:9 #docid = c\n"
SCORES = "0.5\n0.75\n1\n"
QRELS = "7 0 b 2\n7 0 a 0\n9 0 c 0\n8 0 d 1\n"
LEFT_OUT = "1 query of the run is not in the qrels and was left out: 6"
RUN = "7 Q0 a 1 0.75 t\n7 Q0 b 2 0.5 t\n9 Q0 c 1 1 t\n6 Q0 c 1 1 t\n"
TABLE = "query,grade,model,doc\n7,2,0.5,b\n7,0,0.75,a\n9,0,1,c\n"
COLUMNS = ("--label", "grade", "--score", "model", "--qid", "query")


def output_of(capsys, *arguments, note=""):
    """Run `rankadapters evaluate`, check its text on stderr, and return its text on stdout."""
    return command.output_of(capsys, "evaluate", *arguments, note=note)


def report_of(capsys, *arguments):
    """Run `rankadapters evaluate`, and return what it prints as JSON."""
    return command.report_of(capsys, "evaluate", *arguments)


def error_of(capsys, *arguments):
    """Run `rankadapters evaluate` with bad input and return the line on stderr."""
    return command.error_of(capsys, "evaluate", "--convention", "textbook@5", "--format", "csv", *arguments)
