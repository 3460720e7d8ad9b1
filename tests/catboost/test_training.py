"""`catboost.eval_metric`: the declared metric inside CatBoost's training."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each, short

cb = pytest.importorskip("catboost")

from tests.helpers.catboost_rankers import weighted_rows  # noqa: E402 - after the skip

CONVENTION = ra.presets.letor4(3)


def data(seed):
    X, labels, qid, weights = weighted_rows(seed)
    return X, np.clip(labels, 0, 2), qid, weights  # LETOR's gain table ends at label 2


def labels_and_qid(seed):
    return data(seed)[1:3]


def train(metric, *, rounds=5, weights=(None, None), boosting="Plain", loss="QueryRMSE", **params):
    pools = [
        cb.Pool(X, y, group_id=qid, group_weight=group_weight)
        for (X, y, qid, _), group_weight in zip((data(0), data(1)), weights, strict=True)
    ]
    model = ranker(metric, iterations=rounds, loss_function=loss, boosting_type=boosting, **params)
    return model.fit(pools[0], eval_set=pools[1])


def ranker(metric, **params):
    defaults = {
        "iterations": 5, "depth": 3, "loss_function": "QueryRMSE", "thread_count": 2, "random_seed": 0,
        "allow_writing_files": False, "logging_level": "Silent",
    }  # fmt: skip
    return cb.CatBoostRanker(eval_metric=metric, **defaults | params)


def values(metric, name="validation"):
    return [entry.value for entry in metric.history if entry.dataset == name]


def our_values(model, features, labels, qid, convention=CONVENTION):
    return [ra.evaluate(labels, scores, convention, qid=qid).value for scores in model.staged_predict(features)]


def make_metric(convention=CONVENTION, **options):
    return ra.catboost.eval_metric(convention, sets=[labels_and_qid(0), labels_and_qid(1)], **options)


@pytest.mark.parametrize("convention", [CONVENTION, ra.presets.textbook(None), ra.presets.yahoo(5)], ids=short)
@pytest.mark.parametrize("loss", ["QueryRMSE", "YetiRank"])
def test_every_round_of_both_sets_equals_our_value(convention, loss):
    metric = make_metric(convention)
    model = train(metric, loss=loss, use_best_model=False)
    for seed, name in enumerate(("learn", "validation")):
        assert values(metric, name) == pytest.approx(our_values(model, *data(seed)[:3], convention), rel=1e-12)
        assert list(model.get_evals_result()[name][convention.name]) == values(metric, name)
    assert {entry.convention for entry in metric.history} == {convention}


def test_two_conventions_are_recorded_and_catboost_watches_the_first():
    conventions = [ra.presets.letor4(5), ra.presets.textbook(10).replace(average="query")]
    metric = make_metric(conventions, names=["first", "second"])
    weights = tuple(data(seed)[3] for seed in (0, 1))
    with pytest.warns(UserWarning, match="the data has weights, but ndcg@5/letor4 ignores them"):
        model = train(metric, weights=weights, use_best_model=False)
    assert set(model.get_evals_result()["validation"]) == {"QueryRMSE", "first"}
    _, labels, qid, group_weights = data(1)
    *_, scores = model.staged_predict(data(1)[0])
    starts = np.unique(qid, return_index=True)[1]
    for convention, name in zip(conventions, ("first", "second"), strict=True):
        by_query = group_weights[np.sort(starts)] if convention.weighting else None
        last_entry = [entry for entry in metric.history if (entry.dataset, entry.name) == ("validation", name)][-1]
        our_value = ra.evaluate(labels, scores, convention, qid=qid, query_weight=by_query).value
        assert (last_entry.convention, last_entry.value) == (convention, pytest.approx(our_value, rel=1e-12))
    assert model.get_evals_result()["validation"]["first"] == [
        entry.value for entry in metric.history if (entry.dataset, entry.name) == ("validation", "first")
    ]


def test_a_direct_call_returns_our_value_and_names_the_set_by_its_index():
    metric = make_metric()
    for index in (1, 0):
        labels, qid = labels_and_qid(index)
        scores = np.random.default_rng(1).normal(size=labels.size)
        value, weight = metric.evaluate([scores], labels.astype(np.float32), None)
        assert (value, weight) == (ra.evaluate(labels, scores, CONVENTION, qid=qid).value, 1.0)
    assert [entry.dataset for entry in metric.history] == ["set_1", "set_0"]


def test_catboosts_built_in_metric_agrees():
    metric = make_metric(ra.presets.catboost(3))
    model = train(metric, custom_metric=["NDCG:top=3"], use_best_model=False)
    built_in_values = model.get_evals_result()["validation"]["NDCG:top=3;type=Base"]
    assert values(metric) == pytest.approx(built_in_values, rel=1e-9)


def test_early_stopping_watches_the_metric_and_keeps_its_best_round():
    metric = make_metric()
    model = train(metric, rounds=200, od_type="Iter", od_wait=5, learning_rate=0.5)
    assert len(values(metric)) < 200
    assert model.get_best_iteration() == int(np.argmax(values(metric)))
    assert model.get_best_score()["validation"][CONVENTION.name] == max(values(metric))


def test_group_weights_of_the_pools_count_unless_the_mean_is_uniform():
    weights = [data(seed)[3] for seed in (0, 1)]
    weighted, unweighted = make_metric(ra.presets.catboost(3)), make_metric(ra.presets.catboost(3, use_weights=False))
    train(weighted, weights=weights, use_best_model=False, rounds=1)
    with pytest.warns(UserWarning, match=r"the data has weights, but .* ignores them \(average='uniform'\)") as caught:
        train(unweighted, weights=weights, use_best_model=False, rounds=3)
    assert len(caught) == 1
    unweighted = [entry for entry in unweighted.history if entry.iteration == 0]
    X, labels, qid, row_weights = data(1)
    model = train(None, weights=weights, use_best_model=False, rounds=1)
    first = np.unique(qid, return_index=True)[1]
    expected = [
        ra.evaluate(labels, model.predict(X), ra.presets.catboost(3), qid=qid, query_weight=row_weights[first]).value,
        ra.evaluate(labels, model.predict(X), ra.presets.catboost(3), qid=qid).value,
    ]
    assert [values[-1].value for values in (weighted.history, unweighted)] == pytest.approx(expected, rel=1e-12)
    assert expected[0] != expected[1]


def test_object_weights_of_the_pools_are_row_weights():
    convention = ra.presets.sklearn.average_precision_score(pool="queries")
    weights = np.random.default_rng(7).integers(1, 5, data(1)[1].size).astype(float)
    metric = make_metric(convention)
    (X, y, qid, _), (X_valid, y_valid, qid_valid, _) = data(0), data(1)
    train_pool = cb.Pool(X, y, group_id=qid, weight=np.ones(y.size))
    valid_pool = cb.Pool(X_valid, y_valid, group_id=qid_valid, weight=weights)
    model = ranker(metric, iterations=2, use_best_model=False).fit(train_pool, eval_set=valid_pool)
    expected = ra.evaluate(y_valid, model.predict(X_valid), convention, qid=qid_valid, row_weight=weights).value
    assert metric.history[-1].dataset == "validation"
    assert metric.history[-1].value == pytest.approx(expected, rel=1e-12)
    assert expected != ra.evaluate(y_valid, model.predict(X_valid), convention, qid=qid_valid).value


def test_weights_of_a_set_replace_those_of_the_pool():
    labels, qid = labels_and_qid(0)
    weights = np.arange(1.0, np.unique(qid).size + 1)
    metric = ra.catboost.eval_metric(ra.presets.catboost(3), sets=[(labels, qid, weights), labels_and_qid(1)])
    model = train(metric, rounds=1, use_best_model=False)
    expected = ra.evaluate(labels, model.predict(data(0)[0]), ra.presets.catboost(3), qid=qid, query_weight=weights)
    assert metric.history[0].value == pytest.approx(expected.value, rel=1e-12)


def test_sets_may_be_queries_and_repeated_and_inputs_do_not_change():
    (labels, qid), valid_columns = labels_and_qid(0), labels_and_qid(1)
    before = labels.copy(), qid.copy()
    metric = ra.catboost.eval_metric(
        CONVENTION, [(labels, qid), ra.Queries(labels, qid=qid), ra.Queries(valid_columns[0], qid=valid_columns[1])]
    )
    train(metric)
    assert {entry.dataset for entry in metric.history} == {"learn", "validation"}
    assert all(map(np.array_equal, before, (labels, qid)))


PERMUTED = r"(?s)CatBoost permutes training rows.*Hint: boosting_type='Plain'.*or sets= of every eval_set alone"
UNDECLARED = r"(?s)labels match none of the declared sets .*Hint: sets="


@for_each(
    ("sets", "fit", "message"),
    [
        ([labels_and_qid(0), labels_and_qid(1)], lambda metric: train(metric, boosting="Ordered"), PERMUTED),
        ([labels_and_qid(0), labels_and_qid(1)],
         lambda metric: ranker(metric, one_hot_max_size=1).fit(with_categories(0), eval_set=with_categories(1)),
         PERMUTED),
        ([labels_and_qid(0)], train, UNDECLARED),
        ([labels_and_qid(1)], lambda metric: ranker(metric).fit(*data(0)[:2], group_id=data(0)[2]), UNDECLARED),
        ([(2 - labels_and_qid(0)[0], data(0)[2]), labels_and_qid(1)], train, UNDECLARED),
    ],
)  # fmt: skip
def test_undeclared_sets_and_rows_that_catboost_permutes_are_refused(sets, fit, message):
    with pytest.raises(cb.CatBoostError, match=message):
        fit(ra.catboost.eval_metric(CONVENTION, sets=sets))


def test_a_training_set_that_was_not_declared_is_not_evaluated():
    both, valid = make_metric(), ra.catboost.eval_metric(CONVENTION, sets=[labels_and_qid(1)])
    models = [train(metric, rounds=20, od_type="Iter", od_wait=3, learning_rate=0.5) for metric in (both, valid)]
    assert values(valid) == values(both)
    assert {entry.dataset for entry in valid.history} == {"validation"}
    assert models[0].get_best_iteration() == models[1].get_best_iteration()
    assert set(models[1].get_evals_result()["learn"][CONVENTION.name]) == {-1.0}
    assert (models[0].predict(data(1)[0]) == models[1].predict(data(1)[0])).all()


def with_categories(seed):
    X, labels, qid, _ = data(seed)
    return cb.Pool(X.astype(int).astype(str).astype(object), labels, group_id=qid, cat_features=[0, 1])


@pytest.mark.parametrize("params", [{}, {"boosting_type": "Ordered"}])
@pytest.mark.parametrize("validation", [1, 0], ids=["other rows", "the training set"])
def test_catboost_may_permute_a_training_set_that_was_not_declared(params, validation):
    metric = ra.catboost.eval_metric(CONVENTION, sets=[labels_and_qid(validation)])
    train_pool, valid_pool = with_categories(0), with_categories(validation)
    model = ranker(metric, one_hot_max_size=1, **params).fit(train_pool, eval_set=valid_pool, use_best_model=False)
    expected = our_values(model, valid_pool, *labels_and_qid(validation))
    assert values(metric) == pytest.approx(expected, rel=1e-12)
    assert {entry.dataset for entry in metric.history} == {"validation"}


def test_sets_of_equal_labels_are_told_apart_in_every_round():
    X, labels, qid, _ = data(0)
    pools = [cb.Pool(features, labels, group_id=qid) for features in (X, X, -X)]
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid)])
    model = ranker(metric).fit(pools[0], eval_set=pools[1:], use_best_model=False)
    for name, features in {"learn": X, "validation_0": X, "validation_1": -X}.items():
        assert values(metric, name) == pytest.approx(our_values(model, features, labels, qid), rel=1e-12)
        assert [entry.iteration for entry in metric.history.only(dataset=name)] == list(range(5))
        assert list(model.get_evals_result()[name][CONVENTION.name]) == values(metric, name)


def test_sets_of_equal_labels_are_told_apart_when_rounds_are_skipped():
    X, labels, qid, _ = data(0)
    pool = cb.Pool(X, labels, group_id=qid)
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid)])
    model = ranker(metric, metric_period=3).fit(pool, eval_set=[pool, pool], early_stopping_rounds=5)
    log = model.get_evals_result()
    for name in ("learn", "validation_0", "validation_1"):
        assert values(metric, name) == list(log[name][CONVENTION.name])


def test_sets_of_equal_labels_and_different_queries_are_refused():
    labels, qid = labels_and_qid(0)
    other_qid = np.sort(np.random.default_rng(0).permutation(qid))
    other_qid[:3] = other_qid[0]
    with pytest.raises(ra.InputError, match="sets 0 and 1 have the same labels but different queries or weights"):
        ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid), (labels, np.append(other_qid[1:], 99))])


@pytest.mark.parametrize("shifts", [(0, 100), (100, 0)])
def test_sets_of_equal_labels_whose_queries_have_different_ids_are_refused(shifts):
    labels, qid = labels_and_qid(0)
    with pytest.raises(ra.InputError, match="sets 0 and 1 have the same labels but different queries or weights"):
        ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid + shift) for shift in shifts])


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "is not a list of sets"),
        ("train", "is not a list of sets"),
        ([[1, 0]], r"sets\[0\] is \[1, 0\]; allowed are \(labels, qid\)"),
        ([([1, 0],)], r"sets\[0\] is"),
        ([([1, 0], [1])], "qid has 1 rows but labels has 2"),
        ([([3, 0], [1, 1])], r"labels\[0\] is 3, outside the gain table"),
    ],
)
def test_bad_sets_are_refused(sets, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.eval_metric(CONVENTION, sets)


def test_a_direct_call_refuses_varying_weights_and_two_outputs():
    labels, _ = labels_and_qid(0)
    with pytest.raises(ra.InputError, match=r"vary within query \d+ of set 0: they are object weights"):
        make_metric(ra.presets.catboost(3)).evaluate(
            [np.zeros(labels.size)], labels.astype(np.float32), np.arange(labels.size) + 1.0
        )
    with pytest.raises(ra.InputError, match="the model has 2 outputs"):
        make_metric().evaluate([np.zeros(3), np.zeros(3)], np.zeros(3), None)


@pytest.mark.parametrize("clone", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy], ids=["pickle", "copy"])
def test_a_copy_starts_without_history(clone):
    metric = make_metric()
    train(metric)
    copied = clone(metric)
    assert copied.history == []
    train(copied)
    assert copied.history == metric.history
    assert copy.deepcopy(metric).history is metric.history  # CatBoost deep-copies its metric
