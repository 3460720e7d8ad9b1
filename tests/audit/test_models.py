"""`ra.audit.order` takes the scores of models as the columns of a matrix or a table."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.graded_queries import small_queries

YAHOO = ra.presets.yahoo(5)


def queries_and_models():
    queries, scores = small_queries()
    return queries, {"one": scores, "two": -scores, "three": queries.labels}


@pytest.mark.parametrize("package_name", ["pandas", "polars", "pyarrow"])
def test_a_table_has_a_column_for_each_model(package_name):
    package = pytest.importorskip(package_name)
    queries, scores = queries_and_models()
    make_table = package.table if package_name == "pyarrow" else package.DataFrame
    report = ra.audit.order(queries, make_table(scores), [YAHOO], n_resamples=49)
    assert report.to_dict() == ra.audit.order(queries, scores, [YAHOO], n_resamples=49).to_dict()


def test_a_matrix_has_a_column_for_each_model_named_by_its_index():
    queries, scores = queries_and_models()
    report = ra.audit.order(queries, np.stack(list(scores.values()), axis=1), [YAHOO], n_resamples=49)
    assert list(report.scores) == ["0", "1", "2"]
    expected = ra.audit.order(queries, dict(zip("012", scores.values(), strict=True)), [YAHOO], n_resamples=49)
    assert report.to_dict() == expected.to_dict()


def test_two_columns_of_the_same_name_are_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1, 2], [2, 1]], columns=["a", "a"])
    with pytest.raises(ra.InputError, match=r"two columns of scores are named 'a'.\nHint"):
        ra.audit.order([1, 0], table, [YAHOO], group_sizes=[2])
