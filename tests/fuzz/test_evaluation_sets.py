"""Callbacks that are told their sets beforehand under random events: XGBoost's `EvalCallback`, CatBoost's metric."""

from __future__ import annotations

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, kernels
from tests.fuzz.budget import share
from tests.fuzz.callback_machine import labels_of

SEEDS = st.integers(0, 2**20)
CONVENTIONS = tuple(map(ra.parse, ("lightgbm@5", "xgboost@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc")))
PARAMS = {"nthread": 1, "max_depth": 1, "objective": "rank:pairwise", "disable_default_eval_metric": True}


class Rows:
    """A set with what it says."""

    def __init__(self, seed, *, weighted=False):
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 6, rng.integers(1, 5))
        self.labels = labels_of(rng, self.sizes.sum())
        self.X = rng.integers(0, 3, (self.labels.size, 2)).astype(float)
        self.weights = rng.choice([0.25, 1.0, 2.5], self.sizes.size) if weighted else None

    @property
    def qid(self):
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def value(self, convention, scores, weights):
        more = {}
        if weights is not None and convention.weighting == "query_weight":
            more["query_weight"] = weights
        elif weights is not None and convention.weighting == "row_weight":
            more["row_weight"] = np.repeat(weights, self.sizes)
        return ra.evaluate(self.labels, scores, convention, group_sizes=self.sizes, **more).value


def said(evaluate):
    try:
        return evaluate()
    except ra.InputError as error:  # no query has a row that is relevant and one that is not
        assert "nothing is left to average" in str(error)
        return "nothing"


class Watched:
    """A training whose callback watches sets, as DMatrices that may change or as arrays."""

    def __init__(self, sets, as_dmatrix, conventions):
        self.xgb = pytest.importorskip("xgboost")
        self.sets, self.as_dmatrix, self.conventions = sets, as_dmatrix, conventions
        self.own = [self.dmatrix(rows) if held else arrays(rows) for rows, held in zip(sets, as_dmatrix, strict=True)]
        self.data = self.dmatrix(sets[0])
        named = [(data, str(place)) for place, data in enumerate(self.own)]
        self.callback = ra.xgboost.EvalCallback(conventions, named, n_threads=1)

    def dmatrix(self, rows):
        made = self.xgb.DMatrix(rows.X, rows.labels, group=rows.sizes)
        if rows.weights is not None:
            made.set_weight(rows.weights)
        return made

    def boosted(self, **more):
        return self.xgb.train(PARAMS, self.data, 2, verbose_eval=False, **more)

    def train(self, seed):
        booster = self.boosted()
        scores = [booster.predict(self.xgb.DMatrix(rows.X)) for rows in self.sets]
        assert said(self.found) == said(lambda: self.expected(scores))

    def found(self):
        self.boosted(callbacks=[self.callback])
        return [entry.value for entry in self.callback.history[-len(self.sets) * len(self.conventions) :]]

    def expected(self, scores):
        several = zip(self.sets, scores, strict=True)
        return [rows.value(each, by, rows.weights) for rows, by in several for each in self.conventions]

    def copy(self, seed):
        self.callback = copy.deepcopy(self.callback)
        assert self.callback.history == []

    def pickle(self, seed):
        trained = bool(self.callback.history)
        try:
            again = pickle.loads(pickle.dumps(self.callback))
        except ra.InputError as error:
            assert "cannot be pickled" in str(error)
            assert (trained, any(self.as_dmatrix)) == (False, True)
            return
        assert again.history == []
        if not trained:
            assert not any(self.as_dmatrix)
            self.callback = again
            return
        with pytest.raises(ra.InputError, match="which drops its evaluation sets"):
            self.boosted(callbacks=[again])

    def labels(self, seed):
        place = seed % len(self.sets)
        if self.as_dmatrix[place]:
            rows = self.sets[place]
            rows.labels = labels_of(np.random.default_rng(seed), rows.labels.size)
            self.own[place].set_label(rows.labels)

    def queries(self, seed):
        place = seed % len(self.sets)
        if self.as_dmatrix[place]:
            rows = self.sets[place]
            rows.sizes = np.random.default_rng(seed).permutation(rows.sizes)
            self.own[place].set_group(rows.sizes)


def arrays(rows):
    return (rows.X, rows.labels.copy(), rows.qid, *([] if rows.weights is None else [rows.weights]))


@share(0.004)
@given(
    st.lists(st.tuples(SEEDS, st.booleans(), st.booleans()), min_size=1, max_size=2),
    st.lists(st.tuples(st.sampled_from(["train", "train", "copy", "pickle", "labels", "queries"]), SEEDS), max_size=6),
    st.lists(st.sampled_from(CONVENTIONS), min_size=1, max_size=3, unique=True),
)
def test_eval_callback_of_xgboost(given_sets, events, conventions):
    with kernels(NEVER), warnings.catch_warnings():
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        warnings.filterwarnings("ignore", "the data has weights, but")  # that some conventions do not count
        sets = [Rows(seed, weighted=weighted) for seed, weighted, _ in given_sets]
        watched = Watched(sets, [each for *_, each in given_sets], conventions)
        for event, seed in [*events, ("train", 0)]:
            getattr(watched, event)(seed)


@share(0.01)
@given(
    st.lists(SEEDS, min_size=1, max_size=3),
    st.lists(
        st.tuples(st.sampled_from(["evaluate", "evaluate", "copy", "pickle", "permuted", "threads"]), SEEDS), max_size=8
    ),
    st.sampled_from([*CONVENTIONS, ra.parse("catboost@4")]),
)
def test_metric_of_catboost(seeds, events, convention):
    pytest.importorskip("catboost")
    sets = [Rows(seed) for seed in seeds]
    alike = len({rows.labels.tobytes() for rows in sets}) < len(sets)
    with kernels(NEVER), warnings.catch_warnings():
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        warnings.filterwarnings("ignore", "the data has weights, but")  # as above
        try:
            metric = ra.catboost.eval_metric(convention, sets=[(rows.labels, rows.qid) for rows in sets])
        except ra.InputError:
            assert alike
            return

        def compare(metric, seed):
            rng = np.random.default_rng(seed)
            rows = sets[seed % len(sets)]
            weights = rng.choice([0.25, 1.0, 2.5], rows.sizes.size) if seed % 2 else None
            scores = rng.integers(-9, 9, rows.labels.size) / 8
            given_weights = None if weights is None else np.repeat(weights, rows.sizes).astype(np.float32)
            found = said(lambda: metric.evaluate([scores], rows.labels.astype(np.float32), given_weights)[0])
            assert found == said(lambda: rows.value(convention, scores, weights))

        for event, seed in events:
            if event == "evaluate":
                compare(metric, seed)
            elif event == "copy":
                metric, before = copy.deepcopy(metric), metric
                assert metric.history is before.history
            elif event == "pickle":
                metric = pickle.loads(pickle.dumps(metric))
                assert metric.history == []
            elif event == "permuted":
                rows = sets[seed % len(sets)]
                target = np.random.default_rng(seed).permutation(rows.labels).astype(np.float32)
                if any(np.array_equal(target, each.labels) for each in sets):
                    continue
                with pytest.raises(ra.InputError, match="different order than declared"):
                    metric.evaluate([target], target, None)
            else:
                with ThreadPoolExecutor(4) as pool:
                    for done in [pool.submit(compare, metric, seed + number) for number in range(4)]:
                        done.result()
