"""Callbacks of the toolkits under random events, after each of which they say what `ra.evaluate` and gradients say."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, precondition, rule

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, kernels
from tests.fuzz.budget import share

CONVENTIONS = tuple(
    map(ra.parse, ("lightgbm@5", "textbook@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc", "pandas.spearman"))
)
# None of them draws at random or learns from round to round.
OBJECTIVES = (
    ra.objectives.lightgbm.lambdarank(), ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact"),
    ra.objectives.xgboost.ndcg(), ra.objectives.catboost.pair_logit(), ra.objectives.QueryRMSE(),
    ra.objectives.catboost.query_soft_max(),
)  # fmt: skip
SEEDS, PLACES = st.integers(0, 2**20), st.integers(0, 7)
COPIES = st.sampled_from([copy.copy, copy.deepcopy, lambda callback: pickle.loads(pickle.dumps(callback))])
STEPS = settings(share(0.003), stateful_step_count=12)


@contextmanager
def quietly() -> Iterator[None]:
    """Evaluate without machine code, and without warnings of weights that some conventions do not count."""
    with kernels(NEVER), warnings.catch_warnings():
        warnings.simplefilter("ignore", ra.AboveValuesWarning)
        warnings.filterwarnings("ignore", "the data has weights, but")
        yield


def labels_of(rng, n):
    """Labels of which one at least is not 0, so that a pooled measure has a value."""
    labels = rng.integers(0, 4, n).astype(float)
    labels[rng.integers(0, n)] = 1.0
    return labels


class Rows:
    """What a set says, and the values that it should have."""

    def __init__(self, seed, weights_of_queries=(None,)):
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 6, rng.integers(1, 5))
        self.labels = labels_of(rng, self.sizes.sum())
        self.X = rng.integers(0, 3, (self.labels.size, 2)).astype(float)
        self.weights = None if None in weights_of_queries else rng.choice(weights_of_queries, self.sizes.size)
        self.made = None  # by a toolkit

    @property
    def qid(self):
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def facts(self):
        return [None if column is None else column.tobytes() for column in (self.labels, self.sizes, self.weights)]

    def value(self, convention, scores, query_weight=None, row_weight=None):
        weights = {"query_weight": query_weight, "row_weight": row_weight}
        counted = {name: weight for name, weight in weights.items() if convention.weighting == name}
        return ra.evaluate(self.labels, scores, convention, group_sizes=self.sizes, **counted).value


def said(evaluate, *arguments):
    """What a call returns, or that no query has a row that is relevant and one that is not."""
    try:
        return evaluate(*arguments)
    except ra.InputError as error:
        assert "nothing is left to average" in str(error)
        return "nothing"


def in_threads(calls):
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(*call) for call in calls]:
            done.result()


class LightGBM:
    """Datasets, whose weights are of rows."""

    package, make_metric, make_objective = "lightgbm", "eval_metric", "objective"

    def made(self, rows):
        data = self.toolkit.Dataset(rows.X, label=rows.labels, group=rows.sizes, params={"verbosity": -1})
        return data.construct()

    def n_weights(self, rows):
        return rows.labels.size

    def weights(self, rows):
        """Weights of the queries, and of the rows."""
        from rankadapters.lightgbm.metrics import query_weights

        return (None, None) if rows.weights is None else (query_weights(rows.weights, rows.sizes), rows.weights)

    def factors(self, rows):
        """What gradients are multiplied by."""
        return [] if rows.weights is None else [rows.weights]

    def evaluated(self, metric, rows, scores):
        if rows.made is None:  # as LGBMRanker calls it
            return [value for _, value, _ in metric(rows.labels, scores, rows.weights, rows.sizes)]
        return [value for _, value, _ in metric(scores, rows.made)]


class XGBoost:
    """DMatrices, whose weights are of queries."""

    package, make_metric, make_objective = "xgboost", "custom_metric", "objective"

    def made(self, rows):
        return self.toolkit.DMatrix(rows.X, label=rows.labels, group=rows.sizes)

    def n_weights(self, rows):
        return rows.sizes.size

    def weights(self, rows):
        return (None, None) if rows.weights is None else (rows.weights, np.repeat(rows.weights, rows.sizes))

    def factors(self, rows):
        if rows.weights is None:
            return []
        mean = rows.weights.astype(np.float32).sum(dtype=float) / rows.weights.size
        return [np.repeat(rows.weights, rows.sizes), 1 / mean]

    def evaluated(self, metric, rows, scores):
        found = dict(metric(scores, rows.made))
        return [found[convention.name] for convention in CONVENTIONS]


class DatasetMachine(RuleBasedStateMachine):
    """Datasets by number; a toolkit says how its own are made and changed."""

    def __init__(self):
        super().__init__()
        self.toolkit, self.adapter = pytest.importorskip(self.package), getattr(ra, self.package)
        self.held, self.quiet = [], quietly()
        self.quiet.__enter__()

    def teardown(self):
        self.quiet.__exit__(None, None, None)

    def forget(self, rows):
        """Forget what is known of a dataset."""

    @rule(seed=SEEDS)
    def new_dataset(self, seed):
        self.held.append(Rows(seed))
        self.held[-1].made = self.made(self.held[-1])

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_labels(self, place, seed):
        rows = self.held[place % len(self.held)]
        rows.labels = labels_of(np.random.default_rng(seed), rows.labels.size)
        rows.made.set_label(rows.labels)

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_weights(self, place, seed):
        rows = self.held[place % len(self.held)]
        # Never all of them 1: LightGBM 4.7 then keeps the weights from before, and says so when it is asked.
        rows.weights = np.random.default_rng(seed).choice([0.25, 1.5, 2.5], self.n_weights(rows))
        rows.made.set_weight(rows.weights)

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS)
    def change_queries(self, place, seed):
        """Other sizes of as many queries, so that weights by query stay right."""
        rows = self.held[place % len(self.held)]
        rows.sizes = np.random.default_rng(seed).permutation(rows.sizes)
        rows.made.set_group(rows.sizes)

    @precondition(lambda self: self.held)
    @rule(place=PLACES)
    def drop(self, place):
        self.forget(self.held.pop(place % len(self.held)))
        gc.collect(0)


class MetricMachine(DatasetMachine):
    """Metrics by number, each compared with `ra.evaluate`."""

    def __init__(self):
        super().__init__()
        self.metrics = [getattr(self.adapter, self.make_metric)(CONVENTIONS, n_threads=1)]

    def expected(self, rows, scores):
        weights = self.weights(rows)
        return [rows.value(convention, scores, *weights) for convention in CONVENTIONS]

    def compare(self, metric, rows, seed):
        scores = np.random.default_rng(seed).integers(0, 9, rows.labels.size) / 8
        found, expected = said(self.evaluated, metric, rows, scores), said(self.expected, rows, scores)
        assert found == expected, f"{found} is not {expected}"

    @precondition(lambda self: self.held)
    @rule(place=PLACES, seed=SEEDS, metric=PLACES)
    def evaluate(self, place, seed, metric):
        self.compare(self.metrics[metric % len(self.metrics)], self.held[place % len(self.held)], seed)

    @rule(metric=PLACES, how=COPIES)
    def another_metric(self, metric, how):
        self.metrics = [*self.metrics[-3:], how(self.metrics[metric % len(self.metrics)])]

    @rule(metric=PLACES)
    def pickle_is_empty(self, metric):
        assert pickle.loads(pickle.dumps(self.metrics[metric % len(self.metrics)])).history == []

    @precondition(lambda self: len(self.held) > 1)
    @rule(metric=PLACES, seed=SEEDS)
    def evaluate_in_threads(self, metric, seed):
        chosen = self.metrics[metric % len(self.metrics)]
        n_before = len(chosen.history)
        in_threads((self.compare, chosen, rows, seed + place) for place, rows in enumerate(self.held * 2))
        assert (len(chosen.history) - n_before) % len(CONVENTIONS) == 0


class LightGBMMetrics(LightGBM, MetricMachine):
    def __init__(self):
        super().__init__()
        self.buffer = Rows(0)
        self.buffer.sizes, self.buffer.labels = np.array([3, 2]), np.array([1.0, 0, 2, 0, 1])

    @rule(metric=PLACES, seed=SEEDS, changed=st.booleans(), weighted=st.booleans())
    def evaluate_arrays(self, metric, seed, changed, weighted):
        """Labels in an array that the caller may write into between two calls."""
        rng = np.random.default_rng(seed)
        if changed:
            self.buffer.labels[:] = labels_of(rng, 5)
            self.buffer.sizes[:] = self.buffer.sizes[::-1].copy()
        self.buffer.weights = rng.choice([0.5, 1.0], 5) if weighted else None
        self.compare(self.metrics[metric % len(self.metrics)], self.buffer, seed)


class XGBoostMetrics(XGBoost, MetricMachine):
    pass


class ObjectiveMachine(DatasetMachine):
    """Callbacks by number with what datasets said when they first saw them: it may not change until they are reset."""

    callbacks: ClassVar[list[tuple[Any, dict[int, Any]]]] = []

    @rule(value=st.sampled_from(OBJECTIVES))
    def new_callback(self, value):
        made = getattr(self.adapter, self.make_objective)(value, n_threads=1)
        self.callbacks = [*self.callbacks[-3:], (made, {})]

    @precondition(lambda self: self.callbacks)
    @rule(which=PLACES, how=COPIES)
    def another_callback(self, which, how):
        callback, known = self.callbacks[which % len(self.callbacks)]
        self.callbacks = [*self.callbacks[-3:], (how(callback), known if how is copy.copy else {})]

    @precondition(lambda self: self.callbacks)
    @rule(which=PLACES)
    def reset(self, which):
        callback, known = self.callbacks[which % len(self.callbacks)]
        callback.reset()
        known.clear()

    def forget(self, rows):
        for _, known in self.callbacks:
            known.pop(id(rows.made), None)

    @precondition(lambda self: self.callbacks and self.held)
    @rule(which=PLACES, place=PLACES, seed=SEEDS)
    def differentiate(self, which, place, seed):
        self.compare(*self.callbacks[which % len(self.callbacks)], self.held[place % len(self.held)], seed)

    @precondition(lambda self: self.callbacks and len(self.held) > 1)
    @rule(which=PLACES, seed=SEEDS)
    def differentiate_in_threads(self, which, seed):
        chosen = self.callbacks[which % len(self.callbacks)]
        in_threads((self.compare, *chosen, rows, seed) for rows in self.held)

    def compare(self, callback, known, rows, seed):
        scores = (np.random.default_rng(seed).integers(-9, 9, rows.labels.size) / 8).astype(np.float32)
        unchanged = known.setdefault(id(rows.made), rows.facts()) == rows.facts()
        try:
            found = callback(scores, rows.made)
        except ra.InputError as error:
            assert "changed after round" in str(error)
            assert not unchanged
            return
        assert unchanged, "what the dataset says has changed, and the callback has not noticed"
        value = callback.objective
        expected = ra.objectives.gradients(rows.labels, scores, value, group_sizes=rows.sizes)
        for factor in self.factors(rows) if value.uses_weights else []:
            expected = [each * np.asarray(factor, np.float32) for each in expected]
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


class LightGBMObjectives(LightGBM, ObjectiveMachine):
    pass


class XGBoostObjectives(XGBoost, ObjectiveMachine):
    pass


test_callbacks_of_lightgbm = get_state_machine_test(LightGBMMetrics, settings=STEPS)
test_callbacks_of_xgboost = get_state_machine_test(XGBoostMetrics, settings=STEPS)
test_objectives_of_lightgbm = get_state_machine_test(LightGBMObjectives, settings=STEPS)
test_objectives_of_xgboost = get_state_machine_test(XGBoostObjectives, settings=STEPS)


# Callbacks that are told their sets beforehand

BEFOREHAND = tuple(map(ra.parse, ("lightgbm@5", "xgboost@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc")))
WEIGHTS = (0.25, 1.0, 2.5)
PARAMS = {"nthread": 1, "max_depth": 1, "objective": "rank:pairwise", "disable_default_eval_metric": True}


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
        assert said(self.found) == said(self.expected, scores)

    def found(self):
        self.boosted(callbacks=[self.callback])
        return [entry.value for entry in self.callback.history[-len(self.sets) * len(self.conventions) :]]

    def expected(self, scores):
        weights = [XGBoost.weights(None, rows) for rows in self.sets]
        several = list(zip(self.sets, scores, weights, strict=True))
        return [rows.value(each, by, *weight) for rows, by, weight in several for each in self.conventions]

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

    def change(self, seed):
        place, rng = seed % len(self.sets), np.random.default_rng(seed)
        rows = self.sets[place]
        if self.as_dmatrix[place] and seed % 3:
            rows.labels = labels_of(rng, rows.labels.size)
            self.own[place].set_label(rows.labels)
        elif self.as_dmatrix[place]:
            rows.sizes = rng.permutation(rows.sizes)
            self.own[place].set_group(rows.sizes)


def arrays(rows):
    return (rows.X, rows.labels.copy(), rows.qid, *([] if rows.weights is None else [rows.weights]))


@share(0.004)
@given(
    st.lists(st.tuples(SEEDS, st.sampled_from([(None,), WEIGHTS]), st.booleans()), min_size=1, max_size=2),
    st.lists(st.tuples(st.sampled_from(["train", "copy", "pickle", "change"]), SEEDS), max_size=6),
    st.lists(st.sampled_from(BEFOREHAND), min_size=1, max_size=3, unique=True),
)
def test_eval_callback_of_xgboost(sets, events, conventions):
    with quietly():
        rows = [Rows(seed, weights) for seed, weights, _ in sets]
        watched = Watched(rows, [as_dmatrix for *_, as_dmatrix in sets], conventions)
        for event, seed in [*events, ("train", 0)]:
            getattr(watched, event)(seed)


@share(0.01)
@given(
    st.lists(SEEDS, min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from(["evaluate", "copy", "pickle", "permuted", "threads"]), SEEDS), max_size=8),
    st.sampled_from([*BEFOREHAND, ra.parse("catboost@4")]),
)
def test_metric_of_catboost(seeds, events, convention):
    pytest.importorskip("catboost")
    sets = [Rows(seed) for seed in seeds]
    alike = len({rows.labels.tobytes() for rows in sets}) < len(sets)

    def compare(metric, seed):
        rng, rows = np.random.default_rng(seed), sets[seed % len(sets)]
        rows = copy.copy(rows)
        rows.weights = rng.choice(WEIGHTS, rows.sizes.size) if seed % 2 else None
        by_query, by_row = XGBoost.weights(None, rows)
        scores = rng.integers(-9, 9, rows.labels.size) / 8
        given_weights = None if by_row is None else by_row.astype(np.float32)
        found = said(lambda: metric.evaluate([scores], rows.labels.astype(np.float32), given_weights)[0])
        assert found == said(rows.value, convention, scores, by_query, by_row)

    with quietly():
        try:
            metric = ra.catboost.eval_metric(convention, sets=[(rows.labels, rows.qid) for rows in sets])
        except ra.InputError:
            assert alike
            return
        for event, seed in events:
            if event == "evaluate":
                compare(metric, seed)
            elif event == "copy":
                metric, before = copy.deepcopy(metric), metric
                assert metric.history is before.history
            elif event == "pickle":
                metric = pickle.loads(pickle.dumps(metric))
                assert metric.history == []
            elif event == "threads":
                in_threads((compare, metric, seed + number) for number in range(4))
            else:
                target = np.random.default_rng(seed).permutation(sets[seed % len(sets)].labels).astype(np.float32)
                if not any(np.array_equal(target, rows.labels) for rows in sets):
                    with pytest.raises(ra.InputError, match="different order than declared"):
                        metric.evaluate([target], target, None)
