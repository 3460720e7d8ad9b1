"""Join qrels and runs in memory: dicts of dicts, frames, and iterables of named tuples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankadapters.core.data.columns import as_column, as_numbers, refuse_non_finite
from rankadapters.core.declaration.arguments import members, word
from rankadapters.core.errors import InputError, brief, choices
from rankadapters.evaluation.table_calls import column_names
from rankadapters.io.joining import DUPLICATES, Documents, join
from rankadapters.io.judgments import Judgments
from rankadapters.io.text import AnyPath, open_text

# Names of the query, the document and the number in a frame or tuple. The first that are all there are read.
_NUMBERS = {"qrels": ("relevance", "label", "rel", "score"), "run": ("score",)}
_NAMES = [
    ("query_id", "doc_id"),  # ir_measures
    ("q_id", "doc_id"),  # ranx
    ("qid", "docno"),  # PyTerrier, whose runs have an internal `docid` too
    ("qid", "docid"),
    ("query", "docid"),  # trectools
    ("query-id", "corpus-id"),  # BEIR
]
_FORMS = "{query: {document: number}}, a frame in memory, or named tuples, such as ir_measures.Qrel and ScoredDoc"
_RANKS = "lists have ranks: {query: {name: -rank for rank, name in enumerate(names)} for query, names in run.items()}"

_SHOWN = 6  # names of columns in a message

Columns = tuple[Iterable[Any], Iterable[Any], Any]


def from_qrels(qrels: Any, run: Any = None, *, duplicates: str = "error") -> Judgments:
    """Join qrels and a run that are in memory, as `read_trec` joins files.

    Each may be a dict of dicts `{query: {document: number}}` as in pytrec_eval, an object of ranx, a frame of pandas,
    polars or pyarrow, a mapping of columns, or an iterable of named tuples as in ir_measures. The columns, or the
    fields of the tuples, are called `query_id`, `doc_id` and `relevance` or `score` as in ir_measures; `q_id`, `doc_id`
    and `score` as in ranx; or as in PyTerrier, trectools or BEIR. Names that are integers become texts: 7 and "7" are
    the same query.

    Parameters
    ----------
    qrels : dict, frame or iterable
        The labels.
    run : dict, frame or iterable, optional
        The scores; without them, the rows are those of the qrels.
    duplicates : {"error", "best", "first"}
        What to do with a document that the run lists more than once for a query: refuse it, keep the row with its best
        score (as evaluations of passages do), or keep its first row.

    Returns
    -------
    Judgments
        With docids, and with scores if there is a run. The rows of a query are those of the run, in its order, then the
        judged documents that the run lacks. The note counts the run's queries without judgments, which are left out,
        and the queries whose dict of judgments is empty.

    Raises
    ------
    InputError
        An argument is none of these, a number or a name is wrong, a document is in a query twice, or no query is in
        both.

    Notes
    -----
    Where the convention says `missing="skip"`, a query with an empty dict of results counts 0, as in pytrec_eval, BEIR
    and LensKit, and a query that the run lacks is left out. A tool that divides by the length of a list skips both, and
    other conventions treat both alike. The files of trec_eval have no empty lists. pytrec_eval and trec_eval leave out
    a query with an empty dict of judgments, which other tools count: for their numbers, drop it from the qrels.

    Examples
    --------
    >>> import rankadapters as ra
    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}, "q3": {"d4": 1}}
    >>> judgments = from_qrels(qrels, {"q1": {"d2": 0.9, "d1": 0.5}, "q2": {}})
    >>> judgments.queries, judgments.scores.tolist()
    (Queries(3 queries, 4 rows), [0.9, 0.5, nan, nan])
    >>> ra.evaluate(judgments.queries, judgments.scores, "pytrec_eval.map").value  # q2 counts 0, and q3 is left out
    0.25
    """
    word("duplicates", duplicates, DUPLICATES)
    judged = documents_of(qrels, Documents("qrels"), "qrels")
    return join(judged, None if run is None else documents_of(run, Documents("run", duplicates), "run"))


def read_json(path: AnyPath, role: str, duplicates: str | None) -> Documents:
    """Read a file with a JSON object of objects, as BEIR and pytrec_eval write qrels and runs."""
    with open_text(path) as file:
        text = file.read()
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}.", hint="one object {query: {document: number}}") from None
    table = documents_of(value, Documents(path, duplicates), role)
    rows = table.rows.items()  # bytes, as the names in other files are
    table.rows = {query.encode(): {name.encode(): row for name, row in of.items()} for query, of in rows}
    return table


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; refuse a repeated name, of which json would keep the last."""
    names = dict(pairs)
    if len(names) < len(pairs):
        repeated = next(name for row, (name, _) in enumerate(pairs) if name in dict(pairs[:row]))
        raise ValueError(f"an object has the name {repeated!r} twice")
    return names


def documents_of(value: Any, table: Documents, role: str) -> Documents:
    """Fill a table with the documents of qrels or of a run; `role` says which.

    Raises
    ------
    InputError
        The value has none of the forms, or a name or number is wrong.
    """
    if not column_names(value) and hasattr(value, "to_dict"):  # of ranx
        value = value.to_dict()
    if isinstance(value, Mapping) and all(isinstance(row, Mapping) for row in value.values()):
        queries, documents, numbers = _of_dicts(value)
        for query in _texts(value, f"{table.name}: query"):
            table.rows[query] = {}
    elif isinstance(value, Mapping) and not any(name in value for pair in _NAMES for name in pair):
        raise InputError(f"{table.name} is {brief(value)}.", hint=f"{_FORMS}; {_RANKS}")
    elif names := column_names(value):
        queries, documents, numbers = (
            as_column(f"{table.name}[{name!r}]", value[name]).tolist() for name in _chosen(names, role, table.name)
        )
    else:
        queries, documents, numbers = _of_tuples(value, role, table.name)
    _fill(table, queries, documents, numbers)
    if not len(table.numbers) and role == "qrels":
        raise InputError(f"{table.name} has no documents.", hint=_FORMS)
    return table


def _of_dicts(value: Mapping[Any, Mapping[Any, Any]]) -> Columns:
    queries = [query for query, row in value.items() for _ in row]
    documents = [document for row in value.values() for document in row]
    return queries, documents, [number for row in value.values() for number in row.values()]


def _of_tuples(value: Any, role: str, name: object) -> Columns:
    rows = members(value)
    if rows is None or not all(hasattr(row, "_fields") for row in rows):
        raise InputError(f"{name} is {brief(value)}.", hint=_FORMS)
    if not rows:
        return [], [], []
    fields = _chosen(list(rows[0]._fields), role, name)
    query, document, number = ([getattr(row, field) for row in rows] for field in fields)
    return query, document, number


def _chosen(names: list[str], role: str, source: object) -> tuple[str, str, str]:
    """Return the names of the query, the document and the number."""
    for query, document in _NAMES:
        number = next((number for number in _NUMBERS[role] if number in names), None)
        if query in names and document in names and number is not None:
            return query, document, number
    pairs = ", ".join(f"{query} and {document}" for query, document in _NAMES)
    listed = choices(names[:_SHOWN]) + ", ..." * (len(names) > _SHOWN)
    msg = f"{source} has the columns {listed}: no known names of query, document and number."
    raise InputError(msg, hint=f"rename them: {pairs}; with {' or '.join(_NUMBERS[role])}")


def _fill(table: Documents, queries: Iterable[Any], documents: Iterable[Any], numbers: Any) -> None:
    query_texts = _texts(queries, f"{table.name}: query")
    document_texts = _texts(documents, f"{table.name}: document")
    values = as_numbers(f"the numbers of {table.name}", numbers) if document_texts else np.empty(0)
    if table.duplicates is None:
        refuse_non_finite(f"the numbers of {table.name}", values)
    for row, (query, document, number) in enumerate(zip(query_texts, document_texts, values.tolist(), strict=True)):
        table.numbers.append(number)
        earlier = table.rows[query].setdefault(document, row)
        if earlier != row:
            table.keep_one(query, document, earlier)


def _texts(names: Iterable[Any], what: str) -> list[str]:
    """Return names as texts; refuse those that are neither texts nor integers."""
    texts = []
    for row, name in enumerate(names):
        if isinstance(name, bool) or not isinstance(name, (str, int)) or name == "":
            raise InputError(f"{what} {brief(name)} in row {row} is no name.", hint="a text or an integer", row=row)
        texts.append(str(name))
    return texts
