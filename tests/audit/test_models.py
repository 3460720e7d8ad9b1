"""Models in a matrix or a table, with a column for each."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.graded_queries import small

pytest.importorskip("scipy")

YAHOO = ra.presets.yahoo(5)


def models():
    queries, scores = small()
    return queries, {"one": scores, "two": -scores, "three": queries.labels}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_has_a_column_for_each_model(kind):
    package = pytest.importorskip(kind)
    queries, scores = models()
    make = package.table if kind == "pyarrow" else package.DataFrame
    found = ra.audit.order(queries, make(scores), [YAHOO], n_resamples=49)
    assert found.to_dict() == ra.audit.order(queries, scores, [YAHOO], n_resamples=49).to_dict()


def test_a_matrix_has_a_column_for_each_model_named_by_its_number():
    queries, scores = models()
    found = ra.audit.order(queries, np.stack(list(scores.values()), axis=1), [YAHOO], n_resamples=49)
    assert list(found.scores) == ["0", "1", "2"]
    expected = ra.audit.order(queries, dict(zip("012", scores.values(), strict=True)), [YAHOO], n_resamples=49)
    assert found.to_dict() == expected.to_dict()


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1, 2], [2, 1]], columns=["a", "a"])
    with pytest.raises(ra.InputError, match=r"two columns of scores are named 'a'.\nHint"):
        ra.audit.order([1, 0], table, [YAHOO], group_sizes=[2])
