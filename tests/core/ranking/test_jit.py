"""Functions that numba compiles, their machine code on disk, and when a process begins to use it."""

from __future__ import annotations

import builtins
import pickle
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking import jit as module
from rankadapters.core.ranking.compiled import LATER, NEVER, NOW, ROWS_BEFORE_COMPILING, ROWS_BEFORE_LOADING, kernels
from rankadapters.core.ranking.jit import cached, jit
from rankadapters.core.ranking.sorting import ranked_rows
from tests.helpers.python_processes import TIMEOUT, run_python

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
BLOCK_NUMBA = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
OBJECTIVE = "import rankadapters as ra; objective = ra.objectives.lightgbm.lambdarank()\n"
GRADIENTS = "ra.objectives.gradients([2, 0, 1], [0.1, 0.3, 0.2], objective, group_sizes=[3])[0].tolist()"
RANK = """
import numpy as np
from rankadapters.core.ranking.sorting import ranked_rows
def ranks(scores):
    rows, indptr = np.empty(scores.size, np.int32), np.array([0, scores.size])
    assert ranked_rows(scores, np.empty(0, np.int32), indptr, scores.size, False, indptr, rows) == -1
    return rows.tolist()
"""


def double(values):
    return 2 * values[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep machine code in an empty folder."""
    pytest.importorskip("numba")
    monkeypatch.setattr(module, "folder", lambda: tmp_path)
    return tmp_path


def result_and_compilations(function):
    """Call a function; return its result and how often it was compiled."""
    return function(np.array([21.0])), sum(function.compiled.stats.cache_misses.values())


def test_without_numba_a_gradient_names_the_extra_but_evaluation_works():
    code = f"{BLOCK_NUMBA}{OBJECTIVE}print(ra.evaluate([1, 0], [2, 1], 'lightgbm@1', qid=[1, 1]).value)\n"
    process = run_python("-c", code + GRADIENTS, code=1)
    assert process.stdout == "1.0\n"
    assert process.stderr.splitlines()[-2:] == [
        "rankadapters.core.errors.MissingToolkitError: numba is not installed.",
        'Hint: pip install "rankadapters[fast]"',
    ]


def test_machine_code_is_loaded_and_known_to_be_cached(folder):
    first, second = jit(double), jit(double)
    assert not cached(first, FLOAT64)
    assert result_and_compilations(first) == (42.0, 1)
    assert cached(second, FLOAT64)
    assert not cached(second, FLOAT32)
    assert result_and_compilations(second) == (42.0, 0)
    assert len(list(folder.iterdir())) == 1
    second(np.array([21], np.float32))
    assert cached(jit(double), FLOAT32)


@pytest.mark.long
def test_compiling_is_said_once_in_a_job_without_logging_and_loading_is_not(tmp_path):
    pytest.importorskip("numba")
    code = f"{OBJECTIVE}{GRADIENTS}\n{GRADIENTS}"
    first, second = (run_python("-c", code, NUMBA_CACHE_DIR=tmp_path).stderr.splitlines() for _ in range(2))
    assert first == ["rankadapters: compiling gradients, once on this machine"]
    assert second == []


def test_compiling_is_logged_under_the_packages_name(tmp_path):
    """Without a folder for machine code, the line says that none is kept."""
    pytest.importorskip("numba")
    (tmp_path / "file").touch()
    log = "import logging; logging.basicConfig(level='ERROR', format='%(name)s %(levelname)s %(message)s')\n"
    show = "logging.getLogger().setLevel('INFO')\n"
    code = f"{log}from rankadapters.core.ranking.jit import jit\n{show}jit(lambda x: 2 * x)(1.0)"
    when = "in this process, since no folder for machine code can be written"
    lines = run_python("-c", code, NUMBA_CACHE_DIR=tmp_path / "file").stderr.splitlines()
    assert lines == [f"rankadapters WARNING rankadapters: compiling functions, {when}"]


@pytest.mark.long
def test_a_level_above_warning_hides_that_code_is_compiled(tmp_path):
    pytest.importorskip("numba")
    code = f"import logging; logging.basicConfig(level='ERROR')\n{OBJECTIVE}{GRADIENTS}"
    assert run_python("-c", code, NUMBA_CACHE_DIR=tmp_path).stderr == ""


def test_every_folder_of_kernels_has_a_purpose_in_the_log():
    assert [pattern.partition("/")[0] for pattern in module.KERNELS] == list(module.PURPOSES)


@pytest.mark.parametrize("damage", [lambda code: b"", lambda code: code[:-40], lambda code: b"cno_module\nGone\n."])
def test_a_broken_file_is_compiled_again_and_replaced(folder, damage):
    jit(double)(np.array([1.0]))
    [file] = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert result_and_compilations(jit(double)) == (42.0, 1)
    assert result_and_compilations(jit(double)) == (42.0, 0)


def test_a_folder_that_cannot_be_written_means_no_cache(folder, monkeypatch):
    monkeypatch.setattr(module, "folder", lambda: folder / "missing")  # such as a full disk
    assert result_and_compilations(jit(double)) == (42.0, 1)
    monkeypatch.setattr(module, "folder", lambda: None)
    assert jit(double)(np.array([21.0])) == 42.0
    assert not cached(jit(double), FLOAT64)


def test_the_folder_is_in_the_first_place_that_can_be_written(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    find = module.folder.__wrapped__
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "requested"))
    name = find().name
    assert find() == tmp_path / "requested" / name
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert find() is None
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert find() == module.PACKAGE / "__pycache__" / name
    monkeypatch.setattr(module, "PACKAGE", tmp_path / "file")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find().parent == tmp_path / "home" / ".cache"


def test_a_change_of_any_file_with_jitted_functions_changes_the_folder(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    jitted = [
        file
        for file in module.PACKAGE.rglob("*.py")
        if re.search(r"ranking\.jit import .*\b(jit|internal)\b", file.read_text(encoding="utf-8"))
    ]
    assert len(jitted) > 10
    copy = tmp_path / "rankadapters"
    shutil.copytree(module.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "PACKAGE", copy)
    folders = {module.folder.__wrapped__()}
    for file in jitted:
        with (copy / file.relative_to(Path(module.__file__).parents[2])).open("a") as text:
            text.write("#\n")
        folders.add(module.folder.__wrapped__())
    assert len(folders) == len(jitted) + 1


def test_threads_compile_once(folder):
    function, barrier = jit(double), Barrier(8, timeout=TIMEOUT)

    def call(value):
        barrier.wait()
        return function(np.array([value]))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == [2 * value for value in range(8)]
    assert len(function.compiled.overloads) == 1


def test_numba_disable_jit_runs_the_python_function():
    pytest.importorskip("numba")
    code = f"{RANK}print(ranks(np.array([1.0, 3.0, 2.0])), type(ranked_rows.compiled).__name__)"
    assert run_python("-c", code, NUMBA_DISABLE_JIT=1).stdout == "[1, 2, 0] function\n"


def test_a_jitted_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(ranked_rows)) is ranked_rows


def process(monkeypatch, *, cached=(), numba=True, choice=LATER):
    """Return the counter of a new process, and the questions that it asks about machine code and numba."""
    questions = []
    monkeypatch.setattr(compiled, "cached", lambda _, dtype: questions.append(f"cached {dtype}") or dtype in cached)
    monkeypatch.setattr(compiled, "can_import_numba", lambda: questions.append("numba") or numba)
    return compiled._Process(choice), questions


def test_cached_machine_code_is_loaded_after_eight_million_rows(monkeypatch):
    counter, questions = process(monkeypatch, cached=[FLOAT64])
    assert not counter.pays(ROWS_BEFORE_LOADING - 1, FLOAT64)
    assert questions == []
    assert counter.pays(1, FLOAT64)
    assert counter.pays(1, FLOAT64)
    assert questions == ["cached float64", "numba"]


def test_missing_machine_code_is_compiled_after_forty_million_rows(monkeypatch):
    counter, questions = process(monkeypatch)
    assert not counter.pays(ROWS_BEFORE_LOADING, FLOAT64)
    assert not counter.pays(ROWS_BEFORE_COMPILING - ROWS_BEFORE_LOADING - 1, FLOAT64)
    assert questions == ["cached float64"]  # the folder is looked up once, and numba is not imported for it
    assert counter.pays(1, FLOAT64)
    assert questions == ["cached float64", "numba"]


def test_rows_of_another_type_of_scores_neither_count_nor_compile(monkeypatch):
    """Machine code is compiled for each type."""
    counter, questions = process(monkeypatch, cached=[FLOAT64])
    assert counter.pays(ROWS_BEFORE_LOADING, FLOAT64)
    assert not counter.pays(ROWS_BEFORE_LOADING - 1, FLOAT32)
    assert not counter.pays(ROWS_BEFORE_COMPILING - ROWS_BEFORE_LOADING, FLOAT32)
    assert counter.pays(0, FLOAT64)
    assert questions == ["cached float64", "numba", "cached float32"]
    assert counter.pays(1, FLOAT32)


def test_a_process_without_numba_asks_once_and_stays_in_numpy(monkeypatch):
    counter, questions = process(monkeypatch, numba=False)
    assert not any(counter.pays(ROWS_BEFORE_COMPILING, FLOAT64) for _ in range(3))
    assert questions == ["numba"]


def test_a_numba_that_refuses_this_numpy_counts_as_missing(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("numba"):
            raise ImportError("Numba needs NumPy 2.3 or less")
        return real_import(name, *rest)

    monkeypatch.setattr(module, "_compiling", [])  # as before the first import
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert not compiled.can_import_numba()


@pytest.mark.parametrize(("choice", "pays"), [(NOW, True), (NEVER, False)])
def test_the_setting_decides_instead_of_the_count(monkeypatch, choice, pays):
    counter, questions = process(monkeypatch, cached=[FLOAT64], choice=choice)
    assert [counter.pays(rows, FLOAT64) for rows in (0, ROWS_BEFORE_COMPILING)] == [pays, pays]
    assert questions == []


EVALUATE = "import rankadapters as ra; print(ra.evaluate([1, 0], [2, 1], 'textbook@2', qid=[1, 1]).value)"


def test_an_unknown_setting_is_refused_at_the_first_evaluation_and_an_empty_one_is_none():
    assert run_python("-m", "rankadapters", "--version", RANKADAPTERS_KERNELS="x").stdout.startswith("rankadapters ")
    error = run_python("-c", EVALUATE, RANKADAPTERS_KERNELS="x", code=1).stderr.splitlines()[-2]
    assert error.startswith("rankadapters.core.errors.RankAdaptersError: RANKADAPTERS_KERNELS='x'; allowed are")
    assert run_python("-c", EVALUATE, RANKADAPTERS_KERNELS="").stdout == "1.0\n"


def test_a_search_does_not_skip_conventions_for_an_unknown_setting(monkeypatch):
    monkeypatch.setattr(compiled, "pays", compiled._Process("x").pays)
    with pytest.raises(ra.RankAdaptersError, match="RANKADAPTERS_KERNELS='x'"):
        ra.audit.identify([1, 0], [2, 1], value=0.5, k=1, qid=[1, 1])


def test_a_process_that_switches_in_the_middle_prints_the_same_values(monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 4, 500), rng.integers(0, 40, 500) / 8
    texts = [
        "lightgbm@5", "xgboost@5", "sklearn@5", "textbook@all", "lightgbm.map@5", "sklearn.roc_auc_score",
        "scipy.kendalltau",
    ]  # fmt: skip
    with kernels(NEVER):
        evaluator = ra.Evaluator(labels, texts, group_sizes=[100] * 5)
        expected = evaluator.evaluate(scores)
    counter, _ = process(monkeypatch, cached=[FLOAT32, FLOAT64])
    counter.rows[FLOAT32] = counter.rows[FLOAT64] = ROWS_BEFORE_LOADING - 1000
    monkeypatch.setattr(compiled, "pays", counter.pays)
    assert [dict(evaluator.evaluate(scores)) for _ in range(3)] == [dict(expected)] * 3
    assert counter.ready == {FLOAT32, FLOAT64}
