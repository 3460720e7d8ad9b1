"""One preset of every measure, and rows that every measure accepts."""

from __future__ import annotations

import numpy as np
import pytest

from rankadapters import presets
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
