"""Threads and processes: they give the same bits, name the first bad row, and work after a fork."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.evaluation import threads
from tests.helpers.ragged_queries import TEXTBOOK, ragged_columns


@pytest.fixture
def many_rows(monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 50)
    labels, scores, qid = ragged_columns(11, n_queries=300)
    return labels, scores, qid


@pytest.mark.parametrize(("cpu_count", "n_threads"), [(6, 6), (None, 1)])
def test_all_cpus_are_used_where_the_system_lists_none_for_the_process(cpu_count, n_threads, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cpu_count)
    assert threads.as_n_threads(None) == n_threads


def test_any_number_of_threads_names_the_first_bad_row(many_rows):
    labels, scores, qid = many_rows
    scores = scores.copy()
    scores[[500, 4000, -1]] = np.nan
    for n_threads in (1, 2, 7):
        with pytest.raises(ra.InputError, match=r"scores\[500\] is nan"):
            ra.evaluate(labels, scores, TEXTBOOK, qid=qid, n_threads=n_threads)


def test_sixteen_user_threads_share_one_evaluator(many_rows):
    labels, scores, qid = many_rows
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid, n_threads=3)
    score_columns = [np.roll(scores, shift) for shift in range(16)]
    expected = [evaluator.evaluate(shifted_scores).value for shifted_scores in score_columns]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(5):
            assert [score.value for score in pool.map(evaluator.evaluate, score_columns)] == expected


def evaluate_in_child(evaluator, scores, queue):
    queue.put(evaluator.evaluate(scores).value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_returns_the_same_value(many_rows):
    labels, scores, qid = many_rows
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid, n_threads=2)
    value = evaluator.evaluate(scores).value
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=evaluate_in_child, args=(evaluator, scores, queue))
    child.start()
    assert queue.get(timeout=60) == value
    child.join(timeout=60)
    assert child.exitcode == 0


@pytest.mark.long
def test_joblib_workers_return_the_same_score():
    labels, scores, qid = ragged_columns(13)
    evaluator = ra.Evaluator(labels, TEXTBOOK, qid=qid)
    values = joblib.Parallel(n_jobs=2)(joblib.delayed(evaluator.evaluate)(scores) for _ in range(3))
    assert values == [evaluator.evaluate(scores)] * 3
