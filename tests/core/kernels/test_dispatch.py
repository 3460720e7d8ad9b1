"""Check that the numpy form and the compiled form of each kernel give the same bits, and when each form runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.kernels import dispatch, steps
from rankadapters.core.kernels.dispatch import LATER, NEVER, NOW, kernels
from rankadapters.core.kernels.exact import mix_all
from rankadapters.core.kernels.ranking import order_within
from rankadapters.core.kernels.views import writable
from rankadapters.core.ranking import segments
from tests.helpers.convention_strategies import conventions
from tests.helpers.depth import examples
from tests.helpers.kernel_forms import all_results, switch_forms
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries, takes_probabilities, weights_and_pairs
from tests.helpers.tables import for_each


@given(
    data=st.data(), convention=conventions(), weighted=st.booleans(), dtype=st.sampled_from(["f4", "f8"]),
    shift=st.sampled_from([0.0, 1.0, 1e-3]),
)  # fmt: skip
@settings(max_examples=examples(1000))
def test_both_forms_give_the_same_bits(data, convention, weighted, dtype, shift):
    by_row = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged_queries(probabilities=takes_probabilities(convention), weighted=by_row))
    row_columns, scores = columns_and_scores(queries)
    row_columns |= weights_and_pairs(queries, convention) if weighted else {}
    if convention.weighting == "row_weight" and "row_weight" in row_columns:
        row_columns["row_weight"] = [weight + shift for weight in row_columns["row_weight"]]  # their sums are rounded
    scores = np.array(scores).astype(dtype)
    results = [all_results(convention, dict(row_columns), scores) for _ in switch_forms()]
    assert results[0] == results[1] == results[2]


@for_each("levels", [1, 2, 16, 17, 200])
def test_ideal_lists_are_the_same_whether_gains_are_counted_or_sorted(levels):
    """Up to 16 different gains that fit into a byte are counted; a gain of 0.5 among them forces a sort."""
    rng = np.random.default_rng(levels)
    sizes = rng.integers(1, 60, 50)
    labels = rng.integers(0, levels, int(sizes.sum())).astype(float)
    scores = rng.standard_normal(labels.size)
    convention = ra.presets.textbook(10).replace(gain="linear")
    values = []
    for choice in (NEVER, NOW):
        with kernels(choice):
            with_half = ra.Evaluator([*labels, 0.5, 0.0], convention, group_sizes=[*sizes, 2])
            values += [
                ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores).tobytes(),
                with_half.per_query(np.append(scores, [0, 1]))[:50].tobytes(),
            ]
    assert len(set(values)) == 1


@for_each("preset", ["xgboost.auc", "lightgbm.auc", "sklearn.average_precision_score", "sklearn@40", "yahoo@all"])
@for_each("levels", [7, 10**9])
@for_each("sizes", [[1500], [1, 1023, 1024, 1025, 2], [3] * 700])
def test_both_forms_give_the_same_bits_for_queries_of_any_size(preset, levels, sizes):
    rng, n = np.random.default_rng(1), sum(sizes)
    labels, scores = rng.integers(0, 2, n), rng.integers(0, levels, n) / 7
    results = []
    for choice in (NEVER, NOW):
        with kernels(choice):
            results.append(all_results(ra.parse(preset), {"labels": labels, "group_sizes": sizes}, scores))
    assert results[0] == results[1]
    assert isinstance(results[0], list)


@for_each(
    ("convention", "scores", "problem"),
    [
        *((convention, [0.5, 0.1, 0.2, np.inf], r"scores\[3\] is inf, which is not a finite")
          for convention in ("sklearn@2", "sklearn.roc_auc_score", "sklearn.average_precision_score")),
        ("xgboost@2", [1.0, 2, 3, 1e39], r"scores\[3\] is 1e\+39"),  # too large for float32
    ],
)  # fmt: skip
def test_both_forms_name_a_bad_score(convention, scores, problem):
    for choice in (NEVER, NOW):
        with kernels(choice), pytest.raises(ra.InputError, match=problem):
            ra.evaluate([1, 0, 1, 0], scores, convention, qid=["a", "b", "a", "b"])


WITHOUT_NUMBA = """
import sys
import warnings
import numpy as np
import rankadapters as ra
from tests.core.kernels.test_without_numba import preset_values
from tests.helpers.depth import THOROUGH
from tests.cli.test_warmup import evaluate_everything
queries = ra.Queries([2, 0, 1, 0], qid=["a", "b", "a", "b"])
ra.evaluate(queries, [0.5, 0.2, 0.1, 0.4], "lightgbm@10")
ra.evaluate(queries, [0.5, 0.2, 0.1, 0.4], ["sklearn@10", "lightgbm.map@5"])
ra.Evaluator(queries, ["yahoo@2"]).measure([0.5, 0.2, 0.1, 0.4]).tallies
assert "numba" not in sys.modules
assert len(preset_values()) > 150  # every preset
warnings.simplefilter("ignore", ra.LabelsWarning)  # some measures warn about these labels
assert not THOROUGH or evaluate_everything() > 1000
assert "numba" not in sys.modules
"""


def run_python(code, **environment):
    """Run code in a new process whose environment has these variables too."""
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env, timeout=300
    )


def test_little_work_does_not_import_numba():
    process = run_python(WITHOUT_NUMBA, RANKADAPTERS_KERNELS=LATER)
    assert (process.returncode, process.stderr) == (0, "")


COUNT_CALLS = """
import json, sys
import numpy as np
import rankadapters as ra
package = ra.__file__.removesuffix("__init__.py")
convention, evaluate, calls = ra.presets.lightgbm(10), ra.evaluate, []
def count_call(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
        calls.append(code.co_filename)
labels, scores, sizes = np.array([2, 0, 1, 0, 1, 0]), np.array([0.5, 0.2, 0.1, 0.4, 0.3, 0.6]), np.array([2, 2, 2])
sys.setprofile(count_call)
evaluate(labels, scores, convention, group_sizes=sizes)
sys.setprofile(None)
print(json.dumps([len(calls), len(set(calls))]))
"""
MOST_CALLS, MOST_FILES = 184, 32


def test_a_first_evaluation_calls_few_functions_in_few_files():
    """A reader of the code has to follow these calls."""
    n_calls, n_files = json.loads(run_python(COUNT_CALLS).stdout)
    assert n_calls <= MOST_CALLS
    assert n_files <= MOST_FILES


COMPILE_LATER = """
import json, sys
import numpy as np
import rankadapters as ra
from rankadapters.core.kernels import dispatch
rng = np.random.default_rng(0)
evaluator = ra.Evaluator(rng.integers(0, 5, 3000), "lightgbm@10", group_sizes=[100] * 30)
scores = rng.random(3000)
first, compiled = evaluator.evaluate(scores), ["numba" in sys.modules]
dispatch.ROWS_BEFORE_LOADING = 1
for dispatch.ROWS_BEFORE_COMPILING in {compiling}:
    for _ in range(7):
        assert evaluator.evaluate(scores) == first
    compiled.append("ranked_columns" in {{key[0].__name__ for key in dispatch._process.ready}})
print(json.dumps(compiled))
"""


def test_much_work_compiles_kernels_that_other_processes_load_after_less_work(tmp_path):
    pytest.importorskip("numba")
    # The first process does too little work, then compiles. The second does too little, but loads the cached kernel.
    for rows, expected in (([10**9, 10_000], [False, False, True]), ([10**9], [False, True])):
        code = COMPILE_LATER.format(compiling=rows)
        process = run_python(code, RANKADAPTERS_KERNELS=LATER, NUMBA_CACHE_DIR=str(tmp_path))
        assert process.returncode == 0, process.stderr
        assert json.loads(process.stdout) == expected


RANKING_PRESETS = [
    "textbook@3", "ranklib@3", "yahoo@2", "trec_eval_9@3", "lightgbm.map@3", "lightgbm.map@3+ties=together",
    "xgboost.auc", "catboost.mrr@3", "catboost.query_rmse", "catboost.filtered_dcg", "ranx.recall@3",
]  # fmt: skip


@for_each("preset", RANKING_PRESETS)
@for_each("sizes", [[2, 5, 3], [40, 10]])
def test_ranked_rows_count_towards_compiling(preset, sizes, monkeypatch):
    monkeypatch.setattr(dispatch, "_process", dispatch._Process(LATER))
    n = sum(sizes)
    docid = [f"d{row}" for row in range(n)]
    evaluator = ra.Evaluator(np.arange(n) % 2, ra.parse(preset), group_sizes=sizes, docid=docid)
    rows_before = dispatch._process.rows
    evaluator.evaluate(np.arange(n) % 3)
    cost = 16 if preset in {"xgboost.auc", "catboost.query_rmse"} else 1  # loops in Python are slower than numpy
    assert dispatch._process.rows - rows_before == n * cost


def test_writable_and_read_only_arrays_share_one_compiled_kernel():
    mixed, words = np.empty(3, np.uint64), np.arange(3, dtype=np.uint64)
    words.flags.writeable = False
    with kernels(NOW):
        dispatch.run(mix_all, words, mixed)
        signatures = set(mix_all.compiled.signatures)
        dispatch.run(mix_all, words.copy(), mixed)
    assert set(mix_all.compiled.signatures) == signatures
    assert words.tolist() == [0, 1, 2]
    assert not words.flags.writeable


def test_one_thread_at_a_time_loads_kernels():
    pytest.importorskip("numba")
    from rankadapters.core.kernels import compiling

    locked = []

    class Kernel:
        class compiled:  # noqa: N801 - an attribute of kernels
            targetctx = None

            class _cache:  # noqa: N801 - an attribute in numba
                @staticmethod
                def load_overload(*_):
                    locked.append(compiling.global_compiler_lock.is_locked())

    assert not compiling.load(Kernel, [1.0])
    assert locked == [True]


def test_steps_are_loaded_only_if_all_their_kernels_are_in_the_cache(monkeypatch):
    pytest.importorskip("numba")
    from rankadapters.core.kernels import compiling

    loads, load = [], compiling.load
    monkeypatch.setattr(compiling, "load", lambda step, arguments: loads.append((step, arguments)) or step == "known")
    new_and_known = steps(lambda value: iter([("new", (value,)), ("known", (value, value))]))
    assert not load(new_and_known, [1])
    assert loads == [("new", (1,)), ("known", (1, 1))]
    assert load(steps(lambda value: iter([("known", (value,))])), [2])


def test_steps_stop_at_the_first_refused_row():
    returned_rows = []

    def step(row):
        return returned_rows.append(row) or row

    assert steps(lambda: iter([(step, (-1,)), (step, (None,)), (step, (7,)), (step, (-1,))]))() == 7
    assert returned_rows == [-1, None, 7]
    assert steps(lambda: iter([(step, (None,))]))() == -1


def test_a_writable_view_keeps_its_memory_alive():
    array = np.arange(5.0)
    array.flags.writeable = False
    view = writable(array)
    assert view.flags.writeable
    assert np.shares_memory(view, array)
    del array
    assert view.tolist() == [0, 1, 2, 3, 4]


def test_the_choice_of_kernels_holds_in_all_threads_and_is_restored():
    choices = []
    with kernels(NEVER):
        thread = threading.Thread(target=lambda: choices.append(dispatch._process.choice))
        thread.start()
        thread.join()
    assert choices == [NEVER]
    assert dispatch._process.choice != NEVER


def test_an_unknown_choice_of_kernels_is_refused():
    process = run_python(
        "import rankadapters as ra; ra.evaluate([1], [1], 'yahoo@1', group_sizes=[1])", RANKADAPTERS_KERNELS="often"
    )
    assert process.stderr.endswith(
        "InputError: RANKADAPTERS_KERNELS='often'; allowed are 'later', 'now' and 'never'.\n"
        "Hint: leave it out for 'later', which compiles once much is evaluated.\n"
    )


def test_only_rows_of_the_requested_queries_are_ordered():
    keys, order = np.array([9.0, 8, 1, 3, 2, 5, 7]), np.zeros(7, np.int64)
    with kernels(NEVER):
        dispatch.run(order_within, keys, np.array([2, 5, 7]), order)
    assert order.tolist() == [0, 0, 3, 4, 2, 6, 5]


@for_each("k", [1, 10, 100, 150, 500])
def test_top_rows_of_long_queries_equal_those_of_a_stable_sort(k):
    rng, sizes = np.random.default_rng(k), [segments.LEAST_ROWS_PER_RANK * k, 5000]
    scores = rng.integers(0, 300, sum(sizes)) / 7
    indptr, outptr = np.cumsum([0, *sizes]), np.array([0, k, 2 * k])
    rows = segments.largest_first(scores, indptr, k, outptr)
    first, second = (start + np.argsort(-scores[start:stop], kind="stable")[:k] for start, stop in pairwise(indptr))
    assert rows.tolist() == [*first, *second]
