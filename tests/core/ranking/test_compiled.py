"""A process ranks with machine code once it has ranked enough rows to pay for loading or compiling it."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking import compiled
from rankadapters.core.ranking.compiled import LATER, NEVER, NOW, ROWS_BEFORE_COMPILING, ROWS_BEFORE_LOADING, kernels


def process(monkeypatch, *, cached, numba=True, choice=LATER):
    """Return the counter of a new process, and the questions that it asks about machine code and numba."""
    questions = []
    monkeypatch.setattr(compiled, "cached", lambda _: questions.append("cached") or cached)
    monkeypatch.setattr(compiled, "can_import_numba", lambda: questions.append("numba") or numba)
    return compiled._Process(choice), questions


def test_cached_machine_code_is_loaded_after_eight_million_rows(monkeypatch):
    counter, questions = process(monkeypatch, cached=True)
    assert not counter.pays(ROWS_BEFORE_LOADING - 1)
    assert questions == []
    assert counter.pays(1)
    assert counter.pays(1)
    assert questions == ["cached", "numba"]


def test_missing_machine_code_is_compiled_after_forty_million_rows(monkeypatch):
    counter, questions = process(monkeypatch, cached=False)
    assert not counter.pays(ROWS_BEFORE_LOADING)
    assert not counter.pays(ROWS_BEFORE_COMPILING - ROWS_BEFORE_LOADING - 1)
    assert questions == ["cached"]  # the folder is looked up once, and numba is not imported for it
    assert counter.pays(1)
    assert questions == ["cached", "numba"]


def test_a_process_without_numba_asks_once_and_stays_in_numpy(monkeypatch):
    counter, questions = process(monkeypatch, cached=False, numba=False)
    assert not any(counter.pays(ROWS_BEFORE_COMPILING) for _ in range(3))
    assert questions == ["numba"]


def test_a_numba_that_refuses_this_numpy_counts_as_missing(monkeypatch):
    real_import = builtins.__import__

    def refuse(name, *rest):
        if name == "numba":
            raise ImportError("Numba needs NumPy 2.3 or less")
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert not compiled.can_import_numba()


@pytest.mark.parametrize(("choice", "pays"), [(NOW, True), (NEVER, False)])
def test_the_setting_decides_instead_of_the_count(monkeypatch, choice, pays):
    counter, questions = process(monkeypatch, cached=True, choice=choice)
    assert [counter.pays(rows) for rows in (0, ROWS_BEFORE_COMPILING)] == [pays, pays]
    assert questions == []


def test_an_unknown_setting_is_refused():
    with pytest.raises(ra.InputError, match="RANKADAPTERS_KERNELS='always'; allowed are 'later', 'now' and 'never'"):
        compiled.checked("always")


def test_a_process_that_switches_in_the_middle_prints_the_same_values(monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 4, 500), rng.integers(0, 40, 500) / 8
    texts = ["lightgbm@5", "sklearn@5", "textbook@all", "lightgbm.map@5", "sklearn.roc_auc_score", "scipy.kendalltau"]
    with kernels(NEVER):
        evaluator = ra.Evaluator(labels, texts, group_sizes=[100] * 5)
        expected = evaluator.evaluate(scores)
    counter, _ = process(monkeypatch, cached=True)
    counter.rows = ROWS_BEFORE_LOADING - 1000
    monkeypatch.setattr(compiled, "pays", counter.pays)
    assert [dict(evaluator.evaluate(scores)) for _ in range(3)] == [dict(expected)] * 3
    assert counter.ready
