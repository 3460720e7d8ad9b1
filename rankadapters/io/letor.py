"""SVMlight and LETOR files as judgments: labels, queries and docids, and predictions or a feature as scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from rankadapters.io import splitting
from rankadapters.io.judgments import Judgments, ScoredJudgments, judgments_of
from rankadapters.io.letor_files import LetorFiles
from rankadapters.io.stream_rows import joined
from rankadapters.io.text import AnyPath

_TWICE = "drop one of the two, or docids=False, which reads none: only ties by docid need them"


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: None = ...,
    feature: None = ...,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> Judgments: ...


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath],
    feature: None = ...,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> ScoredJudgments: ...


@overload
def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: None = ...,
    feature: int,
    docids: bool | None = ...,
    split_queries: str = ...,
) -> ScoredJudgments: ...


def read_letor(
    files: AnyPath | Sequence[AnyPath],
    *,
    predictions: AnyPath | Sequence[AnyPath] | None = None,
    feature: int | None = None,
    docids: bool | None = None,
    split_queries: str = "error",
) -> Judgments:
    r"""Read labels, queries and docids from SVMlight or LETOR files; scores too, from predictions or from a feature.

    A query may be any text without white space. Features may come in any order, each once in its row. The comment after
    `#` is searched for a docid as LETOR writes it, `#docid = GX008-86-4444840`.

    Parameters
    ----------
    files : path or sequence of path
        Feature files, which follow each other. UTF-8; gzip and bzip2 are decompressed.
    predictions : path or sequence of path, optional
        Files with one number per line for each row of `files`, in their order; without them, and without `feature`,
        no scores are read.
    feature : int, optional
        In place of predictions: the feature that is the score, 0 on a line that leaves it out.
    docids : bool, optional
        True requires a docid on every line; False reads none; by default they are read where every line has one.
    split_queries : str
        What a query is that returns after another one, or in a further file: `error`, `merge` (one query) or
        `separate` (a query of its own).

    Returns
    -------
    Judgments or ScoredJudgments
        One row per line that holds anything before its comment; with scores from `predictions` or `feature`.

    Raises
    ------
    InputError
        A file cannot be read, a line is malformed, a document is in a query twice, the predictions are not as many
        as the rows, or a feature was given beside them. The message names file, line and, in a feature file, the token.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> file, predictions = Path(folder.name, "fold.txt"), Path(folder.name, "predictions.txt")
    >>> _ = file.write_text("2 qid:7 1:0.5 3:1 #docid = GX007\n0 qid:7 2:1 #docid = GX008\n")
    >>> _ = predictions.write_text("0.25\n0.75\n")
    >>> found = read_letor(file, predictions=predictions)
    >>> found.queries, found.scores.tolist()
    (Queries(1 queries, 2 rows), [0.25, 0.75])
    >>> read_letor(file, feature=3).scores.tolist()
    [1.0, 0.0]
    >>> read_letor(file).queries
    Queries(1 queries, 2 rows)
    >>> folder.cleanup()
    """
    splitting.check(split_queries)
    rows = joined(list(LetorFiles(files, predictions=predictions, feature=feature, docids=docids)))
    return judgments_of(rows, split_queries, twice=_TWICE)
