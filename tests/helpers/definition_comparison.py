"""Values from machine code and from numpy, compared with the definition in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from tests.helpers.oracle_rows import columns, ragged, takes_probabilities, weights_of
from tests.oracles import definition

SIGNED = {"spearman", "kendall", "pearson"}


def compare_with_the_definition(data, convention, weighted):
    """Draw queries and compare the values from machine code and from numpy with the definition."""
    pairs = getattr(convention, "pairs", "")
    by_row = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged(units=takes_probabilities(convention), weighted=by_row))
    row_columns, scores = columns(queries)
    weights = weights_of(queries, convention) if weighted or pairs == "given" else {}
    if "pairs" in weights and not len(weights["pairs"][0]):
        return
    evaluators = {}
    for choice in (NOW, NEVER):
        with kernels(choice):
            try:
                evaluators[choice] = ra.Evaluator(ra.Queries(**row_columns, **weights), convention)
            except ra.InputError:  # all rows are one query without a relevant row, where `skip` means `error`
                assert convention.over == "rows"
                assert convention.empty == "error"
    if not evaluators:
        return
    assert len(evaluators) == 2
    query_weights = weights.get("query_weight") or [1.0] * len(queries)
    try:
        expected = definition.evaluate(list(zip(queries, query_weights, strict=True)), convention)
    except ZeroDivisionError:
        for choice, evaluator in evaluators.items():
            with kernels(choice), pytest.raises(ra.InputError, match="nothing is left to average"):
                evaluator.evaluate(scores)
        return
    values = [] if convention.over == "rows" else [definition.query_value(query, convention)[0] for query in queries]
    expected_values = [math.nan if value == "skip" else value for value in values]
    # Rounding leaves squares of 1e-16 where residuals are equal; values of both signs cancel in a mean.
    tolerance = 1e-15 if convention.measure in {"query-rmse", *SIGNED} else 1e-300
    # In Pearson's correlation, values cancel within a query too.
    query_tolerance = tolerance if convention.measure == "pearson" else max(tolerance**2, 1e-300)
    for choice, evaluator in evaluators.items():
        with kernels(choice):
            assert evaluator.evaluate(scores).value == pytest.approx(expected, rel=1e-12, abs=tolerance), choice
            per_query = evaluator.per_query(scores) if expected_values else []
            np.testing.assert_allclose(per_query, expected_values, rtol=1e-12, atol=query_tolerance, err_msg=choice)
