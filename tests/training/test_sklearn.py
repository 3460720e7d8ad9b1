"""Searches, cross-validations and stacking: what may be combined, and what must happen.

By hand, a clone of the estimator is fitted on the rows of each fold, and `ra.evaluate` scores its predictions.
"""

import copy
from functools import partial

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers import toolkit_rankers
from tests.training.training_table import EQUAL, LOSS, MAP, NDCG, Error, Row, cases, check, generated, pickled, same

joblib, pd = (pytest.importorskip(name) for name in ("joblib", "pandas"))
sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import StackingRegressor  # noqa: E402
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.sklearn import (  # noqa: E402 - after the skips
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    StratifiedQueryKFold,
    query_scorer,
)

DATA = generated(3, 24).scattered()
BINARY = generated(4, 24, "binary").scattered()
EMPTY = generated(5, 24, "empty").scattered()
WEIGHTED = MAP
N_FOLDS = 3


# Estimators


def lightgbm(**params):
    lgb = pytest.importorskip("lightgbm")
    fixed = {"n_estimators": 5, "num_leaves": 7, "min_child_samples": 5, "n_jobs": 1, "verbosity": -1}
    return lgb.LGBMRanker(**{**fixed, **params})


def xgboost(**params):
    return toolkit_rankers.xgboost(**{"n_estimators": 5, "max_depth": 3, **params})


def catboost(**params):
    return toolkit_rankers.catboost(**{"iterations": 5, "depth": 3, **params})


def stopping_xgboost():
    valid = generated(6)
    watch = ra.xgboost.EvalCallback(NDCG, [((valid.X, valid.y, valid.qid), "valid")])
    return xgboost(n_estimators=40, callbacks=[watch, ra.xgboost.early_stopping(NDCG, 4)])


def fitted_xgboost():
    rows = DATA.in_order()
    return stopping_xgboost().fit(rows.X, rows.y, qid=rows.qid, verbose=False)


def weighted_ridge():
    return Ridge().set_fit_request(sample_weight=True)


ESTIMATORS = {
    "Ridge": Ridge,
    "weighted Ridge": weighted_ridge,
    "LGBMRanker": lambda: QueryRanker(lightgbm()),
    "XGBRanker": lambda: QueryRanker(xgboost()),
    "CatBoostRanker": lambda: QueryRanker(catboost()),
    "LGBMRanker with margins": lambda: QueryRanker(lightgbm().set_fit_request(init_score=True)),
    "stopped LGBMRanker": lambda: QueryRanker(
        lightgbm(n_estimators=40, early_stopping_rounds=4), eval_metric=NDCG, validation_fraction=0.3
    ),
    "stopping XGBRanker": lambda: QueryRanker(stopping_xgboost()),
    "fitted XGBRanker": lambda: QueryRanker(fitted_xgboost()),
    "declared objective": lambda: QueryRanker(lightgbm(), objective="lightgbm.lambdarank"),
    "pipeline inside": lambda: QueryRanker(make_pipeline(StandardScaler(), lightgbm())),
    "pipeline outside": lambda: make_pipeline(StandardScaler(), QueryRanker(lightgbm())),
    "LogisticRegression": LogisticRegression,
}
GRIDS = {
    "Ridge": {"alpha": [0.1, 1e4]},
    "weighted Ridge": {"alpha": [0.1, 1e4]},
    "pipeline inside": {"estimator__lgbmranker__num_leaves": [2, 15]},
    "pipeline outside": {"queryranker__estimator__num_leaves": [2, 15]},
    "LogisticRegression": {"C": [1e-4, 1.0]},
    "CatBoostRanker": {"estimator__depth": [1, 4]},
    "XGBRanker": {"estimator__max_depth": [1, 4]},
    "fitted XGBRanker": {"estimator__max_depth": [1, 4]},
}


# Runners


def scores_of(model, X):
    """Return the scores of rows: those of the positive class, the expected grade, or predictions."""
    if isinstance(model, LogisticRegression) and len(model.classes_) == 2:
        return model.decision_function(X)
    return model.predict_proba(X) @ model.classes_ if hasattr(model, "classes_") else model.predict(X)


def by_hand(name, **params):
    return ESTIMATORS[{"fitted XGBRanker": "stopping XGBRanker"}.get(name, name)]().set_params(**params)


def fit_alone(model, rows, *, weighted, margin):
    """Fit an estimator outside of searches: qid is for who asks for it, and rows with margins are in order."""
    rows = rows.in_order() if margin else rows
    columns = {} if isinstance(model, (Ridge, LogisticRegression)) else {"qid": rows.qid}
    return model.fit(rows.X, rows.y, **columns, **metadata_of(rows, weighted=weighted, margin=margin))


def metadata_of(rows, *, weighted, margin):
    columns = {"sample_weight": rows.row_weight} if weighted else {}
    return columns | ({"init_score": rows.margin} if margin else {})


def worths(make, data, cv, measure, *, weighted=False, margin=False):
    """Fit a new estimator on each fold, and return the values of the measure, negated if lower is better."""
    values = []
    for fitted, held in cv.split(data.X, data.y, data.qid):
        rows = data.take(held)
        model = fit_alone(make(), data.take(fitted), weighted=weighted, margin=margin)
        values.append(ra.parse(measure).worth(rows.value(scores_of(model, rows.X), measure, weighted=weighted)))
    return values


def cross_validation(
    *, data=DATA, estimator="Ridge", measures=(NDCG,), cv=None, change=None, threads=1, weighted=False, margin=False
):
    cv, columns = cv or QueryKFold(N_FOLDS), {"weighted": weighted, "margin": margin}
    params, scoring = {"qid": data.qid, **metadata_of(data, **columns)}, query_scorer([*measures])
    scoring = {name: change(scorer) for name, scorer in scoring.items()} if change else scoring
    with joblib.parallel_backend("threading", n_jobs=threads):
        results = cross_validate(
            ESTIMATORS[estimator](), data.X, data.y, scoring=scoring, cv=cv, params=params, error_score="raise",
        )  # fmt: skip
    for measure in measures:
        reported = results[f"test_{ra.parse(measure).name}"].tolist()
        expected = worths(partial(by_hand, estimator), data, cv, measure, **columns)
        same(measure, reported, expected)


def search(
    *,
    kind,
    data=DATA,
    estimator="LGBMRanker",
    measures=(NDCG,),
    watched=NDCG,
    options=None,
    weighted=False,
    margin=False,
):
    """Search the better of two candidates; the watched measure chooses among several."""
    cv, columns, several = QueryKFold(N_FOLDS), {"weighted": weighted, "margin": margin}, len(measures) > 1
    watched = watched if several else measures[0]
    suffix = ra.parse(watched).name if several else "score"
    found = kind(
        ESTIMATORS[estimator](), GRIDS.get(estimator, {"estimator__num_leaves": [2, 15]}), cv=cv, error_score="raise",
        scoring=query_scorer([*measures] if several else watched), refit=suffix if several else True, **options or {},
    )  # fmt: skip
    found.fit(data.X, data.y, qid=data.qid, **metadata_of(data, **columns))
    means = []
    for index, params in enumerate(found.cv_results_["params"]):
        expected = worths(partial(by_hand, estimator, **params), data, cv, watched, **columns)
        reported = [found.cv_results_[f"split{fold}_test_{suffix}"][index] for fold in range(N_FOLDS)]
        same(f"the values of {params}", reported, expected)
        means.append(np.mean(expected))
    assert len({*means}) == len(means), "two candidates are equal, so that neither is chosen"
    if kind is not HalvingGridSearchCV:  # which chooses among those of the last iteration
        same("the chosen candidate", found.best_index_, int(np.argmax(means)))
    best = fit_alone(by_hand(estimator, **found.best_params_), data, **columns)
    same("the refitted model", found.predict(data.X).tolist(), best.predict(data.X).tolist())


def nested():
    outer, inner, alphas = QueryKFold(4), QueryKFold(N_FOLDS), [0.1, 1e4]
    search = GridSearchCV(Ridge(), {"alpha": alphas}, scoring=query_scorer(NDCG), cv=inner, error_score="raise")
    params = {"qid": DATA.qid}
    reported = cross_val_score(search, DATA.X, DATA.y, scoring=query_scorer(NDCG), cv=outer, params=params)
    expected = []
    for fitted, held in outer.split(DATA.X, DATA.y, DATA.qid):
        part, rows = DATA.take(fitted), DATA.take(held)
        means = [np.mean(worths(partial(Ridge, alpha=alpha), part, inner, NDCG)) for alpha in alphas]
        model = Ridge(alpha=alphas[int(np.argmax(means))]).fit(part.X, part.y)
        expected.append(rows.value(model.predict(rows.X), NDCG))
    same("the values", reported.tolist(), expected)


def stacking(cv, base):
    """Stack one model: the last one learns from predictions on held out queries."""
    stacked = StackingRegressor([("base", QueryRanker(base()))], QueryRanker(Ridge()), cv=cv)
    stacked.fit(DATA.X, DATA.y, qid=DATA.qid)
    column = np.empty(DATA.y.size)
    for fitted, held in cv.split(DATA.X, DATA.y, DATA.qid):
        column[held] = base().fit(DATA.X[fitted], DATA.y[fitted]).predict(DATA.X[held])
    whole = base().fit(DATA.X, DATA.y).predict(DATA.X)
    last = Ridge().fit(column[:, None], DATA.y)
    same("the predictions", stacked.predict(DATA.X).tolist(), last.predict(whole[:, None]).tolist())


def by_index():
    """Cross-validate without metadata routing: ids are an index level of X, and groups= of the splitter."""
    frame, cv = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid")), QueryKFold(N_FOLDS)
    with sklearn.config_context(enable_metadata_routing=False):
        reported = cross_val_score(Ridge(), frame, DATA.y, scoring=query_scorer(NDCG), cv=cv, groups=DATA.qid)
    same("the values", reported.tolist(), worths(Ridge, DATA, cv, NDCG))


def call(run):
    run()


def equal_rows(classifier):
    """Predict many equal rows by a classifier of four grades: they tie, wherever they are."""
    model = QueryRanker(classifier).fit(DATA.X, DATA.y, qid=DATA.qid)
    for n_rows in range(2, 60):
        scores = model.predict(np.tile(DATA.X[n_rows], (n_rows, 1)))
        same(f"the scores of {n_rows} equal rows", scores.tolist(), [scores[0]] * n_rows)


def one_large_query():
    """Train a declared objective on a query of more rows than LightGBM's own objectives and metrics take."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((10_050, 2)), rng.integers(0, 3, 10_050), np.zeros(10_050, int)
    ranker = QueryRanker(lightgbm(n_estimators=1), objective="lightgbm.lambdarank", eval_metric=NDCG)
    ranker.fit(X, y, qid=qid, eval_set=(DATA.X[:, :2], DATA.y, DATA.qid))
    same("the value", ranker.history_[-1].value, DATA.value(ranker.predict(DATA.X[:, :2]), NDCG))
    QueryRanker(lightgbm(n_estimators=1), objective="lightgbm.lambdarank").fit(X, y, qid=qid)


def parameters(make):
    """Fit a ranker; it has the parameters of one that was not fitted."""
    valid = generated(6)
    fitted = QueryRanker(make(), eval_metric=NDCG).fit(
        DATA.X, DATA.y, qid=DATA.qid, eval_set=(valid.X, valid.y, valid.qid)
    )
    same("the parameters", repr(fitted.estimator_.get_params()), repr(make().get_params()))


RUNNERS = {
    "cross_validate": cross_validation,
    "GridSearchCV": partial(search, kind=GridSearchCV),
    "RandomizedSearchCV": partial(search, kind=RandomizedSearchCV, options={"n_iter": 2, "random_state": 0}),
    "HalvingGridSearchCV": partial(search, kind=HalvingGridSearchCV),
    "nested cross-validation": nested,
    "StackingRegressor": stacking,
    "cross_val_score": by_index,
    "call": call,
    "QueryRanker.predict": equal_rows,
    "QueryRanker(LGBMRanker)": one_large_query,
    "QueryRanker": parameters,
}


# The table

RANKERS = ("LGBMRanker", "XGBRanker", "CatBoostRanker")
SEARCHES = "GridSearchCV | RandomizedSearchCV"


ROWS = [
    # Cross-validation
    *(Row("cross_validate", f"QueryRanker({name}) on scattered rows", EQUAL, estimator=name) for name in RANKERS),
    *(Row("cross_validate", f"QueryRanker({name}), weights, and a loss", EQUAL, estimator=name, weighted=True,
          measures=(WEIGHTED, LOSS), long=name != "LGBMRanker") for name in RANKERS),
    *(Row("cross_validate", f"a {name}", EQUAL, estimator=name, measures=(NDCG, MAP, LOSS), long=name != "Ridge")
      for name in ("Ridge", "stopped LGBMRanker", "declared objective", "pipeline inside", "pipeline outside")),
    Row("cross_validate", "a regressor that takes weights", EQUAL, estimator="weighted Ridge", weighted=True,
        measures=(WEIGHTED,)),
    Row("cross_validate", "a classifier of two classes", EQUAL, estimator="LogisticRegression", data=BINARY,
        measures=(MAP,)),
    Row("cross_validate", "a classifier of four classes", EQUAL, estimator="LogisticRegression"),
    Row("cross_validate", "queries with nothing relevant", EQUAL, data=EMPTY, measures=(NDCG, MAP)),
    *(Row("cross_validate", f"{type(cv).__name__}", EQUAL, cv=cv)
      for cv in (QueryShuffleSplit(3, random_state=0), StratifiedQueryKFold(3))),
    *(Row("cross_validate", f"{name} of the scorers", EQUAL, change=change, long=change is not pickled)
      for name, change in (("a copy", copy.copy), ("a deep copy", copy.deepcopy), ("a pickle", pickled),
                           ("a clone", partial(clone, safe=False)))),
    Row("cross_validate", "two threads", EQUAL, estimator="LGBMRanker", threads=2),
    Row("cross_validate", "an XGBRanker that was fitted before, with early stopping", EQUAL,
        estimator="fitted XGBRanker"),
    Row("cross_validate", "margins that are routed", EQUAL, estimator="LGBMRanker with margins", margin=True),
    Row("cross_val_score", "ids as an index level, without metadata routing", EQUAL),
    # Searches
    *(Row(SEARCHES, f"QueryRanker({name})", EQUAL, estimator=name, long=name != "XGBRanker") for name in RANKERS),
    *(Row(SEARCHES, f"a {name}", EQUAL, estimator=name, long=name != "Ridge") for name in (
        "Ridge", "pipeline inside", "pipeline outside", "stopped LGBMRanker", "declared objective")),
    Row(SEARCHES, "an XGBRanker that was fitted before, with early stopping", EQUAL,
        estimator="fitted XGBRanker"),
    Row("GridSearchCV", "a loss", EQUAL, measures=(LOSS,)),
    Row("GridSearchCV", "two measures, of which the second refits", EQUAL, measures=(NDCG, LOSS), watched=LOSS),
    Row("GridSearchCV", "weights", EQUAL, long=True, measures=(WEIGHTED,), weighted=True),
    Row("GridSearchCV", "weights of a regressor", EQUAL, measures=(WEIGHTED,), weighted=True,
        estimator="weighted Ridge"),
    Row("GridSearchCV", "margins that are routed", EQUAL, estimator="LGBMRanker with margins", margin=True),
    Row("GridSearchCV", "a classifier", EQUAL, long=True, estimator="LogisticRegression", data=BINARY, measures=(MAP,)),
    Row("HalvingGridSearchCV", "rounds as resource", EQUAL,
        options={"resource": "estimator__n_estimators", "min_resources": 2, "max_resources": 6}),
    Row("nested cross-validation", "a search of Ridge", EQUAL),
    # Stacking
    Row("StackingRegressor", "QueryKFold", EQUAL, cv=QueryKFold(3), base=Ridge),
    Row("StackingRegressor", "QueryKFold that shuffles", EQUAL, cv=QueryKFold(3, shuffle=True, random_state=0),
        base=Ridge),
    Row("StackingRegressor", "a QueryRanker(LGBMRanker)", Error("should be a regressor", ValueError), cv=QueryKFold(3),
        base=lightgbm),
    # QueryRanker alone
    *(Row("QueryRanker.predict", f"equal rows tie under {type(classifier).__name__}", EQUAL, classifier=classifier)
      for classifier in (LogisticRegression(), GaussianNB())),
    Row("QueryRanker(LGBMRanker)", "a query of 10,050 rows and a declared objective", EQUAL),
    *(Row("QueryRanker", f"the parameters of {make.__name__} after a fit", EQUAL, make=make)
      for make in (lightgbm, xgboost, catboost)),
    # What is refused
    Row("call", "a scorer and weights that vary within a query", Error("varies within query"),
        run=lambda: query_scorer(WEIGHTED)(Ridge().fit(DATA.X, DATA.y), DATA.X, DATA.y, qid=DATA.qid,
                                           sample_weight=np.arange(DATA.y.size))),
    Row("call", "QueryRanker.fit without ids", Error("got no qid"),
        run=lambda: QueryRanker(lightgbm()).fit(DATA.X, DATA.y)),
    Row("call", "an objective of a regressor", Error("takes neither an objective"),
        run=lambda: QueryRanker(Ridge(), objective="lightgbm.lambdarank").fit(DATA.X, DATA.y, qid=DATA.qid)),
    Row("call", "eval_metric without validation queries", Error("no validation queries"),
        run=lambda: QueryRanker(lightgbm(), eval_metric=NDCG).fit(DATA.X, DATA.y, qid=DATA.qid)),
]  # fmt: skip


@pytest.mark.usefixtures("metadata_routing")
@pytest.mark.parametrize(("row", "runner"), cases(ROWS, RUNNERS))
def test_a_training_does_what_its_row_says(row, runner):
    check(row, partial(runner, **row.settings))
