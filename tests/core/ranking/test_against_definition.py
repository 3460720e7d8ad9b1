"""Compare every kernel, through the public API, with the plain-Python definition."""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.convention_strategies import conventions
from tests.helpers.definition_comparison import compare_with_the_definition
from tests.helpers.depth import examples
from tests.helpers.score_spreads import SPREADS
from tests.helpers.tables import for_each
from tests.oracles import definition
from tests.oracles.rows import Row


@pytest.mark.parametrize("measure", MEASURES)
@given(data=st.data(), weighted=st.booleans())
@settings(max_examples=examples(50))
def test_value_and_per_query_values_equal_the_definition(measure, data, weighted):
    """Draw examples for each measure: examples drawn over all measures would seldom reach some kernels."""
    convention = data.draw(conventions(lenient=True, measures=[MEASURES[measure]]))
    if data.draw(st.booleans()):  # drawn once in eight, but has its own kernels
        with suppress(ra.ConventionError):
            convention = convention.replace(ties="average")
    compare_with_the_definition(data, convention, weighted)


@pytest.mark.parametrize("choice", [NOW, NEVER])
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.sampled_from(["exp2", "linear"]))
@settings(max_examples=examples(60), deadline=None)
def test_fractional_labels_and_many_scores_match_the_definition(choice, seed, dtype, gain):
    rng = np.random.default_rng(seed)
    convention = ra.presets.textbook(int(rng.integers(1, 40))).replace(gain=gain)
    n = int(rng.integers(1, 400))
    labels, scores = rng.random(n) * 3, rng.standard_normal(n).astype(dtype)
    rows = [Row(label, float(score)) for label, score in zip(labels, scores, strict=True)]
    with kernels(choice):
        value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
    assert value == pytest.approx(definition.evaluate([(rows, 1.0)], convention), rel=1e-12)


@pytest.mark.long
@for_each("spread", SPREADS)
def test_awkward_scores_match_the_definition(spread):
    """Try each number of rows with each cutoff, and the orders of ties in turn."""
    rng, orders = np.random.default_rng(3), cycle(["input", "average", "worst", "input"])
    for n, k in product((23, 24, 47, 48, 97, 700), (1, 10, 12, 13, 28, 29, None)):
        convention = ra.presets.textbook(k).replace(ties=next(orders))
        labels, scores = rng.integers(0, 4, n), SPREADS[spread](rng, n)
        rows = [Row(float(label), float(score)) for label, score in zip(labels, scores, strict=True)]
        expected = definition.evaluate([(rows, 1.0)], convention)
        for choice in (NOW, NEVER):
            with kernels(choice):
                value = ra.evaluate(labels, scores, convention, group_sizes=[n]).value
            assert value == pytest.approx(expected, rel=1e-12), (n, k, convention.ties, choice)
