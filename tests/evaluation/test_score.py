"""Scores: how they are shown, saved and compared, their standard errors, and scores of many models."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from math import log2, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import rankadapters as ra

TEXTBOOK = ra.presets.textbook(2)
ONE_OF_TWO = ra.evaluate([1, 0, 1, 0], [2, 1, 1, 2], "textbook@1", group_sizes=[2, 2])  # two queries: values 1 and 0


def test_a_score_shows_its_exact_value_its_convention_and_its_counts():
    assert repr(ONE_OF_TWO) == "Score(0.5, 'textbook@1', n_queries=2, n_scored=2, n_empty=0, n_short=0)"
    html = ONE_OF_TWO._repr_html_()
    assert html.startswith("<p><b>0.5000</b> <code>ndcg@1/gain=exp2")
    assert html.endswith("<small>queries 2, scored 2, empty 0, short 0</small></p>")
    markdown = f"**0.5000** `{ONE_OF_TWO.convention}`  \nqueries 2, scored 2, empty 0, short 0"
    assert ONE_OF_TWO._repr_markdown_() == markdown
    assert str(ONE_OF_TWO) == f"{ONE_OF_TWO}" == f"0.5000  {ONE_OF_TWO.convention}"


def test_a_value_of_hundreds_of_digits_is_printed_with_an_exponent():
    score = ra.evaluate([5e299, 0], [1, 0], "sklearn.dcg@1", group_sizes=[2])
    assert str(score).startswith("5.0000e+299  dcg@1/")
    assert score._repr_markdown_().startswith("**5.0000e+299** ")
    assert " 5.0000e+299 " in str(ra.evaluate([5e299, 0], [1, 0], ["sklearn.dcg@1"], group_sizes=[2]))


def test_a_score_is_unchanged_by_json_and_pickle():
    data = ONE_OF_TWO.to_dict()
    assert (data["value"], data["name"], data["convention"]) == (0.5, "ndcg@1/textbook", str(TEXTBOOK.at(1)))
    assert data["n_queries"] == 2
    for restored in (
        ra.Score.from_dict(json.loads(json.dumps(data))),
        pickle.loads(pickle.dumps(ONE_OF_TWO)),
        copy.deepcopy(ONE_OF_TWO),
    ):
        assert restored == ONE_OF_TWO
        assert restored - ONE_OF_TWO == 0  # does not raise: both scores are over the same queries


NAMES_OF_OTHERS = ("", "ndcg@2/textbook", "ndcg@1/yahoo", "ndcg@1/0000000")


@pytest.mark.parametrize(
    "damage",
    [
        {"value": "x"}, {"n_queries": None}, {"digest": 3}, {"convention": None},
        *({"name": name} for name in NAMES_OF_OTHERS),
        {"digest": "7"}, {"digest": "0x"}, {"convention": "textbook@1"}, {"value": 1.001}, {"value": -0.001},
        {"n_queries": 0}, {"n_scored": 3}, {"n_empty": -1}, {"more": 1},
    ],
)  # fmt: skip
def test_a_damaged_dict_of_a_score_is_refused(damage):
    with pytest.raises((ra.InputError, ra.ConventionError), match=r"this is not a score: (.|\n)*Hint: "):
        ra.Score.from_dict({**ONE_OF_TWO.to_dict(), **damage})


def test_json_with_a_member_twice_is_refused():
    text = ONE_OF_TWO.to_json()
    assert ra.Score.from_json(text) == ONE_OF_TWO
    with pytest.raises(ra.InputError, match="is not the JSON text of a score: a member is repeated"):
        ra.Score.from_json(text.replace("{", '{"value": 0.25, '))


@pytest.mark.parametrize("convention", [TEXTBOOK, TEXTBOOK.replace(empty=0.25), ra.parse(str(TEXTBOOK))])
def test_a_score_that_is_read_keeps_the_name_of_its_convention(convention):
    data = ra.evaluate([1, 0], [2, 1], convention, group_sizes=[2]).to_dict()
    assert data["name"] == convention.name
    assert ra.Score.from_dict(data).to_dict() == data


def test_evaluators_show_their_conventions_and_the_size_of_the_data():
    queries = ra.Queries([1, 0], group_sizes=[2])
    assert repr(ra.Evaluator(queries, TEXTBOOK)) == "Evaluator('textbook@2', Queries(1 queries, 2 rows))"
    evaluator = ra.Evaluator(queries, ["yahoo@2", "lightgbm.map@2"])
    assert repr(evaluator) == "Evaluator(['yahoo@2', 'lightgbm.map@2'], Queries(1 queries, 2 rows))"


QUERY_VALUES = [1.0, 1 / log2(3), 0.0]  # of three queries: their only relevant row ranks first, second, third
LABELS = [1, 0, 0, 0, 1, 0, 0, 0, 1]
SCORES = [3, 2, 1] * 3


@pytest.mark.parametrize("empty", [[], [0, 0]], ids=["all", "one is skipped"])
def test_the_standard_error_of_equal_weights_is_the_deviation_by_root_n(empty):
    convention = TEXTBOOK.replace(empty="skip")
    sizes = [3, 3, 3, *[2][: len(empty)]]
    evaluator = ra.Evaluator([*LABELS, *empty], convention, group_sizes=sizes)
    assert evaluator.standard_error([*SCORES, 2, 1][: sum(sizes)]) == pytest.approx(
        np.std(QUERY_VALUES, ddof=1) / sqrt(3), rel=1e-14
    )


def test_the_standard_error_of_unequal_weights_is_that_of_a_ratio():
    convention = TEXTBOOK.replace(average="query")
    mean = (2 * QUERY_VALUES[0] + QUERY_VALUES[1] + QUERY_VALUES[2]) / 4
    residuals = [2 * (QUERY_VALUES[0] - mean), QUERY_VALUES[1] - mean, QUERY_VALUES[2] - mean]
    evaluator = ra.Evaluator(LABELS, convention, group_sizes=[3, 3, 3], query_weight=[2, 1, 1])
    assert evaluator.standard_error(SCORES) == pytest.approx(sqrt(3 / 2 * sum(r * r for r in residuals)) / 4, rel=1e-14)


def test_pooled_pairs_have_the_standard_error_of_their_ratio():
    convention = ra.presets.lightgbm.auc().replace(pool="pairs", average="uniform")
    labels, scores = [1, 0, 1, 0, 0], [2, 1, 2, 3, 1]  # 1 of 1 pairs right, then 1 of 2
    residuals = [1 - 2 / 3, 1 - 2 * 2 / 3]
    evaluator = ra.Evaluator(labels, convention, group_sizes=[2, 3])
    assert evaluator.evaluate(scores).value == pytest.approx(2 / 3, rel=1e-15)
    assert evaluator.standard_error(scores) == pytest.approx(sqrt(2 * sum(r * r for r in residuals)) / 3, rel=1e-14)


def test_the_standard_error_of_a_geometric_mean_is_that_of_the_logs_times_the_mean():
    evaluator = ra.Evaluator([1, 0, 0, 1], ra.presets.trec_eval_9.gm_map().replace(ties="input"), group_sizes=[2, 2])
    logs = [0.0, np.log(0.5)]
    standard_error = evaluator.standard_error([2, 1, 2, 1])
    assert standard_error == pytest.approx(np.std(logs, ddof=1) / sqrt(2) * sqrt(0.5), rel=1e-14)


def test_a_single_query_and_a_measure_over_all_rows_have_no_standard_error():
    assert np.isnan(ra.Evaluator([1, 0], TEXTBOOK, group_sizes=[2]).standard_error([1, 2]))
    with pytest.raises(ra.UnsupportedConventionError, match=r"has no standard error: pool='rows'"):
        ra.Evaluator([1, 0], ra.presets.lightgbm.auc(), group_sizes=[2]).standard_error([1, 2])


UP, DOWN = [1.0, 2.0], [2.0, 1.0]
MODELS = {"up": UP, "down": DOWN}
SCORE_TABLES = {
    "mapping": MODELS,
    "pandas": pd.DataFrame({"up": UP, "down": DOWN}),
    "polars": pl.DataFrame({"up": UP, "down": DOWN}),
    "pyarrow": pa.table({"up": UP, "down": DOWN}),
}


@pytest.mark.parametrize("kind", SCORE_TABLES)
def test_every_kind_of_table_scores_all_its_models(kind):
    results = ra.evaluate([0, 1], SCORE_TABLES[kind], [TEXTBOOK, "yahoo@1"], group_sizes=[2])
    values = {name: {model: score.value for model, score in scores.items()} for name, scores in results.items()}
    assert values == {
        TEXTBOOK: {"up": 1.0, "down": pytest.approx(1 / log2(3), rel=1e-15)},
        ra.presets.yahoo(1): {"up": 1.0, "down": 0.0},
    }
    expected = {
        name: ra.evaluate([0, 1], scores, "yahoo@1", group_sizes=[2])
        for name, scores in SCORE_TABLES["mapping"].items()
    }
    assert ra.evaluate([0, 1], SCORE_TABLES[kind], "yahoo@1", group_sizes=[2]) == expected


@pytest.mark.parametrize("name", [None, "model"])
def test_a_series_of_dask_is_the_scores_of_one_model(name):
    frames = pytest.importorskip("dask.dataframe")
    columns = {key: frames.from_pandas(pd.Series(values, name=name), npartitions=2) for key, values in MODELS.items()}
    for convention in ("yahoo@1", [TEXTBOOK, "yahoo@1"]):
        for key, column in columns.items():
            expected = ra.evaluate([0, 1], MODELS[key], convention, group_sizes=[2])
            assert repr(ra.evaluate([0, 1], column, convention, group_sizes=[2])) == repr(expected)
        models = ra.evaluate([0, 1], columns, convention, group_sizes=[2])
        assert repr(models) == repr(ra.evaluate([0, 1], MODELS, convention, group_sizes=[2]))


SCORE = ra.evaluate([1, 0], [0.2, 0.9], "textbook@2", group_sizes=[2])


def test_scores_compare_by_value_and_convention():
    good, same, bad = (
        ra.evaluate([1, 0, 2], scores, TEXTBOOK, group_sizes=[3]) for scores in ([3, 1, 4], [3, 1, 4], [1, 3, 2])
    )
    assert [bad < good, good > bad, bad <= good, good >= bad, good <= same, good >= same, good == same] == [True] * 7
    assert [good < bad, bad > good, good <= bad, bad >= good, good < same, good > same, good == bad] == [False] * 7
    assert good - bad == good.value - bad.value
    assert len({good, bad, good}) == 2
    assert float(good) == good.value
    assert (round(SCORE, 3), round(SCORE)) == (round(1 / log2(3), 3), 1)
    assert (f"{SCORE:.2f}", f"{SCORE:.2%}") == ("0.63", "63.09%")


VALUE = SCORE.value
SAME_VALUE = ra.evaluate([1, 0], [0.2, 0.9], "sklearn@2+gain=exp2", group_sizes=[2])  # another convention
NUMBERS = [
    *((number, True) for number in (VALUE, np.float64(VALUE), Fraction(VALUE), Decimal(VALUE))),
    *((number, False) for number in (VALUE + 1e-9, 1, True, np.float32(0.5), 1j)),
    (pytest.approx(VALUE + 1e-9), True),
    (pytest.approx(SCORE), True),
    (pytest.approx(VALUE + 1e-3), False),
    (pytest.approx(VALUE + 1e-9, abs=1e-12, rel=0), False),
]


@pytest.mark.parametrize(("number", "equal"), NUMBERS)
def test_a_score_equals_only_numbers_that_are_its_value(number, equal):
    assert [operator.eq(SCORE, number), operator.eq(number, SCORE), SCORE in [None, number]] == [equal] * 3
    assert [operator.ne(SCORE, number), operator.ne(number, SCORE)] == [not equal] * 2


def test_a_score_of_1_equals_the_integer():
    one = ra.evaluate([1, 0], [2, 1], TEXTBOOK, group_sizes=[2])
    assert [one == 1, 1 == one, one != 1, 1 != one] == [True, True, False, False]  # noqa: SIM300 - both orders


GREATER, LESS = (operator.gt, operator.ge), (operator.lt, operator.le)


ARRAYS = [
    *(np.array([0.25, 0.75], dtype) for dtype in ("f8", "f4", "O")),
    *(pd.Series([0.25, 0.75], dtype=dtype) for dtype in ("f8", "f4", "Float64")),
    *(pl.Series([0.25, 0.75], dtype=dtype) for dtype in (pl.Float64, pl.Float32)),
    np.array(0.25), np.ma.array([0.25, 0.75], mask=[True, False]), np.arange(3), pd.DataFrame({"a": [0.25]}),
]  # fmt: skip
PLAIN = [0.25, 2, True, np.float64(0.25), np.float32(0.25), np.int8(2), Fraction(1, 4)]
ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod
)  # fmt: skip
ORDER = (*GREATER, *LESS)


def outcome(function, *operands):
    """Return the type, the dtype and the text of what a function returns, or the type of its error."""
    try:
        result = function(*operands)
    except Exception as error:  # noqa: BLE001 - a score raises what its value raises
        return type(error)
    return type(result), str(getattr(result, "dtype", "")), str(result)


@pytest.mark.parametrize("operand", [*PLAIN, *ARRAYS, 1j], ids=repr)
def test_a_score_computes_with_numbers_and_arrays_as_its_value_does(operand):
    functions = ARITHMETIC if isinstance(operand, complex) else (*ARITHMETIC, *ORDER, operator.eq, operator.ne)
    for function in functions:
        assert outcome(function, SCORE, operand) == outcome(function, VALUE, operand), function
        # numpy raises its own numbers to a score with its loop for arrays, whose last bit differs on some CPUs.
        same = np.power if function is operator.pow and isinstance(operand, np.generic) else function
        assert outcome(function, operand, SCORE) == outcome(same, operand, VALUE), function


@pytest.mark.parametrize(
    "function",
    [
        int, round, lambda x: round(x, 3), math.trunc, math.floor, math.ceil, abs, operator.neg, operator.pos, bool,
        complex, hash, json.dumps, math.sqrt, np.sqrt, float.is_integer, float.as_integer_ratio, float.conjugate,
        operator.attrgetter("real"), operator.attrgetter("imag"), lambda x: sum([x, x]), lambda x: np.mean([x, x]),
        lambda x: np.asarray(x).dtype, lambda x: np.subtract(np.ones(1, np.float32), x), lambda x: f"{x:.3f} {x:e}",
        lambda x: pd.Series([x, 1]), lambda x: pd.DataFrame({"a": x}, index=[0]), lambda x: pl.Series([x, 1.0]),
        lambda x: pl.DataFrame({"a": [x]}), lambda x: pl.DataFrame({"a": [1.0]}).with_columns(b=pl.col("a") * x, c=x),
        lambda x: pa.array([x, 1.0]), pa.scalar, lambda x: pa.table({"a": [x]}), lambda x: pc.add(pa.array([1.0]), x),
    ],
)  # fmt: skip
def test_a_score_is_its_value_to_functions_and_libraries(function):
    result = outcome(function, VALUE)
    assert outcome(function, SCORE) == result
    assert not isinstance(result, type)


OTHER_CONVENTION = ra.evaluate([1, 0], [0.2, 0.9], "sklearn@2", group_sizes=[2])
OTHER_QUERIES = ra.evaluate([1, 0], [0.2, 0.9], "textbook@2", qid=["a", "a"])


@pytest.mark.parametrize("function", ARITHMETIC)
def test_two_scores_are_only_ordered_and_subtracted(function):
    if function is operator.sub:
        assert SCORE - SCORE == 0.0
    else:
        with pytest.raises(ra.IncomparableScoresError):
            function(SCORE, SCORE)


@pytest.mark.parametrize("function", [operator.sub, *ORDER, np.subtract, np.less, np.maximum, min])
def test_scores_of_other_conventions_or_queries_are_not_compared(function):
    for other, message in ((OTHER_CONVENTION, "the conventions differ in"), (OTHER_QUERIES, "over different queries")):
        with pytest.raises(ra.IncomparableScoresError, match=message):
            function(SCORE, other)


@pytest.mark.parametrize("function", [*ARITHMETIC, *ORDER])
def test_a_score_refuses_what_is_no_number(function):
    for operand in ("0.5", None, [0.5], {}):
        with pytest.raises(ra.IncomparableScoresError, match=r"a Score and a \w+ have no "):
            function(SCORE, operand)


@pytest.mark.parametrize("number", [0.25, np.float64(0.25), Fraction(1, 4), Decimal("0.25")], ids=repr)
def test_a_score_is_ordered_with_and_subtracted_from_numbers(number):
    assert [compare(SCORE, number) for compare in ORDER] == [True, True, False, False]
    assert [compare(number, SCORE) for compare in ORDER] == [False, False, True, True]
    assert SCORE <= VALUE <= SCORE
    assert SCORE - number == VALUE - 0.25
    assert number - SCORE == 0.25 - VALUE


@pytest.mark.parametrize("name", ["value", "zz"])
def test_a_score_is_frozen(name):
    for change in (lambda: setattr(SCORE, name, 1), lambda: delattr(SCORE, name)):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"Score is frozen, so '{name}' cannot be set"):
            change()


def test_the_scores_of_models_and_conventions_equal_mappings_of_numbers():
    models = ra.evaluate([1, 0], {"a": [0.2, 0.9]}, TEXTBOOK, group_sizes=[2])
    assert models == {"a": VALUE} == models
    assert models == pytest.approx({"a": VALUE + 1e-9})
    assert pytest.approx({"a": VALUE + 1e-9}) == models
    assert models != {"a": 0.5}
    scores = ra.evaluate([1, 0], [0.2, 0.9], [TEXTBOOK], group_sizes=[2])
    assert scores == {TEXTBOOK: VALUE}
    assert scores == pytest.approx({TEXTBOOK: VALUE + 1e-9})
    assert scores != {TEXTBOOK: 0.5}


def test_scores_of_one_value_under_two_conventions_are_unequal_but_hash_alike():
    assert SCORE == SAME_VALUE.value == SAME_VALUE
    assert SCORE != SAME_VALUE
    assert len({SCORE, SAME_VALUE}) == 2
    assert hash(SCORE) == hash(SAME_VALUE) == hash(VALUE)
    assert {SCORE: "score"}[VALUE] == "score"
    assert {VALUE: "value"}[SCORE] == "value"
    other = ra.evaluate([1, 0], [0.2, 0.9], "sklearn@1", group_sizes=[2])
    with pytest.raises(ra.IncomparableScoresError, match="the conventions differ in"):
        operator.eq(other, pytest.approx(SCORE))


def test_scores_with_and_without_weights_of_one_are_comparable():
    convention = TEXTBOOK.replace(average="query")
    plain, weighted = (
        ra.evaluate([1, 0], [2, 1], convention, group_sizes=[2], **weights) for weights in ({}, {"query_weight": [1]})
    )
    assert not plain < weighted


def test_a_score_counts_scored_empty_and_short_queries():
    labels, sizes = [0, 0, 1, 0, 0, 1], [2, 1, 3]
    score = ra.evaluate(labels, [1, 2, 3, 4, 5, 6], ra.presets.textbook(3).replace(empty="skip"), group_sizes=sizes)
    assert (score.n_queries, score.n_scored, score.n_empty, score.n_short) == (3, 2, 1, 2)
