"""How many examples each target has in the test suite, and how a file is handed over."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

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


def held(data: bytes, name: str = "fuzzed") -> LoadedFile:
    """Hand over a file without a disk."""
    return LoadedFile(name, data)


def in_memory() -> str | None:
    """Name the folder in memory, where the system has one, for files that cannot be handed over otherwise."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - deleted on closing


@contextmanager
def blocks_of(n_bytes: int) -> Iterator[None]:
    """Read text in blocks of so few bytes that small files have several, and evaluate without machine code."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(line_blocks, "BLOCK", n_bytes)
        stack.enter_context(kernels(NEVER))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        yield


def both(read: Callable[[], Any], by_the_book: Callable[[], Any]) -> None:
    """Compare a reader with the grammar: the same content, or both refuse."""
    try:
        expected = by_the_book()
    except RefusedError as refused:
        expected = refused
    try:
        found = read()
    except ra.RankAdaptersError as error:
        assert isinstance(expected, RefusedError), f"refused what the grammar takes: {error}"
        assert str(error).strip()
        return
    assert not isinstance(expected, RefusedError), f"answered where the grammar refuses, {expected}: {found}"
    assert found == expected


def bits(values: Any) -> list[str]:
    """Tell numbers apart by their bits; NaN is equal to NaN and 0 is not -0."""
    return [value.hex() for value in np.asarray(values, np.float64).ravel().tolist()]


def said(evaluate: Callable[[], ra.Score]) -> Any:
    """What a score holds, or that an error was raised."""
    try:
        return evaluate().to_dict()
    except ra.InputError:
        return "InputError"


def names_of(queries: ra.Queries) -> list[str]:
    """Query of each row, in the order of the file."""
    by_query = np.asarray(queries.query_ids)[queries.query_of_row]
    return by_query.tolist()


def docid_order(queries: ra.Queries) -> list[int] | None:
    """Place of each row's docid among those of its query."""
    if queries.docid_rank is None:
        return None
    return _places(names_of(queries), queries.docid_rank.tolist())


def plain_docid_order(queries: list[str], docids: list[str]) -> list[int]:
    """The same, of texts."""
    return _places(queries, [docid.encode() for docid in docids])


def _places(queries: list[Any], keys: list[Any]) -> list[int]:
    rows = range(len(keys))
    return [sum(queries[j] == queries[i] and keys[j] < keys[i] for j in rows) for i in rows]
