"""A convention of every measure with rows that it accepts, and hypothesis strategies of conventions and fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import reject
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.declaration.fields import Cutoff, Gain
from rankadapters.core.measures import MEASURES
from tests.helpers.rankings import ranking

DATA, VALID = ranking(31, 12, 6), ranking(32, 8, 6)
LABELS, VALID_LABELS = np.minimum(DATA.y, 1), np.minimum(VALID.y, 1)  # QueryCrossEntropy needs labels in [0, 1]
SCORES = DATA.X[:, 1] / 8  # with ties
DOCIDS = [f"d{row:03}" for row in np.random.default_rng(0).permutation(DATA.y.size)]

# A measure without a preset fails in tests/core/measures/test_registered.py only.
WITH_PRESET = [measure for measure in MEASURES if presets.names(measure)]


def first_preset(measure):
    """Return the first preset of a measure, at cutoff 3."""
    return presets.make(presets.names(measure)[0], 3)


def convention_of(measure):
    """Return the first preset of a measure, changed to need no pairs."""
    convention = first_preset(measure)
    needs_pairs = getattr(convention, "pairs", "") == "given"
    return convention.replace(pairs="label", average="uniform") if needs_pairs else convention


def without_docids(convention):
    """Return a convention, changed to need no docids."""
    by_docid = getattr(convention, "ties", "").startswith("docid")
    return convention.replace(ties="input") if by_docid else convention


every_measure = pytest.mark.parametrize("convention", [convention_of(name) for name in WITH_PRESET], ids=WITH_PRESET)

GAINS = ("exp2", "exp2-floor", "linear", "linear-positive", "table_0_1_3_7", "table_1_2_2.5_1e30")
NUMBERS = (1e-5, 0.1, 0.5, 1.0, 2.0, -1.0)
FLOATS = (0.0, 0.1, 0.5, 0.8, 1.0, 7.0, 16.0)
LARGEST_LABEL, LARGEST_GAIN = 3, 7  # of the rows that tests draw


@st.composite
def conventions(
    draw: st.DrawFn, *, lenient: bool = False, measures: Iterable[type[ra.Convention]] = tuple(MEASURES.values())
) -> ra.Convention:
    """Draw a convention; a lenient one has no policy `error`."""
    measure = draw(st.sampled_from(list(measures)))
    fields = {name: draw(field_values(kind, lenient=lenient)) for name, kind in measure.declared().items()}
    if "scale" in fields:  # probabilities above 1 make sums of both signs, which lose digits
        fields["scale"] = max(fields["scale"], float(LARGEST_GAIN))
        fields["gain"] = "exp2" if fields["gain"] == GAINS[-1] else fields["gain"]
    try:
        return measure(**fields)
    except ra.ConventionError:  # fields that contradict each other
        reject()


def field_values(kind: Any, *, lenient: bool = False) -> st.SearchStrategy[Any]:
    if isinstance(kind, Cutoff):
        return st.sampled_from([None, 1, 2, 3, 5, 10, 13, 29, 1000])
    if isinstance(kind, Gain):
        return st.sampled_from([*GAINS, *with_numbers(kind)])
    words = [word for word in kind.words if word != "error" or not lenient]
    if kind.numbers and words:
        most = min(kind.numbers.most, LARGEST_LABEL)
        return st.one_of(st.floats(kind.numbers.least, most), st.sampled_from([0, 1, *words]))
    if kind.numbers:
        return st.sampled_from([number for number in FLOATS if kind.numbers.take(number) is not None])
    return st.sampled_from([*words, *with_numbers(kind)])


def with_numbers(kind: Any) -> list[str]:
    """Return each word that takes a number, with some of the numbers that it takes."""
    return [
        f"{word}_{number}"
        for word in kind.numbered
        for number in NUMBERS
        if kind.range_of(word).take(number) is not None
    ]
