"""The declared metric inside CatBoost's training."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

from tests.test_catboost_models import data as graded  # noqa: E402 - after the skip

CONVENTION = ra.presets.letor4(3)


def data(seed):
    X, labels, qid, weights = graded(seed)
    return X, np.clip(labels, 0, 2), qid, weights  # where LETOR's gains end


def labels_and_qid(seed):
    return data(seed)[1:3]


def train(metric, *, rounds=5, weights=(None, None), boosting="Plain", loss="QueryRMSE", **more):
    (X, y, qid, _), (V, z, vid, _) = data(0), data(1)
    first, second = (
        cb.Pool(X, y, group_id=qid, group_weight=weights[0]),
        cb.Pool(V, z, group_id=vid, group_weight=weights[1]),
    )
    model = cb.CatBoostRanker(
        iterations=rounds, depth=3, loss_function=loss, eval_metric=metric, thread_count=2, random_seed=0,
        boosting_type=boosting, allow_writing_files=False, logging_level="Silent", **more,
    )  # fmt: skip
    return model.fit(first, eval_set=second)


def declared(convention=CONVENTION, **more):
    return ra.catboost.eval_metric(convention, sets=[labels_and_qid(0), labels_and_qid(1)], **more)


@pytest.mark.parametrize("convention", [CONVENTION, ra.presets.textbook(None), ra.presets.yahoo(5)], ids=str)
@pytest.mark.parametrize("loss", ["QueryRMSE", "YetiRank"])
def test_every_round_of_both_sets_is_our_value_bit_for_bit(convention, loss):
    metric = declared(convention)
    model = train(metric, loss=loss, use_best_model=False)
    for place in (0, 1):
        X, labels, qid, _ = data(place)
        expected = [ra.evaluate(labels, scores, convention, qid=qid).value for scores in model.staged_predict(X)]
        history = [entry.value for entry in metric.history if entry.dataset == place]
        assert history == pytest.approx(expected, rel=1e-12)
        logged = model.get_evals_result()[("learn", "validation")[place]][convention.name]
        assert list(logged) == history
    assert {entry.convention for entry in metric.history} == {convention}


def test_a_value_is_ours_bit_for_bit():
    labels, qid = labels_and_qid(0)
    scores = np.random.default_rng(1).normal(size=labels.size)
    value, weight = declared().evaluate([scores], labels.astype(np.float32), None)
    assert (value, weight) == (ra.evaluate(labels, scores, CONVENTION, qid=qid).value, 1.0)


def test_the_built_in_metric_agrees():
    metric = declared(ra.presets.catboost(3))
    model = train(metric, custom_metric=["NDCG:top=3"], use_best_model=False)
    builtin = model.get_evals_result()["validation"]["NDCG:top=3;type=Base"]
    assert [entry.value for entry in metric.history if entry.dataset == 1] == pytest.approx(builtin, rel=1e-9)


def test_early_stopping_watches_it_and_keeps_its_best_round():
    metric = declared()
    model = train(metric, rounds=200, od_type="Iter", od_wait=5, learning_rate=0.5)
    values = [entry.value for entry in metric.history if entry.dataset == 1]
    assert len(values) < 200
    assert model.get_best_iteration() == int(np.argmax(values))
    assert model.get_best_score()["validation"][CONVENTION.name] == max(values)


def test_group_weights_of_the_pools_count_unless_the_mean_is_uniform():
    weights = [data(seed)[3] for seed in (0, 1)]
    weighted, uniform = declared(ra.presets.catboost(3)), declared(ra.presets.catboost(3, use_weights=False))
    for metric in (weighted, uniform):
        train(metric, weights=weights, use_best_model=False, rounds=1)
    X, labels, qid, row_weights = data(1)
    model = train(None, weights=weights, use_best_model=False, rounds=1)
    first = np.unique(qid, return_index=True)[1]
    expected = [
        ra.evaluate(labels, model.predict(X), ra.presets.catboost(3), qid=qid, query_weight=row_weights[first]).value,
        ra.evaluate(labels, model.predict(X), ra.presets.catboost(3), qid=qid).value,
    ]
    assert [metric.history[-1].value for metric in (weighted, uniform)] == pytest.approx(expected, rel=1e-12)
    assert expected[0] != expected[1]


def test_object_weights_of_the_pools_are_the_weights_of_rows():
    convention = ra.presets.sklearn.average_precision_score(pool="queries")
    weights = np.random.default_rng(7).integers(1, 5, data(1)[1].size).astype(float)
    metric = declared(convention)
    (X, y, qid, _), (V, z, vid, _) = data(0), data(1)
    sets = cb.Pool(X, y, group_id=qid, weight=np.ones(y.size)), cb.Pool(V, z, group_id=vid, weight=weights)
    model = cb.CatBoostRanker(
        iterations=2, depth=3, loss_function="QueryRMSE", eval_metric=metric, thread_count=1, use_best_model=False,
        allow_writing_files=False, logging_level="Silent",
    ).fit(sets[0], eval_set=sets[1])  # fmt: skip
    expected = ra.evaluate(z, model.predict(V), convention, qid=vid, row_weight=weights).value
    assert metric.history[-1].dataset == 1
    assert metric.history[-1].value == pytest.approx(expected, rel=1e-12)
    assert expected != ra.evaluate(z, model.predict(V), convention, qid=vid).value


def test_weights_of_a_set_take_the_pools_place():
    labels, qid = labels_and_qid(0)
    weights = np.arange(1.0, np.unique(qid).size + 1)
    metric = ra.catboost.eval_metric(ra.presets.catboost(3), sets=[(labels, qid, weights), labels_and_qid(1)])
    model = train(metric, rounds=1, use_best_model=False)
    expected = ra.evaluate(labels, model.predict(data(0)[0]), ra.presets.catboost(3), qid=qid, query_weight=weights)
    assert metric.history[0].value == pytest.approx(expected.value, rel=1e-12)


def test_queries_are_taken_as_sets():
    sets = [ra.Queries(labels, qid=qid) for labels, qid in map(labels_and_qid, (0, 1))]
    metric = ra.catboost.eval_metric(CONVENTION, sets)
    train(metric)
    assert metric.history


def test_ordered_boosting_is_refused_where_it_permutes_rows():
    with pytest.raises(cb.CatBoostError, match=r"(?s)CatBoost permutes the rows.*Hint: boosting_type='Plain'"):
        train(declared(), boosting="Ordered")


def test_a_set_that_was_not_declared_is_refused():
    metric = ra.catboost.eval_metric(CONVENTION, sets=[labels_and_qid(0)])
    with pytest.raises(cb.CatBoostError, match=r"(?s)labels are those of none of the sets declared .*Hint: sets="):
        train(metric)


def test_sets_that_nothing_tells_apart_are_refused():
    labels, qid = labels_and_qid(0)
    other = np.sort(np.random.default_rng(0).permutation(qid))
    other[:3] = other[0]
    with pytest.raises(ra.InputError, match="sets 0 and 1 have the same labels but other queries or weights"):
        ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid), (labels, np.append(other[1:], 99))])


def test_a_set_that_is_declared_twice_is_one():
    sets = [labels_and_qid(0), labels_and_qid(0), labels_and_qid(1)]
    metric = ra.catboost.eval_metric(CONVENTION, sets)
    train(metric)
    assert {entry.dataset for entry in metric.history} == {0, 2}


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "lists no set"),
        ("train", "lists no set"),
        ([[1, 0]], r"sets\[0\] is \[1, 0\]; allowed are \(labels, qid\)"),
        ([([1, 0],)], r"sets\[0\] is"),
        ([([1, 0], [1])], "qid has 1 rows but labels has 2"),
        ([([3, 0], [1, 1])], r"labels\[0\] is 3, outside the gain table"),
    ],
)
def test_sets_that_are_none_are_refused(sets, message):
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.eval_metric(CONVENTION, sets)


def test_weights_that_vary_within_a_query_are_refused():
    metric = declared(ra.presets.catboost(3))
    labels, _ = labels_and_qid(0)
    with pytest.raises(ra.InputError, match=r"vary within query \d+ of set 0: they hold object weights"):
        metric.evaluate([np.zeros(labels.size)], labels.astype(np.float32), np.arange(labels.size) + 1.0)


def test_several_outputs_are_refused():
    with pytest.raises(ra.InputError, match="the model has 2 outputs"):
        declared().evaluate([np.zeros(3), np.zeros(3)], np.zeros(3), None)


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy], ids=["pickle", "copy"])
def test_a_copy_starts_without_history(again):
    metric = declared()
    train(metric)
    other = again(metric)
    assert other.history == []
    train(other)
    assert other.history == metric.history


def test_a_deep_copy_writes_into_the_same_history_as_catboost_makes_one():
    metric = declared()
    assert copy.deepcopy(metric).history is metric.history


def test_the_name_is_the_conventions_or_the_one_given():
    assert set(train(declared(name="mine")).get_evals_result()["validation"]) == {"QueryRMSE", "mine"}


def test_inputs_are_not_changed():
    labels, qid = labels_and_qid(0)
    before = labels.copy(), qid.copy()
    train(ra.catboost.eval_metric(CONVENTION, [(labels, qid), labels_and_qid(1)]))
    assert all(map(np.array_equal, before, (labels, qid)))
