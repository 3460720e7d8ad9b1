"""Weights that a convention would ignore are refused wherever they are passed for scoring."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking
from tests.helpers.toolkit_rankers import sklearn

DATA = ranking(3, 20)
WEIGHTS = np.repeat(np.arange(1.0, 21.0), DATA.sizes)
UNIFORM = ra.presets.textbook(5)
WEIGHTED = UNIFORM.replace(average="query")
REFUSED = r"sample_weight was given but the convention says average='uniform', which would ignore it\.\nHint: "


def ridge(convention):
    estimator = sklearn.linear_model.Ridge().set_fit_request(sample_weight=True)
    return ra.sklearn.QueryRanker(estimator, convention=convention).fit(DATA.X, DATA.y)


def learner(convention):
    pytest.importorskip("numba")
    return ra.learners.RankSVM(convention=convention).fit(DATA.X, DATA.y, qid=DATA.qid)


def score(model, convention, **columns):
    return model.score(DATA.X, DATA.y, **columns)


def scorer(model, convention, **columns):
    return ra.sklearn.query_scorer(convention)(model, DATA.X, DATA.y, **columns)


@pytest.fixture(autouse=True)
def _metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("call", [score, scorer])
@pytest.mark.parametrize("make", [ridge, learner])
def test_weights_that_a_convention_ignores_are_refused(make, call):
    with pytest.raises(ra.InputError, match=REFUSED):
        call(make(UNIFORM), UNIFORM, qid=DATA.qid, sample_weight=WEIGHTS)
    plain, weighted = (call(make(WEIGHTED), WEIGHTED, qid=DATA.qid, sample_weight=w) for w in (None, WEIGHTS))
    assert plain != weighted


@pytest.mark.parametrize("make", [ridge, learner])
def test_a_cross_validation_asks_for_a_request_if_the_score_would_ignore_weights(make):
    model, params = make(UNIFORM), {"qid": DATA.qid, "sample_weight": WEIGHTS}
    options = {"X": DATA.X, "y": DATA.y, "cv": ra.sklearn.QueryKFold(3), "params": params}
    with pytest.raises(ValueError, match=r"\[sample_weight\] are passed .*set_score_request"):
        sklearn.model_selection.cross_validate(model, **options)
    for_fit_alone = sklearn.model_selection.cross_validate(model.set_score_request(sample_weight=False), **options)
    scored = sklearn.model_selection.cross_validate(make(UNIFORM), scoring=ra.sklearn.query_scorer(UNIFORM), **options)
    assert for_fit_alone["test_score"].tolist() == scored["test_score"].tolist()
    weighted = sklearn.model_selection.cross_validate(make(WEIGHTED), **options)
    assert weighted["test_score"].tolist() != scored["test_score"].tolist()


def test_a_pipeline_scores_without_weights():
    model = sklearn.pipeline.make_pipeline(ridge(UNIFORM)).fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=WEIGHTS)
    expected = ra.evaluate(DATA.y, model.predict(DATA.X), UNIFORM, qid=DATA.qid).value
    assert model.score(DATA.X, DATA.y, qid=DATA.qid) == expected
