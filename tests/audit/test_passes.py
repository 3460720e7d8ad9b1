"""Many conventions are evaluated in one pass, and no audit evaluates a convention twice on the same scores."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli
from rankadapters.audit.evaluation import evaluate_usable, measure_in_passes
from rankadapters.evaluation import passes as engine
from tests.helpers.rankings import small_queries

CONVENTIONS = ["yahoo@5", "letor4@5", "catboost@10"]
SEARCH = "the plans of a search"


@pytest.fixture
def passes(monkeypatch):
    """Record each pass over scores: the scores, and the conventions evaluated on them."""
    calls = []
    numerators = engine.numerators

    def record_call(members, scores, n_threads):
        conventions = [member.convention for member in members]
        if len(conventions) > 1 == len(set(conventions)):  # the plans of a search, all of them in one pass
            conventions = [SEARCH]
        calls.append((scores.tobytes(), conventions))
        return numerators(members, scores, n_threads)

    monkeypatch.setattr(engine, "numerators", record_call)
    return calls


def repeated_conventions(passes):
    counts = Counter((scores, convention) for scores, conventions in passes for convention in conventions)
    return [str(convention) for (_, convention), times in counts.items() if times > 1]


def audit_call(audit):
    """Return a function that runs the audit."""
    queries, scores = small_queries()
    models = {"a": scores, "b": queries.labels + scores}
    value = f"{ra.evaluate(queries, scores, 'yahoo@5').value:.2f}"
    return {
        "explain": lambda: ra.audit.explain(queries, scores, *CONVENTIONS[:2]),
        "order": lambda: ra.audit.order(queries, models, CONVENTIONS, n_resamples=9),
        "profile": lambda: ra.audit.profile(queries, k=[5, 10], scores=scores),
        "identify": lambda: ra.audit.identify(queries, scores, value=value, k=5),
    }[audit]


@pytest.mark.long
@pytest.mark.parametrize("audit", ["explain", "order", "profile", "identify"])
def test_no_audit_evaluates_a_convention_twice(passes, audit):
    compute = audit_call(audit)
    passes.clear()
    compute()
    assert passes
    assert repeated_conventions(passes) == []


@pytest.mark.parametrize("per_query", [False, True])
def test_the_command_ranks_once_and_once_more_for_per_query_values(tmp_path, capsys, passes, per_query):
    passes.clear()
    rows = tmp_path / "rows.txt"
    rows.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.7\n1 qid:2 1:0.2\n")
    options = ["--features", str(rows), "--feature", "1", "--convention", *CONVENTIONS, "--format", "json"]
    assert cli.main(["evaluate", *options, *(["--per-query"] if per_query else [])]) == 0
    assert [len(conventions) for _, conventions, *_ in passes] == [len(CONVENTIONS)] * (1 + per_query)
    assert ('"queries": {' in capsys.readouterr().out) is per_query


def test_each_model_is_ranked_once(passes):
    queries, scores = small_queries()
    ra.audit.order(queries, np.stack([scores, -scores, 2 * scores], axis=1), CONVENTIONS, n_resamples=9)
    assert len(passes) == 3


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
