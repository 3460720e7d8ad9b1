from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")
from tests.helpers.xgboost_data import IGNORED, LETOR, PARAMS, TEXTBOOK, XGBOOST, dmatrix, train  # noqa: E402 - after the skip

SIX_DECIMALS = 6e-7


class Spy:
    """A metric that remembers the predictions that XGBoost hands over."""

    def __init__(self, metric):
        self.metric, self.seen = metric, []

    def __call__(self, preds, dmatrix):
        self.seen.append(preds.copy())
        return self.metric(preds, dmatrix)


def test_a_metric_gives_the_bits_of_evaluate_and_xgboost_logs_six_decimals():
    one, two, result = ranking(1), ranking(2), {}
    metric = ra.xgboost.custom_metric([LETOR, TEXTBOOK, XGBOOST])
    spy = Spy(metric)
    sets = [(dmatrix(one), "train"), (dmatrix(two), "valid")]
    train({}, sets[0][0], 3, evals=sets, custom_metric=spy, evals_result=result)
    values = iter(metric.history)
    for number, preds in enumerate(spy.seen):
        data, name = ((one, "train"), (two, "valid"))[number % 2]
        assert preds.dtype == np.float32
        for convention in (LETOR, TEXTBOOK, XGBOOST):
            expected = ra.evaluate(data.y, preds, convention, group_sizes=data.sizes).value
            assert next(values) == (name, convention, expected)
            assert result[name][convention.name][number // 2] == pytest.approx(expected, abs=SIX_DECIMALS)
    assert next(values, None) is None


@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_default_convention_equals_the_built_in_metric_in_the_same_run(minus, weighted):
    # Without an empty query, since XGBoost aborts on a value above 1 where it adds 1 for one of weight below 1.
    one, result = ranking(3), {}
    one = one._replace(y=np.where(np.arange(one.y.size) % 2, one.y, 1))
    weights = np.random.default_rng(0).random(one.sizes.size) + 0.5 if weighted else None
    data, convention = dmatrix(one, weight=weights), ra.presets.xgboost(5, minus=minus)
    callback = ra.xgboost.EvalCallback(convention, [(data, "train")])
    train(
        ra.xgboost.native_metric(convention),
        data,
        3,
        evals=[(data, "train")],
        evals_result=result,
        callbacks=[callback],
    )
    native = result["train"]["ndcg@5" + "-" * minus]
    np.testing.assert_allclose(result["train"][convention.name], native, rtol=1e-12)


def test_query_weights_count_and_uniform_ignores_them():
    one = ranking(4)
    weights = np.random.default_rng(0).random(one.sizes.size).astype(np.float32)
    metric = ra.xgboost.custom_metric([XGBOOST.replace(empty=0), TEXTBOOK])
    spy, data = Spy(metric), dmatrix(one, weight=weights)
    with pytest.warns(UserWarning, match=IGNORED) as warned:
        train({}, data, 2, evals=[(data, "train")], custom_metric=spy)
    assert len(warned) == 1
    weighted = ra.evaluate(
        one.y, spy.seen[-1], metric.history[-2].convention, group_sizes=one.sizes, query_weight=weights
    )
    uniform = ra.evaluate(one.y, spy.seen[-1], TEXTBOOK, group_sizes=one.sizes)
    assert [entry.value for entry in metric.history[-2:]] == [weighted.value, uniform.value]


def test_transformed_and_raw_predictions_are_evaluated_as_handed_over():
    one = ranking(5)
    one = one._replace(y=(one.y > 0).astype(float))
    data = dmatrix(one)
    for more, transformed in (({}, True), ({"obj": lambda p, d: (p - d.get_label(), np.ones_like(p))}, False)):
        metric = ra.xgboost.custom_metric(TEXTBOOK)
        spy = Spy(metric)
        train({"objective": "binary:logistic"}, data, 3, evals=[(data, "train")], custom_metric=spy, **more)
        assert (spy.seen[-1].min() > 0 and spy.seen[-1].max() < 1) or not transformed
        assert metric.history[-1].value == ra.evaluate(one.y, spy.seen[-1], TEXTBOOK, group_sizes=one.sizes).value


def test_every_kind_of_dmatrix_tells_its_groups():
    one = ranking(6)
    quantile = xgb.QuantileDMatrix(one.X, label=one.y, qid=one.qid)
    metric = ra.xgboost.custom_metric(TEXTBOOK)
    assert metric(one.X[:, 0], quantile) == metric(one.X[:, 0], dmatrix(one))


def test_cv_keeps_queries_whole():
    one, metric = ranking(7, 60), ra.xgboost.custom_metric(TEXTBOOK)
    result = xgb.cv(PARAMS, dmatrix(one), 4, nfold=3, custom_metric=metric, as_pandas=False)
    assert len(metric.history) == 4 * 3 * 2
    assert {entry.dataset for entry in metric.history} == {f"{s}_fold_{i}" for s in ("train", "test") for i in range(3)}
    tests = [metric.history.only(dataset=f"test_fold_{fold}")[-1].value for fold in range(3)]
    assert result[f"test-{TEXTBOOK.name}-mean"][-1] == pytest.approx(np.mean(tests), abs=1e-6)


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
    one = ranking(6)
    assert one.sizes[1] > 1
    whole, cut = dmatrix(one), xgb.DMatrix(Cut(one))
    for n_queries in (30, {"valid": 30}):
        metric = ra.xgboost.custom_metric(TEXTBOOK, n_queries=n_queries)
        train({}, whole, 1, evals=[(whole, "valid")], custom_metric=metric)
        with pytest.raises(ra.InputError, match=CUT):
            train({}, whole, 1, evals=[(cut, "valid")], custom_metric=metric)
        ra.xgboost.EvalCallback(TEXTBOOK, [(whole, "valid")], n_queries=n_queries)
        with pytest.raises(ra.InputError, match=CUT):
            ra.xgboost.EvalCallback(TEXTBOOK, [(cut, "valid")], n_queries=n_queries)
    with pytest.raises(ra.InputError, match="the data has 31 queries, not n_queries=30"):
        ra.xgboost.custom_metric(TEXTBOOK, n_queries=30)(one.X[:, 0], cut)


@pytest.mark.parametrize("n_queries", [30, {"valid": 30, "test": 3}])
def test_a_number_of_queries_is_of_a_set_that_there_is(n_queries):
    data = dmatrix(ranking(6))
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
        ra.xgboost.EvalCallback(LETOR, [(dmatrix(ranking(6)), "valid")], n_queries=n_queries)


def test_the_folds_of_cv_have_no_declared_number_of_queries():
    metric = ra.xgboost.custom_metric(TEXTBOOK, n_queries=30)
    with pytest.raises(ra.InputError, match=r"n_queries= is not for xgb\.cv.*\nHint: compare len\(dmatrix\.get_group"):
        xgb.cv(PARAMS, dmatrix(ranking(6)), 1, nfold=2, custom_metric=metric)


def test_a_missing_group_is_named():
    one = ranking(8)
    data = xgb.DMatrix(one.X, label=one.y)
    with pytest.raises(ra.InputError, match="the DMatrix has no group"):
        train(
            {"objective": "reg:squarederror"},
            data,
            1,
            evals=[(data, "x")],
            custom_metric=ra.xgboost.custom_metric(LETOR),
        )
    with pytest.raises(ra.InputError, match="the DMatrix has no group"):
        ra.xgboost.EvalCallback(LETOR, [(data, "x")])


def test_xgbranker_is_pointed_to_the_callback():
    one = ranking(9)
    ranker = xgb.XGBRanker(n_estimators=1, eval_metric=ra.xgboost.custom_metric(LETOR), n_jobs=1)
    with pytest.raises(
        ra.InputError, match=r"one query at a time(.|\n)*Hint: XGBRanker\(callbacks=\[ra.xgboost.EvalCallback"
    ):
        ranker.fit(one.X, one.y, qid=one.qid, eval_set=[(one.X, one.y)], eval_qid=[one.qid])


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a:b"])
def test_names_that_xgboost_would_cut_are_refused(bad):
    with pytest.raises(ra.ConventionError, match="space, tab or colon"):
        ra.xgboost.custom_metric(LETOR, names=[bad])
    with pytest.raises(ra.ConventionError, match="space, tab or colon"):
        ra.xgboost.EvalCallback(LETOR, [(dmatrix(ranking(1)), "x")], names=[bad])


def test_every_presets_name_survives_the_log():
    one, result = ranking(9), {}
    data = dmatrix(one)
    several = [getattr(ra.presets, name)(k) for name in ra.presets.names() for k in (5, None)]
    several = [c for c in dict.fromkeys(several) if "docid" not in c.ties and c.empty != "error"]
    several += [ra.presets.xgboost(5, ndcg_exp_gain=False, minus=True), TEXTBOOK.replace(empty=0.5)]
    train({}, data, 1, evals=[(data, "train")], custom_metric=ra.xgboost.custom_metric(several), evals_result=result)
    assert list(result["train"]) == [convention.name for convention in several]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_starts_empty_and_works(copied):
    one, metric = ranking(10), ra.xgboost.custom_metric(LETOR, names=["mine"])
    data = dmatrix(one)
    found = metric(one.X[:, 0], data)
    again = copied(metric)
    assert again.history == []
    assert again(one.X[:, 0], data) == found


def test_replaced_labels_are_noticed_and_datasets_are_not_kept_alive():
    one, metric = ranking(11), ra.xgboost.custom_metric(TEXTBOOK)
    data = dmatrix(one)
    metric(one.X[:, 0], data)
    data.set_label(2 - one.y)
    assert metric(one.X[:, 0], data)[0][1] == ra.evaluate(2 - one.y, one.X[:, 0], TEXTBOOK, group_sizes=one.sizes).value
    del data
    gc.collect()
    assert metric._monitor._bound == {}


# Early stopping


@pytest.mark.parametrize("watched", [LETOR, TEXTBOOK])
@pytest.mark.parametrize("name", [None, "loss"])
def test_early_stopping_maximises_the_declared_metric_whatever_its_name(watched, name):
    one, two, result = ranking(20, 60), ranking(21, 40), {}
    other = TEXTBOOK if watched is LETOR else LETOR
    names = None if name is None else [name, "other"]
    report = ra.xgboost.EvalCallback([watched, other], [(dmatrix(two), "valid"), (dmatrix(one), "train")], names=names)
    stop = ra.xgboost.early_stopping(watched, rounds=5, data_name="valid", name=name)
    params = {"disable_default_eval_metric": False, "eta": 1.0}
    booster = train(
        params, dmatrix(one), 80, evals=[(dmatrix(two), "valid")], callbacks=[report, stop], evals_result=result
    )
    values = result["valid"][name or watched.name]
    assert len(values) < 80
    assert booster.best_iteration == int(np.argmax(values))
    assert len(values) == booster.best_iteration + 6
    assert booster.best_score == max(values)


def test_early_stopping_with_a_custom_metric_and_with_cv():
    one, two, result = ranking(20, 60), ranking(21, 40), {}
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, save_best=True)
    booster = train(
        {"eta": 1.0},
        dmatrix(one),
        80,
        evals=[(dmatrix(one), "train"), (dmatrix(two), "valid")],
        custom_metric=ra.xgboost.custom_metric(TEXTBOOK),
        callbacks=[stop],
        evals_result=result,
    )
    assert booster.num_boosted_rounds() == int(np.argmax(result["valid"][TEXTBOOK.name])) + 1
    folds = xgb.cv({**PARAMS, "eta": 1.0}, dmatrix(one), 80, nfold=3, custom_metric=ra.xgboost.custom_metric(TEXTBOOK),
                   callbacks=[ra.xgboost.early_stopping(TEXTBOOK, rounds=5)], as_pandas=False)  # fmt: skip
    means = folds[f"test-{TEXTBOOK.name}-mean"]
    assert len(means) < 80
    assert int(np.argmax(means)) == len(means) - 1


def test_early_stopping_in_xgbranker():
    one, two = ranking(20, 60), ranking(21, 40)
    report = ra.xgboost.EvalCallback(TEXTBOOK, [((two.X, two.y, two.qid), "valid")])
    callbacks = [report, ra.xgboost.early_stopping(TEXTBOOK, rounds=5)]
    ranker = xgb.XGBRanker(n_estimators=80, learning_rate=1.0, callbacks=callbacks, n_jobs=1)
    ranker.fit(one.X, one.y, qid=one.qid)
    values = [entry.value for entry in report.history]
    assert ranker.best_iteration == int(np.argmax(values))


def test_early_stopping_that_nobody_feeds_says_so():
    one = ranking(20)
    data = dmatrix(one)
    for callbacks in (
        [ra.xgboost.early_stopping(LETOR, rounds=5)],
        [ra.xgboost.early_stopping(LETOR, rounds=5), ra.xgboost.EvalCallback(LETOR, [(data, "x")])],
    ):
        with pytest.raises(ra.InputError, match="early stopping watches 'ndcg@5/letor4'"):
            train({}, data, 3, callbacks=callbacks)


# Native metrics


@pytest.mark.parametrize(
    ("convention", "params"),
    [
        (XGBOOST, {"eval_metric": "ndcg@5", "ndcg_exp_gain": True}),
        (XGBOOST.replace(gain="exp2"), {"eval_metric": "ndcg@5", "ndcg_exp_gain": True}),
        (XGBOOST.at(None), {"eval_metric": "ndcg@2147483647", "ndcg_exp_gain": True}),
        (ra.presets.xgboost(40, minus=True), {"eval_metric": "ndcg@40-", "ndcg_exp_gain": True}),
        (ra.presets.xgboost(3, ndcg_exp_gain=False), {"eval_metric": "ndcg@3", "ndcg_exp_gain": False}),
    ],
)
def test_native_metric_makes_xgboost_compute_the_convention(convention, params):
    assert ra.xgboost.native_metric(convention) == params
    one, result = ranking(30, 20, 60), {}
    data = dmatrix(one)
    callback = ra.xgboost.EvalCallback(convention, [(data, "train")])
    train(params, data, 3, evals=[(data, "train")], evals_result=result, callbacks=[callback])
    np.testing.assert_allclose(result["train"][convention.name], result["train"][params["eval_metric"]], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ties": "average"}, "ties"),
        ({"empty": 0.5}, "empty"),
        ({"empty": "skip"}, "empty"),
        ({"short": "zero"}, "short"),
        ({"discount": "jk2"}, "discount"),
        ({"precision": "float64"}, "precision"),
        ({"gain": "table_0_1_3"}, "gain"),
        ({"gain": "linear-positive"}, "gain"),
        ({"average": "uniform"}, "average"),
    ],
)
def test_native_metric_names_what_xgboost_cannot_express(change, field):
    with pytest.raises(ra.UnsupportedConventionError, match=f"XGBoost(.|\n)*{field}"):
        ra.xgboost.native_metric(XGBOOST.replace(**change))
