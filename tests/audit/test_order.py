"""Whether the choice of the convention changes which model wins."""

from __future__ import annotations

import json
import math
import runpy
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.ordering.ordering import _tau_b as tau_b
from rankadapters.statistics.cells import signed
from rankadapters.statistics.multiple_tests import holm
from tests.helpers.graded_queries import small

pytest.importorskip("scipy")

LETOR4, YAHOO, CATBOOST = ra.presets.letor4(5), ra.presets.yahoo(5), ra.presets.catboost(5)


def models(seed=0, n_queries=60):
    """Three models: one good, one that ties everything, one that is good at rank 1 of long queries only."""
    queries, _ = small(seed, n_queries)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, queries.n_docs))
    return queries, {
        "good": queries.labels + noise[0],
        "tied": np.zeros(queries.n_docs),
        "noise": noise[1],
    }


def test_values_are_evaluates_and_the_correlation_is_kendalls():
    from scipy.stats import kendalltau

    queries, scores = models()
    found = ra.audit.order(queries, scores, [LETOR4, YAHOO, CATBOOST], n_resamples=99)
    values = {}
    for convention in (LETOR4, YAHOO, CATBOOST):
        values[convention] = [ra.evaluate(queries, each, convention) for each in scores.values()]
        assert [by[convention] for by in found.scores.values()] == values[convention]
    for (i, first), (j, second) in product(enumerate(values.values()), repeat=2):
        expected = kendalltau([score.value for score in first], [score.value for score in second]).statistic
        assert found.correlations[i][j] == pytest.approx(expected)


def test_a_pair_that_changes_places_is_listed_under_every_convention():
    # Tied scores keep the order of the file under yahoo (1 first) and have the worst order under catboost.
    labels, sizes = [1, 0] * 20, [2] * 20
    scores = {"tied": np.zeros(40), "half": np.tile([1, 0, 0, 1], 10)}
    found = ra.audit.order(labels, scores, [YAHOO, CATBOOST], group_sizes=sizes)
    [change] = found.changes
    assert change.models == ("tied", "half")
    assert [c.ahead for c in change.comparisons] == ["tied", "half"]
    loss = 1 - 1 / math.log2(3)
    assert [c.difference for c in change.comparisons] == pytest.approx([loss / 2, -loss / 2])
    assert change.significant
    assert found.correlations[0][1] == -1
    assert "1 of 1 pairs of models change places, 1 of them with a significant difference" in str(found)


def test_a_pair_within_the_noise_changes_places_without_significance():
    labels, sizes = [1, 0, 1, 0, 1, 0], [2, 2, 2]
    scores = {"tied": np.zeros(6), "half": [1, 0, 0, 1, 1, 0]}
    found = ra.audit.order(labels, scores, [YAHOO, CATBOOST], group_sizes=sizes)
    [change] = found.changes
    assert not change.significant
    # All 8 swaps of three queries are tried, so that a two-sided p-value is a multiple of 1/8.
    assert {c.p_value * 8 % 1 for c in found.comparisons} == {0}
    assert "no difference can be significant" in found.notes[0]


@pytest.mark.parametrize(
    ("n_queries", "n_resamples", "told"),
    [
        (60, 78, ["of 78 resamples of 60 queries, corrected for 2 comparisons, is 0.051"]), (60, 79, []),
        (6, 9999, ["of 9999 resamples of 6 queries, corrected for 2 comparisons, is 0.062"]), (7, 9999, []),
    ],
)  # fmt: skip
def test_too_few_resamples_or_swaps_for_any_significance_are_told(n_queries, n_resamples, told):
    queries, scores = models(n_queries=n_queries)
    pair = {name: scores[name] for name in ("good", "tied")}
    found = ra.audit.order(queries, pair, [YAHOO, LETOR4], n_resamples=n_resamples, confidence=0.95)
    assert [note.partition("the smallest p-value ")[2] for note in found.notes] == told


def test_equal_models_never_differ():
    queries, scores = models()
    found = ra.audit.order(queries, {"a": scores["good"], "b": scores["good"] * 2}, [YAHOO, LETOR4])
    for comparison in found.comparisons:
        assert (comparison.difference, comparison.p_value, comparison.low, comparison.high) == (0, 1, 0, 0)
        assert comparison.ahead is None
    assert found.changes == ()
    assert found.correlations == ((None, None), (None, None))


def test_the_same_seed_gives_the_same_report_and_another_one_does_not():
    queries, scores = models()
    assert (
        ra.audit.order(queries, scores, [YAHOO], n_resamples=199, random_state=np.random.default_rng(1)).to_dict()
        == ra.audit.order(queries, scores, [YAHOO], n_resamples=199, random_state=np.random.default_rng(1)).to_dict()
    )
    reports = [
        ra.audit.order(queries, scores, [YAHOO], n_resamples=199, random_state=seed).to_dict() for seed in (3, 3, 4)
    ]
    assert reports[0] == reports[1] != reports[2]


def test_p_values_are_corrected_over_all_pairs_and_conventions():
    queries, scores = models()
    found = ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=499)
    assert len(found.comparisons) == 6
    assert [c.p_corrected for c in found.comparisons] == holm([c.p_value for c in found.comparisons])
    assert [c.significant for c in found.comparisons] == [c.p_corrected <= 1 - 0.95 for c in found.comparisons]
    assert any(c.significant for c in found.comparisons)


def test_holms_correction_by_hand():
    # Holm (1979): the smallest times 4, the next times 3, ..., none below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]


def test_weights_count_in_values_and_tests():
    labels, sizes, weights = [1, 0] * 6, [2] * 6, [10, 1, 1, 1, 1, 1]
    scores = {"first": [2, 1] + [1, 2] * 5, "rest": [1, 2] + [2, 1] * 5}
    plain = ra.audit.order(labels, scores, [YAHOO], group_sizes=sizes)
    convention = YAHOO.replace(average="query")
    weighted = ra.audit.order(labels, scores, [convention], group_sizes=sizes, query_weight=weights)
    assert plain.comparisons[0].ahead == "rest"
    assert weighted.comparisons[0].ahead == "first"
    assert weighted.comparisons[0].low < weighted.comparisons[0].difference < weighted.comparisons[0].high


def test_models_that_retrieved_other_rows_have_queries_of_their_own():
    rows = {"qid": [1, 1, 2, 2], "judged": [True] * 4}
    labels = {
        "a": ra.Queries([1, 0, 1, 0], retrieved=[True, True, True, True], **rows),
        "b": ra.Queries([1, 0, 0, 1], qid=[2, 2, 1, 1], retrieved=[True, True, True, False]),
    }
    scores = {"a": [2, 1, 1, 2], "b": [2, 1, 1, np.nan]}
    convention = ra.presets.trec_eval_9(2).replace(ties="input")
    found = ra.audit.order(labels, scores, [convention])
    [comparison] = found.comparisons
    assert comparison.difference == pytest.approx((1 + 1 / math.log2(3)) / 2 - 1 / 2)
    other = {"a": labels["a"], "b": ra.Queries([1, 0], qid=[3, 3])}
    with pytest.raises(ra.InputError, match=r"model 'b' and the first model have different queries \(1 and 2\).\nHint"):
        ra.audit.order(other, {"a": [2, 1, 1, 2], "b": [2, 1]}, [convention])
    with pytest.raises(ra.InputError, match="labels has no queries for model 'c'"):
        ra.audit.order(labels, {**scores, "c": [1]}, [convention])


def test_a_single_query_has_an_order_but_no_significance():
    found = ra.audit.order([1, 0], {"a": [2, 1], "b": [1, 2]}, [YAHOO, YAHOO.at(1)], group_sizes=[2])
    assert [c.ahead for c in found.comparisons] == ["a", "a"]
    assert {c.p_value for c in found.comparisons} == {c.p_corrected for c in found.comparisons} == {None}
    assert "a single query says nothing of significance" in found.notes[0]
    assert json.loads(found.to_json())["comparisons"][0]["p_value"] is None


def test_one_convention_has_no_correlations_to_show():
    queries, scores = models()
    found = ra.audit.order(queries, scores, [YAHOO], n_resamples=99)
    assert found.changes == ()
    assert "Kendall" not in str(found)


def test_tau_of_constant_values_is_none():
    assert tau_b([1, 1, 1], [1, 2, 3]) is None
    assert tau_b([1, 2, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6))  # one tie: tau-b, not tau-a


def test_every_form_holds_values_and_changes():
    labels, sizes = [1, 0] * 20, [2] * 20
    scores = {"tied": np.zeros(40), "half": np.tile([1, 0, 0, 1], 10)}
    found = ra.audit.order(labels, scores, [YAHOO, CATBOOST], group_sizes=sizes)
    plain = json.loads(found.to_json())
    assert plain["changes"] == [{"models": ["tied", "half"], "significant": True}]
    assert plain["values"]["tied"][str(YAHOO)] == 1
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        assert "1.000000 (1)" in text
        assert "tied, half" in text
        assert str(CATBOOST) in text
    for each in found.changes[0].comparisons:
        assert f"| {signed(each.low)} to {signed(each.high)} |" in found.to_markdown()


def test_ranks_count_the_better_models_and_equal_ones_share_theirs():
    models = {"last": [1, 2, 3], "a": [3, 2, 1], "b": [3, 1, 2], "middle": [2, 3, 1], "c": [2, 1, 0]}
    found = ra.audit.order([1, 0, 0], models, "textbook@3", n_resamples=9, group_sizes=[3])
    assert [line[1][-3:] for line in found.values_table().lines] == ["(5)", "(1)", "(1)", "(4)", "(1)"]


def test_progress_is_told_for_the_swaps_and_for_the_samples_of_all_comparisons():
    queries, scores = models()
    steps = []
    ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=9, progress=lambda *step: steps.append(step))
    assert steps == [(1, 2), (2, 2)]


def test_a_comparison_does_not_depend_on_the_other_models_and_conventions():
    queries, scores = models()
    every = ra.audit.order(queries, scores, [YAHOO, LETOR4], n_resamples=99).comparisons
    two = ra.audit.order(queries, {name: scores[name] for name in ("tied", "noise")}, [LETOR4], n_resamples=99)
    [alone] = two.comparisons
    [among] = [c for c in every if (c.first, c.second, c.convention) == ("tied", "noise", LETOR4)]
    assert (alone.p_value, alone.low, alone.high) == (among.p_value, among.low, among.high)


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        (
            {"models": {"a": [1, 2]}},
            ra.InputError,
            r"scores has 1 model; at least 2 must be given.\nHint: .*ra.evaluate",
        ),
        (
            {"models": [[1, 2], [2, 1]]},
            ra.InputError,
            r"scores is a list, not a mapping from model names to scores.\nHint: .*a matrix or",
        ),
        ({"models": np.ones(2)}, ra.InputError, r"scores is an array of shape \(2,\), not a mapping"),
        ({"models": np.ones((2, 1))}, ra.InputError, "scores has 1 model; at least 2 must be given"),
        ({"models": np.ones((3, 2))}, ra.InputError, "model '0': scores has 3 rows but the queries cover 2"),
        ({"models": {}}, ra.InputError, "scores has 0 models; at least 2 must be given"),
        ({"models": {1: [1, 2], 2: [2, 1]}}, ra.InputError, "the model name 1 is not a string"),
        ({"models": {"a": [1, 2], "b": [1]}}, ra.InputError, "model 'b': scores has 1 rows but the queries cover 2"),
        ({"models": {"a": [1, 2], "b": [1, np.nan]}}, ra.InputError, r"model 'b': scores\[1\] is nan"),
        ({"conventions": []}, ra.ConventionError, "no convention was given"),
        ({"conventions": ["letor4"]}, ra.ConventionError, "'letor4' has no cutoff"),
        ({"n_resamples": 0}, ra.InputError, r"n_resamples=0.*\nHint: n_resamples=9999"),
        ({"confidence": 95}, ra.InputError, r"confidence=95.*\nHint: confidence=0.95"),
        ({"random_state": -1}, ra.InputError, r"random_state=-1.*\nHint: random_state=0"),
        ({"random_state": "0"}, ra.InputError, r"random_state='0'; allowed are whole numbers from 0 on, a numpy"),
    ],
)
def test_bad_input(given, error, problem):
    arguments = {"models": {"a": [1, 2], "b": [2, 1]}, "conventions": [YAHOO], **given}
    with pytest.raises(error, match=problem):
        ra.audit.order([1, 0], arguments.pop("models"), arguments.pop("conventions"), group_sizes=[2], **arguments)


def test_without_scipy_the_extra_is_named():
    code = """
import sys
sys.modules["scipy"] = None
import rankadapters as ra
try:
    ra.audit.order([1, 0], {"a": [1, 2], "b": [2, 1]}, [ra.presets.yahoo(1)], group_sizes=[2])
except ra.MissingToolkitError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == 'scipy is not installed.\nHint: pip install "rankadapters[audit]"\n'


def test_the_example_orders_the_models_of_the_installed_toolkits(capsys, monkeypatch):
    for toolkit in ("sklearn", "lightgbm"):
        pytest.importorskip(toolkit)
    example = Path(__file__).parent.parent.parent / "examples" / "order_toolkits.py"
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example))
    printed = capsys.readouterr().out
    assert "LGBMRanker" in printed
    assert "Kendall's tau-b" in printed


@pytest.mark.parametrize(
    ("labels", "first_weights", "weights", "what"),
    [
        ([0, 0, 0, 2, 1, 0], None, None, "judged labels"), ([2, 0, 0, 0, 1, 0], None, [1, 2], "weights"),
        ([2, 0, 0, 0, 1, 0], [1, 2], None, "weights"), ([2, 0, 0, 0, 1, 0], [1, 2], [2, 1], "weights"),
        ([2, 0, 0, 2, 0, 0], [1, 2], [2, 1], "judged labels"),
    ],
)  # fmt: skip
def test_models_over_other_judgments_are_refused(labels, first_weights, weights, what):
    qid = [0, 0, 0, 1, 1, 1]
    first = ra.Queries([2, 0, 0, 0, 1, 0], qid=qid, query_weight=first_weights)
    other = ra.Queries(labels, qid=qid, query_weight=weights)
    scores = {"a": [1, 2, 3, 1, 2, 3], "b": [3, 2, 1, 3, 2, 1]}
    with pytest.raises(ra.InputError, match=f"model 'b' has the same queries as the first model, but different {what}"):
        ra.audit.order({"a": first, "b": other}, scores, [ra.presets.lightgbm(2)])


def test_the_same_judgments_in_another_order_are_one_set():
    first = ra.Queries([2, 0, 0, 0, 1, 0], qid=[0, 0, 0, 1, 1, 1])
    other = ra.Queries([0, 1, 0, 0, 0, 2], qid=[1, 1, 1, 0, 0, 0])
    scores = {"a": [3, 2, 1, 1, 2, 3], "b": [3, 2, 1, 3, 2, 1]}
    report = ra.audit.order({"a": first, "b": other}, scores, [ra.presets.lightgbm(2), ra.presets.letor4(2)])
    assert "ndcg@2/lightgbm" in str(report)
    first = ra.Queries(first.labels, qid=[0, 0, 0, 1, 1, 1], query_weight=[1, 2])
    other = ra.Queries(other.labels, qid=[1, 1, 1, 0, 0, 0], query_weight=[2, 1])
    assert len(ra.audit.order({"a": first, "b": other}, scores, "lightgbm@2").scores) == 2


def test_a_name_that_is_not_printed_is_refused():
    queries, _ = small(0, 5)
    scores = np.zeros(queries.n_docs)
    with pytest.raises(ra.InputError, match="contains a line break or another unprintable character"):
        ra.audit.order(queries, {"a\n": scores, "b": scores}, [LETOR4])


@pytest.mark.parametrize("confidence", [np.float32(0.95), np.float64(0.95), Fraction(19, 20)])
def test_any_real_number_is_a_confidence(confidence):
    models = {"a": [3, 2, 1, 1, 1], "b": [1, 2, 3, 2, 1]}
    found = ra.audit.order([2, 0, 1, 0, 1], models, "yahoo@1", confidence=confidence, n_resamples=9, group_sizes=[3, 2])
    assert found.confidence == float(confidence)
    assert type(found.confidence) is float
