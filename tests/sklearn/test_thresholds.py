"""query_scorer where scikit-learn asks a scorer for more than a number per model: thresholds, curves, permutations."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.sklearn_folds import DATA, TEXTBOOK, WEIGHTED, by_hand

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import TunedThresholdClassifierCV, learning_curve, validation_curve  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402

from rankadapters.sklearn import QueryKFold, query_scorer  # noqa: E402

RELEVANT = (DATA.y > 0).astype(int)
TIED = TEXTBOOK.replace(ties="average")
THRESHOLDS = np.array([0.2, 0.4, 0.6])
FOLDS = list(QueryKFold(3).split(DATA.X, RELEVANT, DATA.qid))


def by_threshold(convention, rows=None):
    """Give the mean over the folds of the value at each threshold."""
    values = []
    for train, test in FOLDS:
        probability = GaussianNB().fit(DATA.X[train], RELEVANT[train]).predict_proba(DATA.X[test])[:, 1]
        weights = None if rows is None else rows[test][ra.Queries(RELEVANT[test], qid=DATA.qid[test]).indptr[:-1]]
        queries = ra.Queries(RELEVANT[test], qid=DATA.qid[test], query_weight=weights)
        values.append([ra.evaluate(queries, (probability >= at).astype(int), convention).value for at in THRESHOLDS])
    return np.mean(values, axis=0)


def tuned(scorer, **params):
    return TunedThresholdClassifierCV(
        GaussianNB(), scoring=scorer, thresholds=THRESHOLDS, cv=FOLDS, store_cv_results=True, **params
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_threshold_is_tuned_by_the_declared_measure_and_pickled(n_jobs):
    with sklearn.config_context(enable_metadata_routing=True):
        model = tuned(query_scorer(TIED), n_jobs=n_jobs).fit(DATA.X, RELEVANT, qid=DATA.qid)
        again = pickle.loads(pickle.dumps(model))
    expected = by_threshold(TIED)
    assert model.cv_results_["scores"].tolist() == expected.tolist()
    assert model.best_threshold_ == THRESHOLDS[expected.argmax()]
    assert len(set(expected.tolist())) == 3
    assert again.predict(DATA.X).tolist() == model.predict(DATA.X).tolist()


def test_weights_count_in_the_tuning_of_a_threshold():
    rows = np.repeat(np.arange(1.0, 1 + DATA.sizes.size) % 3 + 1, DATA.sizes)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=False)
        model = tuned(query_scorer(WEIGHTED)).set_params(estimator=inner)
        model.fit(DATA.X, RELEVANT, qid=DATA.qid, sample_weight=rows)
    assert model.cv_results_["scores"].tolist() == by_threshold(WEIGHTED, rows=rows).tolist()


def test_without_routing_an_index_level_of_y_says_the_queries_or_nothing_does():
    y = pd.Series(RELEVANT, index=pd.Index(DATA.qid, name="qid"))
    model = tuned(query_scorer(TIED)).fit(DATA.X, y)
    assert model.cv_results_["scores"].tolist() == by_threshold(TIED).tolist()
    with pytest.raises(ra.InputError, match="got no 'qid'"):
        tuned(query_scorer(TIED)).fit(DATA.X, RELEVANT)


def test_curves_hold_the_declared_values():
    scorer = query_scorer(TEXTBOOK)
    with sklearn.config_context(enable_metadata_routing=True):
        _, _, scores = learning_curve(
            Ridge(), DATA.X, DATA.y, scoring=scorer, cv=FOLDS, train_sizes=[1.0], params={"qid": DATA.qid}
        )
        _, alphas = validation_curve(
            Ridge(), DATA.X, DATA.y, param_name="alpha", param_range=[1.0, 100.0], scoring=scorer, cv=FOLDS,
            params={"qid": DATA.qid},
        )  # fmt: skip
    # A learning curve trains on as many rows as the smallest fold has, so folds of equal rows are trained on whole.
    smallest = min(train.size for train, _ in FOLDS)
    cut = [(train[:smallest], test) for train, test in FOLDS]
    assert scores[0].tolist() == by_hand(TEXTBOOK, cv=cut)
    assert alphas.tolist() == [by_hand(TEXTBOOK, Ridge(alpha=alpha), cv=FOLDS) for alpha in (1.0, 100.0)]


@pytest.mark.parametrize("several", [False, True])
def test_permutations_are_scored_by_index_or_by_whole(several):
    frame = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    conventions = [TEXTBOOK, WEIGHTED] if several else TEXTBOOK
    drops = []
    for X, whole in ((frame, None), (DATA.X, DATA.qid)):
        model = clone(Ridge()).fit(X, DATA.y)
        scoring = query_scorer(conventions, whole=whole)
        result = permutation_importance(model, X, DATA.y, scoring=scoring, n_repeats=2, random_state=0)
        drops.append(result[TEXTBOOK.name]["importances"] if several else result["importances"])
    assert np.array_equal(*drops)
    assert drops[0].any()
