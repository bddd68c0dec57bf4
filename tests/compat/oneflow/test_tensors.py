"""Methods of tensors that differ from NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.tensors import as_tensor

TENSOR = as_tensor(np.array([[0.7, -0.7, 1], [1.7, -1.7, 2]], np.float32))


def test_transpose_swaps_two_axes() -> None:
    assert TENSOR.transpose(0, 1).numpy().tolist() == TENSOR.numpy().T.tolist()
    assert as_tensor(np.zeros((2, 3, 4))).transpose(0, 2).shape == (4, 3, 2)
    assert TENSOR.permute(1, 0).shape == TENSOR.transpose().shape == TENSOR.transpose((1, 0)).shape == (3, 2)
    assert np.transpose(TENSOR, (0, 1)).shape == (2, 3)


def test_conversion_to_integers_truncates() -> None:
    assert TENSOR.to(flow.int32).numpy().tolist() == TENSOR.long().numpy().tolist() == [[0, 0, 1], [1, -1, 2]]


def test_conversion_returns_requested_dtype() -> None:
    converted = [TENSOR.to("cpu", flow.double), TENSOR.to(device="cpu", dtype=flow.int8), TENSOR.long().float()]
    assert [one.dtype for one in converted] == [np.float64, np.int8, np.float32]
    assert [one.dtype for one in (TENSOR.double(), TENSOR.long(), TENSOR.int())] == ["f8", "i8", "i4"]


def test_size_is_the_number_of_values_and_returns_the_shape_when_called() -> None:
    assert TENSOR.size == TENSOR.numel() == TENSOR.cpu().detach().numel() == 6
    assert TENSOR.size() == (2, 3) and TENSOR.size(1) == 3
    assert TENSOR.reshape(TENSOR.size).shape == (6,) and np.mean(TENSOR) == pytest.approx(0.5)


def test_view_reshapes_or_reinterprets() -> None:
    labels = as_tensor(np.array([[3], [1]], np.int32))
    assert [labels.view(-1).tolist(), labels.view((1, 2)).tolist()] == [[3, 1], [[3, 1]]]
    assert labels.view(np.uint32).dtype == np.uint32 and labels.unsqueeze(0).shape == (1, 2, 1)


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_tensor_raises_for_device_other_than_cpu(device: str) -> None:
    with pytest.raises(NotImplementedError, match=device):
        TENSOR.to(device)
    with pytest.raises(NotImplementedError, match="cuda"):
        TENSOR.cuda()
