"""`lightgbm.global_eval` in LGBMRanker, and with an exchange of one's own."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.lightgbm.distributed import leaving_network
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_datasets import LETOR, PARAMS, TEXTBOOK, dataset, fit  # noqa: E402 - after the skip

ONE, TWO = ranking(20, 60), ranking(21, 40)


def test_lgbmranker_takes_it_and_other_callbacks_see_the_values():
    watch, seen = ra.lightgbm.global_eval(TEXTBOOK, n_queries=40), []
    ranker = lgb.LGBMRanker(n_estimators=3, metric="None", verbosity=-1, n_jobs=1)

    def first_of_all(env):  # without an order LightGBM calls it before its own
        seen.append(env.evaluation_result_list[0][2])

    fit(ranker, ONE, TWO, eval_metric=[watch], callbacks=[first_of_all, watch])
    assert ranker.evals_result_["valid_0"][TEXTBOOK.name] == seen == [entry.value for entry in watch.history]
    assert seen[-1] == ra.evaluate(TWO.y, ranker.predict(TWO.X), TEXTBOOK, qid=TWO.qid).value


def test_a_regressor_has_no_groups():
    watch = ra.lightgbm.global_eval(LETOR)
    watch(ONE.y, ONE.X[:, 0])
    with pytest.raises(ra.InputError, match="the evaluation set has no group"):
        end_of_round(watch, [row("valid_0", LETOR.name, np.nan, True)], 1)


NO_NAMES = r"is not a list of different names.\nHint: as in fit\(eval_names=\)"


@for_each(
    ("eval_names", "message"),
    [
        *((names, NO_NAMES) for names in ("valid", [], [1], ["a", "a"], None)),
        (["first", "valid_1"], r"has 'valid_1', but LightGBM numbers the sets separately"),
    ],
)
def test_names_that_are_not_those_of_all_workers_are_refused(eval_names, message):
    with pytest.raises(ra.InputError, match=message):
        ra.lightgbm.global_eval(LETOR, eval_names=eval_names)


# Several workers as far as they can be told apart in one process: LightGBM trains alone, and is told that it does not.


class Threads:
    """An exchange between threads, as short as one can be."""

    def __init__(self, parts):
        self.barrier, self.arrays = threading.Barrier(parts), {}

    def add(self, key, parts, array):
        self.arrays.setdefault(key, []).append(array)
        self.barrier.wait(10)
        return np.sum(self.arrays[key], axis=0)


def end_of_round(watch, results, parts):
    """What LightGBM does at the end of a round on one of several workers."""
    booster = lgb.Booster(PARAMS, dataset(ONE))
    watch(lgb.callback.CallbackEnv(booster, {"num_machines": parts}, 0, 0, 1, results))
    return booster


def row(*fields):
    return lgb.EvalResult(*fields) if hasattr(lgb, "EvalResult") else fields


def on_workers(*rounds):
    """Run each worker's round in a thread of its own; give what they return or raise."""
    found = [None] * len(rounds)

    def run(place):
        try:
            found[place] = rounds[place]()
        except ra.RankAdaptersError as error:
            found[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(rounds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return found


def one_round(exchange, parts, data, sets=("valid_0",), own="valid_0", **more):
    watch = ra.lightgbm.global_eval(TEXTBOOK, **more, exchange=exchange, eval_names=sets)
    results = []
    if data is not None:
        watch(data.y, data.X[:, 0], None, data.sizes)
        results.append(row(own, TEXTBOOK.name, np.nan, True))
    end_of_round(watch, results, parts)
    return results


def test_any_exchange_does_and_a_worker_without_rows_gets_the_values_too():
    exchange = Threads(3)
    found = on_workers(*(lambda data=data: one_round(exchange, 3, data, n_queries=100) for data in (ONE, None, TWO)))
    labels, scores = np.concatenate([ONE.y, TWO.y]), np.concatenate([ONE.X[:, 0], TWO.X[:, 0]])
    expected = ra.evaluate(labels, scores, TEXTBOOK, group_sizes=[*ONE.sizes, *TWO.sizes]).value
    assert found == [[("valid_0", TEXTBOOK.name, expected, True, *row(1, 2, 3, 4)[4:])]] * 3


def test_a_worker_that_fails_tells_the_others():
    broken = ONE._replace(y=np.full_like(ONE.y, np.nan))
    for parts in ((broken, TWO, None), (broken, TWO, broken)):
        exchange = Threads(3)
        found = on_workers(*(lambda data=data: one_round(exchange, 3, data) for data in parts))  # noqa: B023
        assert [type(error) for error in found] == [ra.InputError] * 3
        assert str(found[0]).startswith("labels[0] is nan")
        if parts[2] is None:
            assert str(found[1]) == str(found[2]) == f"another worker of 3 failed: InputError: {found[0]}"
        else:
            assert str(found[1]).startswith("2 other workers of 3 failed: ")


def test_workers_with_rows_of_different_sets():
    exchange, sets = Threads(2), ("a", "b")
    found = on_workers(*(lambda d=d, s=s: one_round(exchange, 2, d, sets, own=s) for d, s in ((ONE, "a"), (TWO, "b"))))
    values = [ra.evaluate(d.y, d.X[:, 0], TEXTBOOK, group_sizes=d.sizes).value for d in (ONE, TWO)]
    assert found[0] == found[1]
    assert [result[:3] for result in found[0]] == [(s, TEXTBOOK.name, v) for s, v in zip(sets, values, strict=True)]


def test_a_set_that_was_not_declared_is_an_error_on_all_workers():
    exchange = Threads(2)
    found = on_workers(*(lambda own=own: one_round(exchange, 2, ONE, ("a",), own=own) for own in ("a", "b")))
    assert str(found[1]).startswith("set 'b' is not one of ['a'].\nHint: eval_names= in global_eval as in fit")
    assert str(found[1]) in str(found[0])


def test_a_set_of_which_nobody_has_rows_is_an_error():
    exchange = Threads(2)
    found = on_workers(*(lambda: one_round(exchange, 2, None) for _ in range(2)))
    assert [str(error).partition("\n")[0] for error in found] == ["no worker has rows of 'valid_0'."] * 2


def test_several_workers_need_an_exchange():
    with pytest.raises(ra.InputError, match=r"2 workers need an exchange.\nHint: .*exchange=ra\.dask\.exchange\("):
        one_round(None, 2, ONE)


@pytest.mark.parametrize("name", ["num_machines", "num_machine"])
def test_early_stopping_refuses_what_one_worker_reports(name):
    stop = ra.lightgbm.early_stopping(TEXTBOOK, rounds=5)
    results = [row("valid_0", TEXTBOOK.name, 0.5, True)]
    env = lgb.callback.CallbackEnv(lgb.Booster(PARAMS, dataset(ONE)), {name: 3}, 0, 0, 9, results)
    with pytest.raises(ra.InputError, match=r"each of 3 workers has for its own rows only.\nHint: .*global_eval"):
        stop(env)


@pytest.mark.parametrize(
    ("error", "machines", "leaves"),
    [
        (lgb.callback.EarlyStopException(2, []), 2, False),
        (ra.InputError("deliberate"), 2, True),
        (KeyError("deliberate"), 2, True),
        (ra.InputError("deliberate"), 1, False),
    ],
    ids=["stops", "is refused", "fails", "fails alone"],
)
def test_a_worker_leaves_the_network_when_its_training_fails_and_not_when_it_stops_early(error, machines, leaves):
    calls = []
    model = SimpleNamespace(free_network=lambda: calls.append("left"))
    env = SimpleNamespace(model=model, params={"num_machines": machines})
    with pytest.raises(type(error)), leaving_network(env):
        raise error
    assert calls == ["left"] * leaves
