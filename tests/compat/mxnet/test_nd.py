"""Elements, rows and views of NDArray."""

from __future__ import annotations

import numpy as np
import pytest

import recordmill.compat.mxnet as mx


def test_element_is_an_array_of_one() -> None:
    labels = mx.nd.array([3, 1, 2])
    assert [one.shape for one in (labels[1], labels[-1])] == [(1,), (1,)]
    assert [float(one.asscalar()) for one in labels] == [3, 1, 2]
    assert labels[0].asscalar().dtype == np.float32
    assert ["cat", "dog", "cow", "pig"][int(labels[0])] == "pig"
    assert f"{float(labels[2]):.1f}" == "2.0"


def test_row_is_an_ndarray() -> None:
    table = mx.nd.array([[1, 2], [3, 4]], dtype="uint8")
    assert table[1].asnumpy().tolist() == [3, 4]
    assert [row.asnumpy().tolist() for row in table] == [[1, 2], [3, 4]]
    assert table[1, 0].asnumpy().tolist() == [3]
    assert list(range(10))[table[0][1]] == 2


def test_array_of_several_values_is_not_a_number() -> None:
    for number in (int, float, mx.nd.NDArray.asscalar):
        with pytest.raises(ValueError, match=r"size 1|not a scalar"):
            number(mx.nd.array([1, 2]))


def test_transpose_permutes_axes() -> None:
    array = mx.nd.array(np.arange(24).reshape(2, 3, 4))
    assert mx.nd.transpose(array).shape == (4, 3, 2)
    assert np.array_equal(mx.nd.transpose(array, axes=(1, 2, 0)).asnumpy(), array.asnumpy().transpose(1, 2, 0))


def test_element_is_a_view() -> None:
    labels, table = mx.nd.empty((3,)), mx.nd.zeros((2, 2))
    for position in range(3):
        labels[position][:] = position + 5
    table[1, 0][:] = 7
    table[0][1][:] = 3
    assert labels.asnumpy().tolist() == [5, 6, 7]
    assert table.asnumpy().tolist() == [[0, 3], [7, 0]]
