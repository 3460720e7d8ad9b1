"""`OptunaSearchCV` routes qid to our scorer, splitter and ranker, as docs/sklearn.md says."""

import pytest

import rankadapters as ra

pytest.importorskip("sklearn")
integration = pytest.importorskip("optuna_integration")

from optuna.distributions import FloatDistribution  # noqa: E402 - after the skip
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import cross_val_score  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryRanker, query_scorer  # noqa: E402
from tests.sklearn.folds import DATA, TEXTBOOK  # noqa: E402


@pytest.mark.filterwarnings("ignore:OptunaSearchCV", "ignore::FutureWarning:optuna")  # experimental
def test_a_search_of_optuna_scores_queries_by_the_convention(metadata_routing):
    ranker, scorer, folds = QueryRanker(Ridge()), query_scorer(TEXTBOOK), QueryKFold(3)
    space = {"estimator__alpha": FloatDistribution(0.1, 10)}
    search = integration.OptunaSearchCV(ranker, space, scoring=scorer, cv=folds, n_trials=2, random_state=0, verbose=0)
    search.fit(DATA.X, DATA.y, qid=DATA.qid)
    best = ranker.set_params(**search.best_params_)
    scores = cross_val_score(best, DATA.X, DATA.y, scoring=scorer, cv=folds, params={"qid": DATA.qid})
    assert search.best_score_ == pytest.approx(scores.mean())
    fitted = scorer(search.best_estimator_, DATA.X, DATA.y, qid=DATA.qid)
    assert fitted == ra.evaluate(DATA.y, search.predict(DATA.X), TEXTBOOK, qid=DATA.qid).value
