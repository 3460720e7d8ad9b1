"""`catboost.eval_metric`: the declared metric inside CatBoost's training."""

import numpy as np
import pytest

import rankadapters as ra

cb = pytest.importorskip("catboost")

from tests.catboost.trainings import weighted_rows  # noqa: E402 - after the skip

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


def values(model, name="validation", convention=CONVENTION):
    history = ra.History.of(model.get_evals_result())
    return [entry.value for entry in history.only(dataset=name, convention=convention)]


def our_values(model, features, labels, qid, convention=CONVENTION):
    return [ra.evaluate(labels, scores, convention, qid=qid).value for scores in model.staged_predict(features)]


def make_metric(convention=CONVENTION, **options):
    return ra.catboost.eval_metric(convention, sets=[labels_and_qid(0), labels_and_qid(1)], **options)


def test_a_quantized_pool_and_one_with_a_baseline_are_declared_by_their_columns():
    X, y, qid, _ = data(1)
    quantized, with_baseline = cb.Pool(X, y, group_id=qid), cb.Pool(X, y[::-1], group_id=qid, baseline=X[:, 0])
    quantized.quantize()
    metric = ra.catboost.eval_metric(CONVENTION, [quantized, with_baseline])
    for declared, labels in zip(metric.sets, (y, y[::-1]), strict=True):
        assert declared.labels.tolist() == labels.tolist()
        assert declared.query_of_row.tolist() == ra.Queries(y, qid=qid).query_of_row.tolist()


def test_object_weights_of_the_pools_are_row_weights():
    convention = ra.presets.sklearn.average_precision_score(pool="queries")
    weights = np.random.default_rng(7).integers(1, 5, data(1)[1].size).astype(float)
    metric = make_metric(convention)
    (X, y, qid, _), (X_valid, y_valid, qid_valid, _) = data(0), data(1)
    train_pool = cb.Pool(X, y, group_id=qid, weight=np.ones(y.size))
    valid_pool = cb.Pool(X_valid, y_valid, group_id=qid_valid, weight=weights)
    model = ranker(metric, iterations=2, use_best_model=False).fit(train_pool, eval_set=valid_pool)
    expected = ra.evaluate(y_valid, model.predict(X_valid), convention, qid=qid_valid, row_weight=weights).value
    assert values(model, convention=convention)[-1] == pytest.approx(expected, rel=1e-12)
    assert expected != ra.evaluate(y_valid, model.predict(X_valid), convention, qid=qid_valid).value


def test_weights_of_a_set_replace_those_of_the_pool():
    labels, qid = labels_and_qid(0)
    weights = np.arange(1.0, np.unique(qid).size + 1)
    convention = ra.presets.catboost(3)
    metric = ra.catboost.eval_metric(convention, sets=[(labels, qid, weights), labels_and_qid(1)])
    model = train(metric, rounds=1, use_best_model=False)
    expected = ra.evaluate(labels, model.predict(data(0)[0]), convention, qid=qid, query_weight=weights)
    assert values(model, "learn", convention) == [pytest.approx(expected.value, rel=1e-12)]


UNDECLARED = r"(?s)labels match none of the declared sets .*Hint: sets="


def test_a_training_set_that_is_also_an_eval_set_must_be_declared():
    (X, y, qid, _), valid = data(0), cb.Pool(*data(1)[:2], group_id=data(1)[2])
    train_pool = cb.Pool(X, y, group_id=qid)
    with pytest.raises(cb.CatBoostError, match=UNDECLARED):
        ranker(ra.catboost.eval_metric(CONVENTION, [valid])).fit(train_pool, eval_set=[valid, train_pool])
    model = ranker(ra.catboost.eval_metric(CONVENTION, [valid, train_pool]), use_best_model=False)
    model.fit(train_pool, eval_set=[valid, train_pool])
    assert values(model, "learn") == values(model, "validation_1") == pytest.approx(our_values(model, X, y, qid))


def test_a_set_of_the_declared_labels_in_a_different_order_is_told_from_one_of_other_labels():
    metric = ra.catboost.eval_metric(CONVENTION, sets=[([2, 0, 1], [0, 0, 0])])
    declared, shuffled, other = (np.array(labels, np.float32) for labels in ([2, 0, 1], [0, 1, 2], [2, 0, 0]))
    metric.evaluate([np.zeros(3)], declared, None)
    with pytest.raises(ra.InputError, match="a set with the labels of set 0, but in a different order"):
        metric.evaluate([np.zeros(3)], shuffled, None)
    with pytest.raises(ra.InputError, match=UNDECLARED):
        metric.evaluate([np.zeros(3)], other, None)


@pytest.mark.parametrize(
    ("declared", "fit"),
    [
        ([0, 1], lambda metric: train(metric, boosting="Ordered", use_best_model=False)),
        ([1], lambda metric: ranker(metric).fit(*data(0)[:2], group_id=data(0)[2])),
        ([2, 1], lambda metric: train(metric, use_best_model=False)),
    ],
)
def test_the_log_shows_minus_1_for_a_training_set_whose_labels_are_not_declared(declared, fit):
    model = fit(ra.catboost.eval_metric(CONVENTION, sets=[labels_and_qid(seed) for seed in declared]))
    assert values(model, "learn") == [-1] * 5


def test_sets_of_equal_labels_are_told_apart_in_every_round():
    X, labels, qid, _ = data(0)
    pools = [cb.Pool(features, labels, group_id=qid) for features in (X, X, -X)]
    metric = ra.catboost.eval_metric(CONVENTION, sets=[(labels, qid)])
    model = ranker(metric).fit(pools[0], eval_set=pools[1:], use_best_model=False)
    for name, features in {"learn": X, "validation_0": X, "validation_1": -X}.items():
        assert values(model, name) == pytest.approx(our_values(model, features, labels, qid), rel=1e-12)


def test_a_log_with_skipped_rounds_has_the_values_of_the_others():
    X, labels, qid, _ = data(0)
    valid_pool = cb.Pool(*data(1)[:2], group_id=data(1)[2])
    metric = ra.catboost.eval_metric(CONVENTION, [valid_pool])
    model = ranker(metric, metric_period=3, use_best_model=False)
    model.fit(cb.Pool(X, labels, group_id=qid), eval_set=valid_pool)
    assert values(model) == pytest.approx(np.array(our_values(model, *data(1)[:3]))[[0, 3, 4]], rel=1e-12)
    assert values(model, "learn") == [-1] * 3


def test_a_direct_call_refuses_varying_weights_and_two_outputs():
    labels, _ = labels_and_qid(0)
    with pytest.raises(ra.InputError, match=r"weight= of set 0 varies within query \d+: one row has"):
        make_metric(ra.presets.catboost(3)).evaluate(
            [np.zeros(labels.size)], labels.astype(np.float32), np.arange(labels.size) + 1.0
        )
    with pytest.raises(ra.InputError, match="the model has 2 outputs"):
        make_metric().evaluate([np.zeros(3), np.zeros(3)], np.zeros(3), None)
