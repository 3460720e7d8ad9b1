"""Parameters of `fit` with an entry for each row are sorted and held out with the rows."""

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.errors import InputError
from tests.helpers.rankings import ranking
from tests.helpers.toolkit_rankers import CONV, catboost, lightgbm, sklearn, xgboost

BaseEstimator, TransformerMixin = sklearn.base.BaseEstimator, sklearn.base.TransformerMixin
QueryRanker = ra.sklearn.QueryRanker

DATA = ranking(3, 40)
SCATTERED = np.random.default_rng(1).permutation(DATA.y.size)
MARGIN = np.random.default_rng(2).normal(0, 2, DATA.y.size)


def fitted(model, rows, **columns):
    """Fit on these rows; columns are the caller's for all rows."""
    params = {name: column[rows] for name, column in columns.items()}
    return model.fit(DATA.X[rows], DATA.y[rows], qid=DATA.qid[rows], **params)


def by_query(rows):
    """Return rows sorted by query, in order of first appearance, as QueryRanker sorts them."""
    return rows[ra.Queries(DATA.y[rows], qid=DATA.qid[rows]).rows]


@pytest.mark.parametrize(("make", "name"), [(lightgbm, "init_score"), (xgboost, "base_margin"), (catboost, "baseline")])
def test_a_margin_of_another_length_is_refused(make, name):
    with pytest.raises(InputError, match=rf"{name} has 3 entries but there are {DATA.y.size} rows"):
        QueryRanker(make()).fit(DATA.X, DATA.y, qid=DATA.qid, **{name: MARGIN[:3]})


@pytest.mark.parametrize(
    ("make", "name", "predict"),
    [
        (lightgbm, "eval_init_score", lambda ranker, X: ranker.predict(X) + MARGIN),
        (xgboost, "base_margin_eval_set", lambda ranker, X: ranker.predict(X, base_margin=MARGIN)),
    ],
)
def test_the_margin_of_a_validation_set_counts_in_its_values(make, name, predict):
    """With the features of the training rows, LightGBM would use their margin for the validation set too."""
    model = QueryRanker(make(), eval_metric=CONV)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=(-DATA.X, DATA.y, DATA.qid), **{name: [MARGIN]})
    scores = predict(model.estimator_, -DATA.X)
    assert model.history_[-1].value == ra.evaluate(DATA.y, scores, CONV, qid=DATA.qid).value


def test_the_margin_of_a_validation_set_counts_in_xgboosts_own_metric():
    model = QueryRanker(xgboost(eval_metric="ndcg@3"))
    valid = (-DATA.X, DATA.y, DATA.qid)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=valid, base_margin_eval_set=[MARGIN])
    scores = model.estimator_.predict(-DATA.X, base_margin=MARGIN)
    value = ra.evaluate(DATA.y, scores, "xgboost@3", qid=DATA.qid).value
    assert model.estimator_.evals_result()["validation_0"]["ndcg@3"][-1] == pytest.approx(value, rel=1e-6)


def test_margins_that_do_not_fit_the_sets_are_refused():
    columns = {"qid": DATA.qid, "init_score": MARGIN}
    held_out = QueryRanker(lightgbm(), eval_metric=CONV, validation_fraction=0.3)
    with pytest.raises(InputError, match=r"eval_init_score is for eval_set\.\nHint: init_score="):
        held_out.fit(DATA.X, DATA.y, **columns, eval_init_score=[MARGIN])
    for margins in (MARGIN, MARGIN[None], [MARGIN, MARGIN], []):
        message = r"eval_init_score must be a list with an entry for each of the 1 validation"
        with pytest.raises(InputError, match=message):
            QueryRanker(lightgbm(), eval_metric=CONV).fit(
                DATA.X, DATA.y, **columns, eval_set=(DATA.X, DATA.y, DATA.qid), eval_init_score=margins
            )
    with pytest.raises(InputError, match=r"baseline= has the scores of the training rows alone"):
        QueryRanker(catboost(), eval_metric=CONV).fit(
            DATA.X, DATA.y, qid=DATA.qid, baseline=MARGIN, eval_set=(DATA.X, DATA.y, DATA.qid)
        )


def test_row_numbers_are_refused_unless_rows_keep_their_order():
    pairs = np.array([[0, 1]])
    sizes = np.flatnonzero(DATA.sizes > 1)[:1]
    first = int((np.cumsum(DATA.sizes) - DATA.sizes)[sizes[0]])
    pairs = pairs + first
    model = QueryRanker(catboost(loss_function="PairLogit"))
    model.fit(DATA.X, DATA.y, qid=DATA.qid, pairs=pairs)
    with pytest.raises(InputError, match=r"pairs= names rows by their numbers.* sorts rows by query"):
        fitted(model, SCATTERED, pairs=np.tile(pairs, (DATA.y.size, 1)))
    with pytest.raises(InputError, match=r"pairs= names rows by their numbers.* holds some out"):
        QueryRanker(catboost(), eval_metric=CONV, validation_fraction=0.3).fit(
            DATA.X, DATA.y, qid=DATA.qid, pairs=pairs
        )


def test_subgroups_are_sorted_and_held_out():
    subgroups = np.arange(DATA.y.size) % 3
    options = {"eval_metric": CONV, "validation_fraction": 0.3}
    logs = []
    for rows, ids in ((SCATTERED, subgroups), (by_query(SCATTERED), subgroups), (SCATTERED, subgroups * 0)):
        model = QueryRanker(catboost(custom_metric="PFound"), **options)
        model.fit(DATA.X[rows], DATA.y[rows] / 2, qid=DATA.qid[rows], subgroup_id=ids[rows])
        logs.append(model.estimator_.get_evals_result()["validation"]["PFound"])
    assert logs[0] == logs[1] != logs[2]


class Weighing(TransformerMixin, BaseEstimator):
    """A transformer that records the rows and the weights it is fitted on."""

    def fit(self, X, y=None, sample_weight=None, names=None):
        self.pairs_ = sorted(zip(np.asarray(X)[:, 0].tolist(), np.asarray(sample_weight).tolist(), strict=True))
        self.names_ = names
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize("kind", [np.asarray, list, "pandas", "polars"])
def test_columns_for_transformers_are_sorted_and_held_out_with_the_rows(kind):
    X = np.column_stack([np.arange(DATA.y.size), DATA.X])
    if isinstance(kind, str):
        kind = pytest.importorskip(kind).Series
    for fraction in (None, 0.3):
        eval_metric = None if fraction is None else CONV
        model = QueryRanker(
            sklearn.pipeline.make_pipeline(Weighing(), lightgbm()),
            validation_fraction=fraction,
            eval_metric=eval_metric,
        )
        params = {"weighing__sample_weight": kind(MARGIN[SCATTERED]), "weighing__names": ["a", "b"]}
        model.fit(X[SCATTERED], DATA.y[SCATTERED], qid=DATA.qid[SCATTERED], **params)
        weighing = model.estimator_.steps[0][1]
        assert len(weighing.pairs_) == DATA.y.size if fraction is None else len(weighing.pairs_) < DATA.y.size
        assert all(weight == MARGIN[int(row)] for row, weight in weighing.pairs_)
        assert weighing.names_ == ["a", "b"]


def test_pandas_columns_of_other_rows_are_refused():
    pd = pytest.importorskip("pandas")
    frame, margin = pd.DataFrame(DATA.X), pd.Series(MARGIN, index=SCATTERED)
    with pytest.raises(InputError, match="init_score has a different pandas index"):
        QueryRanker(lightgbm()).fit(frame, DATA.y, qid=DATA.qid, init_score=margin)


def test_columns_of_features_keep_their_entries_even_if_there_are_as_many_rows():
    X, y, qid = np.random.default_rng(0).random((12, 12)), np.tile([0, 1, 2], 4), np.tile([0, 1], 6)
    names = [f"feature_{index}" for index in range(12)]
    model = QueryRanker(lightgbm()).fit(X, y, qid=qid, feature_name=names)
    assert model.estimator_.booster_.feature_name() == names
