"""Columns may be arrays of other libraries: torch, jax, cupy, or any array that supports DLPack."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

LABELS, SCORES, QID = np.array([0.0, 2.0, 1.0, 0.0]), np.array([0.1, 0.4, 0.3, 0.2], np.float32), np.array([1, 1, 2, 2])
EXPECTED = ra.evaluate(LABELS, SCORES, "lightgbm@10", qid=QID)


class Tensor:
    """An array that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__()


def test_an_array_that_supports_only_dlpack_is_read():
    assert ra.evaluate(Tensor(LABELS), Tensor(SCORES), "lightgbm@10", qid=Tensor(QID)) == EXPECTED


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors_are_read(dtype):
    torch = pytest.importorskip("torch")
    scores = torch.tensor(SCORES).to(getattr(torch, dtype))
    assert ra.evaluate(torch.tensor(LABELS), scores, "lightgbm@10", qid=torch.tensor(QID)) == EXPECTED
