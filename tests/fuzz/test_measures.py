"""Random conventions of every measure on random data, against the definition in plain Python."""

from __future__ import annotations

import warnings
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from tests.core.kernels.test_against_definition import compare_with_the_definition
from tests.fuzz.budget import share
from tests.helpers.convention_strategies import conventions


def against_the_definition(data, convention, choice, *, weighted, average):
    if average:  # the one order of ties of eight that has kernels of its own
        with suppress(ra.ConventionError):
            convention = convention.replace(ties="average")
    with kernels(choice), warnings.catch_warnings():
        warnings.simplefilter("ignore", ra.AboveValuesWarning)  # the definition does not warn
        compare_with_the_definition(data, convention, weighted)


@share(0.01)
@given(st.data(), conventions(lenient=True), st.booleans(), st.booleans())
def test_measures_in_numpy(data, convention, weighted, average):
    against_the_definition(data, convention, NEVER, weighted=weighted, average=average)


@share(0.005)
@given(st.data(), conventions(lenient=True), st.booleans(), st.booleans())
def test_measures_in_kernels(data, convention, weighted, average):
    against_the_definition(data, convention, NOW, weighted=weighted, average=average)
