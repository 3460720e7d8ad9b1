"""LightGBM on tables of Arrow, polars and pandas: every adapter returns the same numbers as on arrays."""

import numpy as np
import pytest

import rankadapters as ra

lgb = pytest.importorskip("lightgbm")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

CONVENTION = "textbook@10"
PARAMS = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_leaves": 7, "verbose": -1}
TRAIN, TEST = ra.datasets.mq2008_like(random_state=0)


def columns_by_name(matrix):
    return {f"f{column}": matrix[:, column] for column in range(matrix.shape[1])}


def to_arrow(array):
    return pa.table(columns_by_name(array)) if array.ndim == 2 else pa.chunked_array([array[:7], array[7:]])


def to_polars(array):
    return pl.DataFrame(columns_by_name(array)) if array.ndim == 2 else pl.Series(array)


def to_pandas(array):
    return pd.DataFrame(columns_by_name(array)) if array.ndim == 2 else pd.Series(array)


def datasets(form):
    """Return the training set and the validation set in one form, or skip where this release does not take it."""
    train = lgb.Dataset(form(TRAIN.X), form(TRAIN.labels), group=form(TRAIN.group_sizes), free_raw_data=False)
    test = train.create_valid(form(TEST.X), form(TEST.labels), group=form(TEST.group_sizes))
    try:
        train.construct()
    except (TypeError, lgb.basic.LightGBMError) as error:  # polars, or Arrow's tables without cffi
        pytest.skip(f"LightGBM {lgb.__version__}: {error}")
    return train, test


@pytest.fixture(params=[to_arrow, to_polars, to_pandas], ids=["arrow", "polars", "pandas"])
def form(request):
    return request.param


def test_training_on_a_table_reports_the_values_of_arrays(form):
    def values(form):
        (train, test), log = datasets(form), {}
        lambdarank = ra.lightgbm.lambdarank(CONVENTION, truncation=30)
        params = PARAMS | {"objective": lambdarank, "metric": "none"}
        callbacks = [ra.lightgbm.early_stopping(CONVENTION, rounds=2, verbose=False), lgb.record_evaluation(log)]
        metric = ra.lightgbm.eval_metric(CONVENTION)
        model = lgb.train(params, train, 10, valid_sets=[test], feval=metric, callbacks=callbacks)
        values = [entry.value for entry in ra.History.of(log)]
        score = ra.evaluate(TEST.labels, model.predict(TEST.X), CONVENTION, qid=TEST.qid)
        assert score.value == values[model.best_iteration - 1]
        return values

    assert values(form) == values(np.asarray)


def test_check_model_takes_tables(form):
    train, test = datasets(form)
    model = lgb.train(PARAMS, train, 5)
    report = ra.lightgbm.check_model(model, test, "lightgbm@10")
    array_report = ra.lightgbm.check_model(model, datasets(np.asarray)[1], "lightgbm@10")
    assert report.ok
    assert report.rows[0].our_value == array_report.rows[0].our_value
