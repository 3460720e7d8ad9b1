from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.objective_data import golden, graded, lightgbm_example, mq2008

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

PARAMS = {"metric": "None", "verbosity": -1, "num_threads": 1, "num_leaves": 15, "min_data_in_leaf": 10}
SAME = 1e-10  # 0.0 is what was seen, with LightGBM 4.6.0 and 4.7.0
DATA = {"made": lambda: graded(1, grades=5), "MQ2008": mq2008, "LightGBM's example": lightgbm_example}
GAINS = [0.0, 1.0, 3.5, 3.5, 20.0]
OPTIONS = [
    {},
    {"lambdarank_norm": False},
    {"lambdarank_truncation_level": 3},
    {"lambdarank_truncation_level": 10_000},
    {"sigmoid": 2.0},
    {"label_gain": GAINS},
    {"sigmoid": 0.7, "lambdarank_norm": False, "lambdarank_truncation_level": 7, "label_gain": GAINS},
]
BUILT_IN = [("lambdarank", options) for options in OPTIONS]
BUILT_IN += [("rank_xendcg", {}), ("rank_xendcg", {"objective_seed": 11})]
DEFAULTS = [("lambdarank", {}), ("rank_xendcg", {})]
CONVENTIONS = [ra.presets.letor4(10), ra.presets.yahoo(10), ra.presets.textbook(10)]
OTHERS = [
    objectives.pair_logit(),
    objectives.xgboost_pairwise(),
    objectives.xgboost_ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=4),
    objectives.ListNet(),
    objectives.query_softmax(),
    objectives.QueryRMSE(),
    objectives.query_cross_entropy(),
    objectives.lightgbm_xendcg(),
]
XENDCG = objectives.lightgbm_xendcg()


def preset(name, options):
    return {"lambdarank": objectives.lightgbm_lambdarank, "rank_xendcg": objectives.lightgbm_xendcg}[name](**options)


def ours(value):
    return {"objective": ra.lightgbm.objective(value, n_threads=1)}


def built_in(name, options):
    return {"objective": name, **options}


def dataset(data, **more):
    params = {"verbosity": -1, "num_threads": 1}
    return lgb.Dataset(data.X, label=data.y, group=data.sizes, free_raw_data=False, params=params, **more)


def constructed(data, **more):
    return dataset(data, **more).construct()


def predictions(objective, data, rounds=10, *, params=None, **more):
    booster = lgb.train({**PARAMS, **(params or {}), **objective}, dataset(data, **more), rounds)
    return booster.predict(data.X, raw_score=True)


def assert_same(found, expected):
    assert np.ptp(expected) > 0.1  # something was learned
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)


def in_unit_interval(data, value):
    """Labels that every objective takes."""
    return data._replace(y=data.y / data.y.max()) if isinstance(value, objectives.QueryCrossEntropy) else data


# Against the built-in objectives


@pytest.mark.parametrize("source", DATA)
@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=str)
def test_a_preset_trains_the_built_in_model(source, name, options):
    data = DATA[source]()
    expected = predictions(built_in(name, options), data, 50)
    assert_same(predictions(ours(preset(name, options)), data, 50), expected)


@pytest.mark.parametrize("uneven", [False, True], ids=["by query", "within queries"])
@pytest.mark.parametrize("source", DATA)
@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=str)
def test_row_weights_count_as_in_the_built_in_objective(source, name, options, uneven):
    data = DATA[source]()
    rng = np.random.default_rng(2)
    weights = rng.random(data.y.size) if uneven else np.repeat(rng.random(data.sizes.size), data.sizes)
    expected = predictions(built_in(name, options), data, 50, weight=weights)
    assert_same(predictions(ours(preset(name, options)), data, 50, weight=weights), expected)
    assert np.ptp(expected - predictions(built_in(name, options), data, 50)) > 0.01


@pytest.mark.parametrize("distinct", [2, 4])
@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=str)
def test_tied_rows_are_ranked_as_by_the_built_in_objective(name, options, distinct):
    data = graded(3, distinct=distinct)
    data = data._replace(X=data.X[:, :2])
    expected = predictions(built_in(name, options), data, 50)
    assert np.unique(expected).size < data.y.size / 20
    assert_same(predictions(ours(preset(name, options)), data, 50), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=str)
def test_short_queries_train_the_built_in_model(name, options, size):
    data = graded(4, 200, 1)
    data = data._replace(sizes=np.bincount(np.arange(200) // size), y=data.X[:, 0] > 0.5)
    first, second = (predictions(o, data, 5) for o in (ours(preset(name, options)), built_in(name, options)))
    np.testing.assert_allclose(first, second, rtol=0, atol=SAME)


@pytest.mark.parametrize(("name", "options", "spread"), [("lambdarank", {}, 20), ("rank_xendcg", {}, 1)], ids=str)
def test_initial_scores_and_bagging_train_the_built_in_model(name, options, spread):
    # lambdarank's table ends at sigmoid arguments of 25. Where a softmax rounds to 1, rank_xendcg divides by 0.
    data = graded(5)
    start = np.random.default_rng(3).normal(0, spread, data.y.size)
    params = {"bagging_fraction": 0.5, "bagging_freq": 1, "bagging_seed": 3}
    first, second = (
        predictions(o, data, params=params, init_score=start)
        for o in (ours(preset(name, options)), built_in(name, options))
    )
    assert_same(first, second)


def test_sampled_features_are_those_of_any_callable_objective():
    # Booster.update(fobj=) first resets the parameter "objective", and every reset makes LightGBM draw features anew.
    data, params = graded(5), {**PARAMS, "feature_fraction": 0.5}
    booster = lgb.Booster({**params, **built_in("lambdarank", {})}, dataset(data)).reset_parameter({"verbosity": -1})
    for _ in range(10):
        booster.update()
    assert_same(
        predictions(ours(preset("lambdarank", {})), data, params=params), booster.predict(data.X, raw_score=True)
    )


@pytest.mark.parametrize("record", golden("lightgbm"))
def test_gradients_add_up_to_the_recorded_leaf_sums(record):
    value = preset(record["objective"], record["params"])
    weights = None if record["row_weight"] is None else np.asarray(record["row_weight"])
    data = lgb.Dataset(
        np.asarray(record["X"]), label=record["labels"], group=record["group"], weight=weights
    ).construct()
    grad, hess = ra.lightgbm.objective(value)(np.asarray(record["scores"]), data)
    leaves = np.asarray(record["leaf_of_row"])
    for found, name in ((grad, "leaf_sum_gradient"), (hess, "leaf_sum_hessian")):
        sums = [found[leaves == leaf].sum(dtype=float) for leaf in record["leaf_ids"]]
        np.testing.assert_allclose(sums, record[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("record", golden("lightgbm"))
def test_the_recorded_predictions_are_trained(record):
    X = np.asarray(record["X"])
    params = {**record["train_params"], **ours(preset(record["objective"], record["params"]))}
    for rounds in (1, 3):
        data = lgb.Dataset(X, label=record["labels"], group=record["group"], weight=record["row_weight"],
                           init_score=record["scores"])  # fmt: skip
        found = lgb.train(params, data, rounds).predict(X)
        np.testing.assert_allclose(found, record[f"pred_after_{rounds}"], rtol=0, atol=SAME)


def test_the_exact_sigmoid_is_close_to_the_table_and_not_the_same():
    data = graded(1)
    start = np.random.default_rng(0).normal(size=data.y.size)
    values = [preset("lambdarank", {}), preset("lambdarank", {}).replace(sigmoid="exact")]
    (table, table_hess), (exact, exact_hess) = (
        ra.lightgbm.objective(value)(start, constructed(data)) for value in values
    )
    np.testing.assert_allclose(exact, table, rtol=0, atol=1e-4 * abs(table).max())
    np.testing.assert_allclose(exact_hess, table_hess, rtol=0, atol=1e-4 * table_hess.max())
    assert not np.array_equal(exact, table)
    first, second = (predictions(ours(value), data, 3, init_score=start) for value in values)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-2)


# Where LightGBM takes an objective


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=str)
def test_lgbmranker_trains_the_built_in_model(name, options, weighted):
    data = graded(6)
    weights = np.random.default_rng(4).random(data.y.size) if weighted else None
    found = []
    for params in (ours(preset(name, options)), built_in(name, options)):
        ranker = lgb.LGBMRanker(n_estimators=10, verbosity=-1, n_jobs=1, min_child_samples=5, **params)
        ranker.fit(data.X, data.y, group=data.sizes, sample_weight=weights)
        found.append(ranker.predict(data.X, raw_score=True))
    assert_same(*found)


@pytest.mark.parametrize("value", [preset("lambdarank", {}), *OTHERS], ids=lambda value: value.kind)
def test_a_direct_call_gives_the_gradients_of_the_first_round_in_float32(value):
    data = in_unit_interval(graded(7), value)
    scores = np.random.default_rng(5).normal(size=data.y.size)
    labels = data.y.astype(np.float32)  # as LightGBM keeps them
    expected = objectives.gradients(labels, scores, value, group_sizes=data.sizes)
    for preds in (scores, scores[:, None], np.repeat(scores, 2)[::2]):
        found = ra.lightgbm.objective(value)(preds, constructed(data))
        for array, same in zip(found, expected, strict=True):
            assert array.dtype == np.float32
            assert array.shape == (data.y.size,)
            np.testing.assert_array_equal(array, same)


def test_a_direct_call_takes_a_dataset_that_no_training_has_seen():
    data, value = graded(7), preset("lambdarank", {})
    weights = np.random.default_rng(5).random(data.y.size)
    scores, objective = np.linspace(0, 1, data.y.size), ra.lightgbm.objective(value)
    untouched = dataset(data, weight=weights)
    found = objective(scores, untouched)
    np.testing.assert_array_equal(found, ra.lightgbm.objective(value)(scores, constructed(data, weight=weights)))
    np.testing.assert_array_equal(objective(scores, untouched.construct()), found)


@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=str)
def test_one_object_trains_twice_with_equal_results(name, options):
    data, objective = graded(8), ours(preset(name, options))
    first, second = (predictions(objective, data) for _ in range(2))
    assert_same(first, predictions(built_in(name, options), data))
    np.testing.assert_array_equal(first, second)
    kept = dataset(data)
    boosters = [lgb.train({**PARAMS, **objective}, kept, 10) for _ in range(2)]
    np.testing.assert_array_equal(*(booster.predict(data.X) for booster in boosters))


@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=str)
def test_continued_training_is_that_of_the_built_in_objective(name, options):
    data, found = graded(9), []
    for objective in (ours(preset(name, options)), built_in(name, options)):
        first = lgb.train({**PARAMS, **objective}, dataset(data), 5, keep_training_booster=True)
        second = lgb.train({**PARAMS, **objective}, dataset(data), 5, init_model=first)
        assert second.num_trees() == 10
        found.append(second.predict(data.X, raw_score=True))
    assert_same(*found)


def test_a_kept_training_booster_goes_on():
    data, value = graded(9), preset("lambdarank", {})
    booster = lgb.train({**PARAMS, **ours(value)}, dataset(data), 5, keep_training_booster=True)
    for _ in range(5):
        booster.update(fobj=ra.lightgbm.objective(value))
    assert_same(booster.predict(data.X), predictions(built_in("lambdarank", {}), data, 10))


class Spy:
    """A metric that remembers the predictions that LightGBM hands over."""

    def __init__(self):
        self.seen = []

    def __call__(self, preds, data):
        self.seen.append(preds.copy())
        return "spy", 0.0, True


def test_metric_early_stopping_and_objective_work_side_by_side():
    train, valid, convention = graded(10), graded(11), CONVENTIONS[2]
    found = {}
    for name, objective in (("ours", ours(preset("lambdarank", {}))), ("built-in", built_in("lambdarank", {}))):
        spy, metric, log, first = Spy(), ra.lightgbm.eval_metric(convention), {}, dataset(train)
        booster = lgb.train(
            {**PARAMS, **objective, "learning_rate": 0.5}, first, 60,
            valid_sets=[first, dataset(valid, reference=first)], valid_names=["train", "valid"], feval=[spy, metric],
            callbacks=[ra.lightgbm.early_stopping(convention, 5, verbose=False), lgb.record_evaluation(log)],
        )  # fmt: skip
        judged = [(train, valid)[number % 2] for number in range(len(spy.seen))]
        assert [entry.value for entry in metric.history] == [
            ra.evaluate(data.y, preds, convention, group_sizes=data.sizes).value
            for data, preds in zip(judged, spy.seen, strict=True)
        ]
        assert len(log["valid"][convention.name]) == booster.best_iteration + 5 < 60
        found[name] = log
    assert found["ours"] == found["built-in"]


# Cross-validation


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(("name", "options"), DEFAULTS, ids=str)
def test_cv_with_folds_of_whole_queries_equals_the_built_in_objective(name, options, shuffled):
    from sklearn.model_selection import GroupKFold

    data = graded(12)
    folds = list(GroupKFold(3).split(data.X, data.y, data.qid))
    folds = folds[::-1] if shuffled else folds
    results = [
        lgb.cv({**PARAMS, **objective}, dataset(data), 8, folds=folds, feval=ra.lightgbm.eval_metric(CONVENTIONS[0]),
               eval_train_metric=True, return_cvbooster=True)
        for objective in (ours(preset(name, options)), built_in(name, options))
    ]  # fmt: skip
    mine, theirs = (result.pop("cvbooster").boosters for result in results)
    for first, second in zip(mine, theirs, strict=True):
        assert_same(first.predict(data.X, raw_score=True), second.predict(data.X, raw_score=True))
    assert results[0] == results[1]


@pytest.mark.parametrize("how", [{}, {"stratified": False}, {"stratified": False, "shuffle": False}], ids=str)
def test_cv_with_its_default_folds_is_refused_and_the_way_out_works(how):
    from sklearn.model_selection import GroupKFold

    data = graded(12)
    params = {**PARAMS, **ours(preset("lambdarank", {}))}
    message = r"holds \d+ of the \d+ rows of query \d+: its queries were cut(.|\n)*Hint: lgb.cv\(folds=.*GroupKFold"
    with pytest.raises(ra.InputError, match=message):
        lgb.cv(params, dataset(data), 2, nfold=3, **how)
    group = data.sizes
    folds = GroupKFold(5).split(data.X, data.y, groups=np.repeat(np.arange(len(group)), group))
    result = lgb.cv(params, dataset(data), 2, folds=folds, feval=ra.lightgbm.eval_metric(CONVENTIONS[0]), **how)
    assert len(result[f"valid {CONVENTIONS[0].name}-mean"]) == 2


def test_folds_that_cut_queries_are_refused_too():
    from sklearn.model_selection import KFold

    data = graded(12)
    folds = list(KFold(3).split(data.X))
    with pytest.raises(ra.InputError, match="its queries were cut"):
        lgb.cv({**PARAMS, **ours(XENDCG)}, dataset(data), 2, folds=folds)


def test_a_subset_of_whole_queries_trains_as_its_own_dataset():
    data = graded(13)
    rows = np.flatnonzero(data.qid % 3 > 0)
    subset = dataset(data).subset(rows)
    found = lgb.train({**PARAMS, **ours(XENDCG)}, subset, 5).predict(data.X)
    expected = lgb.train({**PARAMS, **built_in("rank_xendcg", {})}, dataset(data).subset(rows), 5)
    assert_same(found, expected.predict(data.X, raw_score=True))


# State


def updated(booster, objective, rounds):
    for _ in range(rounds):
        booster.update(fobj=objective)
    return booster


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def test_an_update_loop_draws_anew_each_round():
    data = graded(14)
    objective, train = ra.lightgbm.objective(XENDCG), dataset(data)
    booster = updated(lgb.Booster({**PARAMS, "objective": "none"}, train), objective, 10)
    assert_same(booster.predict(data.X), predictions(built_in("rank_xendcg", {}), data, 10))


@pytest.mark.parametrize("times", [1, 2])
def test_a_pickle_goes_on_where_training_was_interrupted(times):
    data = graded(14)
    objective, train = ra.lightgbm.objective(XENDCG), dataset(data)
    booster = updated(lgb.Booster({**PARAMS, "objective": "none"}, train), objective, 5)
    for _ in range(times):
        objective = pickled(objective)
    assert_same(updated(booster, objective, 5).predict(data.X), predictions(built_in("rank_xendcg", {}), data, 10))


def test_a_pickle_goes_on_with_a_dataset_made_again_and_counts_its_rounds():
    data = graded(14)
    scores = np.zeros(data.y.size)
    objective, train = ra.lightgbm.objective(XENDCG), constructed(data)
    first, other = objective(scores, train), constructed(graded(15))
    again = pickled(objective)
    expected = objective(scores, train)
    again(np.zeros(other.num_data()), other)  # a dataset of other queries comes between
    found = again(scores, constructed(data))
    np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(found[0], first[0])
    with pytest.raises(ra.InputError, match="round 3: scores has"):
        pickled(objective)(scores[:-1], constructed(data))


@pytest.mark.parametrize("anew", ["deepcopy", "reset"])
def test_deep_copies_and_reset_start_anew(anew):
    data = constructed(graded(14))
    scores, objective = np.zeros(data.num_data()), ra.lightgbm.objective(XENDCG)
    first = objective(scores, data)[0]
    second = objective(scores, data)[0]
    assert not np.array_equal(first, second)
    if anew == "deepcopy":
        objective, original = copy.deepcopy(objective), objective
    else:
        original = pickled(objective)
        objective.reset()
    np.testing.assert_array_equal(objective(scores, data)[0], first)
    assert not np.array_equal(original(scores, data)[0], second)


def test_each_dataset_has_a_state_of_its_own():
    data, objective = graded(14), ra.lightgbm.objective(XENDCG)
    one, two, scores = constructed(data), constructed(data), np.zeros(data.y.size)
    first = objective(scores, one)[0]
    np.testing.assert_array_equal(objective(scores, two)[0], first)
    np.testing.assert_array_equal(objective(scores, one)[0], objective(scores, two)[0])


def test_datasets_are_not_kept_alive():
    data, objective = graded(16), ra.lightgbm.objective(preset("lambdarank", {}))
    train = constructed(data)
    objective(np.zeros(data.y.size), train)
    labels = data.y.copy()
    objective(labels, np.zeros(data.y.size), None, data.sizes)
    gone = weakref.ref(train), weakref.ref(labels)
    del train, labels
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert objective._training._bound == {}


@pytest.mark.parametrize("value", [preset("lambdarank", {}), *OTHERS], ids=lambda value: value.kind)
def test_any_number_of_threads_gives_the_same_bits(value):
    data = in_unit_interval(graded(17, 120), value)
    scores, train = np.random.default_rng(6).normal(size=data.y.size), constructed(data)
    one, *others = (ra.lightgbm.objective(value, n_threads=n) for n in (1, 2, None))
    for _ in range(2):
        expected = one(scores, train)
        for other in others:
            np.testing.assert_array_equal(other(scores, train), expected)


# Bad input


def test_a_dataset_without_group_is_refused():
    data = graded(18)
    with pytest.raises(ra.InputError, match=r"the Dataset has no group.*\nHint: lgb.Dataset\(..., group=sizes\)"):
        lgb.train({**PARAMS, **ours(preset("lambdarank", {}))}, lgb.Dataset(data.X, label=data.y), 1)
    with pytest.raises(ra.InputError, match=r"the training data has no group.*\nHint: fit\(group=...\)"):
        lgb.LGBMRegressor(n_estimators=1, verbosity=-1, **ours(XENDCG)).fit(data.X, data.y)


@pytest.mark.parametrize("change", ["label", "weight", "group"])
def test_a_dataset_that_changes_between_rounds_is_refused_until_reset(change):
    data, objective = graded(18), ra.lightgbm.objective(preset("lambdarank", {}))
    train = dataset(data, weight=np.ones(data.y.size))
    booster = updated(lgb.Booster({**PARAMS, "objective": "none"}, train), objective, 2)
    new = {"label": data.y[::-1], "weight": np.full(data.y.size, 2.0), "group": data.sizes[::-1]}[change]
    train.set_field(change, new) if change == "weight" else getattr(train, f"set_{change}")(new)
    with pytest.raises(ra.InputError, match=r"labels, groups or weights .* changed after round 2 .*\nHint: reset\(\)"):
        booster.update(fobj=objective)
    objective.reset()
    booster.update(fobj=objective)
    assert booster.num_trees() == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("value", [preset("lambdarank", {}), *OTHERS], ids=lambda value: value.kind)
def test_predictions_that_are_not_finite_name_round_and_row(value, bad):
    data = in_unit_interval(graded(18), value)
    objective, train, scores = ra.lightgbm.objective(value), constructed(data), np.zeros(data.y.size)
    objective(scores, train)
    scores[7] = bad
    with pytest.raises(ra.InputError, match=rf"round 2: scores\[7\] is {bad}"):
        objective(scores, train)


def test_predictions_that_are_not_finite_stop_a_training():
    data, objective = graded(18), ra.lightgbm.objective(preset("lambdarank", {}))
    calls = []

    def poisoned(preds, train):
        calls.append(preds)
        return objective(np.where(np.arange(preds.size) == 11, np.nan, preds) if len(calls) == 3 else preds, train)

    with pytest.raises(ra.InputError, match=r"round 3: scores\[11\] is nan"):
        lgb.train({**PARAMS, "objective": poisoned}, dataset(data), 5)


@pytest.mark.parametrize("scale", [1e6, 1e-300])
@pytest.mark.parametrize("value", [preset("lambdarank", {}), *OTHERS], ids=lambda value: value.kind)
def test_scores_of_any_size_have_finite_gradients(value, scale):
    data = in_unit_interval(graded(18), value)
    scores = np.random.default_rng(7).choice([-scale, 0.0, scale], data.y.size)
    grad, hess = ra.lightgbm.objective(value)(scores, constructed(data))
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert grad.any()


def test_predictions_of_another_length_are_refused():
    data = graded(18)
    with pytest.raises(ra.InputError, match=rf"scores has 3 rows but the queries cover {data.y.size}"):
        ra.lightgbm.objective(XENDCG)(np.zeros(3), constructed(data))


def test_a_dataset_with_positions_is_refused():
    data = graded(18)
    with pytest.raises(ra.InputError, match=r"has positions(.|\n)*Hint: lgb.Dataset without position="):
        predictions(ours(preset("lambdarank", {})), data, 1, position=np.arange(data.y.size) % 3)


def test_labels_outside_what_an_objective_takes_are_named():
    data = graded(18)
    with pytest.raises(ra.InputError, match=r"labels\[\d+\] is \d.*from 0 to 1"):
        predictions(ours(objectives.query_cross_entropy()), data, 1)
    with pytest.raises(ra.InputError, match=r"labels\[\d+\] is \d.*average precision knows 0 and 1"):
        predictions(ours(objectives.xgboost_map()), data, 1)


@pytest.mark.parametrize("value", ["lambdarank", ra.presets.letor4(10), None])
def test_what_is_no_objective_is_refused(value):
    for call in (ra.lightgbm.objective, ra.lightgbm.native_objective):
        with pytest.raises(ra.ConventionError, match=r"is not an objective.\nHint: .*lambdarank\("):
            call(value)


# Native objectives


@pytest.mark.parametrize(("name", "options"), BUILT_IN, ids=str)
def test_a_native_objective_trains_the_same_model(name, options):
    data, value = graded(20), preset(name, options)
    native = ra.lightgbm.native_objective(value)
    assert native["objective"] == name
    assert native.items() >= options.items()
    assert_same(predictions(ours(value), data, 20), predictions(native, data, 20, params={"seed": 3}))


def test_gains_that_agree_on_whole_labels_are_native():
    data = graded(20)
    for gain in ("exp2-floor", "linear", "linear-positive"):
        value = preset("lambdarank", {})
        value = value.replace(convention=value.convention.replace(gain=gain))
        native = ra.lightgbm.native_objective(value)
        assert_same(predictions(ours(value), data, 20), predictions(native, data, 20))


def test_no_cutoff_is_lightgbms_longest_query():
    data, value = graded(20, 8, 400), preset("lambdarank", {})
    value = value.replace(truncation=None, convention=value.convention.at(None))
    native = ra.lightgbm.native_objective(value)
    assert native["lambdarank_truncation_level"] == 10_000
    assert_same(predictions(ours(value), data, 20), predictions(native, data, 20))


EXACT = preset("lambdarank", {}).replace(sigmoid="exact")


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (EXACT, "sigmoid=exact"),
        (preset("lambdarank", {}).replace(truncation=10), "k=30"),
        (preset("lambdarank", {}).replace(beyond_k="cut"), "beyond_k=cut"),
        (EXACT.replace(hessian="doubled"), "hessian=doubled"),
        (EXACT.replace(normalization="xgboost"), "normalization=xgboost"),
        (EXACT.replace(truncation=None, samples=2, sigmoid="float32"), "samples=2"),
        (EXACT.replace(convention=ra.presets.letor4(30)), "discount=jk2"),
        (EXACT.replace(convention=ra.presets.yahoo(30)), "average=uniform"),
        (EXACT.replace(convention=ra.presets.textbook(30)), "ties=average"),
        *((value, value.kind) for value in OTHERS if value.kind not in {"xendcg", "lambdarank"}),
    ],
    ids=lambda part: part if isinstance(part, str) else part.kind,
)
def test_what_lightgbm_has_not_is_refused_by_name(value, field):
    with pytest.raises(
        ra.UnsupportedConventionError, match=rf"LightGBM has no built-in .*{field}(.|\n)*Hint: objective"
    ):
        ra.lightgbm.native_objective(value)


# Conventions and further objectives


def ndcg(data, scores):
    return ra.evaluate(data.y, scores, CONVENTIONS[2], group_sizes=data.sizes).value


def test_models_differ_by_the_convention_they_were_trained_under():
    data = graded(21)
    found = [predictions({"objective": ra.lightgbm.lambdarank(c, truncation=30)}, data, 20) for c in CONVENTIONS]
    for scores in found:
        assert ndcg(data, scores) > ndcg(data, np.zeros(data.y.size)) + 0.1
    letor, yahoo, textbook = found
    assert np.ptp(letor - yahoo) > 0.1
    np.testing.assert_array_equal(yahoo, textbook)  # they differ in `ties` and `empty` only: no matter to a gradient


@pytest.mark.parametrize(
    "change",
    [
        {"beyond_k": "cut"},
        {"normalization": "none"},
        {"normalization": "xgboost"},
        {"sigma": 2.0},
        {"truncation": None},
    ],
    ids=str,
)
def test_the_short_form_takes_every_choice(change):
    data, convention = graded(21), CONVENTIONS[0].at(5)
    given = {"truncation": 10, **change}
    short = ra.lightgbm.lambdarank(convention, **given, n_threads=1)
    value = EXACT.replace(convention=convention, **given)
    assert short.objective == value
    changed = predictions({"objective": short}, data, 20)
    assert np.ptp(changed - predictions({"objective": ra.lightgbm.lambdarank(convention, truncation=10)}, data, 20)) > 0
    assert ndcg(data, changed) > ndcg(data, np.zeros(data.y.size)) + 0.1


def test_weights_are_ignored_under_a_uniform_average():
    data = graded(21)
    weights = np.random.default_rng(8).random(data.y.size)
    uniform = {"objective": ra.lightgbm.lambdarank(ra.presets.yahoo(10), truncation=30)}
    np.testing.assert_array_equal(predictions(uniform, data, weight=weights), predictions(uniform, data))


@pytest.mark.parametrize("value", OTHERS, ids=lambda value: value.kind)
def test_further_objectives_improve_ndcg_and_count_weights(value):
    data = in_unit_interval(graded(22), value)
    scores = predictions(ours(value), data, 20)
    assert ndcg(data, scores) > ndcg(data, np.zeros(data.y.size)) + 0.1
    weights = np.random.default_rng(9).random(data.y.size)
    train = constructed(data)
    plain, weighted = ra.lightgbm.objective(value)(scores, train), constructed(data, weight=weights)
    for array, found in zip(plain, ra.lightgbm.objective(value)(scores, weighted), strict=True):
        np.testing.assert_array_equal(found, array * weights.astype(np.float32))


# scikit-learn


def ranker(value, **more):
    return lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1, min_child_samples=5, **ours(value), **more)


def fitted_predictions(value, data):
    return ranker(value).fit(data.X, data.y, group=data.sizes).predict(data.X)


@pytest.mark.parametrize("value", [preset("lambdarank", {}), XENDCG], ids=lambda value: value.kind)
def test_rankers_are_cloned_pickled_and_fitted_again(value):
    from sklearn.base import clone

    data = graded(23)
    one = ranker(value).fit(data.X, data.y, group=data.sizes)
    expected = one.predict(data.X)
    assert one.get_params()["objective"].objective == value
    again = pickled(one)
    np.testing.assert_array_equal(again.predict(data.X), expected)
    for other in (again, clone(one), pickled(ranker(value)), one):
        assert other.get_params()["objective"].objective == value
        np.testing.assert_array_equal(other.fit(data.X, data.y, group=data.sizes).predict(data.X), expected)


def test_objectives_are_a_parameter_to_choose():
    data, candidate = graded(23), ranker(EXACT)
    for value in (EXACT, XENDCG):
        candidate.set_params(**ours(value), num_leaves=5)
        scores = candidate.fit(data.X, data.y, group=data.sizes).predict(data.X)
        assert ndcg(data, scores) > ndcg(data, np.zeros(data.y.size)) + 0.1
        assert str(value) in repr(candidate.objective)


def test_rankers_are_fitted_in_other_processes():
    joblib, data = pytest.importorskip("joblib"), graded(23)
    values = [preset("lambdarank", {}), XENDCG]
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted_predictions)(value, data) for value in values)
    for value, scores in zip(values, found, strict=True):
        np.testing.assert_array_equal(scores, fitted_predictions(value, data))


def test_a_cut_is_seen_through_a_subset_of_a_subset():
    lgb = pytest.importorskip("lightgbm")
    whole = lgb.Dataset(
        np.random.default_rng(0).random((60, 2)), np.arange(60) % 3, group=[20] * 3, free_raw_data=False
    )
    part = whole.construct().subset(range(5, 60)).subset(range(55)).construct()
    with pytest.raises(ra.InputError, match="holds 15 of the 20 rows of query 0: its queries were cut"):
        ra.lightgbm.objective(ra.objectives.lightgbm_lambdarank())(np.zeros(55), part)
