from __future__ import annotations

import copy
import gc
import inspect
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.ranking_data import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from rankadapters.lightgbm.metrics import query_weights  # noqa: E402 - after the skip
from tests.helpers.lightgbm_data import IGNORED, LETOR, PARAMS, TEXTBOOK, dataset, fit  # noqa: E402 - after the skip

LIGHTGBM = ra.presets.lightgbm(5)


class Spy:
    """A metric that remembers the predictions that LightGBM hands over."""

    def __init__(self):
        self.seen = []

    def __call__(self, preds, dataset):
        self.seen.append((dataset, preds.copy()))
        return "spy", 0.0, True


def test_a_callback_gives_the_bits_of_evaluate_for_every_set_convention_and_round():
    train, valid = ranking(1), ranking(2)
    spy, metric = Spy(), ra.lightgbm.eval_metric([LETOR, TEXTBOOK, LIGHTGBM])
    result = {}
    first = dataset(train)
    sets = [dataset(valid, reference=first), dataset(train, reference=first)]
    lgb.train(PARAMS, first, 4, valid_sets=sets, valid_names=["valid", "again"], feval=[spy, metric],
              callbacks=[lgb.record_evaluation(result)])  # fmt: skip
    assert len(metric.history) == 4 * 2 * 3
    values = iter(metric.history)
    for number, (_, preds) in enumerate(spy.seen):
        place = number % 2
        data, name = ((valid, "valid"), (train, "again"))[place]
        for convention in (LETOR, TEXTBOOK, LIGHTGBM):
            expected = ra.evaluate(data.y, preds, convention, group_sizes=data.sizes).value
            assert next(values) == (name, convention, expected)
            assert result[name][convention.name][number // 2] == expected


def test_the_default_convention_equals_the_built_in_metric_in_the_same_run():
    train, result = ranking(3), {}
    weights = np.repeat(np.random.default_rng(0).random(train.sizes.size) + 0.5, train.sizes)
    data = dataset(train, weight=weights)
    params = {**PARAMS, **ra.lightgbm.native_metric(LIGHTGBM)}
    lgb.train(params, data, 4, valid_sets=[data], feval=ra.lightgbm.eval_metric(LIGHTGBM),
              callbacks=[lgb.record_evaluation(result)])  # fmt: skip
    np.testing.assert_allclose(result["training"][LIGHTGBM.name], result["training"]["ndcg@5"], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # weights of mean 1/2
def test_uneven_row_weights_become_query_means_and_uniform_ignores_them():
    train = ranking(4)
    weights = np.random.default_rng(0).random(train.y.size).astype(np.float32)
    spy, metric = Spy(), ra.lightgbm.eval_metric([LIGHTGBM, TEXTBOOK])
    data = dataset(train, weight=weights)
    with pytest.warns(UserWarning, match=IGNORED) as warned:
        lgb.train(PARAMS, data, 2, valid_sets=[data], feval=[spy, metric])
    assert len(warned) == 1
    means = query_weights(weights, train.sizes)
    scores = spy.seen[-1][1]
    weighted = ra.evaluate(train.y, scores, LIGHTGBM, group_sizes=train.sizes, query_weight=means)
    uniform = ra.evaluate(train.y, scores, TEXTBOOK, group_sizes=train.sizes)
    assert [entry.value for entry in metric.history[-2:]] == [weighted.value, uniform.value]


def test_query_weights_add_up_in_float32_one_by_one():
    weights, total = np.random.default_rng(1).random(1000).astype(np.float32), np.float32(0)
    for weight in weights:
        total += weight
    assert query_weights(weights, np.array([1000]))[0] == total / np.float32(1000)


def test_lgbmranker_takes_it_alone_and_in_a_list():
    train, valid = ranking(5), ranking(6)
    metric = ra.lightgbm.eval_metric([LETOR, TEXTBOOK])
    for given in (metric, [metric, lambda y, s: ("zero", 0.0, True)]):
        ranker = lgb.LGBMRanker(n_estimators=3, verbosity=-1, min_child_samples=5, metric="None", n_jobs=1)
        fit(ranker, train, valid, eval_metric=given)
        for convention in (LETOR, TEXTBOOK):
            expected = ra.evaluate(valid.y, ranker.predict(valid.X), convention, group_sizes=valid.sizes).value
            assert ranker.evals_result_["valid_0"][convention.name][-1] == pytest.approx(expected, abs=1e-15)


def test_lgbmranker_binds_its_evaluation_set_once(monkeypatch):
    train, valid = ranking(5), ranking(6)
    metric = ra.lightgbm.eval_metric(LETOR)
    bound = []
    monkeypatch.setattr(
        metric._monitor, "_panels", lambda j: bound.append(j) or type(metric._monitor)._panels(metric._monitor, j)
    )
    fit(lgb.LGBMRanker(n_estimators=5, verbosity=-1, min_child_samples=5, n_jobs=1), train, valid, eval_metric=metric)
    assert len(bound) == 1


@pytest.mark.filterwarnings("ignore:a mean under:rankadapters.AboveValuesWarning")  # weights of mean 1/2
def test_lgbmranker_weights_count_as_in_the_train_api():
    train, valid = ranking(5), ranking(6)
    weights = np.random.default_rng(3).random(valid.y.size)
    ranker = lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, n_jobs=1)
    fit(ranker, train, valid, eval_metric=ra.lightgbm.eval_metric(LIGHTGBM), eval_sample_weight=[weights])
    means = query_weights(weights, valid.sizes)
    value = ra.evaluate(valid.y, ranker.predict(valid.X), LIGHTGBM, group_sizes=valid.sizes, query_weight=means).value
    assert ranker.evals_result_["valid_0"][LIGHTGBM.name][-1] == pytest.approx(value, abs=1e-15)


def test_cv_evaluates_every_fold_by_its_own_queries():
    data, spy, metric = ranking(7), Spy(), ra.lightgbm.eval_metric(TEXTBOOK)
    from sklearn.model_selection import GroupKFold

    result = lgb.cv(PARAMS, dataset(data), 3, folds=GroupKFold(3).split(data.X, data.y, data.qid), feval=[spy, metric])
    folds = [test for _, test in GroupKFold(3).split(data.X, data.y, data.qid)]
    for number, (_, preds) in enumerate(spy.seen):
        fold = folds[number % 3]
        value = ra.evaluate(data.y[fold], preds, TEXTBOOK, qid=data.qid[fold]).value
        assert metric.history[number] == (f"valid_fold_{number % 3}", TEXTBOOK, value)
    last = [entry.value for entry in metric.history[-3:]]
    assert result[f"valid {TEXTBOOK.name}-mean"][-1] == pytest.approx(np.mean(last), abs=1e-15)


def test_transformed_predictions_are_evaluated_as_handed_over():
    data, spy, metric = ranking(8), Spy(), ra.lightgbm.eval_metric(TEXTBOOK)
    binary = data._replace(y=(data.y > 0).astype(float))
    train = dataset(binary)
    lgb.train({**PARAMS, "objective": "binary"}, train, 2, valid_sets=[train], feval=[spy, metric])
    preds = spy.seen[-1][1]
    assert preds.min() > 0
    assert preds.max() < 1
    assert metric.history[-1].value == ra.evaluate(binary.y, preds, TEXTBOOK, group_sizes=data.sizes).value


def test_raw_predictions_of_a_callable_objective_are_evaluated():
    data, spy, metric = ranking(8), Spy(), ra.lightgbm.eval_metric(TEXTBOOK)
    train = dataset(data)
    params = {**PARAMS, "objective": lambda preds, d: (preds - d.get_label(), np.ones_like(preds))}
    lgb.train(params, train, 2, valid_sets=[train], feval=[spy, metric])
    preds = spy.seen[-1][1]
    assert metric.history[-1].value == ra.evaluate(data.y, preds, TEXTBOOK, group_sizes=data.sizes).value


def test_labels_are_left_alone_and_replaced_ones_are_noticed():
    data, metric = ranking(9), ra.lightgbm.eval_metric(TEXTBOOK)
    train = dataset(data)
    train.construct()
    preds = np.random.default_rng(0).random(data.y.size)
    before = train.get_label().copy()
    assert metric(preds, train)[0][1] == ra.evaluate(data.y, preds, TEXTBOOK, group_sizes=data.sizes).value
    np.testing.assert_array_equal(train.get_label(), before)
    train.set_label(2 - data.y)
    assert metric(preds, train)[0][1] == ra.evaluate(2 - data.y, preds, TEXTBOOK, group_sizes=data.sizes).value
    assert [entry.dataset for entry in metric.history] == ["set_0", "set_0"]


def test_arrays_that_their_owner_writes_into_are_noticed():
    data, metric = ranking(9), ra.lightgbm.eval_metric(LIGHTGBM)
    labels, sizes, weights = data.y.copy(), data.sizes.copy(), np.ones(data.y.size)
    preds = np.random.default_rng(0).random(data.y.size)

    def compare():
        expected = ra.evaluate(
            labels, preds, LIGHTGBM, group_sizes=sizes, query_weight=query_weights(weights, sizes)
        ).value
        assert metric(labels, preds, weights, sizes)[0][1] == expected

    compare()
    labels[:] = 2 - data.y
    compare()
    sizes[:] = data.sizes[::-1]
    compare()
    weights[: sizes[0]] = 3
    compare()


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_call_by_hand_takes_lists(kind):
    data, metric = ranking(9), ra.lightgbm.eval_metric(LIGHTGBM)
    scores, weights = data.X[:, 0], np.repeat(data.sizes % 3 + 1.0, data.sizes)
    arrays = metric(data.y, scores, weights, data.sizes)
    for _ in range(2):
        assert metric(*(kind(column.tolist()) for column in (data.y, scores, weights, data.sizes))) == arrays
    assert [entry.dataset for entry in metric.history] == ["set_0", "set_1", "set_1"]


def test_weights_that_no_convention_ignores_are_no_reason_to_warn():
    data = ranking(9)
    metric = ra.lightgbm.eval_metric([LIGHTGBM, LIGHTGBM.replace(average="query")])
    metric(data.y, data.X[:, 0], np.ones(data.y.size), data.sizes)  # a warning would fail this test


def test_ignored_weights_are_told_once_for_all_rounds_and_fits():
    train, valid = ranking(5), ranking(6)
    ranker = lgb.LGBMRanker(n_estimators=2, verbosity=-1, min_child_samples=5, n_jobs=1)
    metric, weights = ra.lightgbm.eval_metric(TEXTBOOK), [np.full(valid.y.size, 2.0)]
    with pytest.warns(UserWarning, match=IGNORED) as warned:
        fit(ranker, train, valid, eval_metric=metric, eval_sample_weight=weights)
    assert len(warned) == 1
    fit(ranker, train, valid, eval_metric=metric, eval_sample_weight=weights)  # another warning would fail this test


def test_a_missing_group_is_named():
    data = ranking(10)
    train = lgb.Dataset(data.X, label=data.y)
    with pytest.raises(ra.InputError, match=r"the Dataset has no group.*\nHint: lgb.Dataset\(..., group=sizes\)"):
        lgb.train(
            {**PARAMS, "objective": "regression"}, train, 1, valid_sets=[train], feval=ra.lightgbm.eval_metric(LETOR)
        )
    regressor = lgb.LGBMRegressor(n_estimators=1, verbosity=-1)
    new = "eval_X" in inspect.signature(regressor.fit).parameters
    evals = {"eval_X": data.X, "eval_y": data.y} if new else {"eval_set": [(data.X, data.y)]}
    with pytest.raises(ra.InputError, match="the evaluation set has no group"):
        regressor.fit(data.X, data.y, eval_metric=ra.lightgbm.eval_metric(LETOR), **evals)


def test_a_pickle_starts_empty_and_works():
    data, metric = ranking(11), ra.lightgbm.eval_metric(LETOR, names=["mine"])
    train = dataset(data)
    train.construct()
    found = metric(data.X[:, 0], train)
    again = pickle.loads(pickle.dumps(metric))
    assert again.history == []
    assert again(data.X[:, 0], train) == found
    assert found[0][0] == "mine"
    assert len(metric.history) == 1


@pytest.mark.parametrize("scikit_learn_style", [False, True])
def test_datasets_are_not_kept_alive(scikit_learn_style):
    data, metric = ranking(12), ra.lightgbm.eval_metric(LETOR)
    if scikit_learn_style:
        labels = data.y.copy()
        metric(labels, data.X[:, 0], None, data.sizes)
        del labels
    else:
        train = dataset(data)
        train.construct()
        metric(data.X[:, 0], train)
        del train
    gc.collect()
    assert metric._monitor._bound == {}


# Names and native metrics


def test_names_are_checked():
    with pytest.raises(ra.ConventionError, match="no convention was given"):
        ra.lightgbm.eval_metric([])
    with pytest.raises(ra.ConventionError, match="is not a convention"):
        ra.lightgbm.eval_metric([[LETOR]])
    with pytest.raises(ra.ConventionError, match="10 is not a convention"):
        ra.lightgbm.eval_metric(10)
    with pytest.raises(ra.ConventionError, match="'ndcg' does not say whose ndcg it is"):
        ra.lightgbm.eval_metric("ndcg")
    with pytest.raises(ra.ConventionError, match="one name for each of the 2"):
        ra.lightgbm.eval_metric([LETOR, TEXTBOOK], names=["a"])
    with pytest.raises(ra.ConventionError, match="under one name"):
        ra.lightgbm.eval_metric([LETOR, TEXTBOOK], names=["a", "a"])


NATIVE = [
    (LIGHTGBM, {"metric": "ndcg", "eval_at": [5]}),
    (LIGHTGBM.at(None), {"metric": "ndcg", "eval_at": [10_000]}),
    (LIGHTGBM.replace(gain="exp2-floor", missing="zero", unjudged="drop"), {"metric": "ndcg", "eval_at": [5]}),
    (LIGHTGBM.replace(gain="linear"), {"metric": "ndcg", "eval_at": [5], "label_gain": [float(i) for i in range(31)]}),
    (ra.presets.lightgbm(5, label_gain=[0, 1, 10]), {"metric": "ndcg", "eval_at": [5], "label_gain": [0.0, 1.0, 10.0]}),
]


@pytest.mark.parametrize(("convention", "params"), NATIVE)
def test_native_metric_makes_lightgbm_compute_the_convention(convention, params):
    assert ra.lightgbm.native_metric(convention) == params
    data, result = ranking(30), {}
    train = dataset(data)
    lgb.train({**PARAMS, **params}, train, 3, valid_sets=[train], feval=ra.lightgbm.eval_metric(convention),
              callbacks=[lgb.record_evaluation(result)])  # fmt: skip
    native = result["training"][f"ndcg@{params['eval_at'][0]}"]
    np.testing.assert_allclose(result["training"][convention.name], native, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"ties": "average"}, "ties"), ({"empty": 0}, "empty"), ({"empty": "skip"}, "empty"), ({"short": "zero"}, "short"),
     ({"discount": "jk2"}, "discount"), ({"precision": "float32"}, "precision"), ({"ideal": "all"}, "ideal"),
     ({"average": "uniform"}, "average")],
)  # fmt: skip
def test_native_metric_names_what_lightgbm_cannot_express(change, field):
    with pytest.raises(ra.UnsupportedConventionError, match=f"LightGBM(.|\n)*{field}"):
        ra.lightgbm.native_metric(LIGHTGBM.replace(**change))


def test_native_metric_refuses_dcg():
    fields = {n: v for n, v in TEXTBOOK.to_dict().items() if n not in {"ideal", "empty"}}
    with pytest.raises(ra.UnsupportedConventionError, match="LightGBM"):
        ra.lightgbm.native_metric(ra.DCG(**fields))


def test_history_is_kept_with_lgbmranker_which_copies_its_metrics():
    train, valid = ranking(5), ranking(6)
    metric = ra.lightgbm.eval_metric(LETOR)
    ranker = lgb.LGBMRanker(n_estimators=3, verbosity=-1, min_child_samples=5, n_jobs=1)
    fit(ranker, train, valid, eval_metric=metric)
    assert [entry.value for entry in metric.history] == ranker.evals_result_["valid_0"][LETOR.name]
    assert copy.deepcopy(metric).history is metric.history


@pytest.mark.parametrize("k", [10_001, 2**32 + 1])
def test_a_cutoff_beyond_the_longest_query_does_not_wrap(k):
    assert ra.lightgbm.native_metric(LIGHTGBM.at(k))["eval_at"] == [10_000]


@pytest.mark.parametrize(("weights", "sizes"), [([1, 2], [3]), ([1, 2], [1]), ([], []), ([1.0], [1, 0])])
def test_query_weights_need_sizes_that_add_up(weights, sizes):
    with pytest.raises(ra.InputError, match="adds up to"):
        query_weights(np.array(weights), np.array(sizes, int))


@pytest.mark.parametrize(("other", "message"), [(5, "convention"), ("letor4", "'letor4' has no cutoff")])
def test_what_is_no_convention_is_refused_everywhere(other, message):
    for call in (ra.lightgbm.native_metric, lambda c: ra.lightgbm.early_stopping(c, rounds=3), ra.lightgbm.eval_metric):
        with pytest.raises(ra.ConventionError, match=message):
            call(other)
