"""Time gradients and whole trainings against the toolkits' built-in objectives."""

from __future__ import annotations

import os
import time
import tracemalloc

import numpy as np

import rankadapters as ra
from benchmarks.data import Data, make, sparse, unrelated
from benchmarks.timing import clock_of, medians, report
from rankadapters import objectives

LIGHTGBM = objectives.lightgbm.lambdarank()
EXACT = LIGHTGBM.replace(sigmoid="exact")
LAMBDALOSS = objectives.LambdaLoss(convention=LIGHTGBM.convention, scheme="ndcg2++_10", truncation=30, sigma=1)
AVERAGE_PRECISION = EXACT.replace(convention="lightgbm.map@30")
MSLR = EXACT.replace(convention=ra.presets.mslr(10))
XGBOOST = objectives.xgboost.ndcg(lambdarank_num_pair_per_sample=30)
DOUBLED = XGBOOST.replace(sigmoid="exact")


def lightgbm_rounds(data: Data, n_threads: int, objective: str):
    """Return a call that trains a round of two leaves on one coarse feature; `regression` times all but gradients."""
    import lightgbm as lgb

    params = {"objective": objective, "num_leaves": 2, "learning_rate": 1e-12, "verbosity": -1, "metric": "None"}
    params |= {"num_threads": n_threads, "force_col_wise": True, "boost_from_average": False}
    feature = (np.arange(data.labels.size) % 7).astype(float)[:, None]
    dataset = lgb.Dataset(feature, data.labels, group=data.sizes, init_score=data.scores, params=params)
    booster = lgb.Booster(params, dataset)
    return lambda _: booster.update()


def xgboost_rounds(data: Data, n_threads: int, objective: str):
    """Return a call as `lightgbm_rounds` does; `reg:squarederror` times all but the gradients."""
    import xgboost as xgb

    feature = (np.arange(data.labels.size) % 7).astype(float)[:, None]
    matrix = xgb.DMatrix(feature, data.labels, qid=data.qid, nthread=n_threads)
    matrix.set_base_margin(data.scores.astype(np.float32))
    params = {"objective": objective, "max_depth": 1, "eta": 1e-12, "nthread": n_threads, "base_score": 0.5}
    if objective.startswith("rank"):
        params |= {"lambdarank_num_pair_per_sample": 30, "lambdarank_pair_method": "topk"}
    booster = xgb.Booster(params, [matrix])
    return lambda i: booster.update(matrix, i)


def alone(data: Data, rounds: int, n_threads: int) -> None:
    queries, cold = ra.Queries(data.labels, group_sizes=data.sizes), unrelated(data, rounds)
    objectives_by_name = {
        "rankadapters": EXACT,
        "rankadapters, mslr@10": MSLR,
        "rankadapters, LightGBM's table": LIGHTGBM,
        "rankadapters, XGBoost's topk, exact": DOUBLED,
        "rankadapters, XGBoost's float32": XGBOOST,
        "rankadapters, XE-NDCG": objectives.lightgbm.xendcg(),
        "rankadapters, LambdaLoss": LAMBDALOSS,
        "rankadapters, AP": AVERAGE_PRECISION,
    }
    bound = {name: value.bind(queries, n_threads=n_threads) for name, value in objectives_by_name.items()}
    seconds = medians(
        {
            **{name: lambda i, b=b: b.gradients(cold[i]) for name, b in bound.items()},
            "LightGBM": lightgbm_rounds(data, n_threads, "lambdarank"),
            "LightGBM, rank_xendcg": lightgbm_rounds(data, n_threads, "rank_xendcg"),
            "LightGBM without": lightgbm_rounds(data, n_threads, "regression"),
            "XGBoost": xgboost_rounds(data, n_threads, "rank:ndcg"),
            "XGBoost without": xgboost_rounds(data, n_threads, "reg:squarederror"),
        },
        rounds,
        clock_of(n_threads),
    )
    seconds["LightGBM, rank_xendcg"] -= seconds["LightGBM without"]
    seconds["LightGBM"] -= seconds.pop("LightGBM without")
    seconds["XGBoost"] -= seconds.pop("XGBoost without")
    title = f"Gradients at truncation 30, {data.labels.size:,} rows, {n_threads} thread(s)"
    report(title, seconds, "rankadapters", {"LightGBM": 5.5, "XGBoost": 10.5})
    for contender, rival, floor in (
        ("rankadapters, LightGBM's table", "LightGBM", 1 / 1.3),
        ("rankadapters, XGBoost's topk, exact", "XGBoost", 10.5),
        ("rankadapters, XGBoost's float32", "XGBoost", 1 / 1.3),
        ("rankadapters, XE-NDCG", "LightGBM, rank_xendcg", None),
        ("rankadapters, LambdaLoss", "rankadapters", 1 / 1.3),
    ):
        pair = {contender: seconds[contender], rival: seconds[rival]}
        report(f"  of these, {contender}", pair, contender, {rival: floor} if floor else None)


def alone_on_sparse_labels(data: Data, rounds: int, n_threads: int) -> None:
    """Time gradients if only one row in twenty is relevant, so that few pairs have a gradient."""
    few, cold = sparse(data), unrelated(data, rounds)
    queries = ra.Queries(few.labels, group_sizes=few.sizes)
    exact, doubled = (value.bind(queries, n_threads=n_threads) for value in (EXACT, DOUBLED))
    seconds = medians(
        {
            "rankadapters": lambda i: exact.gradients(cold[i]),
            "rankadapters, XGBoost's topk, exact": lambda i: doubled.gradients(cold[i]),
            "LightGBM": lightgbm_rounds(few, n_threads, "lambdarank"),
            "LightGBM without": lightgbm_rounds(few, n_threads, "regression"),
            "XGBoost": xgboost_rounds(few, n_threads, "rank:ndcg"),
            "XGBoost without": xgboost_rounds(few, n_threads, "reg:squarederror"),
        },
        rounds,
        clock_of(n_threads),
    )
    for toolkit in ("LightGBM", "XGBoost"):
        seconds[toolkit] -= seconds.pop(f"{toolkit} without")
    title = f"Gradients on labels of which 5 % are relevant, {n_threads} thread(s)"
    report(title, seconds, "rankadapters", {"LightGBM": 3, "XGBoost": 4.5})


def catboost_trees(data: Data, n_threads: int, loss: str):
    """Return a call that fits a number of trees with one split on one coarse feature."""
    import catboost

    params = {"loss_function": loss, "depth": 1, "learning_rate": 1e-3, "thread_count": n_threads}
    params |= {"bootstrap_type": "No", "boosting_type": "Plain", "leaf_estimation_iterations": 1, "random_strength": 0}
    params |= {"eval_metric": "QueryRMSE", "metric_period": 1000, "logging_level": "Silent", "has_time": True}
    feature = (np.arange(data.labels.size) % 7).astype(np.float32)[:, None]
    pool = catboost.Pool(feature, data.labels, group_id=data.qid, baseline=data.scores)
    pool.quantize()
    return lambda trees: catboost.CatBoost({**params, "iterations": trees, "allow_writing_files": False}).fit(pool)


def alone_under_noise(n_threads: int, rounds: int = 5) -> None:
    """Compare a call of ours with the extra time of a CatBoost tree over a QueryRMSE tree."""
    data = make(2_000, seed=3)
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    losses = {
        "YetiRank": objectives.catboost.yetirank(),
        "YetiRank:mode=NDCG;top=10": objectives.catboost.yetirank(mode="NDCG", top=10),
        "StochasticRank:metric=NDCG;top=10": objectives.catboost.stochastic_rank("NDCG", top=10),
    }
    bound = {loss: value.bind(queries, n_threads=n_threads) for loss, value in losses.items()}
    fits = {loss: catboost_trees(data, n_threads, loss) for loss in ("QueryRMSE", *losses)}
    seconds = medians(
        {
            **{loss: lambda _, b=b: b.gradients(data.scores) for loss, b in bound.items()},
            **{f"{loss} {n}": lambda _, n=n, fit=fit: fit(n) for loss, fit in fits.items() for n in (1, 3)},
        },
        rounds,
    )
    a_tree = {loss: (seconds[f"{loss} 3"] - seconds[f"{loss} 1"]) / 2 for loss in fits}
    for loss in losses:
        pair = {"rankadapters": seconds[loss], "CatBoost": a_tree[loss] - a_tree["QueryRMSE"]}
        title = f"{loss}, {data.labels.size:,} rows, {n_threads} thread(s)"
        report(title, pair, "rankadapters", {"CatBoost": 1 / 0.7})


def trainings(rounds: int = 3) -> None:
    """Time 100 rounds of 63 leaves on 50 features and half a million rows with all threads: the median of trainings."""
    import lightgbm as lgb
    import xgboost as xgb

    data = make(5_000, seed=4)
    X = np.random.default_rng(0).random((data.labels.size, 50), np.float32)
    X[:, 0] += data.labels / 4
    X[:, 1] += data.labels / 6
    spent: dict[str, list[float]] = {"call": [], "kernel": []}
    params = {"num_leaves": 63, "verbosity": -1, "metric": "None", "num_threads": os.cpu_count()}

    def lightgbm(objective: object) -> None:
        dataset = lgb.Dataset(X, data.labels, group=data.sizes, params=params, free_raw_data=False).construct()
        start = time.perf_counter()
        lgb.train({**params, "objective": objective}, dataset, 100)
        times.append(time.perf_counter() - start)

    def xgboost(objective: object) -> None:
        matrix = xgb.QuantileDMatrix(X, data.labels, qid=data.qid)
        params = {"max_leaves": 63, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
        params |= {"nthread": os.cpu_count(), "disable_default_eval_metric": 1}
        built_in = {"objective": "rank:ndcg", "lambdarank_num_pair_per_sample": 30}
        start = time.perf_counter()
        if objective is None:
            xgb.train(params | built_in, matrix, 100)
        else:
            xgb.train(params, matrix, 100, obj=objective)
        times.append(time.perf_counter() - start)

    def timed_objective(value: objectives.Objective) -> object:
        return _timed(ra.lightgbm.objective(value), spent)

    competitors = {
        "LightGBM, ours": lambda: lightgbm(timed_objective(EXACT)),
        "LightGBM, built in": lambda: lightgbm("lambdarank"),
        "XGBoost, ours": lambda: xgboost(ra.xgboost.objective(DOUBLED)),
        "XGBoost, built in": lambda: xgboost(None),
    }
    seconds_by_name: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(rounds):
        for name, train in competitors.items():
            times: list[float] = []
            train()
            seconds_by_name[name].append(times[0])
    seconds = {name: float(np.median(seconds)) for name, seconds in seconds_by_name.items()}
    for toolkit, most in (("LightGBM", 0.63), ("XGBoost", 0.8)):
        own_time, built_in_time = (seconds[f"{toolkit}, {kind}"] for kind in ("ours", "built in"))
        missed = "" if own_time <= most * built_in_time else "  MISSED"
        print(f"\nTraining, 100 rounds, {data.labels.size:,} rows, {toolkit}")
        ratio = f"{own_time / built_in_time:.2f} of it   at most {most}{missed}"
        print(f"  ours {own_time:.2f} s, built in {built_in_time:.2f} s: {ratio}")
    calls, kernels = (np.sum(spent[part]) / rounds for part in ("call", "kernel"))
    print(f"  outside LightGBM and our kernels: {(calls - kernels) / seconds['LightGBM, ours']:.2%}   at most 3%")


def catboost_trainings(n_queries: int, rounds: int = 5) -> None:
    """Time 50 trees of CatBoost on one thread: its own training, and ours with the same loss."""
    import catboost

    train, _ = ra.datasets.mq2008_like(random_state=0, n_train_queries=n_queries, n_test_queries=2)
    pool = catboost.Pool(train.X, train.labels, group_id=train.qid)
    params = {"iterations": 50, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    for loss in ("QueryRMSE", "QuerySoftMax", "PairLogit", "YetiRank", "LambdaMart:metric=NDCG;top=10"):
        value, own = ra.catboost.read_objective(loss), {**params, "loss_function": loss}
        calls = {
            "CatBoost": lambda _, own=own: catboost.train(pool, own),
            "rankadapters": lambda _, value=value: ra.catboost.train(params, pool, value, "textbook@10"),
        }
        seconds = medians(calls, rounds, clock_of(1))
        report(f"Training, 50 trees, {train.labels.size:,} rows, {loss}", seconds, "CatBoost")


def _timed(callback, spent):
    """Return the callback with time measurements of its calls and of the gradients inside them."""

    class Timed:
        def __deepcopy__(self, memo):
            return self

        def __call__(self, preds, dataset):
            start = time.perf_counter()
            gradients = callback(preds, dataset)
            spent["call"].append(time.perf_counter() - start)
            for binding in callback._bound.values():  # noqa: SLF001 - the gradients can be measured nowhere else
                if not hasattr(binding.gradients, "timed"):
                    _time_gradients(binding.gradients, spent)
                    spent["call"].pop()  # the first call binds; its gradients were not timed
            return gradients

    return Timed()


def _time_gradients(bound, spent):
    inner = bound.gradients

    def gradients(scores):
        start = time.perf_counter()
        result = inner(scores)
        spent["kernel"].append(time.perf_counter() - start)
        return result

    bound.gradients, bound.timed = gradients, True


def memory(data: Data) -> None:
    queries = ra.Queries(data.labels, group_sizes=data.sizes)
    scores = data.scores.copy()
    EXACT.bind(queries, n_threads=1).gradients(scores)
    tracemalloc.start()
    binding = EXACT.bind(queries)
    binding.gradients(scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\nPeak memory of binding and one round: {peak / 8 / data.labels.size:.2f} numbers per row   at most 6")


def run(data: Data, rounds: int) -> None:
    for n_threads in sorted({1, os.cpu_count() or 1}):
        alone(data, rounds, n_threads)
        alone_on_sparse_labels(data, rounds, n_threads)
        alone_under_noise(n_threads)
    memory(data)
    trainings()
    for n_queries in (600, 6_000):
        catboost_trainings(n_queries)
