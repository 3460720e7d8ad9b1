"""Queries of integers, wherever their rows stand: as a dict of Python's finds them."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters.core.data.grouping import grouped, stable_order

IDS = {
    "int8": np.array([-128, 127, 0], np.int8),
    "bytes": np.arange(3, dtype=np.uint8),
    "two digits of 16 bits": np.array([-70_000, 2**31, 5]),
    "just too far apart": np.array([0, 2**32, 7]),
    "all of int64": np.array([-(2**63), 2**63 - 1, 0]),
    "the end of uint64": np.array([2**64 - 1, 2**64 - 2**17, 2**64 - 3], np.uint64),
    "all of uint64": np.array([0, 2**64 - 1, 2**63], np.uint64),
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_scattered_rows_are_brought_together(ids):
    qid = np.random.default_rng(0).choice(ids, 40)
    rows: dict[int, list[int]] = {}
    for row, query in enumerate(qid.tolist()):
        rows.setdefault(query, []).append(row)
    found = grouped(qid, None, qid.size)
    assert found["query_ids"].tolist() == list(rows)
    assert found["query_ids"].dtype == qid.dtype
    assert np.diff(found["indptr"]).tolist() == [len(several) for several in rows.values()]
    assert found["order"].tolist() == [row for several in rows.values() for row in several]


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_the_order_is_that_of_a_stable_sort(ids):
    numbers = np.random.default_rng(1).choice(ids, 60)
    assert stable_order(numbers).tolist() == sorted(range(60), key=lambda row: int(numbers[row]))
