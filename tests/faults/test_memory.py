"""Long trainings keep nothing but their histories; `python -m tests.faults` measures longer ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.faults.long_trainings import DATASETS, ROUNDS, Watch, _data_sets, alone, measured

# Bytes. What histories, ours and the toolkits', keep of a round takes 2,000; an array of the rows would be 8,000.
MOST = 6000


@pytest.fixture(scope="module")
def process():
    with alone() as made:
        yield made


@pytest.mark.parametrize("toolkit", ROUNDS)
def test_a_round_keeps_no_more_than_its_values(process, toolkit):
    pytest.importorskip(toolkit.partition(",")[0].lower())
    assert measured(process, "rounds", toolkit, 60).python < MOST


@pytest.mark.parametrize("toolkit", DATASETS)
def test_a_data_set_that_is_dropped_is_gone(process, toolkit):
    pytest.importorskip(toolkit.partition(",")[0].lower())
    assert measured(process, "datasets", toolkit, 20).python < MOST


def test_what_is_kept_is_seen():
    kept, watch = [], Watch(50)
    for _ in range(50):
        kept.append(np.zeros(1000))
        watch.step()
    assert watch.grown.python > 7500  # of 8000: the first was made before


def test_a_callback_that_keeps_its_data_set_is_seen():
    class Data:
        pass

    kept = []
    with pytest.raises(AssertionError, match="keeps its data set alive"):
        _data_sets(2, lambda seed: Data(), lambda scores, data: kept.append(data))
