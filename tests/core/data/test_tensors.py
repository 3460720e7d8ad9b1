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
        self.array, self.device, self.copies = array, device, 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self.device != CPU:
            if dl_device != CPU:
                raise BufferError("the data are on another device")
            self.copies += 1
        return self.array.__dlpack__()


def test_an_array_that_supports_only_dlpack_is_read():
    assert ra.evaluate(Tensor(LABELS), Tensor(SCORES), "lightgbm@10", qid=Tensor(QID)) == EXPECTED


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy before 2.1 cannot copy from a device")
def test_an_array_on_another_device_is_copied_once():
    columns = [Tensor(column, CUDA) for column in (LABELS, SCORES, QID)]
    assert ra.evaluate(*columns[:2], "lightgbm@10", qid=columns[2]) == EXPECTED
    assert [column.copies for column in columns] == [1, 1, 1]


def test_an_array_that_cannot_be_copied_to_the_cpu_is_refused_with_a_hint():
    class StuckTensor(Tensor):
        def __dlpack__(self, **options):
            raise BufferError("no copy between devices")

    message = r"(?s)scores is a .*StuckTensor that numpy cannot read.*scores\.detach\(\)\.cpu"
    with pytest.raises(ra.InputError, match=message):
        ra.evaluate(LABELS, StuckTensor(SCORES, CUDA), "lightgbm@10", qid=QID)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors_are_read_unless_numpy_cannot_hold_them(dtype):
    torch = pytest.importorskip("torch")
    scores = torch.tensor(SCORES).to(getattr(torch, dtype))
    assert ra.evaluate(torch.tensor(LABELS), scores, "lightgbm@10", qid=torch.tensor(QID)) == EXPECTED
    for tensor in (scores.clone().requires_grad_(), scores.bfloat16()):
        message = r"(?s)scores is a torch\.Tensor that numpy cannot read.*scores\.detach\(\)"
        with pytest.raises(ra.InputError, match=message):
            ra.evaluate(LABELS, tensor, "lightgbm@10", qid=QID)
