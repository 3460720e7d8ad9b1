"""Random conventions of every measure equal the definition in plain Python on random data."""

from __future__ import annotations

import warnings
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.fuzz.budget import share
from tests.helpers.convention_strategies import conventions
from tests.helpers.definition_comparison import compare_with_the_definition


def against_the_definition(data, convention, choice, *, weighted, average_ties):
    if average_ties:  # drawn separately, since this order of ties has its own kernels
        with suppress(ra.ConventionError):
            convention = convention.replace(ties="average")
    with kernels(choice), warnings.catch_warnings():
        compare_with_the_definition(data, convention, weighted)


@share(0.01)
@given(st.data(), conventions(lenient=True), st.booleans(), st.booleans())
def test_measures_in_numpy(data, convention, weighted, average_ties):
    against_the_definition(data, convention, NEVER, weighted=weighted, average_ties=average_ties)


@share(0.005)
@given(st.data(), conventions(lenient=True), st.booleans(), st.booleans())
def test_measures_in_kernels(data, convention, weighted, average_ties):
    against_the_definition(data, convention, NOW, weighted=weighted, average_ties=average_ties)
