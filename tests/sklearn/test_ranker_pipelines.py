"""QueryRanker around a pipeline, as the last step of one, and around nested pipelines."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, TransformerMixin  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import QueryRanker  # noqa: E402
from tests.helpers.ranker_rows import CONV, DATA, FRAME, NAMES, WEIGHTS  # noqa: E402 - after the skip


class RecordingTransformer(TransformerMixin, BaseEstimator):
    """Stores the rows and weights that its fit gets, and changes nothing."""

    def fit(self, X, y=None, sample_weight=None):
        self.seen_ = X
        self.sample_weight_ = sample_weight
        return self

    def transform(self, X):
        return X


def test_the_transformers_of_a_pipeline_never_see_the_ids():
    X = FRAME.assign(session=DATA.qid)
    model = QueryRanker(make_pipeline(RecordingTransformer(), StandardScaler(), Ridge()), qid="session").fit(X, DATA.y)
    transformer = model.estimator_[0]
    assert transformer.seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    np.testing.assert_allclose(model.predict(X), by_hand.predict(FRAME), atol=1e-12)
    assert (model.coef_ == model.estimator_[-1].coef_).all()


def test_a_nested_pipeline_keeps_memory_and_set_output(tmp_path):
    inner = make_pipeline(RecordingTransformer(), Ridge())
    outer = make_pipeline(StandardScaler(), inner, memory=str(tmp_path)).set_output(transform="pandas")
    model = QueryRanker(outer).fit(FRAME, DATA.y, qid=DATA.qid)
    assert model.estimator_[-1][0].seen_.columns.tolist() == NAMES
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(FRAME, DATA.y)
    assert (model.predict(FRAME) == by_hand.predict(FRAME)).all()


def test_a_ranker_may_be_the_last_step_of_a_pipeline(metadata_routing):
    model = make_pipeline(StandardScaler(), QueryRanker(Ridge(), convention=CONV)).fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), CONV, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=DATA.qid) == expected


def test_a_transformer_gets_the_weights_that_it_requests(metadata_routing):
    for requests_weights in (True, False):
        transformer = RecordingTransformer().set_fit_request(sample_weight=requests_weights)
        model = QueryRanker(make_pipeline(transformer, Ridge())).fit(DATA.X, DATA.y, sample_weight=WEIGHTS)
        assert (model.estimator_[0].sample_weight_ is not None) == requests_weights
        assert (model.coef_ == Ridge().fit(DATA.X, DATA.y, WEIGHTS).coef_).all()


def test_a_step_that_changes_the_rows_is_refused():
    class HalvingTransformer(RecordingTransformer):
        def transform(self, X):
            return X[::2]

    with pytest.raises(ra.InputError, match=r"a step of the pipeline made \d+ rows of \d+, .*\nHint: sample rows"):
        QueryRanker(make_pipeline(HalvingTransformer(), Ridge())).fit(DATA.X, DATA.y, qid=DATA.qid)
