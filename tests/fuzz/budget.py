"""How many examples each target has in the test suite, and how a reader is compared with a plain one."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, settings

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, kernels
from rankadapters.io import line_blocks
from rankadapters.io.text import LoadedFile
from tests.fuzz.plain_text import RefusedError
from tests.helpers.depth import examples

EXAMPLES = examples(10_000)  # of all targets, in a run of the test suite
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.large_base_example, HealthCheck.data_too_large]


def share(of_all: float) -> settings:
    """Settings of a target that has this share of all examples."""
    return settings(max_examples=round(EXAMPLES * of_all), deadline=None, suppress_health_check=SLOW)


def with_examples(texts: Iterable[str | bytes], *others: Any) -> Callable[[Any], Any]:
    """Have a target try these files first, each time it is run, with these other arguments."""
    files = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return lambda test: functools.reduce(lambda made, data: example(data, *others)(made), files, test)


def held(data: bytes, name: str = "fuzzed") -> LoadedFile:
    """Hand over a file without a disk."""
    return LoadedFile(name, data)


@contextmanager
def blocks_of(n_bytes: int) -> Iterator[None]:
    """Read text in blocks of so few bytes that small files have several, and evaluate without machine code."""
    with pytest.MonkeyPatch.context() as patch, kernels(NEVER), warnings.catch_warnings():
        patch.setattr(line_blocks, "BLOCK", n_bytes)
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        yield


def both(read: Callable[[], Any], by_the_book: Callable[[], Any], *, lines: bool = False) -> None:
    """Compare a reader with the grammar: the same content, or both refuse, maybe naming the first bad line."""
    try:
        expected = by_the_book()
    except RefusedError as refused:
        expected = refused
    try:
        found = read()
    except ra.RankAdaptersError as error:
        assert isinstance(expected, RefusedError), f"refused what the grammar takes: {error}"
        assert str(error).strip()
        named = not lines or expected.line is None or f", line {expected.line}: " in str(error)
        assert named, f"not line {expected.line}: {error}"
        return
    assert not isinstance(expected, RefusedError), f"answered where the grammar refuses, {expected}: {found}"
    assert found == expected


def bits(values: Any) -> list[str] | None:
    """Tell numbers apart by their bits, if there are any; NaN is equal to NaN and 0 is not -0."""
    return None if values is None else [value.hex() for value in np.asarray(values, np.float64).ravel().tolist()]


def names_of(queries: ra.Queries) -> list[Any]:
    """Query of each row, in the order of the file."""
    return np.asarray(queries.query_ids)[queries.query_of_row].tolist()


def content_of(found: Any, *, scored: bool = True) -> tuple[Any, ...]:
    """Labels, scores, query of each row, order of docids and weights, as our reader read them."""
    queries = found.queries
    names, scores = list(map(str, names_of(queries))), found.scores if scored else None
    order = None if queries.docid_rank is None else _places(names, queries.docid_rank.tolist())
    return bits(queries.labels), bits(scores), names, order, bits(queries.query_weight)


def plain_content(queries: list[str], labels: Any, scores: Any = None, docids: Any = None, weights: Any = None) -> Any:
    """The same, of columns that are right."""
    order = None if docids is None else _places(queries, [docid.encode() for docid in docids])
    return bits(labels), bits(scores), queries, order, bits(_by_query(queries, weights))


def plain_evaluate(
    convention: Any, *, queries: Any, labels: Any, scores: Any, docids: Any = None, weights: Any = None
) -> dict[str, Any]:
    """Evaluate columns that are right; what cannot be evaluated is refused."""
    by_query = _by_query(queries, weights)
    try:
        return ra.evaluate(labels, scores, convention, qid=queries, docid=docids, query_weight=by_query).to_dict()
    except ra.InputError as error:
        raise RefusedError from error


def _by_query(queries: list[Any], weights: list[float] | None) -> list[float] | None:
    return None if weights is None else list(dict(zip(queries, weights, strict=True)).values())


def _places(queries: list[Any], keys: list[Any]) -> list[int]:
    """Place of each row's key among those of its query."""
    rows = range(len(keys))
    return [sum(queries[j] == queries[i] and keys[j] < keys[i] for j in rows) for i in rows]
