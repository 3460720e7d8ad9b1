"""The number of examples of each target, and the comparison of a reader with a plain one."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, settings

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, kernels
from rankadapters.io import sorting, streams, table_files, text
from tests.fuzz.plain_readers import RefusedError
from tests.helpers.parameters import examples

ALL_EXAMPLES = int(os.environ.get("RANKADAPTERS_FUZZ", examples(10_000)))  # of all targets together
_FOLDER = TemporaryDirectory(prefix="rankadapters-fuzz-")
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example, HealthCheck.data_too_large]


def share(fraction: float) -> settings:
    """Return the settings of a target that gets this fraction of all examples."""
    return settings(max_examples=round(ALL_EXAMPLES * fraction), deadline=None, suppress_health_check=SLOW)


def with_examples(texts: Iterable[str | bytes], *arguments: Any) -> Callable[[Any], Any]:
    """Make a target always try these files first, each with these other arguments."""
    files = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return lambda test: functools.reduce(lambda decorated, data: example(data, *arguments)(decorated), files, test)


def saved(data: bytes, name: str = "fuzzed") -> Path:
    """Save a file in this process's own folder, in place of the last one of this name, and return its path."""
    path = Path(_FOLDER.name, name)
    path.write_bytes(data)
    return path


@contextmanager
def in_parts_of(n: int) -> Iterator[None]:
    """Read a few bytes or rows at a time, so that small files have several parts, and evaluate without machine code."""
    with pytest.MonkeyPatch.context() as patch, kernels(NEVER), warnings.catch_warnings():
        for module, name in ((table_files, "BATCH_ROWS"), (sorting, "BATCH_ROWS"), (streams, "ROWS_AT_ONCE")):
            patch.setattr(module, name, n)
        patch.setattr(text, "_BLOCK", max(n, 4))  # the first bytes tell the compression
        warnings.simplefilter("ignore", ra.LabelsWarning)  # whatever labels a tool takes
        yield


def compare_readers(read: Callable[[], Any], read_plainly: Callable[[], Any], *, lines: bool = False) -> None:
    """Check that a reader and the grammar read the same content or both refuse; `lines`: at the same line."""
    try:
        expected = read_plainly()
    except RefusedError as refusal:
        expected = refusal
    try:
        content = read()
    except ra.RankAdaptersError as error:
        assert isinstance(expected, RefusedError), f"refused a file that the grammar accepts: {error}"
        assert str(error).strip()
        names_line = not lines or expected.line is None or f", line {expected.line}: " in str(error)
        assert names_line, f"not line {expected.line}: {error}"
        return
    assert not isinstance(expected, RefusedError), f"read a file that the grammar refuses ({expected}): {content}"
    assert content == expected


def bits(values: Any) -> list[str] | None:
    """Return the bits of numbers, so that NaN equals NaN and 0 differs from -0; None stays None."""
    return None if values is None else [value.hex() for value in np.asarray(values, np.float64).ravel().tolist()]


def query_of_each_row(queries: ra.Queries) -> list[Any]:
    """Return the query of each row, in the order of the file."""
    return np.asarray(queries.query_ids)[queries.query_of_row].tolist()


def content_of(data: Any, *, scored: bool = True) -> tuple[Any, ...]:
    """Return labels, scores, query of each row, ranks of docids and weights, as our reader read them."""
    queries = data.queries
    names, scores = list(map(str, query_of_each_row(queries))), data.scores if scored else None
    order = None if queries.docid_rank is None else _ranks_in_query(names, queries.docid_rank.tolist())
    return bits(queries.labels), bits(scores), names, order, bits(queries.query_weight)


def plain_content(queries: list[str], labels: Any, scores: Any = None, docids: Any = None, weights: Any = None) -> Any:
    """Return what `content_of` returns, for columns that the grammar accepts."""
    order = None if docids is None else _ranks_in_query(queries, [docid.encode() for docid in docids])
    return bits(labels), bits(scores), queries, order, bits(_weight_of_each_query(queries, weights))


def plain_evaluate(
    convention: Any, *, queries: Any, labels: Any, scores: Any, docids: Any = None, weights: Any = None
) -> dict[str, Any]:
    """Evaluate columns that the grammar accepts; an InputError becomes a refusal."""
    query_weight = _weight_of_each_query(queries, weights)
    try:
        return ra.evaluate(labels, scores, convention, qid=queries, docid=docids, query_weight=query_weight).to_dict()
    except ra.InputError as error:
        raise RefusedError from error


def _weight_of_each_query(queries: list[Any], weights: list[float] | None) -> list[float] | None:
    return None if weights is None else list(dict(zip(queries, weights, strict=True)).values())


def _ranks_in_query(queries: list[Any], keys: list[Any]) -> list[int]:
    """Return the rank of each row's key among the keys of its query."""
    rows = range(len(keys))
    return [sum(queries[j] == queries[i] and keys[j] < keys[i] for j in rows) for i in rows]
