"""`lightgbm.global_eval` in LGBMRanker, and between threads that stand in for workers."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.lightgbm.distributed import leaving_network
from tests.helpers.metric_trainings import LETOR, TEXTBOOK
from tests.helpers.python_processes import TIMEOUT
from tests.helpers.rankings import ranking

lgb = pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")
from tests.helpers.lightgbm_datasets import PARAMS, dataset  # noqa: E402 - after the skip

ONE, TWO = ranking(20, 60), ranking(21, 40)


def test_an_evaluation_set_without_groups_is_refused():
    watch = ra.lightgbm.global_eval(LETOR)
    watch(ONE.y, ONE.X[:, 0])
    with pytest.raises(ra.InputError, match="the data has no group"):
        end_of_round(watch, [result_row("valid_0", LETOR.name, np.nan, True)], 1)


# Several workers in one process: each booster trains alone, but its `num_machines` claims several machines.


class Threads:
    def __init__(self, parts):
        self.barrier, self.arrays = threading.Barrier(parts, timeout=TIMEOUT), {}

    def add(self, key, parts, array):
        self.arrays.setdefault(key, []).append(array)
        self.barrier.wait()
        return np.sum(self.arrays[key], axis=0)


def end_of_round(watch, results, n_workers):
    """Call the callback as LightGBM does at the end of a round on one of several workers."""
    booster = lgb.Booster(PARAMS, dataset(ONE))
    watch(lgb.callback.CallbackEnv(booster, {"num_machines": n_workers}, 0, 0, 1, results))
    return booster


def result_row(*fields):
    return lgb.EvalResult(*fields) if hasattr(lgb, "EvalResult") else fields


def run_workers(*rounds):
    outcomes = [None] * len(rounds)

    def run(index):
        try:
            outcomes[index] = rounds[index]()
        except ra.RankAdaptersError as error:
            outcomes[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(rounds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    return outcomes


def run_round(exchange, n_workers, data, sets=("valid_0",), name="valid_0", **more):
    watch = ra.lightgbm.global_eval(TEXTBOOK, **more, exchange=exchange, eval_names=sets)
    results = []
    if data is not None:
        watch(data.y, data.X[:, 0], None, data.sizes)
        results.append(result_row(name, TEXTBOOK.name, np.nan, True))
    end_of_round(watch, results, n_workers)
    return results


def test_a_worker_without_rows_gets_the_values_through_any_exchange():
    exchange = Threads(3)
    rounds = (lambda data=data: run_round(exchange, 3, data, n_queries=100) for data in (ONE, None, TWO))
    outcomes = run_workers(*rounds)
    labels, scores = np.concatenate([ONE.y, TWO.y]), np.concatenate([ONE.X[:, 0], TWO.X[:, 0]])
    expected = ra.evaluate(labels, scores, TEXTBOOK, group_sizes=[*ONE.sizes, *TWO.sizes]).value
    assert outcomes == [[("valid_0", TEXTBOOK.name, expected, True, *result_row(1, 2, 3, 4)[4:])]] * 3


def test_the_failure_of_a_worker_is_raised_on_all_workers():
    broken = ONE._replace(y=np.full_like(ONE.y, np.nan))
    for data_of_workers in ((broken, TWO, None), (broken, TWO, broken)):
        exchange = Threads(3)
        outcomes = run_workers(*(lambda data=data: run_round(exchange, 3, data) for data in data_of_workers))  # noqa: B023
        assert [type(error) for error in outcomes] == [ra.InputError] * 3
        assert str(outcomes[0]).startswith("labels[0] is nan")
        if data_of_workers[2] is None:
            assert str(outcomes[1]) == str(outcomes[2]) == "another worker of 3 failed.\nHint: its log has the error."
        else:
            assert str(outcomes[1]) == "2 other workers of 3 failed.\nHint: its log has the error."


def test_workers_may_have_rows_of_different_sets():
    exchange, sets = Threads(2), {"a": ONE, "b": TWO}
    rounds = (lambda name=name: run_round(exchange, 2, sets[name], tuple(sets), name=name) for name in sets)
    outcomes = run_workers(*rounds)
    values = {name: ra.evaluate(d.y, d.X[:, 0], TEXTBOOK, group_sizes=d.sizes).value for name, d in sets.items()}
    assert outcomes[0] == outcomes[1]
    assert [result[:3] for result in outcomes[0]] == [(name, TEXTBOOK.name, values[name]) for name in sets]


def test_an_undeclared_set_raises_on_all_workers():
    exchange = Threads(2)
    errors = run_workers(*(lambda name=name: run_round(exchange, 2, ONE, ("a",), name=name) for name in ("a", "b")))
    assert str(errors[1]).startswith("set 'b' is not one of ['a'].\nHint: eval_names= in global_eval as in fit")
    assert str(errors[0]).startswith("another worker of 2 failed.")


def test_a_set_without_rows_on_any_worker_raises():
    exchange = Threads(2)
    errors = run_workers(*(lambda: run_round(exchange, 2, None) for _ in range(2)))
    assert [str(error).partition("\n")[0] for error in errors] == ["no worker has rows of 'valid_0'."] * 2


@pytest.mark.parametrize("name", ["num_machines", "num_machine"])
def test_several_workers_need_an_exchange(name):
    watch, results = ra.lightgbm.global_eval(TEXTBOOK), [result_row("valid_0", TEXTBOOK.name, np.nan, True)]
    env = lgb.callback.CallbackEnv(lgb.Booster(PARAMS, dataset(ONE)), {name: 2}, 0, 0, 9, results)
    with pytest.raises(ra.InputError, match=r"2 workers need an exchange.\nHint: .*exchange=ra\.dask\.exchange\("):
        watch(env)


@pytest.mark.parametrize(
    ("error", "machines", "leaves"),
    [
        (ra.InputError("deliberate"), 2, True),
        (KeyError("deliberate"), 2, True),
        (ra.InputError("deliberate"), 1, False),
    ],
    ids=["is refused", "fails", "fails alone"],
)
def test_a_worker_leaves_the_network_if_the_metric_fails(error, machines, leaves):
    calls = []
    model = SimpleNamespace(free_network=lambda: calls.append("left"))
    env = SimpleNamespace(model=model, params={"num_machines": machines})
    with pytest.raises(type(error)), leaving_network(env):
        raise error
    assert calls == ["left"] * leaves


@pytest.mark.parametrize("names", [[], ["a", "a"], "valid_0", ["a", 3], None])
def test_names_of_sets_are_a_list_of_different_texts(names):
    with pytest.raises(ra.InputError, match=r"eval_names=.* is not a list of different names"):
        ra.lightgbm.global_eval(LETOR, eval_names=names)


@pytest.mark.parametrize(("names", "numbered"), [
    (["valid_0"], None), (("a", "b"), None), (["valid_2", "b"], None), (["a", "valid_1"], "valid_1"),
    (["a", "valid_1", "valid_0"], "valid_1"),
])  # fmt: skip
def test_lightgbms_own_names_are_refused_for_several_sets(names, numbered):
    if numbered is None:
        assert ra.lightgbm.global_eval(LETOR, eval_names=names)
        return
    with pytest.raises(ra.InputError, match=f"has '{numbered}', but LightGBM numbers the sets separately"):
        ra.lightgbm.global_eval(LETOR, eval_names=names)
