"""Random events change data sets and metrics, whose values must still equal `ra.evaluate`'s."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, precondition, rule

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, kernels
from tests.fuzz.budget import share

CONVENTIONS = tuple(
    map(ra.parse, ("lightgbm@5", "textbook@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc", "pandas.spearman"))
)
SEEDS, INDICES = st.integers(0, 2**20), st.integers(0, 7)
COPIES = st.sampled_from([copy.copy, copy.deepcopy, lambda callback: pickle.loads(pickle.dumps(callback))])
SETTINGS = settings(share(0.003), stateful_step_count=12)


@contextmanager
def quiet_evaluation() -> Iterator[None]:
    """Evaluate without machine code, and ignore warnings about weights that some conventions do not count."""
    with kernels(NEVER), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the data has weights, but")
        yield


def random_labels(rng, n):
    """Return labels with at least one 1, so that a pooled measure has a value."""
    labels = rng.integers(0, 4, n).astype(float)
    labels[rng.integers(0, n)] = 1.0
    return labels


class Rows:
    """The current rows of a data set, and the values that a metric must return for them."""

    def __init__(self, seed, weights_of_queries=(None,)):
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(1, 6, rng.integers(1, 5))
        self.labels = random_labels(rng, self.sizes.sum())
        self.X = rng.integers(0, 3, (self.labels.size, 2)).astype(float)
        self.weights = None if None in weights_of_queries else rng.choice(weights_of_queries, self.sizes.size)
        self.dataset = None  # the toolkit's object, if there is one

    @property
    def qid(self):
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def value(self, convention, scores, query_weight=None, row_weight=None):
        weights = {"query_weight": query_weight, "row_weight": row_weight}
        counted = {name: weight for name, weight in weights.items() if convention.weighting == name}
        return ra.evaluate(self.labels, scores, convention, group_sizes=self.sizes, **counted).value


def outcome(evaluate, *arguments):
    """Return a call's value, or "nothing" if no query has both a relevant and an irrelevant row."""
    try:
        return evaluate(*arguments)
    except ra.InputError as error:
        assert "nothing is left to average" in str(error)
        return "nothing"


def run_in_threads(calls):
    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(*call) for call in calls]:
            future.result()


class LightGBM:
    """LightGBM's Dataset, which has a weight for each row."""

    package = "lightgbm"

    def make_dataset(self, rows):
        data = self.toolkit.Dataset(rows.X, label=rows.labels, group=rows.sizes, params={"verbosity": -1})
        return data.construct()

    def n_weights(self, rows):
        return rows.labels.size

    def weights(self, rows):
        """Return the weights of the queries and of the rows."""
        from rankadapters.lightgbm.metrics import query_weights

        return (None, None) if rows.weights is None else (query_weights(rows.weights, rows.sizes), rows.weights)

    def metric_values(self, metric, rows, scores):
        if rows.dataset is None:  # as LGBMRanker calls it
            return [value for _, value, _ in metric(rows.labels, scores, rows.weights, rows.sizes)]
        return [value for _, value, _ in metric(scores, rows.dataset)]


class XGBoost:
    """XGBoost's DMatrix, which has a weight for each query."""

    package = "xgboost"

    def make_dataset(self, rows):
        return self.toolkit.DMatrix(rows.X, label=rows.labels, group=rows.sizes)

    def n_weights(self, rows):
        return rows.sizes.size

    def weights(self, rows):
        return (None, None) if rows.weights is None else (rows.weights, np.repeat(rows.weights, rows.sizes))

    def metric_values(self, metric, rows, scores):
        values = dict(metric(scores, rows.dataset))
        return [values[convention.name] for convention in CONVENTIONS]


class MetricMachine(RuleBasedStateMachine):
    """Make, change and drop data sets, evaluate and copy metrics; a subclass names the toolkit."""

    def __init__(self):
        super().__init__()
        self.toolkit, self.adapter = pytest.importorskip(self.package), getattr(ra, self.package)
        self.all_rows, self.quiet = [], quiet_evaluation()
        self.metrics = [self.adapter.eval_metric(CONVENTIONS, n_threads=1)]
        self.quiet.__enter__()

    def teardown(self):
        self.quiet.__exit__(None, None, None)

    @rule(seed=SEEDS)
    def new_dataset(self, seed):
        self.all_rows.append(Rows(seed))
        self.all_rows[-1].dataset = self.make_dataset(self.all_rows[-1])

    @precondition(lambda self: self.all_rows)
    @rule(index=INDICES, seed=SEEDS)
    def change_labels(self, index, seed):
        rows = self.all_rows[index % len(self.all_rows)]
        rows.labels = random_labels(np.random.default_rng(seed), rows.labels.size)
        rows.dataset.set_label(rows.labels)

    @precondition(lambda self: self.all_rows)
    @rule(index=INDICES, seed=SEEDS)
    def change_weights(self, index, seed):
        rows = self.all_rows[index % len(self.all_rows)]
        # Weights are never all 1: LightGBM 4.7 would then keep the previous weights.
        rows.weights = np.random.default_rng(seed).choice([0.25, 1.5, 2.5], self.n_weights(rows))
        rows.dataset.set_weight(rows.weights)

    @precondition(lambda self: self.all_rows)
    @rule(index=INDICES, seed=SEEDS)
    def change_queries(self, index, seed):
        """Reorder the query sizes; the number of queries stays, since weights may be per query."""
        rows = self.all_rows[index % len(self.all_rows)]
        rows.sizes = np.random.default_rng(seed).permutation(rows.sizes)
        rows.dataset.set_group(rows.sizes)

    @precondition(lambda self: self.all_rows)
    @rule(index=INDICES)
    def drop(self, index):
        del self.all_rows[index % len(self.all_rows)]
        gc.collect(0)

    def expected(self, rows, scores):
        weights = self.weights(rows)
        return [rows.value(convention, scores, *weights) for convention in CONVENTIONS]

    def compare(self, metric, rows, seed):
        scores = np.random.default_rng(seed).integers(0, 9, rows.labels.size) / 8
        values, expected = outcome(self.metric_values, metric, rows, scores), outcome(self.expected, rows, scores)
        assert values == expected, f"{values} is not {expected}"

    @precondition(lambda self: self.all_rows)
    @rule(index=INDICES, seed=SEEDS, metric_index=INDICES)
    def evaluate(self, index, seed, metric_index):
        self.compare(self.metrics[metric_index % len(self.metrics)], self.all_rows[index % len(self.all_rows)], seed)

    @rule(metric_index=INDICES, duplicate=COPIES)
    def copy_metric(self, metric_index, duplicate):
        self.metrics = [*self.metrics[-3:], duplicate(self.metrics[metric_index % len(self.metrics)])]

    @rule(metric_index=INDICES)
    def pickle_holds_no_data(self, metric_index):
        assert pickle.loads(pickle.dumps(self.metrics[metric_index % len(self.metrics)]))._monitor._bound == {}

    @precondition(lambda self: len(self.all_rows) > 1)
    @rule(metric_index=INDICES, seed=SEEDS)
    def evaluate_in_threads(self, metric_index, seed):
        metric = self.metrics[metric_index % len(self.metrics)]
        run_in_threads((self.compare, metric, rows, seed + number) for number, rows in enumerate(self.all_rows * 2))


class LightGBMMetrics(LightGBM, MetricMachine):
    def __init__(self):
        super().__init__()
        self.buffer = Rows(0)
        self.buffer.sizes, self.buffer.labels = np.array([3, 2]), np.array([1.0, 0, 2, 0, 1])

    @rule(metric_index=INDICES, seed=SEEDS, changed=st.booleans(), weighted=st.booleans())
    def evaluate_arrays(self, metric_index, seed, changed, weighted):
        """Pass the same label array twice; the caller may overwrite it between the calls."""
        rng = np.random.default_rng(seed)
        if changed:
            self.buffer.labels[:] = random_labels(rng, 5)
            self.buffer.sizes[:] = self.buffer.sizes[::-1].copy()
        self.buffer.weights = rng.choice([0.5, 1.0], 5) if weighted else None
        self.compare(self.metrics[metric_index % len(self.metrics)], self.buffer, seed)


class XGBoostMetrics(XGBoost, MetricMachine):
    pass


test_callbacks_of_lightgbm = get_state_machine_test(LightGBMMetrics, settings=SETTINGS)
test_callbacks_of_xgboost = get_state_machine_test(XGBoostMetrics, settings=SETTINGS)


# Callbacks that get their data sets before the training

CALLBACK_CONVENTIONS = tuple(map(ra.parse, ("lightgbm@5", "xgboost@3", "lightgbm.map@4", "yahoo.err", "xgboost.auc")))
WEIGHTS = (0.25, 1.0, 2.5)


class CatBoostMetric:
    """A metric of CatBoost, which knows its sets by their labels."""

    def __init__(self, sets, convention):
        self.sets, self.convention = sets, convention
        self.metric = ra.catboost.eval_metric(convention, sets=[(rows.labels, rows.qid) for rows in sets])
        self.first = None  # labels of the first evaluated set: CatBoost evaluates the training set first
        self.targets = []  # alive, since CatBoost's labels keep their memory during a training

    def rows(self, seed):
        return copy.copy(self.sets[seed % len(self.sets)])

    def value(self, labels, scores, weights=None):
        if self.first is None:
            self.first = labels
        self.targets.append(labels.astype(np.float32))
        return self.metric.evaluate([scores], self.targets[-1], weights)[0]

    def evaluate(self, seed):
        rng, rows = np.random.default_rng(seed), self.rows(seed)
        rows.weights = rng.choice(WEIGHTS, rows.sizes.size) if seed % 2 else None
        by_query, by_row = XGBoost.weights(None, rows)
        scores = rng.integers(-9, 9, rows.labels.size) / 8
        float32_weights = None if by_row is None else by_row.astype(np.float32)
        expected = outcome(rows.value, self.convention, scores, by_query, by_row)
        assert outcome(self.value, rows.labels, scores, float32_weights) == expected

    def threads(self, seed):
        run_in_threads((self.evaluate, seed + number) for number in range(4))

    def copy(self, seed):
        original = self.metric
        self.metric, self.first = copy.deepcopy(original), None
        assert self.metric.sets is original.sets

    def pickle(self, seed):
        self.metric, self.first = pickle.loads(pickle.dumps(self.metric)), None

    def permuted(self, seed):
        labels = np.random.default_rng(seed).permutation(self.rows(seed).labels)
        if any(np.array_equal(labels, rows.labels) for rows in self.sets):
            return
        if self.first is None:  # a training set that is not declared
            assert self.value(labels, labels) == -1
        else:
            with pytest.raises(ra.InputError, match="in a different order"):
                self.value(labels, labels)


@share(0.01)
@given(
    st.lists(SEEDS, min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from(["evaluate", "copy", "pickle", "permuted", "threads"]), SEEDS), max_size=8),
    st.sampled_from([*CALLBACK_CONVENTIONS, ra.parse("catboost@4")]),
)
def test_metric_of_catboost(seeds, events, convention):
    pytest.importorskip("catboost")
    sets = [Rows(seed) for seed in seeds]
    with quiet_evaluation():
        try:
            metric = CatBoostMetric(sets, convention)
        except ra.InputError:
            assert len({rows.labels.tobytes() for rows in sets}) < len(sets)
            return
        for event, seed in events:
            getattr(metric, event)(seed)
