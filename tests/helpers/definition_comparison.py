"""Comparison of values from machine code and from numpy with the definition in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries, takes_probabilities, weights_and_pairs
from tests.oracles import definition

SIGNED = {"spearman", "kendall", "pearson"}  # measures that have negative values


def compare_with_the_definition(data, convention, weighted):
    """Draw queries and compare the values from machine code and from numpy with the definition."""
    by_row = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged_queries(probabilities=takes_probabilities(convention), weighted=by_row))
    columns, scores = columns_and_scores(queries)
    if weighted or getattr(convention, "pairs", "") == "given":
        columns |= weights_and_pairs(queries, convention)
    if "pairs" in columns and not len(columns["pairs"][0]):
        return
    evaluators = _evaluators(convention, columns)
    if not evaluators:
        return
    assert len(evaluators) == 2
    query_weights = columns.get("query_weight") or [1.0] * len(queries)
    try:
        expected = definition.evaluate(list(zip(queries, query_weights, strict=True)), convention)
    except ZeroDivisionError:
        for choice, evaluator in evaluators.items():
            with kernels(choice), pytest.raises(ra.InputError, match="nothing is left to average"):
                evaluator.evaluate(scores)
        return
    _compare(evaluators, scores, expected, _query_values(queries, convention))


def _evaluators(convention, columns):
    """Return the evaluators by the choice of kernels; none if the convention refuses the queries."""
    evaluators = {}
    for choice in (NOW, NEVER):
        with kernels(choice):
            try:
                evaluators[choice] = ra.Evaluator(ra.Queries(**columns), convention)
            except ra.InputError:  # all rows are one query without a relevant row, where `skip` means `error`
                assert convention.over == "rows"
                assert convention.empty == "error"
    return evaluators


def _query_values(queries, convention):
    """Return the value of each query by the definition, NaN if it is skipped; none for a measure over all rows."""
    values = [] if convention.over == "rows" else [definition.query_value(query, convention)[0] for query in queries]
    return [math.nan if value == "skip" else value for value in values]


def _compare(evaluators, scores, expected, expected_values):
    """Compare the mean and the values of the queries with the expected ones."""
    measure = next(iter(evaluators.values())).convention.measure
    # Rounding leaves squares of 1e-16 where residuals are equal; values of both signs cancel in a mean.
    tolerance = 1e-15 if measure in {"query-rmse", *SIGNED} else 1e-300
    # In Pearson's correlation, values cancel within a query too.
    query_tolerance = tolerance if measure == "pearson" else max(tolerance**2, 1e-300)
    for choice, evaluator in evaluators.items():
        with kernels(choice):
            score = evaluator.evaluate(scores)
            assert score.value == pytest.approx(expected, rel=1e-12, abs=tolerance), choice
            assert ra.Score.from_dict(score.to_dict()) == score  # the value and the counts are possible ones
            values = evaluator.per_query(scores) if expected_values else []
            np.testing.assert_allclose(values, expected_values, rtol=1e-12, atol=query_tolerance, err_msg=choice)
