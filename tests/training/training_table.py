"""A table of trainings: what is combined with what, what must happen, and the numbers of a training by hand.

A `Row` names ways of training, what is combined, and the outcome that must follow. `cases` makes a pytest case of each
way of each row. A runner trains as the row says and returns `Trained`; `compare` computes the value of every round
with `ra.evaluate` on the model's predictions of that round, and the best round as their maximum or minimum.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import cache
from threading import Barrier
from typing import Any, NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.classes import lazy_property
from tests.helpers.parameters import THOROUGH
from tests.helpers.python_processes import TIMEOUT

NDCG, MAP, ERR, MRR = "textbook@10", "lightgbm.map@10", "yahoo.err", "catboost.mrr@10"
LOSS = "catboost.query_rmse"  # lower is better
WEIGHTED = "lightgbm@5"  # uses query weights; so do MAP, MRR and LOSS
FRACTIONAL = f"{MAP}+relevant=from_0.7"  # float32 moves labels of 0.7 below this threshold
PATIENCE = 4


# What must happen


class Equal(NamedTuple):
    """Every value equals `ra.evaluate`, up to the decimals that a toolkit logs, and the best round is that by hand."""


class Error(NamedTuple):
    """An error with this text; toolkits may wrap ours in an error of their own."""

    match: str
    kind: type[Exception] = ra.RankAdaptersError


class Warns(NamedTuple):
    """One warning with this text, or any number of them, and otherwise the same as Equal."""

    match: str
    times: int | None = 1


EQUAL = Equal()


# Data


@dataclass(frozen=True)
class Rows:
    """Rows of whole queries, in any order; each query has a weight and each row a margin."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    row_weight: np.ndarray  # the weight of the row's query
    margin: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Numbers of rows of the queries, for rows that are in the order of their queries."""
        return np.bincount(self.qid)

    @property
    def query_weight(self) -> np.ndarray:
        """The weight of each query, by first appearance."""
        return self.row_weight[np.sort(np.unique(self.qid, return_index=True)[1])]

    def take(self, order: Any) -> Rows:
        return Rows(*(getattr(self, column.name)[order] for column in fields(self)))

    def scattered(self) -> Rows:
        return self.take(np.random.default_rng(9).permutation(self.y.size))

    def in_order(self) -> Rows:
        """Return the rows query by query, as QueryRanker sorts them: by first appearance, with ids from 0 on."""
        first, codes = np.unique(self.qid, return_index=True, return_inverse=True)[1:]
        codes = np.argsort(np.argsort(first))[codes]
        return replace(self, qid=codes).take(np.argsort(codes, kind="stable"))

    @lazy_property
    def _queries(self) -> ra.Queries:
        return ra.Queries(self.y, qid=self.qid)

    @lazy_property
    def _weighted_queries(self) -> ra.Queries:
        return ra.Queries(self.y, qid=self.qid, query_weight=self.query_weight)

    def value(self, scores: Any, measure: str, *, weighted: bool = False) -> float:
        """Evaluate scores of the rows, with query weights if the convention uses them."""
        uses = weighted and ra.parse(measure).weighting == "query_weight"
        return ra.evaluate(self._weighted_queries if uses else self._queries, np.asarray(scores), measure).value


def generated(seed: int, n_queries: int = 20, labels: str = "graded") -> Rows:
    """Return queries of 4 to 12 rows, whose noisy labels soon make a training overfit.

    The labels are `graded` (0 to 3), `binary`, `fractional` (tenths from 0 to 1), or `empty`, in which every third
    query has nothing relevant.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 13, n_queries)
    n, qid = int(sizes.sum()), np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(n, 5))
    signal = X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 1.2, n)
    y = np.clip(np.round(signal + 0.5), 0, 3)
    if labels == "binary":
        y = (signal > 0.5).astype(float)
    if labels == "fractional":
        y = np.clip(np.round(signal * 3 + 5), 0, 10) / 10
    if labels == "empty":
        y[qid % 3 == 0] = 0
    weight = rng.integers(1, 9, n_queries).astype(float)  # float32 holds them exactly
    return Rows(X, y, qid, weight[qid], rng.normal(size=n))


# Rows of the table


@dataclass(frozen=True, kw_only=True)
class Training:
    measures: tuple[str, ...] = (NDCG,)
    names: tuple[str, ...] | None = None  # display names in place of the conventions' own
    sets: tuple[str, ...] = ("valid",)  # of train, valid and other, in the order in which they are passed
    stop: str | None = None  # who stops: `toolkit`, `ours`, or another of the runner's
    watched: tuple[tuple[str, str], ...] | None = None  # the set and measure, or those of which the first decides
    rounds: int = 8
    params: Mapping[str, Any] = field(default_factory=dict)
    objective: str | None = None  # a declared objective
    seed: int = 0  # of data on which the toolkit's trainings have their best round in the middle
    labels: str = "graded"
    n_valid: int = 20  # queries of the validation sets
    weighted: bool = False
    margin: bool = False
    start: int = 0  # rounds of the model from which the training continues
    earlier: str | None = None  # what was done with the same objects before: `trained` or `failed`
    change: Callable[[Any], Any] | None = None  # what was then done to them: a copy
    threads: int = 1  # trainings at a time with one metric
    options: Mapping[str, Any] = field(default_factory=dict)  # of the runner

    @property
    def conventions(self) -> dict[str, str]:
        """The measure of each display name."""
        names = self.names or [ra.parse(measure).name for measure in self.measures]
        return dict(zip(names, self.measures, strict=True))

    @property
    def reported(self) -> dict[str, str] | Sequence[str]:
        """What the metric takes: the measures, by display names of one's own if there are any."""
        return self.conventions if self.names else self.measures

    @property
    def decides(self) -> tuple[tuple[str, str], ...]:
        """The sets and measures of which one ends the training."""
        return self.watched or ((self.sets[-1], self.measures[0]),)

    @property
    def stops_on(self) -> dict[str, str] | str:
        """What our early stopping takes: the first measure that decides, by its display name if it is reported."""
        measure = self.decides[0][1]
        return {name: reported for name, reported in self.conventions.items() if reported == measure} or measure

    def data(self, seed: int = 0) -> dict[str, Rows]:
        """Return the rows of the sets; a different seed gives different rows."""
        sizes = {"train": 24, "valid": self.n_valid, "other": 16}
        return {
            name: generated(self.seed + 10 * seed + index, size, self.labels)
            for index, (name, size) in enumerate(sizes.items())
        }


class Objects(NamedTuple):
    metric: Any
    stop: Any = None


class Trained(NamedTuple):
    """What a training reports, and what its model predicts."""

    log: Mapping[str, Mapping[str, Sequence[float]]]
    value: Callable[[str, str, int], float]  # the value by hand of a set and measure after a round, from 0
    rounds: int  # rounds with values by hand; more than in a log that was cut at the best round
    best: int | None = None  # the round, from 0, that the toolkit calls the best
    final: Callable[[str, str], float] | None = None  # the value by hand of what the model predicts in the end
    decimals: int | None = None  # of a log that rounds; None if it has full precision


class Row:
    """What some ways of training combine, and what must happen."""

    def __init__(
        self,
        ways: str,
        combined: str,
        must: Equal | Error | Warns,
        *,
        long: bool = False,
        **settings: Any,
    ) -> None:
        self.ways, self.combined, self.must = ways.split(" | "), combined, must
        self.long, self.settings = long, settings


def cases(rows: Sequence[Row], runners: Mapping[str, Callable[..., Any]]) -> list[Any]:
    """Return the parameters (row, runner) of a pytest test, one for each way of each row.

    Every row runs by default in one of its ways, which take turns, and a long test runs every other row in another.
    A thorough run (`tests/helpers/parameters.py`) has all ways. A row that is long runs in one way, as a long test.
    """
    parameters = []
    for index, row in enumerate(rows):
        for turn, way in enumerate(row.ways):
            later = (turn - index) % len(row.ways)  # 0 for the way of the default run
            if (later > 1 or (later and (row.long or index % 2))) and not THOROUGH:
                continue
            marks = [pytest.mark.long] * (row.long or later > 0)
            parameters.append(pytest.param(row, runners[way], id=f"{way}: {row.combined}", marks=marks))
    names = [parameter.id for parameter in parameters]
    assert len(set(names)) == len(names), "two rows have one name"
    return parameters


def check(row: Row, run: Callable[[], None]) -> None:
    """Run a row, whose run compares its own numbers, and require its outcome; a warning is an error elsewhere."""
    if isinstance(row.must, Error):
        with pytest.raises(row.must.kind, match=row.must.match):
            run()
    elif isinstance(row.must, Warns):
        with pytest.warns(UserWarning, match=row.must.match) as caught:
            run()
        matching = [warning for warning in caught if re.search(row.must.match, str(warning.message))]
        same("the number of warnings", len(matching), row.must.times or len(matching))  # pytest reports the others
    else:
        run()


# Trainings, and their numbers by hand


class InterruptedTrainingError(Exception):
    """A failure in the middle of a training, which CatBoost wraps in its own error."""

    def __init__(self) -> None:
        super().__init__("interrupted")


def train(row: Row, runner: Callable[..., Trained], objects_of: Callable[[Training], Objects], seed: int) -> None:
    """Train as the row says, after what was done with the same objects before, and compare the numbers.

    A runner takes the training, the data, the objects, and whether to fail after some rounds.
    """
    training = Training(seed=seed, **row.settings)
    objects = objects_of(training)
    if training.earlier == "trained":
        runner(training, training.data(5), objects, fails=False)
    if training.earlier == "failed":
        with pytest.raises(Exception, match="interrupted"):
            runner(training, training.data(5), objects, fails=True)
    if training.change:
        objects = Objects(*map(training.change, objects))
    if training.threads == 1:
        compare(runner(training, training.data(), objects, fails=False), training)
        return
    start = Barrier(training.threads, timeout=TIMEOUT)

    def train_at_once(seed: int) -> Trained:
        start.wait()
        return runner(training, training.data(seed), objects, fails=False)

    with ThreadPoolExecutor(training.threads) as pool:
        for trained in pool.map(train_at_once, range(training.threads)):
            compare(trained, training)


def compare(trained: Trained, training: Training) -> None:
    """Require that the log, the history and the best round are those by hand."""
    trained = trained._replace(value=cache(trained.value))
    history = ra.History.of(trained.log, training.conventions if training.names else None)
    same("the sets of the log", {*trained.log}, {*training.sets})
    for dataset, metrics in trained.log.items():
        shown = [name for name in metrics if name in training.conventions]
        same(f"the metrics of {dataset}", shown, [*training.conventions])
        for name, measure in training.conventions.items():
            logged = list(metrics[name])
            by_hand = [trained.value(dataset, measure, index) for index in range(len(logged))]
            same(f"{name} of {dataset}", logged, by_hand, trained.decimals)
            of_all_rounds = {trained.value(dataset, measure, index) for index in range(trained.rounds)}
            assert len(of_all_rounds) > 1, f"every round has the same {name} of {dataset}"
            entries = history.only(dataset=dataset, convention=measure)
            same(f"the history of {dataset}", [entry.value for entry in entries], list(metrics[name]))
            best = history.best(dataset=dataset, convention=measure).iteration
            same(f"the best of the history of {dataset}", best, _best(metrics[name], measure))
    last = trained.rounds - 1
    if training.stop:
        last = best_by_hand(trained, training)
        same("the best round", trained.best, last)
    if trained.final:
        dataset, measure = training.decides[0]
        same("the value of the final model", trained.final(dataset, measure), trained.value(dataset, measure, last))


def same(what: str, reported: Any, by_hand: Any, decimals: int | None = None) -> None:
    """Require that what is reported equals what is computed by hand, up to the rounding of a log."""
    expected = by_hand if decimals is None else pytest.approx(by_hand, rel=0, abs=0.51 * 10**-decimals)
    assert reported == expected, f"{what} is {reported}, but by hand {by_hand}"


def best_by_hand(trained: Trained, training: Training) -> int:
    """Return the best round of the watched values, or of those that first run out of patience; it is never an end."""
    stops = []
    for dataset, measure in training.decides:
        values = [trained.value(dataset, measure, index) for index in range(trained.rounds)]
        for last in range(trained.rounds):
            best = _best(values[: last + 1], measure)
            if last - best >= PATIENCE:
                stops.append((last, best))
                break
    assert stops, f"nothing ran out of patience in {trained.rounds} rounds"
    last, best = min(stops)
    same("the number of rounds", trained.rounds, last + 1)
    assert 0 < best < last, f"round {best} of {last + 1} is the first or the last, so that it proves nothing"
    return best


def _best(values: Sequence[float], measure: str) -> int:
    return int(np.argmax([ra.parse(measure).worth(value) for value in values]))


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))
