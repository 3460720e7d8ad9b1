"""Many conventions are evaluated in one pass; those without a value on the data are left out."""

from __future__ import annotations

import numpy as np

import rankadapters as ra
from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from tests.helpers.graded_queries import small_queries


def test_conventions_without_a_value_are_left_out_of_a_pass():
    queries, scores = small_queries()
    labels = np.where(np.arange(queries.n_docs) == 0, 4, queries.labels)  # outside LETOR's gain table
    graded = ra.Queries(labels, group_sizes=np.diff(queries.indptr))
    conventions = [ra.parse(f"{tool}@{k}") for k in range(1, 9) for tool in ("letor4", "yahoo", "lightgbm")]
    all_empty = ra.presets.lightgbm.map(3).replace(relevant="from_9", empty="skip")
    [measured] = measure_in_passes(graded, scores, [*conventions, all_empty])
    usable = [convention for convention in conventions if convention.gain != "table_0_1_3"]
    assert list(measured.scores) == usable
    assert evaluate_usable(graded, scores, conventions) == {c: ra.evaluate(graded, scores, c) for c in usable}


def test_conventions_whose_mean_overflows_are_left_out_of_a_pass():
    queries = ra.Queries([4, 0, 4, 0], group_sizes=[2, 2], query_weight=[1e308, 1.7e308])
    scores = np.array([1, 2, 4, 3])
    texts = ["catboost.dcg@1", "sklearn@1", "catboost.dcg@2", "sklearn@2", "lightgbm@2"]
    usable = [ra.parse(text) for text in texts if "dcg" not in text]
    for conventions in (usable[:1], list(map(ra.parse, texts))):
        values = evaluate_usable(queries, scores, conventions)
        assert values == {c: ra.evaluate(queries, scores, c) for c in conventions if c in usable}


def test_passes_are_limited_in_size_and_report_progress(monkeypatch):
    queries, scores = small_queries()
    conventions = [ra.parse(f"yahoo@{k}") for k in (1, 2, 3, 1, 4, 5, 6, 7)]
    steps = []
    monkeypatch.setattr("rankadapters.audit.evaluation.PASS_SIZE", 3)
    monkeypatch.setattr("rankadapters.audit.evaluation.advance", lambda *step: steps.append(step))
    passes = [[c.k for c in measured.scores] for measured in measure_in_passes(queries, scores, conventions)]
    assert passes == [[1, 2, 3], [4, 5, 6], [7]]
    assert steps == [(3, 7), (6, 7), (7, 7)]
