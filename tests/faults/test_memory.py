"""Long trainings keep no memory except the toolkit's log; `python -m tests.faults` measures longer ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.faults.long_trainings import DATASETS, ROUNDS, Watch, call_on_datasets, fresh_process, measure_growth

# A round adds up to 2,400 bytes, such as the toolkit's log; an array of the rows would add 8,000. Some processes add
# 180,000 bytes once, after the warm-up, so a measurement takes many data sets.
MAX_BYTES = 6000


@pytest.fixture(scope="module")
def process():
    with fresh_process() as executor:
        yield executor


@pytest.mark.parametrize("toolkit", ROUNDS)
def test_a_training_round_keeps_little_memory(process, toolkit):
    pytest.importorskip(toolkit.partition(",")[0].lower())
    assert measure_growth(process, "rounds", toolkit, 60).python < MAX_BYTES


@pytest.mark.parametrize("toolkit", DATASETS)
def test_a_dropped_data_set_frees_its_memory(process, toolkit):
    pytest.importorskip(toolkit.partition(",")[0].lower())
    assert measure_growth(process, "datasets", toolkit, 100).python < MAX_BYTES


def test_the_watch_notices_memory_that_is_kept():
    arrays, watch = [], Watch(50)
    for _ in range(50):
        arrays.append(np.zeros(1000))
        watch.step()
    assert watch.growth.python > 7500  # of 8000: the first was made before


def test_a_callback_that_keeps_its_data_set_is_noticed():
    class Data:
        pass

    datasets = []
    with pytest.raises(AssertionError, match="keeps its data set alive"):
        call_on_datasets(2, lambda X, y: Data(), lambda scores, data: datasets.append(data))
