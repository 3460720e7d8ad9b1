"""`xgboost.custom_metric` where only XGBoost calls it so: numbers of queries, names in its log, and copies.

What holds of LightGBM's metric too is in `tests/callbacks`.
"""

from __future__ import annotations

import copy

import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_matrices import LETOR, PARAMS, TEXTBOOK, dmatrix, train  # noqa: E402 - after the skip

DATA = ranking(6)


class Cut(xgb.DataIter):
    """Batches that cut a query in two."""

    def __init__(self, data):
        super().__init__()
        self.data, self.number = data, 0

    def next(self, input_data):
        if self.number == 2:
            return False
        half = self.data.sizes[0] + self.data.sizes[1] // 2  # inside the second query
        rows = (slice(0, half), slice(half, None))[self.number]
        input_data(data=self.data.X[rows], label=self.data.y[rows], qid=self.data.qid[rows])
        self.number += 1
        return True

    def reset(self):
        self.number = 0


CUT = r"'valid' has 31 queries, not n_queries=30: some are cut\.\nHint: sort by qid, and end each batch of a DataIter"


def test_queries_that_a_data_iter_cuts_are_refused():
    assert DATA.sizes[1] > 1
    whole, cut = dmatrix(DATA), xgb.DMatrix(Cut(DATA))
    for n_queries in (30, {"valid": 30}):
        metric = ra.xgboost.custom_metric(TEXTBOOK, n_queries=n_queries)
        train({}, whole, 1, evals=[(whole, "valid")], custom_metric=metric)
        with pytest.raises(ra.InputError, match=CUT):
            train({}, whole, 1, evals=[(cut, "valid")], custom_metric=metric)
        ra.xgboost.EvalCallback(TEXTBOOK, [(whole, "valid")], n_queries=n_queries)
        with pytest.raises(ra.InputError, match=CUT):
            ra.xgboost.EvalCallback(TEXTBOOK, [(cut, "valid")], n_queries=n_queries)
    with pytest.raises(ra.InputError, match="the data has 31 queries, not n_queries=30"):
        ra.xgboost.custom_metric(TEXTBOOK, n_queries=30)(DATA.X[:, 0], cut)


@pytest.mark.parametrize("n_queries", [30, {"valid": 30, "test": 3}])
def test_a_number_of_queries_is_of_a_set_that_there_is(n_queries):
    data = dmatrix(DATA)
    sets, said = [(data, "train"), (data, "valid")], r"does not say of which of \['train', 'valid'\]"
    metric = ra.xgboost.custom_metric(TEXTBOOK, n_queries=n_queries)
    with pytest.raises(ra.InputError, match=said):
        train({}, data, 1, evals=sets, custom_metric=metric)
    with pytest.raises(ra.InputError, match=said):
        ra.xgboost.EvalCallback(TEXTBOOK, sets, n_queries=n_queries)


@pytest.mark.parametrize("n_queries", [0, 2.0, "3", True, {"valid": None}])
def test_a_number_of_queries_is_whole(n_queries):
    with pytest.raises(ra.InputError, match="allowed are whole numbers from 1 on, or a mapping"):
        ra.xgboost.custom_metric(LETOR, n_queries=n_queries)
    with pytest.raises(ra.InputError, match="allowed are whole numbers from 1 on, or a mapping"):
        ra.xgboost.EvalCallback(LETOR, [(dmatrix(DATA), "valid")], n_queries=n_queries)


def test_the_folds_of_cv_have_no_declared_number_of_queries():
    metric = ra.xgboost.custom_metric(TEXTBOOK, n_queries=30)
    with pytest.raises(ra.InputError, match=r"n_queries= is not for xgb\.cv.*\nHint: compare len\(dmatrix\.get_group"):
        xgb.cv(PARAMS, dmatrix(DATA), 1, nfold=2, custom_metric=metric)


def test_every_kind_of_dmatrix_tells_its_groups():
    quantile = xgb.QuantileDMatrix(DATA.X, label=DATA.y, qid=DATA.qid)
    metric = ra.xgboost.custom_metric(TEXTBOOK)
    assert metric(DATA.X[:, 0], quantile) == metric(DATA.X[:, 0], dmatrix(DATA))


def test_xgbranker_is_pointed_to_the_callback():
    ranker = xgb.XGBRanker(n_estimators=1, eval_metric=ra.xgboost.custom_metric(LETOR), n_jobs=1)
    message = r"one query at a time(.|\n)*Hint: XGBRanker\(callbacks=\[ra.xgboost.EvalCallback"
    with pytest.raises(ra.InputError, match=message):
        ranker.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[(DATA.X, DATA.y)], eval_qid=[DATA.qid])


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a:b"])
def test_names_that_xgboost_would_cut_are_refused(bad):
    evals = [(dmatrix(DATA), "x")]
    for call in (
        ra.xgboost.custom_metric,
        lambda *a, **k: ra.xgboost.EvalCallback(*a, evals, **k),
        ra.xgboost.global_eval,
    ):
        with pytest.raises(ra.ConventionError, match="has a space, tab or colon"):
            call(LETOR, names=[bad])


def test_every_presets_name_survives_the_log():
    data, result = dmatrix(DATA), {}
    several = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (5, None)]
    several = [c for c in dict.fromkeys(several) if "docid" not in c.ties and c.empty != "error"]
    several += [ra.presets.xgboost(5, ndcg_exp_gain=False, minus=True), TEXTBOOK.replace(empty=0.5)]
    train({}, data, 1, evals=[(data, "train")], custom_metric=ra.xgboost.custom_metric(several), evals_result=result)
    assert list(result["train"]) == [convention.name for convention in several]


def test_a_deep_copy_starts_empty_and_works():
    metric, data = ra.xgboost.custom_metric(LETOR, names=["mine"]), dmatrix(DATA)
    found = metric(DATA.X[:, 0], data)
    again = copy.deepcopy(metric)
    assert again.history == []
    assert again(DATA.X[:, 0], data) == found


def test_early_stopping_returns_the_best_model_when_told():
    one, two, result = dmatrix(ranking(20, 60)), dmatrix(ranking(21, 40)), {}
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, save_best=True)
    booster = train({"eta": 1.0}, one, 80, evals=[(one, "train"), (two, "valid")], evals_result=result,
                    custom_metric=ra.xgboost.custom_metric(TEXTBOOK), callbacks=[stop])  # fmt: skip
    values = result["valid"][TEXTBOOK.name]
    assert booster.num_boosted_rounds() == values.index(max(values)) + 1 < len(values)
