"""`query_scorer` in scikit-learn's threshold tuning, learning and validation curves, and permutation importance."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra
from tests.helpers.sklearn_folds import DATA, TEXTBOOK, WEIGHTED, values_by_fold

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


def mean_values_by_threshold(convention, row_weights=None):
    """Return the mean over the folds of the value at each threshold."""
    values = []
    for train, test in FOLDS:
        probability = GaussianNB().fit(DATA.X[train], RELEVANT[train]).predict_proba(DATA.X[test])[:, 1]
        starts = ra.Queries(RELEVANT[test], qid=DATA.qid[test]).indptr[:-1]
        weights = None if row_weights is None else row_weights[test][starts]
        queries = ra.Queries(RELEVANT[test], qid=DATA.qid[test], query_weight=weights)
        predictions = [(probability >= threshold).astype(int) for threshold in THRESHOLDS]
        values.append([ra.evaluate(queries, prediction, convention).value for prediction in predictions])
    return np.mean(values, axis=0)


def tuned_classifier(scorer, **params):
    return TunedThresholdClassifierCV(
        GaussianNB(), scoring=scorer, thresholds=THRESHOLDS, cv=FOLDS, store_cv_results=True, **params
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_threshold_is_tuned_by_the_declared_measure_and_can_be_pickled(n_jobs):
    with sklearn.config_context(enable_metadata_routing=True):
        model = tuned_classifier(query_scorer(TIED), n_jobs=n_jobs).fit(DATA.X, RELEVANT, qid=DATA.qid)
        unpickled = pickle.loads(pickle.dumps(model))
    expected = mean_values_by_threshold(TIED)
    assert model.cv_results_["scores"].tolist() == expected.tolist()
    assert model.best_threshold_ == THRESHOLDS[expected.argmax()]
    assert len(set(expected.tolist())) == 3
    assert unpickled.predict(DATA.X).tolist() == model.predict(DATA.X).tolist()


def test_weights_count_in_the_tuning_of_a_threshold():
    row_weights = np.repeat(np.arange(1.0, 1 + DATA.sizes.size) % 3 + 1, DATA.sizes)
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = GaussianNB().set_fit_request(sample_weight=False)
        model = tuned_classifier(query_scorer(WEIGHTED)).set_params(estimator=classifier)
        model.fit(DATA.X, RELEVANT, qid=DATA.qid, sample_weight=row_weights)
    assert model.cv_results_["scores"].tolist() == mean_values_by_threshold(WEIGHTED, row_weights=row_weights).tolist()


def test_without_routing_an_index_level_of_y_must_give_the_query_ids():
    y = pd.Series(RELEVANT, index=pd.Index(DATA.qid, name="qid"))
    model = tuned_classifier(query_scorer(TIED)).fit(DATA.X, y)
    assert model.cv_results_["scores"].tolist() == mean_values_by_threshold(TIED).tolist()
    with pytest.raises(ra.InputError, match="got no 'qid'"):
        tuned_classifier(query_scorer(TIED)).fit(DATA.X, RELEVANT)


def test_curves_have_the_declared_values():
    scorer = query_scorer(TEXTBOOK)
    with sklearn.config_context(enable_metadata_routing=True):
        _, _, scores = learning_curve(
            Ridge(), DATA.X, DATA.y, scoring=scorer, cv=FOLDS, train_sizes=[1.0], params={"qid": DATA.qid}
        )
        _, alpha_scores = validation_curve(
            Ridge(), DATA.X, DATA.y, param_name="alpha", param_range=[1.0, 100.0], scoring=scorer, cv=FOLDS,
            params={"qid": DATA.qid},
        )  # fmt: skip
    # A learning curve trains every fold on as many rows as the smallest fold has.
    smallest = min(train.size for train, _ in FOLDS)
    cut_folds = [(train[:smallest], test) for train, test in FOLDS]
    assert scores[0].tolist() == values_by_fold(TEXTBOOK, cv=cut_folds)
    assert alpha_scores.tolist() == [values_by_fold(TEXTBOOK, Ridge(alpha=alpha), cv=FOLDS) for alpha in (1.0, 100.0)]


@pytest.mark.parametrize("in_list", [False, True])
def test_permutation_importance_takes_ids_from_the_index_or_from_whole(in_list):
    frame = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    conventions = [TEXTBOOK, WEIGHTED] if in_list else TEXTBOOK
    importances = []
    for X, whole in ((frame, None), (DATA.X, DATA.qid)):
        model = clone(Ridge()).fit(X, DATA.y)
        scoring = query_scorer(conventions, whole=whole)
        result = permutation_importance(model, X, DATA.y, scoring=scoring, n_repeats=2, random_state=0)
        importances.append(result[TEXTBOOK.name]["importances"] if in_list else result["importances"])
    assert np.array_equal(*importances)
    assert importances[0].any()
