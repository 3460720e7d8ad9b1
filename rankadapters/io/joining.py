"""Join the documents of qrels and of a run, as trec_eval does, whether they come from files, dicts or frames."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from rankadapters.core.data.columns import frozen, text_column
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError
from rankadapters.io.judgments import Judgments

DUPLICATES = ("error", "best", "first")

_KEEP = "drop one of the two, or keep one: duplicates='best' or 'first' (--duplicates)"
_SHOWN = 3  # number of query names that a note lists


class Documents:
    """The documents of each query with their labels or scores; `name` is the file or the argument they come from."""

    def __init__(self, name: object, duplicates: str | None = None) -> None:
        self.name, self.duplicates = name, duplicates  # None in qrels, where a document has one label
        self.rows: dict[Any, dict[Any, int]] = defaultdict(dict)  # row of each document, by query
        self.numbers = array("d")  # label or score of each row
        self.lines = array("q")  # of a file, line of each row

    def keep_one(self, query: Any, document: Any, earlier: int) -> None:
        """Keep one of two rows of a document, of which the second is the last row.

        Raises
        ------
        InputError
            `duplicates` is "error" or None.
        """
        row, documents = len(self.numbers) - 1, self.rows[query]
        if self.duplicates in {"error", None}:
            query_name, document_name = self.texts([query, document])
            names = f"document {document_name!r} of query {query_name!r}"
            msg = f"{self.name}, {_place(self.lines, row)}: {names} is also in {_place(self.lines, earlier)}."
            raise InputError(msg, hint=_KEEP if self.duplicates else "drop one of the two", row=row)
        # A NaN is kept, so that it is refused later.
        if self.duplicates == "best" and not self.numbers[row] <= self.numbers[earlier]:
            del documents[document]  # the documents are in the order of the rows that are kept
            documents[document] = row

    def texts(self, names: Iterable[Any]) -> list[str]:
        """Return names of queries or documents as texts; those of files are bytes."""
        return [name.decode() if isinstance(name, bytes) else name for name in names]

    def notes(self) -> Iterator[str]:
        """Say what was not read."""
        yield from ()


def join(qrels: Documents, run: Documents | None) -> Judgments:
    """Return for each query of the qrels the run's rows, followed by the judged documents that the run lacks.

    Raises
    ------
    InputError
        No query is in both.
    """
    if run is not None and not run.rows.keys() & qrels.rows.keys():
        raise _other_queries(qrels, run)
    has_run, run = run is not None, run or Documents("")
    qrels_rows, run_rows, docids, sizes = array("q"), array("q"), list[Any](), []  # row -1 is none
    for query, judged in qrels.rows.items():
        retrieved = run.rows.get(query, {})
        not_retrieved = [document for document in judged if document not in retrieved]
        for documents in (retrieved, not_retrieved):
            qrels_rows.extend(map(judged.get, documents, repeat(-1)))
            run_rows.extend(map(retrieved.get, documents, repeat(-1)))
            docids += documents
        sizes.append(len(retrieved) + len(not_retrieved))
    is_judged, is_retrieved = np.asarray(qrels_rows) >= 0, np.asarray(run_rows) >= 0
    no_results = np.array([query in run.rows and not run.rows[query] for query in qrels.rows])
    texts = qrels.texts(docids)
    queries = Queries(
        np.append(qrels.numbers, np.nan)[qrels_rows],
        qid=np.repeat(text_column(qrels.texts(qrels.rows)), sizes),
        docid=text_column(texts),
        retrieved=is_retrieved if has_run else None,
        judged=is_judged if has_run else None,
    )
    if no_results.any():
        queries = queries.with_columns(no_results=frozen(np.repeat(no_results, sizes)))
    sources = [(run.name, run.lines, run_rows), (qrels.name, qrels.lines, qrels_rows)]
    locate = partial(_location, queries=queries, docids=texts, sources=sources)
    notes = [*qrels.notes(), *run.notes(), *_unjudged_notes(qrels, run, queries.judged_share)]
    scores = np.append(run.numbers, np.nan)[run_rows] if has_run else None
    return Judgments(queries=queries, scores=scores, place=locate, note="; ".join(notes))


def _other_queries(qrels: Documents, run: Documents) -> InputError:
    if not run.rows:
        return InputError(f"{run.name} has no queries.", hint="at least one is needed")
    names = [table.texts([next(iter(table.rows))])[0] for table in (run, qrels)]
    msg = f"{run.name}: none of its queries, such as {names[0]!r}, is in {qrels.name}, which has {names[1]!r}."
    return InputError(msg, hint="both must name queries alike")


def _location(row: int, *, queries: Queries, docids: list[str], sources: list[tuple[object, Any, Any]]) -> str:
    name, lines, rows = next(source for source in sources if source[2][row] >= 0)  # the run, if it has the row
    query = str(queries.query_ids[queries.query_of_row[row]])
    return f"{name}, {_place(lines, rows[row])} (document {docids[row]!r} of query {query!r})"


def _place(lines: Sequence[int], row: int) -> str:
    return f"line {lines[row]}" if lines else f"row {row}"


def _unjudged_notes(qrels: Documents, run: Documents, judged_share: float) -> Iterator[str]:
    if not judged_share:
        n_retrieved = sum(len(run.rows.get(query, ())) for query in qrels.rows)
        yield f"none of the {n_retrieved} retrieved documents is judged; qrels and run may name documents differently"
    empty = qrels.texts(query for query, documents in qrels.rows.items() if not documents)
    if empty:
        yield f"{_queries(empty)} of the qrels {'has' if len(empty) == 1 else 'have'} no judgments: {_listed(empty)}"
    other = run.texts(query for query in run.rows if query not in qrels.rows)
    if other:
        verbs = ("is", "was") if len(other) == 1 else ("are", "were")
        yield "{} of the run {} not in the qrels and {} left out: {}".format(_queries(other), *verbs, _listed(other))


def _queries(names: list[str]) -> str:
    return "1 query" if len(names) == 1 else f"{len(names)} queries"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
