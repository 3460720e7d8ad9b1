"""What a Score shows, writes and reads, the standard errors beside it, and scores of several models."""

from __future__ import annotations

import dataclasses
import json
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from math import log2, sqrt
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

TEXTBOOK = ra.presets.textbook(2)
ONE_OF_TWO = ra.evaluate([1, 0, 1, 0], [2, 1, 1, 2], "textbook@1", group_sizes=[2, 2])  # the queries' values: 1 and 0


def test_a_score_shows_its_exact_value_its_convention_and_its_counts():
    assert repr(ONE_OF_TWO) == "Score(0.5, 'textbook@1', n_queries=2, n_scored=2, n_empty=0, n_short=0)"
    html = ONE_OF_TWO._repr_html_()
    assert html.startswith("<p><b>0.5000</b> <code>ndcg@1/gain=exp2")
    assert html.endswith("<small>queries 2, scored 2, empty 0, short 0</small></p>")
    markdown = f"**0.5000** `{ONE_OF_TWO.convention}`  \nqueries 2, scored 2, empty 0, short 0"
    assert ONE_OF_TWO._repr_markdown_() == markdown
    assert str(ONE_OF_TWO) == f"{ONE_OF_TWO}" == f"0.5000  {ONE_OF_TWO.convention}"


def test_a_score_comes_back_from_json_and_a_pickle_as_it_was():
    said = ONE_OF_TWO.to_dict()
    assert (said["value"], said["name"], said["convention"]) == (0.5, "ndcg@1/textbook", str(TEXTBOOK.at(1)))
    assert said["n_queries"] == 2
    for again in (ra.Score.from_dict(json.loads(json.dumps(said))), pickle.loads(pickle.dumps(ONE_OF_TWO))):
        assert again == ONE_OF_TWO
        assert again - ONE_OF_TWO == 0  # over the same queries


@pytest.mark.parametrize("damage", [{"value": "x"}, {"n_queries": None}, {"digest": 3}, {"convention": None}])
def test_what_is_not_a_score_is_not_read_as_one(damage):
    with pytest.raises((ra.InputError, ra.ConventionError), match=r"Hint: "):
        ra.Score.from_dict({**ONE_OF_TWO.to_dict(), **damage})


def test_what_is_bound_shows_its_conventions_and_the_size_of_the_data():
    queries = ra.Queries([1, 0], group_sizes=[2])
    assert repr(ra.Evaluator(queries, TEXTBOOK)) == "Evaluator('textbook@2', Queries(1 queries, 2 rows))"
    panel = ra.Panel(queries, ["yahoo@2", "lightgbm.map@2"])
    assert repr(panel) == "Panel(['yahoo@2', 'lightgbm.map@2'], Queries(1 queries, 2 rows))"


def test_a_convention_shows_declared_fields_only():
    named = ra.presets.yahoo(10).replace(empty=0)
    assert tuple(dataclasses.asdict(named)) == tuple(field.name for field in dataclasses.fields(named))
    assert set(dataclasses.asdict(named)) == set(named.fields())


VALUES = [1.0, 1 / log2(3), 0.0]  # of three queries whose one relevant row stands first, second, third
LABELS = [1, 0, 0, 0, 1, 0, 0, 0, 1]
SCORES = [3, 2, 1] * 3


@pytest.mark.parametrize("empty", [[], [0, 0]], ids=["all", "one is skipped"])
def test_the_standard_error_of_equal_weights_is_the_deviation_by_the_root_of_the_queries(empty):
    conv = TEXTBOOK.replace(empty="skip")
    sizes = [3, 3, 3, *[2][: len(empty)]]
    found = ra.Evaluator([*LABELS, *empty], conv, group_sizes=sizes).standard_error([*SCORES, 2, 1][: sum(sizes)])
    assert found == pytest.approx(np.std(VALUES, ddof=1) / sqrt(3), rel=1e-14)


def test_a_weight_of_two_weighs_as_the_variance_of_a_ratio_says():
    conv = TEXTBOOK.replace(average="query")
    mean = (2 * VALUES[0] + VALUES[1] + VALUES[2]) / 4
    residuals = [2 * (VALUES[0] - mean), VALUES[1] - mean, VALUES[2] - mean]
    found = ra.Evaluator(LABELS, conv, group_sizes=[3, 3, 3], query_weight=[2, 1, 1]).standard_error(SCORES)
    assert found == pytest.approx(sqrt(3 / 2 * sum(r * r for r in residuals)) / 4, rel=1e-14)


def test_pooled_pairs_have_the_standard_error_of_their_ratio():
    conv = ra.presets.lightgbm.auc().replace(pool="pairs", average="uniform")
    labels, scores = [1, 0, 1, 0, 0], [2, 1, 2, 3, 1]  # 1 of 1 pairs right, then 1 of 2
    residuals = [1 - 2 / 3, 1 - 2 * 2 / 3]
    evaluator = ra.Evaluator(labels, conv, group_sizes=[2, 3])
    assert evaluator.evaluate(scores).value == pytest.approx(2 / 3, rel=1e-15)
    assert evaluator.standard_error(scores) == pytest.approx(sqrt(2 * sum(r * r for r in residuals)) / 3, rel=1e-14)


def test_a_geometric_mean_has_that_of_its_logarithms_times_its_value():
    evaluator = ra.Evaluator([1, 0, 0, 1], ra.presets.trec_eval_9.gm_map().replace(ties="input"), group_sizes=[2, 2])
    logs = [0.0, np.log(0.5)]
    found = evaluator.standard_error([2, 1, 2, 1])
    assert found == pytest.approx(np.std(logs, ddof=1) / sqrt(2) * sqrt(0.5), rel=1e-14)


def test_one_query_and_all_rows_as_one_have_no_standard_error():
    assert np.isnan(ra.Evaluator([1, 0], TEXTBOOK, group_sizes=[2]).standard_error([1, 2]))
    with pytest.raises(ra.UnsupportedConventionError, match=r"has no standard error: pool='rows'"):
        ra.Evaluator([1, 0], ra.presets.lightgbm.auc(), group_sizes=[2]).standard_error([1, 2])


UP, DOWN = [1.0, 2.0], [2.0, 1.0]
TABLES = {
    "mapping": {"up": UP, "down": DOWN},
    "pandas": pd.DataFrame({"up": UP, "down": DOWN}),
    "polars": pl.DataFrame({"up": UP, "down": DOWN}),
    "pyarrow": pa.table({"up": UP, "down": DOWN}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_several_models_are_scored_at_once(kind):
    found = ra.evaluate([0, 1], TABLES[kind], [TEXTBOOK, "yahoo@1"], group_sizes=[2])
    values = {conv: {name: score.value for name, score in models.items()} for conv, models in found.items()}
    assert values == {
        TEXTBOOK: {"up": 1.0, "down": pytest.approx(1 / log2(3), rel=1e-15)},
        ra.presets.yahoo(1): {"up": 1.0, "down": 0.0},
    }
    alone = {
        name: ra.evaluate([0, 1], scores, "yahoo@1", group_sizes=[2]) for name, scores in TABLES["mapping"].items()
    }
    assert ra.evaluate([0, 1], TABLES[kind], "yahoo@1", group_sizes=[2]) == alone


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_columns_of_a_matrix_are_models_by_number(order):
    matrix = np.array([UP, DOWN], order=order).T
    found = ra.evaluate([0, 1], matrix, ["yahoo@1"], group_sizes=[2])
    assert {name: score.value for name, score in found[ra.presets.yahoo(1)].items()} == {0: 1.0, 1: 0.0}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, r"scores holds no model"),
        (np.empty((2, 0)), r"scores holds no model"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), r"two columns of scores are named 'a'"),
        ({"a": UP, "b": [1.0]}, r"scores has 1 rows but the queries cover 2"),
        (np.ones((3, 2)), r"scores has 3 rows but the queries cover 2"),
    ],
)
def test_models_that_cannot_be_told_apart_or_do_not_fit_are_refused(scores, message):
    with pytest.raises(ra.InputError, match=message):
        ra.evaluate([0, 1], scores, ["yahoo@1"], group_sizes=[2])


NUMBER = ra.evaluate([1, 0], [0.2, 0.9], "textbook@2", group_sizes=[2])


@for_each(
    ("does", "hint"),
    [
        (lambda: NUMBER > 0.5, ".value gives the bare number: score.value > 0.5"),
        (lambda: NUMBER >= 1, ".value gives the bare number: score.value >= 1"),
        (lambda: operator.lt(0.5, NUMBER), ".value gives the bare number: score.value > 0.5"),
        (lambda: NUMBER == 0.5, ".value gives the bare number: score.value == 0.5"),
        (lambda: NUMBER - 0.5, ".value gives the bare number: score.value - 0.5"),
        (lambda: operator.eq(NUMBER, pytest.approx(0.5)), r".*: score.value == pytest.approx\(...\)"),
        (lambda: NUMBER * 100, r"100 \* score.value; f'\{score:.2%\}' writes a percentage"),
        (lambda: 100 * NUMBER, r"100 \* score.value"),
        (lambda: np.float64(100) * NUMBER, r"100 \* score.value"),
        (lambda: NUMBER / 2, r"100 \* score.value"),
        (lambda: 1 / NUMBER, r"100 \* score.value"),
        (lambda: -NUMBER, r"100 \* score.value"),
        (lambda: NUMBER > "0.5", ".value gives the bare numbers, if you must"),
        (lambda: 0.5 - NUMBER, ".value"),
    ],
)
def test_arithmetic_with_a_score_says_what_to_write(does, hint):
    with pytest.raises(ra.IncomparableScoresError, match=rf"\nHint: {hint}"):
        does()


def test_scores_compare_by_value_and_convention():
    good, same, bad = (
        ra.evaluate([1, 0, 2], scores, TEXTBOOK, group_sizes=[3]) for scores in ([3, 1, 4], [3, 1, 4], [1, 3, 2])
    )
    assert bad < good
    assert good > bad
    assert bad <= good
    assert good >= bad
    assert good - bad == good.value - bad.value
    assert good == same
    assert good <= same
    assert good >= same
    assert not good < same
    assert not good > same
    assert len({good, bad, good}) == 2
    assert float(good) == good.value
    assert (round(NUMBER, 3), round(NUMBER)) == (round(1 / log2(3), 3), 1)
    assert (f"{NUMBER:.2f}", f"{NUMBER:.2%}") == ("0.63", "63.09%")


@for_each(
    ("other", "why"),
    [
        (lambda: ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK.at(5), group_sizes=[3]), "differ in k=2 against 5"),
        (lambda: ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, qid=["a", "a", "a"]), "different queries"),
        (lambda: ra.evaluate([1, 0, 1], [3, 1, 4], TEXTBOOK, group_sizes=[3]), "different queries"),
        (lambda: 0.5, "a Score and a float"),
    ],
)
@for_each("compare", ["__lt__", "__le__", "__gt__", "__ge__", "__sub__"])
def test_incomparable_scores_refuse_to_be_compared(other, why, compare):
    score = ra.evaluate([1, 0, 2], [3, 1, 4], TEXTBOOK, group_sizes=[3])
    with pytest.raises(ra.IncomparableScoresError, match=f"{why}(.|\n)*Hint: .value"):
        getattr(score, compare)(other())


BARE = [0.5, 1, True, np.float64(0.5), np.float32(0.5), Fraction(1, 2), Decimal("0.5"), pytest.approx(0.5)]


@for_each("number", BARE, ids=lambda number: type(number).__name__)
@for_each(
    ("name", "compare"),
    {
        "==": lambda score, number: score == number,
        "!=": lambda score, number: score != number,
        "== score": lambda score, number: number == score,
        "!= score": lambda score, number: number != score,
        "in": lambda score, number: score in [None, number],
    }.items(),
)
def test_a_score_equals_no_bare_number_and_says_so(name, compare, number):
    with pytest.raises(ra.IncomparableScoresError, match=r"a Score and a \w+ are compared(.|\n)*Hint: .value"):
        compare(NUMBER, number)


def test_a_score_beside_anything_else_is_unequal():
    assert [other == NUMBER for other in (None, "0.5", TEXTBOOK, object(), [0.5])] == [False] * 5
    assert NUMBER == mock.ANY
    assert NUMBER in [None, "0.5", NUMBER]
    assert {NUMBER: 1}[NUMBER] == 1
    assert NUMBER.value == pytest.approx(float(NUMBER))


def test_weights_of_one_are_no_weights():
    convention = TEXTBOOK.replace(average="query")
    plain, weighted = (
        ra.evaluate([1, 0], [2, 1], convention, group_sizes=[2], **weights) for weights in ({}, {"query_weight": [1]})
    )
    assert not plain < weighted


def test_scores_count_what_was_scored():
    labels, sizes = [0, 0, 1, 0, 0, 1], [2, 1, 3]
    score = ra.evaluate(labels, [1, 2, 3, 4, 5, 6], ra.presets.textbook(3).replace(empty="skip"), group_sizes=sizes)
    assert (score.n_queries, score.n_scored, score.n_empty, score.n_short) == (3, 2, 1, 2)
