"""A declared metric behaves the same in trainings of LightGBM and XGBoost: values, weights, predictions and errors."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.evaluation.evaluator import Evaluator
from tests.helpers.metric_trainings import LETOR, TEXTBOOK, LightGBM, XGBoost
from tests.helpers.rankings import ranking

LIGHTGBM, XGBOOST = LightGBM.preset, XGBoost.preset


def value(data, scores, convention=TEXTBOOK, **weights):
    return ra.evaluate(data.y, scores, convention, group_sizes=data.sizes, **weights).value


def test_row_weights_count_if_the_convention_pools_all_rows(toolkit):
    data, metric = ranking(9), toolkit.metric("lightgbm.auc")
    data = data._replace(y=(data.y > 0).astype(float))
    weights = toolkit.weights(data).column
    rows = weights if weights.size == data.y.size else np.repeat(weights, data.sizes)
    for column, expected in ((weights, value(data, data.X[:, 0], "lightgbm.auc", row_weight=rows)),
                            (None, value(data, data.X[:, 0], "lightgbm.auc"))):  # fmt: skip
        assert metric(data.X[:, 0], toolkit.dataset(data, weights=column))[0][1] == expected


def test_predictions_may_be_a_matrix_of_one_column_only(toolkit):
    data, metric = ranking(9), toolkit.metric(TEXTBOOK)
    for preds in (data.X[:, 0], data.X[:, :1]):
        assert metric(preds, toolkit.dataset(data))[0][1] == value(data, data.X[:, 0])
    with pytest.raises(ra.InputError, match=r"scores has shape .*2\), but one dimension is needed"):
        metric(data.X[:, :2], toolkit.dataset(data))


def test_replaced_labels_weights_and_groups_are_noticed(toolkit):
    data, convention = ranking(9), toolkit.preset.replace(empty=0)
    metric, dataset = toolkit.metric(convention), toolkit.dataset(data)
    scores = np.random.default_rng(0).random(data.y.size)

    def check(dataset, data, **weights):
        for used in (metric, copy.copy(metric), copy.deepcopy(metric), metric):
            assert used(scores, dataset)[0][1] == value(data, scores, convention, **weights)

    check(dataset, data)
    np.testing.assert_array_equal(dataset.get_label(), data.y)
    data = data._replace(y=2 - data.y)
    dataset.set_label(data.y)
    check(dataset, data)
    dataset.set_weight(toolkit.weights(data).column)
    check(dataset, data, query_weight=toolkit.weights(data).by_query)
    data = data._replace(sizes=data.sizes[::-1])
    dataset.set_group(data.sizes)
    check(dataset, data, query_weight=toolkit.weights(data).by_query)


@pytest.mark.parametrize("fails", ["metric", "objective"])
def test_nothing_is_kept_of_a_training_that_failed(toolkit, fails):
    data, metric, references = ranking(9), toolkit.metric(TEXTBOOK), []

    def report(preds, dataset):
        results = metric(preds, dataset)
        if fails == "metric":
            raise RuntimeError
        return results

    objective = toolkit.adapter.objective(ra.objectives.lightgbm.xendcg())

    def gradients(preds, dataset):
        references.append(weakref.ref(dataset))
        if fails == "objective" and not len(references) % 2:  # in the second round
            raise RuntimeError
        return objective(preds, dataset)

    callbacks = [metric] if toolkit.name == "xgboost" else []
    for _ in range(3):
        with pytest.raises(RuntimeError):
            toolkit.train(report, {"train": toolkit.dataset(data)}, objective=gradients, callbacks=callbacks)
    gc.collect()
    assert len(references) >= 3
    assert [reference() for reference in references] == [None] * len(references)


def test_the_evaluators_of_the_last_eight_sets_are_kept(toolkit, monkeypatch):
    metric, bound = toolkit.metric(TEXTBOOK), []
    bind = Evaluator.of
    monkeypatch.setattr(Evaluator, "of", lambda queries, *args, **options: bound.append(queries.n_docs) or bind(
        queries, *args, **options))  # fmt: skip
    sets = [ranking(9, n_queries) for n_queries in range(10, 19)]

    def evaluate(data):
        assert metric(data.X[:, 0], toolkit.dataset(data))[0][1] == value(data, data.X[:, 0])

    for data in [*sets[:8], *sets[:8]]:
        evaluate(data)
    assert bound == [data.y.size for data in sets[:8]]  # each once, though every call has a dataset of its own
    for data in (sets[8], sets[1], sets[0]):
        evaluate(data)
    assert bound[8:] == [sets[8].y.size, sets[0].y.size]


def test_an_unpickled_metric_works_without_the_datasets(toolkit):
    data, metric = ranking(11), toolkit.metric({"mine": LETOR})
    dataset = toolkit.dataset(data)
    result = metric(data.X[:, 0], dataset)
    pickled = pickle.dumps(metric)
    assert len(pickled) == len(pickle.dumps(toolkit.metric({"mine": LETOR})))
    copied = pickle.loads(pickled)
    assert copied(data.X[:, 0], dataset) == result
    assert result[0][0] == "mine"


def test_a_dataset_without_groups_is_refused(toolkit):
    data = toolkit.dataset(ranking(10), group=False)
    with pytest.raises(
        ra.InputError, match=rf"the {toolkit.dataset_name} has no group.*\nHint: .*\.{toolkit.dataset_name}"
    ):
        toolkit.train(toolkit.metric(LETOR), {"train": data}, objective=lambda preds, _: (preds, np.ones_like(preds)))


# Native metrics


NDCG_5 = {"metric": "ndcg", "eval_at": [5]}
NATIVE = [
    (LightGBM, LIGHTGBM, NDCG_5),
    (LightGBM, LIGHTGBM.at(None), {"metric": "ndcg", "eval_at": [10_000]}),
    (LightGBM, LIGHTGBM.replace(gain="exp2-floor", missing="zero", unjudged="drop"), NDCG_5),
    (LightGBM, LIGHTGBM.replace(gain="linear"), {**NDCG_5, "label_gain": list(range(31))}),
    (LightGBM, ra.presets.lightgbm(5, label_gain=[0, 1, 10]), {**NDCG_5, "label_gain": [0, 1, 10]}),
    (XGBoost, XGBOOST, {"eval_metric": "ndcg@5", "ndcg_exp_gain": True}),
    (XGBoost, XGBOOST.replace(gain="exp2"), {"eval_metric": "ndcg@5", "ndcg_exp_gain": True}),
    (XGBoost, XGBOOST.at(None), {"eval_metric": "ndcg@2147483647", "ndcg_exp_gain": True}),
    (XGBoost, ra.presets.xgboost(5, minus=True), {"eval_metric": "ndcg@5-", "ndcg_exp_gain": True}),
    (XGBoost, ra.presets.xgboost(40, minus=True), {"eval_metric": "ndcg@40-", "ndcg_exp_gain": True}),
    (XGBoost, ra.presets.xgboost(3, ndcg_exp_gain=False), {"eval_metric": "ndcg@3", "ndcg_exp_gain": False}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "convention", "params"), NATIVE)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_native_metric_makes_the_toolkit_compute_the_convention(weighted, kind, convention, params):
    toolkit, data, log = kind(), ranking(30, 20, 60), {}
    assert toolkit.adapter.native_metric(convention) == params
    weights = None
    if weighted:
        # No query is empty: XGBoost adds 1 for an empty query of weight below 1, and aborts on a mean above 1.
        data = data._replace(y=np.where(np.arange(data.y.size) % 2, data.y, 1))
        weights = np.random.default_rng(0).random(data.sizes.size) + 0.5
        weights = np.repeat(weights, data.sizes) if kind is LightGBM else weights
    train = toolkit.dataset(data, weights=weights)
    if kind is XGBoost:  # XGBoost logs metrics with six decimals, but a callback's values in full
        callback = ra.xgboost.EvalCallback(convention, [(train, "train")])
        toolkit.train(None, {"train": train}, log=log, callbacks=[callback], **params)
    else:
        toolkit.train(toolkit.metric(convention), {"train": train}, log=log, **params)
    native = params["eval_metric"] if kind is XGBoost else f"ndcg@{params['eval_at'][0]}"
    np.testing.assert_allclose(log["train"][convention.name], log["train"][native], rtol=1e-12)


@pytest.mark.parametrize("k", [10_001, 2**32 + 1])
def test_a_cutoff_beyond_the_longest_query_does_not_wrap(k):
    assert LightGBM().adapter.native_metric(LIGHTGBM.at(k))["eval_at"] == [10_000]
    assert XGBoost().adapter.native_metric(XGBOOST.at(2**31 + k))["eval_metric"] == "ndcg@2147483647"


BOTH_LACK = [
    ("ties", "average"), ("empty", 0.5), ("empty", "skip"), ("short", "zero"), ("discount", "jk2"), ("ideal", "all"),
    ("average", "uniform"),
]  # fmt: skip
LACKING = [(kind, *change) for kind in (LightGBM, XGBoost) for change in BOTH_LACK]
LACKING += [(LightGBM, "empty", 0), (LightGBM, "precision", "float32")]
LACKING += [(XGBoost, "precision", "float64")]
LACKING += [(XGBoost, "gain", gain) for gain in ("linear-positive", "table_0_1_3")]


@pytest.mark.parametrize(("kind", "field", "choice"), LACKING)
def test_native_metric_names_what_the_toolkit_cannot_express(kind, field, choice):
    with pytest.raises(ra.UnsupportedConventionError, match=f"{kind.__name__}(.|\n)*{field}"):
        kind().adapter.native_metric(kind.preset.replace(**{field: choice}))


def test_native_metric_refuses_dcg(toolkit):
    fields = {name: choice for name, choice in TEXTBOOK.to_dict().items() if name in ra.DCG.fields()}
    with pytest.raises(ra.UnsupportedConventionError, match=type(toolkit).__name__):
        toolkit.adapter.native_metric(ra.DCG(**fields))
