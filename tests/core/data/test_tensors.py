"""Columns may be arrays of other libraries: torch, jax, cupy, or any array that supports DLPack."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

LABELS, SCORES, QID = np.array([0.0, 2.0, 1.0, 0.0]), np.array([0.1, 0.4, 0.3, 0.2], np.float32), np.array([1, 1, 2, 2])
EXPECTED = ra.evaluate(LABELS, SCORES, "lightgbm@10", qid=QID)
CPU, CUDA = (1, 0), (2, 0)


class Tensor:
    """An array on a given device that supports only DLPack."""

    def __init__(self, array, device=CPU):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.device != CPU:
            raise BufferError("the data are on another device")
        return self.array.__dlpack__()


def test_an_array_that_supports_only_dlpack_is_read():
    assert ra.evaluate(Tensor(LABELS), Tensor(SCORES), "lightgbm@10", qid=Tensor(QID)) == EXPECTED


def test_an_array_on_another_device_is_refused_in_the_words_of_its_library():
    message = r"scores is a tests\.Tensor that numpy cannot read: the data are on another device"
    with pytest.raises(ra.InputError, match=message):
        ra.evaluate(LABELS, Tensor(SCORES, CUDA), "lightgbm@10", qid=QID)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors_are_read_unless_numpy_cannot_hold_them(dtype):
    torch = pytest.importorskip("torch")
    scores = torch.tensor(SCORES).to(getattr(torch, dtype))
    assert ra.evaluate(torch.tensor(LABELS), scores, "lightgbm@10", qid=torch.tensor(QID)) == EXPECTED
    for tensor in (scores.clone().requires_grad_(), scores.bfloat16()):
        message = r"(?s)scores is a torch\.Tensor that numpy cannot read.*scores\.detach\(\)"
        with pytest.raises(ra.InputError, match=message):
            ra.evaluate(LABELS, tensor, "lightgbm@10", qid=QID)
