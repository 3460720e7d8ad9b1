"""CatBoost's random losses, replayed: the leaf values of its trees from our gradients."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.random_loss_data import leaf_values, read, recorded, unrounded
from tests.tables import for_each

RECORDS = dict(recorded())


@for_each("record", RECORDS.values(), ids=RECORDS)
def test_leaf_values_are_catboosts(record):
    value = read(record["loss"], int(record["call_seed"]))
    queries = ra.Queries(record["labels"], qid=record["qid"])
    exact = leaf_values(value, record, *unrounded(value, queries, record["scores"]))
    np.testing.assert_allclose(exact, record["leaf_values"], rtol=1e-12, atol=1e-12)
    rounded = [part.astype(float) for part in objectives.gradients(queries, record["scores"], value)]
    np.testing.assert_allclose(leaf_values(value, record, *rounded), record["leaf_values"], rtol=1e-6, atol=1e-6)
