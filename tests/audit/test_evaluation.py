"""Many conventions are evaluated in one pass, without those that have no value on the data."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from tests.helpers.audit_data import small


def test_conventions_without_a_value_are_left_out_of_one_pass():
    queries, scores = small()
    labels = np.where(np.arange(queries.n_docs) == 0, 4, queries.labels)  # beyond LETOR's gain table
    graded = ra.Queries(labels, group_sizes=np.diff(queries.indptr))
    several = [ra.parse(f"{tool}@{k}") for k in range(1, 9) for tool in ("letor4", "yahoo", "lightgbm")]
    all_empty = ra.presets.lightgbm.map(3).replace(relevant="from_9", empty="skip")
    [found] = measure_in_passes(graded, scores, [*several, all_empty])
    usable = [convention for convention in several if convention.gain != "table_0_1_3"]
    assert list(found.scores) == usable
    assert evaluate_usable(graded, scores, several) == {c: ra.evaluate(graded, scores, c) for c in usable}
