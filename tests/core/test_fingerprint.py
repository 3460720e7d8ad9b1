"""Fingerprints as literal values: a tally written today must merge with one written by any later version.

The values are those of the first version; nothing may change them.
"""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.data.fingerprint import hash_ids
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from rankadapters.core.kernels.exact import mix_all
from tests.tables import for_each

LABELS, QID = [2.0, 0.0, 1.5, 0.0, 3.0], ["a", "a", "b", "b", "b"]
PAIRS = ([0, 4], [1, 2])


def fingerprints(**columns):
    return [hex(word) for word in ra.Queries(**{"labels": LABELS, "qid": QID} | columns).fingerprints.tolist()]


@pytest.mark.parametrize("form", [NOW, NEVER])
def test_words_are_mixed_as_splitmix64_does(form):
    """The first outputs of the generator seeded with 0 and 1 (Steele, Lea and Flood 2014; Java's SplittableRandom)."""
    out = np.empty(2, np.uint64)
    with kernels(form):
        dispatch.run(mix_all, np.array([0, 1], np.uint64), out)
    assert out.tolist() == [0xE220A8397B1DCDAF, 0x910A2DEC89025CC1]


WHOLE = ["0xe220a8397b1dcdaf", "0x910a2dec89025cc1", "0x1fdd7128f310c389", "0xe4d971771b652c20"]


@for_each(
    ("ids", "expected"),
    [
        ([0, 1, 2**40, -1], WHOLE),
        ([0.0, 1.0, 2.0**40, -1.0], WHOLE),
        (["a", "é", ""], ["0xdd433d9a4a97677d", "0x7598f8253a7bb514", "0x7cb39d447858dab6"]),
        ([0.5, -2.25], ["0x330ba5e565fe3869", "0xa8b90c8b8c0b19ee"]),
        ([True, False], ["0x910a2dec89025cc1", "0xe220a8397b1dcdaf"]),
        ([("a", 1), ("a", 2)], ["0x2a0486a9012ec09f", "0xc75fe4360b9d585c"]),
    ],
)
def test_ids_have_these_hashes(ids, expected):
    column = np.empty(len(ids), object) if isinstance(ids[0], tuple) else np.asarray(ids)
    column[:] = ids
    assert [hex(word) for word in hash_ids(column).tolist()] == expected


@for_each(
    ("columns", "expected"),
    [
        *((columns, ["0xe4381c778c6e650e", "0x67c8e1f8ddc80864"]) for columns in (  # which mean the same
            {}, {"labels": [-0.0 + 2, -0.0, 1.5, -0.0, 3.0]}, {"query_weight": [1.0, 1.0]}, {"judged": [True] * 5})),
        ({"qid": ["b", "a", "b", "a", "b"]}, ["0xd2c9c70ea6b01ef3", "0xf605a02f481bfe77"]),
        ({"qid": None, "group_sizes": [2, 3]}, ["0xa73a423f1b255ea9", "0xde143e0546e1d0bb"]),
        ({"query_weight": [0.5, 2.0]}, ["0x3df235b8fb58a221", "0x40bb3e3210081369"]),
        ({"row_weight": [1.0, 0.25, 0.0, 2.0, 1.0]}, ["0x59793d4b502e2c5e", "0x3a80074c121d0b31"]),
        ({"pairs": PAIRS}, ["0xa3197efaaa4f0e2a", "0x34d264067f1a7cfc"]),
        ({"pairs": (*PAIRS, [1.0, 0.5])}, ["0xa3197efaaa4f0e2a", "0x88283bf1546fda15"]),
        ({"judged": [True, False, True, True, True]}, ["0x76d29e481753438a", "0x67c8e1f8ddc80864"]),
        ({"retrieved": [True, True, True, False, True]}, ["0xe4381c778c6e650e", "0x293c05eec3492bd7"]),
    ],
)  # fmt: skip
def test_queries_have_these_fingerprints(columns, expected):
    assert fingerprints(**columns) == expected


def test_a_digest_is_the_sum_of_the_fingerprints():
    queries = ra.Queries(LABELS, qid=QID)
    assert queries.digest == sum(int(word, 16) for word in fingerprints()) % 2**64


def test_rows_in_another_order_have_the_same_fingerprints():
    places = [4, 1, 3, 0, 2]
    shuffled = ra.Queries(np.array(LABELS)[places], qid=np.array(QID)[places], row_weight=np.arange(5.0)[places])
    straight = ra.Queries(LABELS, qid=QID, row_weight=np.arange(5.0))
    assert sorted(shuffled.fingerprints.tolist()) == sorted(straight.fingerprints.tolist())
