"""Write scores into the header of a TREC run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankadapters.core.declaration.arguments import members
from rankadapters.core.errors import InputError, brief
from rankadapters.core.evaluation.score import Score
from rankadapters.io.line_blocks import row_blocks
from rankadapters.io.run_metadata import END, NEW_HEADER, with_scores, write_header
from rankadapters.io.text import NEWLINE, AnyPath, LoadedFile, as_path
from rankadapters.io.trec_lines import RUN, read_lines
from rankadapters.io.writing import write_text


def annotate_run(run: AnyPath, scores: Score | Mapping[Any, Score] | Iterable[Score], *, out: AnyPath) -> None:
    r"""Write a copy of a TREC run with scores in its ir_metadata header.

    The rows and other comments of the run do not change, except that line feeds end the lines. An existing header is
    kept; a new one gets `schema-version`, `run-version` and the `tag` of the first row. The scores are under
    `research goal`, `evaluation`: each signature in `reported measures`, and each `Score.to_dict()` in `scores`. A
    score replaces an earlier score under the same convention.

    Parameters
    ----------
    run : path
        The run, a text file in UTF-8; gzip and bzip2 are decompressed.
    scores : Score, or mapping or iterable of Score
        The results of `ra.evaluate` for this run.
    out : path
        The text file to write; it may be the run itself.

    Raises
    ------
    InputError
        The run cannot be read, its header is malformed, the file cannot be written, or there is no score.
    MissingToolkitError
        PyYAML is not installed.

    References
    ----------
    T. Breuer, J. Keller, P. Schaer. ir_metadata: An extensible metadata schema for IR experiments. SIGIR 2022.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankadapters as ra
    >>> folder = tempfile.TemporaryDirectory()
    >>> qrels, run = Path(folder.name, "qrels"), Path(folder.name, "run")
    >>> _ = qrels.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    >>> _ = run.write_text("q1 Q0 d2 1 0.9 bm25\nq1 Q0 d1 2 0.5 bm25\n")
    >>> judged = ra.io.read_trec(qrels, run)
    >>> score = ra.evaluate(judged.queries, judged.scores, "trec_eval_9@10")
    >>> ra.io.annotate_run(run, score, out=run)
    >>> metadata = ra.io.read_trec(qrels, run).metadata
    >>> metadata["tag"], ra.Score.from_dict(metadata["research goal"]["evaluation"]["scores"][0]) == score
    ('bm25', True)
    >>> folder.cleanup()
    """
    path, target = as_path(run), as_path(out)
    reported = _scores_of(scores)
    data = b"".join(row_blocks(path))
    header = read_lines(LoadedFile(str(path), data), RUN).header
    rows = data.split(NEWLINE)
    if header.n_lines:
        rows = rows[[row.strip() for row in rows].index(END) + 1 :]
    metadata = {**NEW_HEADER, "tag": _tag(rows)} if header.metadata is None else header.metadata
    write_text(target, write_header(with_scores(path, metadata, reported)) + NEWLINE.join(rows).decode())


def _tag(rows: list[bytes]) -> str:
    """Return the run tag, which is the sixth word of the first row."""
    return next(words[5] for row in rows if (words := row.split()) and not words[0].startswith(b"#")).decode()


def _scores_of(scores: object) -> list[Score]:
    entries = [scores] if isinstance(scores, Score) else members(scores)
    if isinstance(scores, Mapping):
        entries = list(scores.values())
    if not entries or not all(isinstance(entry, Score) for entry in entries):
        raise InputError(f"scores={brief(scores)} is not a Score or some of them.", hint="what ra.evaluate returned")
    return entries
