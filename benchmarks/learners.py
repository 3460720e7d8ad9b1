"""Time the learners: on a fold of MQ2008 against RankLib and fastrank, and a round on two million rows."""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rankadapters as ra
from benchmarks.data import Data
from benchmarks.timing import medians, report
from rankadapters.learners import AdaRank, CoordinateAscent, NeuralRanker, RankBoost

FOLDER = Path(os.environ.get("RANKADAPTERS_SHARED", "../shared")) / "data" / "MQ2008"
CONVENTION = "ranklib@10"
N_FEATURES = 136  # as in MSLR-WEB30K
FITS = 5  # the first is not counted


class Rival(NamedTuple):
    """A learner, the CPU seconds of RankLib 2.10.1 for it on fold 1, and the most that ours may take."""

    model: AdaRank | CoordinateAscent | NeuralRanker | RankBoost
    ranklib: float
    most: float


RECORDED = "RankLib 2.10.1, recorded"
ONE = {"n_threads": 1}
RANKNET = NeuralRanker(ra.objectives.catboost.pair_logit(), convention=CONVENTION, random_state=0, **ONE)
RIVALS = {
    "AdaRank": Rival(AdaRank(CONVENTION, variant="ranklib", **ONE), 5.0, 0.3),
    "RankBoost, 300 rounds": Rival(RankBoost(CONVENTION, variant="ranklib", **ONE), 6.7, 0.2),
    "CoordinateAscent, 5 restarts": Rival(CoordinateAscent(CONVENTION, random_state=0, **ONE), 17.0, 1.5),
    "RankNet, 100 epochs": Rival(RANKNET, 12.0, 3.0),
}


def fold() -> tuple[ra.datasets.RankingData, ra.datasets.RankingData, str]:
    """Return training and validation data: MQ2008's first fold, or as many generated queries."""
    if FOLDER.is_dir():
        first, second, third, valid = (FOLDER / f"S{part}.txt" for part in range(1, 5))
        return *ra.io.read_features([first, second, third], valid), "MQ2008, fold 1"
    return *ra.datasets.mq2008_like(random_state=0, n_train_queries=471, n_test_queries=157), "generated queries"


def on_a_fold() -> None:
    """Report the CPU seconds of whole trainings; RankLib's are recorded from an earlier run."""
    train, valid, name = fold()
    arguments = {"qid": train.qid, "eval_set": [(valid.X, valid.labels, valid.qid)]}
    calls = {
        title: lambda _, model=rival.model: model.fit(train.X, train.labels, **arguments)
        for title, rival in RIVALS.items()
    }
    seconds = medians(calls, FITS, time.process_time)
    for title, rival in RIVALS.items():
        times = {title: seconds[title], RECORDED: rival.ranklib}
        if isinstance(rival.model, CoordinateAscent) and find_spec("fastrank"):
            times["fastrank"] = fastrank_seconds(train)
        report(f"{title}, {name}, one thread", times, title, {RECORDED: round(rival.ranklib / rival.most, 1)})


def fastrank_seconds(train: ra.datasets.RankingData) -> float:
    """Return the CPU seconds of fastrank's CoordinateAscent, which takes no validation queries."""
    import fastrank

    request = fastrank.TrainRequest.coordinate_ascent()
    request.measure, request.params.init_random, request.params.quiet = "ndcg@10", False, True
    dataset = fastrank.CDataset.from_numpy(train.X.astype(np.float32), train.labels, train.qid.astype(np.int64))
    start = time.process_time()
    dataset.train_model(request)
    return time.process_time() - start


def on_many_rows(data: Data) -> None:
    """Time a round of RankBoost, and 100 trials of CoordinateAscent."""
    rng, n = np.random.default_rng(0), data.labels.size
    X = rng.random((N_FEATURES, n), np.float32).T
    X[:, 0] += data.labels.astype(np.float32)

    def boost(rounds: int) -> float:
        start = time.process_time()
        RankBoost(max_iter=rounds, **ONE).fit(X, data.labels, qid=data.qid)
        return time.process_time() - start

    boost(1)  # loads the kernels and touches the memory for the first time
    first, eleventh = boost(1), boost(11)
    trials = ra.Trials(data.labels, CONVENTION, group_sizes=data.sizes, **ONE)
    scores, column, steps = X[:, 0].astype(float), X[:, 1].astype(float), np.linspace(-1, 1, 100)
    trials.along(scores, column, steps[:2])
    start = time.process_time()
    trials.along(scores, column, steps)
    spent = time.process_time() - start
    print(f"\n{n:,} rows, {data.sizes.size:,} queries, {N_FEATURES} features, one thread")
    for name, seconds, most in (
        ("a round of RankBoost, without a convention", (eleventh - first) / 10, 0.6),
        ("RankBoost's setup and first round", first, None),
        ("100 trials of CoordinateAscent", spent, 2.0),
    ):
        target = "" if most is None else f"   at most {most:g} s{'' if seconds <= most else '  MISSED'}"
        print(f"  {name:48s} {seconds:10.2f} s{target}")


def run(data: Data, rounds: int) -> None:
    del rounds
    on_a_fold()
    on_many_rows(data)
