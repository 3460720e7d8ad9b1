"""check_parity of LightGBM, XGBoost and scikit-learn, and check_model of the first two."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking
from tests.tables import for_each

TOOLKITS = ("sklearn", "lightgbm", "xgboost", "catboost")
ROUNDS = 4


def checker(toolkit):
    pytest.importorskip(toolkit)
    return getattr(ra, toolkit).check_parity


@pytest.mark.parametrize("toolkit", TOOLKITS)
def test_interleaved_weighted_queries_with_any_ids_agree(toolkit):
    data = ranking(3)
    mixed = np.random.default_rng(1).permutation(data.qid.size)
    qid = np.array([f"q{q}" for q in data.qid])[mixed]
    n_queries = np.unique(qid).size
    queries = ra.Queries(data.y[mixed], qid=qid, query_weight=np.linspace(2, 3, n_queries))
    convention = getattr(ra.presets, toolkit)(5)
    report = checker(toolkit)(queries, data.X[mixed, 1], convention)
    report.raise_if_failed()
    assert report.rows[0].convention == convention


@pytest.mark.parametrize(
    ("toolkit", "source"),
    [
        ("sklearn", "sklearn.metrics.ndcg_score(k=5)"),
        ("lightgbm", "lightgbm ndcg@5"),
        ("xgboost", "xgboost ndcg@5 ndcg_exp_gain=True"),
        ("catboost", "catboost.utils.eval_metric NDCG:top=5;type=Base;denominator=LogPosition"),
    ],
)
def test_the_row_says_who_was_asked_and_how(toolkit, source):
    data = ranking(3)
    report = checker(toolkit)(data.y, data.X[:, 0], getattr(ra.presets, toolkit)(5), qid=data.qid)
    [row] = report.rows
    assert row.source == source
    assert row.version == __import__(toolkit).__version__
    assert row.tolerance == 1e-9


def test_lightgbms_gain_tables_are_told_to_it():
    data = ranking(4)
    convention = ra.presets.lightgbm(5, label_gain=[0, 1, 5])
    report = checker("lightgbm")(data.y, data.X[:, 1], convention, group_sizes=data.sizes)
    assert [row.source for row in report.rows] == ["lightgbm ndcg@5 label_gain"]
    assert report.ok


def test_the_float32_means_of_lightgbms_row_weights_are_named():
    report = checker("lightgbm")(
        [1, 0, 1], [1, 2, 3], ra.presets.lightgbm(2), group_sizes=[2, 1], query_weight=[0.1, 1]
    )
    assert report.ok
    assert report.rows[0].reason == "query_weight is the float32 mean of row weights."


def test_fractions_that_xgboost_rounds_are_named():
    convention = ra.presets.xgboost(2, ndcg_exp_gain=False)
    report = checker("xgboost")([0.1, 0.7, 1], [1, 2, 3], convention, group_sizes=[3], query_weight=[0.1])
    assert report.ok
    assert (
        report.rows[0].reason == "labels rounded to float32, as XGBoost stores them.\nquery_weight rounded to float32."
    )


def test_ties_in_float32_are_where_xgboost_parts_from_a_float64_convention():
    convention, scores = ra.presets.xgboost(2).replace(precision="float64"), [0.5, 0.5 + 1e-12]
    apart = checker("xgboost")([1, 0], scores, convention, group_sizes=[2])
    assert apart.rows[1].verdict == "not-comparable"
    assert "precision='float64'" in apart.rows[1].reason
    assert checker("xgboost")([1, 0], [0.5, 0.6], convention, group_sizes=[2]).rows[1].verdict == "equal-on-this-data"


def test_dcg_is_scikit_learns_other_function():
    ndcg = ra.presets.sklearn(3)
    dcg = ra.DCG(**{name: value for name, value in ndcg.to_dict().items() if name in ra.DCG.fields()})
    report = checker("sklearn")([3, -1, 2, 1, 0], [0.1, 0.2, 0.3, 0.3, 1], dcg, group_sizes=[3, 2], query_weight=[1, 3])
    assert report.ok
    assert report.rows[0].source == "sklearn.metrics.dcg_score(k=3)"
    assert report.rows[0].reason == ""


def test_one_document_queries_are_left_out_of_scikit_learns_mean_and_counted():
    report = checker("sklearn")([3, 1, 2, 1], [0.1, 0.2, 0.3, 0.3], ra.presets.sklearn(3), group_sizes=[3, 1])
    assert report.ok
    assert report.rows[0].reason == "scikit-learn refuses one-document queries: 1 left out on both sides."


@pytest.mark.parametrize(
    ("toolkit", "labels", "sizes", "message"),
    [
        ("sklearn", [1, 0], [1, 1], "every query has one document"),
        ("sklearn", [1, -1], [2], r"labels\[1\] is -1, negative, which sklearn's ndcg_score refuses"),
        ("lightgbm", [1, 0.5], [2], r"labels\[1\] is 0\.5, but lightgbm takes whole labels from 0 to 30"),
        ("lightgbm", [1, 31], [2], r"labels\[1\] is 31, but lightgbm"),
        ("lightgbm", [0] * 10_001, [10_001], "a query has 10001 rows, but lightgbm takes 10000"),
        ("xgboost", [1, 0.5], [2], r"labels\[1\] is 0\.5, but xgboost takes whole labels from 0 to 31"),
        ("xgboost", [1, 32], [2], r"labels\[1\] is 32, but xgboost"),
    ],
)
def test_data_that_a_toolkit_refuses_is_named(toolkit, labels, sizes, message):
    linear_or_exp = getattr(ra.presets, toolkit)(2)
    with pytest.raises(ra.InputError, match=message):
        checker(toolkit)(labels, np.arange(len(labels)), linear_or_exp, group_sizes=sizes)


def test_weights_with_which_xgboosts_mean_exceeds_1_are_its_own_refusal():
    # Surprise of XGBoost 3.2.0, rank_metric.cc: an empty query adds 1 whatever its weight.
    with pytest.raises(ra.InputError, match=r"^xgboost refuses: (?!\[\d).*Invalid output score.*\nHint: fix the data"):
        checker("xgboost")(
            [0, 0, 1, 0], [4, 3, 2, 1], ra.presets.xgboost(2), group_sizes=[2, 2], query_weight=[0.1, 0.2]
        )


@pytest.mark.parametrize("toolkit", TOOLKITS)
@for_each(
    ("change", "message"),
    [
        ({"scores": [1, 2, 3]}, "scores has 3 rows but the queries cover 2"),
        ({"scores": [1, np.inf]}, r"scores\[1\] is inf"),
        ({"qid": [1, 1]}, "exactly one of qid and group_sizes"),
        ({"convention": 2}, "2 is not a convention"),
        ({"convention": "ndcg@2"}, "'ndcg@2' does not say whose ndcg it is"),
        ({"labels": ra.Queries([1, 0], group_sizes=[2], judged=[True, False]), "group_sizes": None}, "have judged="),
        ({"convention": ra.presets.yahoo(2), "query_weight": [2]}, "average='uniform'"),
    ],
)
def test_bad_input_is_refused(toolkit, change, message):
    given = {"labels": [1, 0], "scores": [2, 1], "convention": ra.presets.sklearn(2), "group_sizes": [2], **change}
    with pytest.raises((ra.InputError, ra.ConventionError), match=message):
        checker(toolkit)(**given)


@pytest.mark.parametrize("toolkit", ["sklearn", "lightgbm", "xgboost"])
def test_a_toolkit_that_answers_otherwise_is_caught_and_its_queries_are_named(toolkit, monkeypatch):
    check = checker(toolkit)
    kind = type(importlib.import_module(f"rankadapters.{toolkit}.parity").TOOLKIT)
    asked = kind.ask
    data = ranking(5)
    scores = data.X[:, 0] - data.y * 0.01
    longest = int(np.argmax(data.sizes))

    def wrong(self, held, words):
        of = np.repeat(np.diff(held.queries.indptr), np.diff(held.queries.indptr))
        turned = np.where(of == data.sizes[longest], -held.scores, held.scores)
        return asked(self, dataclasses.replace(held, scores=turned), words)

    monkeypatch.setattr(kind, "ask", wrong)
    row = check(data.y, scores, getattr(ra.presets, toolkit)(5), qid=data.qid).rows[0]
    assert row.verdict == "different"
    named = {name for name, *_ in row.per_query.largest()}
    assert named
    assert named <= set(np.flatnonzero(data.sizes == data.sizes.max()))


# Trained models.


@pytest.fixture(scope="module")
def lgb_ranker():
    lgb = pytest.importorskip("lightgbm")
    train, valid = ranking(0), ranking(1)
    model = lgb.LGBMRanker(n_estimators=ROUNDS, num_leaves=7, n_jobs=1, verbosity=-1)
    booster_params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [5],
        "num_leaves": 7,
        "num_threads": 1,
        "verbosity": -1,
    }
    first = lgb.Dataset(train.X, train.y, group=train.sizes)
    second = lgb.Dataset(valid.X, valid.y, group=valid.sizes, reference=first)
    log = {}
    booster = lgb.train(booster_params, first, ROUNDS, [second], ["valid"], callbacks=[lgb.record_evaluation(log)])
    return model.fit(train.X, train.y, group=train.sizes), booster, log, valid


@pytest.fixture(scope="module")
def xgb_ranker():
    xgb = pytest.importorskip("xgboost")
    train, valid = ranking(0), ranking(1)
    model = xgb.XGBRanker(n_estimators=ROUNDS, max_depth=3, n_jobs=1, eval_metric="ndcg@5")
    evals = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.qid]}
    return model.fit(train.X, train.y, qid=train.qid, verbose=False, **evals), valid


@pytest.mark.parametrize("iteration", [None, 0, ROUNDS - 1])
def test_lightgbms_log_of_any_iteration_agrees(lgb_ranker, iteration):
    _, booster, log, valid = lgb_ranker
    report = ra.lightgbm.check_model(
        booster, (valid.X, valid.y, valid.qid), ra.presets.lightgbm(5), dataset="valid", log=log, iteration=iteration
    )
    shown = ROUNDS - 1 if iteration is None else iteration
    assert [row.source for row in report.rows] == ["lightgbm ndcg@5", f"log of valid, iteration {shown}, ndcg@5"]
    report.raise_if_failed()
    assert report.rows[1].value == log["valid"]["ndcg@5"][shown]


def stopped_early(toolkit):
    train, valid = ranking(0), ranking(1)
    module = pytest.importorskip(toolkit)
    if toolkit == "xgboost":
        first, second = (module.DMatrix(data.X, data.y, qid=data.qid) for data in (train, valid))
        params = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1}
        model = module.train(params, first, 60, evals=[(second, "valid")], early_stopping_rounds=3, verbose_eval=False)
        return model, model.best_iteration, model.num_boosted_rounds(), valid
    first = module.Dataset(train.X, train.y, group=train.sizes)
    second = module.Dataset(valid.X, valid.y, group=valid.sizes, reference=first)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_threads": 1, "verbosity": -1}
    stopping = module.early_stopping(3, verbose=False)
    model = module.train(params, first, 60, [second], callbacks=[stopping], keep_training_booster=True)
    return model, model.best_iteration - 1, model.current_iteration(), valid


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_a_model_that_stopped_early_is_asked_up_to_its_best_iteration(toolkit):
    model, best, trained, valid = stopped_early(toolkit)
    assert 0 < best < trained - 1
    check, data = getattr(ra, toolkit).check_model, (valid.X, valid.y, valid.qid)
    rows = {
        iteration: check(model, data, getattr(ra.presets, toolkit)(5), iteration=iteration).rows
        for iteration in (None, best, trained - 1)
    }
    assert rows[None] == rows[best]
    assert rows[None][0].our_value != rows[trained - 1][0].our_value


@pytest.mark.parametrize("measure", ["map@5", "auc", "average_precision"])
def test_a_lightgbm_model_is_asked_for_measures_without_gains_too(lgb_ranker, measure):
    _, booster, _, valid = lgb_ranker
    queries = (valid.X, valid.y > 0, valid.qid)
    [row] = ra.lightgbm.check_model(booster, queries, f"lightgbm.{measure}").rows
    assert (row.verdict, row.our_value) == (
        "equal", ra.evaluate(valid.y > 0, booster.predict(valid.X), f"lightgbm.{measure}", qid=valid.qid).value
    )  # fmt: skip


def test_a_log_of_other_gains_is_refused(lgb_ranker):
    _, booster, log, valid = lgb_ranker
    convention = ra.presets.lightgbm(5, label_gain=[0, 1, 5, 6, 7])
    with pytest.raises(ra.InputError, match="under gain='exp2', where label 2 has 3, not gain='table_0_1_5_6_7'"):
        ra.lightgbm.check_model(booster, (valid.X, valid.y, valid.qid), convention, dataset="valid", log=log)


@pytest.mark.parametrize("iteration", [None, 0, ROUNDS - 1])
def test_xgboosts_own_evaluation_and_log_agree(xgb_ranker, iteration):
    model, valid = xgb_ranker
    report = ra.xgboost.check_model(
        model, (valid.X, valid.y, valid.qid), ra.presets.xgboost(5), dataset="validation_0", iteration=iteration
    )
    shown = ROUNDS - 1 if iteration is None else iteration
    assert [row.source for row in report.rows] == [
        "xgboost ndcg@5 ndcg_exp_gain=True",
        "Booster.eval ndcg@5 ndcg_exp_gain=True",
        f"log of validation_0, iteration {shown}, ndcg@5",
    ]
    report.raise_if_failed()


def test_a_dmatrix_and_a_booster_are_taken_too(xgb_ranker):
    import xgboost as xgb

    model, valid = xgb_ranker
    weights = np.linspace(1, 2, valid.sizes.size)
    matrix = xgb.DMatrix(valid.X, valid.y, qid=valid.qid, weight=weights)
    report = ra.xgboost.check_model(model.get_booster(), matrix, ra.presets.xgboost(3, minus=True))
    report.raise_if_failed()
    ours = ra.evaluate(
        valid.y, model.predict(valid.X), ra.presets.xgboost(3, minus=True), qid=valid.qid,
        query_weight=weights.astype(np.float32),
    )  # fmt: skip
    assert {row.our_value for row in report.rows} == {ours.value}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": lambda m: type(m)()}, "the model is not trained, so it has no scores"),
        ({"model": lambda m: 5}, "int is not a model of"),
        ({"data": lambda d: d[:2]}, r"allowed are \(X, labels, qid\)"),
        ({"data": lambda d: (d[0], d[1][1:], d[2][1:])}, r"X has \d+ rows but labels has \d+"),
        ({"iteration": lambda _: ROUNDS}, f"iteration={ROUNDS}; allowed are whole numbers from 0 to {ROUNDS - 1}"),
        ({"dataset": lambda _: "test"}, "the training logged no 'test'"),
    ],
)
@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_bad_models_and_data_are_refused(request, toolkit, change, message):
    pytest.importorskip(toolkit)
    model, *_, valid = request.getfixturevalue(f"{toolkit[:1]}gb_ranker")
    given = {"model": model, "data": (valid.X, valid.y, valid.qid), "iteration": None, "dataset": None}
    given |= {name: make(given[name]) for name, make in change.items()}
    with pytest.raises(ra.InputError, match=message):
        getattr(ra, toolkit).check_model(given["model"], given["data"], getattr(ra.presets, toolkit)(5),
                                         iteration=given["iteration"], dataset=given["dataset"])  # fmt: skip


def test_a_metric_that_was_not_logged_is_named(xgb_ranker):
    model, valid = xgb_ranker
    with pytest.raises(ra.InputError, match=r"the log of 'validation_0' has \['ndcg@5'\], but not 'ndcg@7'"):
        ra.xgboost.check_model(model, (valid.X, valid.y, valid.qid), ra.presets.xgboost(7), dataset="validation_0")


def test_an_xgboost_query_that_is_cut_up_is_refused(xgb_ranker):
    model, valid = xgb_ranker
    order = np.argsort(np.arange(valid.qid.size) % 2, kind="stable")
    with pytest.raises(ra.InputError, match="the rows of a query are not together"):
        ra.xgboost.check_model(model, (valid.X[order], valid.y[order], valid.qid[order]), ra.presets.xgboost(5))


def test_features_of_another_width_are_refused_by_xgboost():
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X, y, qid = rng.random((60, 3)), rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)
    ranker = xgb.XGBRanker(n_estimators=2, n_jobs=1).fit(X, y, qid=qid)
    with pytest.raises(ra.InputError, match="the data has 2 features but the model was trained on 3"):
        ra.xgboost.check_model(ranker, (X[:, :2], y, qid), ra.presets.xgboost(5))
