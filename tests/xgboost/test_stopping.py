"""`xgboost.early_stopping` in repeated trainings and any order, and errors if XGBoost's own has the wrong direction."""

import warnings

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.rankings import ranking

xgb = pytest.importorskip("xgboost")
pytest.importorskip("sklearn")

from rankadapters.xgboost.stopping import LARGEST_MIN_DELTA, DirectionCheck  # noqa: E402
from tests.helpers.xgboost_matrices import dmatrix, train  # noqa: E402

TRAIN, VALID = ranking(20, 60), ranking(21, 40)
MAP, LOSS = ra.parse("lightgbm.map@10"), ra.parse("catboost.query_rmse")
ROWS = [((VALID.X, VALID.y, VALID.qid), "valid")]


def train_with_metric(conventions, *callbacks, first=(), rounds=60, params=(), **options):
    """Train with `eval_metric` in callbacks= between other callbacks, and return the Booster and its log."""
    metric, log = ra.xgboost.eval_metric(conventions), {}
    params = {"eta": 1.0, "verbosity": 0, **dict(params)}
    booster = train(params, dmatrix(TRAIN), rounds, evals=[(dmatrix(VALID), "valid")], custom_metric=metric,
                    callbacks=[*first, metric, *callbacks], evals_result=log, **options)  # fmt: skip
    return booster, log


# Our early stopping


@pytest.mark.parametrize("save_best", [False, True])
def test_it_stops_in_any_order_and_any_training_as_xgboosts_own_after_the_metric(save_best):
    own = xgb.callback.EarlyStopping(rounds=5, metric_name=TEXTBOOK.name, maximize=True, save_best=save_best)
    expected, log = train_with_metric(TEXTBOOK, own)
    values = log["valid"][TEXTBOOK.name]
    assert expected.best_iteration == int(np.argmax(values)) == len(values) - 6 < 54
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5, save_best=save_best)
    for order in ({"first": [stop]}, {}, {}):
        booster, own_log = train_with_metric(TEXTBOOK, *([] if order else [stop]), **order)
        assert own_log == log
        assert booster.save_raw() == expected.save_raw()  # with the best round and score


@pytest.mark.parametrize("rounds", range(1, 5))
def test_the_last_round_of_a_training_can_be_the_best(rounds):
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=50)
    booster, log = train_with_metric(TEXTBOOK, first=[stop], rounds=rounds)
    values = log["valid"][TEXTBOOK.name]
    assert (booster.best_iteration, booster.best_score) == (int(np.argmax(values)), max(values))


@pytest.mark.parametrize("n_rounds", [1, 3])
def test_a_metric_that_nothing_reports_is_an_error(n_rounds):
    with pytest.raises(ValueError, match=f"No metric named: {TEXTBOOK.name}"):
        train_with_metric(LETOR, ra.xgboost.early_stopping(TEXTBOOK, rounds=5), rounds=n_rounds)
    with pytest.raises(ValueError, match="No dataset named: test"):
        train_with_metric(LETOR, ra.xgboost.early_stopping(LETOR, rounds=5, data_name="test"), rounds=n_rounds)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"booster": "dart", "rate_drop": 0.5}, "DART has rescaled the trees since"),
        ({"booster": "dart", "one_drop": 1}, "DART has rescaled the trees since"),
        ({"booster": "gblinear"}, "gblinear has only the weights of the last round"),
    ],
)
def test_a_best_round_whose_model_is_lost_gives_a_warning(params, why):
    stop = ra.xgboost.early_stopping(TEXTBOOK, rounds=5)
    with pytest.warns(
        UserWarning, match=r"no prediction has the logged value of the best round \d+ of \d+: " + why
    ) as w:
        booster, _ = train_with_metric(TEXTBOOK, stop, params=params)
    assert len(w) == 1
    assert f"Hint: train {booster.best_iteration + 1} rounds without early stopping." in str(w[0].message)
    scores = booster.predict(dmatrix(VALID), iteration_range=(0, booster.best_iteration + 1))
    assert ra.evaluate(VALID.y, scores, TEXTBOOK, qid=VALID.qid).value != booster.best_score
    again, log = train_with_metric(TEXTBOOK, params=params, rounds=booster.best_iteration + 1)
    assert log["valid"][TEXTBOOK.name][-1] == booster.best_score
    value = ra.evaluate(VALID.y, again.predict(dmatrix(VALID)), TEXTBOOK, qid=VALID.qid).value
    assert value == booster.best_score


@pytest.mark.parametrize("params", [{}, {"booster": "dart"}, {"booster": "gblinear"}])
def test_a_model_with_the_best_round_gives_no_warning(params):
    rounds = 1 if params.get("booster") == "gblinear" else 60
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster, _ = train_with_metric(TEXTBOOK, ra.xgboost.early_stopping(TEXTBOOK, 5), params=params, rounds=rounds)
    scores = booster.predict(dmatrix(VALID), iteration_range=(0, booster.best_iteration + 1))
    assert ra.evaluate(VALID.y, scores, TEXTBOOK, qid=VALID.qid).value == booster.best_score


def test_a_training_that_continues_forgets_the_best_round():
    stopped, _ = train_with_metric(TEXTBOOK, ra.xgboost.early_stopping(TEXTBOOK, rounds=5))
    continued, _ = train_with_metric(TEXTBOOK, xgb_model=stopped, rounds=3)
    ranker = xgb.XGBRanker(n_estimators=3, n_jobs=1, callbacks=[ra.xgboost.EvalCallback(TEXTBOOK, ROWS)])
    ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, xgb_model=stopped, verbose=False)
    assert continued.attr("best_iteration") is ranker.get_booster().attr("best_iteration") is None
    assert stopped.attr("best_iteration") is not None
    value = ra.evaluate(VALID.y, ranker.predict(VALID.X), TEXTBOOK, qid=VALID.qid).value
    assert ranker.evals_result()["valid"][TEXTBOOK.name][-1] == value


@pytest.mark.parametrize("metric", [{}, {"eval_metric": TEXTBOOK, "validation_fraction": 0.2}])
@pytest.mark.parametrize("kind", ["booster", "ranker", "path"])
def test_queryranker_predicts_with_the_trees_that_continue_a_stopped_model(metric, kind, tmp_path):
    booster, _ = train_with_metric(TEXTBOOK, ra.xgboost.early_stopping(TEXTBOOK, rounds=5))
    path = tmp_path / "model.ubj"
    booster.save_model(path)
    stopped = xgb.XGBRanker()
    stopped.load_model(path)
    model = ra.sklearn.QueryRanker(xgb.XGBRanker(n_estimators=3, n_jobs=1), **metric)
    start = {"booster": booster, "ranker": stopped, "path": str(path)}[kind]
    model.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, xgb_model=start)
    continued = model.estimator_.get_booster()
    assert continued.num_boosted_rounds() == booster.num_boosted_rounds() + 3
    np.testing.assert_array_equal(model.predict(VALID.X), continued.predict(xgb.DMatrix(VALID.X)))
    assert stopped.best_iteration == booster.best_iteration


# The direction of XGBoost's own early stopping


@pytest.mark.parametrize(
    ("convention", "maximize"),
    [(MAP, None), (MAP, False), (TEXTBOOK, False), (ra.parse("ranx.mrr@10"), None), (LOSS, True)],
)
def test_the_wrong_direction_is_refused(convention, maximize):
    better = convention.higher_is_better
    message = rf"early stopping takes round \d+ of '{convention.name}' on 'valid' .*\nHint: maximize={better} beside"
    own = xgb.callback.EarlyStopping(rounds=5, metric_name=convention.name, maximize=maximize, min_delta=1e-4)
    with pytest.raises(ra.InputError, match=message):
        train_with_metric(convention, early_stopping_rounds=5, maximize=maximize)
    with pytest.raises(ra.InputError, match=message):
        train_with_metric([LETOR, convention], own)


def test_the_wrong_direction_of_two_rounds_is_refused_at_the_end_of_the_training():
    with pytest.raises(ra.InputError, match=r"takes round 1 of 'ap@10/lightgbm.map'(.|\n)*higher is better"):
        train_with_metric(MAP, early_stopping_rounds=5, rounds=2)


def test_the_wrong_direction_is_refused_in_xgbranker_and_on_several_workers(monkeypatch):
    callback = ra.xgboost.EvalCallback(MAP, ROWS)
    ranker = xgb.XGBRanker(n_estimators=60, learning_rate=1.0, early_stopping_rounds=5, callbacks=[callback], n_jobs=1)
    with pytest.raises(ra.InputError, match=r"higher is better.\nHint: (.|\n)*in XGBRanker(.|\n)*early_stopping in"):
        ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, verbose=False)
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    monkeypatch.setattr(xgb.collective, "allreduce", lambda array, op: 2 * array)
    with pytest.raises(ra.InputError, match="higher is better"):
        train_with_metric(MAP, early_stopping_rounds=5)


@pytest.mark.parametrize("convention", [MAP, LOSS])
def test_the_right_direction_of_ours_or_of_a_metric_of_xgboosts_is_no_error(convention):
    right = convention.higher_is_better
    booster, log = train_with_metric(convention, early_stopping_rounds=5, maximize=right)
    values = log["valid"][convention.name]
    assert booster.best_score == (max(values) if right else min(values))
    params = {"eval_metric": ["rmse", "ndcg@3"]}
    for watched, maximize in (("rmse", False), ("ndcg@3", True)):
        own = xgb.callback.EarlyStopping(rounds=5, metric_name=watched, maximize=maximize)
        booster, log = train_with_metric(convention, own, params=params)
        assert booster.best_score in log["valid"][watched]


class Model:
    """The part of a Booster that early stopping uses."""

    def __init__(self, start):
        self.start, self.attributes = start, {}

    def num_boosted_rounds(self):
        return self.start

    def attr(self, name):
        return self.attributes.get(name)

    def set_attr(self, **attributes):
        self.attributes.update({name: str(value) for name, value in attributes.items()})


def simulated(series, watched, *, maximize, min_delta=0.0, start=0):
    """Run XGBoost's early stopping on the watched series of a log; return the best round, or the warning or error."""
    names = {MAP: "up", LOSS: "down"}
    model, log = Model(start), {"valid": {}}
    stop = xgb.callback.EarlyStopping(
        rounds=20, data_name="valid", metric_name=watched, maximize=maximize, min_delta=min_delta
    )
    stop.before_training(model)
    check = DirectionCheck(model, names)
    try:
        for epoch, values in enumerate(zip(*series.values(), strict=True)):
            check.update(model, epoch, log)
            for name, value in zip(series, values, strict=True):
                log["valid"].setdefault(name, []).append(value)
            if stop.after_iteration(model, epoch, log):
                break
        check.end(model)
    except (ra.InputError, UserWarning) as error:
        return error
    return int(model.attr("best_iteration")) - start


def random_series(rng):
    """Return a series that rises, falls or wanders, with ties and missing values."""
    n_rounds = int(rng.integers(1, 40))
    steps = rng.normal(rng.choice([-0.02, 0, 0.02]), rng.choice([0.0, 0.01, 0.1]), n_rounds)
    values = np.round(rng.choice([0.7, 0.0, -3.0, 40.0]) + np.cumsum(steps), rng.choice([1, 3, 12]))
    if rng.random() < 0.1:
        values[rng.integers(n_rounds)] = np.nan
    return values.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_no_right_direction_is_refused(seed):
    rng = np.random.default_rng(seed)
    for _ in range(400):
        values = random_series(rng)
        names = rng.permutation(["up", "down", "rmse"]).tolist()
        series = {name: values if rng.random() < 0.3 else rng.permutation(values).tolist() for name in names}
        watched, start = names[0], int(rng.choice([0, 7]))
        largest = np.inf if start or watched == "rmse" else LARGEST_MIN_DELTA * abs(series[watched][0])
        min_delta = min(float(rng.choice([0, 1e-3, 0.01, 1.0])), largest)
        maximize = watched == "up" or (watched == "rmse" and rng.random() < 0.5)
        best = simulated(
            series, watched, maximize=maximize, min_delta=0 if np.isnan(min_delta) else min_delta, start=start
        )
        assert isinstance(best, (int, UserWarning) if min_delta else int), (series, watched, min_delta, start)


@pytest.mark.parametrize("seed", range(4))
def test_every_wrong_direction_that_changes_a_new_model_is_refused(seed):
    rng = np.random.default_rng(seed)
    for _ in range(400):
        values, watched = np.nan_to_num(random_series(rng), nan=0.5), str(rng.choice(["up", "down"]))
        signs = {"up": 1, "down": -1}
        best = simulated({"rmse": range(values.size), watched: values.tolist()}, watched, maximize=watched == "down")
        gains = (values[:21] - values[0]) * signs[watched]
        if isinstance(best, int):
            assert best == gains.max() == 0
        elif isinstance(best, UserWarning):
            assert gains.min() == 0
            assert gains.max() <= LARGEST_MIN_DELTA * abs(values[0]) + 1e-12


def test_a_first_round_that_stays_the_best_is_refused_or_warned_of():
    rising = {"up": [0.6613, 0.70, 0.7436]}
    error = simulated(rising, "up", maximize=False)
    assert str(error).startswith(
        "early stopping takes round 0 of 'up' on 'valid' for the best, 0.6613, although round 1 has 0.7 and higher is "
        "better.\nHint: maximize=True beside early_stopping_rounds="
    )
    assert simulated(rising, "up", maximize=True) == 2
    little = simulated({"up": [0.6613, 0.6613, 0.6614]}, "up", maximize=False)
    assert isinstance(little, UserWarning)
    assert "round 2 has 0.6614 and higher is better.\nHint: maximize=True" in str(little)
    assert simulated({**rising, "rmse": [0.6613, 0.8, 0.9]}, "up", maximize=False) == 0  # rmse may be the watched one
