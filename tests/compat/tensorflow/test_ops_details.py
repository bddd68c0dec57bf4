"""Details of operations that random programs found, with TensorFlow's own results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf


@pytest.mark.parametrize(
    "made, dtype, values",
    [
        (lambda: tf.linspace(0, 10, 3), tf.float64, [0, 5, 10]),
        (lambda: tf.math.divide_no_nan(np.int16([7, 3]), np.int16([2, 0])), tf.float32, [3.5, 0]),
        (lambda: tf.math.divide_no_nan(7, 2), tf.float64, 3.5),
        (lambda: tf.math.divide_no_nan([7.0, 1.0], [0.0, 2.0]), tf.float32, [0, 0.5]),
        (lambda: tf.sequence_mask([1.0, 2.5]), tf.bool, [[True, False, False], [True, True, True]]),
        (lambda: tf.constant(["é", b"\xff"]), tf.string, ["é".encode(), b"\xff"]),
        (lambda: tf.constant([["é"], [b"\xff"]]), tf.string, [["é".encode()], [b"\xff"]]),
        (lambda: tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1), tf.int32, [[2], [3]]),
    ],
)
def test_operation_when_called_then_gives_tensorflows_values(made: Any, dtype: Any, values: Any) -> None:
    found = made()
    assert found.dtype == dtype and found.numpy().tolist() == values


def test_gather_when_batches_differ_then_says_so() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"params \[3,3\] and indices \[4\] must agree"):
        tf.gather(np.zeros((3, 3)), [0, 1, 2, 2], batch_dims=1)


def test_dropout_when_drawn_then_leaves_as_much_as_there_was() -> None:
    values = tf.nn.dropout(tf.ones([4000, 2]), 0.25, seed=3).numpy()
    assert set(np.unique(values).tolist()) == {0.0, float(np.float32(1) / np.float32(0.75))}
    assert abs(values.mean() - 1) < 0.05
    rows = tf.nn.dropout(tf.ones([50, 8]), 0.5, noise_shape=[50, 1]).numpy()
    assert (rows == rows[:, :1]).all() and len(np.unique(rows)) == 2
    with pytest.raises(ValueError, match=r"in the range \[0, 1\)"):
        tf.nn.dropout([1.0], 1.5)
    with pytest.raises(NotImplementedError, match="tables in parts"):
        tf.nn.embedding_lookup([tf.ones([2, 2]), tf.ones([2, 2])], [0])
    with pytest.raises(NotImplementedError, match="max_norm"):
        tf.nn.embedding_lookup(tf.ones([2, 2]), [0], max_norm=1.0)


def test_edit_distances_when_of_random_sequences_then_are_those_of_the_table() -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        one, other = (rng.integers(1, 4, rng.integers(1, 80)) for _ in range(2))
        row = list(range(len(other) + 1))
        for count, value in enumerate(one.tolist(), 1):
            below = [count]
            for place, target in enumerate(other.tolist()):
                below.append(min(row[place + 1] + 1, below[-1] + 1, row[place] + (value != target)))
            row = below
        found = tf.edit_distance(tf.sparse.from_dense(one[None]), tf.sparse.from_dense(other[None]), normalize=False)
        assert found.numpy().tolist() == [row[-1]]


def test_blurs_when_of_any_layout_then_are_sums_of_windows() -> None:
    rng = np.random.default_rng(3)
    images = rng.random((2, 7, 6, 3)).astype(np.float32)
    weights = rng.random((3, 2, 3, 2)).astype(np.float32)
    found = tf.nn.depthwise_conv2d(images, tf.constant(weights), [1, 2, 2, 1], "VALID").numpy()
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 2), axis=(1, 2))[:, ::2, ::2]
    assert np.allclose(found, np.einsum("bhwcij,ijcm->bhwcm", windows, weights).reshape(found.shape), rtol=1e-5)
    turned = tf.nn.depthwise_conv2d(images.transpose(0, 2, 1, 3), tf.constant(weights), [1, 1, 1, 1], "SAME")
    assert turned.shape == [2, 6, 7, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger than the image"):
        tf.nn.conv2d(images, tf.ones([9, 9, 3, 1]), 1, "VALID")
    with pytest.raises(NotImplementedError, match="channels in groups"):
        tf.nn.conv2d(images, tf.ones([3, 3, 1, 3]), 1, "SAME")
    with pytest.raises(NotImplementedError, match="data_format='NCHW'"):
        tf.nn.conv2d(images, tf.ones([3, 3, 3, 1]), 1, "SAME", "NCHW")
